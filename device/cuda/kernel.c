/* BLAS kernels through cuBLAS's 64-bit interface: level 3, and the launch of all levels. */
#include "device/cuda/kernel.h"

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

typedef cublasStatus_t batch_fn(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t m, int64_t n, int64_t k,
                                const void *alpha, const void *a, int64_t, long long, const void *b, int64_t, long long,
                                const void *beta, void *c, int64_t, long long, int64_t count);

typedef cublasStatus_t listed_fn(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t m, int64_t n, int64_t k,
                                 const void *alpha, const void *const *a, int64_t, const void *const *b, int64_t,
                                 const void *beta, void *const *c, int64_t, int64_t count);

static listed_fn *const listed[] = {(listed_fn *)cublasSgemmBatched_64, (listed_fn *)cublasDgemmBatched_64,
                                    (listed_fn *)cublasCgemmBatched_64, (listed_fn *)cublasZgemmBatched_64};
static batch_fn *const batch[] = {
    (batch_fn *)cublasSgemmStridedBatched_64, (batch_fn *)cublasDgemmStridedBatched_64,
    (batch_fn *)cublasCgemmStridedBatched_64, (batch_fn *)cublasZgemmStridedBatched_64};
static gemm_fn *const gemm[] = SC_CUDA_FOUR(gemm_fn, Sgemm, Dgemm, Cgemm, Zgemm);
static symm_fn *const symm[] = SC_CUDA_FOUR(symm_fn, Ssymm, Dsymm, Csymm, Zsymm);
static symm_fn *const hemm[] = SC_CUDA_FOUR(symm_fn, Ssymm, Dsymm, Chemm, Zhemm);
static syrk_fn *const syrk[] = SC_CUDA_FOUR(syrk_fn, Ssyrk, Dsyrk, Csyrk, Zsyrk);
static syrk_fn *const herk[] = SC_CUDA_FOUR(syrk_fn, Ssyrk, Dsyrk, Cherk, Zherk);
static syr2k_fn *const syr2k[] = SC_CUDA_FOUR(syr2k_fn, Ssyr2k, Dsyr2k, Csyr2k, Zsyr2k);
static syr2k_fn *const her2k[] = SC_CUDA_FOUR(syr2k_fn, Ssyr2k, Dsyr2k, Cher2k, Zher2k);
static pack_fn *const pack[] = {(pack_fn *)cublasStrttp, (pack_fn *)cublasDtrttp, (pack_fn *)cublasCtrttp,
                                (pack_fn *)cublasZtrttp};
static unpack_fn *const unpack[] = {(unpack_fn *)cublasStpttr, (unpack_fn *)cublasDtpttr, (unpack_fn *)cublasCtpttr,
                                    (unpack_fn *)cublasZtpttr};
static trmm_fn *const trmm[] = SC_CUDA_FOUR(trmm_fn, Strmm, Dtrmm, Ctrmm, Ztrmm);
static trsm_fn *const trsm[] = SC_CUDA_FOUR(trsm_fn, Strsm, Dtrsm, Ctrsm, Ztrsm);

#define GEMMT_WIDTH 512 /* columns per step of gemmt; a diagonal block fits into the scratch memory */
#define TRSM_HALVES 33 /* least order of a trsm that cuBLAS does not solve */
#define TRMM_APART 128 /* least order and number of columns of a trmm from a copy */
#define TRMM_COPY  ((size_t)64 << 20) /* most bytes of the copy */
_Static_assert(GEMMT_WIDTH * GEMMT_WIDTH * 16 * 3 / 2 + GEMMT_WIDTH * 8 <= SC_CUDA_SCRATCH,
               "a block, and its triangle packed");

enum sc_status sc_cuda_scale(const struct sc_cuda_call *c, int64_t m, int64_t n, void *matrix, int64_t ld)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);

    if (sc_cuda_scalar_is(k, k->beta, 1))
        return SC_OK;
    if (sc_cuda_scalar_is(k, k->beta, 0))
        return sc_cuda_fill(c->device, c->stream, matrix, (size_t)ld * bytes, 0, (size_t)m * bytes, (size_t)n);
    return sc_cuda_result_of(c, gemm[k->type](c->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, 0, &c->alpha, matrix, ld, matrix,
                                              ld, &c->beta, matrix, ld));
}

