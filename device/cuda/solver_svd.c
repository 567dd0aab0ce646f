/* Singular values and vectors through cuSOLVER.  The routines work on a copy; A stays as it was. */
#include "device/cuda/solver.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Xgesvdp may shift singular values near zero.  A shift is accepted up to this number of units of the largest singular
 * value's precision; LAPACK's own error grows with the size of the matrix. */
#define SHIFT_UNITS 16
/* Columns from which Xgesvdp is faster than Xgesvd. */
#define POLAR_LEAST 64

/* The problem that cuSOLVER solves, of a matrix T with rows >= cols: A, or the adjoint of a wide A.
 * With A^H = U S V^H, the left vectors of A are V and the right vectors are U.  `left` and `right` are the jobs of T's
 * vectors. */
struct svd {
    bool wide;
    bool polar;        /* by Xgesvdp, which gives V, else by Xgesvd, which gives V^H */
    char left, right;
    int64_t rows, cols, left_cols;
    char *u, *v;       /* T's left vectors; V or V^H of T */
    int64_t ldu, ldv;
    double shift;      /* of singular values by Xgesvdp */
};

/* Xgesvdp computes all vectors of an economical decomposition.  In real single precision the vectors were wrong
 * (cuSOLVER 12.0.4 on an H200, n = 1000, INFO 0). */
static bool is_economical(const struct svd *d, enum sc_type type)
{
    bool left = d->left == 'S' || (d->left == 'A' && d->rows == d->cols);

    return left && d->right != 'N' && d->cols >= POLAR_LEAST && type != SC_S;
}

static struct svd describe(const struct sc_kernel *k)
{
    struct svd d = {.wide = k->m < k->n};

    d.rows = d.wide ? k->n : k->m;
    d.cols = d.wide ? k->m : k->n;
    d.left = k->job[d.wide ? 1 : 0];
    d.right = k->job[d.wide ? 0 : 1];
    d.left_cols = d.left == 'A' ? d.rows : d.cols;
    d.polar = is_economical(&d, k->type);
    return d;
}

/* Xgesvdp overwrites the elements between a column's end and the leading dimension (cuSOLVER 12.0.4), which are not the
 * call's: it writes to an operand only if there are none. */
static bool fits(const struct svd *d, int64_t rows, int64_t ld)
{
    return !d->polar || rows == ld;
}

/* Where T's vectors go: to an operand of the call if they are right as they are, else to a part of the memory. */
static void place(const struct sc_cuda_solve *s, struct svd *d)
{
    const struct sc_kernel *k = s->k;
    bool polar = d->polar, u = !d->wide && fits(d, d->rows, k->ldb);
    bool v = polar ? d->wide && fits(d, d->cols, k->ldb) : !d->wide;

    d->u = u ? k->b : s->at[SC_CUDA_SECOND];
    d->ldu = u && d->left != 'N' ? k->ldb : d->rows;
    d->v = !v ? s->at[SC_CUDA_THIRD] : polar ? k->b : k->c;
    d->ldv = !v || d->right == 'N' ? d->cols : polar ? k->ldb : k->ldc;
    if (d->left == 'N')
        d->u = NULL;
    if (d->right == 'N')
        d->v = NULL;
}

static cusolverStatus_t polar_size(struct sc_cuda_solve *s, const struct svd *d, size_t *device, size_t *host)
{
    return s->f->Xgesvdp_bufferSize(s->handle, s->params, CUSOLVER_EIG_MODE_VECTOR, 1, d->rows, d->cols, s->type,
                                    s->k->a, d->rows, s->real, s->k->a, s->type, d->u, d->ldu, s->type, d->v, d->ldv,
                                    s->type, device, host);
}

static cusolverStatus_t qr_size(struct sc_cuda_solve *s, const struct svd *d, size_t *device, size_t *host)
{
    return s->f->Xgesvd_bufferSize(s->handle, s->params, (signed char)d->left, (signed char)d->right, d->rows, d->cols,
                                   s->type, s->k->a, d->rows, s->real, s->k->a, s->type, d->u, d->ldu, s->type, d->v,
                                   d->ldv, s->type, device, host);
}

/* Workspaces for both routines, because Xgesvd follows an inaccurate result of Xgesvdp. */
static enum sc_status plan_svd(struct sc_cuda_solve *s, struct svd *d)
{
    size_t cols = (size_t)d->cols, device = 0, host = 0;
    bool polar = d->polar;
    enum sc_status status;

