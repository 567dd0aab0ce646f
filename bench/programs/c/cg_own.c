/* Conjugate gradients with the matrix by rows: cblas_dgemv for the product, own loops for vectors and sums. */
#include "program.h"

static void generate(int n, double *a)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[(size_t)i * (size_t)n + (size_t)j] = element((unsigned)(i + j), (unsigned)(i ^ j)) / n;
        a[(size_t)i * (size_t)n + (size_t)i] = 2 + 10.0 * i / n;
    }
}

int main(int argc, char **argv)
{
    int n = size(argv, 20000, 8000, 2000), iterations = argc > 1 ? size(argv, 100, 40, 30) : 100;
    double *a = doubles((size_t)n * (size_t)n), *x = doubles((size_t)n), *r = doubles((size_t)n);
    double *p = doubles((size_t)n), *q = doubles((size_t)n), rr = n, start;

    generate(n, a);
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        p[i] = r[i] = 1;
    }
    start = now();
    for (int k = 0; k < iterations && rr > 1e-24; k++) {
        double pq = 0, before = rr;

        cblas_dgemv(ROW_MAJOR, NO_TRANS, n, n, 1, a, n, p, 1, 0, q, 1);
        for (int i = 0; i < n; i++)
            pq += p[i] * q[i];
        rr = 0;
        for (int i = 0; i < n; i++) {
            x[i] += before / pq * p[i];
            r[i] -= before / pq * q[i];
            rr += r[i] * r[i];
        }
        for (int i = 0; i < n; i++)
            p[i] = r[i] + rr / before * p[i];
    }
    printf("seconds %.6f\n", now() - start);
    result("x", x, n, 1e-8);
}
/* SPDX-License-Identifier: BSD-2-Clause */
