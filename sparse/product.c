/* A product or a solve on the devices: one task per part of the matrix, on the part's device. */
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse_int.h"

#define ATTEMPTS 8 /* limit for parts that are evicted, or arrays that change, again and again */

/* A call in progress.  The parts before `next`, in the order of execution, are done. */
struct product {
    const struct sc_sparse_call *call;
    struct sc_sparse_variant *v;
    struct sc_operand operand[6]; /* the matrix's arrays, then x and y */
    int sources;
    const struct sc_operand *x, *y;
    struct sc_operand column[2]; /* x or y as a column of the tracked matrix that contains the vector */
    bool direct_x, direct_y;
    int next;
    struct detour *ahead; /* of all parts, while rows are gathered ahead; or NULL */
};

static struct sc_sparse_part *next_part(const struct product *c) { return &c->v->part[c->v->order[c->next]]; }

static bool is_of_vectors(const struct sc_sparse_call *call)
{
    return call->op == SC_OP_CSRMV || call->op == SC_OP_CSRSV;
}

/* --- one part ----------------------------------------------------------------------------------------------------- */

/* Temporaries of a part; the first element of x is element `first` of the operand. */
struct detour {
    void *x, *y;
    int64_t first;
    struct sc_sparse_sends sends;
};

/* Rows [first, first + n) of a dense operand with all columns, or elements of a vector. */
static struct sc_piece rows_of(const struct product *c, const struct sc_operand *o, int64_t first, int64_t n,
                               enum sc_access access)
{
    struct sc_piece piece = {.operand = o, .access = access};

    if (is_of_vectors(c->call))
        return sc_sparse_piece(o, first, n, access);
    piece.r = c->call->by_rows ? 0 : first;
    piece.c = c->call->by_rows ? first : 0;
    piece.rows = c->call->by_rows ? c->call->columns : n;
    piece.cols = c->call->by_rows ? n : c->call->columns;
    return piece;
}

static bool overwrites(const struct sc_sparse_call *call)
{
    return call->op == SC_OP_CSRSV || call->op == SC_OP_CSRSM || (call->beta[0] == 0 && call->beta[1] == 0);
}

/* Devices solve from one operand to another, not in place. */
static bool is_in_place(const struct sc_sparse_call *call)
{
    return call->x == call->y && (call->op == SC_OP_CSRSV || call->op == SC_OP_CSRSM);
}

/* Whether kernels of the part read x in place. */
static bool is_read_directly(const struct product *c, const struct sc_sparse_part *p)
{
    int64_t first = p->ranges ? p->x[0].first : 0, end = p->ranges ? p->x[p->ranges - 1].end : 0;

    return !p->ranges || c->direct_x ||
           (!is_of_vectors(c->call) && sc_sparse_is_at(c->x, first, end - first, p->device));
}

/* Values and bytes of an element of a dense operand. */
static int64_t element_values(const struct product *c) { return is_of_vectors(c->call) ? 1 : c->call->columns; }
static size_t element_bytes(const struct product *c)
{
    return (size_t)element_values(c) * sc_type_bytes(c->v->csr.type);
}

static enum sc_status gather_x(const struct product *c, const struct sc_sparse_part *p, struct detour *d)
{
    int64_t end = p->x[p->ranges - 1].end;
    size_t bytes = element_bytes(c);
    enum sc_status status;

    d->first = p->x[0].first;
    status = sc_coherence_temporary(p->device, (size_t)(end - d->first) * bytes, &d->x);
    for (int i = 0; i < p->ranges && status == SC_OK; i++)
        status = sc_sparse_gather(c->x, p->x[i].first, p->x[i].end - p->x[i].first, p->device,
                                  (char *)d->x + (size_t)(p->x[i].first - d->first) * bytes, &d->sends);
    return status;
}

static void drop(const struct sc_sparse_part *p, struct detour *d)
{
    sc_sparse_gathered(p->device, &d->sends);
    if (d->x)
        sc_coherence_temporary_free(p->device, d->x);
    if (d->y)
        sc_coherence_temporary_free(p->device, d->y);
    *d = (struct detour){0};
}

/* Parts that need rows of other devices run last.  For a matrix by rows, these rows are on their way while devices run
 * the other parts.  A part whose rows cannot be sent ahead gathers them itself. */
