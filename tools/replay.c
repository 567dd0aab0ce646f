/* Repeats a recorded program. The replay is an ordinary program without an object of the library: `semcache trace
 * replay' starts it with the library preloaded. One thread makes all calls and touches, in the order of time. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/page.h"
#include "blas/verify/replay.h"
#include "semcache/semcache.h"
#include "tools/replay_memory.h"

#define PAUSE_MAX 10000000u /* nanoseconds */

static const char *const tool = "semcache trace replay";

/* The library's function, if the library is loaded. */
static struct {
    enum semcache_status (*acquire)(const void *memory, size_t bytes, enum semcache_mode mode);
    enum semcache_status (*sync)(const void *memory, size_t bytes);
    enum semcache_status (*invalidate)(const void *memory, size_t bytes);
    enum semcache_status (*prefetch)(const void *memory, int64_t rows, int64_t cols, int64_t ld,
                                     enum semcache_type type, int device);
    int (*device_count)(void);
} library;

static struct {
    unsigned long long calls, lapack, tasks, accesses; /* that could not be repeated */
} missed;

static bool find_library(void)
{
#define FIND(name) *(void **)&library.name = dlsym(RTLD_DEFAULT, "semcache_" #name)
    FIND(acquire);
    FIND(sync);
    FIND(invalidate);
    FIND(prefetch);
    FIND(device_count);
#undef FIND
    return library.acquire && library.sync && library.invalidate && library.prefetch && library.device_count;
}

struct name {
    char text[64];
};

static struct name routine_of(const struct sc_trace_reading *trace, const struct sc_event *event)
{
    struct sc_trace_text text = {"", 0};
    struct name name;

    if (event->routine < SC_TRACE_ROUTINES_MAX && trace->routines[event->routine].at)
        text = trace->routines[event->routine];
    snprintf(name.text, sizeof name.text, "%.*s", (int)(text.bytes < sizeof name ? text.bytes : sizeof name), text.at);
    return name;
}

static bool is_good(const struct sc_trace_reading *trace, const struct sc_event *call, int count)
{
    if (count < 0 || (!sc_trace_is_lapack(call) && !sc_blas_replayable(routine_of(trace, call).text, call, count)))
        return false;
    for (int i = 1; i <= count; i++)
        if (call[i].kind == SC_EVENT_OPERAND && !sc_replay_memory_can_be(&call[i]))
            return false;
    return true;
}

/* A damaged file may contain anything. Calls that do not agree with their operands, and operands without a call, are
 * left out. */
static void drop_damaged(struct sc_trace_reading *trace)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        struct sc_event *event = &trace->events[i];
        int count = event->kind == SC_EVENT_CALL ? sc_trace_group(trace, event) : 0;

        if (event->kind == SC_EVENT_CALL && is_good(trace, event, count)) {
            i += (size_t)count;
        } else if (event->kind == SC_EVENT_CALL || event->kind == SC_EVENT_OPERAND) {
            missed.calls += event->kind == SC_EVENT_CALL;
            event->kind = 0;
        }
    }
}

/* A call of LAPACK gets the memory of its operands, which later calls and accesses use, and is not made. False: no
 * memory. */
static bool call(const struct sc_trace_reading *trace, const struct sc_event *event)
{
    int count = sc_trace_group(trace, event), operands = 0;
    void *memory[SC_TRACE_GROUP_MAX];

    for (int i = 1; i <= count; i++)
        if (event[i].kind == SC_EVENT_OPERAND && !(memory[operands++] = sc_replay_memory_of(&event[i])))
            return false;
    if (sc_trace_is_lapack(event))
        missed.lapack++;
    else if (!sc_blas_replay(routine_of(trace, event).text, event, count, memory))
        missed.calls++;
    return true;
}

/* Waits as long as the program took until its next event, with a small limit: reading ahead in that time is part of
 * the record. */
static void pause_as(const struct sc_event *event, const struct sc_event *next)
{
    uint64_t gap = next->nanoseconds - event->nanoseconds;
    struct timespec wait = {.tv_nsec = (long)(gap < PAUSE_MAX ? gap : PAUSE_MAX)};

    nanosleep(&wait, NULL);
}

static void touch(const struct sc_event *event)
{
    uint64_t bytes = 1;
    volatile char *byte = sc_replay_memory_at(event->touch.address, &bytes);

    if (!byte)
        missed.accesses++;
    else if (event->access & SC_WRITE)
        __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED); /* writes the same value */
    else
        (void)*byte;
}

/* What a write opened in the record counts there as written, and is written here: this run's window may be smaller. */
static void write_pages(const struct sc_event *event)
{
    for (uint64_t at = 0; at < event->range.bytes; at += SC_PAGE) {
        uint64_t bytes = 1;
        volatile char *byte = sc_replay_memory_at(event->range.address + at, &bytes);

        if (byte)
            __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
    }
}

