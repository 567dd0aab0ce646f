/* SPDX-License-Identifier: BSD-2-Clause */
/* ?gemm_batch and ?gemm_batch_strided, under all their names, beside a loop of products by definition.  Linked with
 * semcache only; batch.t runs the program on the host and on devices. */
#include <complex.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

typedef double complex number;
typedef void (*function)(void);
enum { MOST = 12, ROOM = 1 << 17 };

#define DECLARE(t)                                                                                                    \
    void t##gemm_batch_(void);                                                                                        \
    void t##gemm_batch_64_(void);                                                                                     \
    void cblas_##t##gemm_batch(void);                                                                                 \
    void cblas_##t##gemm_batch64_(void);                                                                              \
    void t##gemm_batch_strided_(void);                                                                                \
    void t##gemm_batch_strided_64_(void);                                                                             \
    void cblas_##t##gemm_batch_strided(void);                                                                         \
    void cblas_##t##gemm_batch_strided64_(void);
DECLARE(s)
DECLARE(d)
DECLARE(c)
DECLARE(z)
void dgemm_batch(void);
void dgemm_batch_strided_64(void);
void scipy_cblas_zgemm_batch64_(void);

/* By type; Fortran, Fortran with 64-bit integers, CBLAS, CBLAS with 64-bit integers. */
#define GROUPED(t) {t##gemm_batch_, t##gemm_batch_64_, cblas_##t##gemm_batch, cblas_##t##gemm_batch64_}
#define STRIDED(t)                                                                                                    \
    {t##gemm_batch_strided_, t##gemm_batch_strided_64_, cblas_##t##gemm_batch_strided, cblas_##t##gemm_batch_strided64_}
static const function grouped[4][4] = {GROUPED(s), GROUPED(d), GROUPED(c), GROUPED(z)};
static const function strided[4][4] = {STRIDED(s), STRIDED(d), STRIDED(c), STRIDED(z)};

static char complained[33];
static int complaint;
__attribute__((visibility("default"))) void xerbla_(const char *name, const int *info, size_t length);
void xerbla_(const char *name, const int *info, size_t length)
{
    memset(complained, 0, sizeof complained);
    memcpy(complained, name, length < 32 ? length : 32);
    complaint = *info;
}
__attribute__((visibility("default"))) void cblas_xerbla(int parameter, const char *routine, const char *form, ...);
void cblas_xerbla(int parameter, const char *routine, const char *form, ...)
{
    (void)form;
    strncpy(complained, routine, 32);
    complaint = parameter;
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

static const size_t bytes_of[] = {4, 8, 8, 16};

static number get(int type, const void *at, int64_t i)
{
    switch (type) {
    case 0: return ((const float *)at)[i];
    case 1: return ((const double *)at)[i];
    case 2: return ((const float complex *)at)[i];
    default: return ((const number *)at)[i];
    }
}

static void set(int type, void *at, int64_t i, number value)
{
    switch (type) {
    case 0: ((float *)at)[i] = (float)creal(value); break;
    case 1: ((double *)at)[i] = creal(value); break;
    case 2: ((float complex *)at)[i] = (float complex)value; break;
    default: ((number *)at)[i] = value;
    }
}

/* Small integers: every sum is exact in every type and order. */
static void fill(int type, void *at, unsigned seed)
{
    for (int64_t i = 0; i < ROOM; i++) {
        unsigned h = ((unsigned)i + seed) * 2654435761u;

        set(type, at, i, (double)(h >> 28) - 7 + ((double)(h >> 24 & 15) - 7) * I);
    }
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

struct group {
    char transa, transb;
    int64_t m, n, k, lda, ldb, ldc, count;
    number alpha, beta;
    int64_t a[MOST], b[MOST], c[MOST]; /* places of the operands, in elements */
};

/* Element (i, j) of op(X); by rows, X is stored row by row. */
static number of_op(int type, const void *x, int64_t at, char trans, bool rows, int64_t ld, int64_t i, int64_t j)
{
    int64_t r = trans == 'N' ? i : j, c = trans == 'N' ? j : i;
    number value = get(type, x, at + (rows ? r * ld + c : r + c * ld));

    return trans == 'C' ? conj(value) : value;
}

static void by_definition(int type, const struct group *g, bool rows, const void *a, const void *b, void *c)
{
    for (int64_t p = 0; p < g->count; p++)
        for (int64_t j = 0; j < g->n; j++)
            for (int64_t i = 0; i < g->m; i++) {
                int64_t at = g->c[p] + (rows ? i * g->ldc + j : i + j * g->ldc);
                number sum = 0;

                for (int64_t l = 0; l < g->k; l++)
                    sum += of_op(type, a, g->a[p], g->transa, rows, g->lda, i, l) *
                           of_op(type, b, g->b[p], g->transb, rows, g->ldb, l, j);
                set(type, c, at, g->alpha * sum + (g->beta == 0 ? 0 : g->beta * get(type, c, at)));
            }
}

static int code(char trans) { return trans == 'N' ? 111 : trans == 'T' ? 112 : trans == 'C' ? 113 : 5; }

/* Integers of either width, in memory. */
union sizes {
    int32_t narrow[8];
    int64_t wide[8];
};
static void put(union sizes *s, bool wide, int i, int64_t value)
{
    if (wide)
        s->wide[i] = value;
    else
        s->narrow[i] = (int32_t)value;
}

enum form { FORTRAN, FORTRAN_64, CBLAS, CBLAS_64 };

typedef void fortran_grouped(const char *, const char *, const void *, const void *, const void *, const void *,
                             const void *, const void *, const void *, const void *, const void *, const void *,
                             const void *, const void *, const void *, size_t, size_t);

static void call_grouped(int type, enum form form, int order, const struct group *g, int groups, void *a, void *b,
                         void *c)
{
    typedef void cblas(int, const int *, const int *, const void *, const void *, const void *, const void *,
                       const void *, const void *, const void *, const void *, const void *, const void *, const void *,
                       int64_t, const void *);
    union sizes m, n, k, lda, ldb, ldc, size, count;
    char ta[8], tb[8], alpha[128], beta[128];
    int ca[8], cb[8];
    void *pa[3 * MOST], *pb[3 * MOST], *pc[3 * MOST];
    bool wide = form & 1;
    size_t bytes = bytes_of[type];
    int first = 0;

    for (int i = 0; i < groups; i++) {
        ta[i] = g[i].transa, tb[i] = g[i].transb;
        ca[i] = code(ta[i]), cb[i] = code(tb[i]);
        put(&m, wide, i, g[i].m), put(&n, wide, i, g[i].n), put(&k, wide, i, g[i].k);
        put(&lda, wide, i, g[i].lda), put(&ldb, wide, i, g[i].ldb), put(&ldc, wide, i, g[i].ldc);
        put(&size, wide, i, g[i].count);
        set(type, alpha, i, g[i].alpha), set(type, beta, i, g[i].beta);
        for (int p = 0; p < g[i].count; p++, first++) {
            pa[first] = (char *)a + (size_t)g[i].a[p] * bytes;
            pb[first] = (char *)b + (size_t)g[i].b[p] * bytes;
            pc[first] = (char *)c + (size_t)g[i].c[p] * bytes;
        }
    }
    put(&count, wide, 0, groups);
    if (form <= FORTRAN_64)
        ((fortran_grouped *)grouped[type][form])(ta, tb, &m, &n, &k, alpha, pa, &lda, pb, &ldb, beta, pc, &ldc, &count,
                                                 &size, 1, 1);
    else
        ((cblas *)grouped[type][form])(order, ca, cb, &m, &n, &k, alpha, pa, &lda, pb, &ldb, beta, pc, &ldc, groups,
                                       &size);
}

static void call_strided(int type, enum form form, int order, const struct group *g, const int64_t stride[3], void *a,
                         void *b, void *c)
{
    typedef void fortran(const char *, const char *, const void *, const void *, const void *, const void *, void *,
                         const void *, const void *, void *, const void *, const void *, const void *, void *,
                         const void *, const void *, const void *, size_t, size_t);
    typedef void complex_cblas(int, int, int, int64_t, int64_t, int64_t, const void *, void *, int64_t, int64_t, void *,
                               int64_t, int64_t, const void *, void *, int64_t, int64_t, int64_t);
    typedef void double_cblas(int, int, int, int64_t, int64_t, int64_t, double, void *, int64_t, int64_t, void *,
                              int64_t, int64_t, double, void *, int64_t, int64_t, int64_t);
    typedef void float_cblas(int, int, int, int64_t, int64_t, int64_t, float, void *, int64_t, int64_t, void *, int64_t,
                             int64_t, float, void *, int64_t, int64_t, int64_t);
    const int64_t value[] = {g->m, g->n, g->k, g->lda, stride[0], g->ldb, stride[1], g->ldc, stride[2], g->count};
    union sizes s[10];
    char alpha[16], beta[16];
    const function f = strided[type][form];
    int ca = code(g->transa), cb = code(g->transb);

    for (int i = 0; i < 10; i++)
        put(&s[i], form & 1, 0, value[i]);
    set(type, alpha, 0, g->alpha), set(type, beta, 0, g->beta);
    if (form <= FORTRAN_64)
        ((fortran *)f)(&g->transa, &g->transb, &s[0], &s[1], &s[2], alpha, a, &s[3], &s[4], b, &s[5], &s[6], beta, c,
                       &s[7], &s[8], &s[9], 1, 1);
    else if (type >= 2)
        ((complex_cblas *)f)(order, ca, cb, g->m, g->n, g->k, alpha, a, g->lda, stride[0], b, g->ldb, stride[1], beta,
                             c, g->ldc, stride[2], g->count);
    else if (type == 1)
        ((double_cblas *)f)(order, ca, cb, g->m, g->n, g->k, creal(g->alpha), a, g->lda, stride[0], b, g->ldb,
                            stride[1], creal(g->beta), c, g->ldc, stride[2], g->count);
    else
        ((float_cblas *)f)(order, ca, cb, g->m, g->n, g->k, (float)creal(g->alpha), a, g->lda, stride[0], b, g->ldb,
                           stride[1], (float)creal(g->beta), c, g->ldc, stride[2], g->count);
}

/* --- comparisons -------------------------------------------------------------------------------------------------- */

static void *a, *b, *c, *want;

static void refill(int type, unsigned seed)
{
    fill(type, a, seed);
    fill(type, b, seed + 77);
    fill(type, c, seed + 777);
    memcpy(want, c, ROOM * bytes_of[type]);
}

/* By value: a zero has any sign. */
static bool as_defined(int type)
{
    for (int64_t i = 0; i < ROOM; i++)
        if (get(type, c, i) != get(type, want, i))
            return false;
    return true;
}

static unsigned state = 1;
static int64_t below(int64_t n) { return (int64_t)((state = state * 1103515245u + 12345u) >> 8) % n; }

/* Places of the operands of a group: contiguous, with gaps, side by side in rows, all at the same place, at random, in
 * a shuffled pool, as shuffled blocks of a matrix, and two results at the same place. */
enum layout { DENSE, GAPS, BESIDE, SAME, RANDOM, POOL, BLOCKS, TWICE, LAYOUTS };

static void shuffle(int64_t *slot, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t j = below(i + 1);

        slot[i] = slot[j];
        slot[j] = i;
    }
}

/* Places for `count` matrices of rows x cols; returns the leading dimension. */
static int64_t lay(enum layout layout, int64_t rows, int64_t cols, int64_t count, int64_t from, int64_t *place,
                   int64_t *stride)
{
    int64_t ld = rows + (layout == DENSE ? 0 : below(4)) + !rows, slot[MOST];
    int64_t step = ld * (cols + (layout == GAPS ? 1 + below(3) : 0));

    if (layout == BESIDE) {
        step = rows + below(3);
        ld = step * count + rows + 1;
    }
    *stride = layout == SAME ? 0 : step;
    if (layout == BLOCKS)
        ld = 4 * rows + 1 + below(3);
    shuffle(slot, count);
    for (int64_t i = 0; i < count; i++)
        place[i] = from + (layout == RANDOM   ? (count - i) * ld * (cols + 1) + below(ld)
                           : layout == POOL   ? slot[i] * step
                           : layout == BLOCKS ? slot[i] % 4 * rows + slot[i] / 4 * cols * ld
                           : layout == TWICE  ? i / 2 * step
                                              : i * *stride);
    return ld;
}

static struct group make(int type, enum layout layout, bool rows, int64_t size, int64_t from, int64_t stride[3])
{
    static const char letters[] = "NTC";
    struct group g = {.transa = letters[below(3)], .transb = letters[below(3)], .m = 1 + below(size),
                      .n = 1 + below(size), .k = 1 + below(size), .count = 1 + below(MOST), .alpha = 1 + below(3),
                      .beta = below(3)};
    bool na = (g.transa == 'N') != rows, nb = (g.transb == 'N') != rows;
    enum layout one = layout == SAME ? DENSE : layout;

    if (type >= 2)
        g.alpha += I * below(2);
    switch (below(20)) { /* empty */
    case 0: g.m = 0; break;
    case 1: g.n = 0; break;
    case 2: g.k = 0; break;
    case 3: g.count = 0; break;
    case 4: g.alpha = 0; break;
    default: break;
    }
    g.lda = lay(layout, na ? g.m : g.k, na ? g.k : g.m, g.count, from, g.a, &stride[0]);
    g.ldb = lay(one, nb ? g.k : g.n, nb ? g.n : g.k, g.count, from, g.b, &stride[1]);
    g.ldc = lay(one, rows ? g.n : g.m, rows ? g.m : g.n, g.count, from, g.c, &stride[2]);
    return g;
}

static void test_strided(int type, enum form form, bool rows)
{
    int wrong = 0, calls = 0;

    for (int layout = 0; layout < RANDOM; layout++)
        for (int i = 0; i < 12; i++, calls++) {
            int64_t stride[3];
            struct group g = make(type, (enum layout)layout, rows, 20, below(9), stride);
            size_t bytes = g.count ? bytes_of[type] : 0;

            refill(type, state);
            by_definition(type, &g, rows, a, b, want);
            call_strided(type, form, rows ? 101 : 102, &g, stride, (char *)a + (size_t)g.a[0] * bytes,
                         (char *)b + (size_t)g.b[0] * bytes, (char *)c + (size_t)g.c[0] * bytes);
            wrong += !as_defined(type);
        }
    tap_ok(!wrong, "%cgemm_batch_strided, form %d%s: %d of %d wrong", "sdcz"[type], form, rows ? " by rows" : "", wrong,
           calls);
}

/* A host's own routine computes the products of a call at the same time, in no order. */
static bool host_has_batches(void)
{
    void *host = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_NOLOAD);

    return host && dlsym(host, "dgemm_batch_");
}

static void test_grouped(int type, enum form form, bool rows)
{
    int wrong = 0, calls = 0;

    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int i = 0; i < 6 && (layout != TWICE || !host_has_batches()); i++, calls++) {
            int groups = (int)below(4);
            struct group g[3];
            int64_t stride[3];

            refill(type, state);
            for (int j = 0; j < groups; j++) {
                g[j] = make(type, (enum layout)layout, rows, 16, j * (ROOM / 4), stride);
                by_definition(type, &g[j], rows, a, b, want);
            }
            call_grouped(type, form, rows ? 101 : 102, g, groups, a, b, c);
            wrong += !as_defined(type);
        }
    tap_ok(!wrong, "%cgemm_batch, form %d%s: %d of %d wrong", "sdcz"[type], form, rows ? " by rows" : "", wrong, calls);
}

