/* Factorizations and solutions by LAPACK, from plain malloc memory until the result can be read on the host.  A plain
 * BLAS program.
 *
 *     factor [-r rounds] [-s seconds] [-p padding] potrf|getrf|geqrf|gelqf|potri|getri|gesv|gels|syev|syevd|gesvd
 *         [n...]
 *
 * -r  least number of factorizations, of a fresh copy of the matrix (the first is timed apart);
 * -s  least number of seconds spent on factorizations;
 * -p  rows of memory beyond the rows of the matrix.
 *
 * Plain loops check the residual, so that no BLAS can spoil the check: the factors applied to a vector against the
 * matrix applied to the vector. */
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
void dgelqf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *size,
             int *info);
void dsyev_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
            const int *size, int *info, size_t, size_t);
void dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *size, int *iwork, const int *isize, int *info, size_t, size_t);
void dgesvd_(const char *jobu, const char *jobv, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *size, int *info, size_t,
             size_t);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dgetri_(const int *n, double *a, const int *lda, const int *pivots, double *work, const int *size, int *info);
void dgesv_(const int *n, const int *columns, double *a, const int *lda, int *pivots, double *b, const int *ldb,
            int *info);
void dgels_(const char *trans, const int *m, const int *n, const int *columns, double *a, const int *lda, double *b,
            const int *ldb, double *work, const int *size, int *info, size_t);

struct problem {
    int n, ld;
    double *a;      /* the matrix, then its factors */
    double *more;   /* tau, the eigenvalues or singular values, or the right-hand side and solution */
    double *u, *vt; /* singular vectors */
    int *pivots;
    double *x, *y, *z;
};

/* Element (i, j) in (-1, 1): a hash, because random matrices have full rank. */
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

/* y := M x for the original matrix. */
static void apply(struct problem *p, double (*of)(int, int))
{
    memset(p->y, 0, (size_t)p->n * sizeof *p->y);
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++)
            p->y[i] += of(i, j) * p->x[j];
}

/* x := T x for a triangle of the memory. */
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

/* Runs `call` (with variables `work`, `size` and `info`), with the workspace that the routine asks for. */
#define WITH_WORKSPACE(call)                                                                                          \
    int info, size = -1;                                                                                              \
    double best, *work = &best;                                                                                       \
                                                                                                                      \
    call;                                                                                                             \
    size = (int)best;                                                                                                 \
    work = example_doubles((size_t)size);                                                                             \
    call;                                                                                                             \
    free(work);                                                                                                       \
    return info;

static int geqrf(struct problem *p)
{
    WITH_WORKSPACE(dgeqrf_(&p->n, &p->n, p->a, &p->ld, p->more, work, &size, &info))
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

static int gelqf(struct problem *p)
{
    WITH_WORKSPACE(dgelqf_(&p->n, &p->n, p->a, &p->ld, p->more, work, &size, &info))
}

/* L Q x = A x. */
static double gelqf_error(struct problem *p)
{
    apply(p, element);
    for (int i = 0; i < p->n; i++) { /* Q = Hn ... H1 */
        double sum = p->x[i];

        for (int j = i + 1; j < p->n; j++)
            sum += column(p, j)[i] * p->x[j];
        p->x[i] -= p->more[i] * sum;
        for (int j = i + 1; j < p->n; j++)
            p->x[j] -= p->more[i] * sum * column(p, j)[i];
    }
    triangle(p, false, false, p->x);
    return difference(p->n, p->x, p->y);
}

static int syev(struct problem *p)
{
    WITH_WORKSPACE(dsyev_("V", "L", &p->n, p->a, &p->ld, p->more, work, &size, &info, 1, 1))
}

static int syevd(struct problem *p)
{
    int isize = 3 + 5 * p->n, *iwork = (int *)example_doubles((size_t)isize);
    int info, size = 1 + 6 * p->n + 2 * p->n * p->n;
    double *work = example_doubles((size_t)size);

    dsyevd_("V", "L", &p->n, p->a, &p->ld, p->more, work, &size, iwork, &isize, &info, 1, 1);
    free(work);
    free(iwork);
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

static int gesvd(struct problem *p)
{
    size_t count = (size_t)p->n * (size_t)p->n;

    if (!p->u) {
        p->u = example_doubles(count);
        p->vt = example_doubles(count);
    }
    WITH_WORKSPACE(dgesvd_("A", "A", &p->n, &p->n, p->a, &p->ld, p->more, p->u, &p->n, p->vt, &p->n, work, &size, &info,
                           1, 1))
}

/* U S V^T x = A x */
static double gesvd_error(struct problem *p)
{
    apply(p, element);
    memset(p->z, 0, (size_t)p->n * sizeof *p->z);
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++)
            p->z[i] += p->vt[i + (size_t)j * (size_t)p->n] * p->x[j];
    memset(p->x, 0, (size_t)p->n * sizeof *p->x);
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++)
            p->x[i] += p->u[i + (size_t)j * (size_t)p->n] * p->more[j] * p->z[j];
    return difference(p->n, p->x, p->y);
}

static int potri(struct problem *p)
{
    int info = potrf(p);

    if (info == 0)
        dpotri_("L", &p->n, p->a, &p->ld, &info, 1);
    return info;
}

static int getri_after(struct problem *p)
{
    WITH_WORKSPACE(dgetri_(&p->n, p->a, &p->ld, p->pivots, work, &size, &info))
}

static int getri(struct problem *p)
{
    int info = getrf(p);

    return info ? info : getri_after(p);
}

