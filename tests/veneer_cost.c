/* For veneer_cost.t: functions whose inclusive cost under callgrind is the cost of CALLS calls with n = 8, through the
 * veneers and directly in the host BLAS. */
#include <stdio.h>
#include <string.h>

#include "blas/veneers/prototypes.h"

enum { CALLS = 1000, N = 8 };

uint64_t sc_blas_copy_ahead(const struct sc_kernel *kernel, bool by_rows, int64_t done)
{
    return (void)kernel, (void)by_rows, (void)done, 0;
}
bool sc_blas_offload(int routine, const struct sc_kernel *kernel, bool once, struct sc_blas_home *home)
{
    (void)routine, (void)kernel, (void)once, (void)home;
    return false;
}
void sc_blas_host_operands(const struct sc_view *operands, int count)
{
    (void)operands, (void)count;
}

static double A[N * N], B[N * N], C[N * N];
static const sc_blas_int n = N, one = 1;
static const int64_t n64 = N, one64 = 1;
static const double alpha = 1.5, beta = 0.5;

typedef double ddot_fn(const sc_blas_int *, const double *, const sc_blas_int *, const double *, const sc_blas_int *);
typedef void daxpy_fn(const sc_blas_int *, const double *, const double *, const sc_blas_int *, double *,
                      const sc_blas_int *);
typedef void dgemm_fn(const char *, const char *, const sc_blas_int *, const sc_blas_int *, const sc_blas_int *,
                      const double *, const double *, const sc_blas_int *, const double *, const sc_blas_int *,
                      const double *, double *, const sc_blas_int *);
typedef double cblas_ddot_fn(sc_blas_int, const double *, sc_blas_int, const double *, sc_blas_int);
typedef void cblas_daxpy_fn(sc_blas_int, double, const double *, sc_blas_int, double *, sc_blas_int);
typedef void cblas_dgemm_fn(int, int, int, sc_blas_int, sc_blas_int, sc_blas_int, double, const double *, sc_blas_int,
                            const double *, sc_blas_int, double, double *, sc_blas_int);

typedef double ddot_64_fn(const int64_t *, const double *, const int64_t *, const double *, const int64_t *);
typedef void dgemm_64_fn(const char *, const char *, const int64_t *, const int64_t *, const int64_t *, const double *,
                         const double *, const int64_t *, const double *, const int64_t *, const double *, double *,
                         const int64_t *);
typedef void cblas_dgemm64_fn(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t, const double *,
                              int64_t, double, double *, int64_t);

/* One loop per routine, way and threshold, with a separate name in the profile. */
#define LOOP(way, routine, ...)                                                                             \
    static __attribute__((noipa)) void cost_##way##_##routine(routine##_fn *volatile fn)                 \
    {                                                                                                       \
        for (int i = 0; i < CALLS; i++)                                                                     \
            fn(__VA_ARGS__);                                                                                \
    }
#define LOOPS(routine, ...)                                                                                 \
    LOOP(warm, routine, __VA_ARGS__)                                                                        \
    LOOP(host, routine, __VA_ARGS__)                                                                        \
    LOOP(none, routine, __VA_ARGS__)                                                                        \
    LOOP(some, routine, __VA_ARGS__)

LOOPS(ddot, &n, A, &one, B, &one)
LOOPS(daxpy, &n, &alpha, A, &one, B, &one)
LOOPS(dgemm, "N", "T", &n, &n, &n, &alpha, A, &n, B, &n, &beta, C, &n)
LOOPS(cblas_ddot, N, A, 1, B, 1)
LOOPS(cblas_daxpy, N, alpha, A, 1, B, 1)
LOOPS(cblas_dgemm, 101, 111, 112, N, N, N, alpha, A, N, B, N, beta, C, N)

LOOPS(ddot_64, &n64, A, &one64, B, &one64)
LOOPS(dgemm_64, "N", "T", &n64, &n64, &n64, &alpha, A, &n64, B, &n64, &beta, C, &n64)
LOOPS(cblas_dgemm64, 101, 111, 112, N, N, N, alpha, A, N, B, N, beta, C, N)

static void threshold(int64_t work)
{
    for (int level = 1; level <= 3; level++)
        sc_blas_small[level] = work;
}

#define RUN(routine, symbol) RUN_OF(routine, symbol, symbol)
/* The host's routine directly, the veneer without devices, and the veneer below its threshold with devices. */
#define RUN_OF(routine, symbol, host_symbol)                                                                \
    do {                                                                                                    \
        routine##_fn *host = (routine##_fn *)sc_blas_host_symbol(#host_symbol);                             \
        if (!host)                                                                                          \
            return 1;                                                                                       \
        cost_warm_##routine((routine##_fn *)(sc_blas_fn)symbol); /* resolution, counters of the thread */   \
        cost_warm_##routine(host);                                                                          \
        cost_host_##routine(host);                                                                          \
        memset(C, 0, sizeof C);                                                                             \
        threshold(INT64_MAX);                                                                               \
        cost_none_##routine((routine##_fn *)(sc_blas_fn)symbol);                                            \
        threshold(100000);                                                                                  \
        cost_some_##routine((routine##_fn *)(sc_blas_fn)symbol);                                            \
    } while (0)

int main(void)
{
    if (sc_blas_host_open(NULL) != SC_OK)
        return 1;
    RUN(ddot, ddot_);
    RUN(daxpy, daxpy_);
    RUN(dgemm, dgemm_);
    RUN(cblas_ddot, cblas_ddot);
    RUN(cblas_daxpy, cblas_daxpy);
    RUN(cblas_dgemm, cblas_dgemm);
    RUN_OF(ddot_64, ddot_64_, ddot_); /* on little-endian machines the host can read small 64-bit integers */
    RUN_OF(dgemm_64, dgemm_64_, dgemm_);
    RUN_OF(cblas_dgemm64, cblas_dgemm64_, cblas_dgemm);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