enum sc_status sc_cuda_product(const struct sc_cuda_call *c, const struct sc_cuda_product *p)
{
    return sc_cuda_result_of(c, gemm[c->k->type](c->blas, p->transa, p->transb, p->m, p->n, p->k, p->alpha, p->a,
                                                 p->lda, p->b, p->ldb, p->beta, p->c, p->ldc));
}

static enum sc_status run_batch(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    const struct sc_batch *b = &k->batch;

    return sc_cuda_result_of(c, batch[k->type](c->blas, sc_cuda_operation(k, k->transa),
                                               sc_cuda_operation(k, k->transb), k->m, k->n / b->count, k->k, &c->alpha,
                                               k->a, k->lda, sc_batch_stride(b->a, k->lda), k->b, k->ldb,
                                               sc_batch_stride(b->b, k->ldb), &c->beta, k->c, k->ldc,
                                               sc_batch_stride(b->c, k->ldc), b->count));
}

/* Products first ... end - 1 of a batch, of one shape.  pointers: three arrays in device memory, for A, B and C. */
static enum sc_status run_shape(const struct sc_cuda_call *c, int64_t first, int64_t end, void **pointers)
{
    const struct sc_kernel one = sc_kernel_of_batch(c->k, first);
    const union sc_cuda_scalar alpha = sc_cuda_scalar_of(one.type, one.alpha);
    const union sc_cuda_scalar beta = sc_cuda_scalar_of(one.type, one.beta);
    const cublasOperation_t transa = sc_cuda_operation(&one, one.transa), transb = sc_cuda_operation(&one, one.transb);
    const int64_t count = c->k->batch.count;

    if (end - first == 1)
        return sc_cuda_result_of(c, gemm[one.type](c->blas, transa, transb, one.m, one.n, one.k, &alpha, one.a,
                                                   one.lda, one.b, one.ldb, &beta, one.c, one.ldc));
    return sc_cuda_result_of(c, listed[one.type](c->blas, transa, transb, one.m, one.n, one.k, &alpha,
                                                 (const void *const *)pointers + first, one.lda,
                                                 (const void *const *)pointers + count + first, one.ldb, &beta,
                                                 pointers + 2 * count + first, one.ldc, end - first));
}

/* The pointers of all products lie in the scratch memory, which the kernels use in the order of the stream.  A copy of
 * memory that is not pinned returns when the memory may be reused. */
static enum sc_status run_items(const struct sc_cuda_call *c)
{
    const struct sc_batch_items *items = c->k->batch.items;
    const int64_t count = items->count;
    const size_t bytes = 3 * (size_t)count * sizeof(void *);
    void **pointers = bytes <= SC_CUDA_SCRATCH ? malloc(bytes) : NULL;
    enum sc_status status;

    if (!pointers)
        return SC_ERR_UNSUPPORTED;
    for (int64_t i = 0; i < count; i++) {
        const struct sc_kernel one = sc_kernel_of_batch(c->k, i);

        pointers[i] = one.a;
        pointers[count + i] = one.b;
        pointers[2 * count + i] = one.c;
    }
    status = SC_CUDA(cudaMemcpyAsync(c->queue->scratch, pointers, bytes, cudaMemcpyHostToDevice, c->queue->stream));
    free(pointers);
    for (int64_t first = 0, end; first < count && status == SC_OK; first = end) {
        for (end = first + 1; end < count && sc_batch_same_shape(&items->item[first], &items->item[end]); end++)
            ;
        status = run_shape(c, first, end, c->queue->scratch);
    }
    return status;
}

