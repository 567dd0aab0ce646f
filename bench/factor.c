/* One factorization by LAPACK, from plain malloc memory until its result can be read on the host.  Knows nothing of
 * semcache.
 *
 *     factor [-r rounds] potrf|getrf|geqrf|syev [n [ld]]
 *
 * -r  factor a fresh copy of the matrix so many times (the first one is timed apart)
 *
 * Checked by a residual made with plain loops, which no BLAS can spoil: factors applied to a vector against the matrix
 * applied to it. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "examples/example.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *size,
             int *info);
void dsyev_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
            const int *size, int *info, size_t, size_t);

struct problem {
    int n, ld;
    double *a;      /* the matrix, then its factors */
    double *more;   /* tau, or the eigenvalues */
    int *pivots;
    double *x, *y, *z;
};

/* Element (i, j) in (-1, 1): a hash, so that the matrices have full rank. */
static double element(int i, int j)
{
    uint64_t h = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)j * UINT64_C(0xc2b2ae3d27d4eb4f);

    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 32) * UINT64_C(0x94d049bb133111eb);
    return (double)(h >> 11) * 0x1p-52 - 1;
}

static double symmetric(int i, int j)
{
    return i < j ? element(i, j) : element(j, i);
}

static double definite(int i, int j)
{
    return symmetric(i, j) + (i == j ? 1000 : 0) /* larger than the norm of the rest up to n = 700000 */;
}

static double *column(const struct problem *p, int j)
{
    return p->a + (size_t)j * (size_t)p->ld;
}

static void generate(struct problem *p, double (*of)(int, int))
{
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++)
            column(p, j)[i] = of(i, j);
}

/* y := M x for the matrix as it was. */
static void apply(struct problem *p, double (*of)(int, int))
{
    memset(p->y, 0, (size_t)p->n * sizeof *p->y);
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++)
            p->y[i] += of(i, j) * p->x[j];
}

/* x := T x for a triangle of what is in memory. */
static void triangle(const struct problem *p, bool upper, bool unit, double *x)
{
    for (int step = 0; step < p->n; step++) {
        int j = upper ? step : p->n - 1 - step;
        double v = x[j];

        for (int i = upper ? 0 : j + 1; i < (upper ? j : p->n); i++)
            x[i] += column(p, j)[i] * v;
        x[j] = unit ? v : column(p, j)[j] * v;
    }
}

/* x := T^T x */
static void triangle_transposed(const struct problem *p, bool upper, double *x)
{
    for (int step = 0; step < p->n; step++) {
        int j = upper ? p->n - 1 - step : step;
        double sum = column(p, j)[j] * x[j];

        for (int i = upper ? 0 : j + 1; i < (upper ? j : p->n); i++)
            sum += column(p, j)[i] * x[i];
        x[j] = sum;
    }
}

/* Largest difference relative to the largest of y. */
static double difference(int n, const double *x, const double *y)
{
    double most = 0, scale = 0;

    for (int i = 0; i < n; i++) {
        most = example_worse(most, fabs(x[i] - y[i]));
        scale = fmax(scale, fabs(y[i]));
    }
    return most / scale;
}

static int potrf(struct problem *p)
{
    int info;

    dpotrf_("L", &p->n, p->a, &p->ld, &info, 1);
    return info;
}

static double potrf_error(struct problem *p)
{
    apply(p, definite);
    triangle_transposed(p, false, p->x);
    triangle(p, false, false, p->x);
    return difference(p->n, p->x, p->y);
}

static int getrf(struct problem *p)
{
    int info;

    dgetrf_(&p->n, &p->n, p->a, &p->ld, p->pivots, &info);
    return info;
}

static double getrf_error(struct problem *p)
{
    apply(p, element);
    triangle(p, true, false, p->x);
    triangle(p, false, true, p->x);
    for (int i = p->n - 1; i >= 0; i--) {
        double v = p->x[i];

        p->x[i] = p->x[p->pivots[i] - 1];
        p->x[p->pivots[i] - 1] = v;
    }
    return difference(p->n, p->x, p->y);
}

/* With the workspace that the routine asks for. */
static int geqrf(struct problem *p)
{
    int info, size = -1;
    double best, *work;

    dgeqrf_(&p->n, &p->n, p->a, &p->ld, p->more, &best, &size, &info);
    size = (int)best;
    work = example_doubles((size_t)size);
    dgeqrf_(&p->n, &p->n, p->a, &p->ld, p->more, work, &size, &info);
    free(work);
    return info;
}

