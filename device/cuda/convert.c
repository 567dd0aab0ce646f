/* Conversions of sparse matrices to CSR.  Every slot (device/slot.h) gets its row, cuSPARSE sorts the slots by row, and
 * those that stand for something are stored in that order (convert.cu). */
#include "device/cuda/cuda_int.h"
#include "device/slot.h"

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/convert_image.inc"
};

#define THREADS 256
#define BLOCKS_MOST (INT64_C(1) << 20) /* threads go on with what is left */

/* A conversion in progress. */
struct work {
    struct sc_cuda_device *d;
    struct sc_csr_conversion c;
    int64_t slots;
    int *row, *slot, *order; /* order: not needed, but written by the sort */
    void *buffer;            /* the sort's */
};

/* The kernels, when they are wanted for the first time. */
static enum sc_status load(struct sc_cuda_device *d)
{
    enum sc_status status = SC_OK;

    if (d->conversion)
        return SC_OK;
    status = sc_cuda_module_load(&d->conversion, image, "find_rows", &d->find_rows);
    if (status == SC_OK)
        status = sc_cuda_module_find(d->conversion, "find_starts", &d->find_starts);
    if (status == SC_OK)
        status = sc_cuda_module_find(d->conversion, "store_single", &d->store_single);
    if (status == SC_OK)
        status = sc_cuda_module_find(d->conversion, "store_double", &d->store_double);
    return status;
}

/* One thread for each of n. */
static enum sc_status launch(const struct work *w, CUfunction kernel, int64_t n, void **arguments)
{
    int64_t blocks = (n + THREADS - 1) / THREADS;

    if (n <= 0)
        return SC_OK;
    return sc_cuda_module_launch(kernel, (unsigned)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST), 1, THREADS,
                                 sc_cuda_enqueue(w->d, SC_STREAM_COMPUTE), arguments);
}

static enum sc_status find_rows(struct work *w)
{
    void *arguments[] = {&w->c, &w->slots, &w->row, &w->slot, &w->order};

    return launch(w, w->d->find_rows, w->slots, arguments);
}

static enum sc_status result_of(cusparseStatus_t error)
{
    return error == CUSPARSE_STATUS_SUCCESS ? SC_OK : sc_cuda_sparse_failed(error, "sorting by row");
}

/* Slots of one row stay in their order: they are the "columns", in which they ascend. */
static enum sc_status sort(struct work *w)
{
    int rows = (int)w->c.rows + 1, slots = (int)w->slots;
    cusparseHandle_t sparse;
    size_t bytes = 0;
    enum sc_status status = slots ? sc_cuda_sparse_handle(&w->d->streams[SC_STREAM_COMPUTE], &sparse) : SC_OK;

    if (status != SC_OK || !slots)
        return status;
    status = result_of(cusparseXcoosort_bufferSizeExt(sparse, rows, slots, slots, w->row, w->slot, &bytes));
    if (status == SC_OK)
        status = sc_cuda_work_alloc(w->d->index, bytes, &w->buffer);
    if (status == SC_OK)
        status = result_of(cusparseXcoosortByRow(sparse, rows, slots, slots, w->row, w->slot, w->order, w->buffer));
    return status;
}

static enum sc_status store(struct work *w)
{
    void *starts[] = {&w->c, &w->slots, &w->row}, *entries[] = {&w->c, &w->slots, &w->slot};
    bool single = w->c.type == SC_S || w->c.type == SC_C;
    enum sc_status status = launch(w, w->d->find_starts, w->c.rows + 1, starts);

    return status == SC_OK ? launch(w, single ? w->d->store_single : w->d->store_double, w->c.entries, entries) : status;
}

static enum sc_status convert(struct work *w)
{
    size_t bytes = ((size_t)w->slots * sizeof(int) + 255) & ~(size_t)255;
    void *memory = NULL;
    enum sc_status status = sc_cuda_work_alloc(w->d->index, 3 * bytes, &memory);

    if (status != SC_OK)
        return status;
    w->row = memory;
    w->slot = (int *)((char *)memory + bytes);
    w->order = (int *)((char *)memory + 2 * bytes);
    status = find_rows(w);
    if (status == SC_OK)
        status = sort(w);
    if (status == SC_OK)
        status = store(w);
    sc_cuda_work_free(w->d->index, &w->buffer, 1);
    sc_cuda_work_free(w->d->index, &memory, 1);
    return status;
}

enum sc_status sc_cuda_convert(int device, const struct sc_csr_conversion *c)
{
    struct work w = {.d = sc_cuda_device(device), .c = *c, .slots = sc_slots(c)};
    SC_CUDA_SCOPE(w.d);
    enum sc_status status;

    if (w.slots > INT32_MAX || c->rows >= INT32_MAX)
        return SC_ERR_UNSUPPORTED;
    status = load(w.d);
    return status == SC_OK ? convert(&w) : status;
}
