/* The functions of semcache.h for libraries with loops of their own: all types, all ways in which w, x and y may be the
 * same, and special scalars, against loops.  Where a call is declined, the inputs must be unchanged, and the loops
 * compute.  Started by library_try.t under `semcache run`; argument: 1 if the devices must compute. */
#include <complex.h>
#include <stdbool.h>
#include <string.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

#define N 5000

static const char *const type_names[] = {"float", "double", "complex float", "complex double"};

static size_t element(enum semcache_type type) { return (size_t[]){4, 8, 8, 16}[type]; }

static double complex get(const void *v, enum semcache_type type, int i)
{
    switch (type) {
    case SEMCACHE_FLOAT32: return ((const float *)v)[i];
    case SEMCACHE_FLOAT64: return ((const double *)v)[i];
    case SEMCACHE_COMPLEX64: return ((const float complex *)v)[i];
    default: return ((const double complex *)v)[i];
    }
}

static void put(void *v, enum semcache_type type, int i, double complex value)
{
    switch (type) {
    case SEMCACHE_FLOAT32: ((float *)v)[i] = (float)creal(value); break;
    case SEMCACHE_FLOAT64: ((double *)v)[i] = creal(value); break;
    case SEMCACHE_COMPLEX64: ((float complex *)v)[i] = (float complex)value; break;
    default: ((double complex *)v)[i] = value;
    }
}

static void *vector(enum semcache_type type, int seed)
{
    void *v = semcache_alloc(N * element(type));

    for (int i = 0; i < N; i++)
        put(v, type, i, (i * 7 + seed * 3) % 11 - 5 + I * ((i + seed) % 5 - 2));
    return v;
}

static double worst(const void *v, const double complex *known, enum semcache_type type)
{
    double most = 0;

    for (int i = 0; i < N; i++)
        most = tap_worse(most, cabs(get(v, type, i) - known[i]));
    return most;
}

/* --- w := alpha x + beta y ---------------------------------------------------------------------------------------- */

static int devices_must;

static bool is_complex(enum semcache_type type) { return type >= SEMCACHE_COMPLEX64; }

/* same: 0 all apart, 1 w is y, 2 w is x, 3 without y, 4 without y and w is x. */
static void check_axpby(enum semcache_type type, int same, double complex alpha, double complex beta)
{
    static double complex known[N];
    void *x = vector(type, 1), *y = same < 3 ? vector(type, 2) : NULL, *apart = vector(type, 3);
    void *w = same == 1 ? y : same == 2 || same == 4 ? x : apart;
    const double a[2] = {creal(alpha), cimag(alpha)}, b[2] = {creal(beta), cimag(beta)};
    int done;

    for (int i = 0; i < N; i++)
        known[i] = alpha * get(x, type, i) + (y ? beta * get(y, type, i) : 0);
    done = semcache_try_axpby(N, type, a, x, b, y, w);
    if (!done)
        for (int i = 0; i < N; i++)
            put(w, type, i, alpha * get(x, type, i) + (y ? beta * get(y, type, i) : 0));
    tap_ok(worst(w, known, type) < 1e-4 && (done || !devices_must), "axpby, %s, kind %d, %g, %g: %s",
           type_names[type], same, a[0], b[0], done ? "devices" : "declined");
    semcache_free(x);
    semcache_free(y);
    semcache_free(apart);
}

