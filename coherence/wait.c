/* The cost of the cache: transfers, and for the program's own threads the seconds of page faults and acquisitions, by
 * matrix.  Emulated devices have a virtual clock; real devices use the system's. */
#include "coherence/protocol.h"

#include <time.h>

#include "device/links.h"

#define FAULT_BESIDE     5e-6 /* of a fault on real devices: the signal, and waking the pager and the thread */
#define READS_LEAST      4    /* page faults by reads before a whole fetch: a small matrix is fetched in no time */
#define WRITES_LEAST     8    /* the same by writes: pages that are opened for writing are uploaded again */
#define SHARE_OF_FETCH   0.12 /* share of the time to fetch the whole matrix that faults may take; faults in progress
                              * and threads that wait together add about as much */

#define WRITTEN_MOST     ((size_t)4 << 20) /* bytes that go up again in the time of a fault */
#define GRANTED          8    /* writes of a whole matrix; the pages of the next one open piece by piece, to look */
#define WHOLE            0.75 /* share of a matrix that is most of it; the second fault then begins the next sweep */

static double of_system(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double sc_wait_clock(enum sc_host_event event)
{
    const struct sc_device_ops *ops = sc_protocol_ops();

    return ops && ops->host_clock ? ops->host_clock(event) : of_system();
}

double sc_coherence_host_clock(void) { return sc_wait_clock(SC_HOST_EVENT_NONE); }

void sc_transfer_count(struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors, int from, int to, uint64_t bytes,
                       enum sc_transfer_what what)
{
    enum sc_transfer kind = from == SC_HOST ? SC_H2D : to == SC_HOST ? SC_D2H : SC_D2D;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(from != to);
    sc_assert_sectors(t, sectors);
    sc_count(&sc_stats.bytes[kind], bytes);
    sc_count(&sc_stats.transfers[kind], 1);
    if (kind == SC_D2H && what != SC_TRANSFER_EVICTED) {
        m->wait.fetches++;
        m->wait.fetched_bytes += bytes;
        m->wait.home_bytes += bytes;
        sc_noted_fetched(m, true);
    }
    sc_trace(.kind = SC_EVENT_TRANSFER, .matrix = m->id, .tile = sc_matrix_tile_index(m, t), .sectors = sectors,
             .device = (int16_t)to, .peer = (int16_t)from, .bytes = bytes,
             .is_part = what == SC_TRANSFER_BACK ? 2 : what == SC_TRANSFER_PART);
}

static struct sc_matrix *matrix_at(uintptr_t lo, uintptr_t hi)
{
    size_t first;

    return sc_directory_find(lo, hi, &first) ? sc_directory_at(first) : NULL;
}

static void charge(struct sc_matrix *m, double seconds)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(seconds >= 0);
    m->wait.waited += seconds;
    sc_noted_fetched(m, true);
    sc_protocol.waited += seconds;
    __atomic_store_n(&sc_protocol.has_waited, true, __ATOMIC_RELAXED);
}

void sc_wait_acquired(uintptr_t lo, uintptr_t hi, double seconds)
{
    struct sc_matrix *m = matrix_at(lo, hi);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(lo < hi);
    if (m)
        charge(m, seconds);
}

void sc_wait_faulted(uintptr_t page, double since, enum sc_access access, bool computed)
{
    double seconds = sc_wait_clock(SC_HOST_EVENT_FAULT) - since;
    struct sc_matrix *m = matrix_at(page, page + SC_PAGE);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_trace(.kind = SC_EVENT_WAIT, .took = (uint64_t)(seconds * 1e9));
    if (!m)
        return;
    if (!sc_protocol.ops || !sc_protocol.ops->host_clock)
        seconds += FAULT_BESIDE;
    if (!m->wait.faults) {
        m->wait.first = since;
        m->wait.first_seconds = seconds;
        m->wait.first_late = computed;
    }
    charge(m, seconds);
    m->wait.faulted += seconds;
    m->wait.faults++;
    m->wait.write_faults += (access & SC_WRITE) != 0;
}

bool sc_wait_rewritten(const struct sc_matrix *m)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int g = 0; g < m->col_parts * SC_SECTORS; g++)
        if (sc_protocol_device_has(m, g))
            return false;
    return true;
}

static void look_back(struct sc_matrix *m)
{
    if (m->wait.home_bytes)
        m->wait.read_whole = (double)m->wait.home_bytes >= WHOLE * (double)m->bytes;
    if (m->wait.write_faults && m->wait.wrote_whole)
        m->wait.wrote_whole--;
    else if (m->wait.write_faults && m->bytes <= WRITTEN_MOST && sc_wait_rewritten(m))
        m->wait.wrote_whole = GRANTED;
}

void sc_wait_look_back(struct sc_matrix *m)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    look_back(m);
}

void sc_wait_used(struct sc_matrix *m, bool begins)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    if (begins)
        look_back(m);
    m->wait.home_bytes = 0;
    m->wait.faulted = 0;
    m->wait.faults = m->wait.write_faults = 0;
}

bool sc_wait_is_over(const struct sc_matrix *m, enum sc_access access)
{
    double rate = sc_protocol.properties[0].host_bandwidth;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (access == SC_READ ? m->wait.faults && m->wait.read_whole : m->wait.write_faults && m->wait.wrote_whole)
        return true;
    return m->wait.faults >= (access & SC_WRITE ? WRITES_LEAST : READS_LEAST) &&
           m->wait.faulted * (rate > 0 ? rate : SC_LINK_UNKNOWN) >= SHARE_OF_FETCH * (double)m->bytes;
}

/* --- what the autotuner asks -------------------------------------------------------------------------------------- */

static void add_fetched(uintptr_t lo, uintptr_t hi, struct sc_fetched *out)
{
    struct sc_matrix *m;

    for (uintptr_t from = 0; (m = sc_noted_next(from, lo, hi, SC_FETCHED)); from = m->base + 1) {
        if (m->base >= hi || sc_matrix_end(m) <= lo) /* a neighbour on the same page */
            continue;
        out->copies += m->wait.fetches;
        out->bytes += m->wait.fetched_bytes;
        out->seconds += m->wait.waited;
        m->wait.fetches = m->wait.fetched_bytes = 0;
        m->wait.waited = 0;
        sc_noted_fetched(m, false);
    }
}

void sc_coherence_fetched(const struct sc_view *views, int count, struct sc_fetched *out)
{
    uintptr_t lo, hi;

    *out = (struct sc_fetched){0};
    for (int i = 0; i < count; i++) {
        if (sc_view_empty(&views[i]))
            continue;
        sc_view_extent(&views[i], &lo, &hi);
        if (!sc_noted_any(lo, hi, SC_FETCHED))
            continue;
        sc_protocol_lock();
        add_fetched(lo, hi, out);
        sc_protocol_unlock();
    }
    if (__atomic_load_n(&sc_protocol.has_waited, __ATOMIC_RELAXED)) {
        sc_protocol_lock();
        out->of_any = sc_protocol.waited;
        sc_protocol.waited = 0;
        __atomic_store_n(&sc_protocol.has_waited, false, __ATOMIC_RELAXED);
        sc_protocol_unlock();
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
