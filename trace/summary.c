/* Moved bytes by routine, by line of the program, and by matrix.
 *
 * The cause of a transfer outside of calls is the thread's last fault or acquisition, because the pager serves
 * faults in order.  A write by the CPU invalidates sectors on the devices, and the next call uploads the sectors
 * again: the bytes count for the line of the write. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/list.h"
#include "trace/staging.h"
#include "trace/totals.h"

#define SHOWN 20    /* lines, matrices */
#define BUCKETS 4096

struct line {
    uint64_t ip; /* 0: system calls and semcache_acquire */
    uint64_t reads, writes, home, again;
};

struct matrix {
    struct sc_event seen;
    uint64_t bytes[SC_TRANSFERS], reads, writes;
    bool live;
};

/* The lines of the last writes of a tile's sectors, plus 1. */
struct tile {
    struct tile *next;
    uint32_t matrix, number;
    uint32_t writer[64];
};

struct summary {
    struct line *lines;
    size_t line_count, line_room;
    struct matrix *matrices;
    size_t matrix_count, matrix_room, first_live; /* no earlier matrix is live */
    struct tile *tiles[BUCKETS];
    struct sc_trace_threads threads;
    uint32_t cause[SC_TRACE_THREADS]; /* line of the last touch of a thread, plus 1; 0: no cause */
    struct sc_staging staging;
    uint64_t copies, copied[SC_TRANSFERS]; /* copies of operands that cannot be watched, for one call */
};

/* --- who ---------------------------------------------------------------------------------------------------------- */

/* Number of the line, plus 1; 0: no memory. */
static uint32_t line_of(struct summary *sum, uint64_t ip)
{
    for (size_t i = 0; i < sum->line_count; i++)
        if (sum->lines[i].ip == ip)
            return (uint32_t)i + 1;
    if (!sc_trace_list_reserve(&sum->lines, &sum->line_room, sum->line_count, 1, sizeof *sum->lines))
        return 0;
    sum->lines[sum->line_count++] = (struct line){.ip = ip};
    return (uint32_t)sum->line_count;
}

static uint32_t *cause_of(struct summary *sum, uint32_t thread)
{
    bool fresh;

    return &sum->cause[sc_trace_thread_slot(&sum->threads, thread, &fresh)];
}

static struct tile *tile_of(struct summary *sum, const struct sc_event *event, bool make)
{
    struct tile **bucket = &sum->tiles[(event->matrix * 31 + event->tile) % BUCKETS], *tile = *bucket;

    while (tile && (tile->matrix != event->matrix || tile->number != event->tile))
        tile = tile->next;
    if (tile || !make || !(tile = calloc(1, sizeof *tile)))
        return tile;
    tile->matrix = event->matrix;
    tile->number = event->tile;
    tile->next = *bucket;
    return *bucket = tile;
}

static struct matrix *matrix_numbered(struct summary *sum, uint32_t number)
{
    for (size_t i = sum->matrix_count; i-- > sum->first_live;)
        if (sum->matrices[i].seen.matrix == number)
            return &sum->matrices[i];
    return NULL;
}

static struct matrix *matrix_at(struct summary *sum, uint64_t address)
{
    for (size_t i = sum->matrix_count; i-- > sum->first_live;) {
        struct matrix *m = &sum->matrices[i];
        const struct sc_event_matrix *made = &m->seen.made;

        if (m->live && address - (made->base & ~UINT64_C(4095)) < made->bytes + (made->base & 4095))
            return m;
    }
    return NULL;
}

/* --- what --------------------------------------------------------------------------------------------------------- */

static void add_fault(struct summary *sum, const struct sc_event *event)
{
    uint32_t line = line_of(sum, event->touch.line ? event->touch.line : event->touch.ip);
    struct matrix *m = matrix_at(sum, event->touch.address);
    bool write = event->access & SC_WRITE;

    *cause_of(sum, event->thread) = line;
    if (line)
        write ? sum->lines[line - 1].writes++ : sum->lines[line - 1].reads++;
    if (m)
        write ? m->writes++ : m->reads++;
}

/* Valid on the host only: the CPU has written the sector or will write it. */
static void add_state(struct summary *sum, const struct sc_event *event)
{
    uint32_t line = event->routine ? 0 : *cause_of(sum, event->thread);
    struct tile *tile;

    if (!line || event->new_state != SC_MSI_C || event->old_state == SC_MSI_C || !(tile = tile_of(sum, event, true)))
        return;
    for (int s = 0; s < 64; s++)
        if (event->sectors >> s & 1)
            tile->writer[s] = line;
}