/* Results stay where they are and are the operands of the next calls; the program reads and writes in between. */
static void test_sequences(int type)
{
    int wrong = 0;

    for (int i = 0; i < 10; i++) {
        int64_t stride[3], other[3];
        enum layout layout = (enum layout)below(SAME);
        struct group g = {.transa = 'N', .transb = 'N', .m = 8 + below(24), .count = 2 + below(8), .alpha = 1};

        g.n = g.k = g.m;
        g.lda = g.ldb = g.ldc = lay(layout, g.m, g.m, g.count, 3, g.a, &stride[0]);
        memcpy(g.b, g.a, sizeof g.a), memcpy(g.c, g.a, sizeof g.a);
        other[0] = other[1] = other[2] = stride[0];
        refill(type, state);
        for (int64_t e = 0; e < ROOM; e++) { /* sums stay exact */
            set(type, a, e, get(type, a, e) == 7 ? 1 : 0);
            set(type, b, e, get(type, b, e) == 5 ? 1 : 0);
        }
        for (int step = 0; step < 6; step++) {
            void *left = step % 2 ? b : a, *right = step % 2 ? a : b;
            size_t at = (size_t)g.a[0] * bytes_of[type];

            g.beta = step % 3 == 2;
            by_definition(type, &g, false, left, right, want);
            call_strided(type, FORTRAN, 102, &g, other, (char *)left + at, (char *)right + at, (char *)c + at);
            if (step == 1) {
                int64_t place = g.a[below(g.count)] + below(g.m);

                set(type, a, place, 1);
                set(type, c, place, 3);
                set(type, want, place, 3);
            }
            if (step == 3)
                wrong += get(type, c, g.c[0]) != get(type, want, g.c[0]);
        }
        wrong += !as_defined(type);
    }
    tap_ok(!wrong, "sequences of %cgemm_batch_strided: %d wrong", "sdcz"[type], wrong);
}

