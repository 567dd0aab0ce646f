/* The arithmetic of als, for the host and for a GPU. */
#ifndef ALS_H
#define ALS_H

#include "semcache/tasks.h"

#ifdef __CUDACC__
#define ALS_INLINE static __host__ __device__ inline
#else
#define ALS_INLINE static inline
#endif

#define ALS_LAMBDA 1e-3

/* A rating: entry (i, j) of R, or entry (j, i) for the transposed half step; 0: not rated. */
ALS_INLINE double als_rating(const struct semcache_view *r, int transposed, int64_t i, int64_t j)
{
    return ((const double *)r->memory)[transposed ? j + i * r->ld : i + j * r->ld];
}

/* Element (a, b) of the normal matrix of user i, and for b = rank the right side: sums over the items rated by i. */
ALS_INLINE double als_normal(const struct semcache_view *r, int transposed, const struct semcache_view *y, int64_t i,
                             int64_t a, int64_t b)
{
    double sum = a == b ? ALS_LAMBDA : 0;

    for (int64_t j = 0; j < y->cols; j++) {
        const double *item = (const double *)y->memory + j * y->ld;
        double rating = als_rating(r, transposed, i, j);

        if (rating != 0)
            sum += item[a] * (b < y->rows ? item[b] : rating);
    }
    return sum;
}

#ifdef TASKS_GPU
#ifdef __cplusplus
extern "C" {
#endif
int als_prepare(int devices); /* a handle of cuSOLVER for each device; 0: refused */
semcache_function als_solve_gpu;
#ifdef __cplusplus
}
#endif
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
