/* Causes of transfers: a state machine over the events of a trace.
 *
 * A call causes the transfers between its begin and its end.  Outside of calls the thread's last fault or acquisition
 * is the cause, because the pager serves faults in order.  The machine keeps for each sector the last cause of an
 * invalidation on the devices, and the call of the last write on a device. */
#include "trace/causes.h"

#include <stdlib.h>
#include <string.h>

#include "trace/list.h"
#include "trace/staging.h"

#define BUCKETS (1u << 18)
#define LOOK_AHEAD 4096 /* events */

const char *const sc_why_names[SC_WHYS] = {
    [SC_WHY_FIRST] = "first use on a device",
    [SC_WHY_WROTE] = "the CPU had written it",
    [SC_WHY_HOST] = "the host's routine had written it",
    [SC_WHY_NO_ROOM] = "no room on the device",
    [SC_WHY_ANOTHER] = "another device had it",
    [SC_WHY_RESHAPE] = "it had been used in another shape",
    [SC_WHY_TOUCH] = "touched by the CPU",
    [SC_WHY_RUN] = "the host's routine needed it",
    [SC_WHY_COPY] = "copied in each call: not from malloc",
    [SC_WHY_COPY_STACK] = "copied in each call: on a stack",
    [SC_WHY_COPY_STATIC] = "copied in each call: static or COMMON",
    [SC_WHY_COPY_SMALL] = "copied in each call: smaller than SEMCACHE_ARENA_MIN",
    [SC_WHY_SHARED] = "touched by the CPU: data that shares a page with the array",
    [SC_WHY_UNSEEN] = "the CPU had written it (not from malloc: the line is unknown)",
    [SC_WHY_AHEAD] = "results on their way home before they are asked for",
    [SC_WHY_SOLD] = "a call on the host had taken it home, since the host kept fetching it",
    [SC_WHY_GIVEN] = "semcache_invalidate had taken it off the devices",
};

/* Sectors of a tile. `why`: reason for missing residency (SC_WHY_ANOTHER: resident). `by`: place of the cause.
 * `writer`: call of the last write on a device. */
struct tile {
    struct tile *next;
    uint32_t matrix, number;
    uint8_t why[64];
    uint32_t taken[64], written[64];
};

struct range {
    uint64_t base, bytes;
};

/* Memory whose matrix was forgotten, the reason, and the call that took the matrix home (0: none, or unknown). */
struct gone {
    struct range range;
    enum sc_why why;
    uint32_t by;
};

struct thread {
    uint32_t place;
    bool on_host;            /* the thread's call runs on the host */
    uint32_t matrix, tile;   /* evicted from by the last event; 0: none */
    uint64_t touched;        /* address of the last fault; 0: none */
    bool shared;             /* that address is on a page of an array, and in no array that moved */
    struct range freed;      /* memory freed by the program in the last event but FORGET */
    enum sc_why gives_up;    /* why the thread's call, touch or release makes a matrix be forgotten */
};

struct sc_causes {
    const struct sc_trace_reading *trace;
    size_t at;     /* of the next event, in the order of time */
    bool *on_host; /* by number of the event: computed on the host */
    struct sc_place_of *place;
    uint32_t places;
    size_t room;
    struct thread thread[SC_TRACE_THREADS];
    struct sc_trace_threads threads;
    struct tile *tiles[BUCKETS];
    struct gone gone[64]; /* the last ones */
    unsigned gone_count;
    struct range matrix;  /* the last matrix */
    uint32_t matrix_number;
    struct sc_array_of *arrays; /* by number of the matrix */
    size_t array_count, array_room;
    struct sc_staging staging;
};

/* --- who ---------------------------------------------------------------------------------------------------------- */

static uint32_t place_of(struct sc_causes *c, struct sc_place_of like)
{
    for (uint32_t i = c->places; i-- > 1;)
        if (c->place[i].line == like.line && c->place[i].routine == like.routine &&
            (c->place[i].caller == like.caller || (!like.routine && like.line)))
            return i;
    if (!sc_trace_list_reserve(&c->place, &c->room, c->places, 1, sizeof *c->place))
        return 0;
    c->place[c->places] = like;
    return c->places++;
}

