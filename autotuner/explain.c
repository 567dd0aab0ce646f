#include <config.h>

#include "autotuner/explain.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autotuner/plan.h"
#include "autotuner/trials.h"
#include "base/loader.h"
#include "base/locks.h"
#include "base/median.h"
#include "trace/exchanges.h"

#define ENTRIES_MAX 4096

bool sc_explain_on;

enum where { NOWHERE, PARTLY, THERE };

static struct entry {
    struct sc_autotuner_call call; /* the first call of the entry */
    uint64_t line;    /* call site in the program */
    enum where where; /* residency of the operands */
    bool devices;     /* the decision */
    enum sc_trace_reason reason;
    int spread;       /* devices */
    uint64_t calls, measured;
    double host, kernel, move, result, overlap; /* sums of predictions, s */
    double now, seconds;                        /* of measured calls: predicted, measured */
    double share, alone, together;              /* share of the host in the last call with a share, and predictions */
    double weight;                              /* of a second on the devices, for an energy metric */
} *entries;
static int count, dropped;

static struct sc_lock lock = SC_LOCK(SC_RANK_EXPLAIN);

static __thread struct {
    int entry; /* index plus 1; 0: no entry */
    double now, start;
} last __attribute__((tls_model("initial-exec")));

static bool is_of(const struct entry *e, const struct entry *like)
{
    return e->call.op == like->call.op && e->call.type == like->call.type &&
           e->call.metric == like->call.metric && e->call.m == like->call.m &&
           e->call.n == like->call.n && e->call.k == like->call.k && e->line == like->line &&
           e->where == like->where && e->devices == like->devices && e->reason == like->reason;
}

/* Requires the lock; -1: too many entries. */
static int find(const struct entry *like)
{
    for (int i = 0; i < count; i++)
        if (is_of(&entries[i], like))
            return i;
    if (!entries)
        entries = calloc(ENTRIES_MAX, sizeof *entries);
    if (!entries || count == ENTRIES_MAX)
        return -1;
    entries[count] = *like;
    return count++;
}

