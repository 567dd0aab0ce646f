/* The parts of a matrix on devices: analysis and construction.  renew.c handles writes to the program's arrays. */
#include <stdlib.h>
#include <string.h>

#include "autotuner/plan.h"
#include "base/config.h"
#include "coherence/access.h"
#include "sparse/sparse_int.h"

/* --- variants ----------------------------------------------------------------------------------------------------- */

static void drop_parts(struct sc_sparse_variant *v)
{
    free(v->order);
    v->order = NULL;
    if (!v->parts)
        return;
    for (int i = 0; i < v->parts; i++) {
        sc_coherence_derived_discard(&v->part[i].form);
        sc_coherence_derived_discard(&v->part[i].staged);
        free(v->part[i].x);
    }
    free(v->part);
    v->part = NULL;
    v->parts = 0;
}

void sc_sparse_variant_drop(struct sc_sparse_variant *v)
{
    drop_parts(v);
    sc_sparse_free_csr(&v->csr);
    free(v->offsets);
    *v = (struct sc_sparse_variant){.analysed = false};
}

static bool same_use(const struct sc_sparse_use *a, const struct sc_sparse_use *b)
{
    return a->trans == b->trans && a->descr.kind == b->descr.kind && a->descr.uplo == b->descr.uplo &&
           a->descr.diag == b->descr.diag && a->descr.inverse == b->descr.inverse && a->solve == b->solve &&
           a->whole == b->whole;
}

struct sc_sparse_variant *sc_sparse_variant_for(struct sc_sparse_matrix *m, const struct sc_sparse_use *use)
{
    struct sc_sparse_variant *v = NULL;

    for (int i = 0; i < m->variants && !v; i++)
        if (same_use(&m->variant[i].use, use))
            v = &m->variant[i];
    if (!v && m->variants < SC_SPARSE_VARIANTS) {
        v = &m->variant[m->variants++];
    } else if (!v) {
        v = &m->variant[0];
        for (int i = 1; i < m->variants; i++)
            v = m->variant[i].last_use < v->last_use ? &m->variant[i] : v;
        sc_sparse_variant_drop(v);
    }
    v->use = *use;
    v->last_use = ++m->tick;
    return v;
}

/* --- link and analysis -------------------------------------------------------------------------------------------- */

enum sc_status sc_sparse_link(const struct sc_operand *source, int sources, uint64_t *now)
{
    for (int i = 0; i < sources; i++)
        if (!(*now = sc_coherence_derive(&source[i])))
            return SC_ERR_MEMORY;
    return SC_OK;
}

enum sc_status sc_sparse_begin_part(const struct sc_sparse_matrix *m, struct sc_sparse_part *p, size_t bytes,
                                    struct sc_operand source[4], int *sources)
{
    struct sc_view views[4];
    int count = sc_sparse_views(m, views);
    enum sc_status status = sc_coherence_begin(views, count, source);

    *sources = status == SC_OK ? count : -1;
    if (status == SC_OK)
        status = sc_sparse_link(source, count, &p->made);
    return status == SC_OK && !p->form.memory ? sc_coherence_derived_make(&p->form, p->device, bytes) : status;
}

#define UNTRACKED_FOR 100 /* calls without a new attempt, because an attempt may copy the arrays */

/* Links the arrays: from now on a write to them is noted. */
static enum sc_status link_arrays(struct sc_sparse_matrix *m, uint64_t *now)
{
    struct sc_operand source[4];
    struct sc_view views[4];
    int sources = sc_sparse_views(m, views);
    enum sc_status status;

    if (m->untracked > 0) {
        m->untracked--;
        return SC_ERR_UNSUPPORTED;
    }
    for (int i = 0; i < sources; i++)
        if (views[i].rows > 0 && !sc_coherence_may_link(views[i].ptr,
                                                        (size_t)views[i].rows * sc_type_bytes(views[i].type)))
            return SC_ERR_UNSUPPORTED;
    status = sc_coherence_begin(views, sources, source);
    if (status != SC_OK)
        return status;
    status = sc_sparse_link(source, sources, now);
    if (status != SC_OK)
        m->untracked = UNTRACKED_FOR;
    sc_coherence_end(source, sources);
    return status;
}

