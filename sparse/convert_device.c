/* Conversion of arrays of any format to CSR on the devices (sc_device_ops.convert).  The device of a part receives a
 * contiguous range of stored entries that contains all entries of the part, and makes the part from the range.  If
 * entries are stored roughly in row order, the range is hardly larger than the part; otherwise it may be the whole
 * matrix.
 *
 * The range stays staged on the device until its memory is needed.  After a write to values, only the values are sent
 * again. */
#include <string.h>

#include "sparse/sparse_int.h"

#define SLOTS_MAX INT32_MAX /* most slots sorted by a device */
/* Limit on the data sent to one device, as a multiple of the stored data; beyond the limit the host converts. */
#define SENT_MAX 2

bool sc_sparse_can_convert(const struct sc_sparse_matrix *m, const struct sc_sparse_use *use)
{
    const struct sc_sparse_arrays *a = &m->arrays;
    bool lines = a->format != SC_SPARSE_COO && a->format != SC_SPARSE_DIA;

    return !sc_sparse_use_is_plain(a, use) && !use->descr.inverse && sc_coherence_converts() &&
           (!lines || sc_sparse_is_packed(a));
}

/* --- staged data -------------------------------------------------------------------------------------------------- */

/* The conversion of a part, without addresses. */
static struct sc_csr_conversion describe(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v,
                                         const struct sc_sparse_part *p)
{
    const struct sc_sparse_arrays *a = &m->arrays;
    const struct sc_sparse_descr *d = &v->use.descr;
    bool mirrored = d->kind == SC_SPARSE_SYMMETRIC || d->kind == SC_SPARSE_HERMITIAN;
    bool all = d->kind == SC_SPARSE_GENERAL, triangle = !all && d->kind != SC_SPARSE_DIAGONAL;

    return (struct sc_csr_conversion){
        .layout = a->format == SC_SPARSE_COO ? SC_LAYOUT_COORDINATES
                  : a->format == SC_SPARSE_DIA ? SC_LAYOUT_DIAGONALS : SC_LAYOUT_LINES,
        .type = a->type, .from_bytes = a->index_bytes, .from_base = a->base, .m = a->rows, .n = a->cols,
        .first = p->source.first, .count = p->source.end - p->source.first,
        .lines = sc_sparse_lines(a), .block = a->format == SC_SPARSE_BSR ? a->block : 1, .diagonals = a->count,
        .by_columns = a->format == SC_SPARSE_CSC, .block_by_rows = a->block_by_rows,
        .lower = all || (triangle && d->uplo == 'L'), .upper = all || (triangle && d->uplo == 'U'),
        .diagonal = d->diag != 'U', .ones = d->diag == 'U', .mirrored = mirrored,
        .mirror_conjugated = d->kind == SC_SPARSE_HERMITIAN, .transposed = v->use.trans != 'N',
        .conjugated = v->use.trans == 'C', .row = p->row, .rows = p->rows, .entries = p->room,
        .sorted = v->use.solve, .to_bytes = v->index_bytes, .to_base = v->csr.base};
}

/* Values per position (per diagonal, for diagonals). */
static int64_t values_each(const struct sc_csr_conversion *c)
{
    return c->layout == SC_LAYOUT_LINES ? c->block * c->block : 1;
}

static int64_t diagonals(const struct sc_csr_conversion *c)
{
    return c->layout == SC_LAYOUT_DIAGONALS ? c->diagonals : 1;
}

/* Offsets of the arrays in the staged copy; `start` is at 0. */
struct staged {
    size_t index, values, bytes;
};

static struct staged staged_of(const struct sc_csr_conversion *c)
{
    int64_t starts = c->layout == SC_LAYOUT_LINES ? c->lines + 1 : c->layout == SC_LAYOUT_COORDINATES ? c->count : 0;
    int64_t indices = c->layout == SC_LAYOUT_DIAGONALS ? c->diagonals : c->count;
    size_t integer = (size_t)c->from_bytes, values = (size_t)(c->count * values_each(c) * diagonals(c));
    struct staged s;

    s.index = sc_sparse_aligned((size_t)starts * integer);
    s.values = s.index + sc_sparse_aligned((size_t)indices * integer);
    s.bytes = s.values + sc_sparse_aligned(values * sc_type_bytes(c->type));
    return s;
}

static bool fits(const struct sc_csr_conversion *c)
{
    return (double)c->count * (double)(values_each(c) * diagonals(c)) * (c->mirrored ? 2 : 1) + (double)c->rows <=
           SLOTS_MAX;
}