    d->polar = false;
    place(s, d);
    status = sc_cuda_solve_refused(s, qr_size(s, d, SC_CUDA_SIZES(s)));
    d->polar = polar;
    place(s, d);
    if (polar && sc_cuda_solve_refused(s, polar_size(s, d, &device, &host)) != SC_OK)
        d->polar = false, device = host = 0;
    s->bytes[SC_CUDA_WORK] = device > s->bytes[SC_CUDA_WORK] ? device : s->bytes[SC_CUDA_WORK];
    s->host_bytes = host > s->host_bytes ? host : s->host_bytes;
    s->bytes[SC_CUDA_SMALL] = cols * s->real_bytes;
    s->bytes[SC_CUDA_COPY] = (size_t)d->rows * cols * s->element;
    if (d->left != 'N' && (d->wide || !fits(d, d->rows, s->k->ldb)))
        s->bytes[SC_CUDA_SECOND] = (size_t)d->rows * (size_t)d->left_cols * s->element;
    if (d->right != 'N')
        s->bytes[SC_CUDA_THIRD] = cols * cols * s->element;
    return status == SC_OK ? sc_cuda_solve_reserve(s) : status;
}

/* T := A or A^H */
static enum sc_status fill_t(const struct sc_cuda_solve *s, const struct svd *d)
{
    const struct sc_kernel *k = s->k;

    return d->wide ? sc_cuda_solve_adjoint(s, s->at[SC_CUDA_COPY], d->rows, k->a, k->lda, d->rows, d->cols)
                   : sc_cuda_solve_copy(s, s->at[SC_CUDA_COPY], d->rows, k->a, k->lda, d->rows, d->cols);
}

static cusolverStatus_t run_polar(struct sc_cuda_solve *s, struct svd *d)
{
    return s->f->Xgesvdp(s->handle, s->params, CUSOLVER_EIG_MODE_VECTOR, 1, d->rows, d->cols, s->type,
                         s->at[SC_CUDA_COPY], d->rows, s->real, s->at[SC_CUDA_SMALL], s->type, d->u, d->ldu, s->type,
                         d->v, d->ldv, s->type, SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s), &d->shift);
}

static cusolverStatus_t run_qr(struct sc_cuda_solve *s, struct svd *d)
{
    return s->f->Xgesvd(s->handle, s->params, (signed char)d->left, (signed char)d->right, d->rows, d->cols, s->type,
                        s->at[SC_CUDA_COPY], d->rows, s->real, s->at[SC_CUDA_SMALL], s->type, d->u, d->ldu, s->type,
                        d->v, d->ldv, s->type, SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s));
}

/* The decomposition of T by one of the routines; waits for the singular values. */
static enum sc_status decompose(struct sc_cuda_solve *s, struct svd *d)
{
    enum sc_status status = fill_t(s, d);

    s->waited = false;
    place(s, d);
    if (status == SC_OK)
        status = sc_cuda_solve_finite(s, d->rows * d->cols);
    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, (d->polar ? run_polar : run_qr)(s, d));
    if (status == SC_OK)
        status = sc_cuda_solve_values(s, s->k->small[0], 0, d->cols);
    return status == SC_OK ? sc_cuda_solve_check(s, s->k->small[0], d->cols) : status;
}

static double precision(const struct sc_cuda_solve *s)
{
    return s->real_bytes == sizeof(float) ? FLT_EPSILON : DBL_EPSILON;
}

static bool is_shifted(const struct sc_cuda_solve *s, const struct svd *d)
{
    return !(d->shift <= SHIFT_UNITS * precision(s) * sc_cuda_solve_real(s, s->k->small[0], 0));
}

/* --- a test of singular vectors ----------------------------------------------------------------------------------- */

/* Vectors of the test on the host: x, V^H x, S V^H x, U S V^H x, T x. */
enum { X, VX, SVX, USVX, TX, VECTORS };

static int64_t reals_of(const struct sc_cuda_solve *s, int64_t n)
{
    return n * (int64_t)(s->element / s->real_bytes);
}

static double norm_of(const struct sc_cuda_solve *s, const char *vector, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < reals_of(s, n); i++)
        sum += sc_cuda_solve_real(s, vector, i) * sc_cuda_solve_real(s, vector, i);
    return sqrt(sum);
}

static double distance(const struct sc_cuda_solve *s, const char *x, const char *y, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < reals_of(s, n); i++) {
        double d = sc_cuda_solve_real(s, x, i) - sc_cuda_solve_real(s, y, i);

        sum += d * d;
    }
    return sqrt(sum);
}

static void set_real(const struct sc_cuda_solve *s, char *vector, int64_t i, double value)
{
    if (s->real_bytes == sizeof(float))
        ((float *)(void *)vector)[i] = (float)value;
    else
        ((double *)(void *)vector)[i] = value;
}

