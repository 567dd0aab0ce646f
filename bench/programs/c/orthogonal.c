/* The Gram-Schmidt process on the columns of a matrix: a dot product and an axpy for each pair, and a plain loop for
 * the norm. */
#include <math.h>

#include "program.h"

int main(int argc, char **argv)
{
    int m = size(argv, 100000, 40000, 4000), n = argc > 1 ? size(argv, 150, 80, 20) : 150;
    double *a = doubles((size_t)m * (size_t)n), *norms = doubles((size_t)n), start;

    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            a[(size_t)j * (size_t)m + (size_t)i] = cos(1.0 + (double)i * (j + 1)) + (i % n == j);
    start = now();
    for (int j = 0; j < n; j++) {
        double *v = a + (size_t)j * (size_t)m, sum = 0;

        for (int k = 0; k < j; k++) {
            const double *u = a + (size_t)k * (size_t)m;

            cblas_daxpy(m, -cblas_ddot(m, u, 1, v, 1), u, 1, v, 1);
        }
        for (int i = 0; i < m; i++)
            sum += v[i] * v[i];
        norms[j] = sqrt(sum);
        for (int i = 0; i < m; i++)
            v[i] /= norms[j];
    }
    printf("seconds %.6f\n", now() - start);
    result("norms", norms, n, 1e-8);
}
/* SPDX-License-Identifier: BSD-2-Clause */
