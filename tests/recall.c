/* Reductions that a program asks for twice in a row, or that it always asks for after a certain other reduction: each
 * result is the result by definition, whoever writes the operands between two calls.  Started by recall.t; argument
 * `devices`: the devices must know repeated results, and compute the second of a pair ahead. */
#include <complex.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "semcache/semcache.h"
#include "tests/statistics.h"
#include "tests/tap.h"

enum { N = 40000 };

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
double dnrm2_(const int *n, const double *x, const int *incx);
double dasum_(const int *n, const double *x, const int *incx);
float sdot_(const int *n, const float *x, const int *incx, const float *y, const int *incy);
double dsdot_(const int *n, const float *x, const int *incx, const float *y, const int *incy);
float sdsdot_(const int *n, const float *b, const float *x, const int *incx, const float *y, const int *incy);
void cblas_zdotu_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_zdotc_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
int idamax_(const int *n, const double *x, const int *incx);
void dscal_(const int *n, const double *alpha, double *x, const int *incx);
void sscal_(const int *n, const float *alpha, float *x, const int *incx);
void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y, const int *incy);
void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy, size_t length);

static const int n = N, step = 1;
static bool devices;

static long recalled(void) { return statistic("recalled", NULL); }

/* --- kinds of reductions, on integers: every order of the sum gives the same bits --------------------------------- */

static double *x, *y;
static float *f, *g;

static double dot(void) { return ddot_(&n, x, &step, y, &step); }
static double square(void) { return ddot_(&n, x, &step, x, &step); }
static double norm(void) { return dnrm2_(&n, x, &step); }
static double sum(void) { return dasum_(&n, x, &step); }
static double single(void) { return sdot_(&n, f, &step, g, &step); }
static double wide(void) { return dsdot_(&n, f, &step, g, &step); }
static double added(void)
{
    const float b = 3;

    return sdsdot_(&n, &b, f, &step, g, &step);
}
static double product(void)
{
    double complex result;

    cblas_zdotu_sub(N / 2, x, 1, y, 1, &result);
    return creal(result) + 3 * cimag(result);
}
static double conjugate(void)
{
    double complex result;

    cblas_zdotc_sub(N / 2, x, 1, y, 1, &result);
    return creal(result) + 3 * cimag(result);
}
static double apart(void)
{
    const int half = N / 2, two = 2;

    return ddot_(&half, x, &two, y, &two);
}
static double back(void)
{
    const int minus = -1;

    return ddot_(&n, x, &step, y, &minus);
}
static double largest(void) { return idamax_(&n, x, &step); }

static const struct kind {
    const char *name;
    double (*call)(void);
    bool known; /* devices know the result of a repeated call */
} kinds[] = {{"dot", dot, true},           {"dot with itself", square, true}, {"nrm2", norm, true},
             {"asum", sum, true},          {"sdot", single, true},            {"dsdot", wide, true},
             {"sdsdot", added, true},      {"zdotu", product, true},          {"zdotc", conjugate, true},
             {"increment 2", apart, false}, {"increment -1", back, false},    {"iamax", largest, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double defined(int kind)
{
    double complex z = 0;
    double s = 0;
    int at = 0;

    for (int i = 0; i < N; i++)
        switch (kind) {
        case 0: s += x[i] * y[i]; break;
        case 1: case 2: s += x[i] * x[i]; break;
        case 3: s += fabs(x[i]); break;
        case 4: case 5: case 6: s += f[i] * g[i]; break;
        case 7: case 8:
            if (i % 2 == 0)
                z += (kind == 7 ? x[i] + I * x[i + 1] : x[i] - I * x[i + 1]) * (y[i] + I * y[i + 1]);
            break;
        case 9: s += i % 2 ? 0 : x[i] * y[i]; break;
        case 10: s += x[i] * y[N - 1 - i]; break;
        default: at = fabs(x[i]) > fabs(x[at]) ? i : at;
        }
    return kind == 2 ? sqrt(s) : kind == 6 ? s + 3 : kind == 7 || kind == 8 ? creal(z) + 3 * cimag(z)
           : kind == 11 ? at + 1 : s;
}

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = f[i] = (float)(i * 7 % 5 - 2);
        y[i] = g[i] = (float)(i * 3 % 4 - 1);
    }
}

static bool is_right(int kind)
{
    double got = kinds[kind].call(), is = defined(kind);

    return fabs(got - is) <= 1e-12 * fabs(is);
}

/* --- who writes between two calls --------------------------------------------------------------------------------- */

