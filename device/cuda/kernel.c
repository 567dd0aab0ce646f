/* BLAS kernels through cuBLAS's 64-bit interface.
 *
 * The four types of a routine differ only in what their pointers point to, so each routine has one signature with void
 * pointers and a table of four functions.  (Calling a function through a type that differs in pointed-to types is a
 * matter of the ABI; on x86-64 all object pointers are passed alike.) */
#include "device/cuda/cuda_int.h"

typedef cublasStatus_t axpy_fn(cublasHandle_t, int64_t n, const void *alpha, const void *x, int64_t, void *y, int64_t);
typedef cublasStatus_t scal_fn(cublasHandle_t, int64_t n, const void *alpha, void *x, int64_t);
typedef cublasStatus_t pair_fn(cublasHandle_t, int64_t n, void *x, int64_t, void *y, int64_t);
typedef cublasStatus_t dot_fn(cublasHandle_t, int64_t n, const void *x, int64_t, const void *y, int64_t, void *result);
typedef cublasStatus_t reduce_fn(cublasHandle_t, int64_t n, const void *x, int64_t, void *result);
typedef cublasStatus_t gemv_fn(cublasHandle_t, cublasOperation_t, int64_t m, int64_t n, const void *alpha,
                               const void *a, int64_t, const void *x, int64_t, const void *beta, void *y, int64_t);
typedef cublasStatus_t ger_fn(cublasHandle_t, int64_t m, int64_t n, const void *alpha, const void *x, int64_t,
                              const void *y, int64_t, void *a, int64_t);
typedef cublasStatus_t trsv_fn(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t n,
                               const void *a, int64_t, void *x, int64_t);
typedef cublasStatus_t gemm_fn(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t m, int64_t n, int64_t k,
                               const void *alpha, const void *a, int64_t, const void *b, int64_t, const void *beta,
                               void *c, int64_t);
typedef cublasStatus_t symm_fn(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int64_t m, int64_t n,
                               const void *alpha, const void *a, int64_t, const void *b, int64_t, const void *beta,
                               void *c, int64_t);
typedef cublasStatus_t syrk_fn(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int64_t n, int64_t k,
                               const void *alpha, const void *a, int64_t, const void *beta, void *c, int64_t);
typedef cublasStatus_t syr2k_fn(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int64_t n, int64_t k,
                                const void *alpha, const void *a, int64_t, const void *b, int64_t, const void *beta,
                                void *c, int64_t);
typedef cublasStatus_t pack_fn(cublasHandle_t, cublasFillMode_t, int n, const void *a, int, void *packed);
typedef cublasStatus_t unpack_fn(cublasHandle_t, cublasFillMode_t, int n, const void *packed, void *a, int);
typedef cublasStatus_t trmm_fn(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                               int64_t m, int64_t n, const void *alpha, const void *a, int64_t, const void *b, int64_t,
                               void *c, int64_t);
typedef cublasStatus_t trsm_fn(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                               int64_t m, int64_t n, const void *alpha, const void *a, int64_t, void *b, int64_t);

