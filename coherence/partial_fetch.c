/* Windows: parts of sectors that a read fault or a read-ahead brings home while the sectors stay dirty on devices. */
#include "coherence/protocol.h"

/* True: the window's fences are reached; *good: and its data has arrived.  Data of lost devices is requested again. */
static bool landed(const struct sc_window *w, bool *good)
{
    *good = true;
    for (int i = 0; i < w->fences.count; i++)
        if (!sc_reached(w->fences.f[i]))
            return false;
    for (int i = 0; i < w->fences.count; i++)
        *good &= sc_sync(w->fences.f[i]) == SC_OK;
    return true;
}

void sc_partial_finish(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < sc_windows_used; i++) {
        struct sc_matrix *m = sc_windows[i].m;
        bool good;

        if (m && landed(&sc_windows[i], &good)) {
            sc_windows[i].m = NULL;
            if (good)
                sc_protocol_pages_home(m, sc_windows[i].lo, sc_windows[i].hi);
        }
    }
    sc_windows_trim();
    sc_devices_look();
}

/* Brings the rows [r0, r1) of columns [c0, c1), over all tiles. */
static enum sc_status fetch_rect(struct sc_matrix *m, struct sc_window *w, int64_t r0, int64_t r1, int64_t c0,
                                 int64_t c1)
{
    r1 = r1 < m->rows ? r1 : m->rows;
    c1 = c1 < m->cols ? c1 : m->cols;
    if (r0 >= r1 || c0 >= c1)
        return SC_OK;
    for (int j = sc_matrix_tile_col(m, c0); j <= sc_matrix_tile_col(m, c1 - 1); j++)
        for (int i = sc_matrix_tile_row(m, r0); i <= sc_matrix_tile_row(m, r1 - 1); i++) {
            struct sc_tile *t = sc_matrix_tile(m, i, j);
            int64_t a = r0 > t->row ? r0 : t->row, b = r1 < t->row + t->rows ? r1 : t->row + t->rows;
            int64_t c = c0 > t->col ? c0 : t->col, d = c1 < t->col + t->cols ? c1 : t->col + t->cols;
            enum sc_status status = sc_transfer_window(m, t, a, b, c, d, &w->fences);

            if (status != SC_OK)
                return status;
        }
    return SC_OK;
}

/* Elements [first, last) of a contiguous lattice. */
static enum sc_status fetch_linear(struct sc_matrix *m, struct sc_window *w, int64_t first, int64_t last)
{
    enum sc_status status = SC_OK;

    for (int j = sc_matrix_tile_col(m, first / m->rows); j <= sc_matrix_tile_col(m, (last - 1) / m->rows); j++) {
        struct sc_tile *t = sc_matrix_tile(m, 0, j);
        int64_t a = t->col * m->rows, b = (t->col + t->cols) * m->rows;

        if (status == SC_OK)
            status = sc_transfer_linear(m, t, a > first ? a : first, b < last ? b : last, &w->fences);
    }
    return status;
}

/* Brings the matrix's bytes in [w->lo, w->hi): the rest of a column, whole columns, the beginning of a column. */
static enum sc_status fetch_bytes(struct sc_matrix *m, struct sc_window *w)
{
    uintptr_t lo = w->lo > m->base ? w->lo : m->base, hi = w->hi < sc_matrix_end(m) ? w->hi : sc_matrix_end(m);
    int64_t first = (int64_t)((lo - m->base) / m->elem); /* elements that the range meets */
    int64_t last = (int64_t)((hi - m->base + m->elem - 1) / m->elem);
    int64_t c0 = first / m->ld, r0 = first % m->ld, c1 = last / m->ld, r1 = last % m->ld;
    enum sc_status status = SC_OK;

    if (m->rows == m->ld && m->row_parts == 1 && !sc_transfer_is_partial(m))
        return fetch_linear(m, w, first, last);
    if (c0 == c1)
        return fetch_rect(m, w, r0, r1, c0, c0 + 1);
    if (r0) {
        status = fetch_rect(m, w, r0, m->ld, c0, c0 + 1);
        c0++;
    }
    if (status == SC_OK)
        status = fetch_rect(m, w, 0, m->ld, c0, c1);
    if (status == SC_OK)
        status = fetch_rect(m, w, 0, r1, c1, c1 + 1);
    return status;
}

static bool need_fetch(const struct sc_matrix *m, uintptr_t page)
{
    return !sc_protocol_page_is_home(m, page) && !sc_window_at(m, page);
}

static void add_fences(const struct sc_window *w, struct sc_fences *fences)
{
    for (int i = 0; i < w->fences.count; i++)
        sc_fences_add(fences, w->fences.f[i]);
}

/* Starts a window over the pages from lo on that are neither home nor on their way.  Returns its end; lo: too many
 * windows.  A window in which a device fails is given up; remaining copies are requested again. */
static uintptr_t start_window(struct sc_matrix *m, uintptr_t lo, uintptr_t hi, struct sc_fences *fences)
{
    struct sc_window *w = sc_window_free();
    uintptr_t end = lo;

    if (!w)
        return lo;
    while (end < hi && need_fetch(m, end))
        end += SC_PAGE;
    w->m = m;
    w->lo = lo;
    w->hi = end;
    w->fences.count = 0;
    if (fetch_bytes(m, w) != SC_OK)
        w->m = NULL;
    else
        add_fences(w, fences);
    return end;
}

bool sc_partial_fetch(struct sc_matrix *m, uintptr_t lo, uintptr_t hi, struct sc_fences *fences)
{
    bool ready = true;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_pages(lo, hi);
    while (lo < hi) {
        const struct sc_window *there = sc_window_at(m, lo);
        uintptr_t end = lo;

        if (there) {
            add_fences(there, fences);
            ready = false;
            lo = there->hi;
        } else if (sc_protocol_page_is_home(m, lo)) {
            lo += SC_PAGE;
        } else {
            ready = false;
            end = start_window(m, lo, hi, fences);
            if (end == lo) { /* no free entry: any landed window frees one */
                for (int i = 0; i < sc_windows_used; i++)
                    add_fences(&sc_windows[i], fences);
                return false;
            }
            lo = end;
        }
    }
    return ready;
}
/* SPDX-License-Identifier: BSD-2-Clause */
