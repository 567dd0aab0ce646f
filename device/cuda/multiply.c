/* Products of two sparse matrices through cuSPARSE's SpGEMM.  SpGEMM has 32-bit integers and leaves the order of
 * columns in a row undefined; two transpositions sort the columns. */
#include "device/cuda/kernel.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS, ESTIMATE, COMPUTE, BUFFERS }; /* ROWS: row starts of C until the store */

struct product {
    cusparseSpMatDescr_t a, b, c;
    cusparseSpGEMMDescr_t spgemm;
    void *buffer[BUFFERS];
};

struct call {
    int device;
    cusparseHandle_t sparse;
    cudaDataType type;
    union sc_cuda_scalar one, zero;
    const struct sc_csr_product *p;
    struct product *w;
};

static const cudaDataType data_types[SC_TYPES] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};

#define PLAIN CUSPARSE_OPERATION_NON_TRANSPOSE
#define ALGORITHM CUSPARSE_SPGEMM_DEFAULT

/* The status also reports too many terms, where free memory would not help. */
static enum sc_status result_of(cusparseStatus_t error)
{
    if (error == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
        return SC_ERR_UNSUPPORTED;
    return error == CUSPARSE_STATUS_SUCCESS ? SC_OK : sc_cuda_sparse_failed(error, "SpGEMM");
}

static void drop(int device, struct product *w)
{
    if (w->a)
        cusparseDestroySpMat(w->a);
    if (w->b)
        cusparseDestroySpMat(w->b);
    if (w->c)
        cusparseDestroySpMat(w->c);
    if (w->spgemm)
        cusparseSpGEMM_destroyDescr(w->spgemm);
    sc_cuda_work_free(device, w->buffer, BUFFERS);
    free(w);
}

/* --- the first step ----------------------------------------------------------------------------------------------- */

static enum sc_status describe(const struct call *c, cusparseSpMatDescr_t *out, int64_t rows, int64_t cols,
                               const struct sc_csr *a, const void *values)
{
    return result_of(cusparseCreateCsr(out, rows, cols, a->nonzeros, (void *)a->rows, (void *)a->columns,
                                       (void *)values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, c->type));
}

static enum sc_status describe_all(const struct call *c)
{
    const struct sc_csr_product *p = c->p;
    struct sc_csr empty = {.nonzeros = 0};
    enum sc_status status = describe(c, &c->w->a, p->m, p->k, &p->a, p->a_values);

    if (status == SC_OK)
        status = describe(c, &c->w->b, p->k, p->n, &p->b, p->b_values);
    if (status == SC_OK)
        status = sc_cuda_work_alloc(c->device, ((size_t)p->m + 1) * sizeof(int), &c->w->buffer[ROWS]);
    if (status != SC_OK)
        return status;
    empty.rows = c->w->buffer[ROWS];
    status = describe(c, &c->w->c, p->m, p->n, &empty, NULL);
    return status == SC_OK ? result_of(cusparseSpGEMM_createDescr(&c->w->spgemm)) : status;
}

typedef cusparseStatus_t step(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta,
                              cusparseSpMatDescr_t c, cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t,
                              size_t *bytes, void *buffer);

/* Runs a step of SpGEMM: queries the buffer size, allocates the buffer, runs. */
static enum sc_status run_step(const struct call *c, step *run, int buffer)
{
    struct product *w = c->w;
    size_t bytes = 0;
    enum sc_status status = result_of(run(c->sparse, PLAIN, PLAIN, &c->one, w->a, w->b, &c->zero, w->c, c->type,
                                          ALGORITHM, w->spgemm, &bytes, NULL));

    if (status == SC_OK)
        status = sc_cuda_work_alloc(c->device, bytes, &w->buffer[buffer]);
    if (status != SC_OK)
        return status;
    return result_of(run(c->sparse, PLAIN, PLAIN, &c->one, w->a, w->b, &c->zero, w->c, c->type, ALGORITHM, w->spgemm,
                         &bytes, w->buffer[buffer]));
}

static bool is_served(const struct sc_csr_product *p)
{
    const struct sc_csr *const factors[] = {&p->a, &p->b};

    for (int i = 0; i < 2; i++)
        if (factors[i]->index_bytes != 4 || factors[i]->base || factors[i]->nonzeros < 1 ||
            factors[i]->nonzeros > INT32_MAX)
            return false;
    if ((double)p->a.nonzeros > (double)p->m * (double)p->k || (double)p->b.nonzeros > (double)p->k * (double)p->n)
        return false; /* several entries at one position: refused */
    return p->m > 0 && p->n > 0 && p->m < INT32_MAX && p->n < INT32_MAX && p->k < INT32_MAX;
}

static enum sc_status begin(struct call *c, int device, const struct sc_csr_product *p)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    struct sc_cuda_device *d = sc_cuda_device(device);

