/* Two kinds of memory. A tracked block is one malloc, in the record and in the replay. Pages of untracked operands
 * are mapped once, in untracked memory. */
#include "tools/replay_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)
#define ADDRESSES (UINT64_C(1) << 47) /* address space of a process: larger numbers of a damaged file are ignored */

struct area {
    uint64_t base, bytes; /* there */
    char *here;
};

struct areas {
    struct area *list;
    size_t count, room;
};

static struct areas blocks;    /* live blocks, unsorted */
static struct areas untracked; /* by address, disjoint */
static const struct sc_event **solves; /* triangular operands of solves */
static size_t solve_count, solve_room;

static bool out_of_memory(uint64_t bytes)
{
    fprintf(stderr, "semcache trace replay: no memory for %llu bytes of the recorded program\n",
            (unsigned long long)bytes);
    return false;
}

static void *grown(void *list, size_t count, size_t *room, size_t each)
{
    void *larger = list;

    if (count == *room) {
        *room = *room ? 2 * *room : 64;
        larger = realloc(list, *room * each);
    }
    return larger;
}

static bool add(struct areas *areas, struct area area)
{
    struct area *larger = grown(areas->list, areas->count, &areas->room, sizeof *areas->list);

    if (!larger)
        return out_of_memory(sizeof *areas->list);
    areas->list = larger;
    larger[areas->count++] = area;
    return true;
}

static struct area *find(const struct areas *areas, uint64_t address)
{
    for (size_t i = 0; i < areas->count; i++)
        if (address - areas->list[i].base < areas->list[i].bytes)
            return &areas->list[i];
    return NULL;
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static enum sc_type type_of(const struct sc_event *operand)
{
    return operand->type < SC_TYPES ? (enum sc_type)operand->type : SC_D;
}

static uint64_t step_of(const struct sc_event *operand)
{
    int64_t step = operand->operand.step;

    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

/* Bytes from the first element to the last; 0: an empty or impossible operand. */
static uint64_t extent(const struct sc_event *operand)
{
    uint64_t rows = (uint64_t)operand->operand.rows, cols = (uint64_t)operand->operand.cols, bytes;

    if (!rows || !cols || (int64_t)rows < 0 || (int64_t)cols < 0 ||
        __builtin_mul_overflow(cols - 1, step_of(operand), &bytes) || __builtin_add_overflow(bytes, rows, &bytes) ||
        __builtin_mul_overflow(bytes, sc_type_bytes(type_of(operand)), &bytes) || bytes > ADDRESSES ||
        operand->operand.address > ADDRESSES)
        return 0;
    return bytes;
}

bool sc_replay_memory_can_be(const struct sc_event *operand)
{
    return !operand->operand.rows || !operand->operand.cols || extent(operand);
}

static uint64_t block_bytes(const struct sc_event *operand) { return operand->block_pages * PAGE; }

/* The block that contains all of an operand. */
static bool in_block(const struct sc_event *operand)
{
    uint64_t base = operand->operand.block, at = operand->operand.address - base, bytes = block_bytes(operand);

    return base && operand->operand.address >= base && at <= bytes && extent(operand) <= bytes - at;
}

static void put(void *at, enum sc_type type, double value)
{
    const float single[2] = {(float)value, 0};
    const double twice[2] = {value, 0};

    if (type == SC_S || type == SC_C)
        memcpy(at, single, sc_type_bytes(type));
    else
        memcpy(at, twice, sc_type_bytes(type));
}

/* Values so small that products and sums over the operand's longer side do not grow. */
static void fill(char *memory, uint64_t bytes, const struct sc_event *operand)
{
    size_t each = sc_type_bytes(type_of(operand));
    uint64_t longest = (uint64_t)(operand->operand.rows > operand->operand.cols ? operand->operand.rows
                                                                                : operand->operand.cols);

    for (uint64_t at = 0; at + each <= bytes; at += each)
        put(memory + at, type_of(operand), 1 / (double)(longest ? longest : 1));
}

/* Fills the elements only; the gaps between columns may be far larger. */
static void fill_columns(char *memory, const struct sc_event *operand)
{
    uint64_t each = sc_type_bytes(type_of(operand)), step = step_of(operand);

    for (uint64_t j = 0; j < (step ? (uint64_t)operand->operand.cols : 1); j++)
        fill(memory + j * step * each, (uint64_t)operand->operand.rows * each, operand);
}

static bool is_zero(const char *element, enum sc_type type)
{
    static const char zeros[16];

    return memcmp(element, zeros, sc_type_bytes(type)) == 0;
}

/* Makes diagonals larger than the sums of their rows: a solve keeps the size of numbers. */
static void dominate(const struct area *area)
{
    for (size_t i = 0; i < solve_count; i++) {
        const struct sc_event *a = solves[i];
        uint64_t bytes = extent(a), each = sc_type_bytes(type_of(a)), at = a->operand.address - area->base;

        if (!bytes || a->operand.address < area->base || at > area->bytes || bytes > area->bytes - at)
            continue;
        for (int64_t j = 0; j < a->operand.rows && j < a->operand.cols; j++)
            put(area->here + at + (uint64_t)j * (step_of(a) + 1) * each, type_of(a), 2);
    }
}

/* --- memory that was not tracked ---------------------------------------------------------------------------------- */

static int by_base(const void *left, const void *right)
{
    const struct area *a = left, *b = right;

    return a->base < b->base ? -1 : a->base > b->base;
}

/* Joins areas that touch or overlap. */
static void join(struct areas *areas)
{
    size_t kept = 0;

    if (!areas->count)
        return;
    qsort(areas->list, areas->count, sizeof *areas->list, by_base);
    for (size_t i = 1; i < areas->count; i++) {
        struct area *last = &areas->list[kept], *next = &areas->list[i];

        if (next->base > last->base + last->bytes)
            areas->list[++kept] = *next;
        else if (next->base + next->bytes > last->base + last->bytes)
            last->bytes = next->base + next->bytes - last->base;
    }
    areas->count = kept + 1;
}

static bool note_untracked(const struct sc_event *operand)
{
    uint64_t first = operand->operand.address, lo = first & ~(PAGE - 1);
    uint64_t hi = (first + extent(operand) + PAGE - 1) & ~(PAGE - 1);

    if (!extent(operand))
        return true;
    if (!add(&untracked, (struct area){.base = lo, .bytes = hi - lo}))
        return false;
    if (untracked.count == 4096 && untracked.count == untracked.room)
        join(&untracked); /* most operands repeat */
    return true;
}

static bool map_untracked(void)
{
    join(&untracked);
    for (size_t i = 0; i < untracked.count; i++) {
        struct area *area = &untracked.list[i];
        void *here = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (here == MAP_FAILED)
            return out_of_memory(area->bytes);
        area->here = here;
    }
    return true;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static bool is_solve(const struct sc_trace_reading *trace, const struct sc_event *operand)
{
    struct sc_trace_text name = operand->routine < SC_TRACE_ROUTINES_MAX ? trace->routines[operand->routine]
                                                                        : (struct sc_trace_text){0};

    return operand->operand.name == 'A' && name.bytes >= 5 &&
           (memcmp(name.at + 1, "trsv", 4) == 0 || memcmp(name.at + 1, "trsm", 4) == 0);
}

static bool note_solve(const struct sc_event *operand)
{
    const struct sc_event **larger = grown(solves, solve_count, &solve_room, sizeof *solves);

    if (!larger)
        return out_of_memory(sizeof *solves);
    solves = larger;
    if (!solve_count || memcmp(&solves[solve_count - 1]->operand, &operand->operand,
                               offsetof(struct sc_event_operand, block)) != 0)
        solves[solve_count++] = operand;
    return true;
}

bool sc_replay_memory_begin(const struct sc_trace_reading *trace)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct sc_event *event = &trace->events[i];

        if (event->kind != SC_EVENT_OPERAND)
            continue;
        if (!in_block(event) && !note_untracked(event))
            return false;
        if (is_solve(trace, event) && !note_solve(event))
            return false;
    }
    if (!map_untracked())
        return false;
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct sc_event *event = &trace->events[i];
        struct area *area = event->kind == SC_EVENT_OPERAND && !in_block(event) && extent(event)
                                ? find(&untracked, event->operand.address) : NULL;

        if (area && is_zero(area->here + (event->operand.address - area->base), type_of(event))) /* not filled yet */
            fill_columns(area->here + (event->operand.address - area->base), event);
    }
    for (size_t i = 0; i < untracked.count; i++)
        dominate(&untracked.list[i]);
    return true;
}

