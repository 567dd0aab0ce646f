/* Time that lines of the program cost by data movement. Repeated transfers and waits of the CPU count for the line that
 * caused the movement, with a remedy. The first use of data counts for no line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/causes.h"
#include "trace/list.h"
#include "trace/wrap.h"

#define SHOWN 20
#define INDENT 34

/* A reason to blame a line. */
struct row {
    uint32_t place, other; /* line: writer before an upload, or toucher of a result */
    enum sc_why why;
    uint64_t bytes, copies, faults;
    double seconds;
};

/* The open fault or call of a thread: begin, and time of the last event. */
struct span {
    uint32_t thread, place;
    uint64_t began, last;
    bool fault, write;
    const struct sc_event *choice;
    size_t first_part; /* of the parts of the open call */
};

/* Bytes of an open call; the seconds are known at the end of the call. */
struct part {
    uint32_t thread;
    size_t row;
    uint64_t bytes;
};

struct blame {
    const struct sc_trace_reading *trace;
    struct sc_causes *causes;
    struct row *rows;
    size_t row_count, row_room;
    struct part *parts;
    size_t part_count, part_room;
    struct span spans[SC_TRACE_THREADS];
    struct sc_trace_threads threads;
    bool failed;
};

static const char *const remedies[SC_WHYS] = {
    [SC_WHY_WROTE] = "write only what changes, or before the loop",
    [SC_WHY_HOST] = "let the devices do that call, too: larger blocks, or --offload always to see",
    [SC_WHY_NO_ROOM] = "it does not fit: more devices, or blocks of it one after the other",
    [SC_WHY_RESHAPE] = "use an array with one leading dimension and one type",
    [SC_WHY_TOUCH] = "look at it after the loop, or let the BLAS do it (dnrm2, ddot, dcopy...)",
    [SC_WHY_RUN] = "larger blocks, or --offload always to see",
    [SC_WHY_COPY] = "allocate it with malloc, once",
    [SC_WHY_COPY_STACK] = "allocate it with malloc, once",
    [SC_WHY_COPY_STATIC] = "allocate it with malloc, once",
    [SC_WHY_COPY_SMALL] = "SEMCACHE_ARENA_MIN=4K, or one larger array",
    [SC_WHY_UNSEEN] = "allocate it with malloc",
};

/* --- adding up ---------------------------------------------------------------------------------------------------- */

static size_t row_of(struct blame *b, uint32_t place, uint32_t other, enum sc_why why)
{
    for (size_t i = b->row_count; i-- > 0;)
        if (b->rows[i].place == place && b->rows[i].other == other && b->rows[i].why == why)
            return i;
    if (!sc_trace_list_reserve(&b->rows, &b->row_room, b->row_count, 1, sizeof *b->rows)) {
        b->failed = true;
        return SIZE_MAX;
    }
    b->rows[b->row_count] = (struct row){.place = place, .other = other, .why = why};
    return b->row_count++;
}

static struct span *span_of(struct blame *b, uint32_t thread)
{
    bool fresh;
    struct span *span = &b->spans[sc_trace_thread_slot(&b->threads, thread, &fresh)];

    if (fresh)
        *span = (struct span){.thread = thread};
    return span;
}

/* The CPU waits from a fault to the last event of the fault's service. */
static void end_fault(struct blame *b, struct span *span)
{
    size_t row = span->fault ? row_of(b, span->place, 0, span->write ? SC_WHY_WROTE : SC_WHY_TOUCH) : SIZE_MAX;

    if (row != SIZE_MAX) {
        b->rows[row].seconds += (double)(span->last - span->began) * 1e-9;
        b->rows[row].faults++;
    }
    span->fault = false;
}

