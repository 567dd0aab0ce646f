/* Movement of regions without tasks: prefetch, distribution, and where a region is. */
#include "tasks/tasks_int.h"

#include "base/inside.h"
#include "base/quiet.h"
#include "coherence/access.h"
#include "coherence/view.h"

/* Calls `use` with each piece of a view, between begin and end. */
static enum sc_status each_piece(const struct sc_view *view, int device,
                                 enum sc_status (*use)(int device, const struct sc_piece *piece, void *of), void *of)
{
    struct sc_operand operand;
    enum sc_status status;
    struct sc_part part;

    if (!sc_coherence_stack_fits())
        return SC_ERR_UNSUPPORTED;
    sc_quiet_enter();
    sc_inside_enter();
    status = sc_coherence_begin(view, 1, &operand);
    if (status == SC_OK) {
        sc_part_divide(&part, &operand);
        for (int j = 0; j < part.cols.n && status == SC_OK; j++)
            for (int i = 0; i < part.rows.n && status == SC_OK; i++) {
                struct sc_piece piece = sc_part_piece(&part, i, j, SC_READ);

                status = use(device, &piece, of);
            }
        sc_coherence_end(&operand, 1);
    }
    sc_inside_leave();
    sc_quiet_leave();
    return status;
}

/* --- prefetch ----------------------------------------------------------------------------------------------------- */

static enum sc_status prefetch(int device, const struct sc_piece *piece, void *of)
{
    (void)of;
    return sc_coherence_prefetch(device == SEMCACHE_ANY_DEVICE ? sc_coherence_home(piece) : device, piece);
}

/* False for untracked memory: a device copy would live for this call only, so the call moves nothing. */
static bool is_kept(const struct sc_view *view)
{
    struct sc_residency residency;

    sc_coherence_residency(view, 1, &residency);
    return !residency.untracked;
}

enum sc_status sc_tasks_prefetch_view(const struct sc_view *view, int device)
{
    return is_kept(view) ? each_piece(view, device, prefetch, NULL) : SC_ERR_UNSUPPORTED;
}

static enum sc_status prefetch_box(const struct semcache_region *region, int place)
{
    struct sc_view view;

    view = sc_region_view(region, SEMCACHE_READ);
    if (place == SEMCACHE_HOST) {
        sc_coherence_start_home(&view);
        return SC_OK;
    }
    return sc_tasks_prefetch_view(&view, place);
}

/* The boxes of a region that moves as a whole: the ranges of an irregular region, else the region. */
static int64_t boxes(const struct semcache_region *region) { return region->ranges ? region->range_count : 1; }

static struct semcache_region box_of(const struct semcache_region *region, int64_t i)
{
    return region->ranges ? sc_region_box(region, i) : *region;
}

enum sc_status sc_tasks_prefetch(const struct semcache_region *region, int place)
{
    enum sc_status status = SC_OK;

    for (int64_t i = 0; i < boxes(region) && status == SC_OK; i++) {
        struct semcache_region box = box_of(region, i);

        if (!sc_region_empty(&box))
            status = prefetch_box(&box, place);
    }
    return status;
}

void sc_tasks_wait(const struct semcache_region *region)
{
    for (int64_t i = 0; i < boxes(region); i++) {
        struct semcache_region box = box_of(region, i);
        struct sc_view view;

        if (sc_region_empty(&box))
            continue;
        view = sc_region_view(&box, SEMCACHE_READ);
        sc_coherence_acquire_view(&view);
    }
}

/* --- advice ------------------------------------------------------------------------------------------------------- */

static enum sc_status advise_box(const struct semcache_region *box, enum semcache_advice advice)
{
    struct sc_view view = sc_region_view(box, SEMCACHE_READ);
    enum sc_status status = SC_OK;
    struct sc_operand operand;
    uintptr_t lo, hi;

    if (!is_kept(&view))
        return SC_ERR_UNSUPPORTED;
    if (advice == SEMCACHE_DROP) {
        sc_view_extent(&view, &lo, &hi);
        sc_coherence_release_range(lo, hi - lo);
        return SC_OK;
    }
    for (int d = 0; advice == SEMCACHE_READ_MOSTLY && d < sc_coherence_devices() && status == SC_OK; d++)
        status = sc_tasks_prefetch_view(&view, d);
    if (advice == SEMCACHE_READ_MOSTLY || !sc_coherence_stack_fits())
        return status;
    sc_quiet_enter();
    sc_inside_enter();
    status = sc_coherence_begin(&view, 1, &operand);
    if (status == SC_OK) {
        sc_coherence_advise(&operand, advice == SEMCACHE_KEEP, advice == SEMCACHE_WRITE_ONCE);
        sc_coherence_end(&operand, 1);
    }
    sc_inside_leave();
    sc_quiet_leave();
    return status;
}

enum sc_status sc_tasks_advise(const struct semcache_region *region, enum semcache_advice advice)
{
    enum sc_status status = SC_OK;

    for (int64_t i = 0; i < boxes(region) && status == SC_OK; i++) {
        struct semcache_region box = box_of(region, i);

        if (!sc_region_empty(&box))
            status = advise_box(&box, advice);
    }
    return status;
}

