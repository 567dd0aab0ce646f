/* Operands outside the arena: in a mirror, which is kept, where the program's writes can be noticed, else in a shadow,
 * a compact copy for one call. */
#include "coherence/mirror.h"

#include <string.h>

static bool in_arena(const struct sc_view *v)
{
    struct sc_host_block block;
    uintptr_t lo, hi;

    sc_view_extent(v, &lo, &hi);
    return sc_host_in_arena(v->ptr) && sc_host_block_of(v->ptr, &block) && hi <= block.base + block.bytes;
}

/* --- shadows ------------------------------------------------------------------------------------------------------ */

static size_t shadow_bytes(const struct sc_view *v)
{
    return (size_t)(v->rows * v->cols) * sc_type_bytes(v->type);
}

static enum sc_status shadow(struct sc_view *v)
{
    struct sc_view own = *v;

    own.ld = v->vector ? (v->ld < 0 ? -1 : 1) : v->rows;
    own.ptr = sc_host_alloc(shadow_bytes(v));
    if (!own.ptr)
        return SC_ERR_MEMORY;
    if (v->access & SC_READ)
        sc_view_copy(&own, v);
    *v = own;
    return SC_OK;
}

/* Small shadows with an upload in progress after the call.  The upload may wait for kernels of earlier calls, the
 * program's thread does not.  Under the protocol's lock. */
#define PARKED       16
#define PARKED_BYTES 65536 /* of a shadow, at most */
static struct {
    void *shadow;
    struct sc_fences transfers;
} parked[PARKED];
static int parked_count;

/* False: no room. */
static bool park(void *shadow, const struct sc_fences *transfers)
{
    bool room;

    sc_protocol_lock();
    room = parked_count < PARKED && sc_protocol.ops && !sc_protocol.stopping; /* a call may end during a stop */
    if (room) {
        parked[parked_count].shadow = shadow;
        parked[parked_count++].transfers = *transfers;
    }
    sc_protocol_unlock();
    return room;
}

static bool has_ended(const struct sc_fences *transfers)
{
    for (int i = 0; sc_protocol.ops && i < transfers->count; i++)
        if (!sc_reached(transfers->f[i]))
            return false;
    return true;
}

/* Frees shadows at the end of their uploads.  all: waits for the ends. */
static void free_parked(bool all)
{
    void *ended[PARKED];
    struct sc_fences rest = {.count = 0};
    int count = 0, kept = 0;

    sc_protocol_lock();
    for (int i = 0; i < parked_count; i++) {
        if (!all && !has_ended(&parked[i].transfers)) {
            parked[kept++] = parked[i];
            continue;
        }
        for (int f = 0; f < parked[i].transfers.count; f++)
            sc_fences_add(&rest, parked[i].transfers.f[f]);
        ended[count++] = parked[i].shadow;
    }
    parked_count = kept;
    sc_protocol_unlock();
    sc_fences_sync(&rest);
    for (int i = 0; i < count; i++)
        sc_host_free(ended[i]);
}

void sc_untracked_stop(void) { free_parked(true); }

void sc_untracked_fork_child(void) { parked_count = 0; /* a little memory is lost */ }

static void free_shadow(const struct sc_view *own)
{
    struct sc_fences transfers;

    free_parked(false);
    sc_release_begin((uintptr_t)own->ptr, shadow_bytes(own), &transfers);
    if (transfers.count && shadow_bytes(own) <= PARKED_BYTES && park((void *)own->ptr, &transfers))
        return;
    sc_fences_sync(&transfers);
    sc_host_free((void *)own->ptr);
}

/* Two views of the same untracked memory, with a writer among them, cannot both have a shadow. */
static bool shadows_conflict(const struct sc_view *views, int count, int i)
{
    for (int k = 0; k < count; k++)
        if (k != i && !sc_view_empty(&views[k]) && sc_view_overlap(&views[i], &views[k]) &&
            ((views[i].access | views[k].access) & SC_WRITE))
            return true;
    return false;
}

/* --- staging ------------------------------------------------------------------------------------------------------ */

static bool has(const enum sc_stage *stage, int count, enum sc_stage what)
{
    for (int i = 0; i < count; i++)
        if (stage[i] == what)
            return true;
    return false;
}

/* Stages as many views as possible in mirrors.  All are covered first, because covering may merge mirrors.
 * Overwritten data need not be there.  False: a mirror was lost. */