static struct thread *thread_of(struct sc_causes *c, uint32_t id)
{
    bool fresh;
    struct thread *thread = &c->thread[sc_trace_thread_slot(&c->threads, id, &fresh)];

    if (fresh)
        *thread = (struct thread){0};
    return thread;
}

uint32_t sc_causes_place(const struct sc_causes *c, const struct sc_event *event)
{
    int i = sc_trace_thread_find(&c->threads, event->thread);

    return i < 0 ? 0 : c->thread[i].place;
}

const struct sc_place_of *sc_causes_place_at(const struct sc_causes *c, uint32_t number)
{
    return &c->place[number < c->places ? number : 0];
}

void sc_causes_put_place(FILE *out, const struct sc_trace_reading *trace, const struct sc_causes *causes,
                         uint32_t number, const struct sc_trace_names *names)
{
    const struct sc_place_of *place = sc_causes_place_at(causes, number);

    if (place->line)
        names->line(out, trace, place->line);
    else
        fputs(number ? "somewhere" : "-", out);
    if (place->routine && place->routine < SC_TRACE_ROUTINES_MAX) {
        putc(' ', out);
        sc_trace_put_text(out, trace->routines[place->routine], "?");
    }
    if (place->caller && place->caller != place->line && place->line < SC_TRACE_PYTHON) {
        fputs(" in ", out);
        if (!names->function(out, trace, place->caller))
            names->line(out, trace, place->caller);
    }
}

uint32_t sc_causes_places(const struct sc_causes *c) { return c->places; }

/* --- what is where ------------------------------------------------------------------------------------------------ */

static struct tile *tile_of(struct sc_causes *c, const struct sc_event *event)
{
    struct tile **bucket = &c->tiles[(event->matrix * 31 + event->tile) % BUCKETS], *tile = *bucket;

    while (tile && (tile->matrix != event->matrix || tile->number != event->tile))
        tile = tile->next;
    if (tile || !(tile = calloc(1, sizeof *tile)))
        return tile;
    tile->matrix = event->matrix;
    tile->number = event->tile;
    tile->next = *bucket;
    return *bucket = tile;
}

/* --- arrays ------------------------------------------------------------------------------------------------------- */

#define ARRAYS_MOST (1u << 20)
#define PAGE 4096

const struct sc_array_of *sc_causes_array(const struct sc_causes *c, uint32_t matrix)
{
    return matrix < c->array_count && c->arrays[matrix].bytes ? &c->arrays[matrix] : NULL;
}

/* NULL without memory, and for numbers of damaged files. */
static struct sc_array_of *array_at(struct sc_causes *c, uint32_t matrix)
{
    size_t missing = matrix < c->array_count ? 0 : matrix + 1 - c->array_count;

    if (matrix >= ARRAYS_MOST ||
        !sc_trace_list_reserve(&c->arrays, &c->array_room, c->array_count, missing, sizeof *c->arrays))
        return NULL;
    memset(c->arrays + c->array_count, 0, missing * sizeof *c->arrays);
    c->array_count += missing;
    return &c->arrays[matrix];
}

static void see_array(struct sc_causes *c, const struct sc_event *event)
{
    struct sc_array_of *array = array_at(c, event->matrix);

    if (array && event->kind == SC_EVENT_MATRIX)
        *array = (struct sc_array_of){.base = event->made.base, .bytes = event->made.bytes, .rows = event->made.rows,
                                      .cols = event->made.cols, .element_bytes = event->element_bytes,
                                      .is_folded = event->is_folded};
    if (array && event->kind == SC_EVENT_ALLOC) {
        array->line = event->range.ip;
        array->chain = (uint32_t)event->range.chain;
    }
}

/* What a fault moves first belongs to the touched page. */
static void see_touched(struct sc_causes *c, struct thread *t, const struct sc_event *event)
{
    const struct sc_array_of *array = t->touched ? sc_causes_array(c, event->matrix) : NULL;
    uint64_t page = t->touched / PAGE;

    if (!array)
        return;
    t->shared = t->touched - array->base >= array->bytes &&
                (page == array->base / PAGE || page == (array->base + array->bytes - 1) / PAGE);
    t->touched = 0;
}

