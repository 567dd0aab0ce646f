/* Least squares.
 *
 * By singular values (?gelsd, ?gelss): A = U S V^H, x = V S^-1 U^H b.  The vectors are matrices of the library, which a
 * device writes and the host never fetches.  The host scales the small matrix U^H b.
 *
 * Of full rank (?gels), for a matrix with at least as many rows as columns: A = Q R, x = R^-1 Q^H b; for the transposed
 * matrix the shortest solution x = Q R^-H b.  A matrix with fewer rows is the adjoint of such a matrix, in memory of
 * the library.  The adjoint of its factors, R^H and the reflectors in rows, is what LAPACK leaves in A.
 *
 * LAPACK scales a matrix whose largest element is near the limits of the type, and gives a matrix of zeros the solution
 * 0.  Such matrices are left to LAPACK: the sums of absolute values of A and B bound their largest elements. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

static bool is_single(const struct sc_kernel *k) { return k->type == SC_S || k->type == SC_C; }

/* --- by singular values ------------------------------------------------------------------------------------------- */

struct problem {
    const struct sc_kernel *k;
    int64_t least, rank;
    void *u, *vt, *t; /* t = U^H B, then S^-1 t */
};

static void *array(const struct problem *p, int64_t rows, int64_t cols)
{
    return sc_coherence_host_alloc((size_t)(rows * cols) * sc_type_bytes(p->k->type));
}

static void drop(void *memory)
{
    if (memory)
        sc_coherence_host_free(memory);
}

static double singular_value(const struct problem *p, int64_t i)
{
    const void *s = p->k->small[0];

    return is_single(p->k) ? ((const float *)s)[i] : ((const double *)s)[i];
}

/* Singular values above rcond times the largest count; rcond < 0: above the roundoff. */
static int64_t rank_of(const struct problem *p)
{
    double unit = is_single(p->k) ? 0x1p-24 : 0x1p-53;
    double limit = (p->k->alpha[0] < 0 ? unit : p->k->alpha[0]) * singular_value(p, 0);
    int64_t rank = 0;

    while (rank < p->least && singular_value(p, rank) > limit)
        rank++;
    return rank;
}

static struct sc_view view_of(const struct problem *p, const void *at, int64_t rows, int64_t ld, enum sc_access access)
{
    return (struct sc_view){.ptr = at, .type = p->k->type, .rows = rows, .cols = p->k->k, .ld = ld, .access = access};
}

static void multiply(const struct problem *p, struct sc_kernel gemm)
{
    gemm.op = SC_OP_GEMM;
    gemm.type = p->k->type;
    gemm.transb = 'N';
    gemm.n = p->k->k;
    sc_blas_lapack_step(&gemm);
}

static double *number_at(const struct problem *p, void *matrix, int64_t i, int64_t j, int64_t ld, float **single)
{
    char *at = (char *)matrix + (size_t)(i + j * ld) * sc_type_bytes(p->k->type);

    *single = is_single(p->k) ? (float *)at : NULL;
    return (double *)at;
}

/* Element := factor * element, and returns the square of its absolute value before. */
static double scale(const struct problem *p, void *matrix, int64_t i, int64_t j, int64_t ld, double factor)
{
    int parts = sc_type_is_complex(p->k->type) ? 2 : 1;
    double sum = 0, *value;
    float *single;

    value = number_at(p, matrix, i, j, ld, &single);
    for (int part = 0; part < parts; part++) {
        double x = single ? single[part] : value[part], y = factor == 0 ? 0 : factor * x;

        sum += x * x;
        if (single)
            single[part] = (float)y;
        else
            value[part] = y;
    }
    return sum;
}

static void divide(const struct problem *p)
{
    struct sc_view t = view_of(p, p->t, p->least, p->least, SC_RDWR);

    sc_blas_host_operands(&t, 1);
    for (int64_t j = 0; j < p->k->k; j++)
        for (int64_t i = 0; i < p->least; i++)
            scale(p, p->t, i, j, p->least, i < p->rank ? 1 / singular_value(p, i) : 0);
}

/* LAPACK's rows below x: their sum of squares is the residual's.  B is the residual here, and element n of a column
 * becomes its norm. */
static void leave_norms(const struct problem *p, double *norm)
{
    const struct sc_kernel *k = p->k;
    struct sc_view rows = view_of(p, k->b, k->m, k->ldb, SC_RDWR);

    sc_blas_host_operands(&rows, 1);
    for (int64_t j = 0; j < k->k; j++) {
        norm[j] = 0;
        for (int64_t i = 0; i < k->m; i++)
            norm[j] += scale(p, k->b, i, j, k->ldb, i < k->n ? 1 : 0);
        norm[j] = sqrt(norm[j]);
    }
    for (int64_t j = 0; j < k->k; j++) {
        float *single;
        double *value = number_at(p, k->b, k->n, j, k->ldb, &single);

        if (single)
            *single = (float)norm[j];
        else
            *value = norm[j];
    }
}