static void gather_ahead(struct product *c)
{
    bool all_made = true;

    for (int i = c->next; i < c->v->parts && all_made; i++)
        all_made = sc_sparse_is_made(&c->v->part[c->v->order[i]]);
    if (c->direct_x || is_of_vectors(c->call) || !all_made)
        return;
    c->ahead = calloc((size_t)c->v->parts, sizeof *c->ahead);
    for (int i = c->next; i < c->v->parts; i++)
        c->v->part[c->v->order[i]].form.lru.pins++; /* temporaries must not evict parts */
    for (int i = c->next; i < c->v->parts && c->ahead; i++) {
        struct sc_sparse_part *p = &c->v->part[c->v->order[i]];
        struct detour *d = &c->ahead[c->v->order[i]];

        if (!is_read_directly(c, p) && gather_x(c, p, d) != SC_OK)
            drop(p, d);
    }
    for (int i = c->next; i < c->v->parts; i++)
        if (c->v->part[c->v->order[i]].form.memory) /* else the part was lost with its device */
            c->v->part[c->v->order[i]].form.lru.pins--;
}

static void drop_ahead(struct product *c)
{
    for (int i = 0; i < c->v->parts && c->ahead; i++)
        drop(&c->v->part[i], &c->ahead[i]);
    free(c->ahead);
    c->ahead = NULL;
}

static enum sc_status prepare_x(const struct product *c, const struct sc_sparse_part *p, struct sc_piece *pieces,
                                int *count, struct detour *d)
{
    enum sc_status status = SC_OK;

    *count = 1;
    if (!p->ranges) { /* nothing will be read */
        pieces[0] = (struct sc_piece){.rows = 1, .cols = 1, .temporary = p->form.memory, .temporary_ld = c->call->ldx};
        return SC_OK;
    }
    if (!d->x && is_read_directly(c, p)) {
        *count = p->ranges;
        for (int i = 0; i < p->ranges; i++)
            pieces[i] = rows_of(c, c->x, p->x[i].first, p->x[i].end - p->x[i].first, SC_READ);
        return SC_OK;
    }
    if (!d->x)
        status = gather_x(c, p, d);
    if (status == SC_OK)
        status = sc_sparse_gathered(p->device, &d->sends);
    if (status != SC_OK) /* perhaps there is no memory to point to */
        return status;
    pieces[0] = (struct sc_piece){.rows = c->call->inputs, .cols = 1, .temporary_ld = element_values(c),
                                  .temporary = (char *)d->x - (size_t)d->first * element_bytes(c)};
    return SC_OK;
}

/* Whether the part's device can write the part's rows of y in place. */
static bool is_written_directly(const struct product *c, const struct sc_sparse_part *p)
{
    if (!is_of_vectors(c->call))
        return c->direct_y || sc_sparse_is_at(c->y, p->row, p->rows, p->device);
    if (is_in_place(c->call))
        return false;
    return c->direct_y ? p->owner == p->device : sc_sparse_is_at(c->y, p->row, p->rows, p->device);
}

static enum sc_status prepare_y(const struct product *c, const struct sc_sparse_part *p, struct sc_kernel *k,
                                struct sc_piece *piece, struct detour *d)
{
    enum sc_status status;

    if (is_written_directly(c, p)) {
        *piece = rows_of(c, c->y, p->row, p->rows, overwrites(c->call) ? SC_WRITE : SC_RDWR);
        return SC_OK;
    }
    status = sc_coherence_temporary(p->device, (size_t)p->rows * element_bytes(c), &d->y);
    *piece = (struct sc_piece){.rows = p->rows, .cols = 1, .access = SC_WRITE, .temporary = d->y,
                               .temporary_ld = element_values(c)};
    k->beta[0] = k->beta[1] = 0;
    return status;
}

/* *done: number of rows of the part that have been written. */
static enum sc_status run_part(struct product *c, struct sc_sparse_part *p, int64_t *done)
{
    const struct sc_sparse_call *call = c->call;
    struct sc_kernel k = {.op = call->op, .uplo = 'L', .diag = 'N', .transb = call->by_rows ? 'T' : 'N',
                          .alpha = {call->alpha[0], call->alpha[1]}, .beta = {call->beta[0], call->beta[1]},
                          .k = call->columns};
    struct detour own = {0}, *d = c->ahead ? &c->ahead[p - c->v->part] : &own;
    struct sc_piece x[64], y;
    enum sc_status status;
    int parts = 0;