bool sc_causes_is_shared(const struct sc_causes *c, const struct sc_event *event)
{
    int i = sc_trace_thread_find(&c->threads, event->thread);

    return i >= 0 && c->thread[i].shared;
}

static bool overlap(const struct range *a, const struct range *b)
{
    return a->base < b->base + b->bytes && b->base < a->base + a->bytes;
}

static bool is_staged(const struct sc_causes *c, uint32_t matrix)
{
    enum sc_trace_memory memory;
    bool kept;

    return sc_staging_of(&c->staging, matrix, &memory, &kept);
}

/* The last matrix where the newest one is now; NULL: none was forgotten there. */
static const struct gone *gone_before(const struct sc_causes *c)
{
    for (unsigned back = 1; back <= c->gone_count && back <= 64; back++) {
        const struct gone *gone = &c->gone[(c->gone_count - back) % 64];

        if (overlap(&c->matrix, &gone->range))
            return gone;
    }
    return NULL;
}

/* A FORGET of freed memory says nothing about later data there. */
static void forget(struct sc_causes *c, const struct thread *t, const struct sc_event *event)
{
    struct range range = {event->range.address, event->range.bytes};

    if (!overlap(&range, &t->freed) && !is_staged(c, event->matrix))
        c->gone[c->gone_count++ % 64] = (struct gone){.range = range, .why = t->gives_up,
                                                      .by = t->gives_up == SC_WHY_SOLD ? t->place : 0};
}

/* For a matrix made as a copy for one call. */
static bool is_copy(const struct sc_causes *c, uint32_t matrix, enum sc_why *why)
{
    static const enum sc_why copies[SC_MEMORIES] = {[SC_MEMORY_OTHER] = SC_WHY_COPY,
                                                    [SC_MEMORY_STACK] = SC_WHY_COPY_STACK,
                                                    [SC_MEMORY_STATIC] = SC_WHY_COPY_STATIC,
                                                    [SC_MEMORY_SMALL] = SC_WHY_COPY_SMALL};
    enum sc_trace_memory memory;
    bool kept;

    if (!sc_staging_of(&c->staging, matrix, &memory, &kept) || kept)
        return false;
    *why = copies[memory];
    return true;
}

/* A matrix begins on the host. */
static void see_tile(struct sc_causes *c, const struct sc_event *event)
{
    const struct gone *gone = event->matrix == c->matrix_number ? gone_before(c) : NULL;
    enum sc_why why = gone ? gone->why : SC_WHY_FIRST;
    bool copy = is_copy(c, event->matrix, &why);
    struct tile *tile = copy || gone ? tile_of(c, event) : NULL;

    for (int s = 0; tile && s < 64; s++) {
        tile->why[s] = (uint8_t)why;
        tile->taken[s] = copy ? 0 : gone->by;
    }
}

static void change(struct sc_causes *c, struct thread *t, const struct sc_event *event)
{
    struct tile *tile = event->old_state == event->new_state ? NULL : tile_of(c, event);
    bool evicted = t->matrix == event->matrix && t->tile == event->tile;
    bool unseen = is_staged(c, event->matrix) && !t->on_host;
    enum sc_why why = evicted ? SC_WHY_NO_ROOM : unseen ? SC_WHY_UNSEEN : event->routine ? SC_WHY_HOST :
                      t->shared ? SC_WHY_SHARED : SC_WHY_WROTE;

    for (int s = 0; tile && s < 64; s++) {
        if (!(event->sectors >> s & 1))
            continue;
        if (event->new_state == SC_MSI_C) {
            tile->why[s] = (uint8_t)why;
            tile->taken[s] = evicted || unseen ? 0 : t->place;
        } else if (event->new_state == SC_MSI_G) {
            tile->why[s] = SC_WHY_ANOTHER;
            tile->written[s] = t->place;
        }
    }
}

/* --- what moves --------------------------------------------------------------------------------------------------- */

static int add(struct sc_flow *flow, int count, struct sc_flow part)
{
    for (int i = 0; i < count; i++)
        if (flow[i].why == part.why && flow[i].by == part.by) {
            flow[i].bytes += part.bytes;
            return count;
        }
    flow[count] = part;
    return count + 1;
}

