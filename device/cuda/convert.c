/* Conversions of sparse matrices to CSR, on the device.  A kernel finds the row of every slot (device/slot.h), cuSPARSE
 * sorts the slots by row, and a kernel stores the valid slots in sorted order (convert.cu).
 *
 * For a CSR sorted by columns, the slots are first sorted by column.  After the sort by row, a second sort moves the
 * first slot of every position to the front; the duplicates end up behind. */
#include "device/cuda/cuda_int.h"
#include "device/slot.h"

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/convert_image.inc"
};

enum { FIND_ROWS, FIND_FIRST, FIND_STARTS, STORE_SINGLE, STORE_DOUBLE, STORE_SUMS_SINGLE, STORE_SUMS_DOUBLE, KERNELS };
static const char *const names[KERNELS] = {"find_rows", "find_first", "find_starts", "store_single", "store_double",
                                           "store_sums_single", "store_sums_double"};

#define THREADS 256
#define BLOCKS_MOST (INT64_C(1) << 20) /* a thread loops over the remaining elements */

/* Sorted together: rows, and two integers that accompany the rows. */
struct triple {
    int *row, *key, *slot;
};

/* A conversion in progress. */
struct work {
    struct sc_cuda_device *d;
    struct sc_csr_conversion c;
    cusparseHandle_t sparse;
    int64_t slots;
    struct triple all, first; /* `first` only for a sorted CSR */
    void *memory, *buffer;    /* memory of the triples, and the buffer of the sort */
};

/* Loads the kernels at the first use. */
static enum sc_status load(struct sc_cuda_device *d)
{
    return sc_cuda_module_load_all(&d->conversion, image, names, KERNELS, d->converting);
}

/* Launches a kernel with a thread for each of n elements. */
static enum sc_status launch(const struct work *w, int kernel, int64_t n, void **arguments)
{
    int64_t blocks = (n + THREADS - 1) / THREADS;

    if (n <= 0)
        return SC_OK;
    return sc_cuda_module_launch(w->d->converting[kernel], (unsigned)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST), 1,
                                 THREADS, sc_cuda_enqueue(w->d, SC_STREAM_COMPUTE), arguments);
}

/* A size beyond the limits of the sort: eviction would not help. */
static enum sc_status result_of(cusparseStatus_t error)
{
    if (error == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
        return SC_ERR_UNSUPPORTED;
    return error == CUSPARSE_STATUS_SUCCESS ? SC_OK : sc_cuda_sparse_failed(error, "sorting by row");
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static void cut(struct triple *t, char *memory, size_t each)
{
    t->row = (int *)memory;
    t->key = (int *)(memory + each);
    t->slot = (int *)(memory + 2 * each);
}

static enum sc_status allocate(struct work *w)
{
    size_t each = ((size_t)w->slots * sizeof(int) + 255) & ~(size_t)255, bytes = 0;
    int rows = (int)w->c.rows + 1, slots = (int)w->slots;
    enum sc_status status = sc_cuda_work_alloc(w->d->index, (w->c.sorted ? 6 : 3) * each, &w->memory);

    if (status != SC_OK || !slots)
        return status;
    cut(&w->all, w->memory, each);
    cut(&w->first, w->c.sorted ? (char *)w->memory + 3 * each : w->memory, each);
    status = sc_cuda_sparse_handle(&w->d->streams[SC_STREAM_COMPUTE], &w->sparse);
    if (status == SC_OK)
        status = result_of(cusparseXcoosort_bufferSizeExt(w->sparse, rows, slots, slots, w->all.row, w->all.key,
                                                          &bytes));
    return status == SC_OK ? sc_cuda_work_alloc(w->d->index, bytes, &w->buffer) : status;
}

static void release(const struct work *w)
{
    void *const memory[] = {w->memory, w->buffer};

    sc_cuda_work_free(w->d->index, memory, 2);
}

/* --- sorting ------------------------------------------------------------------------------------------------------ */

typedef cusparseStatus_t sort_fn(cusparseHandle_t, int rows, int columns, int entries, int *row, int *column, int *with,
                                 void *buffer);

static enum sc_status sort(const struct work *w, sort_fn *run, const struct triple *t)
{
    int slots = (int)w->slots;

    return slots ? result_of(run(w->sparse, (int)w->c.rows + 1, slots, slots, t->row, t->key, t->slot, w->buffer))
                 : SC_OK;
}

/* The sort is stable: slots of the same row, or position, keep their order.  Without a sort by column, the numbers of
 * the slots serve as the "columns". */
static enum sc_status sort_all(struct work *w)
{
    void *arguments[] = {&w->c, &w->slots, &w->all.row, &w->all.key, &w->all.slot};
    enum sc_status status = launch(w, FIND_ROWS, w->slots, arguments);

    if (status == SC_OK && w->c.sorted)
        status = sort(w, cusparseXcoosortByColumn, &w->all);
    return status == SC_OK ? sort(w, cusparseXcoosortByRow, &w->all) : status;
}

static enum sc_status sort_first(struct work *w)
{
    void *arguments[] = {&w->c,         &w->slots,     &w->all.row,    &w->all.key,
                         &w->first.row, &w->first.key, &w->first.slot};
    enum sc_status status = launch(w, FIND_FIRST, w->slots, arguments);

    return status == SC_OK ? sort(w, cusparseXcoosortByRow, &w->first) : status;
}

/* --- the CSR ------------------------------------------------------------------------------------------------------ */

static enum sc_status store(struct work *w)
{
    void *starts[] = {&w->c, &w->slots, &w->first.row};
    void *entries[] = {&w->c,       &w->slots,     &w->all.slot, &w->all.row,
                       &w->all.key, &w->first.row, &w->first.key};
    bool single = w->c.type == SC_S || w->c.type == SC_C;
    int kernel = w->c.sorted ? STORE_SUMS_SINGLE : STORE_SINGLE;
    enum sc_status status = launch(w, FIND_STARTS, w->c.rows + 1, starts);

    return status == SC_OK ? launch(w, kernel + !single, w->c.entries, entries) : status;
}

enum sc_status sc_cuda_convert(int device, const struct sc_csr_conversion *c)
{
    struct work w = {.d = sc_cuda_device(device), .c = *c, .slots = sc_slots(c)};
    SC_CUDA_SCOPE(w.d);
    enum sc_status status;

    if (w.slots > INT32_MAX || c->rows >= INT32_MAX || (c->sorted && (c->m > INT32_MAX || c->n > INT32_MAX)))
        return SC_ERR_UNSUPPORTED;
    status = load(w.d);
    if (status == SC_OK)
        status = allocate(&w);
    if (status == SC_OK)
        status = sort_all(&w);
    if (status == SC_OK && c->sorted)
        status = sort_first(&w);
    if (status == SC_OK)
        status = store(&w);
    release(&w);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
