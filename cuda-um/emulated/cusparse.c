/* The handle and the descriptors of cuSPARSE: a descriptor holds the arguments of its creation. */
#include <stdlib.h>
#include <string.h>

#include "cuda-um/emulated/emulated.h"
#include "cuda-um/names.h"

#define E(name) SC_UM_EMULATED_NAME(name)

/* --- the handle --------------------------------------------------------------------------------------------------- */

struct cusparseContext {
    cudaStream_t stream;
    cusparsePointerMode_t pointers;
};

cusparseStatus_t E(cusparseCreate)(cusparseHandle_t *out)
{
    if (!out)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *out = calloc(1, sizeof **out);
    return *out ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t E(cusparseDestroy)(cusparseHandle_t h)
{
    free(h);
    return h ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

#define PROPERTY(set, get, type, field)                                                \
    cusparseStatus_t E(set)(cusparseHandle_t h, type value)                            \
    {                                                                                  \
        if (!h)                                                                        \
            return CUSPARSE_STATUS_NOT_INITIALIZED;                                    \
        h->field = value;                                                              \
        return CUSPARSE_STATUS_SUCCESS;                                                \
    }                                                                                  \
    cusparseStatus_t E(get)(cusparseHandle_t h, type *value)                           \
    {                                                                                  \
        if (!h || !value)                                                              \
            return h ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_NOT_INITIALIZED; \
        *value = h->field;                                                             \
        return CUSPARSE_STATUS_SUCCESS;                                                \
    }
PROPERTY(cusparseSetStream, cusparseGetStream, cudaStream_t, stream)
PROPERTY(cusparseSetPointerMode, cusparseGetPointerMode, cusparsePointerMode_t, pointers)

cusparseStatus_t E(cusparseGetVersion)(cusparseHandle_t h, int *version)
{
    (void)h;
    return *version = CUSPARSE_VERSION, CUSPARSE_STATUS_SUCCESS;
}

const char *E(cusparseGetErrorName)(cusparseStatus_t status)
{
    static const char *const names[] = {"CUSPARSE_STATUS_SUCCESS",        "CUSPARSE_STATUS_NOT_INITIALIZED",
                                        "CUSPARSE_STATUS_ALLOC_FAILED",   "CUSPARSE_STATUS_INVALID_VALUE",
                                        "CUSPARSE_STATUS_ARCH_MISMATCH",  "CUSPARSE_STATUS_MAPPING_ERROR",
                                        "CUSPARSE_STATUS_EXECUTION_FAILED"};

    if ((unsigned)status < sizeof names / sizeof *names)
        return names[status];
    return status == CUSPARSE_STATUS_NOT_SUPPORTED ? "CUSPARSE_STATUS_NOT_SUPPORTED" : "another cusparseStatus_t";
}
const char *E(cusparseGetErrorString)(cusparseStatus_t status) { return E(cusparseGetErrorName)(status); }

/* --- sparse matrices ---------------------------------------------------------------------------------------------- */

struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, cols, nnz;
    const void *start, *index, *values; /* COO: `start` holds the rows, `index` the columns */
    cusparseIndexType_t start_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diag;
};

static bool makes_sense(const struct cusparseSpMatDescr *m)
{
    return m->rows >= 0 && m->cols >= 0 && m->nnz >= 0 && (m->start || m->format == CUSPARSE_FORMAT_COO || !m->rows) &&
           (!m->nnz || (m->index && m->values)) && (unsigned)m->base <= CUSPARSE_INDEX_BASE_ONE;
}

static cusparseStatus_t make_matrix(cusparseSpMatDescr_t *out, struct cusparseSpMatDescr m)
{
    if (!out || !makes_sense(&m))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *out = malloc(sizeof m);
    if (!*out)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    m.fill = CUSPARSE_FILL_MODE_LOWER;
    m.diag = CUSPARSE_DIAG_TYPE_NON_UNIT;
    **out = m;
    return CUSPARSE_STATUS_SUCCESS;
}

/* CSR and CSC: creation, const versions, and queries. */
#define COMPRESSED(name, FORMAT)                                                                                       \
    cusparseStatus_t E(cusparseCreate##name)(cusparseSpMatDescr_t * out, int64_t rows, int64_t cols, int64_t nnz,      \
                                             void *start, void *index, void *values, cusparseIndexType_t start_type,   \
                                             cusparseIndexType_t index_type, cusparseIndexBase_t base,                 \
                                             cudaDataType type)                                                        \
    {                                                                                                                  \
        return make_matrix(out, (struct cusparseSpMatDescr){FORMAT, rows, cols, nnz, start, index, values, start_type, \
                                                            index_type, base, type, 0, 0});                            \
    }                                                                                                                  \
    cusparseStatus_t E(cusparseCreateConst##name)(                                                                     \
        cusparseConstSpMatDescr_t * out, int64_t rows, int64_t cols, int64_t nnz, const void *start,                   \
        const void *index, const void *values, cusparseIndexType_t start_type, cusparseIndexType_t index_type,         \
        cusparseIndexBase_t base, cudaDataType type)                                                                   \
    {                                                                                                                  \
        return E(cusparseCreate##name)((cusparseSpMatDescr_t *)out, rows, cols, nnz, (void *)start, (void *)index,     \
                                       (void *)values, start_type, index_type, base, type);                            \
    }                                                                                                                  \
    cusparseStatus_t E(cusparseConst##name##Get)(                                                                      \
        cusparseConstSpMatDescr_t m, int64_t * rows, int64_t * cols, int64_t * nnz, const void **start,                \
        const void **index, const void **values, cusparseIndexType_t *start_type, cusparseIndexType_t *index_type,     \
        cusparseIndexBase_t *base, cudaDataType *type)                                                                 \
    {                                                                                                                  \
        if (!m || m->format != (FORMAT))                                                                               \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                                      \
        *rows = m->rows, *cols = m->cols, *nnz = m->nnz;                                                               \
        *start = m->start, *index = m->index, *values = m->values;                                                     \
        *start_type = m->start_type, *index_type = m->index_type, *base = m->base, *type = m->type;                    \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    cusparseStatus_t E(cusparse##name##Get)(cusparseSpMatDescr_t m, int64_t * rows, int64_t * cols, int64_t * nnz,     \
                                            void **start, void **index, void **values,                                 \
                                            cusparseIndexType_t *start_type, cusparseIndexType_t *index_type,          \
                                            cusparseIndexBase_t *base, cudaDataType *type)                             \
    {                                                                                                                  \
        return E(cusparseConst##name##Get)(m, rows, cols, nnz, (const void **)start, (const void **)index,             \
                                           (const void **)values, start_type, index_type, base, type);                 \
    }                                                                                                                  \
    cusparseStatus_t E(cusparse##name##SetPointers)(cusparseSpMatDescr_t m, void *start, void *index, void *values)    \
    {                                                                                                                  \
        if (!m || m->format != (FORMAT))                                                                               \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                                      \
        m->start = start, m->index = index, m->values = values;                                                        \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
COMPRESSED(Csr, CUSPARSE_FORMAT_CSR)
COMPRESSED(Csc, CUSPARSE_FORMAT_CSC)

cusparseStatus_t E(cusparseCreateCoo)(cusparseSpMatDescr_t *out, int64_t rows, int64_t cols, int64_t nnz, void *row,
                                      void *col, void *values, cusparseIndexType_t index_type,
                                      cusparseIndexBase_t base, cudaDataType type)
{
    return make_matrix(out, (struct cusparseSpMatDescr){CUSPARSE_FORMAT_COO, rows, cols, nnz, row, col, values,
                                                        index_type, index_type, base, type, 0, 0});
}

cusparseStatus_t E(cusparseConstCooGet)(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *cols, int64_t *nnz,
                                        const void **row, const void **col, const void **values,
                                        cusparseIndexType_t *index_type, cusparseIndexBase_t *base, cudaDataType *type)
{
    if (!m || m->format != CUSPARSE_FORMAT_COO)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = m->rows, *cols = m->cols, *nnz = m->nnz;
    *row = m->start, *col = m->index, *values = m->values;
    *index_type = m->index_type, *base = m->base, *type = m->type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseDestroySpMat)(cusparseConstSpMatDescr_t m)
{
    free((void *)m);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseSpMatGetFormat)(cusparseConstSpMatDescr_t m, cusparseFormat_t *format)
{
    return m ? (*format = m->format, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t E(cusparseSpMatGetSize)(cusparseConstSpMatDescr_t m, int64_t *rows, int64_t *cols, int64_t *nnz)
{
    if (!m)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = m->rows, *cols = m->cols, *nnz = m->nnz;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseSpMatGetStridedBatch)(cusparseConstSpMatDescr_t m, int *count)
{
    return m ? (*count = 1, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t E(cusparseSpMatGetValues)(cusparseSpMatDescr_t m, void **values)
{
    return m ? (*values = (void *)m->values, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t E(cusparseSpMatSetValues)(cusparseSpMatDescr_t m, void *values)
{
    return m ? (m->values = values, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

/* Both attributes are enumerations, with the size of an int. */
cusparseStatus_t E(cusparseSpMatGetAttribute)(cusparseConstSpMatDescr_t m, cusparseSpMatAttribute_t attribute,
                                              void *data, size_t bytes)
{
    if (!m || !data || bytes != sizeof(int))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *(int *)data = attribute == CUSPARSE_SPMAT_FILL_MODE ? (int)m->fill : (int)m->diag;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseSpMatSetAttribute)(cusparseSpMatDescr_t m, cusparseSpMatAttribute_t attribute, void *data,
                                              size_t bytes)
{
    if (!m || !data || bytes != sizeof(int) || (unsigned)*(int *)data > 1)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (attribute == CUSPARSE_SPMAT_FILL_MODE)
        m->fill = (cusparseFillMode_t) * (int *)data;
    else
        m->diag = (cusparseDiagType_t) * (int *)data;
    return CUSPARSE_STATUS_SUCCESS;
}

/* --- dense vectors and matrices ----------------------------------------------------------------------------------- */

struct cusparseDnVecDescr {
    int64_t size;
    const void *values;
    cudaDataType type;
};

cusparseStatus_t E(cusparseCreateDnVec)(cusparseDnVecDescr_t *out, int64_t size, void *values, cudaDataType type)
{
    if (!out || size < 0 || (size && !values))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **out = (struct cusparseDnVecDescr){size, values, type};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseCreateConstDnVec)(cusparseConstDnVecDescr_t *out, int64_t size, const void *values,
                                             cudaDataType type)
{
    return E(cusparseCreateDnVec)((cusparseDnVecDescr_t *)out, size, (void *)values, type);
}

cusparseStatus_t E(cusparseDestroyDnVec)(cusparseConstDnVecDescr_t v)
{
    free((void *)v);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseConstDnVecGet)(cusparseConstDnVecDescr_t v, int64_t *size, const void **values,
                                          cudaDataType *type)
{
    if (!v)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *size = v->size, *values = v->values, *type = v->type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseDnVecGet)(cusparseDnVecDescr_t v, int64_t *size, void **values, cudaDataType *type)
{
    return E(cusparseConstDnVecGet)(v, size, (const void **)values, type);
}

cusparseStatus_t E(cusparseDnVecGetValues)(cusparseDnVecDescr_t v, void **values)
{
    return v ? (*values = (void *)v->values, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t E(cusparseDnVecSetValues)(cusparseDnVecDescr_t v, void *values)
{
    return v ? (v->values = values, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

struct cusparseDnMatDescr {
    int64_t rows, cols, ld;
    const void *values;
    cudaDataType type;
    cusparseOrder_t order;
};

cusparseStatus_t E(cusparseCreateDnMat)(cusparseDnMatDescr_t *out, int64_t rows, int64_t cols, int64_t ld, void *values,
                                        cudaDataType type, cusparseOrder_t order)
{
    int64_t least = order == CUSPARSE_ORDER_ROW ? cols : rows;

    if (!out || rows < 0 || cols < 0 || ld < least || (rows && cols && !values))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **out = (struct cusparseDnMatDescr){rows, cols, ld, values, type, order};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseCreateConstDnMat)(cusparseConstDnMatDescr_t *out, int64_t rows, int64_t cols, int64_t ld,
                                             const void *values, cudaDataType type, cusparseOrder_t order)
{
    return E(cusparseCreateDnMat)((cusparseDnMatDescr_t *)out, rows, cols, ld, (void *)values, type, order);
}

cusparseStatus_t E(cusparseDestroyDnMat)(cusparseConstDnMatDescr_t m)
{
    free((void *)m);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseConstDnMatGet)(cusparseConstDnMatDescr_t m, int64_t *rows, int64_t *cols, int64_t *ld,
                                          const void **values, cudaDataType *type, cusparseOrder_t *order)
{
    if (!m)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = m->rows, *cols = m->cols, *ld = m->ld, *values = m->values, *type = m->type, *order = m->order;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t E(cusparseDnMatGet)(cusparseDnMatDescr_t m, int64_t *rows, int64_t *cols, int64_t *ld, void **values,
                                     cudaDataType *type, cusparseOrder_t *order)
{
    return E(cusparseConstDnMatGet)(m, rows, cols, ld, (const void **)values, type, order);
}

cusparseStatus_t E(cusparseDnMatSetValues)(cusparseDnMatDescr_t m, void *values)
{
    return m ? (m->values = values, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t E(cusparseDnMatGetStridedBatch)(cusparseConstDnMatDescr_t m, int *count, int64_t *stride)
{
    return m ? (*count = 1, *stride = 0, CUSPARSE_STATUS_SUCCESS) : CUSPARSE_STATUS_INVALID_VALUE;
}

/* --- descriptors of solves: semcache keeps its own analysis ------------------------------------------------------- */

struct cusparseSpSVDescr {
    char unused;
};
struct cusparseSpSMDescr {
    char unused;
};

cusparseStatus_t E(cusparseSpSV_createDescr)(cusparseSpSVDescr_t *out)
{
    return (*out = calloc(1, sizeof **out)) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}
cusparseStatus_t E(cusparseSpSV_destroyDescr)(cusparseSpSVDescr_t d) { return free(d), CUSPARSE_STATUS_SUCCESS; }

cusparseStatus_t E(cusparseSpSM_createDescr)(cusparseSpSMDescr_t *out)
{
    return (*out = calloc(1, sizeof **out)) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}
cusparseStatus_t E(cusparseSpSM_destroyDescr)(cusparseSpSMDescr_t d) { return free(d), CUSPARSE_STATUS_SUCCESS; }
/* SPDX-License-Identifier: BSD-2-Clause */
