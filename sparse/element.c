/* Access to single values of a matrix's arrays.  The devices' copies follow as after any write of the program, because
 * the arrays are linked (rule 2). */
#include <string.h>

#include "sparse/sparse_int.h"

struct place {
    struct sc_sparse_matrix *m;
    int64_t row, col;
    const void *value;
    int found;
};

/* Handles entry e of `values`, which has the requested position: the first gets the value, duplicates get 0. */
static void met(struct place *p, int64_t e)
{
    size_t elem = sc_type_bytes(p->m->arrays.type);
    char *at = (char *)p->m->arrays.values + (size_t)e * elem;

    if (p->found++)
        memset(at, 0, elem);
    else
        memcpy(at, p->value, elem);
}

/* CSR, CSC, BSR: searches one line. */
static void look_in_line(struct place *p, int64_t line, int64_t index, int64_t within)
{
    const struct sc_sparse_arrays *a = &p->m->arrays;
    int64_t end = sc_sparse_at(a->end, a->index_bytes, line) - a->base;
    int64_t each = a->format == SC_SPARSE_BSR ? a->block * a->block : 1;

    for (int64_t e = sc_sparse_at(a->start, a->index_bytes, line) - a->base; e < end; e++)
        if (sc_sparse_at(a->index, a->index_bytes, e) - a->base == index)
            met(p, e * each + within);
}

static void look(struct place *p)
{
    const struct sc_sparse_arrays *a = &p->m->arrays;
    int64_t r = a->block ? p->row % a->block : 0, c = a->block ? p->col % a->block : 0;

    switch (a->format) {
    case SC_SPARSE_CSR: look_in_line(p, p->row, p->col, 0); break;
    case SC_SPARSE_CSC: look_in_line(p, p->col, p->row, 0); break;
    case SC_SPARSE_BSR:
        look_in_line(p, p->row / a->block, p->col / a->block, a->block_by_rows ? r * a->block + c : c * a->block + r);
        break;
    case SC_SPARSE_COO:
        for (int64_t e = 0; e < a->count; e++)
            if (sc_sparse_at(a->start, a->index_bytes, e) - a->base == p->row &&
                sc_sparse_at(a->index, a->index_bytes, e) - a->base == p->col)
                met(p, e);
        break;
    case SC_SPARSE_DIA:
        for (int64_t d = 0; d < a->count; d++)
            if (sc_sparse_at(a->index, a->index_bytes, d) == p->col - p->row)
                met(p, p->row + d * a->ld);
        break;
    }
}

enum sc_status sc_sparse_set_value(struct sc_sparse_matrix *m, int64_t row, int64_t col, const void *value)
{
    struct place p = {.m = m, .row = row, .col = col, .value = value};
    enum sc_status status = SC_OK;

    if (row < 0 || col < 0 || row >= m->arrays.rows || col >= m->arrays.cols)
        return SC_ERR_INVALID;
    sc_inside_enter();
    pthread_mutex_lock(&m->lock);
    if (!m->measured)
        status = sc_sparse_measure(m);
    if (status == SC_OK)
        look(&p);
    pthread_mutex_unlock(&m->lock);
    sc_inside_leave();
    return status == SC_OK && !p.found ? SC_ERR_INVALID : status;
}

enum sc_status sc_sparse_set_values(struct sc_sparse_matrix *m, int64_t count, const void *values)
{
    const struct sc_sparse_arrays *a = &m->arrays;
    int64_t entries, each = a->format == SC_SPARSE_BSR ? a->block * a->block : 1;
    size_t elem = sc_type_bytes(a->type);
    enum sc_status status;

    sc_inside_enter();
    pthread_mutex_lock(&m->lock);
    status = sc_sparse_check_arrays(a, &entries);
    if (status == SC_OK)
        status = sc_sparse_measure(m);
    /* requires lines without gaps, and diagonals without padding */
    if (status == SC_OK && (entries != count || (m->end - m->first) * each != count))
        status = SC_ERR_INVALID;
    if (status == SC_OK && values != a->values)
        memcpy((char *)a->values + (size_t)(m->first * each) * elem, values, (size_t)count * elem);
    pthread_mutex_unlock(&m->lock);
    sc_inside_leave();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