#define FOUR(fn, s, d, c, z)                                                                                    \
    {(fn *)cublas##s##_v2_64, (fn *)cublas##d##_v2_64, (fn *)cublas##c##_v2_64, (fn *)cublas##z##_v2_64}

static axpy_fn *const axpy[] = FOUR(axpy_fn, Saxpy, Daxpy, Caxpy, Zaxpy);
static scal_fn *const scal[] = FOUR(scal_fn, Sscal, Dscal, Cscal, Zscal);
static scal_fn *const scal_real[] = FOUR(scal_fn, Sscal, Dscal, Csscal, Zdscal);
static pair_fn *const copy[] = FOUR(pair_fn, Scopy, Dcopy, Ccopy, Zcopy);
static pair_fn *const swap[] = FOUR(pair_fn, Sswap, Dswap, Cswap, Zswap);
static dot_fn *const dot[] = FOUR(dot_fn, Sdot, Ddot, Cdotu, Zdotu);
static dot_fn *const dotc[] = FOUR(dot_fn, Sdot, Ddot, Cdotc, Zdotc);
static reduce_fn *const nrm2[] = FOUR(reduce_fn, Snrm2, Dnrm2, Scnrm2, Dznrm2);
static reduce_fn *const asum[] = FOUR(reduce_fn, Sasum, Dasum, Scasum, Dzasum);
static reduce_fn *const iamax[] = FOUR(reduce_fn, Isamax, Idamax, Icamax, Izamax);
static gemv_fn *const gemv[] = FOUR(gemv_fn, Sgemv, Dgemv, Cgemv, Zgemv);
static ger_fn *const ger[] = FOUR(ger_fn, Sger, Dger, Cgeru, Zgeru);
static ger_fn *const gerc[] = FOUR(ger_fn, Sger, Dger, Cgerc, Zgerc);
static trsv_fn *const trsv[] = FOUR(trsv_fn, Strsv, Dtrsv, Ctrsv, Ztrsv);
static gemm_fn *const gemm[] = FOUR(gemm_fn, Sgemm, Dgemm, Cgemm, Zgemm);
static symm_fn *const symm[] = FOUR(symm_fn, Ssymm, Dsymm, Csymm, Zsymm);
static symm_fn *const hemm[] = FOUR(symm_fn, Ssymm, Dsymm, Chemm, Zhemm);
static syrk_fn *const syrk[] = FOUR(syrk_fn, Ssyrk, Dsyrk, Csyrk, Zsyrk);
static syrk_fn *const herk[] = FOUR(syrk_fn, Ssyrk, Dsyrk, Cherk, Zherk);
static syr2k_fn *const syr2k[] = FOUR(syr2k_fn, Ssyr2k, Dsyr2k, Csyr2k, Zsyr2k);
static syr2k_fn *const her2k[] = FOUR(syr2k_fn, Ssyr2k, Dsyr2k, Cher2k, Zher2k);
static pack_fn *const pack[] = {(pack_fn *)cublasStrttp, (pack_fn *)cublasDtrttp, (pack_fn *)cublasCtrttp,
                                (pack_fn *)cublasZtrttp};
static unpack_fn *const unpack[] = {(unpack_fn *)cublasStpttr, (unpack_fn *)cublasDtpttr, (unpack_fn *)cublasCtpttr,
                                    (unpack_fn *)cublasZtpttr};
static trmm_fn *const trmm[] = FOUR(trmm_fn, Strmm, Dtrmm, Ctrmm, Ztrmm);
static trsm_fn *const trsm[] = FOUR(trsm_fn, Strsm, Dtrsm, Ctrsm, Ztrsm);

/* A scalar as cuBLAS reads it: a real number or a pair, of the type's precision.  cuDoubleComplex is aligned to 16
 * bytes and cuBLAS relies on it. */
union scalar {
    float s[2];
    _Alignas(16) double d[2];
};

#define GEMMT_WIDTH 512 /* columns of gemmt at a time; a diagonal block of them has room in the scratch memory */
#define SCRATCH ((size_t)8 << 20)
_Static_assert(GEMMT_WIDTH * GEMMT_WIDTH * 16 * 3 / 2 + GEMMT_WIDTH * 8 <= SCRATCH, "a block, and its triangle packed");

struct call {
    struct sc_cuda_stream *queue;
    cublasHandle_t blas;
    int device;
    enum sc_stream stream;
    const struct sc_kernel *k;
    union scalar alpha, beta;
};

static union scalar scalar_of(enum sc_type type, const double value[2])
{
    union scalar out;

    if (type == SC_S || type == SC_C)
        out.s[0] = (float)value[0], out.s[1] = (float)value[1];
    else
        out.d[0] = value[0], out.d[1] = value[1];
    return out;
}

/* The imaginary part counts only where the scalar is complex: the caller need not clear it. */
static bool scalar_is(const struct sc_kernel *k, const double value[2], double real)
{
    bool is_real = k->op == SC_OP_HERK || (k->op == SC_OP_HER2K && value == k->beta);
    bool pair = sc_type_is_complex(k->type) && !is_real;

    return value[0] == real && (!pair || value[1] == 0);
}

static cublasOperation_t operation(const struct sc_kernel *k, char letter)
{
    if (letter == 'N')
        return CUBLAS_OP_N;
    return letter == 'C' && sc_type_is_complex(k->type) ? CUBLAS_OP_C : CUBLAS_OP_T;
}

static cublasFillMode_t fill_mode(const struct sc_kernel *k)
{
    return k->uplo == 'U' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

static cublasSideMode_t side_mode(const struct sc_kernel *k)
{
    return k->side == 'L' ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

static cublasDiagType_t diag_type(const struct sc_kernel *k)
{
    return k->diag == 'U' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

static enum sc_status result_of(const struct call *c, cublasStatus_t error)
{
    return error == CUBLAS_STATUS_SUCCESS ? SC_OK : sc_cuda_blas_failed(error, sc_op_name(c->k->op));
}

/* C := beta C for an m x n matrix; A and B are not looked at, whatever they hold. */
static enum sc_status scale(const struct call *c, int64_t m, int64_t n, void *matrix, int64_t ld)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);

    if (scalar_is(k, k->beta, 1))
        return SC_OK;
    if (scalar_is(k, k->beta, 0))
        return sc_cuda_fill(c->device, c->stream, matrix, (size_t)ld * bytes, 0, (size_t)m * bytes, (size_t)n);
    return result_of(c, gemm[k->type](c->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, 0, &c->alpha, matrix, ld, matrix, ld,
                                      &c->beta, matrix, ld));
}

static enum sc_status run_axpy(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0 || scalar_is(k, k->alpha, 0))
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    return result_of(c, axpy[k->type](c->blas, k->n, &c->alpha, k->a, k->lda, k->b, k->ldb));
}

static enum sc_status run_scal(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0 || k->lda <= 0) /* as the reference does */
        return SC_OK;
    return result_of(c, (k->scale_real ? scal_real : scal)[k->type](c->blas, k->n, &c->alpha, k->a, k->lda));
}

