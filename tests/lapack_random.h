/* For tests of LAPACK's routines on random matrices, lapack_whole.c and lapack_spectra.c: draws of sizes and elements,
 * operands in the memory of a round, and products in double precision for residuals.  The includer defines
 * _GNU_SOURCE. */
#ifndef SC_TESTS_LAPACK_RANDOM_H
#define SC_TESTS_LAPACK_RANDOM_H

#include "tests/lapack_program.h"

enum { ROOM = 24 << 20, LIMIT = 60 }; /* LIMIT: of the ratios */

static uint64_t state;
static char *tracked, still[ROOM], *room; /* `room`: the memory of this round's operands, one of the two */
static size_t used;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

/* In the place of LAPACK's, which may end the program. */
__attribute__((visibility("default"))) void xerbla_(const char *name, const int *place, size_t length);
void xerbla_(const char *name, const int *place, size_t length)
{
    (void)name, (void)place, (void)length;
}

/* --- matrices of the type ----------------------------------------------------------------------------------------- */

static double real_at(const void *w, int i) { return is_single() ? ((const float *)w)[i] : ((const double *)w)[i]; }

/* Memory of the round, filled with a pattern, at odd places. */
static void *take(size_t bytes)
{
    char *at = room + used;

    used += (bytes + 15) / 16 * 16 + 16 * (size_t)below(3);
    if (used > ROOM) {
        printf("Bail out! too large an order\n");
        exit(1);
    }
    memset(at, 0x4b, bytes);
    return at;
}

static struct matrix matrix(int rows, int cols)
{
    struct matrix m = {.rows = rows, .cols = cols, .ld = rows + (below(2) ? below(5) : 0)};

    m.ld = m.ld > 0 ? m.ld : 1;
    m.bytes = (size_t)m.ld * (size_t)(cols > 0 ? cols : 1) * bytes_of_type();
    m.data = take(m.bytes);
    m.before = malloc(m.bytes);
    memcpy(m.before, m.data, m.bytes);
    return m;
}

static void put(struct matrix *m, int i, int j, number v)
{
    store(m->data, (size_t)i + (size_t)j * (size_t)m->ld, v);
    store(m->before, (size_t)i + (size_t)j * (size_t)m->ld, v);
}

static number draw(void)
{
    double re = (below(2001) - 1000) / 1024.0, im = is_complex() ? (below(2001) - 1000) / 1024.0 : 0;

    return re + im * I;
}

static struct matrix random_matrix(int rows, int cols)
{
    struct matrix m = matrix(rows, cols);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            put(&m, i, j, draw());
    return m;
}

/* Hermitian, only one triangle of it stored.  weight: added to the diagonal. */
static inline struct matrix hermitian(int n, char uplo, double weight)
{
    struct matrix m = matrix(n, n);

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (in_triangle(uplo, i, j))
                put(&m, i, j, i == j ? creal(draw()) + weight : draw());
    return m;
}

/* Elements of the operand before the call. */
static number whole(const struct matrix *m, char uplo, int i, int j)
{
    return in_triangle(uplo, i, j) ? was(m, i, j) : conj(was(m, j, i));
}

/* A matrix in full, for the checks. */
struct full {
    int rows, cols;
    number *e;
};
static struct full full(int rows, int cols)
{
    return (struct full){rows, cols, calloc((size_t)(rows * cols) + 1, sizeof(number))};
}
#define E(m, i, j) ((m).e[(size_t)(i) + (size_t)(j) * (size_t)(m).rows])

static struct full full_of(const struct matrix *m, int rows, int cols, bool before)
{
    struct full f = full(rows, cols);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            E(f, i, j) = before ? was(m, i, j) : at(m, i, j);
    return f;
}

static inline struct full full_hermitian(const struct matrix *m, char uplo)
{
    struct full f = full(m->rows, m->cols);

    for (int j = 0; j < m->cols; j++)
        for (int i = 0; i < m->rows; i++)
            E(f, i, j) = whole(m, uplo, i, j);
    return f;
}

static struct full adjoint(struct full a)
{
    struct full f = full(a.cols, a.rows);

    for (int j = 0; j < a.cols; j++)
        for (int i = 0; i < a.rows; i++)
            E(f, j, i) = conj(E(a, i, j));
    return f;
}

static struct full times(struct full a, struct full b)
{
    struct full f = full(a.rows, b.cols);

    for (int j = 0; j < b.cols; j++)
        for (int l = 0; l < a.cols; l++)
            for (int i = 0; i < a.rows; i++)
                E(f, i, j) += E(a, i, l) * E(b, l, j);
    return f;
}