/* Pools of matrices of several shapes stay on the devices; the program reads and writes in between. */
static void test_pools(int type)
{
    enum { SLOT = 450 };
    int wrong = 0;

    for (int i = 0; i < 8; i++) {
        refill(type, state);
        for (int step = 0; step < 5; step++) {
            int groups = 1 + (int)below(3);
            int64_t slot[3][3 * MOST], used = 0, place;
            struct group g[3] = {{0}};

            for (int operand = 0; operand < 3; operand++)
                shuffle(slot[operand], 3 * MOST);
            for (int j = 0; j < groups; j++) {
                g[j] = (struct group){.transa = "NTC"[below(3)], .transb = "NTC"[below(3)], .m = 1 + below(20),
                                      .n = 1 + below(20), .k = 1 + below(20), .count = 1 + below(MOST),
                                      .alpha = below(3) - 1, .beta = below(2)};
                g[j].lda = (g[j].transa == 'N' ? g[j].m : g[j].k) + below(3);
                g[j].ldb = (g[j].transb == 'N' ? g[j].k : g[j].n) + below(3);
                g[j].ldc = g[j].m + below(3);
                for (int64_t p = 0; p < g[j].count; p++, used++) {
                    g[j].a[p] = slot[0][below(2) ? used : 0] * SLOT; /* a factor of several products */
                    g[j].b[p] = slot[1][used] * SLOT;
                    g[j].c[p] = slot[2][used] * SLOT;
                }
                by_definition(type, &g[j], false, a, b, want);
            }
            call_grouped(type, FORTRAN, 102, g, groups, a, b, c);
            place = below(3 * MOST * SLOT);
            if (below(2))
                set(type, b, place, 1);
            if (below(2)) {
                set(type, c, place, 2);
                set(type, want, place, 2);
            }
            place = below(3 * MOST * SLOT);
            wrong += get(type, c, place) != get(type, want, place);
            for (int64_t e = 0; e < ROOM && step == 2; e++) { /* sums stay exact */
                set(type, c, e, 1);
                set(type, want, e, 1);
            }
        }
        wrong += !as_defined(type);
    }
    tap_ok(!wrong, "pools of %cgemm_batch: %d wrong", "sdcz"[type], wrong);
}

