/* Questions about operands: cuts, places, missing bytes, residency.  No function here changes a state. */
#include "coherence/mirror.h"

#include <string.h>

/* --- cuts --------------------------------------------------------------------------------------------------------- */

/* The positions have 8 KiB: only the used entries are written. */
static void no_cuts(struct sc_cuts *cuts)
{
    cuts->n = 0;
    cuts->at[0] = 0;
}

static void add_cut(struct sc_cuts *cuts, int64_t at)
{
    if (at > cuts->at[cuts->n] && cuts->n < SC_CUTS_MAX)
        cuts->at[++cuts->n] = at;
}

/* Cut positions strictly inside [first, first + extent) of a dimension, relative to first, in units of `step`: the
 * first position at or after each cut. */
static void cuts_inside(const int64_t *cut, int parts, int64_t first, int64_t step, int64_t extent, struct sc_cuts *out)
{
    no_cuts(out);
    for (int i = 1; i < parts; i++) {
        int64_t at = (cut[i] - first + step - 1) / step;

        if (cut[i] > first && at < extent)
            add_cut(out, at);
    }
    add_cut(out, extent);
}

static void linear_cuts(const struct sc_operand *o, struct sc_cuts *out)
{
    const struct sc_matrix *m = o->matrix;
    int64_t step = sc_step(o->view.ld);

    no_cuts(out);
    for (int j = 1; j < m->col_parts; j++) {
        int64_t cut = m->col_cut[j] * m->rows, at = (cut - o->first + step - 1) / step;

        if (cut > o->first && at < o->view.rows)
            add_cut(out, at);
    }
    add_cut(out, o->view.rows);
}

void sc_coherence_row_cuts(const struct sc_operand *o, struct sc_cuts *out)
{
    const struct sc_matrix *m = o->matrix;

    if (!m || sc_view_empty(&o->view))
        no_cuts(out);
    else if (o->linear && o->view.vector)
        linear_cuts(o, out);
    else if (o->linear) {
        no_cuts(out);
        add_cut(out, o->view.rows);
    } else if (o->view.vector && o->cols > 1)
        cuts_inside(m->col_cut, m->col_parts, o->col, 1, o->view.rows, out);
    else
        cuts_inside(m->row_cut, m->row_parts, o->row, 1, o->view.rows, out);
}

void sc_coherence_col_cuts(const struct sc_operand *o, struct sc_cuts *out)
{
    const struct sc_matrix *m = o->matrix;

    no_cuts(out);
    if (!m || sc_view_empty(&o->view))
        return;
    if (o->linear || o->view.vector)
        add_cut(out, o->view.cols);
    else
        cuts_inside(m->col_cut, m->col_parts, o->col, 1, o->view.cols, out);
}

void sc_cuts_merge(struct sc_cuts *into, const struct sc_cuts *with)
{
    struct sc_cuts a;
    int i = 1, j = 1;

    sc_cuts_copy(&a, into);
    no_cuts(into);
    while (i <= a.n || j <= with->n) {
        int64_t x = i <= a.n ? a.at[i] : INT64_MAX, y = j <= with->n ? with->at[j] : INT64_MAX;

        add_cut(into, x < y ? x : y);
        i += x <= y;
        j += y <= x;
    }
}

bool sc_coherence_as_matrix(const struct sc_operand *v, struct sc_operand *out)
{
    const struct sc_matrix *m = v->matrix;
    int64_t off = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    /* A vector over several tile rows was resolved as a rectangle of whole columns (resolve.c). */
    if (!m || !v->view.vector || v->linear || v->rows != m->rows || m->rows != m->ld || v->cols < 1 || v->row)
        return false;
    if (v->view.rows != v->rows * v->cols || (v->view.ld != 1 && v->view.rows != 1))
        return false;
    *out = *v;
    out->view.vector = false;
    out->view.ptr = (const void *)(m->base + (uintptr_t)((v->col + off) * m->ld) * m->elem);
    out->view.rows = v->rows;
    out->view.cols = v->cols;
    out->view.ld = m->ld;
    return true;
}

void sc_coherence_part(const struct sc_operand *o, int64_t r, int64_t c, int64_t rows, int64_t cols,
                       struct sc_operand *part)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    *part = *o;
    part->view.ptr = (const char *)o->view.ptr + (c * o->view.ld + r) * (int64_t)sc_type_bytes(o->view.type);
    part->view.rows = part->rows = rows;
    part->view.cols = part->cols = cols;
    part->row += r;
    part->col += c;
    if (o->linear) {
        part->first += c * o->view.ld + r;
        part->count = rows && cols ? (cols - 1) * o->view.ld + rows : 0;
    }
}

