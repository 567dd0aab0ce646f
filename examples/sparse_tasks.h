/* The arithmetic of sparse_tasks, for the host and for a GPU. */
#ifndef SPARSE_TASKS_H
#define SPARSE_TASKS_H

#include "semcache/tasks.h"

#ifdef __CUDACC__
#define SPARSE_INLINE static __host__ __device__ inline
#else
#define SPARSE_INLINE static inline
#endif

/* Row i of a part of the matrix times x, times a factor.  v: the part of y, the row starts of the part, columns,
 * values, x. */
SPARSE_INLINE double sparse_row(const struct semcache_view *v, int64_t i, double factor)
{
    const int *start = (const int *)v[1].memory, *columns = (const int *)v[2].memory;
    const double *values = (const double *)v[3].memory, *x = (const double *)v[4].memory;
    double sum = 0;

    for (int e = start[i]; e < start[i + 1]; e++)
        sum += values[e] * x[columns[e]];
    return factor * sum;
}

#ifdef TASKS_GPU
#ifdef __cplusplus
extern "C"
#endif
semcache_function sparse_product_gpu;
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
