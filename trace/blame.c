/* Time that lines of the program cost by data movement. Repeated transfers and waits of the CPU count for the line that
 * caused the movement, with a remedy. The first use of data counts for no line. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/blame.h"
#include "trace/list.h"

/* The open fault or call of a thread: begin, and time of the last event. */
struct span {
    uint32_t thread, place;
    uint64_t began, last, waited; /* waited: as recorded; 0: from the times of the events */
    bool fault, write, shared;
    const struct sc_event *choice;
    size_t first_part; /* of the parts of the open call */
};

/* Bytes of an open call; the seconds are known at the end of the call. */
struct part {
    uint32_t thread;
    size_t row;
    uint64_t bytes;
};

struct sc_blame {
    struct sc_trace_reading trace;
    struct sc_causes *causes;
    struct sc_blame_row *rows;
    size_t row_count, row_room;
    struct part *parts;
    size_t part_count, part_room;
    struct span spans[SC_TRACE_THREADS];
    struct sc_trace_threads threads;
    bool failed;
};

/* For calls of the host's BLAS that are too small for devices. */
static const char small_call[] = "nothing at this size: with larger operands this call of the BLAS runs on a device";

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
    [SC_WHY_SHARED] = "give that data pages of its own: a malloc of its own, or 4 KiB of distance",
    [SC_WHY_UNSEEN] = "allocate it with malloc",
    [SC_WHY_SOLD] = "let the CPU change it less often between these calls, or --offload always to see",
    [SC_WHY_GIVEN] = "call semcache_invalidate after the last call that needs it",
};

/* --- adding up ---------------------------------------------------------------------------------------------------- */

static size_t row_of(struct sc_blame *b, uint32_t place, uint32_t other, enum sc_why why)
{
    for (size_t i = b->row_count; i-- > 0;)
        if (b->rows[i].place == place && b->rows[i].other == other && b->rows[i].why == why)
            return i;
    if (!sc_trace_list_reserve(&b->rows, &b->row_room, b->row_count, 1, sizeof *b->rows)) {
        b->failed = true;
        return SIZE_MAX;
    }
    b->rows[b->row_count] = (struct sc_blame_row){.place = place, .other = other, .why = why};
    return b->row_count++;
}

static struct span *span_of(struct sc_blame *b, uint32_t thread)
{
    bool fresh;
    struct span *span = &b->spans[sc_trace_thread_slot(&b->threads, thread, &fresh)];

    if (fresh)
        *span = (struct span){.thread = thread};
    return span;
}

/* The CPU waits from a fault to the last event of the fault's service. */
static void end_fault(struct sc_blame *b, struct span *span)
{
    enum sc_why why = span->shared ? SC_WHY_SHARED : span->write ? SC_WHY_WROTE : SC_WHY_TOUCH;
    size_t row = span->fault ? row_of(b, span->place, 0, why) : SIZE_MAX;

    if (row != SIZE_MAX) {
        b->rows[row].seconds += (double)(span->waited ? span->waited : span->last - span->began) * 1e-9;
        b->rows[row].faults++;
    }
    span->fault = false;
}

/* The predicted seconds of moving are shared by the bytes of the rows. */
static void end_call(struct sc_blame *b, struct span *span)
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

static void note_array(const struct sc_blame *b, struct sc_blame_row *row, uint32_t matrix)
{
    const struct sc_array_of *first = sc_causes_array(b->causes, row->matrix);
    const struct sc_array_of *array = sc_causes_array(b->causes, matrix);

    if (!first)
        row->matrix = matrix;
    else if (array && array->base != first->base)
        row->more = true;
}

