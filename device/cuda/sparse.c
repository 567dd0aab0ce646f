/* Sparse kernels through cuSPARSE's generic interface.
 *
 * A plan holds cuSPARSE's analysis of a matrix: descriptors, and buffers filled by the analysis.  The caller keeps the
 * plan (csr.plan) and ends it with sc_cuda_forget.  A kernel without csr.plan creates a plan and drops it. */
#include "device/cuda/kernel.h"

#include <stdlib.h>

/* A dense operand of the plan's descriptors.  Operands change from call to call: sizes are compared, addresses are
 * set. */
struct dense {
    union {
        cusparseDnVecDescr_t vector;
        cusparseDnMatDescr_t matrix;
    };
    int64_t rows, cols, ld;
    bool by_rows, made;
};

struct plan {
    cusparseSpMatDescr_t matrix;
    cusparseSpSVDescr_t sv;
    cusparseSpSMDescr_t sm;
    enum sc_op op; /* operation of the buffer */
    char trans;
    bool analysed;
    struct dense x, y;
    void *buffer;
    size_t bytes;
};

static const cudaDataType data_types[SC_TYPES] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};

static bool is_of_vectors(const struct sc_kernel *k) { return k->op == SC_OP_CSRMV || k->op == SC_OP_CSRSV; }
static bool solves(const struct sc_kernel *k) { return k->op == SC_OP_CSRSV || k->op == SC_OP_CSRSM; }

static enum sc_status result_of(const struct sc_kernel *k, cusparseStatus_t error)
{
    return error == CUSPARSE_STATUS_SUCCESS ? SC_OK : sc_cuda_sparse_failed(error, sc_op_name(k->op));
}

static cusparseOperation_t operation(const struct sc_kernel *k)
{
    if (k->transa == 'N')
        return CUSPARSE_OPERATION_NON_TRANSPOSE;
    return k->transa == 'C' && sc_type_is_complex(k->type) ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
                                                           : CUSPARSE_OPERATION_TRANSPOSE;
}

/* --- descriptors ------------------------------------------------------------------------------------------------- */

static void drop_dense(struct dense *d, bool vector)
{
    if (!d->made)
        return;
    if (vector)
        cusparseDestroyDnVec(d->vector);
    else
        cusparseDestroyDnMat(d->matrix);
    d->made = false;
}

static enum sc_status set_dense(const struct sc_kernel *k, struct dense *d, void *at, int64_t rows, int64_t ld)
{
    bool vector = is_of_vectors(k), by_rows = k->transb == 'T';
    int64_t cols = vector ? 1 : k->k;
    cusparseStatus_t error;

    if (d->made && d->rows == rows && d->cols == cols && d->ld == ld && d->by_rows == by_rows)
        return result_of(k, vector ? cusparseDnVecSetValues(d->vector, at) : cusparseDnMatSetValues(d->matrix, at));
    drop_dense(d, vector);
    if (vector)
        error = cusparseCreateDnVec(&d->vector, rows, at, data_types[k->type]);
    else
        error = cusparseCreateDnMat(&d->matrix, rows, cols, ld, at, data_types[k->type],
                                    by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    d->made = error == CUSPARSE_STATUS_SUCCESS;
    d->rows = rows;
    d->cols = cols;
    d->ld = ld;
    d->by_rows = by_rows;
    return result_of(k, error);
}

static void drop_buffer(struct plan *p, int device)
{
    struct sc_fence used;

    if (p->buffer && sc_cuda_mark_amid(device, SC_STREAM_COMPUTE, &used) == SC_OK)
        sc_cuda_free(device, p->buffer, &used, 1);
    p->buffer = NULL;
    p->bytes = 0;
}

static void drop_plan(struct plan *p, int device)
{
    bool vector = p->op == SC_OP_CSRMV || p->op == SC_OP_CSRSV;

    if (p->matrix)
        cusparseDestroySpMat(p->matrix);
    if (p->sv)
        cusparseSpSV_destroyDescr(p->sv);
    if (p->sm)
        cusparseSpSM_destroyDescr(p->sm);
    drop_dense(&p->x, vector);
    drop_dense(&p->y, vector);
    drop_buffer(p, device);
    free(p);
}

static enum sc_status set_triangle(const struct sc_kernel *k, struct plan *p)
{
    cusparseFillMode_t fill = k->uplo == 'U' ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = k->diag == 'U' ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    enum sc_status status = result_of(k, cusparseSpMatSetAttribute(p->matrix, CUSPARSE_SPMAT_FILL_MODE, &fill,
                                                                   sizeof fill));