double sc_explain_clock(double virtual_seconds)
{
    struct timespec now;

    if (virtual_seconds >= 0)
        return virtual_seconds;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static float micro(double seconds) { return (float)(seconds * 1e6); }

static void trace(const struct sc_autotuner_prediction *p, double loss, int where, enum sc_trace_reason reason,
                  bool devices)
{
    sc_trace(.kind = SC_EVENT_CHOICE, .reason = (uint8_t)reason, .resident = (uint8_t)where,
             .device = (int16_t)(devices ? p->devices : -1),
             .choice = {.host = micro(p->host), .fetch = micro(p->fetch), .device = micro(p->device),
                        .move = micro(p->move), .result = p->kept ? 0 : micro(p->result),
                        .overlap = micro(p->overlap), .now = micro(sc_autotuner_now(p)), .loss = micro(loss)});
}

static void add(const struct entry *like, const struct sc_autotuner_prediction *p)
{
    int at;

    sc_lock(&lock);
    at = find(like);
    if (at >= 0) {
        struct entry *e = &entries[at];

        e->calls++;
        e->host += p->host;
        e->kernel += p->device;
        e->move += p->move;
        e->result += p->kept ? 0 : p->result;
        e->overlap += p->overlap;
    } else {
        dropped++;
    }
    sc_unlock(&lock);
    last.entry = at + 1;
    /* The fetch of a result comes later, at the first touch. */
    last.now = like->devices ? p->device + p->move - p->overlap : p->host;
    last.start = sc_explain_clock(-1);
}

void sc_explain_decision(const struct sc_autotuner_call *call, const struct sc_autotuner_prediction *p, double loss,
                         enum sc_trace_reason reason, bool devices)
{
    enum where where = !call->device_bytes                                     ? NOWHERE
                     : call->device_bytes + call->overwritten >= call->bytes ? THERE : PARTLY;

    trace(p, loss, (int)where, reason, devices);
    if (sc_explain_on)
        add(&(struct entry){.call = *call, .line = sc_trace_site_line(sc_trace_site), .where = where,
                            .devices = devices, .reason = reason, .spread = p->devices, .weight = p->weight}, p);
}

void sc_explain_together(const struct sc_autotuner_together *t)
{
    if (!last.entry)
        return;
    last.now = t->devices > t->host ? t->devices : t->host;
    sc_lock(&lock);
    entries[last.entry - 1].share = t->share;
    entries[last.entry - 1].alone = t->alone;
    entries[last.entry - 1].together = last.now;
    sc_unlock(&lock);
}

void sc_explain_measured(double seconds)
{
    sc_trace(.kind = SC_EVENT_TOOK, .took = (uint64_t)(seconds * 1e9));
    if (!last.entry)
        return;
    sc_lock(&lock);
    entries[last.entry - 1].measured++;
    entries[last.entry - 1].now += last.now;
    entries[last.entry - 1].seconds += seconds;
    sc_unlock(&lock);
    last.entry = 0;
}

void sc_explain_host_done(void)
{
    if (last.entry && !entries[last.entry - 1].devices)
        sc_explain_measured(sc_explain_clock(-1) - last.start);
    last.entry = 0;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* Predictions for 1, 2... devices, if the number of devices is planned. */
static void candidates(FILE *out, const struct entry *e)
{
    double seconds[SC_DEVICES_MAX + 1];
    int most = sc_plan_candidates(&e->call, seconds);

    for (int n = 1; n <= most; n++)
        fprintf(out, "%s%d: %.1f%s", n == 1 ? "#   by number of devices, until the result is at home: " : ", ", n,
                seconds[n] * 1e6, n == most ? "\n" : "");
}

static void line(FILE *out, const struct entry *e)
{
    static const char *const where[] = {"none", "part", "all"};
    double calls = (double)e->calls * 1e-6, measured = (double)e->measured;

    fprintf(out, "%c%-6s %7lld %7lld %7lld %5s %8llu %11.1f %11.1f %11.1f %11.1f %11.1f %-7s ",
            sc_type_letter(e->call.type), sc_op_name(e->call.op), (long long)e->call.m, (long long)e->call.n,
            (long long)e->call.k, where[e->where], (unsigned long long)e->calls, e->host / calls,
            e->kernel / calls, e->move / calls, e->result / calls, e->overlap / calls, e->devices ? "devices" : "host");
    if (e->measured)
        fprintf(out, "%11.1f %11.1f %+6.0f%%", e->now / measured * 1e6, e->seconds / measured * 1e6,
                100 * (e->now / e->seconds - 1));
    else
        fprintf(out, "%11s %11s %7s", "-", "-", "-");
    fprintf(out, "  %s\n", sc_trace_reason_name(e->reason));
    if (e->share > 0)
        fprintf(out, "#   the host does %.1f%% of it: %.1f with it, %.1f by the devices alone\n", 100 * e->share,
                e->together * 1e6, e->alone * 1e6);
    if (e->call.metric != SC_METRIC_PERF)
        fprintf(out, "#   by %s: a second on the devices counts as %.2f on the host\n",
                e->call.metric == SC_METRIC_EDP ? "energy * time" : "energy", e->weight);
    candidates(out, e);
}

/* Load bias of a file's addresses; 0 for programs without relocation. */
static uint64_t bias_of(const struct sc_loader_object *object)
{
    return object->map->l_addr;
}

/* An address for addr2line -e FILE 0xOFFSET. */
static void heading(FILE *out, uint64_t ip)
{
    struct sc_loader_object object;

    if (ip && sc_loader_object((void *)(uintptr_t)ip, &object))
        fprintf(out, "# called at %s+0x%llx\n", object.path, (unsigned long long)(ip - bias_of(&object)));
    else
        fprintf(out, "# called at an unknown place\n");
}

/* Call sites in the order of their first calls. */
static void lines(FILE *out)
{
    for (int i = 0; i < count; i++) {
        bool first = true;

        for (int j = 0; j < i && first; j++)
            first = entries[j].line != entries[i].line;
        if (!first)
            continue;
        heading(out, entries[i].line);
        for (int j = i; j < count; j++)
            if (entries[j].line == entries[i].line)
                line(out, &entries[j]);
    }
}

/* Error statistics: a kind of call counts once, by its mean. */
static void errors(FILE *out, bool devices)
{
    double *error = malloc((size_t)(count + 1) * sizeof *error);
    int n = 0;

    for (int i = 0; error && i < count; i++)
        if (entries[i].measured && entries[i].devices == devices)
            error[n++] = fabs(entries[i].now / entries[i].seconds - 1);
    if (n) {
        fprintf(out, "# error of the predictions, %s: median %.0f%%, 95th percentile %.0f%%, of %d kinds of calls\n",
                devices ? "devices" : "host", 100 * sc_median(error, (size_t)n),
                100 * sc_percentile(error, (size_t)n, 95), n);
    }
    free(error);
}

void sc_explain_write(FILE *out)
{
    sc_lock(&lock);
    if (!count) {
        sc_unlock(&lock);
        return;
    }
    fprintf(out, "# semcache explain 2: microseconds of one call, mean\n");
    fprintf(out, "# there: operands on devices before; predicted: on the devices, without the result's way home\n");
    fprintf(out, "%-7s %7s %7s %7s %5s %8s %11s %11s %11s %11s %11s %-7s %11s %11s %7s  %s\n", "#call", "m", "n", "k",
            "there", "calls", "host", "kernel", "move", "result", "overlap", "choice", "predicted", "measured", "error",
            "why");
    lines(out);
    if (dropped)
        fprintf(out, "# %d more calls of other sizes\n", dropped);
    sc_exchanges_write(out);
    sc_trials_write(out);
    errors(out, true);
    errors(out, false);
    sc_unlock(&lock);
}
/* SPDX-License-Identifier: BSD-2-Clause */
