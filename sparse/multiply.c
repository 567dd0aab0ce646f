/* Products of two sparse matrices: the choice between host and devices, and the product on the host. */
#include <stdlib.h>

#include "autotuner/plan.h"
#include "base/config.h"
#include "sparse/sparse_int.h"
#include "trace/trace.h"

/* --- profitability ------------------------------------------------------------------------------------------------ */

#define SMALL 1e-4        /* seconds on the host; smaller products always run on the host */

static double entries_of(const struct sc_sparse_matrix *m)
{
    const struct sc_sparse_arrays *a = &m->arrays;
    int64_t lines = sc_sparse_lines(a);

    if (a->format == SC_SPARSE_COO)
        return (double)a->count;
    if (a->format == SC_SPARSE_DIA)
        return (double)a->count * (double)a->rows;
    return lines ? (double)(sc_sparse_at(a->end, a->index_bytes, lines - 1) - a->base) *
                       (a->format == SC_SPARSE_BSR ? (double)a->block * (double)a->block : 1)
                 : 0;
}

/* Estimated number of products of entries, as if all rows of B had the same number of entries. */
static double terms_of(const struct sc_sparse_factor f[2])
{
    const struct sc_sparse_arrays *b = &f[1].matrix->arrays;
    int64_t rows = f[1].trans == 'N' ? b->rows : b->cols;

    return rows > 0 ? entries_of(f[0].matrix) * entries_of(f[1].matrix) / (double)rows : 0;
}

/* Whether the product goes to the devices; opens the devices if necessary.  The matrices are locked. */
static bool to_device(const struct sc_sparse_factor f[2])
{
    enum sc_type type = f[0].matrix->arrays.type;
    struct sc_autotuner_call q = {.op = SC_OP_CSRMM, .type = type, .metric = sc_config.metric,
                                  .account = &f[0].matrix->account};
    struct sc_plan plan;
    double seconds;

    if (sc_config.offload == SC_OFFLOAD_NEVER || !sc_coherence_stack_fits())
        return false;
    q.terms = terms_of(f);
    q.bytes = (uint64_t)(entries_of(f[0].matrix) + entries_of(f[1].matrix)) * (sc_type_bytes(type) + 4);
    seconds = sc_autotuner_estimate(&q);
    if ((sc_config.offload != SC_OFFLOAD_ALWAYS && seconds < SMALL) || !sc_sparse_opened(seconds))
        return false;
    sc_machine_describe(sc_coherence_device_properties(0), sc_coherence_devices(), 1, &q.machine);
    sc_plan(&q, sc_config.offload, &plan);
    return plan.devices;
}

/* --- on the host -------------------------------------------------------------------------------------------------- */

static struct sc_csr as_kernels_see(const struct sc_sparse_csr *a)
{
    return (struct sc_csr){.rows = a->start, .columns = a->index, .nonzeros = sc_sparse_first(a, a->rows),
                           .end = a->cols, .index_bytes = a->index_bytes, .base = a->base};
}

static enum sc_status multiply_csr(const struct sc_sparse_csr *a, const struct sc_sparse_csr *b,
                                   struct sc_sparse_csr *out)
{
    struct sc_csr_product p = {.type = a->type, .m = a->rows, .n = b->cols, .k = a->cols, .a = as_kernels_see(a),
                               .b = as_kernels_see(b), .a_values = a->values, .b_values = b->values};
    size_t integer = (size_t)a->index_bytes;
    enum sc_status status = SC_ERR_MEMORY;

    *out = (struct sc_sparse_csr){.type = a->type, .index_bytes = a->index_bytes, .rows = a->rows, .cols = b->cols};
    out->start = sc_sparse_alloc(((size_t)a->rows + 1) * integer);
    if (out->start)
        status = sc_device_product_count(&p, (void *)out->start);
    if (status == SC_OK) {
        out->index = sc_sparse_alloc((size_t)p.nonzeros * integer);
        out->values = sc_sparse_alloc((size_t)p.nonzeros * sc_type_bytes(a->type));
        status = out->index && out->values ? sc_device_product_fill(&p, out->start, (void *)out->index,
                                                                    (void *)out->values)
                                           : SC_ERR_MEMORY;
    }
    if (status != SC_OK)
        sc_sparse_free_csr(out);
    return status;
}

