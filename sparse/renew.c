/* Writes to a matrix's arrays, and their effect on derived copies (rule 2).
 *
 * A variant has the link time of its analysis.  While no array is written later, its parts are current.  After a write
 * to values only, the division into parts stays.  Parts with written values become stale, and are made again from the
 * written data.  Values uploaded unchanged have a link time for every part, and are uploaded again directly. */
#include <string.h>

#include "coherence/access.h"
#include "sparse/sparse_int.h"

static bool same_positions(const struct sc_sparse_variant *v, const struct sc_operand *source, int sources)
{
    for (int i = 1; i < sources; i++)
        if (sc_coherence_changed(&source[i], 0, source[i].view.rows, v->seen))
            return false;
    return true;
}

bool sc_sparse_is_current(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v,
                          const struct sc_operand *source, int sources)
{
    (void)m;
    return v->analysed && same_positions(v, source, sources) &&
           (v->csr.borrowed || !sc_coherence_changed(&source[0], 0, source[0].view.rows, v->seen));
}

/* --- values uploaded unchanged ------------------------------------------------------------------------------------ */

enum sc_status sc_sparse_upload_written(struct sc_derived *f, size_t at, const struct sc_operand *values,
                                        struct sc_sparse_range within, uint64_t since)
{
    struct sc_sparse_range run = within;
    enum sc_status status = SC_OK;

    for (; status == SC_OK && sc_coherence_changed_run(values, since, &run.first, &run.end);
         run = (struct sc_sparse_range){run.end, within.end})
        status = sc_coherence_derived_upload(f,
                                             at + (size_t)(run.first - within.first) * sc_type_bytes(values->view.type),
                                             values, run.first, run.end - run.first);
    return status;
}

enum sc_status sc_sparse_refresh(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v,
                                 struct sc_sparse_part *p, const struct sc_operand *source)
{
    int64_t first = p->first - m->first;
    uint64_t now;
    enum sc_status status;

    if (!v->csr.borrowed || !sc_coherence_changed(&source[0], first, p->entries, p->made))
        return SC_OK;
    now = sc_coherence_derive(&source[0]); /* does not clear the notes, so changes since p->made are still known */
    if (!now)
        return SC_ERR_MEMORY;
    status = sc_sparse_upload_written(&p->form, sc_sparse_layout_of(v, p).values, &source[0],
                                      (struct sc_sparse_range){first, first + p->entries}, p->made);
    if (status == SC_OK)
        p->made = now;
    return status;
}

/* --- values of converted parts ------------------------------------------------------------------------------------ */

#define RUNS_MAX 256

/* Written elements of the array `values`.  If there are too many runs, the last run covers all further elements. */
struct written {
    struct sc_sparse_range run[RUNS_MAX];
    int runs;
    bool all;
};

/* Finds the elements written since time `since`.  offset: position of the operand in the array.  The protocol's lock is
 * held. */
static void find_written(const struct sc_operand *values, int64_t offset, uint64_t since, struct written *w)
{
    int64_t n = values->view.rows;
    struct sc_sparse_range run = {0, n};

    w->runs = 0;
    for (; sc_coherence_changed_run(values, since, &run.first, &run.end); run = (struct sc_sparse_range){run.end, n}) {
        w->all = run.first == 0 && run.end == n;
        if (w->runs == RUNS_MAX)
            w->run[RUNS_MAX - 1].end = offset + run.end;
        else
            w->run[w->runs++] = (struct sc_sparse_range){offset + run.first, offset + run.end};
    }
}

/* If only values were written, links the arrays again, stores the written elements in *w and sets *same. */
static enum sc_status look(const struct sc_sparse_matrix *m, struct sc_sparse_variant *v, struct written *w, bool *same)
{
    struct sc_operand source[4];
    struct sc_view views[4];
    int sources = sc_sparse_views(m, views);
    uint64_t seen = v->seen;
    enum sc_status status = sc_coherence_begin(views, sources, source);

    *same = false;
    if (status != SC_OK)
        return status;
    if (same_positions(v, source, sources)) {
        status = sc_sparse_link(source, sources, &v->seen);
        *same = status == SC_OK;
        if (*same)
            find_written(&source[0], m->arrays.format == SC_SPARSE_BSR ? m->first * m->arrays.block * m->arrays.block
                                                                       : m->first, seen, w);
    }
    sc_coherence_end(source, sources);
    return status;
}

struct marking {
    struct sc_sparse_variant *v;
    int part; /* part of the previous row */
};