/* The reason of a fetch within a device call, from the next event of the thread. */
static enum sc_why why_home(const struct sc_causes *c, const struct sc_event *event)
{
    for (size_t i = c->at; i < c->trace->event_count && i < c->at + LOOK_AHEAD; i++) {
        const struct sc_event *next = &c->trace->events[i];

        if (next->thread != event->thread || next->kind == SC_EVENT_STATE || next->kind == SC_EVENT_TRANSFER ||
            next->kind == SC_EVENT_PROTECT)
            continue;
        if (next->matrix == event->matrix && next->kind == SC_EVENT_FORGET)
            return SC_WHY_RESHAPE;
        if (next->matrix == event->matrix && next->kind == SC_EVENT_EVICT && next->tile == event->tile)
            return SC_WHY_NO_ROOM;
        return SC_WHY_AHEAD;
    }
    return SC_WHY_AHEAD;
}

static struct sc_flow part_of(const struct sc_causes *c, const struct thread *t, const struct tile *tile, int s,
                              const struct sc_event *event)
{
    struct sc_flow part = {.way = sc_trace_way(event), .needed = t->place, .why = SC_WHY_ANOTHER,
                           .matrix = event->matrix};

    if (part.way == SC_D2H) {
        part.why = event->routine ? (t->on_host ? SC_WHY_RUN : why_home(c, event))
                   : t->shared    ? SC_WHY_SHARED
                                  : SC_WHY_TOUCH;
        part.by = tile->written[s];
        if (is_copy(c, event->matrix, &part.why))
            part.by = 0;
    } else if (part.way == SC_H2D) {
        part.why = (enum sc_why)tile->why[s];
        part.by = tile->taken[s];
    }
    return part;
}