    sc_cuda_enqueue(d, SC_STREAM_COMPUTE);
    *c = (struct call){.device = device, .type = data_types[p->type], .one = sc_cuda_scalar_of(p->type, one),
                       .zero = sc_cuda_scalar_of(p->type, zero), .p = p, .w = p->work};
    return sc_cuda_sparse_handle(&d->streams[SC_STREAM_COMPUTE], &c->sparse);
}

enum sc_status sc_cuda_multiply(int device, struct sc_csr_product *p)
{
    SC_CUDA_SCOPE(sc_cuda_device(device));
    int64_t rows, cols;
    enum sc_status status;
    struct call c;

    if (!is_served(p))
        return SC_ERR_UNSUPPORTED;
    p->work = calloc(1, sizeof(struct product));
    if (!p->work)
        return SC_ERR_MEMORY;
    status = begin(&c, device, p);
    if (status == SC_OK)
        status = describe_all(&c);
    if (status == SC_OK)
        status = run_step(&c, cusparseSpGEMM_workEstimation, ESTIMATE);
    if (status == SC_OK)
        status = run_step(&c, cusparseSpGEMM_compute, COMPUTE);
    if (status == SC_OK)
        status = result_of(cusparseSpMatGetSize(c.w->c, &rows, &cols, &p->nonzeros));
    if (status == SC_OK && p->nonzeros > INT32_MAX)
        status = SC_ERR_UNSUPPORTED;
    if (status != SC_OK) {
        drop(device, p->work);
        p->work = NULL;
    }
    return status;
}

/* --- the second --------------------------------------------------------------------------------------------------- */

struct arrays {
    int64_t lines, across; /* start has lines + 1 integers */
    int *start, *index;
    void *values;
};

static enum sc_status transpose(const struct call *c, const struct arrays *from, const struct arrays *to)
{
    int m = (int)from->lines, n = (int)from->across, entries = (int)c->p->nonzeros;
    void *buffer = NULL;
    size_t bytes = 0;
    enum sc_status status = result_of(cusparseCsr2cscEx2_bufferSize(
        c->sparse, m, n, entries, from->values, from->start, from->index, to->values, to->start, to->index, c->type,
        CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes));

    if (status == SC_OK)
        status = sc_cuda_work_alloc(c->device, bytes, &buffer);
    if (status == SC_OK)
        status = result_of(cusparseCsr2cscEx2(c->sparse, m, n, entries, from->values, from->start, from->index,
                                              to->values, to->start, to->index, c->type, CUSPARSE_ACTION_NUMERIC,
                                              CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT, buffer));
    sc_cuda_work_free(c->device, &buffer, 1);
    return status;
}

/* Sorts the columns of every row in ascending order. */
static enum sc_status sort(const struct call *c, const struct arrays *a)
{
    struct arrays turned = {.lines = a->across, .across = a->lines};
    void *memory[3] = {NULL};
    enum sc_status status = sc_cuda_work_alloc(c->device, ((size_t)turned.lines + 1) * sizeof(int), &memory[0]);

    if (status == SC_OK)
        status = sc_cuda_work_alloc(c->device, (size_t)c->p->nonzeros * sizeof(int), &memory[1]);
    if (status == SC_OK)
        status = sc_cuda_work_alloc(c->device, (size_t)c->p->nonzeros * sc_type_bytes(c->p->type), &memory[2]);
    turned.start = memory[0];
    turned.index = memory[1];
    turned.values = memory[2];
    if (status == SC_OK)
        status = transpose(c, a, &turned);
    if (status == SC_OK)
        status = transpose(c, &turned, a);
    sc_cuda_work_free(c->device, memory, 3);
    return status;
}

static enum sc_status store(const struct call *c, const struct arrays *a)
{
    struct product *w = c->w;
    enum sc_status status = result_of(cusparseCsrSetPointers(w->c, a->start, a->index, a->values));

    if (status == SC_OK)
        status = result_of(cusparseSpGEMM_copy(c->sparse, PLAIN, PLAIN, &c->one, w->a, w->b, &c->zero, w->c, c->type,
                                               ALGORITHM, w->spgemm));
    return status == SC_OK ? sort(c, a) : status;
}

enum sc_status sc_cuda_store(int device, struct sc_csr_product *p, void *rows, void *columns, void *values)
{
    SC_CUDA_SCOPE(sc_cuda_device(device));
    struct arrays a = {p->m, p->n, rows, columns, values};
    enum sc_status status = SC_OK;
    struct call c;

    if (rows) {
        status = begin(&c, device, p);
        if (status == SC_OK && !p->nonzeros) /* all row starts are 0 */
            status = sc_cuda_fill(device, SC_STREAM_COMPUTE, rows, ((size_t)p->m + 1) * sizeof(int), 0,
                                  ((size_t)p->m + 1) * sizeof(int), 1);
        else if (status == SC_OK)
            status = store(&c, &a);
    }
    drop(device, p->work);
    p->work = NULL;
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