static void ask(const struct sc_event *event)
{
    uint64_t bytes = event->range.bytes;
    void *memory = sc_replay_memory_at(event->range.address, &bytes);

    if (!memory)
        missed.accesses++;
    else if (event->kind == SC_EVENT_RELEASE)
        library.invalidate(memory, bytes);
    else
        library.acquire(memory, bytes, (enum semcache_mode)(event->access & SC_RDWR));
}

static void prefetch(const struct sc_event *event)
{
    void *memory = sc_replay_memory_can_be(event) ? sc_replay_memory_of(event) : NULL;

    if (!memory || event->type >= SC_TYPES)
        missed.accesses++;
    else
        library.prefetch(memory, event->operand.rows, event->operand.cols, event->operand.step,
                         (enum semcache_type)event->type,
                         event->device < library.device_count() ? event->device : SEMCACHE_ANY_DEVICE);
}

static bool repeat(const struct sc_trace_reading *trace, const struct sc_event *event)
{
    switch (event->kind) {
    case SC_EVENT_CALL: return call(trace, event);
    case SC_EVENT_FAULT: touch(event); break;
    case SC_EVENT_ACQUIRE:
    case SC_EVENT_RELEASE: ask(event); break;
    case SC_EVENT_HOME: library.sync(NULL, 0); break;
    case SC_EVENT_PREFETCH: prefetch(event); break;
    case SC_EVENT_FREE: sc_replay_memory_free(event->range.address, event->range.bytes); break;
    }
    return true;
}

static int by_block(const void *left, const void *right)
{
    const struct sc_event *a = *(const struct sc_event *const *)left, *b = *(const struct sc_event *const *)right;

    if (a->operand.block != b->operand.block)
        return a->operand.block < b->operand.block ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Memory from before the first free is allocated and filled before the first call, in the order of addresses, so
 * that neighbours stay neighbours. */
static bool prepare(const struct sc_trace_reading *trace)
{
    const struct sc_event **operands = malloc((trace->event_count + 1) * sizeof *operands);
    size_t count = 0;
    bool good = operands && sc_replay_memory_begin(trace);

    for (size_t i = 0; good && i < trace->event_count && trace->events[i].kind != SC_EVENT_FREE; i++)
        if (trace->events[i].kind == SC_EVENT_OPERAND)
            operands[count++] = &trace->events[i];
    if (good)
        qsort(operands, count, sizeof *operands, by_block);
    for (size_t i = 0; good && i < count; i++)
        good = sc_replay_memory_of(operands[i]) != NULL;
    free(operands);
    return good;
}

static bool is_of_library(const struct sc_event *event)
{
    return event->kind == SC_EVENT_STATE || event->kind == SC_EVENT_TRANSFER || event->kind == SC_EVENT_PROTECT;
}

/* The next event of the program, or its end; events of the library (transfers, states) are skipped. */
static const struct sc_event *next_of_program(const struct sc_trace_reading *trace, size_t i)
{
    while (++i + 1 < trace->event_count && is_of_library(&trace->events[i]))
        ;
    return &trace->events[i];
}

static bool play(struct sc_trace_reading *trace)
{
    bool written = false; /* the program's last event was a write fault */

    drop_damaged(trace);
    if (!prepare(trace))
        return false;
    for (size_t i = 0; i < trace->event_count && trace->events[i].kind != SC_EVENT_TIME; i++) {
        if (!repeat(trace, &trace->events[i]))
            return false;
        missed.tasks += trace->events[i].kind == SC_EVENT_KERNEL && trace->events[i].op == SC_OP_OWN;
        if (!is_of_library(&trace->events[i]))
            written = trace->events[i].kind == SC_EVENT_FAULT && trace->events[i].access & SC_WRITE;
        else if (written && trace->events[i].kind == SC_EVENT_PROTECT && !trace->events[i].protection)
            write_pages(&trace->events[i]);
        if (trace->events[i].kind == SC_EVENT_FAULT && i + 1 < trace->event_count)
            pause_as(&trace->events[i], next_of_program(trace, i));
    }
    if (missed.lapack)
        fprintf(stderr, "%s: %llu calls of LAPACK were left out: only calls of the BLAS are repeated\n", tool,
                missed.lapack);
    if (missed.tasks)
        fprintf(stderr, "%s: %llu tasks of the program were left out: a trace has no functions\n", tool,
                missed.tasks);
    if (missed.calls)
        fprintf(stderr, "%s: %llu calls were left out: there is no such routine, or the file is damaged\n", tool,
                missed.calls);
    if (missed.accesses)
        fprintf(stderr, "%s: %llu accesses to memory of no call were left out\n", tool, missed.accesses);
    return true;
}

int main(int argc, char **argv)
{
    struct sc_trace_reading trace;
    bool good;

    if (argc != 2) {
        fprintf(stderr, "usage: semcache trace replay FILE\n");
        return 2;
    }
    if (!find_library()) {
        fprintf(stderr, "%s: the library is not loaded\n", tool);
        return EXIT_FAILURE;
    }
    if (sc_trace_read(argv[1], &trace) != SC_OK)
        return EXIT_FAILURE;
    good = play(&trace);
    sc_trace_read_end(&trace);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
/* SPDX-License-Identifier: BSD-2-Clause */
