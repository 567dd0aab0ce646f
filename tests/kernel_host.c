/* The host kernels with indices beyond 32-bit integers: level 1 operations are cut, the rest is refused.  And the
 * workspace of a routine of LAPACK. */
#include "device_common.h"

#include <complex.h>
#include <malloc.h>
#include <math.h>

#define FAR ((int64_t)1 << 30) /* elements between neighbours: two neighbours fit into one call */
#define N 5
#define BYTES ((size_t)((N - 1) * FAR + 1) * sizeof(double))

/* Address space for five elements 8 GiB apart; five pages are used. */
static double *far_vector(void)
{
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static double *x, *y;

static enum sc_status run(enum sc_op op, int64_t incx, int64_t incy, void *result)
{
    struct sc_kernel k = {.op = op, .type = SC_D, .n = N, .alpha = {2, 0}, .a = x, .b = y, .lda = incx, .ldb = incy,
                          .result = result};
    return sc_device_kernel_host(host_blas_symbol, &k);
}

static void set(void)
{
    for (int i = 0; i < N; i++) {
        x[i * FAR] = i == 3 ? -10 : i + 1; /* 1 2 3 -10 5 */
        y[i * FAR] = 100 * (i + 1);
    }
}

static int is(const double *p, double a, double b, double c, double d, double e)
{
    return p[0] == a && p[FAR] == b && p[2 * FAR] == c && p[3 * FAR] == d && p[4 * FAR] == e;
}

static void test_vectors(void)
{
    set();
    tap_ok(!run(SC_OP_AXPY, FAR, FAR, NULL) && is(y, 102, 204, 306, 380, 510), "daxpy in pieces");
    set();
    tap_ok(!run(SC_OP_AXPY, FAR, -FAR, NULL) && is(y, 110, 180, 306, 404, 502), "daxpy, one vector backwards");
    set();
    tap_ok(!run(SC_OP_SWAP, -FAR, FAR, NULL) && is(y, 5, -10, 3, 2, 1) && is(x, 500, 400, 300, 200, 100),
           "dswap, one vector backwards");
    set();
    tap_ok(!run(SC_OP_COPY, -FAR, -FAR, NULL) && is(y, 1, 2, 3, -10, 5), "dcopy, both backwards");
    set();
    tap_ok(!run(SC_OP_SCAL, FAR, 0, NULL) && is(x, 2, 4, 6, -20, 10), "dscal in pieces");
}

static void test_reductions(void)
{
    double v = 0;
    int64_t index = 0;

    set();
    tap_ok(!run(SC_OP_DOT, FAR, FAR, &v) && v == 100 + 400 + 900 - 4000 + 2500, "ddot in pieces");
    tap_ok(!run(SC_OP_DOT, FAR, -FAR, &v) && v == 500 + 800 + 900 - 2000 + 500, "ddot, one vector backwards");
    tap_ok(!run(SC_OP_ASUM, FAR, 0, &v) && v == 21, "dasum in pieces");
    tap_ok(!run(SC_OP_NRM2, FAR, 0, &v) && fabs(v - sqrt(139)) < 1e-14 * v, "dnrm2 in pieces");
    tap_ok(!run(SC_OP_IAMAX, FAR, 0, &index) && index == 4, "idamax in pieces");
    x[4 * FAR] = 10;
    tap_ok(!run(SC_OP_IAMAX, FAR, 0, &index) && index == 4, "idamax takes the first of equal ones");
    tap_ok(run(SC_OP_ASUM, (int64_t)1 << 31, 0, &v) == SC_ERR_UNSUPPORTED, "an increment beyond 2^31");
}

static void test_empty(void)
{
    double v[2] = {7, 7};
    int64_t index = 7;
    struct sc_kernel k = {.op = SC_OP_DOT, .type = SC_Z, .lda = 1, .ldb = 1, .result = v};

    tap_ok(!sc_device_kernel_host(host_blas_symbol, &k) && v[0] == 0 && v[1] == 0, "zdotu of nothing");
    k.op = SC_OP_IAMAX;
    k.result = &index;
    tap_ok(!sc_device_kernel_host(host_blas_symbol, &k) && index == 0, "izamax of nothing");
}

static void test_refusals(void)
{
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = 1, .n = 1, .k = 1,
                          .lda = (int64_t)1 << 31, .ldb = 1, .ldc = 1, .a = x, .b = x, .c = y};

    tap_ok(sc_device_kernel_host(host_blas_symbol, &k) == SC_ERR_UNSUPPORTED, "a leading dimension beyond 2^31");
    k.op = SC_OPS_ALL;
    tap_ok(sc_device_kernel_host(host_blas_symbol, &k) == SC_ERR_INVALID, "no operation");
}

static size_t workspace; /* bytes that zsytrf got */

/* Asks for four columns. */
static void zsytrf(const char *uplo, const int *n, void *a, const int *lda, void *pivots, double *work,
                   const int *lwork, int *info, size_t length)
{
    (void)uplo, (void)a, (void)lda, (void)length;
    *info = 0;
    memset(pivots, 0, *lwork < 0 ? 0 : (size_t)*n * sizeof(int));
    if (*lwork < 0)
        work[0] = 4 * *n;
    else
        workspace = *lwork == 4 * *n ? malloc_usable_size(work) : 0;
}

static void *symbol_of_lapack(const char *name)
{
    return strstr(name, "zsytrf") ? (void *)zsytrf : host_blas_symbol(name);
}

/* Kernels of a BLAS may read the place behind a row of the last column. */
static void test_workspace(void)
{
    double complex a[8 * 8] = {0};
    int64_t pivots[8], info = 1;
    struct sc_kernel k = {.op = SC_OP_SYTRF, .type = SC_Z, .uplo = 'L', .m = 8, .n = 8, .lda = 8, .a = a,
                          .pivots = pivots, .result = &info};

    tap_ok(sc_device_kernel_has(symbol_of_lapack, SC_OP_SYTRF, SC_Z) &&
               sc_device_kernel_host(symbol_of_lapack, &k) == SC_OK && info == 0,
           "a routine with a workspace");
    tap_ok(workspace >= 5 * 8 * sizeof(double complex), "a column behind the workspace can be read: %zu bytes",
           workspace);
}

int main(void)
{
    x = far_vector();
    y = far_vector();
    if (!x || !y || !host_blas_symbol("dgemm_")) {
        printf("1..0 # SKIP no address space or no host BLAS\n");
        return 0;
    }
    test_vectors();
    test_reductions();
    test_empty();
    test_refusals();
    test_workspace();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
