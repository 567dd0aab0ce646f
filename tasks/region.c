/* Regions: checks, views, overlap. */
#include "tasks/tasks_int.h"

#include <stdlib.h>

#include "base/log.h"

/* --- checks ------------------------------------------------------------------------------------------------------- */

/* The region with distances that mean something also where an extent is 1.  Planes of one column are columns. */
static struct semcache_region normal(const struct semcache_region *region)
{
    struct semcache_region r = *region;

    if (r.cols <= 1)
        r.ld = r.planes > 1 ? r.plane : r.rows;
    if (r.planes <= 1)
        r.plane = (r.cols - 1) * r.ld + r.rows;
    return r;
}

/* Elements from the first to one past the last. */
static int64_t length(const struct semcache_region *r)
{
    return (r->planes - 1) * r->plane + (r->cols - 1) * r->ld + r->rows;
}

static bool refuse(const char *what, const char *why, int64_t is, int64_t limit)
{
    if (what)
        sc_log(SC_LOG_ERROR, "%s: %s (%lld, %lld)", what, why, (long long)is, (long long)limit);
    return false;
}

/* Products of extents and distances that no address space holds. */
static bool is_huge(const struct semcache_region *r)
{
    const int64_t most = INT64_MAX / 64;
    int64_t columns, planes;

    return __builtin_mul_overflow(r->cols, r->ld, &columns) || __builtin_mul_overflow(r->planes, r->plane, &planes) ||
           columns > most || planes > most - columns || r->rows > most - columns - planes;
}

static bool ranges_valid(const struct semcache_region *region, const char *what)
{
    const int64_t most = INT64_MAX / 64;
    int64_t sum = 0;

    if (region->range_count < 0 || region->range_count > INT32_MAX)
        return refuse(what, "the number of ranges is out of range", region->range_count, INT32_MAX);
    for (int64_t i = 0; i < region->range_count; i++) {
        const struct semcache_range *r = &region->ranges[i];

        if (r->count < 0 || r->first < -most || r->first > most || r->count > most - sum)
            return refuse(what, "a range is negative or exceeds the address space (range, elements)", i, r->count);
        sum += r->count;
    }
    return sum == 0 || region->memory || refuse(what, "`memory` is NULL", 0, 0);
}

bool sc_region_valid(const struct semcache_region *region, const char *what)
{
    struct semcache_region r;
    uintptr_t lo, hi;

    if (!region)
        return refuse(what, "the region is NULL", 0, 0);
    if (region->size != sizeof *region)
        return refuse(what, "`size` is not that of the struct", (int64_t)region->size, (int64_t)sizeof *region);
    if ((unsigned)region->type >= SC_TYPES)
        return refuse(what, "the type is unknown", region->type, SC_TYPES - 1);
    if (region->ranges || region->range_count)
        return region->ranges ? ranges_valid(region, what) : refuse(what, "`ranges` is NULL", region->range_count, 0);
    if (region->rows < 0 || region->cols < 0 || region->planes < 0)
        return refuse(what, "an extent is negative", region->rows < region->cols ? region->rows : region->cols,
                      region->planes);
    if (sc_region_empty(region))
        return true;
    r = *region;
    if (r.cols > 1 && r.ld < r.rows)
        return refuse(what, "ld < rows", r.ld, r.rows);
    r.ld = r.cols > 1 ? r.ld : r.rows;
    r.plane = r.planes > 1 ? r.plane : 0;
    if (r.plane < 0)
        return refuse(what, "plane < elements of a plane", r.plane, r.rows);
    if (is_huge(&r))
        return refuse(what, "the extents exceed the address space", r.rows, r.cols);
    if (r.planes > 1 && r.plane < (r.cols - 1) * r.ld + r.rows)
        return refuse(what, "plane < elements of a plane", r.plane, (r.cols - 1) * r.ld + r.rows);
    r = normal(region);
    lo = (uintptr_t)r.memory;
    hi = lo + (uintptr_t)length(&r) * sc_type_bytes((enum sc_type)r.type);
    if (!r.memory || hi < lo)
        return refuse(what, r.memory ? "the region wraps around the address space" : "`memory` is NULL", 0, 0);
    return true;
}

/* --- views -------------------------------------------------------------------------------------------------------- */

enum form { VECTOR, ROW, MATRIX, SPAN };

/* Of a region with elements.  SPAN: the distance of planes is no whole number of columns, and the planes are parts of a
 * long vector. */
