/* Bytes and elements of views, the operands of a call (ops/ops.h).  Pure functions; no lock, no state.
 * Used by: blas, sparse, tasks, libsemcache. */
#ifndef SC_COHERENCE_VIEW_H
#define SC_COHERENCE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "ops/ops.h"

static inline bool sc_view_empty(const struct sc_view *v) { return v->rows <= 0 || v->cols <= 0; }
/* Elements from the first to one past the last, by address.  The view is not empty. */
static inline int64_t sc_view_length(const struct sc_view *v)
{
    return v->vector ? (v->rows - 1) * sc_step(v->ld) + 1 : (v->cols - 1) * v->ld + v->rows;
}
/* The view's bytes [*lo, *hi). */
static inline void sc_view_extent(const struct sc_view *v, uintptr_t *lo, uintptr_t *hi)
{
    *lo = (uintptr_t)v->ptr;
    *hi = *lo + (uintptr_t)sc_view_length(v) * sc_type_bytes(v->type);
}
/* Whether the extents of two views, neither empty, have a common byte. */
static inline bool sc_view_overlap(const struct sc_view *a, const struct sc_view *b)
{
    uintptr_t lo, hi, from, end;

    sc_view_extent(a, &lo, &hi);
    sc_view_extent(b, &from, &end);
    return lo < end && from < hi;
}
/* Copies the elements of a view, vectors in order of address; the two views have equal extents.  Touches user memory:
 * called without locks. */
void sc_view_copy(const struct sc_view *to, const struct sc_view *from);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
