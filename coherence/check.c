/* SEMCACHE_CHECK=1: the invariants as code.  Transitions note the bytes whose state or protection they change
 * (touched.c).  A check follows each transition: of the matrices of these bytes, of some neighbours on the same
 * pages, and of about as many pages of other matrices in turn.  A check therefore costs as much as the preceding
 * change, for any number of matrices, on one page too.  Matrices of calls in progress are checked at the end of the
 * call. */
#include "coherence/protocol.h"

#define PIECE 64         /* pages checked together by the rounds */
#define LEAST_STEPS 64   /* least number of steps of a round */
#define NEIGHBOURS 8     /* matrices on a changed page, checked although their bytes are unchanged */

uint64_t sc_check_steps;
bool sc_check_rounds = true;
static unsigned count_broken;

unsigned sc_coherence_broken(void)
{
    return count_broken;
}

static void broken(const struct sc_matrix *m, const char *rule, const char *after, uint64_t what)
{
    sc_log(SC_LOG_ERROR, "invariant %s broken after %s: matrix %u at %#lx, %#llx", rule, after, m->id,
           (unsigned long)m->base, (unsigned long long)what);
    count_broken++;
}

/* --- the invariants ----------------------------------------------------------------------------------------------- */

/* C11 */
static bool is_partial_as_allowed(const struct sc_copy *c)
{
    for (uint64_t rest = c->partial & c->valid; rest; rest &= rest - 1)
        if (!sc_rows_have(sc_tile_rows(c->tile), c->rows[__builtin_ctzll(rest)]))
            return false;
    return !(c->partial & ~c->valid);
}

static void check_tile(const struct sc_matrix *m, const struct sc_tile *t, const char *after)
{
    uint64_t all = sc_sectors_all(t->sectors), any = t->host_valid;

    sc_check_steps += (uint64_t)sc_protocol.devices;
    for (int d = 0; d < sc_protocol.devices; d++) {
        any |= t->copy[d].valid;
        if (t->copy[d].valid && !t->copy[d].memory)
            broken(m, "D6 (a copy without memory)", after, t->copy[d].valid);
        if (t->copy[d].partial && !is_partial_as_allowed(&t->copy[d]))
            broken(m, "C11 (partial, not valid)", after, t->copy[d].partial);
        if (t->copy[d].lru.pins)
            broken(m, "pins (left by a task)", after, t->copy[d].lru.pins);
    }
    if ((any & all) != all)
        broken(m, "C1 (valid nowhere)", after, all & ~any);
}

/* C10, for pages [lo, hi) that belong to a single sector. */
static void check_noted(const struct sc_matrix *m, int g, uintptr_t lo, uintptr_t hi, const char *after)
{
    enum sc_prot most = sc_closed_bit(m, g, SC_CLOSED_READ)    ? SC_PROT_NONE
                        : sc_closed_bit(m, g, SC_CLOSED_WRITE) ? SC_PROT_R : SC_PROT_RW;

    for (uintptr_t p = lo; p < hi; p += SC_PAGE)
        if (sc_host_prot(p) > most)
            broken(m, "C10 (closed, not noted)", after, p);
    if (lo < hi && most != SC_PROT_RW && !sc_noted_any(lo, hi, SC_CLOSED_WRITE))
        broken(m, "C10 (not in the index)", after, (uint64_t)g);
}

/* C3 in terms of applied protection, for pages in [from, to); and an open sector is valid and has landed in all
 * tiles. */
static void check_sector(const struct sc_matrix *m, int g, uintptr_t from, uintptr_t to, const char *after)
{
    uint64_t bit = UINT64_C(1) << g % SC_SECTORS;
    bool on_device = sc_protocol_device_has(m, g);
    uintptr_t lo, hi, own, own_end;

    if (!sc_matrix_sector_range(m, g, &lo, &hi))
        return;
    for (int i = 0; i < m->row_parts; i++) {
        const struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);

        if (m->open[g] && (!(t->host_valid & bit) || !sc_reached(t->landed[g % SC_SECTORS])))
            broken(m, "C3 (open, not valid)", after, (uint64_t)g);
    }
    own = sc_page_ceil(lo);
    own_end = sc_page_floor(hi);
    lo = sc_page_floor(lo) > from ? sc_page_floor(lo) : from;
    hi = hi < to ? hi : to;
    for (uintptr_t p = lo; p < hi; p += SC_PAGE) {
        enum sc_prot least = m->open[g] ? (on_device ? SC_PROT_R : SC_PROT_RW)
                             : sc_protocol_page_is_home(m, p) ? SC_PROT_R : SC_PROT_NONE;

        if (sc_host_prot(p) < least)
            broken(m, "C3 (page too open)", after, p);
        sc_check_steps++;
    }
    sc_check_steps += (uint64_t)m->row_parts;
    check_noted(m, g, own > from ? own : from, own_end < to ? own_end : to, after);
}