static enum sc_status run_pair(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0)
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    return result_of(c, (k->op == SC_OP_COPY ? copy : swap)[k->type](c->blas, k->n, k->a, k->lda, k->b, k->ldb));
}

/* Reductions write their result where the record says, in the order of the stream: nobody waits here. */
static enum sc_status run_reduction(const struct call *c)
{
    const struct sc_kernel *k = c->k;
    bool two = k->op == SC_OP_DOT || k->op == SC_OP_DOTC;
    reduce_fn *const *one = k->op == SC_OP_NRM2 ? nrm2 : k->op == SC_OP_ASUM ? asum : iamax;
    int64_t inc = k->op == SC_OP_NRM2 && k->lda < 0 ? -k->lda : k->lda; /* the order does not matter to a norm */
    cublasStatus_t error;

    if (k->n <= 0 || (!two && k->op != SC_OP_NRM2 && k->lda <= 0)) /* as the reference does */
        return sc_cuda_fill(c->device, c->stream, k->result, SC_CUDA_SLOT_BYTES, 0, SC_CUDA_SLOT_BYTES, 1);
    if (!k->lda || (two && !k->ldb))
        return SC_ERR_UNSUPPORTED;
    cublasSetPointerMode(c->blas, CUBLAS_POINTER_MODE_DEVICE);
    if (two)
        error = (k->op == SC_OP_DOT ? dot : dotc)[k->type](c->blas, k->n, k->a, k->lda, k->b, k->ldb, k->result);
    else
        error = one[k->type](c->blas, k->n, k->a, inc, k->result);
    cublasSetPointerMode(c->blas, CUBLAS_POINTER_MODE_HOST);
    return result_of(c, error);
}

