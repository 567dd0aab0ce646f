/* How pieces go between devices: by copy engines, one by one, or by one kernel that reads or writes them all (A11).
 *
 * By copy engines the host spends some time on each (its waits, the copy, its mark): what is small waits for the host,
 * what is large for the link, on which the one goes while the host enqueues the next.  A kernel is one call for all, at
 * a rate of its own. */
#include "autotuner/exchange.h"

#include <stddef.h>

#define NOTICEABLE 0.97
#define LITTLE    1.005 /* times the least: fewer chunks are less work for the host */

static struct sc_database_link by_copies(const struct sc_database *db, const struct sc_autotuner_pieces *p)
{
    return sc_machine_copies(db, p->push ? p->on : p->other, p->push ? p->other : p->on);
}

static struct sc_database_link by_kernel(const struct sc_database *db, const struct sc_autotuner_pieces *p)
{
    return sc_machine_kernels(db, p->push, p->push ? p->on : p->other, p->push ? p->other : p->on);
}

struct sc_autotuner_exchanged sc_autotuner_exchange(const struct sc_database *db, const struct sc_autotuner_pieces *p)
{
    struct sc_database_link copy = by_copies(db, p), kernel = by_kernel(db, p);
    double bytes = (double)p->bytes, link = bytes / copy.bandwidth;
    double host = (p->pieces - 1) * sc_machine_task(db) + (double)p->largest / copy.bandwidth;
    struct sc_autotuner_exchanged out = {.copies = copy.latency + (host > link ? host : link),
                                         .kernel = kernel.latency + bytes / kernel.bandwidth};

    out.by_kernel = out.kernel < NOTICEABLE * out.copies;
    return out;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* The last chunk goes when the last kernel is done; or when the link is done with the others, the first of which it got
 * when that was made; or when the host has enqueued the others, of all devices. */
double sc_autotuner_chunked(const struct sc_database *db, const struct sc_autotuner_result *r, int chunks)
{
    uint64_t bytes = r->bytes / (uint64_t)chunks;
    struct sc_autotuner_pieces p = {.on = r->from, .other = r->to, .push = true, .pieces = r->readers,
                                    .bytes = bytes * (uint64_t)r->readers, .largest = bytes};
    struct sc_autotuner_exchanged one = sc_autotuner_exchange(db, &p);
    struct sc_database_link link = one.by_kernel ? by_kernel(db, &p) : by_copies(db, &p);
    double others = (chunks - 1) * (double)p.bytes / link.bandwidth;
    double host = (chunks - 1) * r->makers * sc_machine_task(db) * (one.by_kernel ? 1 : r->readers);

    return larger(larger(r->seconds, r->seconds / chunks + others), host) + (one.by_kernel ? one.kernel : one.copies);
}

struct sc_autotuner_chunks sc_autotuner_chunks(const struct sc_database *db, const struct sc_autotuner_result *r)
{
    struct sc_autotuner_chunks out = {.chunks = 1, .whole = sc_autotuner_chunked(db, r, 1)};

    out.seconds = out.whole;
    for (int i = 2; i < 2 * r->kernels; i *= 2) {
        int chunks = i < r->kernels ? i : r->kernels;
        double seconds = sc_autotuner_chunked(db, r, chunks);

        if (seconds * LITTLE < out.seconds) {
            out.chunks = chunks;
            out.seconds = seconds;
        }
    }
    return out;
}