static enum form form_of(const struct semcache_region *r)
{
    if (r->planes > 1 && r->plane % r->ld)
        return SPAN;
    if (r->planes == 1 && r->cols == 1)
        return VECTOR;
    return r->planes == 1 && r->rows == 1 ? ROW : MATRIX;
}

/* The view has elements that the region lacks. */
static bool has_gaps(const struct semcache_region *r)
{
    enum form form = form_of(r);

    return r->planes > 1 && (form == SPAN ? length(r) != r->rows * r->cols * r->planes : r->plane != r->cols * r->ld);
}

/* --- boxes -------------------------------------------------------------------------------------------------------- */

bool sc_region_empty(const struct semcache_region *r)
{
    return r->ranges ? sc_region_elements(r) == 0 : r->rows == 0 || r->cols == 0 || r->planes == 0;
}

int64_t sc_region_elements(const struct semcache_region *r)
{
    int64_t sum = 0;

    if (!r->ranges) /* the product of the other extents of an empty region may overflow */
        return sc_region_empty(r) ? 0 : r->rows * r->cols * r->planes;
    for (int64_t i = 0; i < r->range_count; i++)
        sum += r->ranges[i].count;
    return sum;
}

int64_t sc_region_boxes(const struct semcache_region *r)
{
    struct semcache_region n;

    if (r->ranges)
        return r->range_count;
    if (sc_region_empty(r))
        return 1;
    n = normal(r);
    return has_gaps(&n) ? n.planes : 1;
}

struct semcache_region sc_region_box(const struct semcache_region *r, int64_t i)
{
    size_t elem = sc_type_bytes((enum sc_type)r->type);
    struct semcache_region box = {.size = sizeof box, .memory = r->memory, .type = r->type, .cols = 1, .planes = 1};

    if (r->ranges) {
        box.memory = (char *)r->memory + r->ranges[i].first * (int64_t)elem;
        box.rows = r->ranges[i].count;
    } else if (sc_region_boxes(r) == 1) {
        box = *r;
    } else {
        box.memory = (char *)r->memory + i * r->plane * (int64_t)elem;
        box.rows = r->rows;
        box.cols = r->cols;
        box.ld = r->cols > 1 ? r->ld : r->rows;
    }
    return box;
}

struct semcache_view sc_region_compact(const struct semcache_region *r, enum semcache_mode mode, void *memory)
{
    int64_t n = sc_region_elements(r);

    if (r->ranges)
        return (struct semcache_view){memory, n, 1, 1, n, n, r->type, mode};
    return (struct semcache_view){memory, r->rows, r->cols, r->planes, r->rows, n ? n / r->planes : 0, r->type, mode};
}

struct sc_view sc_region_view(const struct semcache_region *region, enum semcache_mode mode)
{
    struct semcache_region r = normal(region);
    struct sc_view v = {.ptr = r.memory, .type = (enum sc_type)r.type, .rows = r.rows, .cols = r.cols, .ld = r.ld,
                        .access = (enum sc_access)mode, .split = SC_SPLIT_COLS};
    enum form form = form_of(&r);

    if (has_gaps(&r) && mode & SEMCACHE_WRITE)
        v.access = SC_RDWR;
    v.vector = form != MATRIX;
    if (form == MATRIX) {
        v.cols = (r.planes - 1) * (r.plane / r.ld) + r.cols;
    } else {
        v.rows = form == ROW ? r.cols : length(&r);
        v.cols = 1;
        v.ld = form == ROW ? r.ld : 1;
    }
    return v;
}

struct semcache_view sc_region_placed(const struct semcache_region *region, enum semcache_mode mode, void *memory,
                                      int64_t ld)
{
    struct semcache_region r = sc_region_empty(region) ? *region : normal(region);
    struct semcache_view v = {memory, r.rows, r.cols, r.planes, r.ld, r.plane, r.type, mode};
    enum form form;

    if (sc_region_empty(region)) /* its distances may be 0 */
        return v;
    form = form_of(&r);
    if (form == MATRIX || form == ROW) {
        v.ld = ld;
        v.plane = form == MATRIX ? r.plane / r.ld * ld : r.cols * ld;
    }
    return v;
}

/* --- overlap ------------------------------------------------------------------------------------------------------ */

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Whether lines of na and nb points, the second `distance` behind the first, have a point in common. */
static bool meet(int64_t distance, int64_t na, int64_t nb) { return distance > -nb && distance < na; }

/* Of two boxes with the same distances, the second d elements behind the first: d is i + j ld + k plane, where the sum
 * of the first two is smaller than `plane` and i is smaller than ld.  So j has two possible values, and k has two. */
