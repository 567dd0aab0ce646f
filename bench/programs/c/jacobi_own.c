/* Jacobi's iteration with one BLAS call: r = b - A x by dgemv; the program's own loop updates x and sums the norm. */
#include <math.h>

#include "program.h"

int main(int argc, char **argv)
{
    int n = size(argv, 20000, 8000, 2000), iterations = argc > 1 ? size(argv, 100, 50, 40) : 100;
    double *a = doubles((size_t)n * (size_t)n), *x = doubles((size_t)n), *r = doubles((size_t)n), norm = 0, start;

    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            a[(size_t)j * (size_t)n + (size_t)i] = element((unsigned)i, (unsigned)j) / n;
        a[(size_t)j * (size_t)n + (size_t)j] = 1;
        x[j] = 0;
    }
    start = now();
    for (int k = 0; k < iterations; k++) {
        for (int i = 0; i < n; i++)
            r[i] = 1;
        cblas_dgemv(COLUMN_MAJOR, NO_TRANS, n, n, -1, a, n, x, 1, 1, r, 1);
        norm = 0;
        for (int i = 0; i < n; i++) {
            x[i] += r[i];
            norm += r[i] * r[i];
        }
        if (sqrt(norm) < 1e-13)
            break;
    }
    printf("seconds %.6f\n", now() - start);
    result("x", x, n, 1e-8);
}
/* SPDX-License-Identifier: BSD-2-Clause */