static bool stage_mirrors(const struct sc_view *views, int count, struct sc_view *own, enum sc_stage *stage)
{
    uintptr_t lo, hi;

    for (int i = 0; i < count; i++)
        if (stage[i] != SC_IN_ARENA) {
            sc_view_extent(&views[i], &lo, &hi);
            sc_mirror_cover(lo, hi);
            stage[i] = SC_SHADOW;
        }
    for (int i = 0; i < count; i++)
        if (stage[i] != SC_IN_ARENA && sc_mirror_view(&views[i], &own[i]))
            stage[i] = SC_MIRROR;
    for (int i = 0; i < count; i++)
        if (stage[i] == SC_MIRROR && views[i].access & SC_READ && !sc_mirror_refresh(&views[i]))
            return false;
    return true;
}

static enum sc_status stage_shadows(const struct sc_view *views, int count, struct sc_view *own, enum sc_stage *stage)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < count; i++) {
        if (stage[i] != SC_SHADOW)
            continue;
        own[i] = views[i];
        if (status == SC_OK)
            status = shadows_conflict(views, count, i) ? SC_ERR_CONFLICT : shadow(&own[i]);
        if (status != SC_OK)
            stage[i] = SC_IN_ARENA; /* nothing to drop */
    }
    return status;
}

static void record(const struct sc_view *view, const struct sc_view *own, enum sc_stage stage)
{
    uintptr_t lo, hi, copy, end;

    sc_view_extent(view, &lo, &hi);
    sc_view_extent(own, &copy, &end);
    sc_trace(.kind = SC_EVENT_STAGE, .stage = {.copy = copy, .original = lo, .bytes = hi - lo},
             .memory = (uint8_t)sc_trace_memory_of(lo, hi - lo), .is_kept = stage == SC_MIRROR);
}

enum sc_status sc_untracked_stage(const struct sc_view *views, int count, struct sc_view *own, enum sc_stage *stage)
{
    enum sc_status status;
    bool staged = false;

    for (int i = 0; i < count; i++) {
        own[i] = views[i];
        stage[i] = sc_view_empty(&views[i]) || in_arena(&views[i]) ? SC_IN_ARENA : SC_SHADOW;
    }
    if (!has(stage, count, SC_SHADOW))
        return SC_OK;
    sc_mirror_lock();
    for (int tries = 0; tries < 2 && !staged; tries++)
        staged = stage_mirrors(views, count, own, stage);
    if (!staged) {
        sc_mirror_unlock();
        return SC_ERR_CONFLICT;
    }
    if (!has(stage, count, SC_MIRROR))
        sc_mirror_unlock();
    status = stage_shadows(views, count, own, stage);
    if (status != SC_OK)
        sc_untracked_drop(own, stage, count);
    for (int i = 0; i < count && status == SC_OK && sc_trace_on; i++)
        if (stage[i] != SC_IN_ARENA)
            record(&views[i], &own[i], stage[i]);
    return status;
}

void sc_untracked_drop(const struct sc_view *own, const enum sc_stage *stage, int count)
{
    for (int i = 0; i < count; i++)
        if (stage[i] == SC_SHADOW)
            free_shadow(&own[i]);
    if (has(stage, count, SC_MIRROR))
        sc_mirror_unlock();
}

void sc_untracked_finish(struct sc_operand *operands, int count)
{
    bool mirrored = false;

    for (int i = 0; i < count; i++) {
        struct sc_operand *o = &operands[i];

        mirrored |= o->stage == SC_MIRROR;
        if (o->stage == SC_MIRROR && o->staged.access & SC_WRITE)
            sc_mirror_write_back(&o->staged, &o->view);
        if (o->stage != SC_SHADOW)
            continue;
        if (o->staged.access & SC_WRITE) {
            sc_coherence_acquire_host((uintptr_t)o->view.ptr, shadow_bytes(&o->view), SC_READ);
            sc_view_copy(&o->staged, &o->view);
        }
        free_shadow(&o->view);
    }
    if (mirrored)
        sc_mirror_unlock();
}

/* --- memory that goes away ---------------------------------------------------------------------------------------- */

void sc_coherence_forget(uintptr_t addr, size_t bytes)
{
    struct sc_host_block block;

    if (sc_host_in_arena((const void *)addr))
        sc_release_tracked(addr, bytes);
    /* A block with a part that the program has mapped anew is not tracked, and may have mirrors. */
    if (bytes && sc_protocol_ops() && !sc_host_block_of((const void *)addr, &block))
        sc_mirror_forget(addr, addr + bytes);
}
/* SPDX-License-Identifier: BSD-2-Clause */