static void test_axpby(enum semcache_type type)
{
    const double complex scalars[] = {0, 1, -2 + I};

    for (int same = 0; same < 5; same++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                check_axpby(type, same, is_complex(type) ? scalars[i] : creal(scalars[i]),
                            is_complex(type) ? scalars[j] : creal(scalars[j]));
}

/* --- the others --------------------------------------------------------------------------------------------------- */

static void test_dot(enum semcache_type type)
{
    void *x = vector(type, 1), *y = vector(type, 2);

    for (int conjugate = 0; conjugate < 2; conjugate++) {
        double complex known = 0;
        double result[2];
        int done;

        for (int i = 0; i < N; i++)
            known += (conjugate ? conj(get(x, type, i)) : get(x, type, i)) * get(y, type, i);
        done = semcache_try_dot(N, type, conjugate, x, y, result);
        tap_ok(done ? cabs(result[0] + I * result[1] - known) < 1e-3 * N : !devices_must, "dot, %s, %s",
               type_names[type], conjugate ? "conjugated" : "plain");
    }
    semcache_free(x);
    semcache_free(y);
}

/* More pairs than one wait serves; a vector is in many pairs, and its own partner in some. */
static void test_dots(enum semcache_type type)
{
    enum { PAIRS = 70, VECTORS = 5 };
    void *v[VECTORS];
    const void *x[PAIRS], *y[PAIRS];
    double result[PAIRS][2], again[2];
    int worst = -1, done;

    for (int i = 0; i < VECTORS; i++)
        v[i] = vector(type, i + 1);
    for (int i = 0; i < PAIRS; i++) {
        x[i] = v[i % VECTORS];
        y[i] = v[i / VECTORS % VECTORS];
    }
    for (int conjugate = 0; conjugate < 2; conjugate++) {
        done = semcache_try_dots(N, type, conjugate, PAIRS, x, y, result);
        for (int i = 0; i < PAIRS && done; i++) {
            double complex known = 0;

            for (int e = 0; e < N; e++)
                known += (conjugate ? conj(get(x[i], type, e)) : get(x[i], type, e)) * get(y[i], type, e);
            if (cabs(result[i][0] + I * result[i][1] - known) > 1e-3 * N)
                worst = i;
        }
        tap_ok(done ? worst < 0 : !devices_must, "%d dots, %s, %s (%d)", PAIRS, type_names[type],
               conjugate ? "conjugated" : "plain", worst);
    }
    done = semcache_try_dot(N, type, 0, x[1], y[1], again);
    put(v[1], type, 0, 1000);
    tap_ok(!done || (semcache_try_dots(N, type, 0, 1, &x[1], &y[1], result) && result[0][0] != again[0]),
           "%s: computed anew after a write", type_names[type]);
    for (int i = 0; i < VECTORS; i++)
        semcache_free(v[i]);
}

static void test_largest(enum semcache_type type)
{
    void *x = vector(type, 1);

    for (int round = 0; round < 3; round++) {
        double result = 0;
        int done;

        put(x, type, round * N / 3, round % 2 ? 100 + round : -100 - round);
        done = semcache_try_largest(N, type, x, &result);
        tap_ok(is_complex(type) ? !done : done ? result == 100 + round : !devices_must, "largest, %s, round %d",
               type_names[type], round);
    }
    semcache_free(x);
}

/* Element (i, j) of op(A), for A stored by rows. */
static double complex of(const void *a, enum semcache_type type, char op, int ld, int i, int j)
{
    double complex value = get(a, type, op == 'N' ? i * ld + j : j * ld + i);

    return op == 'C' ? conj(value) : value;
}

/* C := 2 op(A) op(B) + beta C, with matrices of different shapes in N elements. */
static void check_product(enum semcache_type type, char op_a, char op_b, double beta)
{
    enum { ROWS = 16, SUM = 12, COLS = 9 };
    static double complex known[N];
    void *a = vector(type, 1), *b = vector(type, 2), *c = vector(type, 3);
    const struct semcache_product p = {.size = sizeof p, .type = type, .op_a = op_a, .op_b = op_b, .m = ROWS, .n = COLS,
                                       .k = SUM, .alpha = {2}, .beta = {beta}, .a = a, .b = b, .c = c,
                                       .lda = op_a == 'N' ? SUM : ROWS, .ldb = op_b == 'N' ? COLS : SUM, .ldc = COLS};
    int done;

    for (int i = 0; i < N; i++)
        known[i] = get(c, type, i);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            double complex sum = 0;

            for (int l = 0; l < SUM; l++)
                sum += of(a, type, op_a, (int)p.lda, i, l) * of(b, type, op_b, (int)p.ldb, l, j);
            known[i * COLS + j] = 2 * sum + beta * known[i * COLS + j];
        }
    done = semcache_try_product(&p);
    tap_ok(done ? worst(c, known, type) < 1e-3 : !devices_must, "product, %s, %c and %c, beta %g", type_names[type],
           op_a, op_b, beta);
    semcache_free(a);
    semcache_free(b);
    semcache_free(c);
}

