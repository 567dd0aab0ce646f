/* Shared by the example programs: prototypes of a few BLAS routines, a clock, allocation, the two linear systems. Plain
 * C: no example knows where the BLAS runs. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EXAMPLE_ROW_MAJOR = 101, EXAMPLE_COL_MAJOR = 102, EXAMPLE_NO_TRANS = 111 };

void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double *a, int lda, const double *x, int incx,
                 double beta, double *y, int incy);
void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dcopy(int n, const double *x, int incx, double *y, int incy);
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy);
void cblas_dscal(int n, double alpha, double *x, int incx);
double cblas_dnrm2(int n, const double *x, int incx);

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy, size_t trans_length);
double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y, const int *incy);
void dscal_(const int *n, const double *alpha, double *x, const int *incx);
void dcopy_(const int *n, const double *x, const int *incx, double *y, const int *incy);
double dnrm2_(const int *n, const double *x, const int *incx);
double dasum_(const int *n, const double *x, const int *incx);

static inline double example_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* `count` doubles from plain malloc; ends the program if memory runs out. */
static inline double *example_doubles(size_t count)
{
    double *p = malloc(count * sizeof(double));

    if (!p) {
        fprintf(stderr, "not enough memory for %zu doubles\n", count);
        exit(2);
    }
    return p;
}

/* The larger error; not a number, once seen, stays. */
static inline double example_worse(double worst, double error)
{
    return worst != worst || error <= worst ? worst : error;
}

/* A cheap deterministic number in (0, 1]: element (i, j) of the matrices. */
static inline double example_element(uint32_t i, uint32_t j)
{
    return (double)((int)((i * 37u + j * 101u) & 1023u) + 1) * (1.0 / 1024);
}

/* Jacobi's problem: rows scaled to a unit diagonal; b holds the row sums, for a solution of ones. */
static inline void example_jacobi(size_t n, int by_rows, double *a, double *b)
{
    double scale = 1.6 / (double)n;

    for (size_t i = 0; i < n; i++)
        b[i] = 1;
    for (size_t line = 0; line < n; line++) {
        double *element = a + line * n, sum = 0;

        if (by_rows) {
            for (size_t j = 0; j < n; j++)
                sum += element[j] = scale * example_element((uint32_t)line, (uint32_t)j);
            b[line] += sum;
        } else {
            for (size_t i = 0; i < n; i++)
                b[i] += element[i] = scale * example_element((uint32_t)i, (uint32_t)line);
        }
        b[line] -= element[line];
        element[line] = 1;
    }
}

/* The problem of conjugate gradients: symmetric, with a diagonal from 1 to 1000; b holds the row sums. */
static inline void example_cg(size_t n, double *a, double *b)
{
    double scale = 0.9 / (double)n;

    for (size_t i = 0; i < n; i++)
        b[i] = 0;
    for (size_t j = 0; j < n; j++) {
        double *column = a + j * n;

        for (size_t i = 0; i < n; i++)
            column[i] = scale * example_element((uint32_t)(i + j), (uint32_t)(i ^ j));
        column[j] = 1 + 999.0 * (double)j / (double)n;
        for (size_t i = 0; i < n; i++)
            b[i] += column[i];
    }
}

/* The median time of an iteration. The first iterations are slower: they find out whether a device pays, and move the
 * data once. */
#define EXAMPLE_LAPS 4096
struct example_timer {
    double start, last;
    int laps;
    double lap[EXAMPLE_LAPS]; /* further laps are not counted */
};

static inline void example_lap(struct example_timer *timer)
{
    double now = example_now(), since = timer->laps ? timer->last : timer->start;

    if (timer->laps < EXAMPLE_LAPS)
        timer->lap[timer->laps++] = now - since;
    timer->last = now;
}

static inline int example_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline double example_seconds(struct example_timer *timer)
{
    qsort(timer->lap, (size_t)timer->laps, sizeof timer->lap[0], example_compare);
    return timer->laps ? timer->lap[timer->laps / 2] : 0;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
