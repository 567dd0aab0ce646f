/* Matrices, tiles and pages as followed in a trace. A file is not trusted: impossible numbers are refused before any
 * computation with them (check.c: is_possible). */
#include "trace/check.h"

#include <stdlib.h>
#include <string.h>

#include "trace/list.h"

#define PAGE UINT64_C(4096)

/* --- matrices ----------------------------------------------------------------------------------------------------- */

static uint64_t end_of(const struct sc_check_matrix *matrix)
{
    return matrix->made->made.base + matrix->made->made.bytes;
}

/* The first live matrix with its end behind an address. */
static size_t live_behind(const struct sc_check_state *state, uint64_t address)
{
    size_t lo = 0, hi = state->live_count;

    while (lo < hi) {
        size_t middle = (lo + hi) / 2;

        if (end_of(sc_check_live(state, middle)) > address)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

size_t sc_check_matrices_at(const struct sc_check_state *state, uint64_t lo, uint64_t hi, size_t *first)
{
    size_t end = *first = live_behind(state, lo);

    while (end < state->live_count && sc_check_live(state, end)->made->made.base < hi)
        end++;
    return end - *first;
}

struct sc_check_matrix *sc_check_matrix_numbered(struct sc_check_state *state, uint32_t number)
{
    size_t lo = 0, hi = state->count;

    while (lo < hi) {
        size_t middle = (lo + hi) / 2;

        if (state->matrices[middle].made->matrix >= number)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo < state->count && state->matrices[lo].made->matrix == number ? &state->matrices[lo] : NULL;
}

bool sc_check_matrix_add(struct sc_check_state *state, const struct sc_event *event)
{
    size_t at = live_behind(state, event->made.base);

    if (!sc_trace_list_reserve(&state->matrices, &state->room, state->count, 1, sizeof *state->matrices) ||
        !sc_trace_list_reserve(&state->live, &state->live_room, state->live_count, 1, sizeof *state->live))
        return false;
    memmove(state->live + at + 1, state->live + at, (state->live_count++ - at) * sizeof *state->live);
    state->live[at] = (uint32_t)state->count;
    state->matrices[state->count++] = (struct sc_check_matrix){.made = event, .live = true};
    return true;
}

void sc_check_matrix_forget(struct sc_check_state *state, struct sc_check_matrix *matrix)
{
    size_t at = live_behind(state, matrix->made->made.base);

    memmove(state->live + at, state->live + at + 1, (--state->live_count - at) * sizeof *state->live);
    free(matrix->tiles);
    *matrix = (struct sc_check_matrix){.made = matrix->made};
}

bool sc_check_tile_add(struct sc_check_matrix *matrix, const struct sc_event *event)
{
    const struct sc_event_tile *laid = &event->laid;
    size_t room = matrix->room;

    if (!sc_trace_list_reserve(&matrix->tiles, &room, matrix->count, 1, sizeof *matrix->tiles))
        return false;
    matrix->room = (uint32_t)room;
    matrix->tiles[matrix->count++] = (struct sc_check_tile){
        .sectors = laid->sectors, .valid = {laid->sectors}, .has = {laid->sectors}, .base = laid->base,
        .column = laid->column_bytes, .columns = laid->columns, .step = laid->step, .width = laid->width,
        .end = end_of(matrix)};
    return true;
}

void sc_check_state_end(struct sc_check_state *state)
{
    for (size_t i = 0; i < state->count; i++)
        free(state->matrices[i].tiles);
    free(state->matrices);
    free(state->live);
    free(state->runs);
}

/* --- pages -------------------------------------------------------------------------------------------------------- */

/* The first run with its end behind an address. */
static size_t run_behind(const struct sc_check_state *state, uint64_t address)
{
    size_t lo = 0, hi = state->run_count;

    while (lo < hi) {
        size_t middle = (lo + hi) / 2;

        if (state->runs[middle].hi > address)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

/* Makes an address the border of two runs, if the address is inside a run. */
static bool split(struct sc_check_state *state, uint64_t address)
{
    size_t at = run_behind(state, address);

    if (at == state->run_count || state->runs[at].lo >= address)
        return true;
    if (!sc_trace_list_reserve(&state->runs, &state->run_room, state->run_count, 1, sizeof *state->runs))
        return false;
    memmove(state->runs + at + 1, state->runs + at, (state->run_count++ - at) * sizeof *state->runs);
    state->runs[at].hi = state->runs[at + 1].lo = address;
    return true;
}

bool sc_check_protect(struct sc_check_state *state, uint64_t lo, uint64_t hi, uint8_t prot)
{
    size_t first, end, more = prot != 0;

    if (!split(state, lo) || !split(state, hi) ||
        !sc_trace_list_reserve(&state->runs, &state->run_room, state->run_count, 1, sizeof *state->runs))
        return false;
    first = run_behind(state, lo);
    for (end = first; end < state->run_count && state->runs[end].lo < hi; end++)
        ;
    /* Runs of equal protection are joined, so the number of runs is at most the number of the process's mappings. */
    if (more && first > 0 && state->runs[first - 1].hi == lo && state->runs[first - 1].prot == prot)
        lo = state->runs[--first].lo;
    if (more && end < state->run_count && state->runs[end].lo == hi && state->runs[end].prot == prot)
        hi = state->runs[end++].hi;
    memmove(state->runs + first + more, state->runs + end, (state->run_count - end) * sizeof *state->runs);
    state->run_count = state->run_count - (end - first) + more;
    if (more)
        state->runs[first] = (struct sc_check_run){lo, hi, prot};
    return true;
}

/* --- sectors ------------------------------------------------------------------------------------------------------ */

/* Columns [first, *end) of the tile with a byte in [lo, hi). */
static uint64_t columns_at(const struct sc_check_tile *tile, uint64_t lo, uint64_t hi, uint64_t *end)
{
    uint64_t first = lo <= tile->base ? 0 : (lo - tile->base) / tile->step;

    if (lo > tile->base && (lo - tile->base) % tile->step >= tile->column)
        first++; /* `lo` lies in the gap behind the column */
    *end = hi <= tile->base ? 0 : (hi - 1 - tile->base) / tile->step + 1;
    *end = *end < tile->columns ? *end : tile->columns;
    return first;
}

uint64_t sc_check_sectors_at(const struct sc_check_tile *tile, uint64_t sectors, uint64_t lo, uint64_t hi)
{
    uint64_t end, first = columns_at(tile, lo, hi < tile->end ? hi : tile->end, &end), a, b;

    if (first >= end)
        return 0;
    a = first / tile->width;
    b = (end - 1) / tile->width; /* <= 63: checked when the tile was added */
    return sectors & (~UINT64_C(0) << a) & (~UINT64_C(0) >> (63 - b));
}

uint64_t sc_check_sectors_below(const struct sc_check_state *state, const struct sc_check_tile *tile, uint64_t sectors,
                                uint8_t prot)
{
    uint64_t lo = tile->base & ~(PAGE - 1), last = tile->base + (tile->columns - 1) * tile->step + tile->column;
    uint64_t below = 0;

    last = last < tile->end ? last : tile->end;
    for (size_t i = run_behind(state, lo); lo < last; i++) {
        bool run = i < state->run_count && state->runs[i].lo < last;
        uint64_t next = run ? state->runs[i].lo : last;

        if (lo < next) /* between runs: all access */
            below |= sc_check_sectors_at(tile, sectors, lo, next);
        if (!run)
            break;
        if (state->runs[i].prot < prot)
            below |= sc_check_sectors_at(tile, sectors, lo > next ? lo : next, state->runs[i].hi);
        lo = state->runs[i].hi;
    }
    return below;
}
/* SPDX-License-Identifier: BSD-2-Clause */