static void test_product(enum semcache_type type)
{
    static const char letters[] = "NTC";

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            check_product(type, letters[i], letters[j], i == j);
}

/* The diagonal is written between two calls. */
static void test_multiply(enum semcache_type type)
{
    static double complex known[N];
    void *d = vector(type, 1), *x = vector(type, 2), *w = vector(type, 3);

    for (int round = 0; round < 3; round++) {
        int done;

        put(d, type, 7, round);
        for (int i = 0; i < N; i++)
            known[i] = get(d, type, i) * get(x, type, i);
        done = semcache_try_multiply(N, type, d, x, w);
        tap_ok(done ? worst(w, known, type) < 1e-4 : !devices_must, "multiply, %s, round %d", type_names[type], round);
    }
    semcache_free(d);
    semcache_free(x);
    semcache_free(w);
}

/* The diagonal has an element of 0, and is written between two calls. */
static void test_divide(enum semcache_type type)
{
    static double complex known[N];
    void *d = vector(type, 1), *x = vector(type, 2), *w = vector(type, 3);
    double complex beta = 0;

    for (int round = 0; round < 3; round++) {
        const double scale[2] = {creal(beta), 0};
        int done;

        put(d, type, 7, round);
        for (int i = 0; i < N; i++)
            known[i] = (get(d, type, i) == 0 ? 0 : get(x, type, i) / get(d, type, i)) +
                       (beta == 0 ? 0 : beta * get(w, type, i));
        done = semcache_try_divide(N, type, d, x, scale, w);
        tap_ok(done ? worst(w, known, type) < 1e-4 : !devices_must, "divide, %s, round %d", type_names[type], round);
        beta = round + 1;
    }
    semcache_free(d);
    semcache_free(x);
    semcache_free(w);
}

/* One triangle of a tridiagonal matrix, in CSR, with three columns stored by columns. */
static void test_stored(enum semcache_type type, enum semcache_sparse_stored stored)
{
    enum { COLUMNS = 3, LD = N + 5 };
    static double complex known[N];
    const bool lower = stored == SEMCACHE_SPARSE_SYMMETRIC_LOWER || stored == SEMCACHE_SPARSE_HERMITIAN_LOWER;
    const bool hermitian = stored >= SEMCACHE_SPARSE_HERMITIAN_LOWER;
    const double one[2] = {1, 0}, minus[2] = {-1, 0};
    int32_t *start = semcache_alloc((N + 1) * sizeof *start), *index = semcache_alloc(2 * N * sizeof *index);
    char *values = semcache_alloc(2 * N * element(type)), *b = semcache_alloc(COLUMNS * LD * element(type));
    char *c = semcache_alloc(COLUMNS * LD * element(type));
    const struct semcache_sparse_arrays matrix = {.size = sizeof matrix, .format = SEMCACHE_SPARSE_CSR, .type = type,
                                                  .index_bytes = 4, .rows = N, .cols = N, .start = start,
                                                  .index = index, .values = values, .stored = stored};
    const double complex mirrored = hermitian && is_complex(type) ? conj(2 + I) : 2 + I;
    int done;

    start[0] = 0;
    for (int i = 0, at = 0; i < N; start[++i] = at)
        for (int j = lower ? i - 1 : i; j <= (lower ? i : i + 1); j++)
            if (j >= 0 && j < N) {
                index[at] = j;
                put(values, type, at++, i == j ? 5 : 2 + I);
            }
    for (int i = 0; i < COLUMNS * LD; i++) {
        put(b, type, i, i % 7 - 3);
        put(c, type, i, i % 5);
    }
    done = semcache_try_sparse_columns(&matrix, 'N', COLUMNS, one, b, LD, minus, c, LD);
    for (int j = 0; j < COLUMNS; j++) {
        for (int i = 0; i < N; i++)
            known[i] = 5 * get(b, type, j * LD + i) - (j * LD + i) % 5 +
                       (i > 0 ? (lower ? 2 + I : mirrored) * get(b, type, j * LD + i - 1) : 0) +
                       (i < N - 1 ? (lower ? mirrored : 2 + I) * get(b, type, j * LD + i + 1) : 0);
        if (!is_complex(type))
            for (int i = 0; i < N; i++)
                known[i] = creal(known[i]);
        tap_ok(done ? worst(c + (size_t)(j * LD) * element(type), known, type) < 1e-4 : !devices_must,
               "product, %s, stored %d, column %d", type_names[type], stored, j);
    }
    semcache_free(start);
    semcache_free(index);
    semcache_free(values);
    semcache_free(b);
    semcache_free(c);
}

