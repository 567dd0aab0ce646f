/* cuSPARSE's generic products and solves, on top of sparse/.  The descriptors are CUDA's own (or emulated) and are
 * queried at every call.  sc_sparse_find finds the matrix again by its arrays. */
#include "cuda-um/um.h"

/* --- contents of the descriptors ---------------------------------------------------------------------------------- */

/* A dense operand; a vector is a matrix with a single column. */
struct dense {
    const void *values;
    int64_t rows, cols, ld;
    bool by_rows;
};

struct operation {
    struct sc_sparse_arrays a;
    struct sc_sparse_descr descr;
    struct dense b, c;
    char trans;
    double alpha[2], beta[2];
    bool is_batch;
};

static int type_of(cudaDataType type)
{
    switch (type) {
    case CUDA_R_32F: return SC_S;
    case CUDA_R_64F: return SC_D;
    case CUDA_C_32F: return SC_C;
    case CUDA_C_64F: return SC_Z;
    default: return SC_TYPES;
    }
}

static int index_bytes(cusparseIndexType_t type)
{
    return type == CUSPARSE_INDEX_32I ? 4 : type == CUSPARSE_INDEX_64I ? 8 : 0;
}

/* False: semcache does not support the format. */
static bool read_matrix(cusparseConstSpMatDescr_t m, struct sc_sparse_arrays *a)
{
    cusparseIndexType_t start = CUSPARSE_INDEX_32I, index = CUSPARSE_INDEX_32I;
    cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
    cusparseFormat_t format;
    cudaDataType type;
    int batches = 1;

    *a = (struct sc_sparse_arrays){.format = SC_SPARSE_CSR};
    if (SC_UM_BEHIND(cusparseSpMatGetFormat)(m, &format) != CUSPARSE_STATUS_SUCCESS)
        return false;
    switch (format) {
    case CUSPARSE_FORMAT_CSR:
        SC_UM_BEHIND(cusparseConstCsrGet)(m, &a->rows, &a->cols, &a->count, &a->start, &a->index, &a->values, &start,
                                          &index, &base, &type);
        break;
    case CUSPARSE_FORMAT_CSC:
        a->format = SC_SPARSE_CSC;
        SC_UM_BEHIND(cusparseConstCscGet)(m, &a->rows, &a->cols, &a->count, &a->start, &a->index, &a->values, &start,
                                          &index, &base, &type);
        break;
    case CUSPARSE_FORMAT_COO:
        a->format = SC_SPARSE_COO;
        SC_UM_BEHIND(cusparseConstCooGet)(m, &a->rows, &a->cols, &a->count, &a->start, &a->index, &a->values, &index,
                                          &base, &type);
        start = index;
        break;
    default: return false;
    }
    SC_UM_BEHIND(cusparseSpMatGetStridedBatch)(m, &batches);
    a->type = (enum sc_type)type_of(type);
    a->index_bytes = index_bytes(index);
    a->base = base == CUSPARSE_INDEX_BASE_ONE;
    return a->type != SC_TYPES && a->index_bytes && start == index && batches <= 1;
}

static bool read_vector(cusparseConstDnVecDescr_t v, enum sc_type type, struct dense *out)
{
    cudaDataType held;

    *out = (struct dense){.cols = 1};
    if (SC_UM_BEHIND(cusparseConstDnVecGet)(v, &out->rows, &out->values, &held) != CUSPARSE_STATUS_SUCCESS)
        return false;
    out->ld = out->rows > 0 ? out->rows : 1;
    return type_of(held) == (int)type;
}

