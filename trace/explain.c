/* Reasons by lines of the program: for each line with calls, the places of the calls and the predictions; for each
 * line that caused transfers, the bytes and the cause. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/median.h"
#include "trace/causes.h"
#include "trace/list.h"
#include "trace/wrap.h"

#define SHOWN 40    /* lines of a table */
#define UNKNOWN 255 /* no choice was recorded: SEMCACHE_OFFLOAD=always, or a routine without choices */

/* Calls of a kind from the same place. */
struct kind {
    uint32_t place;
    int64_t m, n, k;
    uint8_t reason, there; /* as in SC_EVENT_CHOICE */
    bool devices;
    int spread;
    uint64_t calls, timed;
    double host, fetch, device, move, result, overlap; /* sums of predictions, us */
    double predicted, took;                            /* sums of measured times, us */
};

/* Transfers with the same cause and reader. */
struct sum {
    struct sc_flow flow;
    uint64_t copies;
};

/* The open call of a thread. */
struct open {
    uint32_t thread;
    const struct sc_event *call, *choice, *took;
    size_t sparse; /* without a recorded call: 1 + kind of the sparse call */
};

struct explanation {
    const struct sc_trace_reading *trace;
    struct sc_causes *causes;
    struct kind *kinds;
    size_t kind_count, kind_room;
    struct sum *sums;
    size_t sum_count, sum_room;
    struct open open[SC_TRACE_THREADS];
    struct sc_trace_threads threads;
    bool failed; /* out of memory */
};

/* --- calls -------------------------------------------------------------------------------------------------------- */

static struct open *open_of(struct explanation *x, uint32_t thread)
{
    bool fresh;
    struct open *open = &x->open[sc_trace_thread_slot(&x->threads, thread, &fresh)];

    if (fresh)
        *open = (struct open){.thread = thread};
    return open;
}

static struct kind *kind_of(struct explanation *x, const struct kind *like)
{
    for (size_t i = 0; i < x->kind_count; i++) {
        struct kind *k = &x->kinds[i];

        if (k->place == like->place && k->m == like->m && k->n == like->n && k->k == like->k &&
            k->reason == like->reason && k->there == like->there && k->devices == like->devices &&
            k->spread == like->spread)
            return k;
    }
    if (!sc_trace_list_reserve(&x->kinds, &x->kind_room, x->kind_count, 1, sizeof *x->kinds)) {
        x->failed = true;
        return NULL;
    }
    x->kinds[x->kind_count] = *like;
    return &x->kinds[x->kind_count++];
}

static void add_prediction(struct kind *kind, const struct sc_event *choice)
{
    kind->host += choice->choice.host;
    kind->fetch += choice->choice.fetch;
    kind->device += choice->choice.device;
    kind->move += choice->choice.move;
    kind->result += choice->choice.result;
    kind->overlap += choice->choice.overlap;
}

/* A touch fetches a result. */
static double predicted_of(const struct sc_event *choice)
{
    if (choice->device < 0)
        return choice->choice.host;
    return choice->choice.device + choice->choice.move - choice->choice.overlap;
}

/* Device calls have a time only under SEMCACHE_EXPLAIN, which waits for devices. The time of a host call is from the
 * call to its return. */
static void add_time(struct kind *kind, const struct open *open, const struct sc_event *done)
{
    const struct sc_event *choice = open->choice;
    double took = (double)(open->took ? open->took->took : done->nanoseconds - open->call->nanoseconds) * 1e-3;

    if (done->device >= 0 && !open->took)
        return;
    kind->timed++;
    kind->took += took;
    if (choice)
        kind->predicted += predicted_of(choice);
}

static void end_call(struct explanation *x, struct open *open, const struct sc_event *done)
{
    const struct sc_event *call = open->call, *choice = open->choice;
    struct kind like = {.place = sc_causes_place(x->causes, done), .reason = UNKNOWN, .devices = done->device >= 0};
    struct kind *kind;

    if (!call)
        return;
    like.m = call->call.m;
    like.n = call->call.n;
    like.k = call->call.k;
    if (choice) {
        like.reason = choice->reason;
        like.there = choice->resident;
        like.spread = choice->device;
    }
    kind = kind_of(x, &like);
    if (kind) {
        kind->calls++;
        if (choice)
            add_prediction(kind, choice);
        add_time(kind, open, done);
    }
    *open = (struct open){.thread = open->thread};
}