    if (status == SC_OK)
        status = result_of(k, cusparseSpMatSetAttribute(p->matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag));
    if (status == SC_OK && k->op == SC_OP_CSRSV)
        status = result_of(k, cusparseSpSV_createDescr(&p->sv));
    if (status == SC_OK && k->op == SC_OP_CSRSM)
        status = result_of(k, cusparseSpSM_createDescr(&p->sm));
    return status;
}

static enum sc_status make_plan(const struct sc_kernel *k, struct plan **out)
{
    cusparseIndexType_t width = k->csr.index_bytes == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    struct plan *p = calloc(1, sizeof *p);
    enum sc_status status;

    *out = p;
    if (!p)
        return SC_ERR_MEMORY;
    p->op = k->op;
    p->trans = k->transa;
    status = result_of(k, cusparseCreateCsr(&p->matrix, k->m, k->n, k->csr.nonzeros, (void *)k->csr.rows,
                                            (void *)k->csr.columns, k->a, width, width,
                                            k->csr.base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO,
                                            data_types[k->type]));
    return status == SC_OK && solves(k) ? set_triangle(k, p) : status;
}

/* --- the operations ---------------------------------------------------------------------------------------------- */

static enum sc_status buffer_of(const struct sc_cuda_call *c, struct plan *p, size_t bytes)
{
    struct sc_fence ready;
    enum sc_status status;

    if (bytes <= p->bytes && p->buffer)
        return SC_OK;
    drop_buffer(p, c->device);
    status = sc_cuda_alloc(c->device, bytes ? bytes : 1, &p->buffer, &ready);
    if (status == SC_OK) {
        p->bytes = bytes ? bytes : 1;
        status = sc_cuda_wait(c->device, c->stream, ready);
    }
    return status;
}

static enum sc_status run_mv(const struct sc_cuda_call *c, struct plan *p)
{
    const struct sc_kernel *k = c->k;
    cudaDataType type = data_types[k->type];
    cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
    enum sc_status status = SC_OK;
    size_t bytes = 0;

    if (!p->analysed) {
        status = result_of(k, cusparseSpMV_bufferSize(c->sparse, operation(k), &c->alpha, p->matrix, p->x.vector,
                                                      &c->beta,
                                                      p->y.vector, type, algorithm, &bytes));
        if (status == SC_OK)
            status = buffer_of(c, p, bytes);
        if (status == SC_OK)
            status = result_of(k, cusparseSpMV_preprocess(c->sparse, operation(k), &c->alpha, p->matrix, p->x.vector,
                                                          &c->beta, p->y.vector, type, algorithm, p->buffer));
        p->analysed = status == SC_OK;
    }
    if (status != SC_OK)
        return status;
    return result_of(k, cusparseSpMV(c->sparse, operation(k), &c->alpha, p->matrix, p->x.vector, &c->beta, p->y.vector,
                                     type,
                                     algorithm, p->buffer));
}

/* The buffer size depends on the number of columns; the query in every call starts nothing. */
static enum sc_status run_mm(const struct sc_cuda_call *c, struct plan *p)
{
    const struct sc_kernel *k = c->k;
    cudaDataType type = data_types[k->type];
    size_t bytes = 0;
    enum sc_status status = result_of(k, cusparseSpMM_bufferSize(c->sparse, operation(k),
                                                                 CUSPARSE_OPERATION_NON_TRANSPOSE,
                                                             &c->alpha, p->matrix, p->x.matrix, &c->beta, p->y.matrix,
                                                                 type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));