static void solve(struct problem *p)
{
    const struct sc_kernel *k = p->k;
    char adjoint = sc_type_is_complex(k->type) ? 'C' : 'T';
    double *norm = k->m > k->n && p->rank == k->n ? malloc((size_t)k->k * sizeof *norm) : NULL;

    multiply(p, (struct sc_kernel){.transa = adjoint, .m = p->least, .k = k->m, .alpha = {1}, .a = p->u, .lda = k->m,
                                   .b = k->b, .ldb = k->ldb, .c = p->t, .ldc = p->least});
    if (norm) {
        multiply(p, (struct sc_kernel){.transa = 'N', .m = k->m, .k = p->least, .alpha = {-1}, .beta = {1}, .a = p->u,
                                       .lda = k->m, .b = p->t, .ldb = p->least, .c = k->b, .ldc = k->ldb});
        leave_norms(p, norm);
    }
    divide(p);
    multiply(p, (struct sc_kernel){.transa = adjoint, .m = k->n, .k = p->least, .alpha = {1}, .a = p->vt,
                                   .lda = p->least, .b = p->t, .ldb = p->least, .c = k->b, .ldc = k->ldb});
    free(norm);
}

enum sc_status sc_blas_least_squares(const struct sc_kernel *k, int64_t *info)
{
    struct problem p = {.k = k, .least = k->m < k->n ? k->m : k->n};
    struct sc_kernel vectors = *k;
    enum sc_status status = SC_ERR_MEMORY;

    p.u = array(&p, k->m, p.least);
    p.vt = array(&p, p.least, k->n);
    p.t = array(&p, p.least, k->k);
    vectors.op = SC_OP_GESVD;
    vectors.job[0] = vectors.job[1] = 'S';
    vectors.b = p.u, vectors.ldb = k->m;
    vectors.c = p.vt, vectors.ldc = p.least;
    if (p.u && p.vt && p.t)
        status = sc_blas_lapack_run(&vectors, false, info);
    if (status == SC_OK && *info == 0) {
        k->pivots[0] = p.rank = rank_of(&p);
        solve(&p);
    }
    drop(p.u);
    drop(p.vt);
    drop(p.t);
    return status;
}

/* --- of full rank ------------------------------------------------------------------------------------------------- */

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
static void apply_q(const struct sc_kernel *k, void *tau, char trans)
{
    struct sc_kernel product = {.op = SC_OP_ORMQR, .type = k->type, .side = 'L', .transa = trans, .m = k->m, .n = k->k,
                                .k = k->n, .a = k->a, .lda = k->lda, .c = k->b, .ldc = k->ldb, .small = {tau}};
    int64_t info;

    if (sc_blas_lapack_run(&product, true, &info) != SC_OK)
        sc_blas_lapack_on_host(&product, &info);
}

/* The first n rows of B := op(R)^-1 B.  INFO: the place of a zero on the diagonal of R. */
static int64_t solve_triangle(const struct sc_kernel *k)
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

static enum sc_status solve_tall(const struct sc_kernel *k, int64_t *info)
{
    struct sc_kernel factor = *k;
    void *tau = malloc((size_t)k->n * sc_type_bytes(k->type));
    enum sc_status status = tau && are_ordinary(k) ? SC_OK : SC_ERR_UNSUPPORTED;

    factor.op = SC_OP_GEQRF;
    factor.small[0] = tau;
    if (status == SC_OK)
        status = sc_blas_lapack_run(&factor, false, info);
    if (status == SC_OK && *info == 0 && k->transa == 'N') {
        apply_q(k, tau, sc_type_is_complex(k->type) ? 'C' : 'T');
        *info = solve_triangle(k);
    } else if (status == SC_OK && *info == 0) {
        clear_rows(k);
        *info = solve_triangle(k);
        if (*info == 0)
            apply_q(k, tau, 'N');
    }
    free(tau);
    return status;
}

/* to := from^H at home, `from` being a rows x cols matrix. */
static void adjoint(const struct sc_kernel *k, int64_t rows, int64_t cols, const void *from, int64_t from_ld, void *to,
                    int64_t to_ld)
{
    struct sc_view view[2] = {
        {.ptr = from, .type = k->type, .rows = rows, .cols = cols, .ld = from_ld, .access = SC_READ},
        {.ptr = to, .type = k->type, .rows = cols, .cols = rows, .ld = to_ld, .access = SC_RDWR}};
    bool complex = sc_type_is_complex(k->type);
    size_t element = sc_type_bytes(k->type), half = element / 2;

    sc_blas_host_operands(view, 2);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) {
            char *at = (char *)to + (size_t)(j + i * to_ld) * element;

            memcpy(at, (const char *)from + (size_t)(i + j * from_ld) * element, element);
            if (complex && is_single(k))
                ((float *)(void *)(at + half))[0] *= -1;
            else if (complex)
                ((double *)(void *)(at + half))[0] *= -1;
        }
}

enum sc_status sc_blas_least_full(const struct sc_kernel *k, int64_t *info)
{
    struct sc_kernel tall = *k;
    enum sc_status status;

    if (k->m >= k->n)
        return solve_tall(k, info);
    tall.m = k->n;
    tall.n = k->m;
    tall.transa = k->transa != 'N' ? 'N' : sc_type_is_complex(k->type) ? 'C' : 'T';
    tall.lda = k->n;
    tall.a = sc_coherence_host_alloc((size_t)(k->m * k->n) * sc_type_bytes(k->type));
    if (!tall.a)
        return SC_ERR_MEMORY;
    adjoint(k, k->m, k->n, k->a, k->lda, tall.a, tall.lda);
    status = solve_tall(&tall, info);
    if (status == SC_OK)
        adjoint(k, k->n, k->m, tall.a, tall.lda, k->a, k->lda);
    sc_coherence_host_free(tall.a);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