static void add_flow(struct sc_blame *b, const struct sc_event *event, const struct sc_flow *flow)
{
    bool wrote = flow->way == SC_H2D && flow->by;
    bool blamed = flow->way != SC_D2D && flow->why != SC_WHY_FIRST && remedies[flow->why];
    bool touched = flow->why == SC_WHY_TOUCH || (flow->why == SC_WHY_SHARED && !wrote);
    uint32_t other = wrote ? flow->needed : touched ? 0 : flow->by;
    size_t row = blamed ? row_of(b, wrote ? flow->by : flow->needed, other, flow->why) : SIZE_MAX;

    if (row != SIZE_MAX) {
        note_array(b, &b->rows[row], flow->matrix);
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

static void add_event(struct sc_blame *b, const struct sc_event *event)
{
    struct span *span = span_of(b, event->thread);

    switch (event->kind) {
    case SC_EVENT_STATE:
    case SC_EVENT_TRANSFER:
    case SC_EVENT_PROTECT:
        span->last = event->nanoseconds;
        span->shared = sc_causes_is_shared(b->causes, event);
        break;
    case SC_EVENT_WAIT: span->waited = event->took; break;
    case SC_EVENT_FAULT:
        end_fault(b, span);
        span->fault = true;
        span->shared = false;
        span->waited = 0;
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

static void add_up(struct sc_blame *b)
{
    for (size_t i = 0; i < b->trace.event_count && b->trace.events[i].kind != SC_EVENT_TIME; i++) {
        const struct sc_event *event = &b->trace.events[i];
        struct sc_flow flow[SC_FLOWS_MAX];
        int count = sc_causes_next(b->causes, event, flow);

        for (int f = 0; f < count; f++)
            add_flow(b, event, &flow[f]);
        add_event(b, event);
    }
    for (int i = 0; i < b->threads.count; i++)
        end_fault(b, &b->spans[i]);
}

/* Another row of the line: of bytes that were uploaded again, or of bytes that a write fetched. NULL: none. */
static struct sc_blame_row *partner_of(struct sc_blame *b, const struct sc_blame_row *row)
{
    struct sc_blame_row *fetched = NULL;

    for (size_t i = 0; i < b->row_count; i++) {
        struct sc_blame_row *other = &b->rows[i];

        if (other->place == row->place && other->why == row->why && other->other)
            return other;
        if (other->place == row->place && other->why == SC_WHY_TOUCH && row->why == SC_WHY_WROTE)
            fetched = other;
    }
    return fetched;
}

/* A line with write faults and with bytes becomes one row. */
static void join_writes(struct sc_blame *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->row_count; i++) {
        struct sc_blame_row *row = &b->rows[i];
        bool joins = (row->why == SC_WHY_WROTE || row->why == SC_WHY_SHARED) && !row->other;
        struct sc_blame_row *other = joins ? partner_of(b, row) : NULL;

        if (other) {
            other->seconds += row->seconds;
            other->faults += row->faults;
            other->bytes += row->bytes;
            other->copies += row->copies;
            row->faults = row->bytes = row->copies = 0;
            row->seconds = 0;
        }
    }
    for (size_t i = 0; i < b->row_count; i++)
        if (b->rows[i].faults || b->rows[i].bytes || b->rows[i].seconds > 0)
            b->rows[kept++] = b->rows[i];
    b->row_count = kept;
}

static int by_loss(const void *left, const void *right)
{
    const struct sc_blame_row *a = left, *b = right;

    if (a->seconds != b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

struct sc_blame *sc_blame_read(const char *path, const struct sc_trace_names *names)
{
    struct sc_blame *b = calloc(1, sizeof *b);

    if (b && sc_trace_read(path, &b->trace) != SC_OK) {
        free(b);
        return NULL;
    }
    if (b) {
        names->prepare(&b->trace);
        b->causes = sc_causes_new(&b->trace);
    }
    if (b && b->causes) {
        add_up(b);
        join_writes(b);
    }
    if (!b || !b->causes || b->failed) {
        sc_log(SC_LOG_ERROR, "no memory to explain %s", path);
        sc_blame_end(b);
        return NULL;
    }
    if (b->row_count)
        qsort(b->rows, b->row_count, sizeof *b->rows, by_loss);
    return b;
}

void sc_blame_end(struct sc_blame *b)
{
    if (!b)
        return;
    sc_causes_free(b->causes);
    free(b->rows);
    free(b->parts);
    sc_trace_read_end(&b->trace);
    free(b);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

const struct sc_trace_reading *sc_blame_trace(const struct sc_blame *b) { return &b->trace; }

static bool is_in(struct sc_trace_text text, const char *part)
{
    return memmem(text.at, text.bytes, part, strlen(part)) != NULL;
}

/* Whether the code that touched the data is a BLAS. */
static bool touched_by_blas(const struct sc_blame *b, const struct sc_blame_row *row)
{
    const struct sc_place_of *place = sc_causes_place_at(b->causes, row->place);
    const struct sc_trace_module *module = place->routine ? NULL : sc_trace_module_of(&b->trace, place->caller);
    const char *slash = module ? memrchr(module->path.at, '/', module->path.bytes) : NULL;
    struct sc_trace_text name = {slash, 0};

    if (!slash)
        return false;
    name.bytes = (size_t)(module->path.at + module->path.bytes - slash);
    return is_in(name, "blas") || is_in(name, "blis") || is_in(name, "libmkl_");
}

const char *sc_blame_remedy(const struct sc_blame *b, const struct sc_blame_row *row)
{
    bool is_touch = row->why == SC_WHY_TOUCH || row->why == SC_WHY_WROTE;

    return is_touch && touched_by_blas(b, row) ? small_call : remedies[row->why];
}

const struct sc_blame_row *sc_blame_rows(const struct sc_blame *b, size_t *count)
{
    *count = b->row_count;
    return b->rows;
}

const struct sc_array_of *sc_blame_array(const struct sc_blame *b, uint32_t matrix)
{
    return sc_causes_array(b->causes, matrix);
}

double sc_blame_lost(const struct sc_blame *b)
{
    double lost = 0;

    for (size_t i = 0; i < b->row_count; i++)
        lost += b->rows[i].seconds;
    return lost;
}

static bool is_emulated(const struct sc_trace_reading *trace)
{
    static const char setting[] = "SEMCACHE_DEVICE=emu:";

    for (size_t i = 0; i < trace->setting_count; i++)
        if (trace->settings[i].bytes >= sizeof setting - 1 &&
            memcmp(trace->settings[i].at, setting, sizeof setting - 1) == 0)
            return true;
    return false;
}

/* By the clock of emulated devices; 0: real devices, or a program that did not close the trace. */
static double virtual_seconds(const struct sc_trace_reading *trace)
{
    for (size_t i = trace->event_count; i-- > 0;)
        if (trace->events[i].kind == SC_EVENT_TIME)
            return (double)trace->events[i].time.virtual_nanoseconds * 1e-9;
    return 0;
}

double sc_blame_whole(const struct sc_blame *b, bool *is_virtual)
{
    static struct sc_trace_totals totals;
    double seconds = virtual_seconds(&b->trace);

    *is_virtual = seconds > 0;
    if (!*is_virtual && !b->trace.header.ended && is_emulated(&b->trace)) {
        *is_virtual = true;
        return 0;
    }
    if (*is_virtual) /* the host's waits have a clock of their own, and may be longer */
        return seconds > sc_blame_lost(b) ? seconds : sc_blame_lost(b);
    sc_trace_add_up(&b->trace, &totals);
    return totals.seconds;
}

/* --- text of a row ------------------------------------------------------------------------------------------------ */

/* The row is of the line that took data from the devices; `other` needs the data there again. */
static bool was_resident(enum sc_why why)
{
    return why == SC_WHY_WROTE || why == SC_WHY_HOST || why == SC_WHY_SHARED || why == SC_WHY_SOLD;
}

static void put_cause(FILE *out, const struct sc_blame *b, const struct sc_blame_row *row,
                      const struct sc_trace_names *names)
{
    fputs(sc_why_names[row->why], out);
    if (!row->other)
        return;
    fputs(was_resident(row->why) ? ", needed by " : ", computed by ", out);
    sc_causes_put_place(out, &b->trace, b->causes, row->other, names);
}

/* The function around the line, and its callers. */
static void put_callers(FILE *out, const struct sc_blame *b, const struct sc_blame_row *row,
                        const struct sc_trace_names *names)
{
    const struct sc_place_of *place = sc_causes_place_at(b->causes, row->place);

    fputs("in ", out);
    if (!names->function(out, &b->trace, place->line))
        fputs("?", out);
    names->callers(out, &b->trace, place->chain, place->line);
}

static void put_array(FILE *out, const struct sc_blame *b, const struct sc_blame_row *row,
                      const struct sc_trace_names *names)
{
    const struct sc_array_of *array = sc_causes_array(b->causes, row->matrix);

    if (!array)
        return;
    if (array->is_folded)
        fprintf(out, "vector of %" PRIu64, array->bytes / (array->element_bytes ? array->element_bytes : 1));
    else
        fprintf(out, "matrix of %" PRId64 " x %" PRId64, array->rows, array->cols);
    fprintf(out, " (%" PRIu32 " bytes each)", array->element_bytes);
    if (array->line) {
        fputs(", allocated at ", out);
        names->line(out, &b->trace, array->line);
    } else {
        fprintf(out, " at 0x%" PRIx64, array->base);
    }
    if (row->more)
        fputs(", and other arrays", out);
}

static void put_part(FILE *out, const struct sc_blame *b, const struct sc_blame_row *row, enum sc_blame_part part,
                     const struct sc_trace_names *names)
{
    const struct sc_array_of *array = sc_causes_array(b->causes, row->matrix);

    switch (part) {
    case SC_BLAME_LINE: sc_causes_put_place(out, &b->trace, b->causes, row->place, names); break;
    case SC_BLAME_CAUSE: put_cause(out, b, row, names); break;
    case SC_BLAME_CALLERS: put_callers(out, b, row, names); break;
    case SC_BLAME_SOURCE: names->source(out, &b->trace, sc_causes_place_at(b->causes, row->place)->line); break;
    case SC_BLAME_ARRAY: put_array(out, b, row, names); break;
    case SC_BLAME_ALLOCATION:
        if (array && array->line)
            names->source(out, &b->trace, array->line);
        break;
    case SC_BLAME_PARTS: break;
    }
}

char *sc_blame_text(const struct sc_blame *b, const struct sc_blame_row *row, enum sc_blame_part part,
                     const struct sc_trace_names *names)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return NULL;
    put_part(out, b, row, part, names);
    fclose(out);
    if (text && *text && strcmp(text, "in ?") != 0)
        return text;
    free(text);
    return NULL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
