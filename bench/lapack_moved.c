/* Seconds of LAPACK's routines by the program's LAPACK, for the comparison with lapack_rates in lapack_moved.py.
 *
 *     lapack_moved ORDER routine...
 *
 * Prints a JSON object a routine.  `moved` begins with operands that the CPU has just written.  It ends when the CPU
 * has read an element of each page of the result.  The second of two rounds on the same memory counts.  `core` is the
 * time of the call alone, on an operand that a product has left on the devices.  The CPU never reads this operand.
 * Routines that use factors have no `core`.  The program calls the BLAS and LAPACK only. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef const char *Chr;
typedef const int *Int;
typedef double *Ptr;

void dpotrf_(Chr, Int, Ptr, Int, int *, size_t);
void dpotri_(Chr, Int, Ptr, Int, int *, size_t);
void dpotrs_(Chr, Int, Int, Ptr, Int, Ptr, Int, int *, size_t);
void dtrtri_(Chr, Chr, Int, Ptr, Int, int *, size_t, size_t);
void dgetrf_(Int, Int, Ptr, Int, int *, int *);
void dgetrs_(Chr, Int, Int, Ptr, Int, int *, Ptr, Int, int *, size_t);
void dgetri_(Int, Ptr, Int, int *, Ptr, Int, int *);
void dgesv_(Int, Int, Ptr, Int, int *, Ptr, Int, int *);
void dgeqrf_(Int, Int, Ptr, Int, Ptr, Ptr, Int, int *);
void dorgqr_(Int, Int, Int, Ptr, Int, Ptr, Ptr, Int, int *);
void dormqr_(Chr, Chr, Int, Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, int *, size_t, size_t);
void dsyevd_(Chr, Chr, Int, Ptr, Int, Ptr, Ptr, Int, int *, Int, int *, size_t, size_t);
void dsygvd_(Int, Chr, Chr, Int, Ptr, Int, Ptr, Int, Ptr, Ptr, Int, int *, Int, int *, size_t, size_t);
void dgesdd_(Chr, Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, int *, int *, size_t);
void dgeev_(Chr, Chr, Int, Ptr, Int, Ptr, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, int *, size_t, size_t);
void dgemm_(Chr, Chr, Int, Int, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, Ptr, Int, size_t, size_t);
double ddot_(Int, Ptr, Int, Ptr, Int);

static int n, info, lwork, liwork, *pivots, *iwork;
static const int one = 1;
static size_t elements;
static double *seed, *a, *b, *u, *v, *w, *work, *thin;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- routines ----------------------------------------------------------------------------------------------------- */

static void potrf(void) { dpotrf_("L", &n, a, &n, &info, 1); }
static void potri(void) { dpotri_("L", &n, a, &n, &info, 1); }
static void trtri(void) { dtrtri_("L", "N", &n, a, &n, &info, 1, 1); }
static void potrs(void) { dpotrs_("L", &n, &n, a, &n, b, &n, &info, 1); }
static void getrf(void) { dgetrf_(&n, &n, a, &n, pivots, &info); }
static void getrs(void) { dgetrs_("N", &n, &n, a, &n, pivots, b, &n, &info, 1); }
static void gesv(void) { dgesv_(&n, &one, a, &n, pivots, b, &n, &info); }
static void geqrf(void) { dgeqrf_(&n, &n, a, &n, w, work, &lwork, &info); }
static void orgqr(void) { dorgqr_(&n, &n, &n, a, &n, w, work, &lwork, &info); }
static void ormqr(void) { dormqr_("L", "T", &n, &n, &n, a, &n, w, b, &n, work, &lwork, &info, 1, 1); }
static void syevd(void) { dsyevd_("V", "L", &n, a, &n, w, work, &lwork, iwork, &liwork, &info, 1, 1); }
static void sygvd(void) { dsygvd_(&one, "V", "L", &n, a, &n, b, &n, w, work, &lwork, iwork, &liwork, &info, 1, 1); }
static void gesdd(void) { dgesdd_("S", &n, &n, a, &n, w, u, &n, v, &n, work, &lwork, iwork, &info, 1); }
static void geev(void) { dgeev_("N", "V", &n, a, &n, w, w + n, u, &n, v, &n, work, &lwork, &info, 1, 1); }

static void inverse(void)
{
    getrf();
    dgetri_(&n, a, &n, pivots, work, &lwork, &info);
}