int64_t sc_coherence_segment(int64_t n, enum sc_type type)
{
    return sc_lattice_segment(n, sc_type_bytes(type));
}

int64_t sc_coherence_next_sector(const struct sc_operand *o, int64_t c)
{
    const struct sc_matrix *m = o->matrix;
    const struct sc_tile *t;
    int64_t at, next;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (o->linear || o->view.vector || c >= o->view.cols)
        return o->view.cols;
    at = o->col + (c > 0 ? c : 0);
    t = sc_matrix_tile(m, 0, sc_matrix_tile_col(m, at));
    next = t->col + (at - t->col + m->width - 1) / m->width * m->width;
    if (next > t->col + t->cols)
        next = t->col + t->cols;
    return next - o->col < o->view.cols ? next - o->col : o->view.cols;
}

/* --- where -------------------------------------------------------------------------------------------------------- */

/* The home of a sector by distribution: by segments for folded vectors (rule D3), otherwise the tile's home. */
static int sector_home(const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    if (!m->folded)
        return t->home;
    return (int)(sc_tile_sector_col(m, t, s) * m->made.devices / m->cols);
}

void sc_coherence_home_cuts(const struct sc_operand *o, struct sc_cuts *out)
{
    const struct sc_matrix *m = o->matrix;
    const struct sc_tile *t;

    if (!m || !o->linear || o->view.vector || !m->folded || m->made.devices < 2 || sc_view_empty(&o->view)) {
        sc_coherence_col_cuts(o, out);
        return;
    }
    no_cuts(out);
    t = sc_matrix_tile(m, 0, 0); /* the only tile: fit_matrix */
    for (int s = 1; s < t->sectors; s++) {
        int64_t cut = sc_tile_sector_col(m, t, s) * m->rows, at = (cut - o->first + o->view.ld - 1) / o->view.ld;

        if (sector_home(m, t, s) != sector_home(m, t, s - 1) && cut > o->first && at < o->view.cols)
            add_cut(out, at);
    }
    add_cut(out, o->view.cols);
}

/* A device with a valid copy of a sector, preferably the home; SC_HOST: no device has a copy. */
static int sector_at(const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    int home = sector_home(m, t, s);

    if (t->copy[home].valid >> s & 1)
        return home;
    for (int d = 0; d < sc_protocol.devices; d++)
        if (t->copy[d].valid >> s & 1)
            return d;
    return SC_HOST;
}

/* Index of the first element of a linear vector past sector s of the tile. */
static int64_t sector_end_element(const struct sc_operand *o, const struct sc_tile *t, int s)
{
    const struct sc_matrix *m = o->matrix;
    int64_t step = sc_step(o->view.ld);

    return (sc_tile_sector_end(m, t, s + 1) * m->rows - o->first + step - 1) / step;
}

int64_t sc_coherence_run(const struct sc_operand *o, int64_t r, int64_t limit, int *device)
{
    struct sc_piece piece = {.operand = o, .r = r, .rows = limit, .cols = 1};
    int64_t end = r;
    struct sc_target x;
    int home = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(r >= 0 && limit > 0 && r + limit <= o->view.rows);
    if (!o->linear) {
        sc_piece_target(&piece, &x);
        *device = sector_at(x.m, x.t, __builtin_ctzll(x.sectors));
        return limit;
    }
    *device = SC_HOST - 1;
    while (end < r + limit) {
        int where, home_here;

        piece.r = end;
        piece.rows = 1;
        sc_piece_target(&piece, &x);
        where = sector_at(x.m, x.t, __builtin_ctzll(x.sectors));
        home_here = sector_home(x.m, x.t, __builtin_ctzll(x.sectors));
        if (end > r && (where != *device || (where == SC_HOST && home_here != home)))
            break;
        *device = where;
        home = home_here;
        end = sector_end_element(o, x.t, __builtin_ctzll(x.sectors));
    }
    return (end < r + limit ? end : r + limit) - r;
}

int sc_coherence_home(const struct sc_piece *piece)
{
    struct sc_target x;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_piece_target(piece, &x);
    return x.sectors ? sector_home(x.m, x.t, __builtin_ctzll(x.sectors)) : x.t->home;
}

