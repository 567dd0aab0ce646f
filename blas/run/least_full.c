/* Least squares and shortest solutions of full rank (?gels), for a matrix with at least as many rows as columns.  The
 * device computes A = Q R, then x = R^-1 Q^H b, or x = Q R^-H b for the transposed matrix.
 *
 * LAPACK scales matrices whose largest element is near the limits of the type, and knows the matrix of zeros.  Both are
 * left to LAPACK: the sums of absolute values of A and B bound their largest elements. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

static bool is_single(const struct sc_kernel *k) { return k->type == SC_S || k->type == SC_C; }

/* Whether LAPACK would leave a matrix of `count` elements and this sum unscaled. */
static bool is_ordinary(const struct sc_kernel *k, double sum, int64_t count)
{
    double least = is_single(k) ? FLT_MIN / FLT_EPSILON : DBL_MIN / DBL_EPSILON;

    return sum / (double)count >= least && sum <= 1 / least;
}

/* The real numbers of rows [0, rows) of the columns of a matrix at home, summed by absolute value.  An infinity or
 * not-a-number passes to the sum. */
static double sum_at_home(const struct sc_kernel *k, const void *matrix, int64_t rows, int64_t cols, int64_t ld)
{
    struct sc_view view = {.ptr = matrix, .type = k->type, .rows = rows, .cols = cols, .ld = ld, .access = SC_READ};
    int64_t parts = sc_type_is_complex(k->type) ? 2 : 1;
    double sum = 0;

    sc_blas_host_operands(&view, 1);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = parts * j * ld, end = i + parts * rows; i < end; i++)
            sum += fabs(is_single(k) ? (double)((const float *)matrix)[i] : ((const double *)matrix)[i]);
    return sum;
}

/* The same sum of A on its device, where A is contiguous there.  False: not known. */
static bool sum_on_device(const struct sc_kernel *k, double *sum)
{
    struct sc_kernel factor = *k;
    struct sc_kernel asum = {.op = SC_OP_ASUM, .type = k->type, .n = k->m * k->n, .lda = 1};
    struct sc_blas_launched launched;
    struct sc_blas_bracket b;
    struct sc_piece piece[3] = {sc_blas_none(), sc_blas_none(), sc_blas_none()};
    bool known;
    int device;

    factor.op = SC_OP_GEQRF; /* the factorization follows */
    if (sc_blas_bracket_begin(&factor, NULL, &b) != SC_OK)
        return false;
    piece[0] = sc_blas_matrix(&b.operand[0], 0, 0, k->m, k->n, SC_READ);
    device = sc_coherence_where(&piece[0]);
    known = sc_coherence_contiguous(device, &piece[0]) &&
            sc_coherence_task(device, &asum, piece, &launched.fence, &launched.slot) == SC_OK;
    sc_blas_bracket_end(&b, false);
    if (!known || sc_coherence_wait(launched.fence) != SC_OK)
        return false;
    *sum = is_single(k) ? (double)*(const float *)launched.slot : *(const double *)launched.slot;
    return true;
}

static bool are_ordinary(const struct sc_kernel *k)
{
    int64_t rows = k->transa == 'N' ? k->m : k->n;
    double sum = sum_at_home(k, k->b, rows, k->k, k->ldb);

    if (sum != 0 && !is_ordinary(k, sum, rows * k->k))
        return false;
    if (!sum_on_device(k, &sum))
        sum = sum_at_home(k, k->a, k->m, k->n, k->lda);
    return is_ordinary(k, sum, k->m * k->n);
}

/* B := op(Q) B, all rows. */
static void multiply(const struct sc_kernel *k, void *tau, char trans)
{
    struct sc_kernel product = {.op = SC_OP_ORMQR, .type = k->type, .side = 'L', .transa = trans, .m = k->m, .n = k->k,
                                .k = k->n, .a = k->a, .lda = k->lda, .c = k->b, .ldc = k->ldb, .small = {tau}};
    int64_t info;

    if (sc_blas_lapack_run(&product, true, &info) != SC_OK)
        sc_blas_lapack_on_host(&product, &info);
}

/* The first n rows of B := op(R)^-1 B.  INFO: the place of a zero on the diagonal of R. */
static int64_t divide(const struct sc_kernel *k)
{
    struct sc_kernel solution = {.op = SC_OP_TRSM, .type = k->type, .side = 'L', .uplo = 'U', .transa = k->transa,
                                 .diag = 'N', .m = k->n, .n = k->k, .alpha = {1, 0}, .a = k->a, .lda = k->lda,
                                 .b = k->b, .ldb = k->ldb};

    sc_blas_lapack_step(&solution);
    if (isfinite(sum_at_home(k, k->b, k->n, k->k, k->ldb)))
        return 0;
    for (int64_t i = 0; i < k->n; i++) /* a quotient by zero is not finite */
        if (sum_at_home(k, (const char *)k->a + (size_t)(i + i * k->lda) * sc_type_bytes(k->type), 1, 1, 1) == 0)
            return i + 1;
    return 0;
}

static void clear_rows(const struct sc_kernel *k)
{
    size_t element = sc_type_bytes(k->type);
    struct sc_view view = {.ptr = k->b, .type = k->type, .rows = k->m, .cols = k->k, .ld = k->ldb, .access = SC_RDWR};

    sc_blas_host_operands(&view, 1);
    for (int64_t j = 0; j < k->k; j++)
        memset((char *)k->b + (size_t)(k->n + j * k->ldb) * element, 0, (size_t)(k->m - k->n) * element);
}

enum sc_status sc_blas_least_full(const struct sc_kernel *k, int64_t *info)
{
    struct sc_kernel factor = *k;
    void *tau = malloc((size_t)k->n * sc_type_bytes(k->type));
    enum sc_status status = tau && are_ordinary(k) ? SC_OK : SC_ERR_UNSUPPORTED;

    factor.op = SC_OP_GEQRF;
    factor.small[0] = tau;
    if (status == SC_OK)
        status = sc_blas_lapack_run(&factor, false, info);
    if (status == SC_OK && *info == 0 && k->transa == 'N') {
        multiply(k, tau, sc_type_is_complex(k->type) ? 'C' : 'T');
        *info = divide(k);
    } else if (status == SC_OK && *info == 0) {
        clear_rows(k);
        *info = divide(k);
        if (*info == 0)
            multiply(k, tau, 'N');
    }
    free(tau);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