/* Calls on sparse matrices have a CHOICE event only; arguments and ends are not recorded. */
static void choose(struct explanation *x, struct open *open, const struct sc_event *choice)
{
    struct kind like = {.place = sc_causes_place(x->causes, choice), .reason = choice->reason,
                        .there = choice->resident, .devices = choice->device >= 0, .spread = choice->device};
    struct kind *kind;

    open->choice = choice;
    open->sparse = 0;
    if (open->call || !(kind = kind_of(x, &like)))
        return;
    kind->calls++;
    add_prediction(kind, choice);
    open->sparse = (size_t)(kind - x->kinds) + 1;
}

static void take_time(struct explanation *x, struct open *open, const struct sc_event *took)
{
    const struct sc_event *choice = open->choice;

    open->took = took;
    if (!open->sparse || !choice)
        return;
    x->kinds[open->sparse - 1].timed++;
    x->kinds[open->sparse - 1].took += (double)took->took * 1e-3;
    x->kinds[open->sparse - 1].predicted += predicted_of(choice);
    open->sparse = 0;
}

/* --- transfers ---------------------------------------------------------------------------------------------------- */

static void add_flow(struct explanation *x, const struct sc_flow *flow)
{
    for (size_t i = x->sum_count; i-- > 0;) {
        struct sc_flow *f = &x->sums[i].flow;

        if (f->way == flow->way && f->needed == flow->needed && f->by == flow->by && f->why == flow->why) {
            f->bytes += flow->bytes;
            x->sums[i].copies++;
            return;
        }
    }
    if (!sc_trace_list_reserve(&x->sums, &x->sum_room, x->sum_count, 1, sizeof *x->sums))
        x->failed = true;
    else
        x->sums[x->sum_count++] = (struct sum){*flow, 1};
}

static void add_up(struct explanation *x)
{
    const struct sc_trace_reading *trace = x->trace;

    for (size_t i = 0; i < trace->event_count && trace->events[i].kind != SC_EVENT_TIME; i++) {
        const struct sc_event *event = &trace->events[i];
        struct open *open = open_of(x, event->thread);
        struct sc_flow flow[SC_FLOWS_MAX];
        int count = sc_causes_next(x->causes, event, flow);

        for (int f = 0; f < count; f++)
            add_flow(x, &flow[f]);
        switch (event->kind) {
        case SC_EVENT_CALL: *open = (struct open){.thread = event->thread, .call = event}; break;
        case SC_EVENT_CHOICE: choose(x, open, event); break;
        case SC_EVENT_TOOK: take_time(x, open, event); break;
        case SC_EVENT_DONE: end_call(x, open, event); break;
        }
    }
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static void put_kind(FILE *out, const struct kind *k)
{
    static const char *const there[] = {"none", "part", "all"};
    double calls = (double)k->calls, timed = (double)k->timed;

    fprintf(out, "%9" PRIu64 " %7" PRId64 " %7" PRId64 " %7" PRId64, k->calls, k->m, k->n, k->k);
    fprintf(out, " %5s", k->reason == UNKNOWN ? "-" : k->there < 3 ? there[k->there] : "?");
    if (k->devices && k->reason != UNKNOWN)
        fprintf(out, "  devices:%-2d", k->spread);
    else
        fprintf(out, "  %-10s", k->devices ? "devices" : "host");
    if (k->timed && k->reason != UNKNOWN)
        fprintf(out, " %10.1f %10.1f %+5.0f%%", k->predicted / timed, k->took / timed,
                k->took > 0 ? 100 * (k->predicted / k->took - 1) : 0);
    else if (k->timed)
        fprintf(out, " %10s %10.1f %6s", "-", k->took / timed, "-");
    else
        fprintf(out, " %10s %10s %6s", "-", "-", "-");
    putc('\n', out);
    if (k->reason == UNKNOWN)
        return;
    fprintf(out, "%14s host %.1f; devices %.1f, move %.1f, result %.1f, overlap %.1f\n%14s %s\n", "", k->host / calls,
            k->device / calls, k->move / calls, k->result / calls, k->overlap / calls, "",
            sc_trace_reason_name((enum sc_trace_reason)k->reason));
}

static void put_calls(FILE *out, const struct explanation *x, const struct sc_trace_names *names)
{
    if (!x->kind_count)
        return;
    fprintf(out, "\ncalls; us of one, predicted and as it was\n%9s %7s %7s %7s %5s  %-10s %10s %10s %6s\n", "calls",
            "m", "n", "k", "there", "ran on", "predicted", "took", "error");
    for (uint32_t place = 0; place < sc_causes_places(x->causes); place++) {
        bool any = false;

        for (size_t i = 0; i < x->kind_count; i++) {
            if (x->kinds[i].place != place)
                continue;
            if (!any)
                sc_causes_put_place(out, x->trace, x->causes, place, names), putc('\n', out);
            any = true;
            put_kind(out, &x->kinds[i]);
        }
    }
}

static int by_bytes(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;

    if (a->flow.bytes != b->flow.bytes)
        return a->flow.bytes > b->flow.bytes ? -1 : 1;
    return (a->flow.needed > b->flow.needed) - (a->flow.needed < b->flow.needed);
}

#define INDENT 26

static void put_flow(FILE *out, const struct explanation *x, const struct sum *sum, const struct sc_trace_names *names)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *why = open_memstream(&text, &bytes);

    if (!why)
        return;
    sc_causes_put_place(why, x->trace, x->causes, sum->flow.needed, names);
    fprintf(why, ": %s", sc_why_names[sum->flow.why]);
    if (sum->flow.by) {
        fputs(sum->flow.way == SC_D2H ? ", computed by " : " at ", why);
        sc_causes_put_place(why, x->trace, x->causes, sum->flow.by, names);
    }
    fclose(why);
    fprintf(out, "%14" PRIu64 " %9" PRIu64 "  ", sum->flow.bytes, sum->copies);
    sc_trace_put_wrapped(out, text, INDENT);
    free(text);
}

