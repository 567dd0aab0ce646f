/* For trace_cost.t: functions whose inclusive cost under callgrind is the cost of CALLS notes, or of the reading of
 * BLOCKS blocks of events.  Prints the number of events of a file. */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/config.h"
#include "trace/read.h"
#include "trace/store.h"
#include "trace/trace.h"

enum { CALLS = 1000, BLOCKS = 16, DEPTH = 10, BYTES = 1 << 20 };

static volatile int depth;

/* DEPTH functions lie between the loop and the note. */
static __attribute__((noipa)) void note(int level)
{
    if (level)
        note(level - 1);
    else
        sc_trace_allocated(BYTES, BYTES);
    depth = level; /* no tail call */
}

static __attribute__((noipa)) void place(int level)
{
    if (level)
        place(level - 1);
    else
        sc_trace_site = sc_trace_site_here();
    depth = level;
}

static __attribute__((noipa)) void cost_notes(void)
{
    for (int i = 0; i < CALLS / 2; i++) {
        note(DEPTH); /* two places, in turns */
        note(DEPTH);
    }
}

static __attribute__((noipa)) void cost_places(void)
{
    for (int i = 0; i < CALLS; i++)
        place(DEPTH);
}

static __attribute__((noipa)) void cost_events(void)
{
    for (int i = 0; i < CALLS; i++)
        sc_trace(.kind = SC_EVENT_STATE, .matrix = 1, .tile = (uint32_t)i, .sectors = 1);
}

/* Sets the times of all events as if BLOCKS threads had written the blocks in turns. */
static bool interleave(const char *path)
{
    int fd = open(path, O_RDWR);
    struct sc_trace_header header;
    struct sc_trace_block_head head;
    uint64_t threads = 0;
    bool good = fd >= 0 && read(fd, &header, sizeof header) == (ssize_t)sizeof header;

    for (off_t at = good ? header.header_bytes : 0; good && pread(fd, &head, sizeof head, at) == (ssize_t)sizeof head;
         at += header.block_bytes) {
        for (uint64_t i = 0; good && head.kind == SC_BLOCK_EVENTS && i < head.count; i++) {
            uint64_t time = i * BLOCKS + threads;

            good = pwrite(fd, &time, sizeof time, at + (off_t)(sizeof head + i * header.event_bytes)) == sizeof time;
        }
        threads += head.kind == SC_BLOCK_EVENTS;
    }
    close(fd);
    return good && threads == BLOCKS;
}

static __attribute__((noipa)) size_t cost_read(const char *path)
{
    struct sc_trace_reading trace;
    size_t count = 0;

    if (sc_trace_read(path, &trace) != SC_OK)
        return 0;
    for (count = 0; count < trace.event_count && trace.events[count].nanoseconds == count; count++)
        ;
    count = count == trace.event_count ? count : 0;
    sc_trace_read_end(&trace);
    return count;
}

int main(void)
{
    const char *path = getenv("TRACE_COST_FILE");
    size_t count;

    sc_config.trace_limit = 0;
    if (!path || sc_trace_start(path) != SC_OK)
        return 77;
    cost_notes();
    cost_places();
    cost_events();
    sc_trace_stop();
    if (sc_trace_start(path) != SC_OK)
        return 77;
    for (uint32_t i = 0; i < BLOCKS * SC_TRACE_BLOCK_EVENTS; i++)
        sc_trace(.kind = SC_EVENT_STATE, .matrix = 1, .tile = i, .sectors = 1);
    sc_trace_stop();
    count = interleave(path) ? cost_read(path) : 0;
    printf("events %zu\n", count);
    return count != BLOCKS * SC_TRACE_BLOCK_EVENTS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
