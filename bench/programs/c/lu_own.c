/* LU factorization without pivots, as in textbooks: plain loops for the panel and the triangle, and one dgemm per panel
 * for the rest. */
#include "program.h"

enum { PANEL = 64 };

int main(int argc, char **argv)
{
    size_t n = (size_t)size(argv, 8192, 3072, 1024);
    double *a = doubles(n * n), *diagonal = doubles(n), start;

    (void)argc;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            a[j * n + i] = element((unsigned)i, (unsigned)j) - 0.5 + (i == j ? (double)n : 0);
    start = now();
    for (size_t k = 0; k < n; k += PANEL) {
        size_t end = k + PANEL;

        for (size_t p = k; p < end; p++) {
            for (size_t i = p + 1; i < n; i++)
                a[p * n + i] /= a[p * n + p];
            for (size_t j = p + 1; j < end; j++)
                for (size_t i = p + 1; i < n; i++)
                    a[j * n + i] -= a[p * n + i] * a[j * n + p];
        }
        for (size_t j = end; j < n; j++)
            for (size_t p = k; p < end; p++)
                for (size_t i = p + 1; i < end; i++)
                    a[j * n + i] -= a[p * n + i] * a[j * n + p];
        if (end < n)
            cblas_dgemm(COLUMN_MAJOR, NO_TRANS, NO_TRANS, (int)(n - end), (int)(n - end), PANEL, -1, a + k * n + end,
                        (int)n, a + end * n + k, (int)n, 1, a + end * n + end, (int)n);
    }
    printf("seconds %.6f\n", now() - start);
    for (size_t i = 0; i < n; i++)
        diagonal[i] = a[i * n + i];
    result("diagonal", diagonal, (int)n, 1e-8);
}
/* SPDX-License-Identifier: BSD-2-Clause */