/* Matrices that a loop has allocated one by one, products without elements and without pointers, and products whose
 * factors are not read. */
static void test_places(void)
{
    enum { COUNT = 6, SIDE = 45 };
    double *x[COUNT], *y[COUNT], *z[COUNT + 2], *kept;
    void *pa[COUNT + 2] = {NULL}, *pb[COUNT + 2] = {NULL}, *pc[COUNT + 2] = {NULL};
    int m[] = {0, SIDE, SIDE}, n[] = {SIDE, SIDE, SIDE}, k[] = {SIDE, SIDE, 0}, ld[] = {SIDE, SIDE, SIDE};
    int size[] = {1, COUNT, 1}, count = 3, none = 0, wrong = 0;
    double alpha[] = {1, 1, 1}, beta[] = {0, 2, 3};

    for (int i = 0; i < COUNT; i++) {
        double *const *all[] = {&x[i], &y[i], &z[i]};

        x[i] = malloc(sizeof(double[SIDE * SIDE]));
        y[i] = malloc(sizeof(double[SIDE * SIDE]));
        z[i] = malloc(sizeof(double[SIDE * SIDE]));
        for (int operand = 0; operand < 3; operand++)
            for (int e = 0; e < SIDE * SIDE; e++)
                (*all[operand])[e] = (e * 7 + i + operand) % 11 - 5;
        pa[i + 1] = x[i], pb[i + 1] = y[i], pc[i + 1] = z[i];
    }
    kept = malloc(sizeof(double[SIDE * SIDE]));
    for (int e = 0; e < SIDE * SIDE; e++)
        kept[e] = e;
    pc[COUNT + 1] = kept;
    ((fortran_grouped *)grouped[1][FORTRAN])("NNN", "NNN", m, n, k, alpha, pa, ld, pb, ld, beta, pc, ld, &count, size,
                                             1, 1);
    for (int i = 0; i < COUNT; i++)
        for (int e = 0; e < SIDE * SIDE; e++) {
            double sum = 2 * ((e * 7 + i + 2) % 11 - 5);

            for (int l = 0; l < SIDE; l++)
                sum += x[i][e % SIDE + l * SIDE] * y[i][l + e / SIDE * SIDE];
            wrong += z[i][e] != sum;
        }
    for (int e = 0; e < SIDE * SIDE; e++)
        wrong += kept[e] != 3 * e;
    tap_ok(!wrong, "single matrices, products without pointers: %d elements wrong", wrong);
    ((fortran_grouped *)grouped[1][FORTRAN])(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                             NULL, &none, NULL, 1, 1);
    tap_ok(true, "no groups");
    for (int i = 0; i < COUNT; i++)
        free(x[i]), free(y[i]), free(z[i]);
    free(kept);
}

