/* The arithmetic of stencil3d, for the host and for a GPU. */
#ifndef STENCIL3D_H
#define STENCIL3D_H

#include "semcache/tasks.h"

#ifdef __CUDACC__
#define STENCIL3D_INLINE static __host__ __device__ inline
#else
#define STENCIL3D_INLINE static inline
#endif

/* The new value of a point from the old values of the point and its neighbours. */
STENCIL3D_INLINE double stencil3d_point(double u, double west, double east, double south, double north, double below,
                                        double above)
{
    return 0.4 * u + 0.1 * (((west + east) + (south + north)) + (below + above));
}

/* Point (i, j, k) of a part.  v: new values, old values, the plane below the part, the plane above.  Points on the
 * surface of the box keep their values. */
STENCIL3D_INLINE void stencil3d_element(const struct semcache_view *v, int64_t i, int64_t j, int64_t k)
{
    const struct semcache_view *to = &v[0], *from = &v[1];
    const double *u = (const double *)from->memory + i + j * from->ld + k * from->plane;
    const double *below = k > 0 ? u - from->plane
                          : v[2].planes ? (const double *)v[2].memory + i + j * v[2].ld : (const double *)0;
    const double *above = k < from->planes - 1 ? u + from->plane
                          : v[3].planes ? (const double *)v[3].memory + i + j * v[3].ld : (const double *)0;
    double *out = (double *)to->memory + i + j * to->ld + k * to->plane;

    if (i == 0 || j == 0 || i == from->rows - 1 || j == from->cols - 1 || !below || !above)
        *out = *u;
    else
        *out = stencil3d_point(*u, u[-1], u[1], u[-from->ld], u[from->ld], *below, *above);
}

#ifdef STENCIL3D_GPU
#ifdef __cplusplus
extern "C" {
#endif
semcache_function stencil3d_gpu; /* stencil3d.cu */
void stencil3d_synchronize(int devices);
/* The same steps in CUDA alone: result := warm + steps steps from `initial`; the seconds of the last `steps`. */
double stencil3d_hand(int64_t n, int64_t warm, int64_t steps, int devices, const double *initial, double *result);
#ifdef __cplusplus
}
#endif
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