static bool read_dense(cusparseConstDnMatDescr_t m, enum sc_type type, struct dense *out)
{
    cusparseOrder_t order;
    cudaDataType held;
    int64_t stride;
    int batches = 1;

    *out = (struct dense){.cols = 0};
    if (SC_UM_BEHIND(cusparseConstDnMatGet)(m, &out->rows, &out->cols, &out->ld, &out->values, &held, &order) !=
        CUSPARSE_STATUS_SUCCESS)
        return false;
    SC_UM_BEHIND(cusparseDnMatGetStridedBatch)(m, &batches, &stride);
    out->by_rows = order == CUSPARSE_ORDER_ROW;
    return type_of(held) == (int)type && batches <= 1;
}

/* Replaces B by op(B); false for a conjugate, which B cannot represent. */
static bool apply(cusparseOperation_t op, enum sc_type type, struct dense *b)
{
    int64_t rows = b->rows;

    if (op == CUSPARSE_OPERATION_NON_TRANSPOSE)
        return true;
    b->rows = b->cols;
    b->cols = rows;
    b->by_rows = !b->by_rows;
    return op == CUSPARSE_OPERATION_TRANSPOSE || !sc_type_is_complex(type);
}

/* --- routing and scalars ------------------------------------------------------------------------------------------ */

enum answer { THEIRS, OURS, WRONG, REFUSED /* not supported by cuSPARSE, which would also print to stderr */ };

static enum answer read_triangle(struct operation *o, cusparseConstSpMatDescr_t m)
{
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = CUSPARSE_DIAG_TYPE_NON_UNIT;

    SC_UM_BEHIND(cusparseSpMatGetAttribute)(m, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill);
    SC_UM_BEHIND(cusparseSpMatGetAttribute)(m, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag);
    o->descr = (struct sc_sparse_descr){.kind = SC_SPARSE_TRIANGULAR,
                                        .uplo = fill == CUSPARSE_FILL_MODE_UPPER ? 'U' : 'L',
                                        .diag = diag == CUSPARSE_DIAG_TYPE_UNIT ? 'U' : 'N'};
    return o->a.rows == o->a.cols ? OURS : WRONG;
}

static void read_scalar(double out[2], const void *at, enum sc_type type, bool on_device, cudaStream_t stream)
{
    union {
        float s[2];
        double d[2];
    } value = {.d = {0, 0}};
    bool single = type == SC_S || type == SC_C;

    if (on_device && sc_um_is_device_only(at))
        sc_um_copy(&value, at, sc_type_bytes(type), stream);
    else
        __builtin_memcpy(&value, at, sc_type_bytes(type));
    out[0] = single ? (double)value.s[0] : value.d[0];
    out[1] = !sc_type_is_complex(type) ? 0 : single ? (double)value.s[1] : value.d[1];
}

static bool fits(const struct operation *o)
{
    bool plain = o->trans == 'N';

    return o->b.rows == (plain ? o->a.cols : o->a.rows) && o->c.rows == (plain ? o->a.rows : o->a.cols) &&
           o->b.cols == o->c.cols;
}

/* Decides who serves the call.  `served`: semcache supports the operands.  beta NULL: a solve, or a call that prepares
 * a product. */