/* A x = x, where the memory holds A: the lower triangle of a symmetric matrix, or a full matrix. */
static double inverse_error(struct problem *p, double (*of)(int, int), bool lower)
{
    memset(p->z, 0, (size_t)p->n * sizeof *p->z);
    for (int j = 0; j < p->n; j++)
        for (int i = lower ? j : 0; i < p->n; i++) {
            p->z[i] += column(p, j)[i] * p->x[j];
            p->z[j] += lower && i > j ? column(p, j)[i] * p->x[i] : 0;
        }
    memcpy(p->more, p->x, (size_t)p->n * sizeof *p->x);
    memcpy(p->x, p->z, (size_t)p->n * sizeof *p->x);
    apply(p, of);
    return difference(p->n, p->y, p->more);
}

static double potri_error(struct problem *p)
{
    return inverse_error(p, definite, true);
}

static double getri_error(struct problem *p)
{
    return inverse_error(p, element, false) / p->n; /* for matrices of condition n, about */
}

/* Solve for a right-hand side. */
static void right_hand_side(struct problem *p)
{
    for (int i = 0; i < p->n; i++)
        p->more[i] = element(i, -1);
}

static int gesv(struct problem *p)
{
    const int one = 1;
    int info;

    right_hand_side(p);
    dgesv_(&p->n, &one, p->a, &p->ld, p->pivots, p->more, &p->n, &info);
    return info;
}

static int gels(struct problem *p)
{
    const int one = 1;

    right_hand_side(p);
    WITH_WORKSPACE(dgels_("N", &p->n, &p->n, &one, p->a, &p->ld, p->more, &p->n, work, &size, &info, 1))
}

/* A times the solution is the right-hand side, relative to the norms of both. */
static double solution_error(struct problem *p)
{
    double most = 0, largest = 0;

    memcpy(p->x, p->more, (size_t)p->n * sizeof *p->x);
    apply(p, element);
    for (int i = 0; i < p->n; i++) {
        most = example_worse(most, fabs(p->y[i] - element(i, -1)));
        largest = fmax(largest, fabs(p->x[i]));
    }
    return most / fmax(1, largest * sqrt(p->n));
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
    {"gelqf", element, gelqf, gelqf_error, 4.0 / 3},
    {"potri", definite, potri, potri_error, 1},
    {"getri", element, getri, getri_error, 2},
    {"gesv", element, gesv, solution_error, 2.0 / 3},
    {"gels", element, gels, solution_error, 4.0 / 3},
    {"syev", symmetric, syev, syev_error, 9},
    {"syevd", symmetric, syevd, syev_error, 9},
    {"gesvd", element, gesvd, gesvd_error, 22},
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
    fprintf(stderr, "usage: factor [-r rounds] [-s seconds] [-p padding] routine [n...]; routine:");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(stderr, " %s", kinds[i].name);
    fprintf(stderr, "\n");
    exit(2);
}

static void allocate(struct problem *p)
{
    size_t n = (size_t)p->n;

    p->a = example_doubles((size_t)p->ld * n);
    memset(p->a, 0, (size_t)p->ld * n * sizeof *p->a);
    p->more = example_doubles(n);
    p->pivots = (int *)example_doubles(n);
    p->x = example_doubles(n);
    p->y = example_doubles(n);
    p->z = example_doubles(n);
}

static void release(struct problem *p)
{
    double *all[] = {p->a, p->more, p->u, p->vt, (double *)p->pivots, p->x, p->y, p->z};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* One size; true: right. */
static bool measure(const struct kind *kind, int n, int padding, int least, double seconds)
{
    struct problem p = {.n = n, .ld = n + padding};
    double first = 0, best = INFINITY, spent = 0, sum = 0, error;
    int info = 0, rounds = 0;
    bool good;

    allocate(&p);
    while (info == 0 && (rounds < least || spent < seconds)) {
        double start, took;

        generate(&p, kind->of);
        start = example_now();
        info = kind->factor(&p);
        sum += read_pages(&p);
        took = example_now() - start;
        first = rounds++ == 0 ? took : first;
        best = fmin(best, took);
        spent += took;
    }
    for (int i = 0; i < p.n; i++)
        p.x[i] = element(i, -1);
    error = kind->error(&p);
    good = info == 0 && error <= 100 * DBL_EPSILON * p.n && isfinite(sum);
    printf("%s n=%d ld=%d rounds=%d first_seconds=%.9f mean_seconds=%.9f best_seconds=%.9f best_gflops=%.1f info=%d"
           " error=%.1e %s\n",
           kind->name, p.n, p.ld, rounds, first, rounds > 1 ? (spent - first) / (rounds - 1) : first, best,
           1e-9 * kind->flops * (double)p.n * (double)p.n * (double)p.n / best, info, error, good ? "ok" : "WRONG");
    release(&p);
    return good;
}

int main(int argc, char **argv)
{
    int rounds = 1, padding = 0, option;
    double seconds = 0;
    const struct kind *kind;
    bool good = true;

    while ((option = getopt(argc, argv, "r:s:p:")) != -1) {
        if (option == 'r')
            rounds = atoi(optarg);
        else if (option == 's')
            seconds = atof(optarg);
        else
            padding = option == 'p' ? atoi(optarg) : -1;
    }
    kind = kind_of(rounds > 0 && padding >= 0 && optind < argc ? argv[optind++] : NULL);
    if (optind == argc)
        good = measure(kind, 1000, padding, rounds, seconds);
    for (; optind < argc; optind++) {
        if (atoi(argv[optind]) < 1)
            kind_of(NULL);
        good = measure(kind, atoi(argv[optind]), padding, rounds, seconds) && good;
    }
    return good ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