    *done = 0;
    sc_sparse_part_kernel(c->v, p, &k);
    k.csr.diagonal = sc_sparse_is_diagonal(call->matrix, c->v) && p->entries == p->rows;
    k.csr.shift = p->row;
    k.csr.chain = call->matrix->chain[call->use.descr.uplo == 'U'];
    if (c->v->use.solve && (c->v->use.descr.uplo == 'U') == (c->v->use.trans == 'N'))
        k.uplo = 'U';
    status = prepare_x(c, p, x, &parts, d);
    if (status == SC_OK)
        status = prepare_y(c, p, &k, &y, d);
    if (status == SC_OK)
        status = sc_coherence_derived_task(&p->form, &k, x, parts, &y);
    if (status == SC_OK && d->y)
        status = sc_sparse_put(c->y, p->row, p->rows, c->direct_y ? p->owner : -1, p->device, d->y, call->beta, done);
    else if (status == SC_OK)
        *done = p->rows;
    drop(p, d);
    return status;
}

/* --- all parts ---------------------------------------------------------------------------------------------------- */

/* A vector that is a column of a matrix in several tile rows is used as that column.  Several such columns, and other
 * matrices in several tiles than the factors of a product by rows, cannot be pieces: NULL. */
static const struct sc_operand *with_pieces(const struct sc_sparse_call *call, const struct sc_operand *o,
                                            struct sc_operand *column)
{
    bool strips = call->op == SC_OP_CSRMM && call->by_rows;

    if (!o->view.vector)
        return sc_sparse_is_direct(o) || (strips && sc_sparse_is_in_strips(o)) ? o : NULL;
    if (!sc_coherence_as_matrix(o, column))
        return o;
    return column->view.cols == 1 ? column : NULL;
}

/* Whether each part's rows of y, a matrix by rows that is added to, lie in one tile. */
static bool parts_fit_tiles(const struct product *c)
{
    for (int i = 0; i < c->v->parts; i++)
        if (!sc_sparse_is_at(c->y, c->v->part[i].row, c->v->part[i].rows, c->v->part[i].device))
            return false;
    return true;
}

/* After the first part y is no longer overwritten as a whole: a copy of an untracked y must then keep the results. */
static enum sc_status begin(struct product *c)
{
    const struct sc_sparse_call *call = c->call;
    bool all = overwrites(call) && c->next == 0;
    struct sc_view views[6];
    enum sc_status status;

    c->sources = sc_sparse_views(call->matrix, views);
    views[c->sources] = sc_sparse_dense_view(call, call->x, call->inputs, call->ldx, SC_READ);
    views[c->sources + 1] = sc_sparse_dense_view(call, call->y, call->outputs, call->ldy, all ? SC_WRITE : SC_RDWR);
    views[c->sources].spread = views[c->sources + 1].spread = c->v->devices;
    status = sc_coherence_begin(views, c->sources + 2, c->operand);
    if (status != SC_OK)
        return status;
    c->x = with_pieces(call, &c->operand[c->sources], &c->column[0]);
    c->y = with_pieces(call, &c->operand[c->sources + 1], &c->column[1]);
    if (c->x && c->y && !(call->op == SC_OP_CSRSM && is_in_place(call))) {
        c->direct_x = sc_sparse_is_direct(c->x);
        c->direct_y = sc_sparse_is_direct(c->y);
        if (is_of_vectors(call) || c->direct_y || overwrites(call) || parts_fit_tiles(c))
            return SC_OK;
    }
    sc_coherence_end(c->operand, c->sources + 2);
    return SC_ERR_UNSUPPORTED;
}

/* The call overwrites all of a matrix.  A failure shows in the tasks, which upload what is missing or fall back. */
static void claim_tiles(const struct sc_operand *y)
{
    struct sc_cuts rows, cols;

    sc_coherence_row_cuts(y, &rows);
    sc_coherence_col_cuts(y, &cols);
    for (int i = 0; i < rows.n; i++)
        for (int j = 0; j < cols.n; j++) {
            struct sc_piece tile = {.operand = y, .r = rows.at[i], .c = cols.at[j], .access = SC_WRITE,
                                    .rows = rows.at[i + 1] - rows.at[i], .cols = cols.at[j + 1] - cols.at[j]};

            sc_coherence_claim(sc_coherence_where(&tile), &tile, 'A');
        }
}

