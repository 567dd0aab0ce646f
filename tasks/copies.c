/* Compact copies of regions in device memory. */
#include "tasks/tasks_int.h"

#include "base/inside.h"
#include "base/quiet.h"

static void enter(void)
{
    sc_quiet_enter();
    sc_inside_enter();
}

static void leave(void)
{
    sc_inside_leave();
    sc_quiet_leave();
}

/* Between begin and end: the pieces of a box, with the elements of the box contiguous at `memory`. */
static enum sc_status copy_pieces(int device, const struct sc_operand *operand, char *memory, bool outwards)
{
    size_t elem = sc_type_bytes(operand->view.type);
    enum sc_status status = SC_OK;
    struct sc_part part;
    int64_t ld;

    sc_part_divide(&part, operand);
    ld = part.whole.view.vector ? 1 : part.whole.view.rows;
    for (int j = 0; j < part.cols.n && status == SC_OK; j++)
        for (int i = 0; i < part.rows.n && status == SC_OK; i++) {
            struct sc_piece piece = sc_part_piece(&part, i, j, outwards ? SC_READ : SC_WRITE);

            piece.temporary_ld = ld;
            status = sc_coherence_own_copy(device, &piece, memory + (size_t)(piece.r + piece.c * ld) * elem, outwards);
        }
    return status;
}

enum sc_status sc_copy_region(int device, const struct semcache_region *region, void *memory, bool outwards)
{
    size_t elem = sc_type_bytes((enum sc_type)region->type);
    enum sc_status status = SC_OK;
    char *to = memory;

    enter();
    for (int64_t i = 0; i < sc_region_boxes(region) && status == SC_OK; i++) {
        struct semcache_region box = sc_region_box(region, i);
        struct sc_operand operand;
        struct sc_view view;

        if (sc_region_empty(&box))
            continue;
        view = sc_region_view(&box, outwards ? SEMCACHE_READ : SEMCACHE_WRITE);
        status = sc_coherence_begin(&view, 1, &operand);
        if (status != SC_OK)
            break;
        status = copy_pieces(device, &operand, to, outwards);
        sc_coherence_end(&operand, 1);
        to += (size_t)sc_region_elements(&box) * elem;
    }
    leave();
    return status;
}

static enum sc_status lease_whole(int device, const struct sc_operand *operand, struct sc_lease **lease, void **memory)
{
    struct sc_part part;
    struct sc_piece piece;

    sc_part_divide(&part, operand);
    if (part.rows.n != 1 || part.cols.n != 1)
        return SC_ERR_UNSUPPORTED;
    piece = sc_part_piece(&part, 0, 0, SC_READ);
    return sc_coherence_lease(device, &piece, lease, memory);
}

enum sc_status sc_copy_lease(int device, const struct semcache_region *region, struct sc_lease **lease, void **memory)
{
    struct sc_view view = sc_region_view(region, SEMCACHE_READ);
    struct sc_operand operand;
    enum sc_status status;

    enter();
    status = sc_coherence_begin(&view, 1, &operand);
    if (status == SC_OK) {
        status = lease_whole(device, &operand, lease, memory);
        sc_coherence_end(&operand, 1);
    }
    leave();
    return status;
}

void sc_copy_lease_end(struct sc_lease *lease)
{
    enter();
    sc_coherence_lease_end(lease);
    leave();
}

int sc_copy_where(const struct semcache_region *region)
{
    int device = 0;

    enter();
    for (int64_t i = 0; i < sc_region_boxes(region); i++) {
        struct semcache_region box = sc_region_box(region, i);
        struct sc_operand operand;
        struct sc_view view;

        if (sc_region_empty(&box))
            continue;
        view = sc_region_view(&box, SEMCACHE_READ);
        if (sc_coherence_begin(&view, 1, &operand) == SC_OK) {
            struct sc_piece piece;
            struct sc_part part;

            sc_part_divide(&part, &operand);
            piece = sc_part_piece(&part, 0, 0, SC_READ);
            device = sc_coherence_where(&piece);
            sc_coherence_end(&operand, 1);
        }
        break;
    }
    leave();
    return device;
}

enum sc_status sc_copy_memory(int device, const size_t *bytes, void **memory, int count)
{
    enum sc_status status;
    int i = 0;

    enter();
    status = sc_coherence_begin(NULL, 0, NULL);
    if (status == SC_OK) {
        for (; i < count && status == SC_OK; i++) {
            memory[i] = NULL;
            if (bytes[i])
                status = sc_coherence_temporary(device, bytes[i], &memory[i]);
        }
        if (status != SC_OK)
            for (i -= 1; i-- > 0;)
                if (memory[i])
                    sc_coherence_temporary_free(device, memory[i]);
        sc_coherence_end(NULL, 0);
    }
    leave();
    return status;
}

static bool is_gpu(int device) { return !sc_coherence_device_properties(device)->emulated; }

void sc_copy_free(int device, void **memory, int count, bool used)
{
    void *stream;

    enter();
    if (sc_coherence_devices() && sc_coherence_begin(NULL, 0, NULL) == SC_OK) {
        if (used && is_gpu(device))
            sc_coherence_own_stream(device, &stream); /* after a failure no memory is reused */
        for (int i = 0; i < count; i++)
            if (memory[i])
                sc_coherence_temporary_free(device, memory[i]);
        sc_coherence_end(NULL, 0);
    }
    leave();
}

enum sc_status sc_copy_call(int device, struct sc_own_slot *slots, const struct sc_device_call *call)
{
    enum sc_status status;

    enter();
    status = sc_coherence_begin(NULL, 0, NULL);
    if (status == SC_OK) {
        status = sc_coherence_own_task(device, NULL, 0, slots, call);
        sc_coherence_end(NULL, 0);
    }
    leave();
    return status;
}

enum sc_status sc_copy_reach(int device, void **stream)
{
    struct sc_fence done = SC_FENCE_NONE;
    enum sc_status status;

    *stream = NULL;
    enter();
    status = sc_coherence_begin(NULL, 0, NULL);
    if (status == SC_OK) {
        status = is_gpu(device) ? sc_coherence_own_stream(device, stream) : sc_coherence_own_mark(device, &done);
        sc_coherence_end(NULL, 0);
    }
    leave();
    return status == SC_OK ? sc_coherence_wait(done) : status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