/* Blocks of 1 2 / 3 4 on the diagonal, stored by rows and by columns. */
static void test_blocks(enum semcache_type type, enum semcache_sparse_format format)
{
    static const int by_rows[] = {1, 2, 3, 4}, by_columns[] = {1, 3, 2, 4};
    static double complex known[N];
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    int32_t *start = semcache_alloc((N / 2 + 1) * sizeof *start), *index = semcache_alloc(N / 2 * sizeof *index);
    void *values = semcache_alloc(2 * N * element(type)), *x = vector(type, 2), *y = vector(type, 3);
    const struct semcache_sparse_arrays matrix = {.size = sizeof matrix, .format = format, .type = type,
                                                  .index_bytes = 4, .rows = N, .cols = N, .start = start,
                                                  .index = index, .values = values, .block = 2};
    int done;

    for (int i = 0; i <= N / 2; i++)
        start[i] = i;
    for (int i = 0; i < N / 2; i++)
        index[i] = i;
    for (int i = 0; i < 2 * N; i++)
        put(values, type, i, (format == SEMCACHE_SPARSE_BSR ? by_rows : by_columns)[i % 4]);
    for (int i = 0; i < N; i += 2) {
        known[i] = get(x, type, i) + 2 * get(x, type, i + 1);
        known[i + 1] = 3 * get(x, type, i) + 4 * get(x, type, i + 1);
    }
    done = semcache_try_sparse(&matrix, 'N', 1, one, x, 1, zero, y, 1);
    tap_ok(done ? worst(y, known, type) < 1e-4 : !devices_must, "blocks, %s, format %d", type_names[type], format);
    semcache_free(start);
    semcache_free(index);
    semcache_free(values);
    semcache_free(x);
    semcache_free(y);
}

/* A vector of a few elements stays on the host, unless the elements are on a device only. */
static void test_short(void)
{
    enum { ORDER = 1000 };
    const double one[2] = {1, 0};
    double *a = semcache_alloc(ORDER * ORDER * sizeof *a), *c = semcache_alloc(ORDER * ORDER * sizeof *c);
    double *home = vector(SEMCACHE_FLOAT64, 1), *w = vector(SEMCACHE_FLOAT64, 2);
    const struct semcache_product product = {.size = sizeof product, .type = SEMCACHE_FLOAT64, .op_a = 'N',
                                             .op_b = 'N', .m = ORDER, .n = ORDER, .k = ORDER, .alpha = {1, 0},
                                             .a = a, .lda = ORDER, .b = a, .ldb = ORDER, .c = c, .ldc = ORDER};
    int on_devices, done;

    for (int i = 0; i < ORDER * ORDER; i++)
        a[i] = i % (ORDER + 1) == 0 ? 2 : 0; /* twice the identity */
    on_devices = semcache_try_product(&product);
    done = semcache_try_axpby(ORDER, SEMCACHE_FLOAT64, one, c, one, w, w);
    tap_ok(done == on_devices, "a short vector on a device: %s", done ? "devices" : "declined");
    tap_ok(!done || w[0] == 4 + ((2 * 3) % 11 - 5), "and its values");
    done = semcache_try_axpby(ORDER, SEMCACHE_FLOAT64, one, home, one, home + ORDER, home + ORDER);
    tap_ok(done == devices_must, "a short vector at home: %s", done ? "devices" : "declined");
    semcache_free(a);
    semcache_free(c);
    semcache_free(home);
    semcache_free(w);
}

