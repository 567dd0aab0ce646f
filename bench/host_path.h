/* Calls that run on the host, and operands for these calls: for bench/host_path, and for tests/host_calls. */
#ifndef BENCH_HOST_PATH_H
#define BENCH_HOST_PATH_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "include/semcache/semcache.h"

void dcopy_(const int *n, const double *x, const int *incx, double *y, const int *incy);
void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y, const int *incy);
void dscal_(const int *n, const double *alpha, double *x, const int *incx);
void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy);
void dger_(const int *m, const int *n, const double *alpha, const double *x, const int *incx, const double *y,
           const int *incy, double *a, const int *lda);
void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda, const double *x,
            const int *incx, const double *beta, double *y, const int *incy);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

enum { LD = 4096, COLS = 4096, LENGTH = LD * COLS };

static const double half = 0.5;
static const int one = 1, ld = LD;
static double *x, *y; /* LD x COLS matrices: the operands of the case */

/* --- calls of size n, on which the cost must not depend ----------------------------------------------------------- */

static void copy_1(int n) { dcopy_(&n, x, &one, y, &one); }
static void copy_8(int n)
{
    const int step = 8;

    dcopy_(&n, x, &step, y, &step);
}
static void copy_row(int n) { dcopy_(&n, x, &ld, y + 1, &ld); }
static void axpy_row(int n) { daxpy_(&n, &half, x, &ld, y + 1, &ld); }
static void gather_row(int n) { dcopy_(&n, x, &ld, y, &one); }
static void scal_1(int n) { dscal_(&n, &half, y, &one); }
static void gemv(int n)
{
    const int rows = 128;

    n /= 32;
    dgemv_("N", &rows, &n, &half, x, &ld, y, &ld, &half, y + 1, &one);
}
static void ger(int n)
{
    const int rows = 128;

    n /= 32;
    dger_(&rows, &n, &half, x, &one, x + 1, &ld, y, &ld);
}
static void symv(int n)
{
    n /= 16;
    dsymv_("L", &n, &half, x, &ld, y, &ld, &half, y + 1, &ld);
}
static void gemm(int n)
{
    const int rows = 48;

    n /= 32;
    dgemm_("N", "N", &rows, &n, &rows, &half, x, &ld, x + 1, &ld, &half, y, &ld);
}

/* X(function, name) for each call. */
#define HOST_PATH_CALLS(X)                                                                                             \
    X(copy_1, "dcopy")                                                                                                 \
    X(copy_8, "dcopy, stride 8")                                                                                       \
    X(copy_row, "dcopy, rows")                                                                                         \
    X(gather_row, "dcopy, row to vector")                                                                              \
    X(axpy_row, "daxpy, rows")                                                                                         \
    X(scal_1, "dscal")                                                                                                 \
    X(gemv, "dgemv")                                                                                                   \
    X(ger, "dger")                                                                                                     \
    X(symv, "dsymv")                                                                                                   \
    X(gemm, "dgemm")

enum { FEW = 2048, MANY = 2900 };

/* --- operands ----------------------------------------------------------------------------------------------------- */

static double *matrix(void)
{
    double *p = malloc(sizeof *p * LENGTH);

    if (!p)
        exit(2);
    for (size_t i = 0; i < LENGTH; i += 512) /* its pages exist */
        p[i] = 1;
    return p;
}

static bool on_device(const double *p)
{
    return semcache_prefetch(p, LD, COLS, LD, SEMCACHE_FLOAT64, 0) == SEMCACHE_OK;
}

static void at_home(const double *p, size_t elements, enum semcache_mode mode)
{
    semcache_acquire(p, elements * sizeof *p, mode);
}

static bool make_untracked(void) { return x = matrix(), y = matrix(), true; }
static bool make_home(void)
{
    make_untracked();
    if (!on_device(x) || !on_device(y))
        return false;
    at_home(x, LENGTH, SEMCACHE_READWRITE);
    at_home(y, LENGTH, SEMCACHE_READWRITE);
    return true;
}
static bool make_shared(void) /* the read operand; the written operand is at home */
{
    make_untracked();
    if (!on_device(x) || !on_device(y))
        return false;
    at_home(y, LENGTH, SEMCACHE_READWRITE);
    return true;
}
static bool make_partly(void)
{
    double *both = malloc(2 * sizeof *both * LENGTH);

    if (!both)
        exit(2);
    for (size_t i = 0; i < 2 * LENGTH; i += 512)
        both[i] = 1;
    x = both;
    y = both + 2 * LD; /* overlapping columns of one matrix; the sizes are those of the columns at home */
    if (semcache_prefetch(both, LD, 2 * COLS, LD, SEMCACHE_FLOAT64, 0) != SEMCACHE_OK)
        return false;
    at_home(both, LENGTH + LENGTH / 2, SEMCACHE_READWRITE);
    return true;
}

static double *mapped(void)
{
    double *p = mmap(NULL, sizeof *p * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        exit(2);
    for (size_t i = 0; i < LENGTH; i += 512)
        p[i] = 1;
    return p;
}
static bool make_outside(void) { return x = mapped(), y = mapped(), true; }

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