/* Among devices with equally many sectors the home wins: results of commonly read operands should not all be made on
 * the first device. */
int sc_coherence_where(const struct sc_piece *piece)
{
    int home = sc_coherence_home(piece), best = home, most = 0;
    struct sc_target x;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_piece_target(piece, &x);
    for (int d = 0; d < sc_protocol.devices; d++) {
        int n = __builtin_popcountll(x.t->copy[d].valid & x.sectors), rank = n ? 2 * n + (d == home) : 0;

        if (rank > most && !sc_protocol.failed[d]) {
            most = rank;
            best = d;
        }
    }
    return best;
}

/* Elements of a piece of a triangle in missing sectors, as far as they travel. */
static uint64_t missing_of_triangle(const struct sc_piece *p, const struct sc_target *x, uint64_t missing)
{
    const struct sc_operand *o = p->operand;
    int64_t elements = 0;

    for (uint64_t rest = missing; rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);
        struct sc_rows piece = {o->row + p->r, o->row + p->r + p->rows};
        struct sc_rows rows = sc_rows_common(sc_piece_share(p, x, s), piece);
        int64_t first = o->col + p->c, end = first + p->cols;
        int64_t a = sc_tile_sector_col(x->m, x->t, s), b = sc_tile_sector_end(x->m, x->t, s + 1);

        if (rows.from < rows.end)
            elements += (rows.end - rows.from) * ((b < end ? b : end) - (a > first ? a : first));
    }
    return (uint64_t)elements;
}

uint64_t sc_coherence_missing(int device, const struct sc_piece *piece)
{
    struct sc_target x;
    int touched, missing;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_piece_target(piece, &x);
    if (piece->operand->triangle.uplo)
        return missing_of_triangle(piece, &x, x.sectors & ~x.t->copy[device].valid) * x.m->elem;
    touched = __builtin_popcountll(x.sectors);
    missing = touched - __builtin_popcountll(x.t->copy[device].valid & x.sectors);
    return touched ? (uint64_t)(piece->rows * piece->cols) * x.m->elem * (uint64_t)missing / (uint64_t)touched : 0;
}

bool sc_coherence_ready(int device, const struct sc_piece *piece)
{
    const struct sc_copy *c;
    struct sc_target x;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_piece_target(piece, &x);
    c = &x.t->copy[device];
    return !(x.sectors & (~c->valid | c->pending));
}

bool sc_coherence_contiguous(int device, const struct sc_piece *piece)
{
    struct sc_target x;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    (void)device; /* tiles have the same layout everywhere (D6) */
    sc_piece_target(piece, &x);
    return piece->operand->view.vector ? x.ld == 1 : x.ld == piece->rows || piece->cols == 1;
}

/* --- residency ---------------------------------------------------------------------------------------------------- */

/* Number of sectors of columns [c0, c1); *on_device, *only: sectors on some device, and on devices only.  *holders:
 * bits of the devices with a copy. */
static int masks_of(const struct sc_matrix *m, int64_t c0, int64_t c1, int *on_device, int *only, uint32_t *holders)
{
    int all = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(0 <= c0 && c0 < c1 && c1 <= m->cols);
    for (int j = sc_matrix_tile_col(m, c0); j <= sc_matrix_tile_col(m, c1 - 1); j++)
        for (int i = 0; i < m->row_parts; i++) {
            const struct sc_tile *t = sc_matrix_tile(m, i, j);
            uint64_t s = sc_tile_sectors(m, t, c0, c1 - c0), any = 0;
            int count = __builtin_popcountll(s);

            for (int d = 0; d < sc_protocol.devices; d++) {
                any |= t->copy[d].valid;
                *holders |= (uint32_t)(s & t->copy[d].valid ? 1 : 0) << d;
            }
            all += count;
            *on_device += s & ~any ? __builtin_popcountll(s & any) : count;
            if (s & ~t->host_valid)
                *only += __builtin_popcountll(s & ~t->host_valid);
        }
    return all;
}

/* Columns of a matrix that bytes [lo, hi) lie in. */
static void columns_of(const struct sc_matrix *m, uintptr_t lo, uintptr_t hi, int64_t *c0, int64_t *c1)
{
    size_t column = (size_t)m->ld * m->elem;
    int64_t end = (int64_t)((hi - 1 - m->base) / column) + 1;

    sc_assert(m->base <= lo && lo < hi && hi <= sc_matrix_end(m));
    *c0 = (int64_t)((lo - m->base) / column);
    *c1 = end < m->cols ? end : m->cols;
}