static void *new_block(const struct sc_event *operand)
{
    struct area area = {.base = operand->operand.block, .bytes = block_bytes(operand),
                        .here = malloc(block_bytes(operand))};

    if (!area.here) {
        out_of_memory(area.bytes);
        return NULL;
    }
    fill(area.here, area.bytes, operand);
    dominate(&area);
    if (!add(&blocks, area))
        return NULL;
    return area.here + (operand->operand.address - area.base);
}

void *sc_replay_memory_of(const struct sc_event *operand)
{
    struct area *area;

    if (!in_block(operand)) {
        static char nothing[64]; /* of an operand without elements */

        if (!extent(operand))
            return nothing;
        area = find(&untracked, operand->operand.address);
        return area && extent(operand) <= area->base + area->bytes - operand->operand.address
                   ? area->here + (operand->operand.address - area->base) : NULL;
    }
    area = find(&blocks, operand->operand.address);
    if (area && area->base == operand->operand.block && area->bytes == block_bytes(operand))
        return area->here + (operand->operand.address - area->base);
    /* The earlier memory at this address was freed without an event, because it was untracked. */
    sc_replay_memory_free(operand->operand.block, block_bytes(operand));
    return new_block(operand);
}

void *sc_replay_memory_at(uint64_t address, uint64_t *bytes)
{
    struct area *area = find(&blocks, address);

    if (!area)
        area = find(&untracked, address);
    if (!area)
        return NULL;
    if (*bytes > area->base + area->bytes - address)
        *bytes = area->base + area->bytes - address;
    return area->here + (address - area->base);
}

void sc_replay_memory_free(uint64_t address, uint64_t bytes)
{
    for (size_t i = blocks.count; i-- > 0;) {
        struct area *area = &blocks.list[i];
        uint64_t lo = area->base > address ? area->base : address, end = address + bytes;
        uint64_t hi = area->base + area->bytes < end ? area->base + area->bytes : end;

        if (lo >= hi)
            continue;
        if (hi - lo < area->bytes) { /* a part of the block was released, and reads as zeros from then on */
            madvise(area->here + (lo - area->base), hi - lo, MADV_DONTNEED);
            continue;
        }
        free(area->here);
        *area = blocks.list[--blocks.count];
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