/* A result with more entries than 32-bit positions can count needs 64-bit integers in all matrices. */
static enum sc_status multiply_in(int index_bytes, struct sc_sparse_csr *a, struct sc_sparse_csr *b,
                                  struct sc_sparse_csr *out)
{
    enum sc_status status;

    if (!sc_sparse_set_width(a, index_bytes) || !sc_sparse_set_width(b, index_bytes))
        return SC_ERR_MEMORY;
    if (a->index_bytes != b->index_bytes) /* one factor requires 64 bits */
        return multiply_in(8, a, b, out);
    status = multiply_csr(a, b, out);
    return status == SC_ERR_UNSUPPORTED && a->index_bytes == 4 ? multiply_in(8, a, b, out) : status;
}

static enum sc_status on_host(const struct sc_sparse_factor f[2], struct sc_sparse_csr *out)
{
    struct sc_sparse_csr left = {.borrowed = true}, right = {.borrowed = true};
    enum sc_status status = sc_sparse_sorted_csr(f[0].matrix, f[0].trans, &left);

    if (status == SC_OK)
        status = sc_sparse_sorted_csr(f[1].matrix, f[1].trans, &right);
    if (status == SC_OK)
        status = multiply_in(4, &left, &right, out);
    sc_sparse_free_csr(&left);
    sc_sparse_free_csr(&right);
    return status;
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* Locks or unlocks the matrices, in the order of their addresses to avoid a deadlock. */
static void lock(const struct sc_sparse_factor f[2], bool locks)
{
    bool swapped = (uintptr_t)f[0].matrix > (uintptr_t)f[1].matrix;

    for (int i = 0; i < 2; i++) {
        pthread_mutex_t *mutex = &f[swapped ? 1 - i : i].matrix->lock;

        if (i == 1 && f[0].matrix == f[1].matrix)
            break;
        if (locks)
            pthread_mutex_lock(mutex);
        else
            pthread_mutex_unlock(mutex);
    }
}

static enum sc_status multiply(const struct sc_sparse_factor f[2], struct sc_sparse_csr *out, bool *by_device)
{
    enum sc_status status = SC_ERR_UNSUPPORTED;

    lock(f, true);
    if (to_device(f))
        status = sc_sparse_multiply_on_device(f, out);
    lock(f, false);
    *by_device = status == SC_OK;
    if (status != SC_OK && status != SC_ERR_INVALID)
        status = on_host(f, out);
    if (status == SC_OK)
        sc_count(&(*by_device ? sc_stats.offloaded : sc_stats.host)[SC_TRACE_SPARSE_GEMM], 1);
    return status;
}

enum sc_status sc_sparse_multiply(struct sc_sparse_matrix **out, char transa, struct sc_sparse_matrix *a, char transb,
                                  struct sc_sparse_matrix *b)
{
    const struct sc_sparse_factor factor[2] = {{a, transa}, {b, transb}};
    struct sc_sparse_csr product;
    enum sc_status status;
    bool by_device;

    *out = NULL;
    if (a->arrays.type != b->arrays.type ||
        (transa == 'N' ? a->arrays.cols : a->arrays.rows) != (transb == 'N' ? b->arrays.rows : b->arrays.cols)) {
        sc_log(SC_LOG_ERROR, "sparse product: types or sizes of the two matrices do not fit");
        return SC_ERR_INVALID;
    }
    sc_inside_enter();
    status = multiply(factor, &product, &by_device);
    if (status == SC_OK)
        status = sc_sparse_adopt(out, &product, sc_sparse_wider(a, b));
    if (status == SC_OK && by_device)
        (*out)->measured = true; /* a device's result needs no check, and a check would fetch the arrays */
    sc_inside_leave();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
