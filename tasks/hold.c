/* Private copies of regions, which tokens and tasks with irregular regions work on. */
#include "tasks/tasks_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/status.h"
#include "coherence/access.h"

static size_t bytes_of(const struct semcache_region *r)
{
    return (size_t)sc_region_elements(r) * sc_type_bytes((enum sc_type)r->type);
}

/* The caller's ranges may end with the call. */
static enum sc_status copy_operands(struct sc_hold *hold, const struct semcache_operand *operands, int count)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < count; i++) {
        struct semcache_region *region = &hold->region[i];
        size_t bytes;

        *region = *operands[i].region;
        hold->operand[i] = (struct semcache_operand){region, operands[i].mode};
        if (!region->ranges)
            continue;
        bytes = (size_t)region->range_count * sizeof *region->ranges;
        region->ranges = malloc(bytes + 1);
        if (region->ranges)
            memcpy((struct semcache_range *)region->ranges, operands[i].region->ranges, bytes);
        else
            status = SC_ERR_MEMORY;
    }
    return status;
}

static void free_ranges(struct sc_hold *hold)
{
    for (int i = 0; i < hold->count; i++)
        free((struct semcache_range *)hold->region[i].ranges);
}

/* --- on the host -------------------------------------------------------------------------------------------------- */

/* Between the ranges of the program and contiguous memory. */
static void copy_ranges(const struct semcache_region *r, void *memory, bool outwards)
{
    size_t elem = sc_type_bytes((enum sc_type)r->type);
    char *at = memory;

    for (int64_t i = 0; i < sc_region_boxes(r); i++) {
        struct semcache_region box = sc_region_box(r, i);

        for (int64_t j = 0; j < box.cols * box.planes && box.rows; j++) {
            char *column = (char *)box.memory +
                           (size_t)(j % box.cols * box.ld + j / box.cols * box.plane) * elem;
            size_t bytes = (size_t)box.rows * elem;

            memcpy(outwards ? at : column, outwards ? column : at, bytes);
            at += bytes;
        }
    }
}

static void acquire(const struct semcache_region *region, enum semcache_mode mode)
{
    for (int64_t i = 0; i < sc_region_boxes(region); i++) {
        struct semcache_region box = sc_region_box(region, i);

        if (!sc_region_empty(&box)) {
            struct sc_view view = sc_region_view(&box, mode);

            sc_coherence_acquire_view(&view);
        }
    }
}

static enum sc_status take_on_host(struct sc_hold *hold)
{
    for (int i = 0; i < hold->count; i++) {
        const struct semcache_region *r = &hold->region[i];
        enum semcache_mode mode = hold->operand[i].mode;

        if (sc_region_empty(r)) {
            hold->view[i] = sc_region_compact(r, mode, NULL);
            continue;
        }
        acquire(r, r->ranges ? SEMCACHE_READ : mode);
        if (!r->ranges) {
            struct sc_view view = sc_region_view(r, mode);

            hold->view[i] = sc_region_placed(r, mode, r->memory, view.ld);
            continue;
        }
        hold->memory[i] = malloc(bytes_of(r));
        if (!hold->memory[i])
            return SC_ERR_MEMORY;
        copy_ranges(r, hold->memory[i], true);
        hold->view[i] = sc_region_compact(r, mode, hold->memory[i]);
    }
    return SC_OK;
}

/* --- on a device -------------------------------------------------------------------------------------------------- */

/* SEMCACHE_CHECK=1 keeps a holder that writes to what it reads away from the cached data. */
static bool may_lease(const struct sc_hold *hold, int i)
{
    const struct semcache_region *r = &hold->region[i];

    return !sc_config.check && hold->operand[i].mode == SEMCACHE_READ && !r->ranges && !sc_region_empty(r) &&
           sc_region_boxes(r) == 1;
}

static void lease(struct sc_hold *hold, int i)
{
    void *memory;

    if (may_lease(hold, i) && sc_copy_lease(hold->device, &hold->region[i], &hold->lease[i], &memory) == SC_OK)
        hold->view[i] = sc_region_compact(&hold->region[i], SEMCACHE_READ, memory);
}

static void end_leases(struct sc_hold *hold)
{
    for (int i = 0; i < hold->count; i++)
        if (hold->lease[i])
            sc_copy_lease_end(hold->lease[i]);
}