static enum sc_status run_gemv(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (!k->ldb || !k->ldc)
        return SC_ERR_UNSUPPORTED;
    if (scalar_is(k, k->alpha, 0)) /* y as the row of a matrix: scaling does not care for the order */
        return scale(c, 1, k->transa == 'N' ? k->m : k->n, k->c, k->ldc < 0 ? -k->ldc : k->ldc);
    return result_of(c, gemv[k->type](c->blas, operation(k, k->transa), k->m, k->n, &c->alpha, k->a, k->lda, k->b,
                                      k->ldb, &c->beta, k->c, k->ldc));
}

static enum sc_status run_ger(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->m <= 0 || k->n <= 0 || scalar_is(k, k->alpha, 0))
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    return result_of(c, (k->op == SC_OP_GER ? ger : gerc)[k->type](c->blas, k->m, k->n, &c->alpha, k->a, k->lda, k->b,
                                                                   k->ldb, k->c, k->ldc));
}

static enum sc_status run_trsv(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0)
        return SC_OK;
    if (!k->ldb)
        return SC_ERR_UNSUPPORTED;
    return result_of(c, trsv[k->type](c->blas, fill_mode(k), operation(k, k->transa), diag_type(k), k->n, k->a, k->lda,
                                      k->b, k->ldb));
}

static enum sc_status run_gemm(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (k->k <= 0 || scalar_is(k, k->alpha, 0))
        return scale(c, k->m, k->n, k->c, k->ldc);
    return result_of(c, gemm[k->type](c->blas, operation(k, k->transa), operation(k, k->transb), k->m, k->n, k->k,
                                      &c->alpha, k->a, k->lda, k->b, k->ldb, &c->beta, k->c, k->ldc));
}

static enum sc_status run_symm(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (scalar_is(k, k->alpha, 0))
        return scale(c, k->m, k->n, k->c, k->ldc);
    return result_of(c, (k->op == SC_OP_SYMM ? symm : hemm)[k->type](c->blas, side_mode(k), fill_mode(k), k->m, k->n,
                                                                     &c->alpha, k->a, k->lda, k->b, k->ldb, &c->beta,
                                                                     k->c, k->ldc));
}

/* C := beta C for a triangle: by syrk or herk with nothing to add.  A is not looked at. */
static enum sc_status scale_triangle(const struct call *c)
{
    const struct sc_kernel *k = c->k;
    bool hermitian = k->op == SC_OP_HERK || k->op == SC_OP_HER2K;

    if (scalar_is(k, k->beta, 1))
        return SC_OK;
    return result_of(c, (hermitian ? herk : syrk)[k->type](c->blas, fill_mode(k), CUBLAS_OP_N, k->n, 0, &c->alpha, k->c,
                                                           k->ldc, &c->beta, k->c, k->ldc));
}

static bool adds(const struct sc_kernel *k)
{
    return k->k > 0 && !scalar_is(k, k->alpha, 0);
}

static enum sc_status run_syrk(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0)
        return SC_OK;
    if (!adds(k))
        return scale_triangle(c);
    return result_of(c, (k->op == SC_OP_SYRK ? syrk : herk)[k->type](c->blas, fill_mode(k), operation(k, k->transa),
                                                                     k->n, k->k, &c->alpha, k->a, k->lda, &c->beta,
                                                                     k->c, k->ldc));
}

static enum sc_status run_syr2k(const struct call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0)
        return SC_OK;
    if (!adds(k))
        return scale_triangle(c);
    return result_of(c, (k->op == SC_OP_SYR2K ? syr2k : her2k)[k->type](c->blas, fill_mode(k), operation(k, k->transa),
                                                                        k->n, k->k, &c->alpha, k->a, k->lda, k->b,
                                                                        k->ldb, &c->beta, k->c, k->ldc));
}

