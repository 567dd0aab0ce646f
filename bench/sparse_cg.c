/* CG on the 7-point stencil by separate calls: products through semcache.h, the rest by the BLAS.
 *
 *     sparse_cg [n [iterations]] */
#include <math.h>

#include "examples/stencil.h"
#include "semcache/semcache.h"

int main(int argc, char **argv)
{
    long asked = argc > 1 ? atol(argv[1]) : 1000000;
    int iterations = argc > 2 ? atoi(argv[2]) : 200;
    const int one = 1;
    const double unit = 1, zero = 0;
    struct example_timer timer = {0};
    struct semcache_sparse *matrix;
    double *x, *r, *p, *q, rr;
    struct stencil s;

    stencil_make(&s, asked);
    x = example_doubles((size_t)s.n);
    r = example_doubles((size_t)s.n);
    p = example_doubles((size_t)s.n);
    q = example_doubles((size_t)s.n);
    for (int i = 0; i < s.n; i++) {
        x[i] = 0;
        r[i] = p[i] = 1 + i % 3;
    }
    if (semcache_sparse_csr(&matrix, s.n, s.n, s.start, s.columns, s.values, SEMCACHE_FLOAT64, 4, 0) != SEMCACHE_OK)
        return 1;
    rr = ddot_(&s.n, r, &one, r, &one);

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        double alpha, minus, beta, old = rr;

        semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q);
        alpha = rr / ddot_(&s.n, p, &one, q, &one);
        minus = -alpha;
        daxpy_(&s.n, &alpha, p, &one, x, &one);
        daxpy_(&s.n, &minus, q, &one, r, &one);
        rr = ddot_(&s.n, r, &one, r, &one);
        beta = rr / old;
        dscal_(&s.n, &beta, p, &one);
        daxpy_(&s.n, &unit, r, &one, p, &one);
        example_lap(&timer);
    }
    printf("sparse_cg n=%d iterations=%d residual=%.3e seconds_per_iteration=%.9f\n", s.n, iterations, sqrt(rr),
           example_seconds(&timer));
    semcache_sparse_destroy(matrix);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