/* For batch.t, which counts the bytes: two calls for a pool of `count` matrices of order 64 in any order, whose sizes
 * differ. */
static void test_once(int64_t count)
{
    enum { SIDE = 64, CALLS = 2 };
    const size_t bytes = (size_t)count * sizeof(double[SIDE * SIDE]);
    double *x = malloc(bytes), *y = malloc(bytes), *z = malloc(bytes);
    void **p = malloc(3 * (size_t)count * sizeof *p);
    int64_t *size = malloc(2 * (size_t)count * sizeof *size), *slot = malloc((size_t)count * sizeof *slot), wrong = 0;
    double *one = malloc((size_t)count * sizeof *one);
    char *letters = malloc((size_t)count);

    for (int64_t e = 0; e < count * SIDE * SIDE; e++) {
        x[e] = (double)(e % 13);
        y[e] = (double)(e % 5 - 2);
        z[e] = (double)(e % 3);
    }
    shuffle(slot, count);
    for (int64_t i = 0; i < count; i++) {
        p[i] = x + slot[i] * SIDE * SIDE;
        p[count + i] = y + slot[i] * SIDE * SIDE;
        p[2 * count + i] = z + slot[i] * SIDE * SIDE;
        size[i] = SIDE - i % 4;
        size[count + i] = 1;
        one[i] = 1;
        letters[i] = 'N';
    }
    for (int call = 0; call < CALLS; call++)
        ((fortran_grouped *)grouped[1][FORTRAN_64])(letters, letters, size, size, size, one, p, size, p + count, size,
                                                    one, p + 2 * count, size, &count, size + count, 1, 1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t e = 0; e < SIDE * SIDE; e++) {
            int64_t side = size[i], at = slot[i] * SIDE * SIDE;
            double sum = 0;

            for (int64_t l = 0; e < side * side && l < side; l++)
                sum += (double)((at + e % side + l * side) % 13) * (double)((at + l + e / side * side) % 5 - 2);
            wrong += z[at + e] != CALLS * sum + (double)((at + e) % 3);
        }
    tap_ok(!wrong, "a pool of %d matrices: %d elements wrong", (int)count, (int)wrong);
    free(x), free(y), free(z), free(p), free(size), free(slot), free(one), free(letters);
}

