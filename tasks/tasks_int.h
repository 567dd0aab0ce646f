/* Declarations shared by the files of tasks/. */
#ifndef SC_TASKS_TASKS_INT_H
#define SC_TASKS_TASKS_INT_H

#include "coherence/task.h"
#include "ops/ops.h"
#include "tasks/tasks.h"

/* --- region.c: pure functions ------------------------------------------------------------------------------------- */

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

/* --- decompose.c: pure functions of a valid decomposition and region ---------------------------------------------- */

/* Rows, columns or planes of a part; not for BLOCKS and OTHER. */
int64_t sc_decomposition_step(const struct semcache_decomposition *decomposition, const struct semcache_region *whole);

/* --- part.c: an operand of a call, and its pieces in tiles -------------------------------------------------------- */

struct sc_part {
    struct sc_operand whole; /* a vector of whole columns of a matrix counts as a matrix */
    struct sc_cuts rows, cols;
};
void sc_part_divide(struct sc_part *part, const struct sc_operand *operand);
/* The piece in row i and column j of the parts. */
struct sc_piece sc_part_piece(const struct sc_part *part, int i, int j, enum sc_access access);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