/* The predicted seconds of moving are shared by the bytes of the rows. */
static void end_call(struct blame *b, struct span *span)
{
    double seconds = span->choice && span->choice->device >= 0 ? span->choice->choice.move * 1e-6 : 0;
    uint64_t bytes = 0;
    size_t kept = span->first_part;

    for (size_t i = span->first_part; i < b->part_count; i++)
        bytes += b->parts[i].thread == span->thread ? b->parts[i].bytes : 0;
    for (size_t i = span->first_part; i < b->part_count; i++)
        if (b->parts[i].thread != span->thread)
            b->parts[kept++] = b->parts[i];
        else if (b->parts[i].row != SIZE_MAX && bytes)
            b->rows[b->parts[i].row].seconds += seconds * (double)b->parts[i].bytes / (double)bytes;
    b->part_count = kept;
    span->choice = NULL;
}

static void add_flow(struct blame *b, const struct sc_event *event, const struct sc_flow *flow)
{
    bool wrote = flow->way == SC_H2D && flow->by;
    bool blamed = flow->way != SC_D2D && flow->why != SC_WHY_FIRST && remedies[flow->why];
    uint32_t other = wrote ? flow->needed : flow->why == SC_WHY_TOUCH ? 0 : flow->by;
    size_t row = blamed ? row_of(b, wrote ? flow->by : flow->needed, other, flow->why) : SIZE_MAX;

    if (row != SIZE_MAX) {
        b->rows[row].bytes += flow->bytes;
        b->rows[row].copies++;
    }
    if (flow->way != SC_H2D)
        return;
    if (sc_trace_list_reserve(&b->parts, &b->part_room, b->part_count, 1, sizeof *b->parts))
        b->parts[b->part_count++] = (struct part){event->thread, row, flow->bytes};
    else
        b->failed = true;
}

static void add_event(struct blame *b, const struct sc_event *event)
{
    struct span *span = span_of(b, event->thread);

    switch (event->kind) {
    case SC_EVENT_STATE:
    case SC_EVENT_TRANSFER:
    case SC_EVENT_PROTECT: span->last = event->nanoseconds; break;
    case SC_EVENT_FAULT:
        end_fault(b, span);
        span->fault = true;
        span->write = event->access & SC_WRITE;
        span->began = span->last = event->nanoseconds;
        span->place = sc_causes_place(b->causes, event);
        break;
    case SC_EVENT_CALL:
        end_fault(b, span);
        span->first_part = b->part_count;
        span->choice = NULL;
        break;
    case SC_EVENT_CHOICE: span->choice = event; break;
    case SC_EVENT_DONE: end_call(b, span); break;
    }
}

static void add_up(struct blame *b)
{
    for (size_t i = 0; i < b->trace->event_count && b->trace->order[i]->kind != SC_EVENT_TIME; i++) {
        const struct sc_event *event = b->trace->order[i];
        struct sc_flow flow[SC_FLOWS_MAX];
        int count = sc_causes_next(b->causes, event, flow);

        for (int f = 0; f < count; f++)
            add_flow(b, event, &flow[f]);
        add_event(b, event);
    }
    for (int i = 0; i < b->threads.count; i++)
        end_fault(b, &b->spans[i]);
}

/* A line with write faults and with bytes that were uploaded again becomes one row. */
static void join_writes(struct blame *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->row_count; i++) {
        struct row *row = &b->rows[i], *other = NULL;

        for (size_t j = 0; row->why == SC_WHY_WROTE && !row->other && j < b->row_count && !other; j++)
            if (b->rows[j].why == SC_WHY_WROTE && b->rows[j].other && b->rows[j].place == row->place)
                other = &b->rows[j];
        if (other) {
            other->seconds += row->seconds;
            other->faults += row->faults;
            row->faults = row->bytes = 0;
            row->seconds = 0;
        }
    }
    for (size_t i = 0; i < b->row_count; i++)
        if (b->rows[i].faults || b->rows[i].bytes || b->rows[i].seconds > 0)
            b->rows[kept++] = b->rows[i];
    b->row_count = kept;
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static int by_loss(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->seconds != b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static void put_text(FILE *out, const struct blame *b, const struct row *row, sc_trace_line *show)
{
    sc_causes_put_place(out, b->trace, b->causes, row->place, show);
    fprintf(out, ": %s", sc_why_names[row->why]);
    if (!row->other)
        return;
    fputs(row->why == SC_WHY_WROTE || row->why == SC_WHY_HOST ? ", needed by " : ", computed by ", out);
    sc_causes_put_place(out, b->trace, b->causes, row->other, show);
}

static char *text_of(const struct blame *b, const struct row *row, sc_trace_line *show)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return NULL;
    put_text(out, b, row, show);
    fclose(out);
    return text;
}

