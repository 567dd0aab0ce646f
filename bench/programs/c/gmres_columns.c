/* GMRES without restart. The basis is the columns of one matrix; a dgemv makes a new vector from the previous column,
 * and two dgemv with the basis make it orthogonal. Rotations are in plain C. */
#include <math.h>

#include "program.h"

/* Eliminates h[k + 1] by the rotations of earlier steps and a new rotation; applies the new rotation to the right side
 * g. */
static void rotate(int k, double *h, double *c, double *s, double *g)
{
    double length;

    for (int i = 0; i < k; i++) {
        double upper = c[i] * h[i] + s[i] * h[i + 1];

        h[i + 1] = c[i] * h[i + 1] - s[i] * h[i];
        h[i] = upper;
    }
    length = hypot(h[k], h[k + 1]);
    c[k] = h[k] / length;
    s[k] = h[k + 1] / length;
    h[k] = length;
    g[k + 1] = -s[k] * g[k];
    g[k] *= c[k];
}

int main(int argc, char **argv)
{
    int n = size(argv, 16000, 6000, 2000), m = argc > 1 ? size(argv, 60, 30, 20) : 60;
    double *a = doubles((size_t)n * (size_t)n), *v = doubles((size_t)n * (size_t)(m + 1)), *x = doubles((size_t)n);
    double *h = doubles((size_t)m * (size_t)(m + 1)), *c = doubles((size_t)m), *s = doubles((size_t)m);
    double *g = doubles((size_t)m + 1), start;

    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            a[(size_t)j * (size_t)n + (size_t)i] = (element((unsigned)i, (unsigned)j) - 0.5) / sqrt(n);
        a[(size_t)j * (size_t)n + (size_t)j] += 10 + j % 10;
        x[j] = 0;
    }
    start = now();
    for (int i = 0; i < n; i++)
        v[i] = 1 / sqrt(n);
    g[0] = sqrt(n);
    for (int k = 0; k < m; k++) {
        double *w = v + (size_t)(k + 1) * (size_t)n, *column = h + (size_t)k * (size_t)(m + 1);

        cblas_dgemv(COLUMN_MAJOR, NO_TRANS, n, n, 1, a, n, w - n, 1, 0, w, 1);
        cblas_dgemv(COLUMN_MAJOR, TRANS, n, k + 1, 1, v, n, w, 1, 0, column, 1);
        cblas_dgemv(COLUMN_MAJOR, NO_TRANS, n, k + 1, -1, v, n, column, 1, 1, w, 1);
        column[k + 1] = cblas_dnrm2(n, w, 1);
        for (int i = 0; i < n; i++)
            w[i] /= column[k + 1];
        rotate(k, column, c, s, g);
    }
    for (int k = m - 1; k >= 0; k--) {
        g[k] /= h[(size_t)k * (size_t)(m + 1) + (size_t)k];
        for (int i = 0; i < k; i++)
            g[i] -= h[(size_t)k * (size_t)(m + 1) + (size_t)i] * g[k];
    }
    cblas_dgemv(COLUMN_MAJOR, NO_TRANS, n, m, 1, v, n, g, 1, 0, x, 1);
    printf("seconds %.6f\n", now() - start);
    result("x", x, n, 1e-7);
}
/* SPDX-License-Identifier: BSD-2-Clause */