/* --- where a region is -------------------------------------------------------------------------------------------- */

static enum sc_status add_missing(int device, const struct sc_piece *piece, void *of)
{
    *(uint64_t *)of += sc_coherence_missing(device, piece);
    return SC_OK;
}

static enum sc_status resident_box(const struct semcache_region *region, int place, uint64_t *bytes)
{
    struct sc_residency residency;
    uint64_t missing = 0;
    enum sc_status status;
    struct sc_view view;

    *bytes = 0;
    view = sc_region_view(region, SEMCACHE_READ);
    sc_coherence_residency(&view, 1, &residency);
    if (place == SEMCACHE_HOST) {
        *bytes = residency.bytes - residency.device_only;
        return SC_OK;
    }
    if (!residency.device_bytes || residency.untracked)
        return SC_OK;
    status = each_piece(&view, place, add_missing, &missing);
    *bytes = status == SC_OK ? residency.bytes - missing : 0;
    return status;
}

enum sc_status sc_tasks_resident(const struct semcache_region *region, int place, uint64_t *bytes)
{
    enum sc_status status = SC_OK;

    *bytes = 0;
    for (int64_t i = 0; i < boxes(region) && status == SC_OK; i++) {
        struct semcache_region box = box_of(region, i);
        uint64_t of_box = 0;

        if (!sc_region_empty(&box))
            status = resident_box(&box, place, &of_box);
        *bytes += of_box;
    }
    return status;
}

/* --- distribution ------------------------------------------------------------------------------------------------- */

/* The view of an array with tiles as the decomposition asks for. */
static struct sc_view cut_view(const struct semcache_decomposition *d, const struct semcache_region *whole,
                               int devices)
{
    struct sc_view v = sc_region_view(whole, SEMCACHE_READ);
    int64_t step;

    if (v.vector || d->cut == SEMCACHE_OTHER)
        return v;
    step = d->cut == SEMCACHE_BLOCKS ? 0 : sc_decomposition_step(d, whole);
    v.block_rows = d->cut == SEMCACHE_BLOCKS ? d->block_rows : d->cut == SEMCACHE_ROWS ? step : v.rows;
    v.block = d->cut == SEMCACHE_BLOCKS ? d->block_cols : d->cut == SEMCACHE_COLUMNS ? step : v.cols;
    if (d->cut == SEMCACHE_PLANES)
        v.block = step * (whole->cols == 1 ? 1 : whole->plane / whole->ld);
    v.tile_rows = d->cut == SEMCACHE_BLOCKS ? d->grid_rows : d->cut == SEMCACHE_ROWS ? devices : 1;
    v.tile_cols = d->cut == SEMCACHE_BLOCKS ? d->grid_cols : d->cut == SEMCACHE_ROWS ? 1 : devices;
    return v;
}

/* Whether every multiple of `step` is a cut. */
static bool has_cuts(const struct sc_cuts *cuts, int64_t step)
{
    int i = 0;

    for (int64_t at = step; step && at < cuts->at[cuts->n]; at += step) {
        while (i < cuts->n && cuts->at[i] < at)
            i++;
        if (cuts->at[i] != at)
            return false;
    }
    return true;
}

/* Makes the matrix of a view; an existing matrix with other cuts is released first. */
static enum sc_status cut(const struct sc_view *view)
{
    struct sc_operand operand;
    struct sc_part part;
    enum sc_status status = SC_OK;
    bool fits = view->vector || !view->block;

    for (int tries = 0; tries < 2 && !fits && status == SC_OK; tries++) {
        uintptr_t lo = (uintptr_t)view->ptr;

        if (tries)
            sc_coherence_release_range(lo, (size_t)((view->cols - 1) * view->ld + view->rows) *
                                       sc_type_bytes(view->type));
        sc_quiet_enter();
        sc_inside_enter();
        status = sc_coherence_begin(view, 1, &operand);
        if (status == SC_OK) {
            sc_part_divide(&part, &operand);
            fits = has_cuts(&part.rows, view->block_rows) && has_cuts(&part.cols, view->block);
            sc_coherence_end(&operand, 1);
        }
        sc_inside_leave();
        sc_quiet_leave();
    }
    return status;
}

enum sc_status sc_tasks_distribute(const struct semcache_decomposition *d, const struct semcache_region *whole)
{
    struct sc_view view;
    enum sc_status status;
    int devices = sc_coherence_devices();

    if (sc_region_empty(whole))
        return SC_OK;
    view = cut_view(d, whole, devices);
    if (!is_kept(&view) || !sc_coherence_stack_fits())
        return SC_ERR_UNSUPPORTED;
    status = cut(&view);
    for (int64_t p = 0; p < sc_decomposition_count(d, whole) && status == SC_OK; p++) {
        struct semcache_region part;
        int device;

        sc_decomposition_part(d, whole, p, 0, devices, &part, &device);
        if (!sc_region_valid(&part, "decomposition: part"))
            return SC_ERR_INVALID;
        status = sc_tasks_prefetch(&part, device);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