/* Q R x = A x. */
static double geqrf_error(struct problem *p)
{
    apply(p, element);
    triangle(p, true, false, p->x);
    for (int j = p->n - 1; j >= 0; j--) { /* Q = H1 ... Hn */
        double sum = p->x[j];

        for (int i = j + 1; i < p->n; i++)
            sum += column(p, j)[i] * p->x[i];
        p->x[j] -= p->more[j] * sum;
        for (int i = j + 1; i < p->n; i++)
            p->x[i] -= p->more[j] * sum * column(p, j)[i];
    }
    return difference(p->n, p->x, p->y);
}

static int syev(struct problem *p)
{
    int info, size = -1;
    double best, *work;

    dsyev_("V", "L", &p->n, p->a, &p->ld, p->more, &best, &size, &info, 1, 1);
    size = (int)best;
    work = example_doubles((size_t)size);
    dsyev_("V", "L", &p->n, p->a, &p->ld, p->more, work, &size, &info, 1, 1);
    free(work);
    return info;
}

/* V W V^T x = A x, relative to the norm of A */
static double syev_error(struct problem *p)
{
    apply(p, symmetric);
    memset(p->z, 0, (size_t)p->n * sizeof *p->z);
    for (int j = 0; j < p->n; j++) {
        double sum = 0;

        for (int i = 0; i < p->n; i++)
            sum += column(p, j)[i] * p->x[i];
        for (int i = 0; i < p->n; i++)
            p->z[i] += column(p, j)[i] * p->more[j] * sum;
    }
    return difference(p->n, p->z, p->y);
}

static const struct kind {
    const char *name;
    double (*of)(int, int);
    int (*factor)(struct problem *);
    double (*error)(struct problem *);
    double flops; /* times n^3 */
} kinds[] = {
    {"potrf", definite, potrf, potrf_error, 1.0 / 3},
    {"getrf", element, getrf, getrf_error, 2.0 / 3},
    {"geqrf", element, geqrf, geqrf_error, 4.0 / 3},
    {"syev", symmetric, syev, syev_error, 9},
};

static double read_pages(const struct problem *p)
{
    size_t count = (size_t)p->ld * (size_t)p->n;
    double sum = 0;

    for (size_t at = 0; at < count; at += 4096 / sizeof(double))
        sum += p->a[at];
    return sum;
}

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (name && strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    fprintf(stderr, "usage: factor [-r rounds] potrf|getrf|geqrf|syev [n [ld]]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct problem p = {.n = 1000};
    int rounds = 1, option, info = 0;
    double first = 0, best = INFINITY, sum = 0, error;
    const struct kind *kind;
    bool good;

    while ((option = getopt(argc, argv, "r:")) != -1)
        rounds = option == 'r' ? atoi(optarg) : 0;
    kind = kind_of(rounds > 0 && optind < argc ? argv[optind++] : NULL);
    if (optind < argc)
        p.n = atoi(argv[optind++]);
    p.ld = optind < argc ? atoi(argv[optind++]) : p.n;
    if (p.n < 1 || p.ld < p.n)
        kind_of(NULL);
    p.a = example_doubles((size_t)p.ld * (size_t)p.n);
    p.more = example_doubles((size_t)p.n);
    p.pivots = (int *)example_doubles((size_t)p.n);
    p.x = example_doubles((size_t)p.n);
    p.y = example_doubles((size_t)p.n);
    p.z = example_doubles((size_t)p.n);
    memset(p.a, 0, (size_t)p.ld * (size_t)p.n * sizeof *p.a);
    for (int round = 0; round < rounds && info == 0; round++) {
        double start, seconds;

        generate(&p, kind->of);
        start = example_now();
        info = kind->factor(&p);
        sum += read_pages(&p);
        seconds = example_now() - start;
        if (round == 0)
            first = seconds;
        best = fmin(best, seconds);
    }
    for (int i = 0; i < p.n; i++)
        p.x[i] = element(i, -1);
    error = kind->error(&p);
    good = info == 0 && error <= 100 * DBL_EPSILON * p.n && isfinite(sum);
    printf("%s n=%d ld=%d rounds=%d first_seconds=%.6f best_seconds=%.6f best_gflops=%.1f info=%d error=%.1e %s\n",
           kind->name, p.n, p.ld, rounds, first, best,
           1e-9 * kind->flops * (double)p.n * (double)p.n * (double)p.n / best, info, error, good ? "ok" : "WRONG");
    return good ? 0 : 1;
}
