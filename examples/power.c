/* Largest eigenvalue of a dense matrix with positive entries by power iteration: dgemv, dnrm2, dscal.
 *
 *     power [n [iterations]] */
#include <math.h>
#include <stdbool.h>

#include "example.h"

/* A = I/2 + (1 + f/2)/n with f in (0, 1]: one eigenvalue near 1.75, the rest below 0.7. */
static void generate(double *a, int n)
{
    for (size_t j = 0; j < (size_t)n; j++) {
        for (size_t i = 0; i < (size_t)n; i++)
            a[j * (size_t)n + i] = (1 + 0.5 * example_element((uint32_t)i, (uint32_t)j)) / n;
        a[j * (size_t)n + j] += 0.5;
    }
}

/* The largest |A v - lambda v|, by plain loops; w is scratch. */
static double defect(const double *a, int n, const double *v, double lambda, double *w)
{
    double worst = 0;

    for (int i = 0; i < n; i++)
        w[i] = -lambda * v[i];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            w[i] += a[(size_t)j * (size_t)n + (size_t)i] * v[j];
    for (int i = 0; i < n; i++)
        worst = example_worse(worst, fabs(w[i]));
    return worst;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000, iterations = argc > 2 ? atoi(argv[2]) : 100;
    double lambda = 0, bound, error, seconds;
    struct example_timer timer = {0};
    double *a, *v, *w;
    bool good;

    if (argc > 3 || n < 1 || iterations < 1) {
        fprintf(stderr, "usage: power [n [iterations]]\n");
        return 2;
    }
    a = example_doubles((size_t)n * (size_t)n);
    v = example_doubles((size_t)n);
    w = example_doubles((size_t)n);
    generate(a, n);
    for (int i = 0; i < n; i++)
        v[i] = i % 7 == 0 ? 1 : 0.25;

    timer.start = example_now();
    cblas_dscal(n, 1 / cblas_dnrm2(n, v, 1), v, 1);
    for (int k = 0; k < iterations; k++) {
        double *swap = v;

        cblas_dgemv(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, n, n, 1, a, n, v, 1, 0, w, 1);
        lambda = cblas_dnrm2(n, w, 1);
        cblas_dscal(n, 1 / lambda, w, 1);
        v = w;
        w = swap;
        example_lap(&timer);
    }
    seconds = example_seconds(&timer);

    bound = 2 * pow(0.45, iterations) + 1e-12;
    error = defect(a, n, v, lambda, w);
    good = error <= bound && lambda > 1 && lambda < 2.1;
    printf("power n=%d iterations=%d eigenvalue=%.12f defect=%.3e bound=%.3e seconds_per_iteration=%.6f %s\n", n,
           iterations, lambda, error, bound, seconds, good ? "ok" : "WRONG");
    free(w);
    free(v);
    free(a);
    return good ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
