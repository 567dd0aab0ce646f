/* By copy engines the host spends some time on each copy (the copy's waits, the copy, its mark): small copies wait for
 * the host, and large ones for the link, which carries one copy while the host enqueues the next.  A kernel is one call
 * for all copies, at a rate of its own. */
#include "device/exchange.h"

#define NOTICEABLE 0.97
#define LITTLE 1.005 /* times the least: fewer chunks are less work for the host */

static double larger(double a, double b) { return a > b ? a : b; }

static const struct sc_exchange_link *link_of(const struct sc_exchange_rates *rates, const struct sc_exchange *x,
                                              bool by_kernel)
{
    int from = x->push ? x->on : x->other, to = x->push ? x->other : x->on;

    return by_kernel ? &(x->push ? rates->push : rates->pull)[from][to] : &rates->copies[from][to];
}

struct sc_exchange_choice sc_exchange_choose(const struct sc_exchange_rates *rates, const struct sc_exchange *x)
{
    const struct sc_exchange_link *copy = link_of(rates, x, false), *kernel = link_of(rates, x, true);
    double bytes = (double)x->bytes, host = (x->pieces - 1) * rates->task + (double)x->largest / copy->bandwidth;
    struct sc_exchange_choice out = {.copies = copy->latency + larger(host, bytes / copy->bandwidth),
                                     .kernel = kernel->latency + bytes / kernel->bandwidth};

    out.by_kernel = out.kernel < NOTICEABLE * out.copies;
    return out;
}

/* The last chunk goes when the last kernel is done; or when the link has carried the other chunks, the first of which
 * was ready when its kernels were; or when the host has enqueued the other chunks, of all devices. */
double sc_exchange_chunked(const struct sc_exchange_rates *rates, const struct sc_result *r, int chunks)
{
    uint64_t bytes = r->bytes / (uint64_t)chunks;
    struct sc_exchange x = {.on = r->from, .other = r->to, .push = true, .pieces = r->readers,
                            .bytes = bytes * (uint64_t)r->readers, .largest = bytes};
    struct sc_exchange_choice one = sc_exchange_choose(rates, &x);
    double others = (chunks - 1) * (double)x.bytes / link_of(rates, &x, one.by_kernel)->bandwidth;
    double host = (chunks - 1) * r->makers * rates->task * (one.by_kernel ? 1 : r->readers);

    return larger(larger(r->seconds, r->seconds / chunks + others), host) + (one.by_kernel ? one.kernel : one.copies);
}

struct sc_result_choice sc_exchange_chunks(const struct sc_exchange_rates *rates, const struct sc_result *r)
{
    struct sc_result_choice out = {.chunks = 1, .whole = sc_exchange_chunked(rates, r, 1)};

    out.seconds = out.whole;
    for (int i = 2; i < 2 * r->kernels; i *= 2) {
        int chunks = i < r->kernels ? i : r->kernels;
        double seconds = sc_exchange_chunked(rates, r, chunks);

        if (seconds * LITTLE < out.seconds) {
            out.chunks = chunks;
            out.seconds = seconds;
        }
    }
    return out;
}
/* SPDX-License-Identifier: BSD-2-Clause */