static enum sc_status run_gemm(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    enum sc_status status;

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (k->batch.items)
        return run_items(c);
    if (k->batch.count)
        return run_batch(c);
    if (k->k <= 0 || sc_cuda_scalar_is(k, k->alpha, 0))
        return sc_cuda_scale(c, k->m, k->n, k->c, k->ldc);
    status = sc_cuda_thin(c);
    if (status != SC_ERR_UNSUPPORTED)
        return status;
    return sc_cuda_result_of(c, gemm[k->type](c->blas, sc_cuda_operation(k, k->transa), sc_cuda_operation(k, k->transb),
                                              k->m, k->n, k->k, &c->alpha, k->a, k->lda, k->b, k->ldb, &c->beta, k->c,
                                              k->ldc));
}

static enum sc_status run_symm(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (sc_cuda_scalar_is(k, k->alpha, 0))
        return sc_cuda_scale(c, k->m, k->n, k->c, k->ldc);
    return sc_cuda_result_of(c, (k->op == SC_OP_SYMM ? symm : hemm)[k->type](c->blas, sc_cuda_side_mode(k),
                                                                             sc_cuda_fill_mode(k), k->m, k->n,
                                                                             &c->alpha, k->a, k->lda, k->b, k->ldb,
                                                                             &c->beta, k->c, k->ldc));
}

/* C := beta C for a triangle, by syrk or herk with k = 0.  A is not read. */
static enum sc_status scale_triangle(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    bool hermitian = k->op == SC_OP_HERK || k->op == SC_OP_HER2K;

    if (sc_cuda_scalar_is(k, k->beta, 1))
        return SC_OK;
    return sc_cuda_result_of(c, (hermitian ? herk : syrk)[k->type](c->blas, sc_cuda_fill_mode(k), CUBLAS_OP_N, k->n, 0,
                                                                   &c->alpha, k->c, k->ldc, &c->beta, k->c, k->ldc));
}

static bool adds(const struct sc_kernel *k)
{
    return k->k > 0 && !sc_cuda_scalar_is(k, k->alpha, 0);
}

static enum sc_status run_syrk(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0)
        return SC_OK;
    if (!adds(k))
        return scale_triangle(c);
    return sc_cuda_result_of(c, (k->op == SC_OP_SYRK ? syrk : herk)[k->type](c->blas, sc_cuda_fill_mode(k),
                                                                             sc_cuda_operation(k, k->transa), k->n,
                                                                             k->k, &c->alpha, k->a, k->lda, &c->beta,
                                                                             k->c, k->ldc));
}

static enum sc_status run_syr2k(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0)
        return SC_OK;
    if (!adds(k))
        return scale_triangle(c);
    return sc_cuda_result_of(c, (k->op == SC_OP_SYR2K ? syr2k : her2k)[k->type](c->blas, sc_cuda_fill_mode(k),
                                                                                sc_cuda_operation(k, k->transa), k->n,
                                                                                k->k, &c->alpha, k->a, k->lda, k->b,
                                                                                k->ldb, &c->beta, k->c, k->ldc));
}

/* Block (i, j) of gemmt's product, size m x n, plus beta C, stored at `to`. */
static enum sc_status gemmt_block(const struct sc_cuda_call *c, int64_t i, int64_t m, int64_t j, int64_t n, void *to,
                                  int64_t ld)
{
    const struct sc_kernel *k = c->k;
    int64_t bytes = (int64_t)sc_type_bytes(k->type);
    const char *a = (const char *)k->a + i * bytes * (k->transa == 'N' ? 1 : k->lda);
    const char *b = (const char *)k->b + j * bytes * (k->transb == 'N' ? k->ldb : 1);

    if (m <= 0)
        return SC_OK;
    return sc_cuda_result_of(c, gemm[k->type](c->blas, sc_cuda_operation(k, k->transa), sc_cuda_operation(k, k->transb),
                                              m, n, k->k, &c->alpha, a, k->lda, b, k->ldb, &c->beta, to, ld));
}

enum sc_status sc_cuda_pack(const struct sc_cuda_call *c, int64_t n, const void *matrix, int64_t ld, void *packed)
{
    return sc_cuda_result_of(c, pack[c->k->type](c->blas, sc_cuda_fill_mode(c->k), (int)n, matrix, (int)ld, packed));
}

