/* How pieces go between devices: by copy engines, one by one, or by one kernel that reads or writes them all (A11).
 *
 * By copy engines the host spends some time on each (its waits, the copy, its mark): what is small waits for the host,
 * what is large for the link, on which the one goes while the host enqueues the next.  A kernel is one call for all, at
 * a rate of its own. */
#include "autotuner/exchange.h"

#include <stddef.h>

/* Without measurements: a copy between devices costs the host 8 us and more (H200, CUDA 13.0); the others are cautious
 * guesses. */
#define ENQUEUE   8e-6
#define LATENCY   10e-6
#define RATE      100e9
#define MORE      1e-6 /* what a kernel takes beyond a copy */
#define SLOWER    0.8  /* its rate, in that of copies: it takes units from kernels that compute, too */
#define NOTICEABLE 0.97

static struct sc_database_link known(const struct sc_database_link *measured, double latency, double bandwidth)
{
    return measured && measured->bandwidth > 0 ? *measured : (struct sc_database_link){latency, bandwidth};
}

struct sc_autotuner_exchanged sc_autotuner_exchange(const struct sc_database *db, const struct sc_autotuner_pieces *p)
{
    int from = p->push ? p->on : p->other, to = p->push ? p->other : p->on;
    struct sc_database_link copy = known(db ? &db->link[from][to] : NULL, LATENCY, RATE);
    struct sc_database_link kernel = known(db ? &(p->push ? db->push : db->pull)[from][to] : NULL, copy.latency + MORE,
                                           copy.bandwidth * SLOWER);
    double enqueue = db && db->enqueue > 0 ? db->enqueue : ENQUEUE, bytes = (double)p->bytes;
    double host = (p->pieces - 1) * enqueue + (double)p->largest / copy.bandwidth, link = bytes / copy.bandwidth;
    struct sc_autotuner_exchanged out = {.copies = copy.latency + (host > link ? host : link),
                                         .kernel = kernel.latency + bytes / kernel.bandwidth};

    out.by_kernel = out.kernel < NOTICEABLE * out.copies;
    return out;
}