static void test_wrong(void)
{
    static const struct {
        const char *what;
        int grouped, strided; /* position in Fortran */
    } cases[] = {{"transa", 1, 1}, {"transb", 2, 2}, {"m", 3, 3}, {"n", 4, 4}, {"k", 5, 5}, {"lda", 8, 8},
                 {"ldb", 10, 11}, {"ldc", 13, 15}, {"count", 15, 17}};
    int64_t stride[3] = {400, 400, 400};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int form = 0; form < 4; form++) {
            struct group g = {.transa = 'N', .transb = 'T', .m = 20, .n = 20, .k = 20, .lda = 20, .ldb = 20, .ldc = 20,
                              .count = 2, .alpha = 1, .a = {0, 400}, .b = {0, 400}, .c = {0, 400}};
            int shift = form >= CBLAS, said;
            bool same;

            switch (i) {
            case 0: g.transa = 'X'; break;
            case 1: g.transb = 'X'; break;
            case 2: g.m = -1; break;
            case 3: g.n = -1; break;
            case 4: g.k = -5; break;
            case 5: g.lda = 19; break;
            case 6: g.ldb = 0; break;
            case 7: g.ldc = 1; break;
            default: g.count = -1;
            }
            refill(1, 5);
            complaint = 0;
            call_grouped(1, (enum form)form, 102, &g, 1, a, b, c);
            said = complaint;
            same = as_defined(1);
            tap_ok(said == cases[i].grouped + shift && same, "dgemm_batch, form %d, %s: %d by %s", form, cases[i].what,
                   said, complained);
            complaint = 0;
            call_strided(1, (enum form)form, 102, &g, stride, a, b, c);
            tap_ok(complaint == cases[i].strided + shift && as_defined(1), "dgemm_batch_strided, form %d, %s: %d by %s",
                   form, cases[i].what, complaint, complained);
        }
    complaint = 0;
    call_grouped(1, CBLAS, 7, NULL, 0, a, b, c);
    tap_ok(complaint == 1, "an order that does not exist: %d", complaint);
}