/* masks_of for a part of an operand. */
static int masks_of_part(const struct sc_operand *o, const struct sc_view *part, int *on_device, int *only)
{
    uint32_t holders = 0;
    uintptr_t lo, hi;
    int64_t c0, c1;

    if (sc_view_empty(part) || !o->matrix)
        return 0;
    sc_view_extent(part, &lo, &hi);
    columns_of(o->matrix, lo, hi, &c0, &c1);
    return masks_of(o->matrix, c0, c1, on_device, only, &holders);
}

bool sc_coherence_on_host(const struct sc_operand *o, const struct sc_view *part)
{
    int on_device = 0, only = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (o->stage != SC_IN_ARENA)
        return false;
    masks_of_part(o, part, &on_device, &only);
    return only == 0;
}

bool sc_coherence_find(const struct sc_view *view, struct sc_operand *o)
{
    int on_device = 0, only = 0, all;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (sc_view_empty(view) || sc_lent_any() || !sc_resolve_known(view, o))
        return false;
    all = masks_of_part(o, view, &on_device, &only);
    return all == on_device;
}

/* Rounding error in bytes of a sum of shares: without the tolerance an operand that is wholly on a device could
 * count as missing a byte. */
#define ROUNDING 1e-3

static uint64_t device_only_of(const struct sc_matrix *m)
{
    int on_device = 0, only = 0, all;
    uint32_t holders = 0;

    all = masks_of(m, 0, m->cols, &on_device, &only, &holders);
    return all ? (uint64_t)((double)m->bytes * only / all) : 0;
}

static void note_size(uintptr_t lo, uint64_t bytes, uint32_t holders, struct sc_residency *out)
{
    if (bytes <= out->largest)
        return;
    out->largest = bytes;
    out->holders = __builtin_popcount(holders);
    out->chosen = sc_host_is_united((const void *)lo);
}

static void add_residency(const struct sc_view *v, struct sc_residency *out)
{
    uint64_t bytes = (uint64_t)(v->rows * v->cols) * sc_type_bytes(v->type);
    struct sc_host_block block;
    uint32_t holders = 0;
    uintptr_t lo, hi;
    size_t first;
    bool fit;
    int n;

    sc_view_extent(v, &lo, &hi);
    out->bytes += bytes;
    n = sc_directory_find(lo, hi, &first);
    if (!n && (!sc_host_block_of((const void *)lo, &block) || hi > block.base + block.bytes))
        out->untracked += bytes;
    fit = n == 1 && sc_resolve_fits(v, sc_directory_at(first));
    for (int i = 0; i < n; i++) {
        const struct sc_matrix *m = sc_directory_at(first + (size_t)i);
        uintptr_t a = lo > m->base ? lo : m->base, b = hi < sc_matrix_end(m) ? hi : sc_matrix_end(m);
        int on_device = 0, only = 0, all;
        int64_t c0, c1;
        double share;

        columns_of(m, a, b, &c0, &c1);
        all = masks_of(m, c0, c1, &on_device, &only, &holders);
        share = (double)bytes * (double)(b - a) / (double)(hi - lo) / (all ? all : 1);
        if (fit)
            out->device_bytes += (uint64_t)(share * on_device + ROUNDING);
        else
            out->reshaped += device_only_of(m);
        out->device_only += (uint64_t)(share * only + ROUNDING);
    }
    note_size(lo, bytes, holders, out);
}

/* The same without the lock, for a view without a copy on any device: its pages are open (C10).  False: pages may be
 * closed. */
static bool add_home(const struct sc_view *v, struct sc_residency *out)
{
    uint64_t bytes = (uint64_t)(v->rows * v->cols) * sc_type_bytes(v->type);
    struct sc_host_block block;
    uintptr_t lo, hi;

    sc_view_extent(v, &lo, &hi);
    if (sc_noted_any(lo, hi, SC_CLOSED_WRITE))
        return false;
    out->bytes += bytes;
    if (!sc_host_block_of((const void *)lo, &block) || hi > block.base + block.bytes)
        out->untracked += bytes;
    note_size(lo, bytes, 0, out);
    return true;
}

/* Tested before the notes, as in acquire.c. */
static bool may_wait(void)
{
    return __atomic_load_n(&sc_protocol.active, __ATOMIC_SEQ_CST) ||
           __atomic_load_n(&sc_protocol.has_waited, __ATOMIC_RELAXED);
}

