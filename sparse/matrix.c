/* Handles: the program's arrays, the users of a handle, and the search for a handle by arrays. */
#include <stdlib.h>
#include <string.h>

#include "base/locks.h"
#include "base/quiet.h"
#include "coherence/access.h"
#include "sparse/sparse_int.h"

/* --- the arrays --------------------------------------------------------------------------------------------------- */

int64_t sc_sparse_lines(const struct sc_sparse_arrays *a)
{
    switch (a->format) {
    case SC_SPARSE_CSR: return a->rows;
    case SC_SPARSE_CSC: return a->cols;
    case SC_SPARSE_BSR: return a->rows / a->block;
    default: return 0;
    }
}

void sc_sparse_extent(const struct sc_sparse_arrays *a, int64_t *first, int64_t *end)
{
    int64_t lines = sc_sparse_lines(a);

    *first = *end = 0;
    if (a->format == SC_SPARSE_COO || a->format == SC_SPARSE_DIA) {
        *end = a->count;
    } else if (lines > 0 && sc_sparse_is_packed(a)) {
        *first = sc_sparse_at(a->start, a->index_bytes, 0) - a->base;
        *end = sc_sparse_at(a->start, a->index_bytes, lines) - a->base;
    } else {
        for (int64_t i = 0; i < lines; i++) {
            int64_t lo = sc_sparse_at(a->start, a->index_bytes, i) - a->base;
            int64_t hi = sc_sparse_at(a->end, a->index_bytes, i) - a->base;

            if (lo >= hi)
                continue;
            *first = *end ? (lo < *first ? lo : *first) : lo;
            *end = hi > *end ? hi : *end;
        }
    }
}

static struct sc_view integers(const struct sc_sparse_arrays *a, const void *ptr, int64_t first, int64_t n)
{
    return (struct sc_view){.ptr = (const char *)ptr + first * a->index_bytes,
                            .type = a->index_bytes == 4 ? SC_S : SC_D,
                            .vector = true, .rows = n, .cols = 1, .ld = 1, .access = SC_READ};
}

/* The elements of `values` for positions [first, end): n elements from *first on. */
static void values_extent(const struct sc_sparse_matrix *m, int64_t *first, int64_t *n)
{
    const struct sc_sparse_arrays *a = &m->arrays;
    int64_t each = a->format == SC_SPARSE_BSR ? a->block * a->block : 1;

    *first = m->first * each;
    *n = (m->end - m->first) * each;
    if (a->format == SC_SPARSE_DIA)
        *n = a->count > 0 ? (a->count - 1) * a->ld + a->rows : 0;
}

int sc_sparse_program_views(const struct sc_sparse_matrix *m, struct sc_view views[4])
{
    const struct sc_sparse_arrays *a = &m->arrays;
    int64_t lines = sc_sparse_lines(a), first, n;
    int count = 0;

    values_extent(m, &first, &n);
    views[count++] = (struct sc_view){.ptr = (const char *)a->values + first * (int64_t)sc_type_bytes(a->type),
                                      .type = a->type, .vector = true, .rows = n, .cols = 1, .ld = 1,
                                      .access = SC_READ};
    views[count++] = integers(a, a->index, m->first, a->format == SC_SPARSE_DIA ? 0 : m->end - m->first);
    if (a->format == SC_SPARSE_COO) {
        views[count++] = integers(a, a->start, 0, a->count);
    } else if (a->format != SC_SPARSE_DIA) {
        views[count++] = integers(a, a->start, 0, lines > 0 && sc_sparse_is_packed(a) ? lines + 1 : lines);
        if (!sc_sparse_is_packed(a))
            views[count++] = integers(a, a->end, 0, lines);
    }
    return count;
}

int sc_sparse_views(const struct sc_sparse_matrix *m, struct sc_view views[4])
{
    int count = sc_sparse_program_views(m, views);

    for (int i = 0; i < count; i++)
        views[i].ptr = m->small[i].memory ? m->small[i].memory : views[i].ptr;
    return count;
}

/* Excludes sizes beyond any memory, whose products could overflow. */
static bool in_memory(const struct sc_sparse_arrays *a)
{
    const int64_t most = (int64_t)1 << 52;
    __int128 each = a->format == SC_SPARSE_BSR ? (__int128)a->block * a->block : 1;

    if (a->format == SC_SPARSE_DIA)
        each = a->ld > a->rows ? a->ld : a->rows;
    return a->rows <= most && a->cols <= most && a->count <= most && (!a->count || each * a->count <= most) &&
           (a->format == SC_SPARSE_DIA || each <= most);
}

