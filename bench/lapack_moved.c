/* Seconds of LAPACK's routines by the program's LAPACK, for the comparison with lapack_rates in lapack_moved.py.
 *
 *     lapack_moved ORDER routine...
 *
 * Prints a JSON object a routine.  `moved` begins with operands that the CPU has just written.  It ends when the CPU
 * has read an element of each page of the result.  The second of two rounds on the same memory counts.  `core` is the
 * time of the call alone: the shortest of several calls, each on operands that products have left on the devices.  A
 * routine returns when INFO is known, that is when its work is done.  The CPU never reads these operands.  The program
 * calls the BLAS and LAPACK only. */
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

enum { CORE_ROUNDS = 5 };

static int n, info, lwork, liwork, *pivots, *iwork;
static const int one = 1;
static size_t elements;
static double *a, *b, *u, *v, *w, *work;
/* As in lapack_rates: random numbers in (-1, 1); the sum of their matrix and its transpose; and 4 n more on the
 * diagonal. */
enum kind { GENERAL, SYMMETRIC, DEFINITE, KINDS };
static double *seed[KINDS];
static double *resident[KINDS], *identity; /* never read by the CPU */

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
    enum kind a, b; /* contents of the matrices before the call, and before `before` */
} routines[] = {
    {"potrf", potrf, NULL, &a, DEFINITE, DEFINITE},    {"potri", potri, potrf, &a, DEFINITE, DEFINITE},
    {"trtri", trtri, potrf, &a, DEFINITE, DEFINITE},   {"potrs", potrs, potrf, &b, DEFINITE, DEFINITE},
    {"getrf", getrf, NULL, &a, GENERAL, GENERAL},      {"getrs", getrs, getrf, &b, GENERAL, SYMMETRIC},
    {"gesv", gesv, NULL, NULL, GENERAL, SYMMETRIC},    {"inverse", inverse, NULL, &a, GENERAL, GENERAL},
    {"geqrf", geqrf, NULL, &a, GENERAL, GENERAL},      {"orgqr", orgqr, geqrf, &a, GENERAL, GENERAL},
    {"ormqr", ormqr, geqrf, &b, GENERAL, GENERAL},     {"syevd", syevd, NULL, &a, SYMMETRIC, GENERAL},
    {"sygvd", sygvd, NULL, &a, SYMMETRIC, DEFINITE},   {"gesvdp", gesdd, NULL, &u, GENERAL, GENERAL},
    {"geev", geev, NULL, &v, GENERAL, GENERAL},
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

static double *matrix(void) { return memory(elements, sizeof(double)); }

/* The numbers of lapack_rates. */
static double element(size_t i)
{
    uint64_t h = i * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 32) * UINT64_C(0x94d049bb133111eb);
    return (double)(h >> 11) * 0x1p-52 - 1;
}

static void start(void)
{
    size_t order = (size_t)n;

    elements = order * order;
    lwork = (int)(3 * elements + 64 * order > 1 << 30 ? 1 << 30 : 3 * elements + 64 * order);
    liwork = 12 * n;
    a = matrix(), b = matrix(), u = matrix(), v = matrix(), w = memory(2 * order, sizeof *w);
    work = memory((size_t)lwork, sizeof *work);
    pivots = memory(order, sizeof *pivots), iwork = memory((size_t)liwork, sizeof *iwork);
    for (int k = 0; k < KINDS; k++)
        seed[k] = matrix();
    for (size_t i = 0; i < elements; i++)
        seed[GENERAL][i] = element(i);
    for (size_t j = 0; j < order; j++)
        for (size_t i = 0; i < order; i++) {
            seed[SYMMETRIC][i + j * order] = seed[GENERAL][i + j * order] + seed[GENERAL][j + i * order];
            seed[DEFINITE][i + j * order] = seed[SYMMETRIC][i + j * order] + (i == j ? 4.0 * n : 0);
        }
}

static void write_by_cpu(double *m, enum kind kind) { memcpy(m, seed[kind], elements * sizeof *m); }

static void read_by_cpu(const double *m)
{
    volatile double sum = 0;

    for (size_t i = 0; i < elements; i += 512)
        sum += m[i];
    sum += m[elements - 1];
}

/* m := the seed, by a product on the devices, and waits for the end. */
static void write_by_devices(double *m, enum kind kind)
{
    double unit = 1, zero = 0;

    dgemm_("N", "N", &n, &n, &n, &unit, resident[kind], &n, identity, &n, &zero, m, &n, 1, 1);
    ddot_(&n, m, &one, m + elements - (size_t)n, &one);
}

static double moved(const struct routine *r)
{
    double seconds = 0, begin;

    for (int round = 0; round < 2; round++) {
        write_by_cpu(a, r->a);
        write_by_cpu(b, r->b);
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
    double *kept[] = {a, b, u, v}, best = 0, since;

    a = matrix(), b = matrix(), u = matrix(), v = matrix();
    for (int round = 0; round < CORE_ROUNDS; round++) {
        write_by_devices(a, r->a);
        if (r->before)
            r->before();
        write_by_devices(b, r->b);
        since = now();
        r->run();
        since = now() - since;
        best = round == 0 || since < best ? since : best;
    }
    free(a), free(b), free(u), free(v);
    a = kept[0], b = kept[1], u = kept[2], v = kept[3];
    return best;
}

static void start_core(void)
{
    for (int k = 0; k < KINDS; k++) {
        resident[k] = matrix();
        write_by_cpu(resident[k], (enum kind)k);
    }
    identity = matrix();
    for (size_t i = 0; i < elements; i += (size_t)n + 1)
        identity[i] = 1;
}

int main(int argc, char **argv)
{
    n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 1 || n > 30000) {
        fprintf(stderr, "usage: lapack_moved ORDER routine...\n");
        return 2;
    }
    start();
    start_core();
    for (int i = 2; i < argc; i++)
        for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
            if (!strcmp(argv[i], routines[k].name)) {
                printf("{\"routine\": \"%s\", \"n\": %d, \"moved\": %.6f", argv[i], n, moved(&routines[k]));
                printf(", \"core\": %.6f, \"info\": %d}\n", core(&routines[k]), info);
                fflush(stdout);
            }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