static void put_row(FILE *out, const struct blame *b, const struct row *row, double whole, sc_trace_line *show)
{
    char *text = text_of(b, row, show);

    fprintf(out, "%9.4f %5.1f %7" PRIu64 " %8.1f  ", row->seconds, whole > 0 ? 100 * row->seconds / whole : 0,
            row->faults, (double)row->bytes * 1e-6);
    if (text)
        sc_trace_put_wrapped(out, text, INDENT);
    free(text);
    fprintf(out, "%*sTRY ", INDENT, "");
    text = strdup(remedies[row->why]);
    if (text)
        sc_trace_put_wrapped(out, text, INDENT + 4);
    free(text);
}

/* One object a line; text without quotes or control characters (sc_trace_put_text). */
static void put_json(FILE *out, const struct blame *b, const struct row *row, sc_trace_line *show)
{
    char *text = text_of(b, row, show);

    for (char *at = text; at && *at; at++)
        if (*at == '"' || *at == '\\')
            *at = '\'';
    fprintf(out, "{\"microseconds\": %" PRIu64 ", \"faults\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"copies\": %" PRIu64
            ", \"blame\": \"%s\", \"remedy\": \"%s\"}\n",
            (uint64_t)(row->seconds * 1e6 + 0.5), row->faults, row->bytes, row->copies, text ? text : "",
            remedies[row->why]);
    free(text);
}

static void put_all(FILE *out, const struct blame *b, bool json, sc_trace_line *show)
{
    static struct sc_trace_totals totals;
    double lost = 0;

    sc_trace_add_up(b->trace, &totals);
    for (size_t i = 0; i < b->row_count; i++)
        lost += b->rows[i].seconds;
    if (!json)
        fprintf(out, "%.3f s from the first call to the last event; %.3f s (%.0f%%) in waits and moves\n",
                totals.seconds, lost, totals.seconds > 0 ? 100 * lost / totals.seconds : 0);
    if (!json && b->row_count)
        fprintf(out, "\n%9s %5s %7s %8s  %s\n", "lost, s", "%", "faults", "MB", "line: why");
    for (size_t i = 0; i < b->row_count && (json || i < SHOWN); i++)
        if (json)
            put_json(out, b, &b->rows[i], show);
        else
            put_row(out, b, &b->rows[i], totals.seconds, show);
    if (!json && b->row_count > SHOWN)
        fprintf(out, "%zu more, of less\n", b->row_count - SHOWN);
    if (!json && !b->row_count)
        fputs("nothing to mend: what moved was used for the first time\n", out);
    if (!json)
        sc_trace_put_ending(out, b->trace);
}

enum sc_status sc_trace_blame(const char *path, FILE *out, bool json, sc_trace_line *show)
{
    struct sc_trace_reading trace;
    struct blame *b = calloc(1, sizeof *b);
    enum sc_status status = b ? sc_trace_read(path, &trace) : SC_ERR_MEMORY;

    if (status == SC_OK) {
        b->trace = &trace;
        b->causes = sc_causes_new(&trace);
        if (b->causes) {
            add_up(b);
            join_writes(b);
        }
        status = b->causes && !b->failed ? SC_OK : SC_ERR_MEMORY;
        if (status == SC_OK) {
            if (b->row_count)
                qsort(b->rows, b->row_count, sizeof *b->rows, by_loss);
            put_all(out, b, json, show);
            status = fflush(out) == 0 && !ferror(out) ? SC_OK : SC_ERR_IO;
        } else {
            sc_log(SC_LOG_ERROR, "no memory to explain %s", path);
        }
        sc_causes_free(b->causes);
        free(b->rows);
        free(b->parts);
        sc_trace_read_end(&trace);
    }
    free(b);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