static size_t offsets_bytes(const struct sc_sparse_arrays *a)
{
    return a->format == SC_SPARSE_DIA ? (size_t)a->count * (size_t)a->index_bytes : 0;
}

bool sc_sparse_same_offsets(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v)
{
    size_t bytes = offsets_bytes(&m->arrays);

    return !bytes || (v->offsets && memcmp(v->offsets, m->arrays.index, bytes) == 0);
}

bool sc_sparse_is_diagonal(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v)
{
    const struct sc_sparse_arrays *a = &m->arrays;

    return a->format == SC_SPARSE_DIA && a->count == 1 && a->rows == a->cols && v->offsets &&
           sc_sparse_at(v->offsets, a->index_bytes, 0) == 0 && v->use.descr.kind == SC_SPARSE_GENERAL && !v->use.solve;
}

static enum sc_status keep_offsets(const struct sc_sparse_matrix *m, struct sc_sparse_variant *v)
{
    size_t bytes = offsets_bytes(&m->arrays);

    if (!bytes)
        return SC_OK;
    v->offsets = malloc(bytes);
    if (v->offsets)
        memcpy(v->offsets, m->arrays.index, bytes);
    return v->offsets ? SC_OK : SC_ERR_MEMORY;
}

static uint64_t bytes_of(const struct sc_sparse_csr *a)
{
    uint64_t entries = a->rows ? (uint64_t)(sc_sparse_first(a, a->rows) - sc_sparse_first(a, 0)) : 0;

    return entries * (sc_type_bytes(a->type) + (size_t)a->index_bytes) + (uint64_t)a->rows * (size_t)a->index_bytes;
}

static int64_t longest_row(const struct sc_sparse_csr *a)
{
    int64_t longest = 0;

    for (int64_t i = 0, at = a->rows ? sc_sparse_first(a, 0) : 0, next; i < a->rows; i++, at = next) {
        next = sc_sparse_first(a, i + 1);
        longest = next - at > longest ? next - at : longest;
    }
    return longest;
}

/* Devices for the parts: as many as the dense operands have. */
static int devices_for(const struct sc_sparse_variant *v)
{
    const struct sc_sparse_csr *a = &v->csr;
    uint64_t vector = (uint64_t)a->rows * sc_type_bytes(a->type);
    int devices, of_dense;

    if (v->use.solve || v->use.whole)
        return 1;
    devices = sc_plan_spread_sparse(bytes_of(a), vector, sc_coherence_devices(), sc_config.offload);
    of_dense = sc_plan_spread((uint64_t)v->columns * vector, sc_coherence_devices(), sc_config.offload);
    return devices > of_dense ? devices : of_dense;
}

enum sc_status sc_sparse_analyse(struct sc_sparse_matrix *m, struct sc_sparse_variant *v)
{
    struct sc_sparse_use use = v->use;
    enum sc_status status;
    uint64_t last_use = v->last_use;
    int64_t columns = v->columns;

    sc_sparse_variant_drop(v);
    v->use = use;
    v->last_use = last_use;
    v->columns = columns;
    status = sc_sparse_measure(m);
    if (status != SC_OK)
        return status;
    status = keep_offsets(m, v);
    if (status == SC_OK)
        status = sc_sparse_small_copy(m);
    if (status == SC_OK)
        status = link_arrays(m, &v->seen);
    v->converted = sc_sparse_can_convert(m, &use);
    if (status == SC_OK)
        status = (v->converted ? sc_sparse_count_csr : sc_sparse_make_csr)(&m->arrays, &use, &v->csr);
    if (status == SC_OK)
        status = sc_sparse_split(v, &m->arrays, devices_for(v));
    if (status != SC_OK) {
        sc_sparse_variant_drop(v);
        v->use = use;
        return status;
    }
    v->longest = longest_row(&v->csr);
    v->index_bytes = v->csr.cols + v->csr.base <= INT32_MAX ? 4 : 8;
    if (v->converted) {
        v->converted = sc_sparse_should_convert(m, v);
        sc_sparse_free_csr(&v->csr); /* only the row starts are left; if a CSR is needed later, a complete one is
                                      * made */
    }
    v->analysed = true;
    return SC_OK;
}