/* The m x n block at (i, j) of gemmt's product, added to beta C at `to`. */
static enum sc_status gemmt_block(const struct call *c, int64_t i, int64_t m, int64_t j, int64_t n, void *to, int64_t ld)
{
    const struct sc_kernel *k = c->k;
    int64_t bytes = (int64_t)sc_type_bytes(k->type);
    const char *a = (const char *)k->a + i * bytes * (k->transa == 'N' ? 1 : k->lda);
    const char *b = (const char *)k->b + j * bytes * (k->transb == 'N' ? k->ldb : 1);

    if (m <= 0)
        return SC_OK;
    return result_of(c, gemm[k->type](c->blas, operation(k, k->transa), operation(k, k->transb), m, n, k->k, &c->alpha, a,
                                      k->lda, b, k->ldb, &c->beta, to, ld));
}

/* cuBLAS has no gemmt.  A diagonal block is computed as a whole in scratch memory, packed, and unpacked into C, which
 * writes the named triangle and nothing else.  (syrkx knows two of the nine transpositions, herkx real diagonals only.) */
static enum sc_status gemmt_diagonal(const struct call *c, int64_t i, int64_t n)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type), square = (size_t)n * (size_t)n * bytes;
    char *full = c->queue->scratch, *packed = full + square, *to = (char *)k->c + (size_t)(i + i * k->ldc) * bytes;
    struct sc_copy2d in = {.dst = full, .src = to, .dst_pitch = (size_t)n * bytes, .src_pitch = (size_t)k->ldc * bytes,
                           .width = (size_t)n * bytes, .height = (size_t)n, .dst_device = c->device,
                           .src_device = c->device};
    enum sc_status status = scalar_is(k, k->beta, 0) ? SC_OK : sc_cuda_copy(c->device, c->stream, &in);

    if (status == SC_OK)
        status = gemmt_block(c, i, n, i, n, full, n);
    if (status == SC_OK)
        status = result_of(c, pack[k->type](c->blas, fill_mode(k), (int)n, full, (int)n, packed));
    if (status == SC_OK)
        status = result_of(c, unpack[k->type](c->blas, fill_mode(k), (int)n, packed, to, (int)k->ldc));
    return status;
}

static enum sc_status run_gemmt(const struct call *c)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);
    bool upper = k->uplo == 'U';
    enum sc_status status = SC_OK;

    if (k->n <= 0)
        return SC_OK;
    if (!adds(k))
        return scale_triangle(c);
    if (k->ldc > INT32_MAX) /* packing has no 64-bit interface */
        return SC_ERR_UNSUPPORTED;
    for (int64_t j = 0; j < k->n && status == SC_OK; j += GEMMT_WIDTH) {
        int64_t n = k->n - j < GEMMT_WIDTH ? k->n - j : GEMMT_WIDTH, i = upper ? 0 : j + n;

        status = gemmt_block(c, i, upper ? j : k->n - i, j, n, (char *)k->c + (size_t)(i + j * k->ldc) * bytes, k->ldc);
        if (status == SC_OK)
            status = gemmt_diagonal(c, j, n);
    }
    return status;
}

/* In place, which cuBLAS allows. */
static enum sc_status run_trmm(const struct call *c)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (scalar_is(k, k->alpha, 0))
        return sc_cuda_fill(c->device, c->stream, k->b, (size_t)k->ldb * bytes, 0, (size_t)k->m * bytes, (size_t)k->n);
    return result_of(c, trmm[k->type](c->blas, side_mode(k), fill_mode(k), operation(k, k->transa), diag_type(k), k->m,
                                      k->n, &c->alpha, k->a, k->lda, k->b, k->ldb, k->b, k->ldb));
}