void sc_sparse_claim_matrix(const struct sc_sparse_call *call)
{
    struct sc_view view = sc_sparse_dense_view(call, call->y, call->outputs, call->ldy, SC_WRITE);
    struct sc_operand y;

    if (!overwrites(call) || is_in_place(call) || sc_coherence_begin(&view, 1, &y) != SC_OK)
        return;
    claim_tiles(&y);
    sc_coherence_end(&y, 1);
}

/* Parts write some rows of a sector each, where y is a column with one sector for each tile, or a matrix by rows.
 * Together they overwrite y. */
static void claim_result(const struct product *c)
{
    bool in_tiles = is_of_vectors(c->call) ? !c->y->view.vector : !c->direct_y;

    if (in_tiles && c->call->x != c->call->y && overwrites(c->call))
        claim_tiles(c->y);
}

/* Runs the parts from c->next on until a part has no memory.  Takes and releases the protocol's lock.  *done: on an
 * error, the number of written rows of part c->next. */
static enum sc_status run_parts(struct product *c, bool *current, int64_t *done)
{
    enum sc_status status = begin(c);

    *done = 0;
    if (status != SC_OK)
        return status;
    *current = c->next > 0 || sc_sparse_is_current(c->call->matrix, c->v, c->operand, c->sources);
    if (*current && c->next == 0)
        claim_result(c);
    if (*current)
        gather_ahead(c);
    while (*current && status == SC_OK && c->next < c->v->parts && sc_sparse_is_made(next_part(c))) {
        struct sc_sparse_part *p = next_part(c);

        status = sc_sparse_refresh(c->call->matrix, c->v, p, &c->operand[0]);
        p->form.lru.pins++; /* the part's temporaries must not evict the part */
        if (status == SC_OK)
            status = run_part(c, p, done);
        if (p->form.memory) /* else the part was lost with its device */
            p->form.lru.pins--;
        if (status == SC_OK) {
            c->next++;
            *done = 0;
        }
    }
    drop_ahead(c);
    sc_coherence_end(c->operand, c->sources + 2);
    return status;
}

/* Runs the part c->next, which no device can run, on the host, from its row `done` on. */
static enum sc_status part_on_host(struct product *c, int64_t done)
{
    struct sc_sparse_part *p = next_part(c);
    enum sc_status status = sc_sparse_rows_on_host(c->call, p->row + done, p->rows - done);

    c->next += status == SC_OK;
    return status;
}

/* Prepares the next run of parts: renews the matrix, or makes the next part. */
static enum sc_status make_ready(struct product *c, bool *current)
{
    if (!*current) {
        enum sc_status status = sc_sparse_renew(c->call->matrix, c->v);

        if (status == SC_OK && c->v->use.solve && c->v->parts > 1)
            return SC_ERR_UNSUPPORTED;
        *current = status == SC_OK;
        return status;
    }
    return c->next < c->v->parts ? sc_sparse_make_part(c->call->matrix, c->v, next_part(c)) : SC_OK;
}

enum sc_status sc_sparse_on_devices(const struct sc_sparse_call *call)
{
    struct product c = {.call = call, .v = sc_sparse_variant_for(call->matrix, &call->use)};
    bool current = c.v->analysed && sc_sparse_same_offsets(call->matrix, c.v);
    enum sc_status status = SC_OK;
    int64_t done = 0;

    sc_sparse_small_update(call->matrix);
    if (!c.v->analysed)
        c.v->columns = call->columns;
    if (!current)
        status = make_ready(&c, &current);
    for (int attempt = 0; status == SC_OK && c.next < c.v->parts; attempt++) {
        int before = c.next;

        done = 0;
        status = run_parts(&c, &current, &done);
        if (c.next > before)
            attempt = 0;
        if (status == SC_OK && (c.next < c.v->parts || !current))
            status = attempt < ATTEMPTS ? make_ready(&c, &current) : SC_ERR_DEVICE;
        if (status != SC_OK && c.next == 0 && !done)
            return status; /* nothing has been written: the caller runs the whole call on the host */
        if (status != SC_OK)
            status = part_on_host(&c, done);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
