/* States of one array over time: a row for each call that changed the states, and for the touches of a line in turn. */
#include "trace/states.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/causes.h"
#include "trace/list.h"
#include "trace/tile_states.h"
#include "trace/wrap.h"

#define PICTURE 24 /* letters: a letter a tile, or a letter for several tiles */
#define SECTORS 64

struct tile {
    struct sc_tile_states sectors;
    uint64_t valid[SC_DEVICES_MAX]; /* sectors that a device has */
};

struct states {
    const struct sc_trace_reading *trace;
    const struct sc_trace_names *names;
    struct sc_causes *causes;
    const struct sc_trace_filter *filter;
    uint32_t matrix; /* the matrix of the table */
    struct tile *tiles;
    size_t count, room;
    int devices;
    bool changed; /* since the last row */
    uint64_t time;
    uint32_t place;
    char last[128]; /* row without time and place */
    uint64_t rows;
};

/* --- which arrays ------------------------------------------------------------------------------------------------- */

static bool is_allocated_at(const struct states *x, const struct sc_array_of *array, const char *line)
{
    char *text = sc_trace_line_text(x->names, x->trace, array->line);
    bool is = text && strcmp(text, line) == 0;

    free(text);
    return is;
}

static bool is_asked(const struct states *x, const struct sc_array_of *array, uint32_t matrix, const char *asked)
{
    char *end;
    unsigned long long number = strtoull(asked, &end, 0);

    if (end == asked || *end)
        return is_allocated_at(x, array, asked);
    return strncmp(asked, "0x", 2) == 0 ? number - array->base < array->bytes : number == matrix;
}

static void put_array(FILE *out, const struct states *x, uint32_t matrix, const struct sc_array_of *array)
{
    fprintf(out, "array %" PRIu32 ": ", matrix);
    if (array->is_folded)
        fprintf(out, "%" PRIu64, array->bytes / (array->element_bytes ? array->element_bytes : 1));
    else
        fprintf(out, "%" PRId64 " x %" PRId64, array->rows, array->cols);
    fprintf(out, " (%" PRIu32 " bytes each) at 0x%" PRIx64, array->element_bytes, array->base);
    if (array->line) {
        fputs(", from ", out);
        x->names->line(out, x->trace, array->line);
    }
    putc('\n', out);
}

/* --- states ------------------------------------------------------------------------------------------------------- */

static bool add_tile(struct states *x, const struct sc_event *event)
{
    struct tile tile = {.sectors = sc_tile_states_new(event)};

    if (!sc_trace_list_reserve(&x->tiles, &x->room, x->count, 1, sizeof tile))
        return false;
    x->tiles[x->count++] = tile;
    return true;
}

static void change(struct states *x, const struct sc_event *event)
{
    struct tile *tile = event->tile < x->count ? &x->tiles[event->tile] : NULL;
    uint64_t sectors = tile ? sc_tile_states_follow(&tile->sectors, event) : 0;

    if (!sectors)
        return;
    if (event->device >= 0 && event->device < SC_DEVICES_MAX) {
        uint64_t *valid = &tile->valid[event->device];

        *valid = event->peer ? *valid | sectors : *valid & ~sectors;
    }
    x->changed = true;
}

static int percent(const struct states *x, uint64_t of_tile(const struct tile *tile, int which), int which)
{
    uint64_t part = 0, whole = 0;

    for (size_t i = 0; i < x->count; i++) {
        part += (uint64_t)__builtin_popcountll(of_tile(&x->tiles[i], which));
        whole += (uint64_t)__builtin_popcountll(x->tiles[i].sectors.all);
    }
    return whole ? (int)((100 * part + whole / 2) / whole) : 0;
}

static uint64_t in_state(const struct tile *tile, int state) { return tile->sectors.state[state]; }
static uint64_t on_device(const struct tile *tile, int device) { return tile->valid[device]; }

/* '.' nothing, '1' to '9' tenths, '#' everything. */
static char tenths(int percent_on)
{
    return percent_on == 0 ? '.' : percent_on == 100 ? '#' : (char)('0' + (percent_on < 10 ? 1 : percent_on / 10));
}

/* The state of tiles; '*': several states. */
static char letter(const struct states *x, size_t first, size_t end)
{
    char found = 0;

    for (size_t i = first; i < end; i++)
        for (int s = 0; s < 3; s++)
            if (x->tiles[i].sectors.state[s])
                found = found && found != "CSG"[s] ? '*' : "CSG"[s];
    return found ? found : '-';
}

/* Everything of a row but time and place. */
static void draw(const struct states *x, char *text, size_t bytes)
{
    size_t letters = x->count < PICTURE ? x->count : PICTURE;
    int used = snprintf(text, bytes, "%3d %3d %3d  ", percent(x, in_state, 0), percent(x, in_state, 1),
                        percent(x, in_state, 2));

    for (int d = 0; d < x->devices; d++)
        text[used++] = tenths(percent(x, on_device, d));
    for (int blank = x->devices; blank < 4; blank++)
        text[used++] = ' ';
    text[used++] = ' ';
    for (size_t i = 0; i < letters; i++)
        text[used++] = letter(x, i * x->count / letters, (i + 1) * x->count / letters);
    text[used] = '\0';
}

