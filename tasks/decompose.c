/* Decompositions of regions into parts: pure functions. */
#include "tasks/tasks_int.h"

#include "base/log.h"

static bool refuse(const char *why, int64_t is, int64_t limit)
{
    sc_log(SC_LOG_ERROR, "decomposition: %s (%lld, %lld)", why, (long long)is, (long long)limit);
    return false;
}

bool sc_decomposition_valid(const struct semcache_decomposition *d, const struct semcache_region *whole)
{
    if (!d || d->size != sizeof *d)
        return refuse("`size` is not that of the struct (size, expected)", d ? (int64_t)d->size : 0,
                      (int64_t)sizeof *d);
    if (!sc_region_valid(whole, "decomposition: region"))
        return false;
    if (whole->ranges)
        return refuse("an irregular region has no parts (ranges, limit)", whole->range_count, 0);
    switch (d->cut) {
    case SEMCACHE_COLUMNS:
        if (whole->planes > 1)
            return refuse("a region of several planes is not cut by columns (planes, limit)", whole->planes, 1);
        break;
    case SEMCACHE_BLOCKS:
        if (d->block_rows < 1 || d->block_cols < 1)
            return refuse("a block is empty (rows, columns)", d->block_rows, d->block_cols);
        if (d->grid_rows < 1 || d->grid_cols < 1 || d->grid_rows > SC_DEVICES_MAX || d->grid_cols > SC_DEVICES_MAX)
            return refuse("the grid has no devices or too many (rows, columns)", d->grid_rows, d->grid_cols);
        if (whole->planes > 1)
            return refuse("a region of several planes is not cut into blocks (planes, limit)", whole->planes, 1);
        return true;
    case SEMCACHE_OTHER:
        if (!d->part)
            return refuse("there is no function `part`", 0, 0);
        break;
    case SEMCACHE_ROWS:
    case SEMCACHE_PLANES: break;
    default: return refuse("the cut is unknown (cut, last)", d->cut, SEMCACHE_OTHER);
    }
    if (d->parts < 1 || d->devices < 0)
        return refuse("there are no parts, or fewer than no devices (parts, devices)", d->parts, d->devices);
    return true;
}

static int64_t div_up(int64_t a, int64_t b) { return a / b + (a % b > 0); }

int64_t sc_decomposition_count(const struct semcache_decomposition *d, const struct semcache_region *whole)
{
    return d->cut == SEMCACHE_BLOCKS ? div_up(whole->rows, d->block_rows) * div_up(whole->cols, d->block_cols)
                                     : d->parts;
}

/* A range of one dimension. */
struct range {
    int64_t at, extent;
};

/* Range p of length `step`, with its halo. */
static struct range range_of(int64_t all, int64_t step, int64_t p, int64_t halo)
{
    int64_t at = step && p < div_up(all, step) ? p * step : all, end = all - at < step ? all : at + step;

    if (at == end) /* an empty part has no neighbours */
        return (struct range){at, 0};
    at = at > halo ? at - halo : 0;
    end = all - end > halo ? end + halo : all;
    return (struct range){at, end - at};
}

static void cut_out(struct semcache_region *part, struct range rows, struct range cols, struct range planes)
{
    bool empty = !rows.extent || !cols.extent || !planes.extent;
    int64_t first = rows.at + (cols.at ? cols.at * part->ld : 0) + (planes.at ? planes.at * part->plane : 0);

    part->rows = rows.extent;
    part->cols = cols.extent;
    part->planes = planes.extent;
    if (!empty)
        part->memory = (char *)part->memory + (size_t)first * sc_type_bytes((enum sc_type)part->type);
}

int64_t sc_decomposition_step(const struct semcache_decomposition *d, const struct semcache_region *whole)
{
    return div_up(d->cut == SEMCACHE_ROWS ? whole->rows : d->cut == SEMCACHE_COLUMNS ? whole->cols : whole->planes,
                  d->parts);
}

void sc_decomposition_part(const struct semcache_decomposition *d, const struct semcache_region *whole, int64_t p,
                           int64_t halo, int devices, struct semcache_region *part, int *device)
{
    struct range rows = {0, whole->rows}, cols = {0, whole->cols}, planes = {0, whole->planes};

    *part = *whole;
    if (d->cut == SEMCACHE_OTHER) {
        *device = 0;
        d->part(d->context, whole, p, part, device);
    } else if (d->cut == SEMCACHE_BLOCKS) {
        int64_t down = div_up(whole->rows, d->block_rows), i = p % down, j = p / down;

        rows = range_of(whole->rows, d->block_rows, i, halo);
        cols = range_of(whole->cols, d->block_cols, j, halo);
        *device = (int)(i % d->grid_rows) * d->grid_cols + (int)(j % d->grid_cols);
    } else {
        int64_t step = sc_decomposition_step(d, whole);
        int among = d->devices && (!devices || d->devices < devices) ? d->devices : devices;

        *(d->cut == SEMCACHE_ROWS ? &rows : d->cut == SEMCACHE_COLUMNS ? &cols : &planes) =
            range_of(d->cut == SEMCACHE_ROWS ? whole->rows : d->cut == SEMCACHE_COLUMNS ? whole->cols : whole->planes,
                     step, p, halo);
        *device = among ? (int)(p % among) : 0;
    }
    if (d->cut != SEMCACHE_OTHER)
        cut_out(part, rows, cols, planes);
    *device = devices ? *device % devices : SEMCACHE_HOST;
}
/* SPDX-License-Identifier: BSD-2-Clause */
