/* Declarations shared by the files of tasks/. */
#ifndef SC_TASKS_TASKS_INT_H
#define SC_TASKS_TASKS_INT_H

#include "ops/ops.h"
#include "tasks/tasks.h"

/* --- region.c: pure functions ------------------------------------------------------------------------------------- */

/* Checks a region; false: one line is logged, with `what` as the name of the region. */
bool sc_region_valid(const struct semcache_region *region, const char *what);
static inline bool sc_region_empty(const struct semcache_region *r)
{
    return r->rows == 0 || r->cols == 0 || r->planes == 0;
}

/* The smallest view that contains a region, which is valid and not empty.  Planes a whole number of columns apart make
 * one matrix; other planes make a vector.  A region with gaps between its planes is a part of its view: a writer of
 * such a region leaves the rest, and therefore reads the view. */
struct sc_view sc_region_view(const struct semcache_region *region, enum semcache_mode mode);
/* The region for the function, in a copy of its view at `memory` with the leading dimension or increment ld. */
struct semcache_view sc_region_placed(const struct semcache_region *region, enum semcache_mode mode, void *memory,
                                      int64_t ld);
/* Whether two valid regions have an element in common.  Regions with different distances count as overlapping when
 * their extents do; so do written regions with gaps, because their copies contain the gaps. */
bool sc_regions_overlap(const struct semcache_operand *a, const struct semcache_operand *b);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