static bool is_copy(const struct summary *sum, uint32_t matrix)
{
    enum sc_trace_memory memory;
    bool kept;

    return sc_staging_of(&sum->staging, matrix, &memory, &kept) && !kept;
}

static void add_transfer(struct summary *sum, const struct sc_event *event)
{
    enum sc_transfer way = sc_trace_way(event);
    struct matrix *m = matrix_numbered(sum, event->matrix);
    uint32_t line = event->routine ? 0 : *cause_of(sum, event->thread);
    uint64_t sectors = (uint64_t)__builtin_popcountll(event->sectors);
    struct tile *tile = way == SC_H2D ? tile_of(sum, event, false) : NULL;

    if (m)
        m->bytes[way] += event->bytes;
    else if (is_copy(sum, event->matrix))
        sum->copied[way] += event->bytes;
    if (way == SC_D2H && line)
        sum->lines[line - 1].home += event->bytes;
    for (int s = 0; tile && s < 64; s++)
        if (event->sectors >> s & 1 && tile->writer[s]) {
            sum->lines[tile->writer[s] - 1].again += event->bytes / sectors;
            tile->writer[s] = 0;
        }
}

static void add_matrix(struct summary *sum, const struct sc_event *event)
{
    if (is_copy(sum, event->matrix))
        sum->copies++;
    else if (sc_trace_list_reserve(&sum->matrices, &sum->matrix_room, sum->matrix_count, 1, sizeof *sum->matrices))
        sum->matrices[sum->matrix_count++] = (struct matrix){.seen = *event, .live = true};
}

static void forget(struct summary *sum, const struct sc_event *event)
{
    struct matrix *m = matrix_numbered(sum, event->matrix);

    if (m)
        m->live = false;
    while (sum->first_live < sum->matrix_count && !sum->matrices[sum->first_live].live)
        sum->first_live++;
}

static void add_up(struct summary *sum, const struct sc_trace_reading *trace)
{
    for (size_t i = 0; i < trace->event_count && trace->events[i].kind != SC_EVENT_TIME; i++) {
        const struct sc_event *event = &trace->events[i];

        sc_staging_next(&sum->staging, event);
        switch (event->kind) {
        case SC_EVENT_CALL:
        case SC_EVENT_FREE: *cause_of(sum, event->thread) = 0; break;
        case SC_EVENT_ACQUIRE:
        case SC_EVENT_RELEASE:
        case SC_EVENT_HOME: *cause_of(sum, event->thread) = line_of(sum, 0); break;
        case SC_EVENT_FAULT: add_fault(sum, event); break;
        case SC_EVENT_STATE: add_state(sum, event); break;
        case SC_EVENT_TRANSFER: add_transfer(sum, event); break;
        case SC_EVENT_MATRIX: add_matrix(sum, event); break;
        case SC_EVENT_FORGET: forget(sum, event); break;
        }
    }
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static void put_routine(FILE *out, const struct sc_trace_sums *sums, struct sc_trace_text name, const char *if_none)
{
    fprintf(out, "%9" PRIu64 " %9" PRIu64 " %11.6f %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "  ", sums->calls_devices,
            sums->calls_host, sums->seconds_devices + sums->seconds_host, sums->bytes[SC_H2D], sums->bytes[SC_D2H],
            sums->bytes[SC_D2D]);
    sc_trace_put_text(out, name, if_none);
    putc('\n', out);
}

static void put_routines(FILE *out, const struct sc_trace_reading *trace)
{
    static struct sc_trace_totals totals;

    sc_trace_add_up(trace, &totals);
    fprintf(out, "\nroutines\n%9s %9s %11s %14s %14s %14s\n", "devices", "host", "seconds", "to devices", "to the host",
            "between");
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        const struct sc_trace_sums *s = &totals.routine[i];

        if (s->calls_devices || s->calls_host || s->transfers[SC_H2D] || s->transfers[SC_D2H] || s->transfers[SC_D2D])
            put_routine(out, s, i ? trace->routines[i] : (struct sc_trace_text){0}, "outside of calls");
    }
    put_routine(out, &totals.all, (struct sc_trace_text){0}, "all");
    fprintf(out, "%.6f seconds from the first call to the last event", totals.seconds);
    if (totals.virtual_seconds > 0)
        fprintf(out, "; %.6f virtual seconds", totals.virtual_seconds);
    putc('\n', out);
}

static int by_cost(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    uint64_t x = a->home + a->again, y = b->home + b->again;

    return x != y ? (x > y ? -1 : 1) : a->ip < b->ip ? -1 : a->ip > b->ip;
}

