/* Routines of LAPACK through cuSOLVER: factorizations and their solutions.
 *
 * A routine either works in place and cannot fail after its first change, or works on copies and writes its operands
 * only after INFO was seen to be zero.  cuSOLVER does not define results for other values of INFO as LAPACK does, nor
 * the contents of the other triangle of every routine. */
#include "device/cuda/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef cublasStatus_t geam_fn(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t m, int64_t n,
                               const void *alpha, const void *a, int64_t, const void *beta, const void *b, int64_t,
                               void *c, int64_t);
static geam_fn *const geam[] = {(geam_fn *)cublasSgeam_64, (geam_fn *)cublasDgeam_64, (geam_fn *)cublasCgeam_64,
                                (geam_fn *)cublasZgeam_64};

static const cudaDataType data_types[SC_TYPES] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};

/* --- status ------------------------------------------------------------------------------------------------------- */

/* The status of a function that works in place.  After an error other than a refusal of the arguments, the operands may
 * have changed. */
static enum sc_status changed(const struct sc_cuda_solve *s, cusolverStatus_t error)
{
    switch (error) {
    case CUSOLVER_STATUS_SUCCESS: return SC_OK;
    case CUSOLVER_STATUS_NOT_INITIALIZED:
    case CUSOLVER_STATUS_INVALID_VALUE:
    case CUSOLVER_STATUS_ARCH_MISMATCH:
    case CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
    case CUSOLVER_STATUS_NOT_SUPPORTED:
    case CUSOLVER_STATUS_INVALID_WORKSPACE: return sc_cuda_solve_refused(s, error);
    default: return sc_cuda_solver_failed((int)error, sc_op_name(s->k->op));
    }
}

/* --- triangles and adjoints --------------------------------------------------------------------------------------- */

static cublasOperation_t adjoint(const struct sc_kernel *k)
{
    return sc_type_is_complex(k->type) ? CUBLAS_OP_C : CUBLAS_OP_T;
}

/* to := op(from), of so many rows and columns. */
static enum sc_status transpose(const struct sc_cuda_solve *s, cublasOperation_t op, void *to, int64_t to_ld,
                                const void *from, int64_t from_ld, int64_t rows, int64_t cols)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    union sc_cuda_scalar alpha = sc_cuda_scalar_of(s->k->type, one), beta = sc_cuda_scalar_of(s->k->type, zero);

    return sc_cuda_result_of(s->c, geam[s->k->type](s->c->blas, op, CUBLAS_OP_N, rows, cols, &alpha, from,
                                                    from_ld, &beta, to, to_ld, to, to_ld));
}

enum sc_status sc_cuda_solve_adjoint(const struct sc_cuda_solve *s, void *to, int64_t to_ld, const void *from,
                                     int64_t from_ld, int64_t rows, int64_t cols)
{
    return transpose(s, adjoint(s->k), to, to_ld, from, from_ld, rows, cols);
}

enum sc_status sc_cuda_solve_triangle(const struct sc_cuda_solve *s, void *to, int64_t to_ld, const void *from,
                                      int64_t from_ld, int64_t n)
{
    enum sc_status status = sc_cuda_pack(s->c, n, from, from_ld, s->at[SC_CUDA_PACKED]);

    return status == SC_OK ? sc_cuda_unpack(s->c, n, s->at[SC_CUDA_PACKED], to, to_ld) : status;
}

enum sc_status sc_cuda_solve_finite(struct sc_cuda_solve *s, int64_t count)
{
    struct sc_kernel sum = {.op = SC_OP_ASUM, .type = s->k->type, .n = count, .a = s->at[SC_CUDA_COPY], .lda = 1,
                            .result = s->k->result};
    enum sc_status status = sc_cuda_launch(s->c->device, s->c->stream, &sum);

    if (status == SC_OK)
        status = sc_cuda_solve_wait(s);
    s->waited = false; /* more work follows */
    return status == SC_OK && !sc_cuda_solve_are_finite(s, s->k->result, 1) ? SC_ERR_UNSUPPORTED : status;
}

/* --- triangles ---------------------------------------------------------------------------------------------------- */