enum sc_status sc_cuda_unpack(const struct sc_cuda_call *c, int64_t n, const void *packed, void *matrix, int64_t ld)
{
    return sc_cuda_result_of(c, unpack[c->k->type](c->blas, sc_cuda_fill_mode(c->k), (int)n, packed, matrix, (int)ld));
}

/* cuBLAS has no gemmt.  A diagonal block is computed as a full square in scratch memory, packed, and unpacked into C:
 * only the named triangle of C is written.  (syrkx supports only two of the nine transpositions, herkx only real
 * diagonals.) */
static enum sc_status gemmt_diagonal(const struct sc_cuda_call *c, int64_t i, int64_t n)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type), square = (size_t)n * (size_t)n * bytes;
    char *full = c->queue->scratch, *packed = full + square, *to = (char *)k->c + (size_t)(i + i * k->ldc) * bytes;
    struct sc_copy2d in = {.dst = full, .src = to, .dst_pitch = (size_t)n * bytes, .src_pitch = (size_t)k->ldc * bytes,
                           .width = (size_t)n * bytes, .height = (size_t)n, .dst_device = c->device,
                           .src_device = c->device};
    enum sc_status status = sc_cuda_scalar_is(k, k->beta, 0) ? SC_OK : sc_cuda_copy(c->device, c->stream, &in);

    if (status == SC_OK)
        status = gemmt_block(c, i, n, i, n, full, n);
    if (status == SC_OK)
        status = sc_cuda_pack(c, n, full, n, packed);
    if (status == SC_OK)
        status = sc_cuda_unpack(c, n, packed, to, k->ldc);
    return status;
}

static enum sc_status run_gemmt(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);
    bool upper = k->uplo == 'U';
    enum sc_status status = SC_OK;

    if (k->n <= 0)
        return SC_OK;
    if (!adds(k))
        return scale_triangle(c);
    if (k->ldc > INT32_MAX) /* the packing routines have 32-bit sizes only */
        return SC_ERR_UNSUPPORTED;
    for (int64_t j = 0; j < k->n && status == SC_OK; j += GEMMT_WIDTH) {
        int64_t n = k->n - j < GEMMT_WIDTH ? k->n - j : GEMMT_WIDTH, i = upper ? 0 : j + n;

        status = gemmt_block(c, i, upper ? j : k->n - i, j, n, (char *)k->c + (size_t)(i + j * k->ldc) * bytes, k->ldc);
        if (status == SC_OK)
            status = gemmt_diagonal(c, j, n);
    }
    return status;
}

/* Columns (from the left) or rows of B from `first` on, by trmm: from memory of their own to B.  The order of B is
 * unchanged. */
static enum sc_status trmm_part(const struct sc_cuda_call *c, int64_t first, int64_t count, void *copy)
{
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);
    bool left = k->side == 'L';
    int64_t m = left ? k->m : count, n = left ? count : k->n;
    char *b = (char *)k->b + (size_t)(left ? first * k->ldb : first) * bytes;
    struct sc_copy2d in = {.dst = copy, .src = b, .dst_pitch = (size_t)m * bytes, .src_pitch = (size_t)k->ldb * bytes,
                           .width = (size_t)m * bytes, .height = (size_t)n, .dst_device = c->device,
                           .src_device = c->device};
    enum sc_status status = sc_cuda_copy(c->device, c->stream, &in);

    if (status != SC_OK)
        return status;
    return sc_cuda_result_of(c, trmm[k->type](c->blas, sc_cuda_side_mode(k), sc_cuda_fill_mode(k),
                                              sc_cuda_operation(k, k->transa), sc_cuda_diag_type(k), m, n, &c->alpha,
                                              k->a, k->lda, copy, m, b, k->ldb));
}

/* In place a GPU takes 2 to 5 times as long as from a copy of B (H200, doubles, order 2048: 1024 columns 0.58 and
 * 0.12 ms, 4096 columns 0.87 and 0.34).  False: a small B, or no memory for the copy. */