/* Sectors of a transfer count equal bytes; the last part takes the remainder. */
static int move(struct sc_causes *c, const struct thread *t, const struct sc_event *event, struct sc_flow *flow)
{
    struct tile *tile = event->sectors ? tile_of(c, event) : NULL;
    uint64_t left = event->bytes;
    int sectors = __builtin_popcountll(event->sectors), count = 0;

    if (!tile) {
        flow[0] = (struct sc_flow){.way = sc_trace_way(event), .needed = t->place, .why = SC_WHY_FIRST,
                                   .matrix = event->matrix, .bytes = left};
        return 1;
    }
    for (int s = 0; s < 64; s++) {
        struct sc_flow part;

        if (!(event->sectors >> s & 1))
            continue;
        part = part_of(c, t, tile, s, event);
        part.bytes = left / (uint64_t)sectors--;
        left -= part.bytes;
        count = add(flow, count, part);
        if (part.way == SC_H2D && !event->is_part) {
            tile->why[s] = SC_WHY_ANOTHER;
            tile->taken[s] = 0;
        }
    }
    return count;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void begin_site(struct sc_causes *c, struct thread *t, const struct sc_event *event)
{
    t->place = place_of(c, (struct sc_place_of){.line = event->site.program ? event->site.program : event->site.ip,
                                                   .caller = event->site.ip,
                                                .routine = event->routine,
                                                .chain = (uint32_t)event->site.chain});
    t->shared = false;
    t->gives_up = SC_WHY_RESHAPE;
}

static void begin_touch(struct sc_causes *c, struct thread *t, const struct sc_event *event)
{
    uint64_t line = event->kind == SC_EVENT_FAULT && event->touch.line ? event->touch.line : event->ip;

    uint32_t chain = event->kind == SC_EVENT_FAULT     ? (uint32_t)event->touch.chain
                     : event->kind == SC_EVENT_ACQUIRE ? (uint32_t)event->range.chain
                                                       : 0;

    t->place = place_of(c, (struct sc_place_of){.line = line, .caller = event->ip, .chain = chain});
    t->on_host = t->shared = false;
    t->touched = event->kind == SC_EVENT_FAULT ? event->touch.address : 0;
    t->gives_up = event->kind == SC_EVENT_RELEASE ? SC_WHY_GIVEN : SC_WHY_RESHAPE;
}

static void begin_call(struct sc_causes *c, struct thread *t, const struct sc_event *event)
{
    t->place = place_of(c, (struct sc_place_of){.routine = event->routine});
    t->on_host = c->on_host[event - c->trace->events];
    t->gives_up = SC_WHY_RESHAPE;
}

/* A call on the host that brings a whole array home (doc/decision-rules.md). */
static bool is_sale(const struct sc_event *choice) { return choice->device < 0 && choice->reason == SC_REASON_SOLD; }

int sc_causes_next(struct sc_causes *c, const struct sc_event *event, struct sc_flow *flow)
{
    struct thread *t = thread_of(c, event->thread);
    int count = 0;

    c->at++;
    sc_staging_next(&c->staging, event);
    if (event->kind != SC_EVENT_STATE)
        t->matrix = 0;
    if (event->kind == SC_EVENT_STATE || event->kind == SC_EVENT_TRANSFER || event->kind == SC_EVENT_PROTECT)
        see_touched(c, t, event);
    if (event->kind == SC_EVENT_CALL || event->kind == SC_EVENT_SITE)
        t->freed = (struct range){0, 0};
    switch (event->kind) {
    case SC_EVENT_CALL: begin_call(c, t, event); break;
    case SC_EVENT_SITE: begin_site(c, t, event); break;
    case SC_EVENT_CHOICE: t->gives_up = is_sale(event) ? SC_WHY_SOLD : SC_WHY_RESHAPE; break;
    case SC_EVENT_ACQUIRE:
    case SC_EVENT_RELEASE:
    case SC_EVENT_HOME:
    case SC_EVENT_FAULT: begin_touch(c, t, event); break;
    case SC_EVENT_FREE:
        t->place = 0;
        t->freed = (struct range){event->range.address, event->range.bytes};
        for (unsigned i = 0; i < 64; i++) /* later data at the address is different */
            if (overlap(&t->freed, &c->gone[i].range))
                c->gone[i].range.bytes = 0;
        break;
    case SC_EVENT_MATRIX:
        c->matrix = (struct range){event->made.base, event->made.bytes};
        c->matrix_number = event->matrix;
        see_array(c, event);
        break;
    case SC_EVENT_ALLOC: see_array(c, event); break;
    case SC_EVENT_TILE: see_tile(c, event); break;
    case SC_EVENT_FORGET: forget(c, t, event); break;
    case SC_EVENT_STATE: change(c, t, event); break;
    case SC_EVENT_EVICT:
        t->matrix = event->matrix;
        t->tile = event->tile;
        break;
    case SC_EVENT_TRANSFER: count = move(c, t, event, flow); break;
    }
    return count;
}

/* DONE tells the place of a call, so the ends are looked up in advance. */
static void find_host_calls(struct sc_causes *c)
{
    size_t open[SC_TRACE_THREADS] = {0}; /* number of the event, plus 1 */

    for (size_t i = 0; i < c->trace->event_count; i++) {
        const struct sc_event *event = &c->trace->events[i];
        int thread = (int)(thread_of(c, event->thread) - c->thread);

        if (event->kind == SC_EVENT_CALL) {
            open[thread] = i + 1;
        } else if (event->kind == SC_EVENT_DONE && open[thread]) {
            c->on_host[open[thread] - 1] = event->device < 0;
            open[thread] = 0;
        }
    }
    c->threads.count = 0;
}

struct sc_causes *sc_causes_new(const struct sc_trace_reading *trace)
{
    struct sc_causes *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->trace = trace;
    c->room = 64;
    c->places = 1;
    c->place = calloc(c->room, sizeof *c->place);
    c->on_host = calloc(trace->event_count + 1, sizeof *c->on_host);
    if (!c->place || !c->on_host) {
        sc_causes_free(c);
        return NULL;
    }
    find_host_calls(c);
    return c;
}

void sc_causes_free(struct sc_causes *c)
{
    for (unsigned i = 0; c && i < BUCKETS; i++)
        for (struct tile *tile = c->tiles[i], *next; tile; tile = next) {
            next = tile->next;
            free(tile);
        }
    if (c) {
        sc_staging_end(&c->staging);
        free(c->place);
        free(c->arrays);
        free(c->on_host);
    }
    free(c);
}
/* SPDX-License-Identifier: BSD-2-Clause */