static void nobody(void) {}
static void reader(void) { tap_failed_ += x[N / 2] != x[N / 2]; }
static void first(void) { x[0] += 1, f[0] += 1; }
static void last(void) { y[N - 1] += 1, g[N - 1] += 1, x[N - 2] += 1; }
static void all(void)
{
    for (int i = 0; i < N; i++)
        x[i] += 1, g[i] += 1;
}
static void device(void)
{
    const double two = 2;
    const float half = 0.5f;

    dscal_(&n, &two, x, &step);
    daxpy_(&n, &two, x, &step, y, &step);
    sscal_(&n, &half, f, &step);
}
static void *by_thread(void *unused)
{
    const double three = 3;

    (void)unused;
    dscal_(&n, &three, x, &step);
    f[7] += 2;
    return NULL;
}
static void thread(void)
{
    pthread_t other;

    pthread_create(&other, NULL, by_thread, NULL);
    pthread_join(other, NULL);
}
/* A thread has its own last reduction: its calls change nothing here. */
static void *asks(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        square();
    return NULL;
}
static void asking(void)
{
    pthread_t other;

    pthread_create(&other, NULL, asks, NULL);
    pthread_join(other, NULL);
    x[N / 3] += 1;
    f[N / 3] += 1;
}
static void kernel(void) /* of the operating system */
{
    double values[512];
    int ends[2];

    for (int i = 0; i < 512; i++)
        values[i] = 5;
    if (pipe(ends) || write(ends[1], values, sizeof values) != (ssize_t)sizeof values ||
        read(ends[0], x + 100, sizeof values) != (ssize_t)sizeof values)
        tap_failed_++;
    close(ends[0]);
    close(ends[1]);
    memcpy(f, values, 64);
}
static void product_of_matrix(void)
{
    const double one = 1, zero = 0;
    static double *a, *v;
    const int cols = 2;

    if (!a) {
        a = malloc(2 * N * sizeof *a);
        v = malloc(2 * sizeof *v);
        for (int i = 0; i < 2 * N; i++)
            a[i] = i % 3 - 1;
        v[0] = v[1] = 1;
    }
    dgemv_("N", &n, &cols, &one, a, &n, v, &step, &zero, x, &step, 1);
}
static void anew(void) /* other memory, perhaps at the same place */
{
    free(x);
    free(f);
    x = malloc(N * sizeof *x);
    f = malloc(N * sizeof *f);
    fill();
    x[3] = 9;
    f[3] = 9;
}
static void announced(void)
{
    semcache_acquire(x, N * sizeof *x, SEMCACHE_READWRITE);
    semcache_acquire(f, N * sizeof *f, SEMCACHE_READWRITE);
    x[8] = f[8] = 4;
}

static const struct writer {
    const char *name;
    void (*write)(void);
} writers[] = {{"nobody", nobody},       {"a read by the CPU", reader}, {"first element", first},
               {"last element", last},   {"all elements", all},         {"a device", device},
               {"another thread", thread}, {"a thread that asks, and the CPU", asking},
               {"the kernel", kernel},   {"a product", product_of_matrix}, {"new memory", anew},
               {"an acquisition", announced}};
enum { WRITERS = sizeof writers / sizeof *writers };

static void check(int kind, const struct writer *writer)
{
    bool good = true;
    long known;

    fill();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++)
            good &= is_right(kind);
        writer->write();
    }
    known = recalled();
    for (int i = 0; i < 4; i++)
        kinds[kind].call();
    known = recalled() - known;
    /* Of four calls after a write by somebody, the first computes. */
    tap_ok(good && is_right(kind), "%s and %s", kinds[kind].name, writer->name);
    if (devices)
        tap_ok(kinds[kind].known ? known >= 3 : known == 0, "%s and %s: %ld of 4 are known", kinds[kind].name,
               writer->name, known);
}

/* The program asks for the second after the first, and devices write the operands before each pair. */
static void check_pair(int one, int two, const struct writer *writer)
{
    enum { ROUNDS = 8, LEARNED = 3 };
    const bool ahead = kinds[one].call != largest && kinds[two].known && one != two;
    bool good = true;
    long known = 0;

    fill();
    for (int round = 0; round < ROUNDS; round++) {
        device();
        if (round == LEARNED)
            known = recalled();
        good &= is_right(one);
        writer->write();
        good &= is_right(two);
    }
    known = recalled() - known;
    tap_ok(good, "%s, then %s, and in between %s", kinds[one].name, kinds[two].name, writer->name);
    /* What devices write as real numbers they do not have as complex numbers. */
    if (devices && writer->write == nobody && ahead && !strstr(kinds[one].name, "zdot") &&
        !strstr(kinds[two].name, "zdot"))
        tap_ok(known == ROUNDS - LEARNED, "%s, then %s: %ld of %d are known", kinds[one].name, kinds[two].name, known,
               ROUNDS - LEARNED);
}

/* The memory of the second's operand is freed, and other memory takes its place. */
static void check_freed(void)
{
    enum { ROUNDS = 8, FREED = 4 };
    const double one = 1;
    bool good = true;

    fill();
    for (int round = 0; round < ROUNDS; round++) {
        static double *z;
        double got, is;

        if (!z)
            z = calloc(N, sizeof *z);
        device();
        daxpy_(&n, &one, x, &step, z, &step);
        if (round == FREED) {
            free(z);
            z = NULL;
        }
        good &= is_right(3);
        if (!z) {
            z = malloc(N * sizeof *z);
            for (int i = 0; i < N; i++)
                z[i] = i % 2;
        }
        got = ddot_(&n, z, &step, z, &step);
        is = 0;
        for (int i = 0; i < N; i++)
            is += z[i] * z[i];
        good &= fabs(got - is) <= 1e-12 * is;
    }
    tap_ok(good, "a pair whose second operand is freed, and other memory");
}

int main(int argc, char **argv)
{
    static const int pairs[][2] = {{2, 0}, {1, 3}, {4, 5}, {6, 4}, {7, 8}, {0, 7}};

    devices = argc > 1 && strcmp(argv[1], "devices") == 0;
    x = malloc(N * sizeof *x);
    y = malloc(N * sizeof *y);
    f = malloc(N * sizeof *f);
    g = malloc(N * sizeof *g);
    for (int k = 0; k < KINDS; k++)
        for (int w = 0; w < WRITERS; w++)
            check(k, &writers[w]);
    for (int k = 0; k < KINDS * KINDS; k++)
        check_pair(k / KINDS, k % KINDS, &writers[0]);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int w = 1; w < WRITERS; w++)
            check_pair(pairs[i][0], pairs[i][1], &writers[w]);
    check_freed();
    (void)argv;
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