static enum sc_status run_potrf(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status =
        sc_cuda_solve_refused(s, s->f->Xpotrf_bufferSize(s->handle, s->params, s->fill, k->n, s->type, k->a, k->lda,
                                                         s->type, SC_CUDA_SIZES(s)));

    if (status == SC_OK)
        status = sc_cuda_solve_reserve(s);
    if (status == SC_OK)
        status = changed(s, s->f->Xpotrf(s->handle, s->params, s->fill, k->n, s->type, k->a, k->lda, s->type,
                                         SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s)));
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

static enum sc_status run_potrs(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status = sc_cuda_solve_reserve(s);

    if (status == SC_OK)
        status = changed(s, s->f->Xpotrs(s->handle, s->params, s->fill, k->n, k->k, s->type, k->a, k->lda, s->type,
                                         k->b, k->ldb, sc_cuda_solve_info(s)));
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* Space for the named triangle of A, which alone returns from a copy. */
static void plan_triangle(struct sc_cuda_solve *s)
{
    s->bytes[SC_CUDA_PACKED] = (size_t)s->k->n * (size_t)(s->k->n + 1) / 2 * s->element;
}

/* The inverse that `invert` computes from a copy of A. */
static enum sc_status invert_copy(struct sc_cuda_solve *s, cusolverStatus_t (*invert)(struct sc_cuda_solve *s))
{
    const struct sc_kernel *k = s->k;
    enum sc_status status = sc_cuda_solve_on_copy(s, k->n, k->n);

    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, invert(s));
    if (status == SC_OK)
        status = sc_cuda_solve_check(s, NULL, 0);
    if (status == SC_OK && k->op == SC_OP_TRTRI && k->diag == 'U') /* Xtrtri writes ones; the diagonal is not named */
        status = sc_cuda_solve_copy(s, s->at[SC_CUDA_COPY], k->n + 1, k->a, k->lda + 1, 1, k->n);
    return status == SC_OK ? sc_cuda_solve_triangle(s, k->a, k->lda, s->at[SC_CUDA_COPY], k->n, k->n) : status;
}

static cusolverStatus_t invert_triangle(struct sc_cuda_solve *s)
{
    return s->f->Xtrtri(s->handle, s->fill, sc_cuda_diag_type(s->k), s->k->n, s->type, s->at[SC_CUDA_COPY], s->k->n,
                        SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s));
}

static enum sc_status run_trtri(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status =
        sc_cuda_solve_refused(s, s->f->Xtrtri_bufferSize(s->handle, s->fill, sc_cuda_diag_type(k), k->n, s->type, k->a,
                                                         k->n, SC_CUDA_SIZES(s)));

    plan_triangle(s);
    return status == SC_OK ? invert_copy(s, invert_triangle) : status;
}

static cusolverStatus_t invert_definite(struct sc_cuda_solve *s)
{
    int n = (int)s->k->n;

    return s->f->potri[s->k->type](s->handle, s->fill, n, s->at[SC_CUDA_COPY], n, s->at[SC_CUDA_WORK],
                                   sc_cuda_solve_size(s), sc_cuda_solve_info(s));
}

static enum sc_status run_potri(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    int n = (int)k->n, size = 0;
    cusolverStatus_t error = s->f->potri_size[k->type](s->handle, s->fill, n, k->a, n, &size);
    enum sc_status status = sc_cuda_solve_elements(s, error, size);

    plan_triangle(s);
    return status == SC_OK ? invert_copy(s, invert_definite) : status;
}

/* Allocates all parts.  COPY := the named triangle of A, with zeros in the other triangle. */
static enum sc_status reserve_triangle(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status;

    plan_triangle(s);
    s->bytes[SC_CUDA_COPY] = (size_t)k->n * (size_t)k->n * s->element;
    status = sc_cuda_solve_reserve(s);
    if (status == SC_OK)
        status = SC_CUDA(cudaMemsetAsync(s->at[SC_CUDA_COPY], 0, s->bytes[SC_CUDA_COPY], s->c->queue->stream));
    return status == SC_OK ? sc_cuda_solve_triangle(s, s->at[SC_CUDA_COPY], k->n, k->a, k->lda, k->n) : status;
}