/* --- contents ----------------------------------------------------------------------------------------------------- */

/* The base of a part's integers. */
static int base_of(const struct sc_sparse_variant *v) { return v->use.whole ? 0 : v->csr.base; }

/* The part's columns equal the program's, including base and width. */
static bool sends_columns_as_they_are(const struct sc_sparse_variant *v)
{
    return v->csr.borrowed && v->index_bytes == v->csr.index_bytes && base_of(v) == v->csr.base;
}

struct sc_sparse_layout sc_sparse_layout_of(const struct sc_sparse_variant *v, const struct sc_sparse_part *p)
{
    struct sc_sparse_layout l;

    l.columns = sc_sparse_aligned((size_t)(p->rows + 1) * (size_t)v->index_bytes);
    l.values = l.columns + sc_sparse_aligned((size_t)p->room * (size_t)v->index_bytes);
    l.bytes = l.values + sc_sparse_aligned((size_t)p->room * sc_type_bytes(v->csr.type));
    return l;
}

/* Elements of the CSR's integers from `first` on, minus `less`, in the width of the device. */
struct integers {
    const void *from;
    int from_bytes, to_bytes;
    int64_t first, less;
};

static void fill_integers(void *context, size_t from, size_t bytes, void *buffer)
{
    const struct integers *f = context;
    int64_t at = f->first + (int64_t)(from / (size_t)f->to_bytes), n = (int64_t)(bytes / (size_t)f->to_bytes);

    for (int64_t i = 0; i < n; i++) {
        int64_t value = sc_sparse_at(f->from, f->from_bytes, at + i) - f->less;

        if (f->to_bytes == 4)
            ((int32_t *)buffer)[i] = (int32_t)value;
        else
            ((int64_t *)buffer)[i] = value;
    }
}

static void fill_bytes(void *context, size_t from, size_t bytes, void *buffer)
{
    memcpy(buffer, (const char *)context + from, bytes);
}

static enum sc_status send_integers(const struct sc_sparse_variant *v, struct sc_sparse_part *p, size_t at,
                                    const void *from,
                                    int64_t first, int64_t n, int64_t less)
{
    struct integers f = {from, v->csr.index_bytes, v->index_bytes, first, less};

    return sc_coherence_derived_send(&p->form, at, (size_t)n * (size_t)v->index_bytes, fill_integers, &f);
}

/* Ensures that the arrays of the CSR exist.  A CSR that is not borrowed is dropped when all parts are made. */
static enum sc_status have_csr(struct sc_sparse_matrix *m, struct sc_sparse_variant *v)
{
    return v->csr.start ? SC_OK : sc_sparse_make_csr(&m->arrays, &v->use, &v->csr);
}

static void drop_csr_when_made(struct sc_sparse_variant *v)
{
    for (int i = 0; i < v->parts; i++)
        if (!sc_sparse_is_made(&v->part[i]))
            return;
    if (!v->csr.borrowed)
        sc_sparse_free_csr(&v->csr);
}

/* Allocates the derived copy of a part, and uploads the data available unchanged in the program's arrays. */
static enum sc_status upload_borrowed(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v,
                                      struct sc_sparse_part *p, const struct sc_sparse_layout *l)
{
    struct sc_operand source[4];
    int sources;
    enum sc_status status = sc_sparse_begin_part(m, p, l->bytes, source, &sources);

