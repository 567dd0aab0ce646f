/* Vectors that kernels cannot use in place, and therefore go through temporaries: strided vectors, columns of matrices
 * in several tile rows, sectors of y written by another device. */
#include "sparse/sparse_int.h"

struct sc_piece sc_sparse_piece(const struct sc_operand *v, int64_t first, int64_t n, enum sc_access access)
{
    if (v->view.ld < 0)
        first = v->view.rows - first - n;
    return (struct sc_piece){.operand = v, .r = first, .rows = n, .cols = 1, .access = access};
}

bool sc_sparse_is_direct(const struct sc_operand *v)
{
    struct sc_cuts cuts;

    if (v->view.vector && v->view.ld != 1)
        return false;
    sc_coherence_row_cuts(v, &cuts);
    if (cuts.n > 1 || v->view.vector)
        return cuts.n <= 1;
    sc_coherence_col_cuts(v, &cuts);
    return cuts.n <= 1;
}

/* Number of elements from `first` on, at most n, that lie in one tile. */
static int64_t run_of(const struct sc_operand *v, const struct sc_cuts *cuts, int64_t first, int64_t n)
{
    int64_t rows = v->view.rows;

    for (int i = 0; i < cuts->n; i++) {
        int64_t end = v->view.ld > 0 ? cuts->at[i + 1] : rows - cuts->at[cuts->n - i - 1];

        if (end > first)
            return end - first < n ? end - first : n;
    }
    return n;
}

static struct sc_piece temporary(void *memory, int64_t n, enum sc_access access)
{
    return (struct sc_piece){.rows = n, .cols = 1, .access = access, .temporary = memory, .temporary_ld = 1};
}

bool sc_sparse_is_at(const struct sc_operand *v, int64_t first, int64_t n, int device)
{
    struct sc_piece piece = sc_sparse_piece(v, first, n, SC_WRITE);
    struct sc_cuts cuts;

    if (v->view.vector) /* strided */
        return false;
    sc_coherence_row_cuts(v, &cuts);
    return run_of(v, &cuts, first, n) == n && sc_coherence_where(&piece) == device;
}

/* Copies elements of one tile to a temporary. */
static enum sc_status gather_run(const struct sc_operand *v, int64_t first, int64_t n, int device, void *memory)
{
    struct sc_kernel copy = {.op = SC_OP_COPY, .type = v->view.type, .n = n};
    struct sc_piece pieces[3] = {sc_sparse_piece(v, first, n, SC_READ), temporary(memory, n, SC_WRITE)};

    return sc_coherence_task(device, &copy, pieces, NULL, NULL);
}

/* As gather_run, but copies on the source device first, so that neither other rows of the tile nor other columns are
 * transferred. */
static enum sc_status gather_remote(const struct sc_operand *v, int64_t first, int64_t n, int from, int device,
                                    void *memory)
{
    size_t bytes = (size_t)n * sc_type_bytes(v->view.type);
    void *there;
    enum sc_status status = sc_coherence_temporary(from, bytes, &there);

    if (status != SC_OK)
        return status;
    status = gather_run(v, first, n, from, there);
    if (status == SC_OK)
        status = sc_coherence_temporary_copy(device, memory, from, there, bytes);
    sc_coherence_temporary_free(from, there);
    return status;
}

enum sc_status sc_sparse_gather(const struct sc_operand *v, int64_t first, int64_t n, int device, void *memory)
{
    size_t elem = sc_type_bytes(v->view.type);
    enum sc_status status = SC_OK;
    struct sc_cuts cuts;

    sc_coherence_row_cuts(v, &cuts);
    for (int64_t at = 0, run; at < n && status == SC_OK; at += run) {
        void *to = (char *)memory + (size_t)at * elem;
        struct sc_piece piece;
        int from = device;

        run = run_of(v, &cuts, first + at, n - at);
        piece = sc_sparse_piece(v, first + at, run, SC_READ);
        if (!v->view.vector && sc_coherence_missing(device, &piece))
            from = sc_coherence_where(&piece);
        status = from == device ? gather_run(v, first + at, run, device, to)
                                : gather_remote(v, first + at, run, from, device, to);
    }
    return status;
}

/* A run of sc_sparse_put, on `owner`, from memory of that device. */
static enum sc_status put_run(const struct sc_operand *y, int64_t first, int64_t n, int owner, void *memory,
                              const double beta[2])
{
    bool overwrites = beta[0] == 0 && beta[1] == 0;
    struct sc_kernel k = {.op = overwrites ? SC_OP_COPY : SC_OP_AXPBY, .type = y->view.type, .n = n, .alpha = {1, 0},
                          .beta = {beta[0], beta[1]}};
    struct sc_piece pieces[3] = {temporary(memory, n, SC_READ), sc_sparse_piece(y, first, n,
                                                                                overwrites ? SC_WRITE : SC_RDWR)};

    return sc_coherence_task(owner, &k, pieces, NULL, NULL);
}

enum sc_status sc_sparse_put(const struct sc_operand *y, int64_t first, int64_t n, int owner, int device, void *memory,
                             const double beta[2], int64_t *done)
{
    size_t elem = sc_type_bytes(y->view.type);
    enum sc_status status = SC_OK;
    struct sc_cuts cuts;

    *done = 0;
    sc_coherence_row_cuts(y, &cuts);
    for (int64_t at = 0, run; at < n && status == SC_OK; at += run) {
        void *there = (char *)memory + (size_t)at * elem, *staging = NULL;
        int where = owner;

        run = run_of(y, &cuts, first + at, n - at);
        if (where < 0) {
            struct sc_piece piece = sc_sparse_piece(y, first + at, run, SC_RDWR);

            where = sc_coherence_where(&piece);
        }
        if (where != device) {
            status = sc_coherence_temporary(where, (size_t)run * elem, &staging);
            if (status == SC_OK)
                status = sc_coherence_temporary_copy(where, staging, device, there, (size_t)run * elem);
            there = staging;
        }
        if (status == SC_OK)
            status = put_run(y, first + at, run, where, there, beta);
        if (staging)
            sc_coherence_temporary_free(where, staging);
        *done += status == SC_OK ? run : 0;
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