static void put_way(FILE *out, const struct explanation *x, enum sc_transfer way, const char *title,
                    const struct sc_trace_names *names)
{
    size_t shown = 0, more = 0;

    for (size_t i = 0; i < x->sum_count; i++) {
        if (x->sums[i].flow.way != way)
            continue;
        if (shown == SHOWN) {
            more++;
            continue;
        }
        if (!shown++)
            fprintf(out, "\n%s\n%14s %9s  %s\n", title, "bytes", "copies", "needed by: why");
        put_flow(out, x, &x->sums[i], names);
    }
    if (more)
        fprintf(out, "%zu more, of less bytes\n", more);
}

/* Every kind of call counts once, by its mean. */
static void put_errors(FILE *out, const struct explanation *x, bool devices)
{
    double *error = malloc((x->kind_count + 1) * sizeof *error);
    size_t n = 0;

    for (size_t i = 0; error && i < x->kind_count; i++)
        if (x->kinds[i].timed && x->kinds[i].reason != UNKNOWN && x->kinds[i].devices == devices &&
            x->kinds[i].took > 0)
            error[n++] = fabs(x->kinds[i].predicted / x->kinds[i].took - 1);
    if (n) {
        fprintf(out, "\nerror of the predictions, %s: median %.0f%%, 95th %.0f%%, of %zu kinds of calls\n",
                devices ? "devices" : "host", 100 * sc_median(error, n), 100 * sc_percentile(error, n, 95),
                n);
    }
    free(error);
}

static enum sc_status explain(struct explanation *x, FILE *out, const struct sc_trace_names *names)
{
    add_up(x);
    if (x->failed)
        return SC_ERR_MEMORY;
    if (x->sum_count)
        qsort(x->sums, x->sum_count, sizeof *x->sums, by_bytes);
    sc_trace_put_heading(out, x->trace);
    put_calls(out, x, names);
    put_errors(out, x, true);
    put_errors(out, x, false);
    put_way(out, x, SC_H2D, "to devices", names);
    put_way(out, x, SC_D2H, "to the host", names);
    put_way(out, x, SC_D2D, "between devices", names);
    sc_trace_put_ending(out, x->trace);
    if (fflush(out) == 0 && !ferror(out))
        return SC_OK;
    return SC_ERR_IO; /* the caller that opened the stream reports the cause */
}

enum sc_status sc_trace_explain(const char *path, FILE *out, const struct sc_trace_names *names)
{
    struct sc_trace_reading trace;
    struct explanation *x = calloc(1, sizeof *x);
    enum sc_status status = x ? sc_trace_read(path, &trace) : SC_ERR_MEMORY;

    if (status == SC_OK) {
        names->prepare(&trace);
        x->trace = &trace;
        x->causes = sc_causes_new(&trace);
        status = x->causes ? explain(x, out, names) : SC_ERR_MEMORY;
        if (status == SC_ERR_MEMORY)
            sc_log(SC_LOG_ERROR, "no memory to explain %s", path);
        sc_causes_free(x->causes);
        free(x->kinds);
        free(x->sums);
        sc_trace_read_end(&trace);
    }
    free(x);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