static bool boxes_meet(const struct semcache_region *a, const struct semcache_region *b, int64_t d)
{
    for (int64_t k = floor_div(d, a->plane), n = 0; n < 2; n++, k++) {
        int64_t rest = d - k * a->plane;

        for (int64_t j = floor_div(rest, a->ld), o = 0; o < 2; o++, j++)
            if (meet(k, a->planes, b->planes) && meet(j, a->cols, b->cols) &&
                meet(rest - j * a->ld, a->rows, b->rows))
                return true;
    }
    return false;
}

/* Gives a region with extents of 1 the distances of the other region where they fit. */
static void adopt(struct semcache_region *to, const struct semcache_region *from)
{
    if (to->cols == 1 && to->rows <= from->ld)
        to->ld = from->ld;
    if (to->planes == 1 && to->plane <= from->plane)
        to->plane = from->plane;
}

static bool boxes_overlap(const struct semcache_operand *first, const struct semcache_operand *second)
{
    struct semcache_region a = normal(first->region), b = normal(second->region);
    size_t elem = sc_type_bytes((enum sc_type)a.type);
    uintptr_t at = (uintptr_t)a.memory, bt = (uintptr_t)b.memory;
    intptr_t bytes = (intptr_t)(bt - at);
    bool both_written = first->mode & second->mode & SEMCACHE_WRITE;

    if (bt >= at + (uintptr_t)length(&a) * elem ||
        at >= bt + (uintptr_t)length(&b) * sc_type_bytes((enum sc_type)b.type))
        return false;
    adopt(&a, &b);
    adopt(&b, &a);
    if (a.type != b.type || a.ld != b.ld || a.plane != b.plane || bytes % (intptr_t)elem ||
        (both_written && (has_gaps(&a) || has_gaps(&b))))
        return true;
    return boxes_meet(&a, &b, bytes / (intptr_t)elem);
}

/* --- overlap of irregular regions --------------------------------------------------------------------------------- */

struct interval {
    uintptr_t lo, hi;
};

static int by_address(const void *a, const void *b)
{
    uintptr_t x = ((const struct interval *)a)->lo, y = ((const struct interval *)b)->lo;

    return (x > y) - (x < y);
}

/* The ranges that are not empty, by address; NULL without memory. */
static struct interval *intervals_of(const struct semcache_region *r, int64_t *count)
{
    struct interval *all = malloc((size_t)(r->range_count + 1) * sizeof *all);
    size_t elem = sc_type_bytes((enum sc_type)r->type);

    *count = 0;
    for (int64_t i = 0; all && i < r->range_count; i++) {
        uintptr_t lo = (uintptr_t)r->memory + (uintptr_t)(r->ranges[i].first * (int64_t)elem);

        if (r->ranges[i].count)
            all[(*count)++] = (struct interval){lo, lo + (uintptr_t)r->ranges[i].count * elem};
    }
    if (all)
        qsort(all, (size_t)*count, sizeof *all, by_address);
    return all;
}

static bool sets_overlap(const struct semcache_region *a, const struct semcache_region *b)
{
    int64_t na, nb, i = 0, j = 0;
    struct interval *x = intervals_of(a, &na), *y = intervals_of(b, &nb);
    bool overlap = !x || !y;

    while (!overlap && i < na && j < nb) {
        overlap = x[i].lo < y[j].hi && y[j].lo < x[i].hi;
        if (x[i].hi <= y[j].hi)
            i++;
        else
            j++;
    }
    free(x);
    free(y);
    return overlap;
}

bool sc_region_repeats(const struct semcache_region *r)
{
    int64_t count = 0;
    struct interval *x = r->ranges ? intervals_of(r, &count) : NULL;
    bool repeats = r->ranges && !x;

    for (int64_t i = 1; i < count; i++)
        repeats = repeats || x[i].lo < x[i - 1].hi;
    free(x);
    return repeats;
}

bool sc_regions_overlap(const struct semcache_operand *first, const struct semcache_operand *second)
{
    const struct semcache_operand *set = first->region->ranges ? first : second, *box = set == first ? second : first;

    if (!set->region->ranges)
        return boxes_overlap(first, second);
    if (box->region->ranges)
        return sets_overlap(set->region, box->region);
    for (int64_t i = 0; i < set->region->range_count; i++) {
        struct semcache_region range = sc_region_box(set->region, i);
        struct semcache_operand operand = {&range, set->mode};

        if (range.rows && boxes_overlap(&operand, box))
            return true;
    }
    return false;
}
/* SPDX-License-Identifier: BSD-2-Clause */