static bool trmm_apart(const struct sc_cuda_call *c, enum sc_status *status)
{
    const struct sc_kernel *k = c->k;
    bool left = k->side == 'L';
    int64_t order = left ? k->m : k->n, across = left ? k->n : k->m;
    size_t each = (size_t)order * sc_type_bytes(k->type);
    int64_t most = (int64_t)(TRMM_COPY / each), part = across < most ? across : most;
    void *copy;

    if (c->stream != SC_STREAM_COMPUTE || order < TRMM_APART || across < TRMM_APART || part < TRMM_APART)
        return false;
    if (sc_cuda_work_alloc(c->device, (size_t)part * each, &copy) != SC_OK)
        return false;
    *status = SC_OK;
    for (int64_t at = 0; at < across && *status == SC_OK; at += part) {
        *status = trmm_part(c, at, across - at < part ? across - at : part, copy);
        if (*status != SC_OK && at > 0) /* a second try would multiply the first parts again */
            *status = SC_ERR_DEVICE;
    }
    sc_cuda_work_free(c->device, &copy, 1);
    return true;
}

/* TRMM and TRSM. */
static enum sc_status run_triangular(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    cublasSideMode_t side = sc_cuda_side_mode(k);
    cublasFillMode_t fill = sc_cuda_fill_mode(k);
    cublasOperation_t trans = sc_cuda_operation(k, k->transa);
    cublasDiagType_t diag = sc_cuda_diag_type(k);
    size_t bytes = sc_type_bytes(k->type);
    enum sc_status status;

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (k->op == SC_OP_TRMM && !sc_cuda_scalar_is(k, k->alpha, 0) && trmm_apart(c, &status))
        return status;
    if (sc_cuda_scalar_is(k, k->alpha, 0))
        return sc_cuda_fill(c->device, c->stream, k->b, (size_t)k->ldb * bytes, 0, (size_t)k->m * bytes, (size_t)k->n);
    if (k->op == SC_OP_TRSM && (k->side == 'L' ? k->m : k->n) >= TRSM_HALVES &&
        (status = sc_cuda_triangle(c)) != SC_ERR_UNSUPPORTED)
        return status;
    if (k->op == SC_OP_TRMM)
        return sc_cuda_result_of(c, trmm[k->type](c->blas, side, fill, trans, diag, k->m, k->n, &c->alpha, k->a, k->lda,
                                                  k->b, k->ldb, k->b, k->ldb));
    return sc_cuda_result_of(c, trsm[k->type](c->blas, side, fill, trans, diag, k->m, k->n, &c->alpha, k->a, k->lda,
                                              k->b, k->ldb));
}

static enum sc_status level3(const struct sc_cuda_call *c)
{
    switch (c->k->op) {
    case SC_OP_GEMM: return run_gemm(c);
    case SC_OP_SYMM: case SC_OP_HEMM: return run_symm(c);
    case SC_OP_SYRK: case SC_OP_HERK: return run_syrk(c);
    case SC_OP_SYR2K: case SC_OP_HER2K: return run_syr2k(c);
    case SC_OP_GEMMT: return run_gemmt(c);
    case SC_OP_TRMM: case SC_OP_TRSM: return run_triangular(c);
    default: return SC_ERR_UNSUPPORTED;
    }
}

/* A handle for every stream with kernels, with its own workspace: cuBLAS allocates nothing during calls, and its
 * results depend only on the operands. */
static enum sc_status make_handle(struct sc_cuda_stream *q)
{
    const size_t workspace = (size_t)32 << 20; /* size recommended by cuBLAS for recent devices */
    enum sc_status status = SC_CUDA(cudaMalloc(&q->workspace, workspace + SC_CUDA_SCRATCH));
    cublasStatus_t error;

    if (status)
        return status;
    q->scratch = (char *)q->workspace + workspace;
    error = cublasCreate(&q->blas);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasSetStream(q->blas, q->stream); /* must come before the workspace, because cublasSetStream resets
                                                      * the workspace */
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

enum sc_status sc_cuda_kernels_open(struct sc_cuda_device *d) { return make_handle(&d->streams[SC_STREAM_COMPUTE]); }

enum sc_status sc_cuda_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    struct sc_cuda_stream *q = &d->streams[stream];
    struct sc_kernel rows;
    struct sc_cuda_call c = {.device = device, .stream = stream};
    enum sc_status status;

