/* Conjugate gradients for the 7-point stencil on a cube, by MKL's mkl_cspblas_dcsrgemv and the BLAS.
 *
 *     cg_sparse [-w] [n [iterations]]
 *
 * n: about how many points (default 30000); iterations: at most (200).  -w: then the CPU changes one value of the
 * matrix, and the solver goes on from what it had. */
#include <math.h>
#include <string.h>

#include "examples/stencil.h"

void mkl_cspblas_dcsrgemv(const char *trans, const int *rows, const double *values, const int *start,
                          const int *columns, const double *x, double *y);

static const int one = 1;
static double *r, *p, *q;

static void product(const struct stencil *s, const double *x, double *y)
{
    mkl_cspblas_dcsrgemv("N", &s->n, s->values, s->start, s->columns, x, y);
}

/* From x on; returns the residual's norm. */
static double solve(const struct stencil *s, const double *b, double *x, int iterations, struct example_timer *timer)
{
    const double minus_unit = -1, unit = 1;
    double rr;

    product(s, x, r);
    dscal_(&s->n, &minus_unit, r, &one);
    daxpy_(&s->n, &unit, b, &one, r, &one);
    dcopy_(&s->n, r, &one, p, &one);
    rr = ddot_(&s->n, r, &one, r, &one);
    for (int k = 0; k < iterations && rr > 1e-24; k++) {
        double alpha, minus, beta, old = rr;

        product(s, p, q);
        alpha = rr / ddot_(&s->n, p, &one, q, &one);
        minus = -alpha;
        daxpy_(&s->n, &alpha, p, &one, x, &one);
        daxpy_(&s->n, &minus, q, &one, r, &one);
        rr = ddot_(&s->n, r, &one, r, &one);
        beta = rr / old;
        dscal_(&s->n, &beta, p, &one);
        daxpy_(&s->n, &unit, r, &one, p, &one);
        example_lap(timer);
    }
    return sqrt(rr);
}

/* The equation of one point in the middle. */
static void change(struct stencil *s)
{
    int row = s->n / 2;

    for (int e = s->start[row]; e < s->start[row + 1]; e++)
        if (s->columns[e] == row)
            s->values[e] += 1;
}

/* The largest component of b - A x, by a plain loop. */
static double error_of(const struct stencil *s, const double *b, const double *x)
{
    double worst = 0;

    for (int i = 0; i < s->n; i++) {
        double rest = b[i];

        for (int e = s->start[i]; e < s->start[i + 1]; e++)
            rest -= s->values[e] * x[s->columns[e]];
        worst = fmax(worst, fabs(rest));
    }
    return worst;
}

int main(int argc, char **argv)
{
    int writes = argc > 1 && strcmp(argv[1], "-w") == 0;
    long asked = argc > 1 + writes ? atol(argv[1 + writes]) : 30000;
    int iterations = argc > 2 + writes ? atoi(argv[2 + writes]) : 200;
    struct example_timer timer = {0};
    double *b, *x, residual, error;
    struct stencil s;

    if (asked < 1 || asked > 200000000 || iterations < 1) {
        fprintf(stderr, "usage: cg_sparse [-w] [n [iterations]], n from 1 to 200000000\n");
        return 2;
    }
    stencil_make(&s, asked);
    b = example_doubles((size_t)s.n);
    x = example_doubles((size_t)s.n);
    r = example_doubles((size_t)s.n);
    p = example_doubles((size_t)s.n);
    q = example_doubles((size_t)s.n);
    for (int i = 0; i < s.n; i++) {
        b[i] = 1 + i % 3;
        x[i] = 0;
    }
    timer.start = example_now();
    residual = solve(&s, b, x, iterations, &timer);
    if (writes) {
        change(&s);
        residual = solve(&s, b, x, iterations, &timer);
    }
    error = error_of(&s, b, x);
    printf("cg_sparse n=%d iterations=%d residual=%.3e error=%.3e seconds_per_iteration=%.9f %s\n", s.n, iterations,
           residual, error, example_seconds(&timer), error < 1e-9 + 2 * residual ? "ok" : "WRONG");
    return error < 1e-9 + 2 * residual ? 0 : 1;
}