/* cuSOLVER has no lauum.  The product of the triangle, filled up with zeros, and its adjoint is a rank n update. */
static enum sc_status run_lauum(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    struct sc_kernel rank = {.op = SC_OP_HERK, .type = k->type, .uplo = k->uplo, .transa = k->uplo == 'U' ? 'N' : 'C',
                             .n = k->n, .k = k->n, .alpha = {1, 0}, .lda = k->n, .c = k->a, .ldc = k->lda};
    enum sc_status status = reserve_triangle(s);

    rank.a = s->at[SC_CUDA_COPY];
    if (status == SC_OK)
        status = sc_cuda_launch(s->c->device, s->c->stream, &rank);
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* --- symmetric matrices ------------------------------------------------------------------------------------------- */

/* cuSOLVER's pivots are 32-bit integers here, with LAPACK's meaning.  cuSOLVER 12 does not report the zero pivot of a
 * matrix of order 1: the element is read, and the host factorizes a zero. */
static enum sc_status run_sytrf(struct sc_cuda_solve *s)
{
    static const char nothing[2 * sizeof(double)];
    const struct sc_kernel *k = s->k;
    int n = (int)k->n, size = 0;
    cusolverStatus_t error = s->f->sytrf_size[k->type](s->handle, n, k->a, n, &size);
    enum sc_status status = sc_cuda_solve_elements(s, error, size);
    char *a;

    s->bytes[SC_CUDA_SMALL] = (size_t)n * sizeof(int);
    s->host_bytes = s->bytes[SC_CUDA_SMALL] + s->element;
    if (status == SC_OK)
        status = reserve_triangle(s);
    a = s->at[SC_CUDA_COPY];
    if (status == SC_OK)
        status = sc_cuda_solve_finite(s, k->n * k->n);
    if (status == SC_OK)
        status = sc_cuda_solve_down(s, (char *)s->host + s->bytes[SC_CUDA_SMALL], a, s->element);
    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, s->f->sytrf[k->type](s->handle, s->fill, n, a, n,
                                                               (int *)(void *)s->at[SC_CUDA_SMALL],
                                                               s->at[SC_CUDA_WORK], size, sc_cuda_solve_info(s)));
    if (status == SC_OK)
        status = sc_cuda_solve_down(s, s->host, s->at[SC_CUDA_SMALL], s->bytes[SC_CUDA_SMALL]);
    if (status == SC_OK)
        status = sc_cuda_solve_check(s, NULL, 0);
    if (status == SC_OK && n == 1 && memcmp((char *)s->host + s->bytes[SC_CUDA_SMALL], nothing, s->element) == 0)
        status = SC_ERR_UNSUPPORTED;
    for (int i = 0; i < n && status == SC_OK; i++)
        k->pivots[i] = ((const int *)s->host)[i];
    return status == SC_OK ? sc_cuda_solve_triangle(s, k->a, k->lda, a, k->n, k->n) : status;
}

/* The question for the size of the workspace needs pivots, whose values cuSOLVER does not read: no pivots mean a
 * factorization without interchanges, which needs less. */
static enum sc_status run_sytrs(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    const int64_t *pivots = (const int64_t *)k->a;
    enum sc_status status =
        sc_cuda_solve_refused(s, s->f->Xsytrs_bufferSize(s->handle, s->fill, k->n, k->k, s->type, k->a, k->lda, pivots,
                                                         s->type, k->b, k->ldb, SC_CUDA_SIZES(s)));

    s->bytes[SC_CUDA_SMALL] = (size_t)k->n * sizeof(int64_t);
    if (status == SC_OK)
        status = sc_cuda_solve_reserve(s);
    if (status == SC_OK)
        status = sc_cuda_solve_up(s, s->at[SC_CUDA_SMALL], k->pivots, s->bytes[SC_CUDA_SMALL]);
    if (status == SC_OK) /* cuSOLVER 12 reads the pivots when it is called, and not in the order of its stream */
        status = sc_cuda_solve_wait(s);
    s->waited = false; /* more work follows */
    if (status == SC_OK)
        status = changed(s, s->f->Xsytrs(s->handle, s->fill, k->n, k->k, s->type, k->a, k->lda,
                                         (const int64_t *)(void *)s->at[SC_CUDA_SMALL], s->type, k->b, k->ldb,
                                         SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s)));
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* --- LU ----------------------------------------------------------------------------------------------------------- */