static void put_lines(FILE *out, struct summary *sum, const struct sc_trace_reading *trace,
                      const struct sc_trace_names *names)
{
    if (!sum->line_count)
        return;
    qsort(sum->lines, sum->line_count, sizeof *sum->lines, by_cost);
    fprintf(out, "\nwhere the CPU touched what devices had\n%9s %9s %14s %14s\n", "reads", "writes", "to the host",
            "uploaded again");
    for (size_t i = 0; i < sum->line_count && i < SHOWN; i++) {
        const struct line *line = &sum->lines[i];

        fprintf(out, "%9" PRIu64 " %9" PRIu64 " %14" PRIu64 " %14" PRIu64 "  ", line->reads, line->writes, line->home,
                line->again);
        if (line->ip)
            names->line(out, trace, line->ip);
        else
            fputs("system calls, fork, semcache_acquire", out);
        putc('\n', out);
    }
    if (sum->line_count > SHOWN)
        fprintf(out, "%zu more places\n", sum->line_count - SHOWN);
}

static uint64_t moved(const struct matrix *m) { return m->bytes[SC_H2D] + m->bytes[SC_D2H] + m->bytes[SC_D2D]; }

static int by_moved(const void *left, const void *right)
{
    const struct matrix *a = left, *b = right;

    if (moved(a) != moved(b))
        return moved(a) > moved(b) ? -1 : 1;
    return a->seen.matrix < b->seen.matrix ? -1 : a->seen.matrix > b->seen.matrix;
}

static void put_matrices(FILE *out, struct summary *sum, const struct sc_trace_reading *trace)
{
    if (!sum->matrix_count)
        return;
    qsort(sum->matrices, sum->matrix_count, sizeof *sum->matrices, by_moved);
    fprintf(out, "\nmatrices\n%9s %14s %14s %14s %14s %9s %9s  %s\n", "number", "bytes", "to devices", "to the host",
            "between", "reads", "writes", "rows x columns (of a vector: elements) at address, first used by");
    for (size_t i = 0; i < sum->matrix_count && i < SHOWN; i++) {
        const struct matrix *m = &sum->matrices[i];
        const struct sc_event *seen = &m->seen;

        fprintf(out, "%9" PRIu32 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %9" PRIu64 " %9" PRIu64 "  ",
                seen->matrix, seen->bytes, m->bytes[SC_H2D], m->bytes[SC_D2H], m->bytes[SC_D2D], m->reads, m->writes);
        if (seen->is_folded && seen->element_bytes)
            fprintf(out, "%" PRIu64 " at 0x%" PRIx64 ", ", seen->made.bytes / seen->element_bytes, seen->made.base);
        else
            fprintf(out, "%" PRId64 " x %" PRId64 " at 0x%" PRIx64 ", ", seen->made.rows, seen->made.cols,
                    seen->made.base);
        sc_trace_put_text(out, trace->routines[seen->routine < SC_TRACE_ROUTINES_MAX ? seen->routine : 0], "-");
        putc('\n', out);
    }
    if (sum->matrix_count > SHOWN)
        fprintf(out, "%zu more matrices, of which each moved less\n", sum->matrix_count - SHOWN);
}

static void put_copies(FILE *out, const struct summary *sum)
{
    if (sum->copies)
        fprintf(out, "\n%" PRIu64 " copies of operands that cannot be watched (on stacks, static, small), each for one"
                     " call:\n%" PRIu64 " bytes to devices, %" PRIu64 " to the host\n",
                sum->copies, sum->copied[SC_H2D], sum->copied[SC_D2H]);
}

static void drop(struct summary *sum)
{
    sc_staging_end(&sum->staging);
    for (int i = 0; i < BUCKETS; i++)
        for (struct tile *tile = sum->tiles[i], *next; tile; tile = next) {
            next = tile->next;
            free(tile);
        }
    free(sum->lines);
    free(sum->matrices);
    free(sum);
}

enum sc_status sc_trace_summary(const char *path, FILE *out, const struct sc_trace_names *names)
{
    struct sc_trace_reading trace;
    struct summary *sum = calloc(1, sizeof *sum);
    enum sc_status status = sum ? sc_trace_read(path, &trace) : SC_ERR_MEMORY;

    if (status == SC_OK) {
        names->prepare(&trace);
        add_up(sum, &trace);
        sc_trace_put_heading(out, &trace);
        put_routines(out, &trace);
        put_lines(out, sum, &trace, names);
        put_matrices(out, sum, &trace);
        put_copies(out, sum);
        sc_trace_put_ending(out, &trace);
        if (fflush(out) != 0 || ferror(out)) /* the caller that opened the stream reports the cause */
            status = SC_ERR_IO;
        sc_trace_read_end(&trace);
    }
    if (sum)
        drop(sum);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
