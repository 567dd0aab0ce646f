/* Shared by the C programs: the size of their problem, a clock, memory, and the results compared by run.py. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, NO_TRANS = 111, TRANS = 112 };
void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double *a, int lda, const double *x, int incx,
                 double beta, double *y, int incy);
void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc);
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy);
void cblas_dscal(int n, double alpha, double *x, int incx);
double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);
double cblas_dnrm2(int n, const double *x, int incx);

/* The first argument names a scale: full, quick or check. */
static inline int size(char **argv, int full, int quick, int check)
{
    return !argv[1] || strcmp(argv[1], "full") == 0 ? full : strcmp(argv[1], "quick") == 0 ? quick : check;
}

static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double *doubles(size_t count)
{
    double *p = malloc(count * sizeof *p);

    if (!p)
        exit(2);
    return p;
}

/* Prints up to 64 of the `count` values: equal on every machine up to `tolerance` times the largest value. */
static inline void result(const char *name, const double *values, int count, double tolerance)
{
    int step = count > 64 ? count / 64 : 1;

    printf("result %s %g", name, tolerance);
    for (int i = 0; i < count; i += step)
        printf(" %.17g", values[i]);
    printf("\n");
}

/* Element (i, j) of matrices in (0, 1] that are made in hardly any time. */
static inline double element(unsigned i, unsigned j) { return (double)((i * 37 + j * 101) % 1024 + 1) / 1024; }

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