static bool has_sense(const struct sc_sparse_arrays *a)
{
    bool sized = a->rows >= 0 && a->cols >= 0 && (unsigned)a->type < SC_TYPES && (unsigned)a->format <= SC_SPARSE_DIA &&
                 (a->index_bytes == 4 || a->index_bytes == 8) && (a->base == 0 || a->base == 1);

    if (!sized || !in_memory(a))
        return false;
    switch (a->format) {
    case SC_SPARSE_CSR: return !a->rows || a->start;
    case SC_SPARSE_CSC: return !a->cols || a->start;
    case SC_SPARSE_COO: return a->count >= 0 && (!a->count || (a->start && a->index && a->values));
    case SC_SPARSE_BSR:
        return a->block > 0 && a->rows % a->block == 0 && a->cols % a->block == 0 && (!a->rows || a->start);
    default: return a->count >= 0 && (!a->count || (a->index && a->values && a->ld >= a->rows));
    }
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Rounded up to a page or more, because the arena tracks whole blocks.  Memory beyond the arena comes from libc and
 * stays on the host. */
void *sc_sparse_alloc(size_t bytes)
{
    void *memory = sc_coherence_host_alloc(bytes ? bytes : 1);

    return memory ? memory : malloc(bytes ? bytes : 1);
}

void sc_sparse_free(void *memory)
{
    if (memory && !sc_coherence_host_free(memory))
        free(memory);
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = sc_sparse_alloc(bytes);

    if (to && bytes)
        memcpy(to, from, bytes);
    return to;
}

static void free_arrays(struct sc_sparse_matrix *m)
{
    struct sc_sparse_arrays *a = &m->arrays;

    if (!m->owned)
        return;
    if (a->format != SC_SPARSE_COO && a->format != SC_SPARSE_DIA && !sc_sparse_is_packed(a))
        sc_sparse_free((void *)a->end);
    sc_sparse_free((void *)a->start);
    sc_sparse_free((void *)a->index);
    sc_sparse_free((void *)a->values);
}

/* Copies the arrays from position 0 on, so that positions stay the same. */
static enum sc_status own_arrays(struct sc_sparse_matrix *m)
{
    struct sc_sparse_arrays *a = &m->arrays, from = *a;
    int64_t lines = sc_sparse_lines(a), values, n;
    bool packed = sc_sparse_is_packed(a), starts = a->format != SC_SPARSE_COO && a->format != SC_SPARSE_DIA;

    values_extent(m, &values, &n);
    m->owned = true;
    a->start = a->end = NULL;
    if (starts)
        a->start = copy_of(from.start, (size_t)(lines + (packed && lines)) * (size_t)a->index_bytes);
    else if (a->format == SC_SPARSE_COO)
        a->start = copy_of(from.start, (size_t)a->count * (size_t)a->index_bytes);
    if (starts)
        a->end = packed ? (const char *)a->start + a->index_bytes
                        : copy_of(from.end, (size_t)lines * (size_t)a->index_bytes);
    a->index = copy_of(from.index, (size_t)m->end * (size_t)a->index_bytes);
    a->values = copy_of(from.values, (size_t)(values + n) * sc_type_bytes(a->type));
    return (a->start || a->format == SC_SPARSE_DIA) && (!starts ||
                                                        a->end) && a->index && a->values ? SC_OK : SC_ERR_MEMORY;
}

/* --- handles ------------------------------------------------------------------------------------------------------ */

static struct sc_sparse_matrix *make(const struct sc_sparse_arrays *arrays)
{
    struct sc_sparse_matrix *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->arrays = *arrays;
    m->users = 1;
    if (arrays->format == SC_SPARSE_COO || arrays->format == SC_SPARSE_DIA)
        m->arrays.end = NULL;
    else if (!arrays->end)
        m->arrays.end = (const char *)arrays->start + arrays->index_bytes;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

static void release(struct sc_sparse_matrix *m)
{
    if (!m || __atomic_sub_fetch(&m->users, 1, __ATOMIC_ACQ_REL))
        return;
    for (int i = 0; i < m->variants; i++)
        sc_sparse_variant_drop(&m->variant[i]);
    sc_sparse_free_csr(&m->host);
    for (int i = 0; i < 4; i++)
        sc_sparse_free(m->small[i].memory);
    free_arrays(m);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

enum sc_status sc_sparse_measure(struct sc_sparse_matrix *m)
{
    enum sc_status status = m->owned && m->measured ? SC_OK : sc_sparse_check_arrays(&m->arrays, NULL);

    if (status != SC_OK)
        return status;
    sc_sparse_extent(&m->arrays, &m->first, &m->end);
    m->measured = true;
    return SC_OK;
}

static enum sc_status create(struct sc_sparse_matrix **out, const struct sc_sparse_arrays *arrays, bool copy)
{
    struct sc_sparse_matrix *m;
    enum sc_status status = SC_OK;

    *out = NULL;
    if (!has_sense(arrays)) {
        sc_log(SC_LOG_ERROR, "sparse matrix: its sizes, base or type make no sense, or an array is missing");
        return SC_ERR_INVALID;
    }
    m = make(arrays);
    if (!m)
        return SC_ERR_MEMORY;
    if (copy) {
        status = sc_sparse_measure(m);
        if (status == SC_OK)
            status = own_arrays(m);
    }
    if (status != SC_OK)
        release(m);
    else
        *out = m;
    return status;
}

enum sc_status sc_sparse_create(struct sc_sparse_matrix **out, const struct sc_sparse_arrays *arrays, bool copy)
{
    enum sc_status status;

    sc_inside_enter();
    status = create(out, arrays, copy);
    sc_inside_leave();
    return status;
}

void sc_sparse_destroy(struct sc_sparse_matrix *m)
{
    sc_inside_enter();
    release(m);
    sc_inside_leave();
}

const struct sc_sparse_arrays *sc_sparse_arrays(const struct sc_sparse_matrix *m)
{
    return &m->arrays;
}

enum sc_status sc_sparse_check(struct sc_sparse_matrix *m, int64_t *entries)
{
    enum sc_status status;

    pthread_mutex_lock(&m->lock);
    status = sc_sparse_check_arrays(&m->arrays, entries);
    pthread_mutex_unlock(&m->lock);
    return status;
}

void sc_sparse_touched(struct sc_sparse_matrix *m)
{
    sc_inside_enter();
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < m->variants; i++)
        sc_sparse_variant_drop(&m->variant[i]);
    m->variants = 0;
    sc_sparse_free_csr(&m->host);
    pthread_mutex_unlock(&m->lock);
    sc_inside_leave();
}

void sc_sparse_values_changed(struct sc_sparse_matrix *m)
{
    sc_inside_enter();
    pthread_mutex_lock(&m->lock);
    sc_sparse_free_csr(&m->host);
    pthread_mutex_unlock(&m->lock);
    sc_inside_leave();
}

void sc_sparse_set_private(struct sc_sparse_matrix *m)
{
    m->is_private = m->owned;
}

/* --- search by arrays --------------------------------------------------------------------------------------------- */

#define KEPT_MAX 64 /* a multigrid hierarchy has three matrices for each level */

static struct sc_lock kept_lock = SC_LOCK(SC_RANK_SPARSE_KEPT);
static struct sc_sparse_matrix *kept; /* most recently used first; the list counts as a user of every matrix */

/* `end` of the caller's arrays may be NULL. */
static bool same(const struct sc_sparse_arrays *a, const struct sc_sparse_arrays *b)
{
    return a->format == b->format && a->type == b->type && a->index_bytes == b->index_bytes && a->base == b->base &&
           a->rows == b->rows && a->cols == b->cols && a->start == b->start && a->index == b->index &&
           a->values == b->values && a->count == b->count && a->block == b->block &&
           a->block_by_rows == b->block_by_rows && a->ld == b->ld &&
           (b->end ? a->end == b->end : !a->end || sc_sparse_is_packed(a));
}

/* Finds the matrix of these arrays and moves it to the front.  A matrix beyond the limit is removed to *surplus.  Lock
 * held. */
static struct sc_sparse_matrix *known(const struct sc_sparse_arrays *arrays, struct sc_sparse_matrix **surplus)
{
    struct sc_sparse_matrix **at = &kept, *m;
    int n = 0;

    *surplus = NULL;
    while ((m = *at) && !same(&m->arrays, arrays)) {
        if (++n == KEPT_MAX) {
            *surplus = m;
            *at = NULL;
            return NULL;
        }
        at = &m->next;
    }
    if (m) {
        *at = m->next;
        m->next = kept;
        kept = m;
        __atomic_add_fetch(&m->users, 1, __ATOMIC_RELAXED);
    }
    return m;
}

enum sc_status sc_sparse_find(struct sc_sparse_matrix **out, const struct sc_sparse_arrays *arrays)
{
    struct sc_sparse_matrix *surplus;
    enum sc_status status = SC_OK;

    sc_quiet_enter();
    sc_inside_enter();
    sc_lock(&kept_lock);
    *out = known(arrays, &surplus);
    if (!*out) {
        status = create(out, arrays, false);
        if (status == SC_OK) {
            (*out)->users++;
            (*out)->next = kept;
            kept = *out;
        }
    }
    sc_unlock(&kept_lock);
    release(surplus);
    sc_inside_leave();
    sc_quiet_leave();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
