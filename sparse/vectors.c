/* Dense operands that kernels cannot use in place, and therefore go through temporaries: strided vectors, columns of
 * matrices in several tile rows, matrices by rows in several tiles, sectors of y written by another device.  An element
 * of a matrix by rows is a row of the program's matrix, which is a column of the view. */
#include <stdlib.h>

#include "sparse/sparse_int.h"

static bool is_by_rows(const struct sc_operand *v) { return !v->view.vector && v->view.cols > 1; }

static int64_t values_of_element(const struct sc_operand *v) { return is_by_rows(v) ? v->view.rows : 1; }

static size_t bytes_of(const struct sc_operand *v, int64_t elements)
{
    return (size_t)(elements * values_of_element(v)) * sc_type_bytes(v->view.type);
}

struct sc_piece sc_sparse_piece(const struct sc_operand *v, int64_t first, int64_t n, enum sc_access access)
{
    if (is_by_rows(v))
        return (struct sc_piece){.operand = v, .c = first, .rows = v->view.rows, .cols = n, .access = access,
                                 .temporary_ld = v->view.rows};
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

static void cuts_between_elements(const struct sc_operand *v, struct sc_cuts *cuts)
{
    if (is_by_rows(v))
        sc_coherence_col_cuts(v, cuts);
    else
        sc_coherence_row_cuts(v, cuts);
}

bool sc_sparse_is_in_strips(const struct sc_operand *matrix)
{
    struct sc_cuts cuts;

    sc_coherence_row_cuts(matrix, &cuts);
    return cuts.n <= 1 && is_by_rows(matrix);
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
    cuts_between_elements(v, &cuts);
    return run_of(v, &cuts, first, n) == n && (is_by_rows(v) || sc_coherence_where(&piece) == device);
}

/* Copies elements of one tile to a temporary. */
static enum sc_status gather_run(const struct sc_operand *v, int64_t first, int64_t n, int device, void *memory)
{
    struct sc_kernel copy = {.op = SC_OP_COPY, .type = v->view.type, .n = n};
    struct sc_piece pieces[3] = {sc_sparse_piece(v, first, n, SC_READ), temporary(memory, n, SC_WRITE)};

    if (is_by_rows(v))
        return sc_coherence_own_copy(device, &pieces[0], memory, true);
    return sc_coherence_task(device, &copy, pieces, NULL, NULL);
}

struct sc_sparse_send {
    int from;
    void *memory; /* of that device */
    struct sc_fence sent;
};

static struct sc_sparse_send *add_send(struct sc_sparse_sends *sends)
{
    if (sends->count == sends->room) {
        int room = 2 * sends->room + 8;
        struct sc_sparse_send *more = realloc(sends->send, (size_t)room * sizeof *more);

        if (!more)
            return NULL;
        sends->send = more;
        sends->room = room;
    }
    return &sends->send[sends->count];
}

/* As gather_run, but copies on the source device first, so that neither other rows of the tile nor other columns are
 * transferred. */
static enum sc_status gather_remote(const struct sc_operand *v, int64_t first, int64_t n, int from, int device,
                                    void *memory, struct sc_sparse_sends *sends)
{
    struct sc_sparse_send *s = add_send(sends);
    enum sc_status status = s ? sc_coherence_temporary(from, bytes_of(v, n), &s->memory) : SC_ERR_MEMORY;

    if (status != SC_OK)
        return status;
    s->from = from;
    s->sent = SC_FENCE_NONE;
    sends->count++;
    status = gather_run(v, first, n, from, s->memory);
    return status == SC_OK ? sc_coherence_temporary_send(device, memory, from, s->memory, bytes_of(v, n), &s->sent)
                           : status;
}

enum sc_status sc_sparse_gathered(int device, struct sc_sparse_sends *sends)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < sends->count; i++) {
        const struct sc_sparse_send *s = &sends->send[i];
        enum sc_status arrives = sc_coherence_temporary_wait(device, s->sent);
        enum sc_status is_sent = sc_coherence_temporary_wait(s->from, s->sent);

        status = status != SC_OK ? status : arrives != SC_OK ? arrives : is_sent;
        sc_coherence_temporary_free(s->from, s->memory);
    }
    free(sends->send);
    *sends = (struct sc_sparse_sends){0};
    return status;
}

enum sc_status sc_sparse_gather(const struct sc_operand *v, int64_t first, int64_t n, int device, void *memory,
                                struct sc_sparse_sends *sends)
{
    enum sc_status status = SC_OK;
    struct sc_cuts cuts;

    cuts_between_elements(v, &cuts);
    for (int64_t at = 0, run; at < n && status == SC_OK; at += run) {
        void *to = (char *)memory + bytes_of(v, at);
        struct sc_piece piece;
        int from = device;

        run = run_of(v, &cuts, first + at, n - at);
        piece = sc_sparse_piece(v, first + at, run, SC_READ);
        if (!v->view.vector && sc_coherence_missing(device, &piece))
            from = sc_coherence_where(&piece);
        status = from == device ? gather_run(v, first + at, run, device, to)
                                : gather_remote(v, first + at, run, from, device, to, sends);
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

    if (is_by_rows(y)) /* overwrites */
        return sc_coherence_own_copy(owner, &pieces[1], memory, false);
    return sc_coherence_task(owner, &k, pieces, NULL, NULL);
}

enum sc_status sc_sparse_put(const struct sc_operand *y, int64_t first, int64_t n, int owner, int device, void *memory,
                             const double beta[2], int64_t *done)
{
    enum sc_status status = SC_OK;
    struct sc_cuts cuts;

    *done = 0;
    cuts_between_elements(y, &cuts);
    for (int64_t at = 0, run; at < n && status == SC_OK; at += run) {
        void *there = (char *)memory + bytes_of(y, at), *staging = NULL;
        int where = owner;

        run = run_of(y, &cuts, first + at, n - at);
        if (where < 0) {
            struct sc_piece piece = sc_sparse_piece(y, first + at, run, SC_RDWR);

            where = sc_coherence_where(&piece);
        }
        if (where != device) {
            status = sc_coherence_temporary(where, bytes_of(y, run), &staging);
            if (status == SC_OK)
                status = sc_coherence_temporary_copy(where, staging, device, there, bytes_of(y, run));
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