    if (status == SC_OK)
        status = buffer_of(c, p, bytes);
    if (status != SC_OK)
        return status;
    return result_of(k, cusparseSpMM(c->sparse, operation(k), CUSPARSE_OPERATION_NON_TRANSPOSE, &c->alpha, p->matrix,
                                     p->x.matrix, &c->beta, p->y.matrix, type, CUSPARSE_SPMM_ALG_DEFAULT, p->buffer));
}

static enum sc_status run_sv(const struct sc_cuda_call *c, struct plan *p)
{
    const struct sc_kernel *k = c->k;
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    enum sc_status status = SC_OK;
    size_t bytes = 0;

    if (!p->analysed) {
        status = result_of(k, cusparseSpSV_bufferSize(c->sparse, plain, &c->alpha, p->matrix, p->x.vector, p->y.vector,
                                                      data_types[k->type], CUSPARSE_SPSV_ALG_DEFAULT, p->sv, &bytes));
        if (status == SC_OK)
            status = buffer_of(c, p, bytes);
        if (status == SC_OK)
            status = result_of(k, cusparseSpSV_analysis(c->sparse, plain, &c->alpha, p->matrix, p->x.vector,
                                                        p->y.vector,
                                                    data_types[k->type], CUSPARSE_SPSV_ALG_DEFAULT, p->sv, p->buffer));
        p->analysed = status == SC_OK;
    }
    if (status != SC_OK)
        return status;
    return result_of(k, cusparseSpSV_solve(c->sparse, plain, &c->alpha, p->matrix, p->x.vector, p->y.vector,
                                           data_types[k->type], CUSPARSE_SPSV_ALG_DEFAULT, p->sv));
}

/* The analysis holds for these dense operands only. */
static enum sc_status run_sm(const struct sc_cuda_call *c, struct plan *p)
{
    const struct sc_kernel *k = c->k;
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes = 0;
    enum sc_status status = result_of(k, cusparseSpSM_bufferSize(c->sparse, plain, plain, &c->alpha, p->matrix,
                                                                 p->x.matrix,
                                                                 p->y.matrix, data_types[k->type],
                                                                 CUSPARSE_SPSM_ALG_DEFAULT, p->sm, &bytes));

    if (status == SC_OK)
        status = buffer_of(c, p, bytes);
    if (status == SC_OK)
        status = result_of(k, cusparseSpSM_analysis(c->sparse, plain, plain, &c->alpha, p->matrix, p->x.matrix,
                                                    p->y.matrix,
                                                    data_types[k->type], CUSPARSE_SPSM_ALG_DEFAULT, p->sm, p->buffer));
    if (status != SC_OK)
        return status;
    return result_of(k, cusparseSpSM_solve(c->sparse, plain, plain, &c->alpha, p->matrix, p->x.matrix, p->y.matrix,
                                           data_types[k->type], CUSPARSE_SPSM_ALG_DEFAULT, p->sm));
}

static enum sc_status run_plan(const struct sc_cuda_call *c, struct plan *p)
{
    const struct sc_kernel *k = c->k;
    bool plain = k->transa == 'N';
    enum sc_status status = set_dense(k, &p->x, k->b, plain ? k->n : k->m, k->ldb);