/* Sizes that no memory can hold, with nothing to do. */
static void test_huge(void)
{
    struct group g = {.transa = 'N', .transb = 'N', .m = 0, .n = INT64_C(1) << 60, .k = INT64_C(1) << 60,
                      .lda = INT64_C(1) << 60, .ldb = INT64_C(1) << 60, .ldc = INT64_C(1) << 60,
                      .count = INT64_C(1) << 60, .alpha = 1};
    const int64_t stride[3] = {INT64_C(1) << 60, INT64_C(1) << 60, INT64_C(1) << 60};

    refill(1, 9);
    call_strided(1, FORTRAN_64, 102, &g, stride, a, b, c);
    call_strided(1, CBLAS_64, 101, &g, stride, a, b, c);
    g.m = 5, g.n = 0;
    call_strided(1, FORTRAN_64, 102, &g, stride, a, b, c);
    tap_ok(as_defined(1), "huge sizes of empty products");
}

static void test_names(void)
{
    tap_ok(dgemm_batch == dgemm_batch_ && dgemm_batch_strided_64 == dgemm_batch_strided_64_ &&
               scipy_cblas_zgemm_batch64_ == cblas_zgemm_batch64_,
           "further names are the same functions");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        test_once(atoi(argv[1]));
        return tap_done();
    }
    a = malloc(ROOM * sizeof(number));
    b = malloc(ROOM * sizeof(number));
    c = malloc(ROOM * sizeof(number));
    want = malloc(ROOM * sizeof(number));
    for (int type = 0; type < 4; type++) {
        for (int form = 0; form < 4; form++) {
            test_strided(type, (enum form)form, false);
            test_grouped(type, (enum form)form, false);
            if (form < CBLAS)
                continue;
            test_strided(type, (enum form)form, true);
            test_grouped(type, (enum form)form, true);
        }
        test_sequences(type);
        test_pools(type);
    }
    test_places();
    test_wrong();
    test_huge();
    test_names();
    return tap_done();
}