/* Checks the part of the matrix on the pages [from, to). */
static void check_part(const struct sc_matrix *m, uintptr_t from, uintptr_t to, const char *after)
{
    int g, end;

    sc_check_steps++;
    if (!sc_matrix_sectors_at(m, from, to, &g, &end))
        return;
    for (int j = g / SC_SECTORS; j <= (end - 1) / SC_SECTORS; j++)
        for (int i = 0; i < m->row_parts; i++)
            check_tile(m, sc_matrix_tile(m, i, j), after);
    for (; g < end; g++)
        check_sector(m, g, from, to, after);
}

void sc_check_all(const char *after)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (size_t i = 0; i < sc_directory_count(); i++) {
        const struct sc_matrix *m = sc_directory_at(i);

        if (!m->users) /* a call in progress has pins */
            check_part(m, sc_page_floor(m->base), sc_page_ceil(sc_matrix_end(m)), after);
    }
}

/* --- what has changed --------------------------------------------------------------------------------------------- */

/* Checks a matrix on pages [from, to).  False: the matrix is in use. */
static bool check_matrix(size_t i, uintptr_t from, uintptr_t to, const char *after)
{
    const struct sc_matrix *m = sc_directory_at(i);

    if (!m->users)
        check_part(m, from, to, after);
    return !m->users;
}

/* Checks the matrices of bytes [lo, hi), and in turn some of the others on the first and on the last page: a page may
 * hold hundreds of small matrices.  False: a matrix is in use. */
static bool check_range(uintptr_t lo, uintptr_t hi, const char *after)
{
    static size_t turn;
    uintptr_t from = sc_page_floor(lo), to = sc_page_ceil(hi);
    bool all = true;
    size_t first, last, own;
    size_t count = (size_t)sc_directory_find(lo, hi, &own), others;

    (void)sc_directory_find(from, from + 1, &first);
    others = (size_t)sc_directory_find(to - 1, to, &last);
    others += last - first - count;

    for (size_t i = own; i < own + count; i++)
        all &= check_matrix(i, from, to, after);
    for (size_t n = 0; n < others && n < NEIGHBOURS; n++) {
        size_t i = first + turn++ % others;

        all &= check_matrix(count && i >= own ? i + count : i, from, to, after);
    }
    return all;
}

/* Checks the next pieces of all matrices, for `steps` steps. */
static void go_round(uint64_t steps, const char *after)
{
    static uintptr_t next;
    uint64_t end = sc_check_steps + steps;
    bool again = false;

    while (sc_check_steps < end) {
        const struct sc_matrix *m = sc_directory_next(next, UINTPTR_MAX);
        uintptr_t lo, hi;

        if (!m && (again || !next))
            return;
        if (!m) {
            again = true;
            next = 0;
            continue;
        }
        lo = next > m->base ? next : m->base;
        hi = sc_page_floor(lo) + PIECE * SC_PAGE;
        next = m->users || hi > sc_matrix_end(m) ? sc_matrix_end(m) : hi;
        sc_check_steps++;
        if (!m->users)
            check_part(m, sc_page_floor(lo), sc_page_ceil(next), after);
    }
}

void sc_check_changed(const char *after)
{
    uint64_t before = sc_check_steps;
    struct sc_range range;

    sc_assert_held(SC_RANK_PROTOCOL);
    for (size_t left = sc_check_count(); left && sc_check_next(&range); left--)
        if (!check_range(range.lo, range.hi, after))
            sc_check_touched(range.lo, range.hi);
    if (sc_check_rounds)
        go_round(sc_check_steps - before + LEAST_STEPS, after);
}

/* After a task no pins are left, even if the task changed no state. */
void sc_check_operand(const struct sc_operand *o, const char *after)
{
    const struct sc_matrix *m = o->matrix;
    uintptr_t lo, hi;
    int g, end;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!m || m->users)
        return;
    sc_view_extent(&o->view, &lo, &hi);
    if (!sc_matrix_sectors_at(m, lo, hi, &g, &end))
        return;
    for (int j = g / SC_SECTORS; j <= (end - 1) / SC_SECTORS; j++)
        for (int i = 0; i < m->row_parts; i++)
            check_tile(m, sc_matrix_tile(m, i, j), after);
}
/* SPDX-License-Identifier: BSD-2-Clause */