static double seconds_of(const struct states *x, uint64_t time)
{
    return (double)(int64_t)(time - x->trace->header.start_monotonic) * 1e-9;
}

static void put_row(FILE *out, struct states *x)
{
    double seconds = seconds_of(x, x->time);
    char row[sizeof x->last], *text = NULL;
    size_t bytes = 0;
    FILE *place;

    x->changed = false;
    draw(x, row, sizeof row);
    if (strcmp(row, x->last) == 0 || seconds < x->filter->from || (x->filter->to > 0 && seconds > x->filter->to))
        return;
    strcpy(x->last, row);
    place = open_memstream(&text, &bytes);
    if (!place)
        return;
    sc_causes_put_place(place, x->trace, x->causes, x->place, x->names);
    fclose(place);
    fprintf(out, "%12.6f %s  ", seconds, row);
    if (text)
        sc_trace_put_wrapped(out, text, 13 + strlen(row) + 2);
    free(text);
    x->rows++;
}

static bool follow(FILE *out, struct states *x, const struct sc_event *event)
{
    bool ours = event->matrix == x->matrix;

    if (x->changed && (event->kind == SC_EVENT_CALL ||
                       (ours && event->kind == SC_EVENT_STATE && sc_causes_place(x->causes, event) != x->place)))
        put_row(out, x);
    if (!ours)
        return true;
    switch (event->kind) {
    case SC_EVENT_TILE: return add_tile(x, event);
    case SC_EVENT_STATE:
        change(x, event);
        x->time = event->nanoseconds;
        x->place = sc_causes_place(x->causes, event);
        break;
    case SC_EVENT_FORGET:
        if (x->changed)
            put_row(out, x);
        fprintf(out, "%12.6f the array is forgotten\n", seconds_of(x, event->nanoseconds));
        break;
    }
    return true;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void find_devices(struct states *x)
{
    for (size_t i = 0; i < x->trace->event_count; i++) {
        const struct sc_event *event = &x->trace->events[i];

        if (event->kind == SC_EVENT_STATE && event->device >= x->devices && event->device < SC_DEVICES_MAX)
            x->devices = event->device + 1;
    }
}

static enum sc_status put_table(FILE *out, struct states *x)
{
    struct sc_flow flow[SC_FLOWS_MAX];
    bool good;

    sc_causes_free(x->causes);
    x->causes = sc_causes_new(x->trace);
    x->count = 0;
    x->changed = false;
    *x->last = '\0';
    x->rows = 0;
    good = x->causes != NULL;
    for (size_t i = 0; good && i < x->trace->event_count; i++) {
        sc_causes_next(x->causes, &x->trace->events[i], flow);
        good = follow(out, x, &x->trace->events[i]);
    }
    if (good && x->changed)
        put_row(out, x);
    if (good && !x->rows)
        fputs("             no change: the array stayed on the host\n", out);
    return good ? SC_OK : SC_ERR_MEMORY;
}

/* All events are followed once, to know every array. */
static enum sc_status learn(struct states *x)
{
    struct sc_flow flow[SC_FLOWS_MAX];

    x->causes = sc_causes_new(x->trace);
    for (size_t i = 0; x->causes && i < x->trace->event_count; i++)
        sc_causes_next(x->causes, &x->trace->events[i], flow);
    return x->causes ? SC_OK : SC_ERR_MEMORY;
}

static enum sc_status put_all(FILE *out, struct states *x, const char *asked)
{
    enum sc_status status = learn(x);
    bool any = false;

    for (size_t i = 0; status == SC_OK && i < x->trace->event_count; i++) {
        const struct sc_event *event = &x->trace->events[i];
        const struct sc_array_of *array = sc_causes_array(x->causes, event->matrix);

        if (event->kind != SC_EVENT_MATRIX || !array || (asked && !is_asked(x, array, event->matrix, asked)))
            continue;
        if (asked)
            fputs(any ? "\n" : "", out);
        any = true;
        put_array(out, x, event->matrix, array);
        if (!asked)
            continue;
        fprintf(out, "%12s %3s %3s %3s  %-4s states of tiles, by\n", "seconds", "%C", "%S", "%G", "on");
        x->matrix = event->matrix;
        status = put_table(out, x);
    }
    if (status == SC_OK && !any) {
        sc_log(SC_LOG_ERROR, asked ? "no array %s: name a number, an address or the line of an allocation" :
                                     "no arrays on devices%s", asked ? asked : "");
        status = SC_ERR_INVALID;
    }
    return status;
}

enum sc_status sc_trace_states(const char *path, FILE *out, const char *array, const struct sc_trace_filter *filter,
                               const struct sc_trace_names *names)
{
    struct sc_trace_reading trace;
    struct states x = {.trace = &trace, .names = names, .filter = filter};
    enum sc_status status = sc_trace_read(path, &trace);

    if (status != SC_OK)
        return status;
    names->prepare(&trace);
    find_devices(&x);
    status = put_all(out, &x, array);
    if (status == SC_ERR_MEMORY)
        sc_log(SC_LOG_ERROR, "no memory to read %s", path);
    sc_causes_free(x.causes);
    free(x.tiles);
    sc_trace_read_end(&trace);
    if (status == SC_OK && (fflush(out) != 0 || ferror(out)))
        status = SC_ERR_IO;
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
