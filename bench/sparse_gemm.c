/* The square of the 7-point stencil's matrix by mkl_sparse_spmm, and its product with a vector, which ends a round.
 *
 *     sparse_gemm [n [rounds]] */
#include <math.h>

#include "examples/mkl_sparse.h"
#include "examples/stencil.h"

int mkl_sparse_spmm(int operation, sparse_matrix_t a, sparse_matrix_t b, sparse_matrix_t *out);

int main(int argc, char **argv)
{
    const struct matrix_descr general = {SPARSE_MATRIX_TYPE_GENERAL, 0, 0};
    const int plain = SPARSE_OPERATION_NON_TRANSPOSE;
    long asked = argc > 1 ? atol(argv[1]) : 1000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    struct example_timer timer = {0};
    double *x, *y, *z, *twice, worst = 0, largest = 0;
    sparse_matrix_t matrix, square;
    struct stencil s;

    stencil_make(&s, asked);
    x = example_doubles((size_t)s.n);
    y = example_doubles((size_t)s.n);
    z = example_doubles((size_t)s.n);
    twice = example_doubles((size_t)s.n);
    for (int i = 0; i < s.n; i++)
        x[i] = 1 + i % 3;
    if (mkl_sparse_d_create_csr(&matrix, SPARSE_INDEX_BASE_ZERO, s.n, s.n, s.start, s.start + 1, s.columns, s.values))
        return 1;
    timer.start = example_now();
    for (int k = 0; k < rounds; k++) {
        if (mkl_sparse_spmm(plain, matrix, matrix, &square) || mkl_sparse_d_mv(plain, 1, square, general, x, 0, y))
            return 1;
        for (int i = 0; i < s.n; i++) /* waits for the product */
            largest = fmax(largest, fabs(y[i]));
        mkl_sparse_destroy(square);
        example_lap(&timer);
    }
    if (mkl_sparse_d_mv(plain, 1, matrix, general, x, 0, z) || mkl_sparse_d_mv(plain, 1, matrix, general, z, 0, twice))
        return 1;
    for (int i = 0; i < s.n; i++)
        worst = fmax(worst, fabs(twice[i] - y[i]));
    mkl_sparse_destroy(matrix);
    printf("sparse_gemm n=%d rounds=%d error=%.1e seconds_per_round=%.6f %s\n", s.n, rounds, worst / largest,
           example_seconds(&timer), worst <= 1e-12 * largest ? "ok" : "wrong");
    return !(worst <= 1e-12 * largest);
}
/* SPDX-License-Identifier: BSD-2-Clause */
