/* The history of a trace. A first pass over the events adds up the bytes of each array, and chooses the arrays. The
 * second pass follows their states: an array or tile keeps the bin of its last change, and a change fills the bins
 * since then. */
#include "trace/history.h"

#include <stdlib.h>
#include <string.h>

#include "trace/list.h"
#include "trace/tile_states.h"
#include "trace/totals.h"

#define NUMBERS_MOST (1u << 20) /* of arrays; larger numbers are of damaged files */
#define TILES_MOST (1u << 20)   /* of an array */

struct tile {
    struct sc_tile_states states;
    int since; /* bin: the bins before are filled */
};

/* A chosen array while the events are followed. */
struct array {
    struct tile *tiles;
    uint64_t sectors, away; /* all; those that devices have */
    int since;              /* bin, of `percent` */
    struct sc_history_array *shown;
};

/* All arrays, by number. */
struct number {
    uint32_t tiles;
    int chosen; /* index of `arrays`; -1: not shown */
    uint64_t bytes[SC_TRANSFERS];
};

struct follow {
    struct sc_history *history;
    struct array arrays[SC_HISTORY_ARRAYS];
    struct number *numbers;
    size_t count, room;
    bool failed;
};

static int bin_of(const struct sc_history *h, uint64_t time)
{
    double part = h->last > h->first ? (double)(time - h->first) / (double)(h->last - h->first) : 0;
    int bin = (int)(part * SC_HISTORY_BINS);

    return bin < 0 ? 0 : bin >= SC_HISTORY_BINS ? SC_HISTORY_BINS - 1 : bin;
}

/* --- arrays ------------------------------------------------------------------------------------------------------- */

/* NULL: no memory, or a number of a damaged file. */
static struct number *number_of(struct follow *f, uint32_t matrix)
{
    size_t missing = matrix < f->count ? 0 : matrix + 1 - f->count;

    if (matrix >= NUMBERS_MOST)
        return NULL;
    if (!sc_trace_list_reserve(&f->numbers, &f->room, f->count, missing, sizeof *f->numbers)) {
        f->failed = true;
        return NULL;
    }
    for (; f->count <= matrix; f->count++)
        f->numbers[f->count] = (struct number){.chosen = -1};
    return &f->numbers[matrix];
}

static void add_up(struct follow *f, const struct sc_trace_reading *trace)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct sc_event *event = &trace->events[i];
        bool is_tile = event->kind == SC_EVENT_TILE && event->tile < TILES_MOST;
        struct number *number = is_tile || event->kind == SC_EVENT_TRANSFER ? number_of(f, event->matrix) : NULL;

        if (number && is_tile && event->tile >= number->tiles)
            number->tiles = event->tile + 1;
        else if (number && !is_tile)
            number->bytes[sc_trace_way(event)] += event->bytes;
    }
}

static uint64_t all_bytes(const uint64_t *bytes) { return bytes[SC_H2D] + bytes[SC_D2H] + bytes[SC_D2D]; }

/* sign: 1 or -1. */
static void add_other(struct sc_history *h, const uint64_t *bytes, int sign)
{
    h->other_count += (size_t)sign;
    for (int way = 0; way < SC_TRANSFERS; way++)
        h->other_bytes[way] += (uint64_t)sign * bytes[way];
}

static void choose(struct follow *f)
{
    struct sc_history *h = f->history;

    for (uint32_t i = 0; i < f->count; i++) {
        size_t at = h->array_count;

        if (!f->numbers[i].tiles)
            continue;
        add_other(h, f->numbers[i].bytes, 1);
        while (at > 0 && all_bytes(h->arrays[at - 1].bytes) < all_bytes(f->numbers[i].bytes))
            at--;
        if (at == SC_HISTORY_ARRAYS)
            continue;
        h->array_count += h->array_count < SC_HISTORY_ARRAYS;
        memmove(&h->arrays[at + 1], &h->arrays[at], (h->array_count - 1 - at) * sizeof *h->arrays);
        h->arrays[at] = (struct sc_history_array){.matrix = i, .tiles = f->numbers[i].tiles};
        memcpy(h->arrays[at].bytes, f->numbers[i].bytes, sizeof h->arrays[at].bytes);
    }
    for (size_t i = 0; i < h->array_count; i++)
        add_other(h, h->arrays[i].bytes, -1);
}