static void mark(void *context, int64_t row, int64_t col, int64_t at)
{
    struct marking *k = context;
    struct sc_sparse_part *p;

    (void)col;
    (void)at;
    k->part = sc_sparse_part_of(k->v, row, k->part);
    p = &k->v->part[k->part];
    if (row >= p->row && row < p->row + p->rows) /* else another thread is writing the arrays now, and the next call
                                                  * will notice */
        sc_sparse_widen(&p->stale, row);
}

/* Marks the stale rows of every part.  No walk is needed if everything was written or one device has all arrays. */
static void mark_parts(const struct sc_sparse_matrix *m, struct sc_sparse_variant *v, const struct written *w)
{
    struct marking k = {.v = v};

    if (w->all || (w->runs && v->parts == 1 && v->converted)) {
        for (int i = 0; i < v->parts; i++)
            v->part[i].stale = (struct sc_sparse_range){v->part[i].row, v->part[i].row + v->part[i].rows};
        return;
    }
    for (int i = 0; i < w->runs && v->parts; i++)
        sc_sparse_walk(&m->arrays, &v->use, &w->run[i], mark, &k);
}

enum sc_status sc_sparse_renew(struct sc_sparse_matrix *m, struct sc_sparse_variant *v)
{
    struct written w = {.runs = 0};
    bool same = v->analysed && !v->csr.borrowed && sc_sparse_same_offsets(m, v);
    enum sc_status status = same ? look(m, v, &w, &same) : SC_OK;

    if (status != SC_OK || !same) {
        if (v->analysed && !v->csr.borrowed)
            sc_sparse_chain_forget(m);
        return sc_sparse_analyse(m, v);
    }
    sc_sparse_free_csr(&v->csr); /* made from the old values */
    mark_parts(m, v, &w);
    for (int i = 0; i < v->parts; i++)
        if (sc_sparse_is_made(&v->part[i])) /* parts not made yet keep the time of their staged data */
            v->part[i].made = v->seen;
    return SC_OK;
}

/* --- arrays that the directory does not track -------------------------------------------------------------------- */

/* Arrays below SEMCACHE_ARENA_MIN, such as the row starts of a matrix with few rows, have copies in library memory
 * (rule 12). */
#define COPIED_MOST (((size_t)64 << 10) - 1) /* bytes of an array: larger ones can have a mirror */

enum { FIRST_OF_POSITIONS = 2 }; /* in the order of views: values, index, start, end */

static void update(struct sc_sparse_matrix *m, const struct sc_view *views, int i)
{
    void *copy = m->small[i].memory;
    size_t bytes = m->small[i].bytes;

    if (!copy || memcmp(copy, views[i].ptr, bytes) == 0)
        return;
    sc_coherence_acquire_host((uintptr_t)copy, bytes, SC_RDWR); /* notes the write */
    memcpy(copy, views[i].ptr, bytes);
}

/* 0: the array needs no copy. */
static size_t copied_bytes(const struct sc_view *v)
{
    size_t bytes = v->rows > 0 ? (size_t)v->rows * sc_type_bytes(v->type) : 0;

    return bytes && bytes <= COPIED_MOST && !sc_coherence_may_link(v->ptr, bytes) ? bytes : 0;
}

/* A copy of the right size stays, because other variants of the matrix are linked to the copy. */
enum sc_status sc_sparse_small_copy(struct sc_sparse_matrix *m)
{
    struct sc_view views[4];
    int count = sc_sparse_program_views(m, views);

    for (int i = 0; i < count; i++) {
        size_t bytes = copied_bytes(&views[i]);

        if (bytes && m->small[i].memory && m->small[i].bytes == bytes) {
            update(m, views, i);
            continue;
        }
        sc_sparse_free(m->small[i].memory);
        m->small[i].memory = bytes ? sc_sparse_alloc(bytes) : NULL;
        m->small[i].bytes = bytes;
        if (bytes && !m->small[i].memory)
            return SC_ERR_MEMORY;
        if (bytes)
            memcpy(m->small[i].memory, views[i].ptr, bytes);
    }
    return SC_OK;
}

/* With other positions than at the analysis, the arrays of entries may be shorter than their copies: the call analyses
 * the matrix again, and copies then. */
void sc_sparse_small_update(struct sc_sparse_matrix *m)
{
    struct sc_view views[4];
    int64_t first, end;
    int count;

    if (!m->small[0].memory && !m->small[1].memory && !m->small[2].memory && !m->small[3].memory)
        return;
    count = sc_sparse_program_views(m, views);
    for (int i = FIRST_OF_POSITIONS; i < count; i++)
        update(m, views, i);
    sc_sparse_extent(&m->arrays, &first, &end);
    for (int i = 0; i < FIRST_OF_POSITIONS && first == m->first && end == m->end; i++)
        update(m, views, i);
}
/* SPDX-License-Identifier: BSD-2-Clause */