    if (sources < 0)
        return status;
    if (status == SC_OK && v->csr.borrowed)
        status = sc_coherence_derived_upload(&p->form, l->values, &source[0], p->first - m->first, p->entries);
    if (status == SC_OK && sends_columns_as_they_are(v))
        status = sc_coherence_derived_upload(&p->form, l->columns, &source[1], p->first - m->first, p->entries);
    sc_coherence_end(source, sources);
    return status;
}

/* Sends the values of the CSR's entries [first, first + n). */
static enum sc_status send_values(const struct sc_sparse_variant *v, struct sc_sparse_part *p,
                                  const struct sc_sparse_layout *l, int64_t first, int64_t n)
{
    size_t elem = sc_type_bytes(v->csr.type);

    return sc_coherence_derived_send(&p->form, l->values + (size_t)(first - p->first) * elem, (size_t)n * elem,
                                     fill_bytes, (char *)v->csr.values + (size_t)first * elem);
}

static enum sc_status make_from_csr(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v,
                                    struct sc_sparse_part *p, const struct sc_sparse_layout *l)
{
    int less = v->csr.base - base_of(v);
    enum sc_status status = upload_borrowed(m, v, p, l);

    if (status == SC_OK)
        status = send_integers(v, p, 0, v->csr.start, p->row, p->rows + 1, p->first + less);
    if (status == SC_OK && !sends_columns_as_they_are(v))
        status = send_integers(v, p, l->columns, v->csr.index, p->first, p->entries, less);
    return status == SC_OK && !v->csr.borrowed ? send_values(v, p, l, p->first, p->entries) : status;
}

/* Sends the values of the stale rows; their places have not changed. */
static enum sc_status renew_from_csr(const struct sc_sparse_variant *v, struct sc_sparse_part *p,
                                     const struct sc_sparse_layout *l)
{
    int64_t first = sc_sparse_first(&v->csr, p->stale.first), end = sc_sparse_first(&v->csr, p->stale.end);
    enum sc_status status = sc_coherence_begin(NULL, 0, NULL);

    if (status != SC_OK)
        return status;
    if (v->use.solve)
        sc_coherence_derived_forget(&p->form);
    sc_coherence_end(NULL, 0);
    return send_values(v, p, l, first, end - first);
}

enum sc_status sc_sparse_make_part(struct sc_sparse_matrix *m, struct sc_sparse_variant *v, struct sc_sparse_part *p)
{
    struct sc_sparse_layout l = sc_sparse_layout_of(v, p);
    enum sc_status status;

    if (v->converted) {
        status = sc_sparse_convert_part(m, v, p, &l);
        v->converted = status != SC_ERR_UNSUPPORTED && status != SC_ERR_DEVICE_MEMORY;
        if (status == SC_OK)
            p->stale = sc_sparse_no_range;
        if (v->converted)
            return status;
        sc_log(SC_LOG_DEBUG, "sparse matrix: not converted on device %d (%s)", p->device, sc_status_name(status));
    }
    status = have_csr(m, v);
    if (status == SC_OK)
        status = p->form.memory ? renew_from_csr(v, p, &l) : make_from_csr(m, v, p, &l);
    if (status == SC_OK)
        p->stale = sc_sparse_no_range;
    else
        sc_coherence_derived_discard(&p->form); /* may be filled in part */
    drop_csr_when_made(v);
    return status;
}

void sc_sparse_part_kernel(const struct sc_sparse_variant *v, const struct sc_sparse_part *p, struct sc_kernel *k)
{
    struct sc_sparse_layout l = sc_sparse_layout_of(v, p);
    char *memory = p->form.memory;

    k->type = v->csr.type;
    k->transa = 'N';
    k->m = p->rows;
    k->n = v->csr.cols;
    k->a = memory + l.values;
    k->csr = (struct sc_csr){.rows = memory, .columns = memory + l.columns, .nonzeros = p->entries,
                             .first = p->ranges ? p->x[0].first : 0, .end = p->ranges ? p->x[p->ranges - 1].end : 0,
                             .index_bytes = v->index_bytes, .base = base_of(v), .longest = v->longest};
}
/* SPDX-License-Identifier: BSD-2-Clause */