static bool make_tiles(struct follow *f)
{
    for (size_t i = 0; i < f->history->array_count; i++) {
        struct sc_history_array *shown = &f->history->arrays[i];

        shown->rows = shown->tiles < SC_HISTORY_ROWS ? shown->tiles : SC_HISTORY_ROWS;
        shown->seen = calloc(shown->rows, sizeof *shown->seen);
        f->arrays[i] = (struct array){.tiles = calloc(shown->tiles, sizeof(struct tile)), .shown = shown};
        f->numbers[shown->matrix].chosen = (int)i;
        if (!shown->seen || !f->arrays[i].tiles)
            return false;
    }
    return true;
}

static struct array *array_of(struct follow *f, const struct sc_event *event)
{
    int chosen = event->matrix < f->count ? f->numbers[event->matrix].chosen : -1;

    return chosen < 0 ? NULL : &f->arrays[chosen];
}

static struct tile *tile_of(struct array *array, const struct sc_event *event)
{
    return array && event->tile < array->shown->tiles ? &array->tiles[event->tile] : NULL;
}

/* The tile's states count for the bins up to `end`, inclusive. */
static void fill_tile(struct array *array, struct tile *tile, int end)
{
    uint64_t number = (uint64_t)(tile - array->tiles);
    uint8_t *row = array->shown->seen[number * array->shown->rows / array->shown->tiles], states = 0;

    for (int s = 0; s < 3; s++)
        states |= (uint8_t)((tile->states.state[s] != 0) << s);
    for (int bin = tile->since; bin <= end; bin++)
        row[bin] |= states;
    tile->since = end;
}

/* The array's share counts for the bins before `end`. */
static void fill_array(struct array *array, int end)
{
    for (; array->since < end; array->since++)
        array->shown->percent[array->since] = (uint8_t)(array->sectors ? 100 * array->away / array->sectors : 0);
}

/* A tile that begins takes the place of a tile of the same number. */
static void begin_tile(struct array *array, const struct sc_event *event, int bin)
{
    struct tile *tile = tile_of(array, event);

    if (!tile)
        return;
    fill_array(array, bin);
    fill_tile(array, tile, bin);
    array->sectors -= (uint64_t)__builtin_popcountll(tile->states.all);
    array->away -= (uint64_t)__builtin_popcountll(tile->states.all & ~tile->states.state[SC_MSI_C]);
    *tile = (struct tile){sc_tile_states_new(event), bin};
    array->sectors += (uint64_t)__builtin_popcountll(tile->states.all);
    fill_tile(array, tile, bin);
}

static void change(struct array *array, const struct sc_event *event, int bin)
{
    struct tile *tile = tile_of(array, event);
    uint64_t home = tile ? tile->states.state[SC_MSI_C] : 0;

    if (!tile)
        return;
    fill_array(array, bin);
    fill_tile(array, tile, bin);
    if (sc_tile_states_follow(&tile->states, event))
        fill_tile(array, tile, bin);
    array->away += (uint64_t)__builtin_popcountll(home);
    array->away -= (uint64_t)__builtin_popcountll(tile->states.state[SC_MSI_C]);
}

/* Of a forgotten array, and at the end of the trace. */
static void end_array(struct array *array, int bin)
{
    if (!array)
        return;
    fill_array(array, bin);
    for (uint32_t i = 0; i < array->shown->tiles; i++) {
        fill_tile(array, &array->tiles[i], bin);
        array->tiles[i].states = (struct sc_tile_states){0};
    }
    array->sectors = array->away = 0;
}