bool sc_sparse_should_convert(const struct sc_sparse_matrix *m, struct sc_sparse_variant *v)
{
    struct sc_sparse_part all = {.source = {m->first, m->end}};
    double sent[SC_DEVICES_MAX] = {0}, stored;
    struct sc_csr_conversion c;

    if (m->arrays.format == SC_SPARSE_DIA)
        all.source.end = m->arrays.rows;
    if (v->parts == 1)
        v->part[0].source = all.source;
    c = describe(m, v, &all);
    stored = (double)staged_of(&c).bytes;
    for (int i = 0; i < v->parts; i++) {
        c = describe(m, v, &v->part[i]);
        if (!fits(&c))
            return false;
        sent[v->part[i].device] += (double)staged_of(&c).bytes;
    }
    for (int d = 0; d < v->devices; d++)
        if (sent[d] > SENT_MAX * stored + 4096)
            return false;
    return true;
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

static enum sc_status upload_integers(const struct sc_sparse_matrix *m, const struct sc_csr_conversion *c,
                                      const struct sc_operand *source, struct sc_derived *to)
{
    enum sc_status status;

    if (!c->count || c->layout == SC_LAYOUT_DIAGONALS)
        return SC_OK;
    if (c->layout == SC_LAYOUT_LINES)
        status = sc_coherence_derived_upload(to, 0, &source[2], 0, c->lines + 1);
    else
        status = sc_coherence_derived_upload(to, 0, &source[2], c->first, c->count);
    if (status != SC_OK)
        return status;
    return sc_coherence_derived_upload(to, staged_of(c).index, &source[1], c->first - m->first, c->count);
}

/* Uploads the values written since time `since`. */
static enum sc_status upload_values(const struct sc_sparse_matrix *m, const struct sc_csr_conversion *c,
                                    const struct sc_operand *source, uint64_t since, struct sc_derived *to)
{
    int64_t n = c->count * values_each(c), first = (c->first - m->first) * values_each(c);
    size_t at = staged_of(c).values, bytes = (size_t)n * sc_type_bytes(c->type);
    enum sc_status status = SC_OK;

    for (int64_t d = 0; d < diagonals(c) && status == SC_OK; d++, first += m->arrays.ld, at += bytes)
        status = sc_sparse_upload_written(to, at, &source[0], (struct sc_sparse_range){first, first + n}, since);
    return status;
}

/* Allocates the part's derived copy, and uploads missing source data to part->staged.  *fresh: nothing was staged
 * before. */
static enum sc_status send(const struct sc_sparse_matrix *m, struct sc_sparse_part *p,
                           const struct sc_csr_conversion *c, size_t bytes, bool *fresh)
{
    struct sc_operand source[4];
    int sources;
    uint64_t since = p->made;
    enum sc_status status = sc_sparse_begin_part(m, p, bytes, source, &sources);

    if (sources < 0)
        return status;
    *fresh = !p->staged.memory;
    p->form.lru.pins++;
    if (status == SC_OK && *fresh) {
        since = 0;
        status = sc_coherence_derived_make(&p->staged, p->device, staged_of(c).bytes);
        if (status == SC_OK)
            status = upload_integers(m, c, source, &p->staged);
    }
    p->form.lru.pins--;
    if (status == SC_OK)
        status = upload_values(m, c, source, since, &p->staged);
    sc_coherence_end(source, sources);
    return status;
}

static void fill_offsets(void *context, size_t from, size_t bytes, void *buffer)
{
    memcpy(buffer, (const char *)context + from, bytes);
}

/* Offsets of diagonals are few, and not among the linked arrays. */
static enum sc_status send_offsets(const struct sc_sparse_matrix *m, const struct sc_csr_conversion *c,
                                   struct sc_derived *staged)
{
    if (c->layout != SC_LAYOUT_DIAGONALS)
        return SC_OK;
    return sc_coherence_derived_send(staged, staged_of(c).index, (size_t)c->diagonals * (size_t)c->from_bytes,
                                     fill_offsets, (void *)m->arrays.index);
}

static void set_addresses(struct sc_csr_conversion *c, const struct sc_derived *staged, const struct sc_derived *form,
                          const struct sc_sparse_layout *l)
{
    struct staged s = staged_of(c);
    char *from = staged->memory, *to = form->memory;

    c->start = from;
    c->index = from + s.index;
    c->values = from + s.values;
    c->csr_rows = to;
    c->csr_columns = to + l->columns;
    c->csr_values = to + l->values;
}

/* The analysis of a solve holds for the old values only, and is dropped. */
static enum sc_status convert(struct sc_csr_conversion *c, struct sc_derived *staged, struct sc_derived *form,
                              const struct sc_sparse_layout *l)
{
    enum sc_status status = sc_coherence_begin(NULL, 0, NULL);

    if (status != SC_OK)
        return status;
    if (staged->memory && form->memory) {
        set_addresses(c, staged, form, l);
        if (c->sorted)
            sc_coherence_derived_forget(form);
        status = sc_coherence_derived_convert(form, staged, c);
        sc_coherence_derived_spare(staged);
    } else { /* evicted meanwhile */
        status = SC_ERR_DEVICE_MEMORY;
    }
    sc_coherence_end(NULL, 0);
    return status;
}

/* Duplicates have been summed, so the last row start gives the number of entries. */
static enum sc_status count_entries(const struct sc_csr_conversion *c, struct sc_sparse_part *p)
{
    size_t bytes = (size_t)c->to_bytes;
    union {
        int32_t narrow;
        int64_t wide;
    } last;
    enum sc_status status = sc_coherence_derived_read(&p->form, (size_t)c->rows * bytes, &last, bytes);

    if (status != SC_OK)
        return status;
    p->entries = (bytes == sizeof last.narrow ? last.narrow : last.wide) - c->to_base;
    return p->entries >= 0 && p->entries <= p->room ? SC_OK : SC_ERR_DEVICE; /* the device computed garbage */
}

enum sc_status sc_sparse_convert_part(const struct sc_sparse_matrix *m, const struct sc_sparse_variant *v,
                                      struct sc_sparse_part *p, const struct sc_sparse_layout *l)
{
    struct sc_csr_conversion c = describe(m, v, p);
    bool fresh = false;
    enum sc_status status = send(m, p, &c, l->bytes, &fresh);

    if (status == SC_OK && fresh)
        status = send_offsets(m, &c, &p->staged);
    if (status == SC_OK)
        status = convert(&c, &p->staged, &p->form, l);
    if (status == SC_OK && c.sorted)
        status = count_entries(&c, p);
    if (status != SC_OK) {
        sc_coherence_derived_discard(&p->staged);
        sc_coherence_derived_discard(&p->form);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