static enum answer decide(struct operation *o, cusparseHandle_t handle, cusparseOperation_t op, bool served,
                           cudaDataType compute, const void *alpha, const void *beta)
{
    const void *const memory[] = {o->a.start, o->a.index, o->a.values, o->b.values, o->c.values};
    const void *const scalars[] = {alpha, beta};
    cusparsePointerMode_t mode = CUSPARSE_POINTER_MODE_HOST;
    cudaStream_t stream = NULL;
    bool on_device;

    if (!handle || !alpha)
        return sc_um_way() == SC_UM_EMULATED ? WRONG : THEIRS;
    SC_UM_BEHIND(cusparseGetPointerMode)(handle, &mode);
    SC_UM_BEHIND(cusparseGetStream)(handle, &stream);
    on_device = mode == CUSPARSE_POINTER_MODE_DEVICE;
    if (!served || type_of(compute) != (int)o->a.type) {
        if (sc_um_way() == SC_UM_MAPPED)
            sc_um_home(&stream);
        return THEIRS;
    }
    if (!sc_um_takes(stream, memory, 5, on_device, scalars, 2, beta != NULL, false))
        return THEIRS;
    if ((unsigned)op > CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
        return WRONG;
    o->trans = "NTC"[op];
    if (o->trans == 'C' && !sc_type_is_complex(o->a.type))
        return REFUSED;
    read_scalar(o->alpha, alpha, o->a.type, on_device, stream);
    if (beta)
        read_scalar(o->beta, beta, o->a.type, on_device, stream);
    return fits(o) ? OURS : WRONG;
}

static cusparseStatus_t status_of(enum sc_status status)
{
    switch (status) {
    case SC_OK: return CUSPARSE_STATUS_SUCCESS;
    case SC_ERR_MEMORY: return CUSPARSE_STATUS_ALLOC_FAILED;
    case SC_ERR_INVALID: return CUSPARSE_STATUS_INVALID_VALUE;
    case SC_ERR_UNSUPPORTED:
    case SC_ERR_CONFLICT: return CUSPARSE_STATUS_NOT_SUPPORTED;
    default: return CUSPARSE_STATUS_EXECUTION_FAILED;
    }
}

static enum answer for_vectors(struct operation *o, const void *caller, cusparseHandle_t handle, cusparseOperation_t op,
                               const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                               const void *beta, cusparseConstDnVecDescr_t y, cudaDataType compute)
{
    bool served;

    *o = (struct operation){.descr = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'}};
    if (sc_um_passes(caller))
        return THEIRS;
    served = read_matrix(a, &o->a);
    served = read_vector(x, o->a.type, &o->b) && served;
    served = read_vector(y, o->a.type, &o->c) && served;
    return decide(o, handle, op, served, compute, alpha, beta);
}

static enum answer for_matrices(struct operation *o, const void *caller, cusparseHandle_t handle,
                                cusparseOperation_t op, cusparseOperation_t op_b, const void *alpha,
                                cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta,
                                cusparseConstDnMatDescr_t c, cudaDataType compute)
{
    bool served;

    *o = (struct operation){.descr = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'}};
    if (sc_um_passes(caller))
        return THEIRS;
    served = read_matrix(a, &o->a);
    served = read_dense(b, o->a.type, &o->b) && served;
    served = read_dense(c, o->a.type, &o->c) && served;
    served = apply(op_b, o->a.type, &o->b) && served;
    return decide(o, handle, op, served, compute, alpha, beta);
}

/* --- the calls ---------------------------------------------------------------------------------------------------- */

typedef enum sc_status on_matrix(struct sc_sparse_matrix *m, struct operation *o);

static cusparseStatus_t run(struct operation *o, on_matrix *call)
{
    struct sc_sparse_matrix *m;
    enum sc_status status;

    if (o->a.format != SC_SPARSE_COO)
        o->a.count = 0;
    status = sc_um_inner->sparse_find(&m, &o->a);
    if (status != SC_OK)
        return status_of(status);
    status = call(m, o);
    sc_um_inner->sparse_destroy(m);
    return status_of(status);
}

/* Column j of a dense operand; step() is the distance of its elements. */
static void *column(const struct dense *d, int64_t j, enum sc_type type)
{
    return (char *)d->values + (size_t)(d->by_rows ? j : j * d->ld) * sc_type_bytes(type);
}
static int64_t step(const struct dense *d) { return d->by_rows ? d->ld : 1; }

static enum sc_status multiply(struct sc_sparse_matrix *m, struct operation *o)
{
    enum sc_status status = SC_OK;

    if (o->b.by_rows == o->c.by_rows && (o->c.cols > 1 || o->b.by_rows))
        return sc_um_inner->sparse_mm(m, o->trans, &o->descr, o->c.by_rows, o->c.cols, o->alpha, o->b.values, o->b.ld,
                                      o->beta, (void *)o->c.values, o->c.ld);
    for (int64_t j = 0; j < o->c.cols && status == SC_OK; j++)
        status = sc_um_inner->sparse_mv(m, o->trans, &o->descr, o->alpha, column(&o->b, j, o->a.type), step(&o->b),
                                        o->beta, column(&o->c, j, o->a.type), step(&o->c));
    return status;
}

static enum sc_status solve(struct sc_sparse_matrix *m, struct operation *o)
{
    enum sc_status status = SC_OK;

    if (o->b.by_rows == o->c.by_rows && (o->c.cols > 1 || o->b.by_rows))
        return sc_um_inner->sparse_sm(m, o->trans, &o->descr, o->c.by_rows, o->c.cols, o->alpha, o->b.values, o->b.ld,
                                      (void *)o->c.values, o->c.ld);
    for (int64_t j = 0; j < o->c.cols && status == SC_OK; j++)
        status = sc_um_inner->sparse_sv(m, o->trans, &o->descr, o->alpha, column(&o->b, j, o->a.type), step(&o->b),
                                        column(&o->c, j, o->a.type), step(&o->c));
    return status;
}

/* semcache needs no buffer.  If CUDA is present, the size is CUDA's, for later calls passed on to CUDA.  A format or
 * layout unknown to CUDA matters only to such calls. */
static cusparseStatus_t own_buffer(cusparseStatus_t theirs, size_t *bytes)
{
    if (theirs == CUSPARSE_STATUS_SUCCESS)
        return theirs;
    if (!bytes)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = 16;
    return CUSPARSE_STATUS_SUCCESS;
}

/* Whether to ask CUDA.  An invalid call is not passed on, because CUDA would print to stderr. */
static bool asks_cuda(enum answer whose)
{
    return sc_um_way() != SC_UM_EMULATED && whose != WRONG && whose != REFUSED;
}

/* The same for the buffer of a solve, of which CUDA may read the arrays: they are made accessible to GPUs first.  The
 * exception is a call that passes: its arrays are accessible already, and semcache may hold the locks needed to pin
 * memory.  For the buffer of a product CUDA does not read the arrays (JAX gives addresses without memory there), and
 * lending the arrays would send all later calls on them to CUDA. */
static bool asks_cuda_to_solve(enum answer whose, const void *caller)
{
    if (!asks_cuda(whose))
        return false;
    if (sc_um_way() == SC_UM_MAPPED && !sc_um_passes(caller))
        sc_um_has_united() ? sc_um_home(NULL) : sc_um_reach();
    return true;
}
/* cuSPARSE has no solves in CSC, and would print to stderr. */
static enum answer of_solve(enum answer whose, const struct operation *o)
{
    return whose == OURS && o->a.format == SC_SPARSE_CSC ? REFUSED : whose;
}
#define SIZE(asks, question) ((asks) ? (question) : CUSPARSE_STATUS_NOT_SUPPORTED)

/* The end of a function: returns unless CUDA serves the call. */
#define ANSWER(answer, theirs, ours)                                    \
    switch (answer) {                                                   \
    case OURS: return ours;                                             \
    case WRONG:                                                         \
        return handle ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_NOT_INITIALIZED; \
    case REFUSED: return CUSPARSE_STATUS_NOT_SUPPORTED;                 \
    case THEIRS: break;                                                 \
    }                                                                   \
    return theirs

#define VECTORS cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a
#define MATRICES                                                                                       \
    cusparseHandle_t handle, cusparseOperation_t op, cusparseOperation_t op_b, const void *alpha,       \
        cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b

SC_UM_EXPORT cusparseStatus_t cusparseSpMV(VECTORS, cusparseConstDnVecDescr_t x, const void *beta,
                                           cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg,
                                           void *memory)
{
    struct operation o;
    enum answer whose = for_vectors(&o, SC_UM_CALLER, handle, op, alpha, a, x, beta, y, type);

    ANSWER(whose, SC_UM_BEHIND(cusparseSpMV)(handle, op, alpha, a, x, beta, y, type, alg, memory), run(&o, multiply));
}

SC_UM_EXPORT cusparseStatus_t cusparseSpMV_bufferSize(VECTORS, cusparseConstDnVecDescr_t x, const void *beta,
                                                      cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg,
                                                      size_t *bytes)
{
    struct operation o;
    enum answer whose = for_vectors(&o, SC_UM_CALLER, handle, op, alpha, a, x, beta, y, type);
    cusparseStatus_t theirs = SIZE(
        asks_cuda(whose), SC_UM_BEHIND(cusparseSpMV_bufferSize)(handle, op, alpha, a, x, beta, y, type, alg, bytes));

    ANSWER(whose, theirs, own_buffer(theirs, bytes));
}

SC_UM_EXPORT cusparseStatus_t cusparseSpMV_preprocess(VECTORS, cusparseConstDnVecDescr_t x, const void *beta,
                                                      cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg,
                                                      void *memory)
{
    struct operation o;
    enum answer whose = for_vectors(&o, SC_UM_CALLER, handle, op, alpha, a, x, beta, y, type);

    ANSWER(whose, SC_UM_BEHIND(cusparseSpMV_preprocess)(handle, op, alpha, a, x, beta, y, type, alg, memory),
           CUSPARSE_STATUS_SUCCESS);
}

SC_UM_EXPORT cusparseStatus_t cusparseSpMM(MATRICES, const void *beta, cusparseDnMatDescr_t c, cudaDataType type,
                                           cusparseSpMMAlg_t alg, void *memory)
{
    struct operation o;
    enum answer whose = for_matrices(&o, SC_UM_CALLER, handle, op, op_b, alpha, a, b, beta, c, type);

    ANSWER(whose, SC_UM_BEHIND(cusparseSpMM)(handle, op, op_b, alpha, a, b, beta, c, type, alg, memory),
           run(&o, multiply));
}

SC_UM_EXPORT cusparseStatus_t cusparseSpMM_bufferSize(MATRICES, const void *beta, cusparseDnMatDescr_t c,
                                                      cudaDataType type, cusparseSpMMAlg_t alg, size_t *bytes)
{
    struct operation o;
    enum answer whose = for_matrices(&o, SC_UM_CALLER, handle, op, op_b, alpha, a, b, beta, c, type);
    cusparseStatus_t theirs = SIZE(
        asks_cuda(whose),
        SC_UM_BEHIND(cusparseSpMM_bufferSize)(handle, op, op_b, alpha, a, b, beta, c, type, alg, bytes));

    ANSWER(whose, theirs, own_buffer(theirs, bytes));
}

SC_UM_EXPORT cusparseStatus_t cusparseSpMM_preprocess(MATRICES, const void *beta, cusparseDnMatDescr_t c,
                                                      cudaDataType type, cusparseSpMMAlg_t alg, void *memory)
{
    struct operation o;
    enum answer whose = for_matrices(&o, SC_UM_CALLER, handle, op, op_b, alpha, a, b, beta, c, type);

    ANSWER(whose, SC_UM_BEHIND(cusparseSpMM_preprocess)(handle, op, op_b, alpha, a, b, beta, c, type, alg, memory),
           CUSPARSE_STATUS_SUCCESS);
}

/* The answer for a solve, with the triangle read from the matrix descriptor. */
static enum answer triangle(enum answer whose, struct operation *o, cusparseConstSpMatDescr_t a)
{
    return whose == OURS ? read_triangle(o, a) : whose;
}

SC_UM_EXPORT cusparseStatus_t cusparseSpSV_bufferSize(VECTORS, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                                      cudaDataType type, cusparseSpSVAlg_t alg,
                                                      cusparseSpSVDescr_t solver, size_t *bytes)
{
    struct operation o;
    enum answer whose = for_vectors(&o, SC_UM_CALLER, handle, op, alpha, a, x, NULL, y, type);
    cusparseStatus_t theirs = SIZE(
        asks_cuda_to_solve(of_solve(whose, &o), SC_UM_CALLER),
        SC_UM_BEHIND(cusparseSpSV_bufferSize)(handle, op, alpha, a, x, y, type, alg, solver, bytes));

    ANSWER(triangle(whose, &o, a), theirs, own_buffer(theirs, bytes));
}

SC_UM_EXPORT cusparseStatus_t cusparseSpSV_analysis(VECTORS, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                                    cudaDataType type, cusparseSpSVAlg_t alg,
                                                    cusparseSpSVDescr_t solver, void *memory)
{
    struct operation o;
    enum answer whose = for_vectors(&o, SC_UM_CALLER, handle, op, alpha, a, x, NULL, y, type);

    ANSWER(triangle(whose, &o, a),
           SC_UM_BEHIND(cusparseSpSV_analysis)(handle, op, alpha, a, x, y, type, alg, solver, memory),
           CUSPARSE_STATUS_SUCCESS);
}

SC_UM_EXPORT cusparseStatus_t cusparseSpSV_solve(VECTORS, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                                 cudaDataType type, cusparseSpSVAlg_t alg, cusparseSpSVDescr_t solver)
{
    struct operation o;
    enum answer whose = for_vectors(&o, SC_UM_CALLER, handle, op, alpha, a, x, NULL, y, type);

    ANSWER(triangle(whose, &o, a), SC_UM_BEHIND(cusparseSpSV_solve)(handle, op, alpha, a, x, y, type, alg, solver),
           run(&o, solve));
}

SC_UM_EXPORT cusparseStatus_t cusparseSpSM_bufferSize(MATRICES, cusparseDnMatDescr_t c, cudaDataType type,
                                                      cusparseSpSMAlg_t alg, cusparseSpSMDescr_t solver, size_t *bytes)
{
    struct operation o;
    enum answer whose = for_matrices(&o, SC_UM_CALLER, handle, op, op_b, alpha, a, b, NULL, c, type);
    cusparseStatus_t theirs = SIZE(
        asks_cuda_to_solve(of_solve(whose, &o), SC_UM_CALLER),
        SC_UM_BEHIND(cusparseSpSM_bufferSize)(handle, op, op_b, alpha, a, b, c, type, alg, solver, bytes));

    ANSWER(triangle(whose, &o, a), theirs, own_buffer(theirs, bytes));
}

SC_UM_EXPORT cusparseStatus_t cusparseSpSM_analysis(MATRICES, cusparseDnMatDescr_t c, cudaDataType type,
                                                    cusparseSpSMAlg_t alg, cusparseSpSMDescr_t solver, void *memory)
{
    struct operation o;
    enum answer whose = for_matrices(&o, SC_UM_CALLER, handle, op, op_b, alpha, a, b, NULL, c, type);

    ANSWER(triangle(whose, &o, a),
           SC_UM_BEHIND(cusparseSpSM_analysis)(handle, op, op_b, alpha, a, b, c, type, alg, solver, memory),
           CUSPARSE_STATUS_SUCCESS);
}

SC_UM_EXPORT cusparseStatus_t cusparseSpSM_solve(MATRICES, cusparseDnMatDescr_t c, cudaDataType type,
                                                 cusparseSpSMAlg_t alg, cusparseSpSMDescr_t solver)
{
    struct operation o;
    enum answer whose = for_matrices(&o, SC_UM_CALLER, handle, op, op_b, alpha, a, b, NULL, c, type);

    ANSWER(triangle(whose, &o, a),
           SC_UM_BEHIND(cusparseSpSM_solve)(handle, op, op_b, alpha, a, b, c, type, alg, solver), run(&o, solve));
}
/* SPDX-License-Identifier: BSD-2-Clause */
