/* Shared by the files of the adapter for hypre. */
#ifndef SC_ADAPTERS_HYPRE_ADAPTER_H
#define SC_ADAPTERS_HYPRE_ADAPTER_H

#include <stdbool.h>

#include <_hypre_parcsr_ls.h>

#include "adapters/preload.h"

#if defined(HYPRE_COMPLEX) || defined(HYPRE_SINGLE) || defined(HYPRE_LONG_DOUBLE) || defined(HYPRE_USING_GPU)
#error "the adapter knows hypre's real double precision on the host"
#endif

/* Smaller operands are not offered: asking would take more than a twentieth of the time of the work. */
#define SC_HYPRE_LEAST_ELEMENTS 8192
/* With so many entries, operations are worth asking for with fewer elements, too: coarse matrices of BoomerAMG have few
 * rows with hundreds of entries.  Beside columns of other ranks the vectors come home for each exchange. */
#define SC_HYPRE_MANY_ENTRIES 32768
#define SC_HYPRE_MANY_BORDERED 400000
#define SC_HYPRE_LEAST_ENTRIES 2048 /* with fewer, their numbers of columns are in the heap */

/* Whether libsemcache is in the process, and hypre has the version of the headers. */
bool sc_hypre_is_ready(void);

/* What hypre's functions return: the errors so far. */
HYPRE_Int sc_hypre_error(void);

/* Whether vectors of n elements are offered in this thread now. */
bool sc_hypre_is_large(HYPRE_Int n);

/* Between the calls the thread works with the vectors of a parallel matrix.  Pairs of calls may nest: `before` is what
 * the first call returns. */
bool sc_hypre_begin(const hypre_ParCSRMatrix *a);
void sc_hypre_end(bool before);

/* Whether the last product of the matrix ran on the devices. */
bool sc_hypre_is_taken(const hypre_CSRMatrix *a);

/* w := alpha x + beta y, or alpha x without y.  False: hypre computes. */
bool sc_hypre_combine(HYPRE_Int n, double alpha, const double *x, double beta, const double *y, double *w);

/* w := x.  A short copy that the devices decline is done here.  False: not done. */
bool sc_hypre_copy(HYPRE_Int n, const double *x, double *w);

/* y := y + x ./ divisors, which stand for the elements of b.  False: hypre computes. */
bool sc_hypre_add_quotients(hypre_Vector *x, hypre_Vector *b, hypre_Vector *y, const double *divisors);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