static enum sc_status run_getrf(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    size_t pivots = (size_t)(k->m < k->n ? k->m : k->n) * sizeof(int64_t);
    enum sc_status status =
        sc_cuda_solve_refused(s, s->f->Xgetrf_bufferSize(s->handle, s->params, k->m, k->n, s->type, k->a, k->m,
                                                         s->type, SC_CUDA_SIZES(s)));
    char *a;

    s->bytes[SC_CUDA_SMALL] = pivots;
    if (status == SC_OK)
        status = sc_cuda_solve_on_copy(s, k->m, k->n);
    a = s->at[SC_CUDA_COPY];
    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, s->f->Xgetrf(s->handle, s->params, k->m, k->n, s->type, a, k->m,
                                                       (int64_t *)(void *)s->at[SC_CUDA_SMALL], s->type,
                                                       SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s)));
    if (status == SC_OK)
        status = sc_cuda_solve_down(s, k->pivots, s->at[SC_CUDA_SMALL], pivots);
    if (status == SC_OK)
        status = sc_cuda_solve_check(s, NULL, 0);
    return status == SC_OK ? sc_cuda_solve_copy(s, k->a, k->lda, a, k->m, k->m, k->n) : status;
}

static enum sc_status run_getrs(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status;

    s->bytes[SC_CUDA_SMALL] = (size_t)k->n * sizeof(int64_t);
    status = sc_cuda_solve_reserve(s);
    if (status == SC_OK)
        status = sc_cuda_solve_up(s, s->at[SC_CUDA_SMALL], k->pivots, s->bytes[SC_CUDA_SMALL]);
    if (status == SC_OK)
        status = changed(s, s->f->Xgetrs(s->handle, s->params, sc_cuda_operation(k, k->transa), k->n, k->k, s->type,
                                         k->a, k->lda, (const int64_t *)(void *)s->at[SC_CUDA_SMALL], s->type, k->b,
                                         k->ldb, sc_cuda_solve_info(s)));
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* Refuses a diagonal with a zero, of which the host's routine makes INFO. */
static enum sc_status check_diagonal(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    int64_t parts = (int64_t)(s->element / s->real_bytes);
    enum sc_status status = sc_cuda_solve_copy(s, s->at[SC_CUDA_SECOND], 1, k->a, k->lda + 1, 1, k->n);

    if (status == SC_OK)
        status = sc_cuda_solve_down(s, s->host, s->at[SC_CUDA_SECOND], s->host_bytes);
    if (status == SC_OK)
        status = sc_cuda_solve_wait(s);
    s->waited = false; /* more work follows */
    for (int64_t i = 0; i < parts * k->n && status == SC_OK; i += parts)
        if (sc_cuda_solve_real(s, s->host, i) == 0 && sc_cuda_solve_real(s, s->host, i + parts - 1) == 0)
            status = SC_ERR_UNSUPPORTED;
    return status;
}

/* The part COPY := the identity. */
static enum sc_status make_identity(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    union sc_cuda_scalar one = sc_cuda_scalar_of(k->type, (const double[2]){1, 0});
    enum sc_status status = SC_CUDA(cudaMemsetAsync(s->at[SC_CUDA_COPY], 0, s->bytes[SC_CUDA_COPY],
                                                    s->c->queue->stream));

    for (int64_t i = 0; i < k->n; i++)
        memcpy((char *)s->host + (size_t)i * s->element, &one, s->element);
    if (status == SC_OK)
        status = sc_cuda_solve_up(s, s->at[SC_CUDA_SECOND], s->host, s->host_bytes);
    return status == SC_OK ? sc_cuda_solve_copy(s, s->at[SC_CUDA_COPY], k->n + 1, s->at[SC_CUDA_SECOND], 1, 1, k->n)
                           : status;
}

/* cuSOLVER has no getri: the inverse is the solution for the identity. */
static enum sc_status run_getri(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    size_t n = (size_t)k->n;
    char *inverse;
    enum sc_status status;

    s->bytes[SC_CUDA_SMALL] = n * sizeof(int64_t);
    s->bytes[SC_CUDA_COPY] = n * n * s->element;
    s->bytes[SC_CUDA_SECOND] = s->host_bytes = n * s->element; /* a diagonal */
    status = sc_cuda_solve_reserve(s);
    inverse = s->at[SC_CUDA_COPY];
    if (status == SC_OK)
        status = check_diagonal(s);
    if (status == SC_OK)
        status = make_identity(s);
    if (status == SC_OK)
        status = sc_cuda_solve_up(s, s->at[SC_CUDA_SMALL], k->pivots, s->bytes[SC_CUDA_SMALL]);
    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, s->f->Xgetrs(s->handle, s->params, CUBLAS_OP_N, k->n, k->n, s->type, k->a,
                                                       k->lda, (const int64_t *)(void *)s->at[SC_CUDA_SMALL], s->type,
                                                       inverse, k->n, sc_cuda_solve_info(s)));
    if (status == SC_OK)
        status = sc_cuda_solve_copy(s, k->a, k->lda, inverse, k->n, k->n, k->n);
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* --- QR ----------------------------------------------------------------------------------------------------------- */

static enum sc_status run_geqrf(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    size_t tau = (size_t)(k->m < k->n ? k->m : k->n) * s->element;
    enum sc_status status =
        sc_cuda_solve_refused(s, s->f->Xgeqrf_bufferSize(s->handle, s->params, k->m, k->n, s->type, k->a, k->lda,
                                                         s->type, k->a, s->type, SC_CUDA_SIZES(s)));

    s->bytes[SC_CUDA_SMALL] = tau;
    if (status == SC_OK)
        status = sc_cuda_solve_reserve(s);
    if (status == SC_OK)
        status = changed(s, s->f->Xgeqrf(s->handle, s->params, k->m, k->n, s->type, k->a, k->lda, s->type,
                                         s->at[SC_CUDA_SMALL], s->type, SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s)));
    if (status == SC_OK)
        status = sc_cuda_solve_down(s, k->small[0], s->at[SC_CUDA_SMALL], tau);
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* The pivots are 32-bit integers here.  CUDA has read pageable memory when an upload returns. */
static enum sc_status run_laswp(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    size_t bytes = (size_t)k->k * sizeof(int);
    int *pivots = malloc(bytes);
    enum sc_status status = pivots ? SC_OK : SC_ERR_UNSUPPORTED;

    for (int64_t i = 0; pivots && i < k->k; i++)
        pivots[i] = (int)k->pivots[i];
    s->bytes[SC_CUDA_SMALL] = bytes;
    if (status == SC_OK)
        status = sc_cuda_solve_reserve(s);
    if (status == SC_OK)
        status = sc_cuda_solve_up(s, s->at[SC_CUDA_SMALL], pivots, bytes);
    free(pivots);
    if (status == SC_OK)
        status = changed(s, s->f->laswp[k->type](s->handle, (int)k->n, k->c, (int)k->ldc, (int)k->kl, (int)k->k,
                                                 (const int *)(void *)s->at[SC_CUDA_SMALL], 1));
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

static enum sc_status run_omatcopy(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status = sc_cuda_solve_reserve(s);

    if (status == SC_OK)
        status = transpose(s, CUBLAS_OP_T, k->b, k->ldb, k->a, k->lda, k->n, k->m);
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* Space for tau, and its upload. */
static enum sc_status reserve_tau(struct sc_cuda_solve *s)
{
    enum sc_status status;

    s->bytes[SC_CUDA_SMALL] = (size_t)s->k->k * s->element;
    status = sc_cuda_solve_reserve(s);
    return status == SC_OK ? sc_cuda_solve_up(s, s->at[SC_CUDA_SMALL], s->k->small[0], s->bytes[SC_CUDA_SMALL])
                           : status;
}

static enum sc_status run_orgqr(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    int m = (int)k->m, n = (int)k->n, count = (int)k->k, ld = (int)k->lda, size = 0;
    cusolverStatus_t error = s->f->orgqr_size[k->type](s->handle, m, n, count, k->a, ld, k->a, &size);
    enum sc_status status = sc_cuda_solve_elements(s, error, size);

    if (status == SC_OK)
        status = reserve_tau(s);
    if (status == SC_OK)
        status = changed(s, s->f->orgqr[k->type](s->handle, m, n, count, k->a, ld, s->at[SC_CUDA_SMALL],
                                                 s->at[SC_CUDA_WORK], size, sc_cuda_solve_info(s)));
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

static enum sc_status run_ormqr(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    cublasSideMode_t side = sc_cuda_side_mode(k);
    cublasOperation_t op = sc_cuda_operation(k, k->transa);
    int m = (int)k->m, n = (int)k->n, count = (int)k->k, lda = (int)k->lda, ldc = (int)k->ldc, size = 0;
    cusolverStatus_t error = s->f->ormqr_size[k->type](s->handle, side, op, m, n, count, k->a, lda, k->a, k->c, ldc,
                                                       &size);
    enum sc_status status = sc_cuda_solve_elements(s, error, size);

    if (status == SC_OK)
        status = reserve_tau(s);
    if (status == SC_OK)
        status = changed(s, s->f->ormqr[k->type](s->handle, side, op, m, n, count, k->a, lda, s->at[SC_CUDA_SMALL],
                                                 k->c, ldc, s->at[SC_CUDA_WORK], size, sc_cuda_solve_info(s)));
    return status == SC_OK ? sc_cuda_solve_tell(s) : status;
}

/* --- the launch --------------------------------------------------------------------------------------------------- */

/* OLDER: the older interface or packed storage, with 32-bit integers. */
enum trait { PLAIN, OLDER };

static const struct routine {
    enum sc_op op;
    enum sc_status (*run)(struct sc_cuda_solve *s);
    enum trait trait;
} routines[] = {
    {SC_OP_POTRF, run_potrf, PLAIN}, {SC_OP_POTRS, run_potrs, PLAIN}, {SC_OP_POTRI, run_potri, OLDER},
    {SC_OP_GETRF, run_getrf, PLAIN}, {SC_OP_GETRS, run_getrs, PLAIN}, {SC_OP_GETRI, run_getri, PLAIN},
    {SC_OP_TRTRI, run_trtri, OLDER}, {SC_OP_LAUUM, run_lauum, OLDER}, {SC_OP_GEQRF, run_geqrf, PLAIN},
    {SC_OP_ORGQR, run_orgqr, OLDER}, {SC_OP_ORMQR, run_ormqr, OLDER}, {SC_OP_SYEVD, sc_cuda_syevd, PLAIN},
    {SC_OP_SYGVD, sc_cuda_sygvd, OLDER}, {SC_OP_GESVD, sc_cuda_gesvd, PLAIN}, {SC_OP_GEEV, sc_cuda_geev, PLAIN},
    {SC_OP_LASWP, run_laswp, OLDER}, {SC_OP_SYTRF, run_sytrf, OLDER}, {SC_OP_SYTRS, run_sytrs, PLAIN},
    {SC_OP_OMATCOPY, run_omatcopy, PLAIN}, {SC_OP_LANGE, sc_cuda_norm, PLAIN}, {SC_OP_LANSY, sc_cuda_norm, PLAIN},
    {SC_OP_LANHE, sc_cuda_norm, PLAIN}, {SC_OP_LANTR, sc_cuda_norm, PLAIN},
};

static const struct routine *routine_of(enum sc_op op)
{
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
        if (routines[i].op == op)
            return &routines[i];
    return NULL;
}

bool sc_cuda_runs(enum sc_op op, enum sc_type type)
{
    (void)type;
    return !sc_op_is_lapack(op) || (routine_of(op) && sc_cuda_solver_open());
}

/* Operands with something to do, and of a size that the routine's interface can name. */
static bool fits(const struct routine *r, const struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_kernel_views(k, view);

    for (int i = 0; i < count; i++) {
        if ((view[i].rows < 1 || view[i].cols < 1) && view[i].access != SC_WRITE)
            return false;
        if (r->trait == OLDER && (double)view[i].ld * (double)view[i].cols > INT32_MAX)
            return false;
    }
    return true;
}

enum sc_status sc_cuda_lapack(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    const struct routine *r = routine_of(k->op);
    bool single = k->type == SC_S || k->type == SC_C;
    struct sc_cuda_solve s = {.c = c, .k = k, .f = sc_cuda_solver(), .type = data_types[k->type],
                              .real = single ? CUDA_R_32F : CUDA_R_64F, .fill = sc_cuda_fill_mode(k),
                              .element = sc_type_bytes(k->type), .real_bytes = single ? sizeof(float) : sizeof(double)};
    enum sc_status status;

    if (!r || c->stream != SC_STREAM_COMPUTE || !fits(r, k))
        return SC_ERR_UNSUPPORTED;
    status = sc_cuda_solver_handle(c->queue);
    if (status != SC_OK)
        return status;
    s.handle = c->queue->solver;
    s.params = c->queue->solver_params;
    status = r->run(&s);
    /* cuSOLVER may use its memory on the host, and after a failure write operands, until all of the work is done. */
    if ((s.host || status != SC_OK) && s.block && !s.waited && sc_cuda_solve_wait(&s) != SC_OK)
        status = SC_ERR_DEVICE;
    if (s.block)
        sc_cuda_work_free(c->device, &s.block, 1);
    free(s.host);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