/* --- traffic ------------------------------------------------------------------------------------------------------ */

static struct sc_history_link *link_of(struct follow *f, int from, int to)
{
    struct sc_history *h = f->history;

    for (size_t i = 0; i < h->link_count; i++)
        if (h->links[i].from == from && h->links[i].to == to)
            return &h->links[i];
    if (from >= SC_DEVICES_MAX || to >= SC_DEVICES_MAX)
        return NULL;
    if (!sc_trace_list_reserve(&h->links, &h->link_room, h->link_count, 1, sizeof *h->links)) {
        f->failed = true;
        return NULL;
    }
    h->links[h->link_count] = (struct sc_history_link){.from = from, .to = to};
    return &h->links[h->link_count++];
}

static void move(struct follow *f, const struct sc_event *event, int bin)
{
    enum sc_transfer way = sc_trace_way(event);
    int from = event->peer < 0 ? -1 : event->peer, to = event->device < 0 ? -1 : event->device;
    struct sc_history_link *link = link_of(f, from, to);

    f->history->traffic[way][bin] += event->bytes;
    if (link) {
        link->all += event->bytes;
        link->bytes[bin] += event->bytes;
    }
}

/* --- all events --------------------------------------------------------------------------------------------------- */

static void follow_event(struct follow *f, const struct sc_event *event)
{
    struct array *array = array_of(f, event);
    int bin = bin_of(f->history, event->nanoseconds);

    switch (event->kind) {
    case SC_EVENT_FAULT: f->history->faults[bin]++; break;
    case SC_EVENT_TRANSFER: move(f, event, bin); break;
    case SC_EVENT_TILE: begin_tile(array, event, bin); break;
    case SC_EVENT_STATE: change(array, event, bin); break;
    case SC_EVENT_FORGET: end_array(array, bin); break;
    }
}

static int by_bytes(const void *left, const void *right)
{
    const struct sc_history_link *a = left, *b = right;

    if (a->all != b->all)
        return a->all > b->all ? -1 : 1;
    return a->from != b->from ? (a->from > b->from) - (a->from < b->from) : (a->to > b->to) - (a->to < b->to);
}

static void follow_all(struct follow *f, const struct sc_trace_reading *trace)
{
    struct sc_history *h = f->history;

    for (size_t i = 0; i < trace->event_count; i++)
        follow_event(f, &trace->events[i]);
    for (size_t i = 0; i < h->array_count; i++) {
        fill_array(&f->arrays[i], SC_HISTORY_BINS);
        end_array(&f->arrays[i], SC_HISTORY_BINS - 1);
    }
    if (h->link_count)
        qsort(h->links, h->link_count, sizeof *h->links, by_bytes);
}

struct sc_history *sc_history_new(const struct sc_trace_reading *trace)
{
    struct follow f = {.history = calloc(1, sizeof(struct sc_history))};

    if (!f.history)
        return NULL;
    f.history->first = trace->event_count ? trace->events[0].nanoseconds : 0;
    f.history->last = trace->event_count ? trace->events[trace->event_count - 1].nanoseconds : 0;
    add_up(&f, trace);
    choose(&f);
    if (f.failed || !make_tiles(&f))
        f.failed = true;
    else
        follow_all(&f, trace);
    for (size_t i = 0; i < SC_HISTORY_ARRAYS; i++)
        free(f.arrays[i].tiles);
    free(f.numbers);
    if (!f.failed)
        return f.history;
    sc_history_free(f.history);
    return NULL;
}

void sc_history_free(struct sc_history *history)
{
    for (size_t i = 0; history && i < history->array_count; i++)
        free(history->arrays[i].seen);
    if (history)
        free(history->links);
    free(history);
}
/* SPDX-License-Identifier: BSD-2-Clause */