static inline struct full identity(int n)
{
    struct full f = full(n, n);

    for (int i = 0; i < n; i++)
        E(f, i, i) = 1;
    return f;
}

static double norm(struct full a)
{
    double sum = 0;

    for (int i = 0; i < a.rows * a.cols; i++)
        sum += creal(a.e[i]) * creal(a.e[i]) + cimag(a.e[i]) * cimag(a.e[i]);
    return sqrt(sum);
}

/* |A - B| / (n size unit), at most LIMIT in a right result. */
static void same(struct full a, struct full b, double size, const char *what)
{
    double n = a.rows > a.cols ? a.rows : a.cols, ratio;

    for (int i = 0; i < a.rows * a.cols; i++)
        a.e[i] -= b.e[i];
    ratio = norm(a) / (n * size * unit());
    tap_ok(ratio < LIMIT, "%c%s: ratio %.3g", type, what, ratio);
}

/* --- spectra ------------------------------------------------------------------------------------------------------ */

/* Ascending values: even, in two clusters, graded over many powers of ten, or of low rank. */
enum { EVEN, CLUSTERS, GRADED, LOW_RANK, SPECTRA };
static void spectrum(int n, int kind, double *value)
{
    for (int i = 0; i < n; i++)
        value[i] = kind == EVEN ? i - n / 3 + 0.25 : kind == CLUSTERS ? (i < n / 2 ? -1 : 2) + 4 * unit() * i
                 : kind == GRADED ? pow(10, (is_single() ? 8.0 : 16.0) * (i - n + 1) / n)
                                  : i < n - 3 ? 0 : i - n + 4;
}

/* A vector of length 1. */
static struct full random_unit(int n)
{
    struct full v = full(n, 1);
    double length;

    for (int i = 0; i < n; i++)
        E(v, i, 0) = draw();
    length = norm(v);
    for (int i = 0; i < n && length > 0; i++)
        E(v, i, 0) /= length;
    return v;
}

/* (I - 2 v v^H) A */
static struct full reflected(struct full a, struct full v)
{
    struct full w = times(adjoint(v), a);

    for (int j = 0; j < a.cols; j++)
        for (int i = 0; i < a.rows; i++)
            E(a, i, j) -= 2 * E(v, i, 0) * E(w, 0, j);
    return a;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* A matrix with the absolute values of a spectrum as singular values, which go to `value` in descending order. */
static inline struct matrix with_singular_values(int m, int n, int kind, double *value)
{
    struct matrix of = matrix(m, n);
    struct full a = full(m, n);
    int least = m < n ? m : n;

    spectrum(least, kind, value);
    for (int i = 0; i < least; i++)
        E(a, i, i) = value[i] = fabs(value[i]);
    qsort(value, (size_t)least, sizeof *value, descending);
    for (int round = 0; round < 3; round++)
        a = adjoint(reflected(adjoint(reflected(a, random_unit(m))), random_unit(n)));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            put(&of, i, j, E(a, i, j));
    return of;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

#define I32(value) (&(int){value})

/* Workspaces; the rule of LAPACK is asked for. */
struct work {
    char *work, *rwork, *iwork;
    int lwork, lrwork, liwork;
};
static struct work work_for(int n)
{
    int most = 8 * n * n + 200 * n + 1000;

    return (struct work){malloc((size_t)most * 16), malloc((size_t)most * 8), malloc((size_t)most * 8), most, most,
                         most};
}
static void work_free(struct work *w) { free(w->work), free(w->rwork), free(w->iwork); }

static inline bool kept(const struct matrix *m) { return !memcmp(m->data, m->before, m->bytes); }

static inline const char *sy(const char *rest, char *name)
{
    sprintf(name, "%s%s", is_complex() ? "he" : "sy", rest);
    return name;
}

/* --- rounds ------------------------------------------------------------------------------------------------------- */

/* Calls `test` for each type in each round, with sizes from `first` to `last`. */
static void run_rounds(int argc, char **argv, void (*test)(int m, int n, char uplo))
{
    int rounds = argc > 2 ? atoi(argv[2]) : 2, first = argc > 3 ? atoi(argv[3]) : 1;
    int last = argc > 4 ? atoi(argv[4]) : 60;

    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    tracked = malloc(ROOM);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < 4; t++) {
            int n = first + below(last - first + 1), m = first + below(last - first + 1);
            char uplo = "UL"[below(2)];

            type = "sdcz"[t];
            room = below(3) ? tracked : still;
            used = (size_t)below(64) * 16;
            test(m, n, uplo);
        }
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