    if (status == SC_OK)
        status = set_dense(k, &p->y, k->c, plain ? k->m : k->n, k->ldc);
    if (status != SC_OK)
        return status;
    switch (k->op) {
    case SC_OP_CSRMV: return run_mv(c, p);
    case SC_OP_CSRMM: return run_mm(c, p);
    case SC_OP_CSRSV: return run_sv(c, p);
    case SC_OP_CSRSM: return run_sm(c, p);
    default: return SC_ERR_UNSUPPORTED;
    }
}

static bool fits(const struct plan *p, const struct sc_kernel *k)
{
    return p->op == k->op && p->trans == k->transa;
}

bool sc_cuda_sparse_certain(int device, enum sc_stream stream, const struct sc_kernel *k)
{
    const struct plan *p = k->csr.plan ? *k->csr.plan : NULL;

    if (k->op != SC_OP_CSRMV || k->ldb != 1 || k->ldc != 1 || (double)k->csr.nonzeros > (double)k->m * (double)k->n)
        return false;
    if ((k->csr.diagonal && sc_cuda_vector_is_loaded(device, k)) || sc_cuda_rows_is_loaded(device, k))
        return true;
    return sc_cuda_device(device)->streams[stream].sparse && p && fits(p, k) && p->analysed;
}

/* Scales the output by beta. */
static enum sc_status scale(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    int64_t outputs = k->transa == 'N' ? k->m : k->n;

    if (is_of_vectors(k))
        return sc_cuda_scale(c, 1, outputs, k->c, k->ldc);
    return k->transb == 'T' ? sc_cuda_scale(c, k->k, outputs, k->c, k->ldc) : sc_cuda_scale(c, outputs, k->k, k->c,
                                                                                            k->ldc);
}

enum sc_status sc_cuda_sparse_handle(struct sc_cuda_stream *queue, cusparseHandle_t *handle)
{
    cusparseStatus_t error = CUSPARSE_STATUS_SUCCESS;

    if (!queue->sparse) {
        error = cusparseCreate(&queue->sparse);
        if (error == CUSPARSE_STATUS_SUCCESS)
            error = cusparseSetStream(queue->sparse, queue->stream);
    }
    *handle = queue->sparse;
    return error == CUSPARSE_STATUS_SUCCESS ? SC_OK : sc_cuda_sparse_failed(error, "initialisation");
}

enum sc_status sc_cuda_sparse(struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    enum sc_status status = SC_OK;
    struct plan *p;

    if (is_of_vectors(k) && (k->ldb != 1 || k->ldc != 1))
        return SC_ERR_UNSUPPORTED;
    if (solves(k) && k->transa != 'N')
        return SC_ERR_UNSUPPORTED;
    if ((double)k->csr.nonzeros > (double)k->m * (double)k->n) /* several entries at one position: refused */
        return SC_ERR_UNSUPPORTED;
    if (!solves(k) && (!k->csr.nonzeros || sc_cuda_scalar_is(k, k->alpha, 0)))
        return scale(c);
    if (k->op == SC_OP_CSRMV) {
        status = k->csr.diagonal ? sc_cuda_diagonal(c) : SC_ERR_UNSUPPORTED;
        if (status == SC_ERR_UNSUPPORTED)
            status = sc_cuda_rows(c);
        if (status != SC_ERR_UNSUPPORTED) /* the plan of a queued product may be gone: it is not looked at */
            return status;
    }
    if (k->op == SC_OP_CSRMM) {
        status = sc_cuda_rows_columns(c);
        if (status != SC_ERR_UNSUPPORTED)
            return status;
    }
    p = k->csr.plan ? *k->csr.plan : NULL;
    if (p && !fits(p, k)) {
        drop_plan(p, c->device);
        p = *k->csr.plan = NULL;
    }
    status = sc_cuda_sparse_handle(c->queue, &c->sparse);
    if (status == SC_OK && !p)
        status = make_plan(k, &p);
    if (status == SC_OK)
        status = run_plan(c, p);
    if (status == SC_OK && k->csr.plan)
        *k->csr.plan = p;
    else if (p)
        drop_plan(p, c->device);
    if (status != SC_OK && k->csr.plan)
        *k->csr.plan = NULL;
    return status;
}

/* Descriptors may be destroyed while kernels that use them are queued; the buffer is freed after these kernels. */
void sc_cuda_forget(int device, void *plan)
{
    SC_CUDA_SCOPE(sc_cuda_device(device));
    drop_plan(plan, device);
}
/* SPDX-License-Identifier: BSD-2-Clause */
