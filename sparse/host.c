/* Products and solves on the host: loops (device/kernel_sparse.c) over the program's arrays, which are checked
 * first. */
#include <string.h>

#include "coherence/access.h"
#include "sparse/sparse_int.h"

void sc_sparse_bring_home(const struct sc_sparse_matrix *m)
{
    struct sc_view views[4];
    int sources = sc_sparse_views(m, views);

    for (int i = 0; i < sources; i++)
        sc_coherence_acquire_view(&views[i]);
}

struct sc_view sc_sparse_dense_view(const struct sc_sparse_call *call, const void *ptr, int64_t n, int64_t ld,
                                 enum sc_access access)
{
    bool vector = call->op == SC_OP_CSRMV || call->op == SC_OP_CSRSV;

    return (struct sc_view){.ptr = ptr, .type = call->matrix->arrays.type, .vector = vector,
                            .rows = call->by_rows && !vector ? call->columns : n,
                            .cols = vector ? 1 : call->by_rows ? n : call->columns, .ld = ld, .access = access,
                            .split = call->by_rows ? SC_SPLIT_COLS : SC_SPLIT_ROWS};
}

void sc_sparse_acquire_dense(const struct sc_sparse_call *call)
{
    struct sc_view x = sc_sparse_dense_view(call, call->x, call->inputs, call->ldx, SC_READ);
    struct sc_view y = sc_sparse_dense_view(call, call->y, call->outputs, call->ldy, SC_RDWR);

    sc_coherence_acquire_view(&x);
    sc_coherence_acquire_view(&y);
}

/* Address of rows [row, row + rows) of the result.  With a negative increment the lowest address belongs to the last
 * row. */
static void *result_at(const struct sc_sparse_call *call, int64_t row, int64_t rows)
{
    bool vector = call->op == SC_OP_CSRMV || call->op == SC_OP_CSRSV;
    int64_t step = vector || call->by_rows ? call->ldy : 1;

    if (vector && step < 0) {
        row = call->outputs - row - rows;
        step = -step;
    }
    return (char *)call->y + row * step * (int64_t)sc_type_bytes(call->matrix->arrays.type);
}

enum sc_status sc_sparse_csr_on_host(const struct sc_sparse_call *call, const struct sc_sparse_csr *a, int64_t row,
                                     int64_t rows)
{
    bool upper = (call->use.descr.uplo == 'U') == (call->use.trans == 'N');
    struct sc_kernel k = {.op = call->op, .type = a->type, .transa = 'N', .transb = call->by_rows ? 'T' : 'N',
                          .uplo = upper ? 'U' : 'L', .diag = 'N', .m = rows, .n = a->cols, .k = call->columns,
                          .alpha = {call->alpha[0], call->alpha[1]}, .beta = {call->beta[0], call->beta[1]},
                          .a = (void *)a->values, .b = (void *)call->x, .c = result_at(call, row,
                                                                                       rows), .ldb = call->ldx,
                          .ldc = call->ldy};
    struct sc_view x = sc_sparse_dense_view(call, call->x, call->inputs, call->ldx, SC_READ);
    struct sc_view y = sc_sparse_dense_view(call, k.c, rows, call->ldy, SC_RDWR);

    k.csr = (struct sc_csr){.rows = (const char *)a->start + row * a->index_bytes, .columns = a->index,
                            .nonzeros = sc_sparse_first(a, a->rows), .end = a->cols, .index_bytes = a->index_bytes,
                            .base = a->base};
    sc_coherence_acquire_view(&x);
    sc_coherence_acquire_view(&y);
    return sc_device_kernel_host(NULL, &k);
}

/* The CSR for a use: kept from an earlier call, or made now; sc_sparse_free_csr frees the CSR if not borrowed. */
static enum sc_status csr_for(struct sc_sparse_matrix *m, const struct sc_sparse_use *use, struct sc_sparse_csr *out)
{
    enum sc_status status;

    if (m->host.start && memcmp(&m->host_use, use, sizeof *use) == 0) {
        *out = m->host;
        out->borrowed = true;
        return SC_OK;
    }
    sc_sparse_bring_home(m);
    status = sc_sparse_make_csr(&m->arrays, use, out);
    if (status == SC_OK && !out->borrowed)
        sc_log(SC_LOG_DEBUG, "sparse matrix: rearranged for the host");
    if (status == SC_OK && m->is_private && !out->borrowed) {
        sc_sparse_free_csr(&m->host);
        m->host = *out;
        m->host_use = *use;
        out->borrowed = true;
    }
    return status;
}

enum sc_status sc_sparse_rows_on_host(const struct sc_sparse_call *call, int64_t row, int64_t rows)
{
    struct sc_sparse_matrix *m = call->matrix;
    struct sc_sparse_csr csr;
    enum sc_status status;

    if (rows <= 0)
        return SC_OK;
    sc_log(SC_LOG_DEBUG, "sparse %s: %lld of %lld rows on the host", sc_op_name(call->op), (long long)rows,
           (long long)call->outputs);
    status = sc_sparse_measure(m);
    if (status != SC_OK)
        return status;
    status = csr_for(m, &call->use, &csr);
    if (status == SC_OK)
        sc_sparse_chain_of(m, &call->use, &csr);
    if (status == SC_OK)
        status = sc_sparse_csr_on_host(call, &csr, row, rows);
    sc_sparse_free_csr(&csr);
    return status;
}

enum sc_status sc_sparse_on_host(const struct sc_sparse_call *call)
{
    return sc_sparse_rows_on_host(call, 0, call->outputs);
}
/* SPDX-License-Identifier: BSD-2-Clause */