bool sc_coherence_is_home(const void *ptr, uint64_t bytes)
{
    uintptr_t lo = (uintptr_t)ptr, hi = lo + bytes;

    if (may_wait())
        return false;
    return sc_host_in_arena(ptr) ? !sc_noted_any(lo, hi, SC_CLOSED_WRITE) && !sc_noted_any(lo, hi, SC_FETCHED)
                                 : !sc_mirror_near(lo, hi);
}

enum sc_at_home sc_coherence_at_home(const void *ptr, uint64_t bytes, enum sc_access access, uintptr_t *base,
                                     size_t *block_bytes)
{
    uintptr_t lo = (uintptr_t)ptr;

    if (may_wait())
        return SC_NOT_HOME;
    if (!sc_host_in_arena(ptr)) {
        *base = lo;
        *block_bytes = 0;
        return sc_mirror_near(lo, lo + bytes) ? SC_NOT_HOME : SC_OUTSIDE;
    }
    if (!sc_coherence_block(ptr, base, block_bytes) || bytes > *base + *block_bytes - lo ||
        sc_noted_any(lo, lo + bytes, SC_FETCHED))
        return SC_NOT_HOME;
    if (!sc_noted_any(lo, lo + bytes, SC_CLOSED_WRITE))
        return SC_AT_HOME;
    return access & SC_WRITE || sc_noted_any(lo, lo + bytes, SC_CLOSED_READ) ? SC_NOT_HOME : SC_SHARED;
}

static void add_inside(const struct sc_view *v, struct sc_residency *out)
{
    if (add_home(v, out))
        return;
    sc_protocol_lock();
    add_residency(v, out);
    sc_protocol_unlock();
}

/* The bytes of a mirror that the program has rewritten since the last call are unknown here: the state after the
 * last call counts.  Copying results back is half of the traffic that `untracked` means. */
static void add_outside(const struct sc_view *v, struct sc_residency *out)
{
    struct sc_residency all = {0};
    struct sc_view own;
    uintptr_t lo, hi;
    bool mirrored, possible;

    sc_view_extent(v, &lo, &hi);
    sc_mirror_lock();
    mirrored = sc_mirror_view(v, &own);
    possible = mirrored || sc_mirror_possible(lo, hi);
    sc_mirror_unlock();
    all.bytes = (uint64_t)(v->rows * v->cols) * sc_type_bytes(v->type);
    if (mirrored) {
        all.bytes = 0;
        sc_protocol_lock();
        add_residency(&own, &all);
        sc_protocol_unlock();
    }
    out->bytes += all.bytes;
    if (!possible || v->access & SC_WRITE)
        out->untracked += possible ? all.bytes / 2 : all.bytes;
    if (possible)
        out->device_bytes += v->access & SC_WRITE ? all.device_bytes / 2 : all.device_bytes;
}

/* The bytes that go up with so many missing bytes of a strided vector.  A sector has whole columns of its matrix: the
 * elements between those of a vector are in the same sector, and also a result is uploaded first. */
static uint64_t beside(const struct sc_view *v, uint64_t missing)
{
    uint64_t size = sc_type_bytes(v->type), step = (uint64_t)(v->ld < 0 ? -v->ld : v->ld) * size;

    if (!v->vector || v->rows < 2)
        return 0;
    return missing / size * ((step < SC_PAGE ? step : SC_PAGE) - size);
}

void sc_coherence_residency(const struct sc_view *views, int count, struct sc_residency *out)
{
    memset(out, 0, sizeof *out); /* compared byte by byte (blas rule 33) */
    for (int i = 0; i < count; i++) {
        struct sc_residency before = *out;
        uint64_t missing;

        if (sc_view_empty(&views[i]))
            continue;
        (sc_host_in_arena(views[i].ptr) ? add_inside : add_outside)(&views[i], out);
        missing = out->bytes - before.bytes - (out->device_bytes - before.device_bytes) -
                  (out->untracked - before.untracked);
        out->arrivals += missing > 0 && views[i].access & SC_READ;
        out->closings += views[i].access & SC_WRITE &&
                         out->device_only - before.device_only < out->bytes - before.bytes;
        out->away |= (uint64_t)(out->device_only > before.device_only) << (i & 63);
        out->absent |= (uint64_t)(missing > 0) << (i & 63);
        out->beside += beside(&views[i], missing);
        if (views[i].access == SC_WRITE)
            out->overwritten += missing;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