/* name: as in lapack_rates. */
static const struct routine {
    const char *name;
    void (*run)(void), (*before)(void); /* `before` makes the factors */
    double **result;
    bool writes_b;
} routines[] = {
    {"potrf", potrf, NULL, &a, false},  {"potri", potri, potrf, &a, false},   {"trtri", trtri, potrf, &a, false},
    {"potrs", potrs, potrf, &b, true},  {"getrf", getrf, NULL, &a, false},    {"getrs", getrs, getrf, &b, true},
    {"gesv", gesv, NULL, NULL, true},   {"inverse", inverse, NULL, &a, false}, {"geqrf", geqrf, NULL, &a, false},
    {"orgqr", orgqr, geqrf, &a, false}, {"ormqr", ormqr, geqrf, &b, true},    {"syevd", syevd, NULL, &a, false},
    {"sygvd", sygvd, NULL, &a, true},   {"gesvdp", gesdd, NULL, &u, false},   {"geev", geev, NULL, &v, false},
};

/* --- operands ----------------------------------------------------------------------------------------------------- */

static void *memory(size_t count, size_t bytes)
{
    void *at = calloc(count, bytes);

    if (!at) {
        fprintf(stderr, "lapack_moved: no memory\n");
        exit(1);
    }
    return at;
}

static void start(void)
{
    uint64_t state = 1;
    size_t order = (size_t)n;

    elements = order * order;
    lwork = (int)(3 * elements + 64 * order > 1 << 30 ? 1 << 30 : 3 * elements + 64 * order);
    liwork = 12 * n;
    seed = memory(elements, sizeof *seed), a = memory(elements, sizeof *a), b = memory(elements, sizeof *b);
    u = memory(elements, sizeof *u), v = memory(elements, sizeof *v), w = memory(2 * order, sizeof *w);
    work = memory((size_t)lwork, sizeof *work), thin = memory(8 * order, sizeof *thin);
    pivots = memory(order, sizeof *pivots), iwork = memory((size_t)liwork, sizeof *iwork);
    for (size_t j = 0; j < order; j++)
        for (size_t i = j; i < order; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            seed[i + j * order] = seed[j + i * order] =
                (double)(state >> 33) / (double)(UINT64_C(1) << 31) - 0.5 + (i == j ? n : 0);
        }
}

static void write_by_cpu(double *m) { memcpy(m, seed, elements * sizeof *m); }

static void read_by_cpu(const double *m)
{
    volatile double sum = 0;

    for (size_t i = 0; i < elements; i += 512)
        sum += m[i];
    sum += m[elements - 1];
}

/* Adds a product of nothing to a matrix, and waits for the end. */
static void leave_on_devices(double *m)
{
    int columns = 8;
    double unit = 1;

    dgemm_("N", "T", &n, &n, &columns, &unit, thin, &n, thin, &n, &unit, m, &n, 1, 1);
    ddot_(&n, m, &one, m + elements - (size_t)n, &one);
}

static double moved(const struct routine *r)
{
    double seconds = 0, begin;

    for (int round = 0; round < 2; round++) {
        write_by_cpu(a);
        write_by_cpu(b);
        if (r->before) {
            r->before();
            memcpy(u, a, elements * sizeof *a);
            memcpy(a, u, elements * sizeof *a);
        }
        begin = now();
        r->run();
        if (r->result)
            read_by_cpu(*r->result);
        if (r->result == &u)
            read_by_cpu(v);
        seconds = now() - begin;
    }
    return seconds;
}

/* With operands of their own, of which the library has seen no read by the CPU. */
static double core(const struct routine *r)
{
    double *kept[2] = {a, b}, begin;

    a = memory(elements, sizeof *a), b = memory(elements, sizeof *b);
    write_by_cpu(a);
    write_by_cpu(b);
    leave_on_devices(a);
    if (r->writes_b)
        leave_on_devices(b);
    begin = now();
    r->run();
    begin = now() - begin;
    free(a), free(b);
    a = kept[0], b = kept[1];
    return begin;
}

int main(int argc, char **argv)
{
    n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 1 || n > 30000) {
        fprintf(stderr, "usage: lapack_moved ORDER routine...\n");
        return 2;
    }
    start();
    for (int i = 2; i < argc; i++)
        for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
            if (!strcmp(argv[i], routines[k].name)) {
                printf("{\"routine\": \"%s\", \"n\": %d, \"moved\": %.6f", argv[i], n, moved(&routines[k]));
                if (!routines[k].before)
                    printf(", \"core\": %.6f", core(&routines[k]));
                printf(", \"info\": %d}\n", info);
                fflush(stdout);
            }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