    if (!sc_op_has_type(kernel->op, kernel->type) || (kernel->conj && !sc_kernel_rows(kernel, &rows)))
        return SC_ERR_UNSUPPORTED;
    c.k = kernel = kernel->conj ? &rows : kernel;
    SC_CUDA_SCOPE(d);
    if (!q->blas && (status = make_handle(q)))
        return status;
    c.queue = q;
    c.blas = q->blas;
    c.alpha = sc_cuda_scalar_of(kernel->type, kernel->alpha);
    c.beta = sc_cuda_scalar_of(kernel->type, kernel->beta);
    sc_cuda_enqueue(d, stream);
    if (sc_op_is_sparse(kernel->op))
        return sc_cuda_sparse(&c);
    switch (sc_op_level(kernel->op)) {
    case 1: return sc_cuda_level1(&c);
    case 2: return sc_cuda_level2(&c);
#ifdef SC_CUDA_SOLVER
    case 4: return sc_cuda_lapack(&c);
#else
    case 4: return SC_ERR_UNSUPPORTED;
#endif
    default: return level3(&c);
    }
}

/* After a failure the operands are as before, or the device is given up (SC_ERR_DEVICE): the submission thread may try
 * again.  No increment of zero.  The handle of the stream exists. */
bool sc_cuda_certain(int device, enum sc_stream stream, const struct sc_kernel *k)
{
    if (!sc_cuda_device(device)->streams[stream].blas || !sc_op_has_type(k->op, k->type) || k->conj)
        return false;
    switch (k->op) {
    case SC_OP_GEMM:
    case SC_OP_SYMM: case SC_OP_HEMM: case SC_OP_SYRK: case SC_OP_HERK: case SC_OP_SYR2K: case SC_OP_HER2K:
    case SC_OP_TRMM: case SC_OP_TRSM:
    case SC_OP_SCAL:
        return true;
    case SC_OP_GEMV: case SC_OP_SYMV: case SC_OP_HEMV:
        return k->ldb && k->ldc;
    case SC_OP_GER: case SC_OP_GERC: case SC_OP_AXPY: case SC_OP_COPY: case SC_OP_SWAP: case SC_OP_DOT: case SC_OP_DOTC:
        return k->lda && k->ldb;
    case SC_OP_NRM2: case SC_OP_ASUM: case SC_OP_IAMAX: case SC_OP_IAMIN:
        return k->lda;
    case SC_OP_AXPBY:
        return sc_cuda_vector_is_loaded(device, k);
    case SC_OP_CSRMV:
        return sc_cuda_sparse_certain(device, stream, k);
    default:
        return false;
    }
}

/* An error of the program's that was pending before the call is none of the function's. */
enum sc_status sc_cuda_call(int device, enum sc_stream stream, const struct sc_device_call *call)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    cudaError_t before, after;

    SC_CUDA_SCOPE(d);
    sc_cuda_enqueue(d, stream);
    before = cudaPeekAtLastError();
    call->run(device, d->streams[stream].stream, call->record);
    after = cudaPeekAtLastError();
    if (before != cudaSuccess || after == cudaSuccess)
        return SC_OK;
    sc_cuda_host->log(SC_LOG_ERROR, "device %d: the function of a task enqueued a kernel that failed: %s", device,
                      cudaGetErrorName(after));
    return SC_ERR_INVALID;
}

void sc_cuda_kernels_close(struct sc_cuda_device *d)
{
    for (int s = 0; s < SC_STREAMS; s++) {
        struct sc_cuda_stream *q = &d->streams[s];

#ifdef SC_CUDA_SOLVER
        sc_cuda_solver_close(q);
#endif
        if (q->sparse)
            cusparseDestroy(q->sparse);
        q->sparse = NULL;
        if (q->blas)
            cublasDestroy(q->blas);
        if (q->workspace)
            cudaFree(q->workspace);
        q->blas = NULL;
        q->workspace = NULL;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
