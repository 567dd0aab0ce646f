/* SEMCACHE_CHECK=1: the invariants as code, and garbage where a location has lost its copy.
 *
 * Transitions note the bytes whose state or protection they change (sc_check_touched).  When a transition is over, the
 * matrices there are checked, and about as many pages of all matrices in turn: a check costs as much as the change that
 * it follows, however many matrices there are.  Matrices of calls in progress are left for the end of the call. */
#include "coherence/protocol.h"

#define RANGES 1024      /* noted between two checks; more displace the oldest, which the rounds find */
#define NEIGHBOURS 8     /* of the last ranges: one of them may grow */
#define PIECE 64         /* pages that the rounds look at together, */
#define LEAST_STEPS 64   /* and steps that they take at least */

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

static void check_tile(const struct sc_matrix *m, const struct sc_tile *t, const char *after)
{
    uint64_t all = sc_sectors_all(t->sectors), any = t->host_valid;

    sc_check_steps += (uint64_t)sc_protocol.devices;
    for (int d = 0; d < sc_protocol.devices; d++) {
        any |= t->copy[d].valid;
        if (t->copy[d].valid && !t->copy[d].memory)
            broken(m, "D6 (a copy without memory)", after, t->copy[d].valid);
        if (t->copy[d].pins)
            broken(m, "pins (left by a task)", after, t->copy[d].pins);
    }
    if ((any & all) != all)
        broken(m, "C1 (valid nowhere)", after, all & ~any);
}

/* C10, of pages [lo, hi) that no other sector shares. */
static void check_noted(const struct sc_matrix *m, int g, uintptr_t lo, uintptr_t hi, const char *after)
{
    enum sc_prot most = sc_closed_bit(m, g, SC_CLOSED_READ)    ? SC_PROT_NONE
                        : sc_closed_bit(m, g, SC_CLOSED_WRITE) ? SC_PROT_R : SC_PROT_RW;

    for (uintptr_t p = lo; p < hi; p += SC_PAGE)
        if (sc_host_prot(p) > most)
            broken(m, "C10 (closed, not noted)", after, p);
    if (most != SC_PROT_RW && !sc_noted_any(m->base, sc_matrix_end(m), SC_CLOSED_WRITE))
        broken(m, "C10 (not in the index)", after, (uint64_t)g);
}

/* C3 in terms of the pages' applied protection, as far as they lie in [from, to), and that an open sector is valid and
 * has landed in all tiles. */
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

/* Of the matrix what lies on the pages [from, to). */
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
    for (size_t i = 0; i < sc_directory_count(); i++) {
        const struct sc_matrix *m = sc_directory_at(i);

        if (!m->users) /* a call in progress has pins */
            check_part(m, sc_page_floor(m->base), sc_page_ceil(sc_matrix_end(m)), after);
    }
}

/* --- what has changed --------------------------------------------------------------------------------------------- */

static struct sc_range touched[RANGES]; /* a ring */
static size_t first_touched, count_touched;

static struct sc_range *touched_at(size_t i)
{
    return &touched[(first_touched + i) % RANGES];
}

void sc_check_touched(uintptr_t lo, uintptr_t hi)
{
    for (size_t back = 1; back <= NEIGHBOURS && back <= count_touched; back++) {
        struct sc_range *last = touched_at(count_touched - back);

        if (lo <= last->hi && last->lo <= hi) {
            last->lo = lo < last->lo ? lo : last->lo;
            last->hi = hi > last->hi ? hi : last->hi;
            return;
        }
    }
    if (count_touched == RANGES)
        first_touched++;
    else
        count_touched++;
    *touched_at(count_touched - 1) = (struct sc_range){lo, hi};
}

/* All matrices on these pages.  False: one of them is in use. */
static bool check_range(uintptr_t lo, uintptr_t hi, const char *after)
{
    bool all = true;
    size_t first;
    int n;

    lo = sc_page_floor(lo);
    hi = sc_page_ceil(hi);
    n = sc_directory_find(lo, hi, &first);
    for (int i = 0; i < n; i++) {
        const struct sc_matrix *m = sc_directory_at(first + (size_t)i);

        if (m->users)
            all = false;
        else
            check_part(m, lo, hi, after);
    }
    return all;
}

/* The next pieces of all matrices, for so many steps. */
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

    for (size_t left = count_touched; left && count_touched; left--) {
        struct sc_range range = *touched_at(0);

        first_touched++;
        count_touched--;
        if (!check_range(range.lo, range.hi, after))
            sc_check_touched(range.lo, range.hi);
    }
    if (sc_check_rounds)
        go_round(sc_check_steps - before + LEAST_STEPS, after);
}

/* A task leaves no pins, even where it has changed nothing. */
void sc_check_operand(const struct sc_operand *o, const char *after)
{
    const struct sc_matrix *m = o->matrix;
    uintptr_t lo, hi;
    int g, end;

    if (!m || m->users)
        return;
    sc_view_extent(&o->view, &lo, &hi);
    if (!sc_matrix_sectors_at(m, lo, hi, &g, &end))
        return;
    for (int j = g / SC_SECTORS; j <= (end - 1) / SC_SECTORS; j++)
        for (int i = 0; i < m->row_parts; i++)
            check_tile(m, sc_matrix_tile(m, i, j), after);
}

/* --- garbage ------------------------------------------------------------------------------------------------------ */

/* Ordered like a kernel that writes the sectors, on the device's compute stream. */
void sc_check_scribble(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct sc_copy *c = &t->copy[device];
    struct sc_fence f;

    if (!c->memory || sc_protocol.failed[device])
        return;
    for (int i = 0; i <= SC_DEVICES_MAX; i++)
        sc_order(device, SC_STREAM_COMPUTE, c->reader[i]);
    for (uint64_t rest = sectors; rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);
        size_t column = (size_t)t->rows * m->elem;
        int64_t c0 = sc_tile_sector_col(m, t, s), c1 = sc_tile_sector_end(m, t, s + 1);
        char *begin = (char *)c->memory + (size_t)(c0 - t->col) * column;

        sc_order(device, SC_STREAM_COMPUTE, c->ready[s]);
        ops->fill(device, SC_STREAM_COMPUTE, begin, (size_t)(c1 - c0) * column, 0xff, (size_t)(c1 - c0) * column, 1);
    }
    if (sc_mark(device, SC_STREAM_COMPUTE, &f) != SC_OK) {
        sc_device_gave_up(device, "ordering its work");
        return;
    }
    c->last_used = f;
    for (uint64_t rest = sectors; rest; rest &= rest - 1)
        c->ready[__builtin_ctzll(rest)] = f;
}