static enum sc_status run_trsm(const struct call *c)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (scalar_is(k, k->alpha, 0))
        return sc_cuda_fill(c->device, c->stream, k->b, (size_t)k->ldb * bytes, 0, (size_t)k->m * bytes, (size_t)k->n);
    return result_of(c, trsm[k->type](c->blas, side_mode(k), fill_mode(k), operation(k, k->transa), diag_type(k), k->m,
                                      k->n, &c->alpha, k->a, k->lda, k->b, k->ldb));
}

static enum sc_status (*const runners[SC_OPS])(const struct call *) = {
    [SC_OP_AXPY] = run_axpy, [SC_OP_SCAL] = run_scal, [SC_OP_COPY] = run_pair, [SC_OP_SWAP] = run_pair,
    [SC_OP_DOT] = run_reduction, [SC_OP_DOTC] = run_reduction, [SC_OP_NRM2] = run_reduction,
    [SC_OP_ASUM] = run_reduction, [SC_OP_IAMAX] = run_reduction, [SC_OP_GEMV] = run_gemv, [SC_OP_GER] = run_ger,
    [SC_OP_GERC] = run_ger, [SC_OP_TRSV] = run_trsv, [SC_OP_GEMM] = run_gemm, [SC_OP_SYMM] = run_symm,
    [SC_OP_HEMM] = run_symm, [SC_OP_SYRK] = run_syrk, [SC_OP_HERK] = run_syrk, [SC_OP_SYR2K] = run_syr2k,
    [SC_OP_HER2K] = run_syr2k, [SC_OP_GEMMT] = run_gemmt, [SC_OP_TRMM] = run_trmm, [SC_OP_TRSM] = run_trsm};

/* A handle for each stream that kernels run on, with a workspace of its own: cuBLAS allocates nothing during calls, and
 * its results depend on nothing but the operands. */
static enum sc_status make_handle(struct sc_cuda_stream *q)
{
    const size_t workspace = (size_t)32 << 20; /* what cuBLAS asks for on recent devices */
    enum sc_status status = SC_CUDA(cudaMalloc(&q->workspace, workspace + SCRATCH));
    cublasStatus_t error;

    if (status)
        return status;
    q->scratch = (char *)q->workspace + workspace;
    error = cublasCreate(&q->blas);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasSetStream(q->blas, q->stream); /* first: it resets the workspace */
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasSetWorkspace(q->blas, q->workspace, workspace);
    if (error == CUBLAS_STATUS_SUCCESS)
        return SC_OK;
    if (q->blas)
        cublasDestroy(q->blas);
    cudaFree(q->workspace);
    q->blas = NULL;
    q->workspace = NULL;
    return sc_cuda_blas_failed(error, "initialisation");
}

enum sc_status sc_cuda_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    struct sc_cuda_stream *q = &d->streams[stream];
    struct call c = {.device = device, .stream = stream, .k = kernel};
    enum sc_status status;

    if ((unsigned)kernel->op >= SC_OPS || (unsigned)kernel->type >= SC_TYPES || !runners[kernel->op])
        return SC_ERR_UNSUPPORTED;
    SC_CUDA_SCOPE(d);
    if (!q->blas && (status = make_handle(q)))
        return status;
    c.queue = q;
    c.blas = q->blas;
    c.alpha = scalar_of(kernel->type, kernel->alpha);
    c.beta = scalar_of(kernel->type, kernel->beta);
    sc_cuda_enqueue(d, stream);
    return runners[kernel->op](&c);
}

void sc_cuda_kernels_close(struct sc_cuda_device *d)
{
    for (int s = 0; s < SC_STREAMS; s++) {
        struct sc_cuda_stream *q = &d->streams[s];

        if (q->blas)
            cublasDestroy(q->blas);
        if (q->workspace)
            cudaFree(q->workspace);
        q->blas = NULL;
        q->workspace = NULL;
    }
}
