/* SEMCACHE_CHECK=1: the invariants as code, and garbage where a location has lost its copy. */
#include "coherence/protocol.h"

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

static void check_tile(const struct sc_matrix *m, const struct sc_tile *t, const char *after)
{
    uint64_t all = sc_sectors_all(t->sectors), any = t->host_valid;

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

/* C3 in terms of the pages' applied protection, and that an open sector is valid and has landed in all tiles. */
static void check_sector(const struct sc_matrix *m, int g, const char *after)
{
    uint64_t bit = UINT64_C(1) << g % SC_SECTORS;
    bool on_device = sc_protocol_device_has(m, g);
    uintptr_t lo, hi;

    if (!sc_matrix_sector_range(m, g, &lo, &hi))
        return;
    for (int i = 0; i < m->row_parts; i++) {
        const struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);

        if (m->open[g] && (!(t->host_valid & bit) || !sc_reached(t->landed[g % SC_SECTORS])))
            broken(m, "C3 (open, not valid)", after, (uint64_t)g);
    }
    for (uintptr_t p = sc_page_floor(lo); p < hi; p += SC_PAGE) {
        enum sc_prot least = m->open[g] ? (on_device ? SC_PROT_R : SC_PROT_RW)
                             : sc_protocol_page_is_home(m, p) ? SC_PROT_R : SC_PROT_NONE;

        if (sc_host_prot(p) < least)
            broken(m, "C3 (page too open)", after, p);
    }
}

void sc_check_matrix(const struct sc_matrix *m, const char *after)
{
    for (int i = 0; i < m->row_parts * m->col_parts; i++)
        check_tile(m, &m->tiles[i], after);
    for (int g = 0; g < sc_matrix_sectors(m); g++)
        check_sector(m, g, after);
}

void sc_check_all(const char *after)
{
    for (size_t i = 0; i < sc_directory_count(); i++) {
        const struct sc_matrix *m = sc_directory_at(i);

        if (!m->users) /* a call in progress has pins */
            sc_check_matrix(m, after);
    }
}

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