static void test_wrong(void)
{
    const double one[2] = {1, 0};
    double *x = vector(SEMCACHE_FLOAT64, 1), result[2];
    struct semcache_sparse_arrays matrix = {.size = 8};
    struct semcache_product small = {.size = 8, .type = SEMCACHE_FLOAT64, .op_a = 'N', .op_b = 'N', .m = 1, .n = 1,
                                     .k = 1, .a = x, .b = x, .c = x, .lda = 1, .ldb = 1, .ldc = 1};

    tap_ok(!semcache_try_axpby(0, SEMCACHE_FLOAT64, one, x, one, NULL, x), "nothing is declined");
    tap_ok(!semcache_try_axpby(-1, SEMCACHE_FLOAT64, one, x, one, NULL, x), "and less than nothing");
    tap_ok(!semcache_try_axpby(N, (enum semcache_type)9, one, x, one, NULL, x), "and an unknown type");
    tap_ok(!semcache_try_axpby(N, SEMCACHE_FLOAT64, one, NULL, one, NULL, x), "and a missing vector");
    tap_ok(!semcache_try_dot(N, SEMCACHE_FLOAT64, 0, x, NULL, result), "also of a dot product");
    tap_ok(!semcache_try_dots(N, SEMCACHE_FLOAT64, 0, 1, (const void *[]){x}, (const void *[]){NULL}, &result),
           "also of several");
    tap_ok(!semcache_try_dots(N, SEMCACHE_FLOAT64, 0, 0, NULL, NULL, &result), "and none");
    tap_ok(!semcache_try_largest(N, SEMCACHE_FLOAT64, NULL, result), "also of a norm");
    tap_ok(!semcache_try_product(NULL) && !semcache_try_product(&small), "no product, and a product of another size");
    tap_ok(!semcache_try_sparse(NULL, 'N', 1, one, x, 1, one, x, 1), "and no matrix");
    tap_ok(!semcache_try_sparse(&matrix, 'N', 1, one, x, 1, one, x, 1), "and a matrix of another size");
    semcache_free(x);
}

int main(int argc, char **argv)
{
    devices_must = argc > 1 && strcmp(argv[1], "1") == 0;
    for (int type = SEMCACHE_FLOAT32; type <= SEMCACHE_COMPLEX128; type++) {
        test_axpby((enum semcache_type)type);
        test_dot((enum semcache_type)type);
        test_dots((enum semcache_type)type);
        test_largest((enum semcache_type)type);
        test_product((enum semcache_type)type);
        test_multiply((enum semcache_type)type);
        test_divide((enum semcache_type)type);
        test_blocks((enum semcache_type)type, SEMCACHE_SPARSE_BSR);
        test_blocks((enum semcache_type)type, SEMCACHE_SPARSE_BSR_COLUMNS);
        for (int stored = SEMCACHE_SPARSE_SYMMETRIC_LOWER; stored <= SEMCACHE_SPARSE_HERMITIAN_UPPER; stored++)
            test_stored((enum semcache_type)type, (enum semcache_sparse_stored)stored);
    }
    test_short();
    test_wrong();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