/* y := op(M) x for host vectors and an m x n matrix on the device; waits.  COPY, which T has left, is the space. */
static enum sc_status multiply(struct sc_cuda_solve *s, char op, int64_t m, int64_t n, const void *matrix, int64_t ld,
                               const char *x, char *y)
{
    size_t in = (size_t)(op == 'N' ? n : m) * s->element, out = (size_t)(op == 'N' ? m : n) * s->element;
    char *from = s->at[SC_CUDA_COPY], *to = from + ((in + 255) & ~(size_t)255);
    struct sc_kernel k = {.op = SC_OP_GEMV, .type = s->k->type, .transa = op, .m = m, .n = n, .alpha = {1, 0},
                          .a = (void *)(uintptr_t)matrix, .lda = ld, .b = from, .ldb = 1, .c = to, .ldc = 1};
    enum sc_status status = sc_cuda_solve_up(s, from, x, in);

    if (status == SC_OK)
        status = sc_cuda_launch(s->c->device, s->c->stream, &k);
    if (status == SC_OK)
        status = sc_cuda_solve_down(s, y, to, out);
    return status == SC_OK ? sc_cuda_solve_wait(s) : status;
}

/* T x by the call's A, which still has its contents. */
static enum sc_status multiply_t(struct sc_cuda_solve *s, const struct svd *d, const char *x, char *y)
{
    const struct sc_kernel *k = s->k;

    return multiply(s, d->wide ? 'C' : 'N', k->m, k->n, k->a, k->lda, x, y);
}

static enum sc_status products(struct sc_cuda_solve *s, const struct svd *d, char *const v[VECTORS])
{
    int64_t parts = reals_of(s, 1);
    uint64_t seed = 1;
    enum sc_status status;

    for (int64_t i = 0; i < reals_of(s, d->cols); i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        set_real(s, v[X], i, (double)(seed >> 33) * 0x1p-30 - 1);
    }
    status = multiply(s, 'C', d->cols, d->cols, d->v, d->ldv, v[X], v[VX]);
    for (int64_t i = 0; i < reals_of(s, d->cols); i++)
        set_real(s, v[SVX], i, sc_cuda_solve_real(s, v[VX], i) * sc_cuda_solve_real(s, s->k->small[0], i / parts));
    if (status == SC_OK)
        status = multiply(s, 'N', d->rows, d->cols, d->u, d->ldu, v[SVX], v[USVX]);
    return status == SC_OK ? multiply_t(s, d, v[X], v[TX]) : status;
}

/* Whether U S V^H x = T x for a random x, and U and V keep the lengths of vectors, up to max(m, n) units of the
 * precision.  INFO and the shift do not show every failure of Xgesvdp. */
static bool is_right(struct sc_cuda_solve *s, const struct svd *d)
{
    size_t each = (size_t)d->rows * s->element;
    char *memory = calloc(VECTORS, each), *v[VECTORS];
    double bound = (double)d->rows * precision(s);
    bool right = false;

    for (int i = 0; i < VECTORS && memory; i++)
        v[i] = memory + (size_t)i * each;
    if (memory && products(s, d, v) == SC_OK) {
        double x = norm_of(s, v[X], d->cols), svx = norm_of(s, v[SVX], d->cols);

        right = distance(s, v[USVX], v[TX], d->rows) <= bound * sc_cuda_solve_real(s, s->k->small[0], 0) * x &&
                fabs(norm_of(s, v[VX], d->cols) - x) <= bound * x &&
                fabs(norm_of(s, v[USVX], d->rows) - svx) <= bound * svx;
    }
    free(memory);
    return right;
}

/* The vectors that are not where the call expects them. */
static enum sc_status finish(const struct sc_cuda_solve *s, const struct svd *d)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status = SC_OK;

    if (d->wide && d->left != 'N') /* V^H of A is U^H of T */
        status = sc_cuda_solve_adjoint(s, k->c, k->ldc, d->u, d->ldu, d->left_cols, d->rows);
    else if (d->left != 'N' && d->u != k->b)
        status = sc_cuda_solve_copy(s, k->b, k->ldb, d->u, d->ldu, d->rows, d->left_cols);
    if (status == SC_OK && d->right != 'N' && d->wide && d->polar && d->v != k->b)
        status = sc_cuda_solve_copy(s, k->b, k->ldb, d->v, d->ldv, d->cols, d->cols);
    if (status == SC_OK && d->right != 'N' && d->wide != d->polar) /* U of A is V of T, or V^H the adjoint of V */
        status = d->wide ? sc_cuda_solve_adjoint(s, k->b, k->ldb, d->v, d->ldv, d->cols, d->cols)
                         : sc_cuda_solve_adjoint(s, k->c, k->ldc, d->v, d->ldv, d->cols, d->cols);
    return status;
}

enum sc_status sc_cuda_gesvd(struct sc_cuda_solve *s)
{
    struct svd d = describe(s->k);
    enum sc_status status = plan_svd(s, &d);

    if (status == SC_OK)
        status = decompose(s, &d);
    if (status == SC_OK && d.polar && (is_shifted(s, &d) || !is_right(s, &d))) {
        d.polar = false;
        status = decompose(s, &d);
    }
    return status == SC_OK ? finish(s, &d) : status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
