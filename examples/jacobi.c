/* Solves A x = b by Jacobi's iteration, x := x + D^-1 (b - A x), with CBLAS calls.  The rows of A are scaled so that D is
 * the identity.  A is dense, diagonally dominant, and b is chosen so that the solution is all ones.
 *
 *     jacobi [-r] [-e] [-w] [n [iterations]]
 *
 * -r  A is stored by rows (default: by columns)
 * -e  the CPU looks at one element of x in each iteration
 * -w  the CPU changes one line of A (a column; with -r a row) in each iteration */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "example.h"

struct problem {
    int n, order;
    double *a, *b, *x, *r;
    double contraction; /* the error shrinks by this factor (in the maximum norm) in each iteration */
};

static void generate(struct problem *p)
{
    example_jacobi((size_t)p->n, p->order == EXAMPLE_ROW_MAJOR, p->a, p->b);
    p->contraction = 0;
    for (int i = 0; i < p->n; i++) {
        p->contraction = fmax(p->contraction, p->b[i] - 1);
        p->x[i] = 0;
    }
}

/* Halves or doubles line `line` of A but for its diagonal; the solution stays all ones. */
static void change_line(struct problem *p, int line, double factor)
{
    double *a = p->a + (size_t)line * (size_t)p->n;

    for (int i = 0; i < p->n; i++) {
        if (i == line)
            continue;
        p->b[p->order == EXAMPLE_ROW_MAJOR ? line : i] += (factor - 1) * a[i];
        a[i] *= factor;
    }
}

/* x := x + (b - A x); returns the norm of the residual b - A x before. */
static double iterate(struct problem *p)
{
    double norm;

    cblas_dcopy(p->n, p->b, 1, p->r, 1);
    cblas_dgemv(p->order, EXAMPLE_NO_TRANS, p->n, p->n, -1, p->a, p->n, p->x, 1, 1, p->r, 1);
    norm = cblas_dnrm2(p->n, p->r, 1);
    cblas_daxpy(p->n, 1, p->r, 1, p->x, 1);
    return norm;
}

/* The largest error of x, whose exact value is 1 everywhere. */
static double error_of(const struct problem *p)
{
    double error = 0;

    for (int i = 0; i < p->n; i++) {
        double e = fabs(p->x[i] - 1);

        if (!(e <= error))
            error = e;
    }
    return error;
}

int main(int argc, char **argv)
{
    struct problem p = {.n = 2000, .order = EXAMPLE_COL_MAJOR};
    bool look = false, change = false, good;
    int option, iterations = 100;
    double norm = 0, error, bound, seen = 0;
    struct example_timer timer = {0};

    while ((option = getopt(argc, argv, "rew")) != -1) {
        if (option == 'r')
            p.order = EXAMPLE_ROW_MAJOR;
        else if (option == 'e')
            look = true;
        else if (option == 'w')
            change = true;
        else
            return 2;
    }
    if (optind < argc)
        p.n = atoi(argv[optind++]);
    if (optind < argc)
        iterations = atoi(argv[optind++]);
    if (p.n < 1 || iterations < 1 || optind < argc) {
        fprintf(stderr, "usage: jacobi [-r] [-e] [-w] [n [iterations]]\n");
        return 2;
    }

    p.a = example_doubles((size_t)p.n * (size_t)p.n);
    p.b = example_doubles((size_t)p.n);
    p.x = example_doubles((size_t)p.n);
    p.r = example_doubles((size_t)p.n);
    generate(&p);

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        norm = iterate(&p);
        if (look)
            seen += p.x[(size_t)k * 7 % (size_t)p.n];
        if (change)
            change_line(&p, k / 2 * 5 % p.n, k % 2 ? 2 : 0.5);
        example_lap(&timer);
    }
    double seconds = example_seconds(&timer);

    error = error_of(&p);
    bound = 1.01 * pow(p.contraction, iterations) + 1e-11;
    good = error <= bound && isfinite(norm) && isfinite(seen);
    printf("jacobi n=%d iterations=%d residual=%.3e error=%.3e bound=%.3e seconds_per_iteration=%.6f %s\n", p.n, iterations,
           norm, error, bound, seconds, good ? "ok" : "WRONG");
    free(p.r);
    free(p.x);
    free(p.b);
    free(p.a);
    return good ? 0 : 1;
}