static enum sc_status make_copies(struct sc_hold *hold)
{
    size_t bytes[SEMCACHE_OPERANDS_MAX];
    enum sc_status status;
    bool any = false;

    for (int i = 0; i < hold->count; i++) {
        bytes[i] = hold->lease[i] ? 0 : bytes_of(&hold->region[i]);
        any |= !hold->lease[i];
    }
    status = any ? sc_copy_memory(hold->device, bytes, hold->memory, hold->count) : SC_OK;
    if (status != SC_OK)
        return status;
    for (int i = 0; i < hold->count && status == SC_OK; i++) {
        if (hold->lease[i])
            continue;
        hold->view[i] = sc_region_compact(&hold->region[i], hold->operand[i].mode, hold->memory[i]);
        if (hold->operand[i].mode & SEMCACHE_READ)
            status = sc_copy_region(hold->device, &hold->region[i], hold->memory[i], true);
    }
    if (status != SC_OK)
        sc_copy_free(hold->device, hold->memory, hold->count, false);
    return status;
}

static enum sc_status take_on_device(struct sc_hold *hold)
{
    enum sc_status status;

    for (int i = 0; i < hold->count; i++)
        lease(hold, i);
    status = make_copies(hold);
    if (status != SC_OK)
        end_leases(hold);
    return status;
}

/* A region that the device's copy cannot be written to now, for example because another thread reads a file into a
 * neighbouring page: the copy comes home through an array of the library, and the host writes the region. */
static enum sc_status write_on_host(const struct sc_hold *hold, int i)
{
    const struct semcache_region *r = &hold->region[i];
    int64_t n = sc_region_elements(r);
    struct semcache_region array = {.size = sizeof array, .type = r->type, .rows = n, .cols = 1, .planes = 1};
    enum sc_status status;

    array.memory = sc_coherence_host_alloc(bytes_of(r));
    if (!array.memory)
        return SC_ERR_MEMORY;
    status = sc_copy_region(hold->device, &array, hold->memory[i], false);
    if (status == SC_OK) {
        acquire(&array, SEMCACHE_READ);
        acquire(r, SEMCACHE_READWRITE);
        copy_ranges(r, array.memory, false);
    }
    sc_coherence_host_free(array.memory);
    return status;
}

/* --- both --------------------------------------------------------------------------------------------------------- */

enum sc_status sc_hold_take(struct sc_hold *hold, const struct semcache_operand *operands, int count, int device)
{
    enum sc_status status;

    *hold = (struct sc_hold){.device = device, .count = count};
    status = copy_operands(hold, operands, count);
    if (status == SC_OK)
        status = device == SEMCACHE_HOST ? take_on_host(hold) : take_on_device(hold);
    if (status == SC_OK)
        return SC_OK;
    for (int i = 0; i < count && device == SEMCACHE_HOST; i++)
        free(hold->memory[i]);
    free_ranges(hold);
    return status;
}

static enum sc_status write_back(struct sc_hold *hold, int i)
{
    enum sc_status status;

    if (!hold->memory[i] || !(hold->operand[i].mode & SEMCACHE_WRITE))
        return SC_OK;
    if (hold->device == SEMCACHE_HOST) {
        acquire(&hold->region[i], SEMCACHE_READWRITE);
        copy_ranges(&hold->region[i], hold->memory[i], false);
        return SC_OK;
    }
    status = sc_copy_region(hold->device, &hold->region[i], hold->memory[i], false);
    return status == SC_OK || !sc_coherence_devices() ? status : write_on_host(hold, i);
}

enum sc_status sc_hold_give(struct sc_hold *hold, bool write)
{
    enum sc_status status = SC_OK;
    bool last = false; /* the last work on the device is the library's */
    bool any = false;  /* there are copies */

    for (int i = 0; i < hold->count; i++)
        any |= hold->memory[i] != NULL;
    for (int i = 0; i < hold->count && write; i++) {
        enum sc_status written = write_back(hold, i);

        last = last || (hold->operand[i].mode & SEMCACHE_WRITE && hold->memory[i] && written == SC_OK);
        status = status == SC_OK ? written : status;
    }
    if (hold->device != SEMCACHE_HOST)
        end_leases(hold);
    if (hold->device != SEMCACHE_HOST && any)
        sc_copy_free(hold->device, hold->memory, hold->count, !last);
    for (int i = 0; i < hold->count && hold->device == SEMCACHE_HOST; i++)
        free(hold->memory[i]);
    free_ranges(hold);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
