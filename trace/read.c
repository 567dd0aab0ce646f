/* Reads a trace file. The file is not trusted (rule T7): all lengths are checked against the size of the file. */
#include "trace/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "trace/list.h"

#define LEAST_BLOCK 256 /* bytes; writers use SC_TRACE_BLOCK_BYTES */

static void read_routine(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    struct sc_trace_name_head head;

    if (bytes < sizeof head)
        return;
    memcpy(&head, payload, sizeof head);
    if (head.routine < SC_TRACE_ROUTINES_MAX)
        trace->routines[head.routine] = (struct sc_trace_text){payload + sizeof head, bytes - sizeof head};
}

static bool read_module(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    struct sc_trace_module *module;

    if (bytes < sizeof module->head)
        return true;
    if (!sc_trace_list_reserve(&trace->modules, &trace->module_room, trace->module_count, 1, sizeof *module))
        return false;
    module = &trace->modules[trace->module_count++];
    memcpy(&module->head, payload, sizeof module->head);
    module->path = (struct sc_trace_text){payload + sizeof module->head, bytes - sizeof module->head};
    return true;
}

static bool read_chain(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    struct sc_trace_chain chain = {.words = payload + sizeof chain.head};
    size_t words;

    if (bytes < sizeof chain.head)
        return true;
    memcpy(&chain.head, payload, sizeof chain.head);
    words = (size_t)chain.head.frames + chain.head.registers;
    if (words > (bytes - sizeof chain.head) / 8 || (chain.head.registers && chain.head.registers != SC_TRACE_REGISTERS))
        return true;
    if (!sc_trace_list_reserve(&trace->chains, &trace->chain_room, trace->chain_count, 1, sizeof chain))
        return false;
    chain.stack = chain.words + 8 * words;
    chain.stack_bytes = bytes - sizeof chain.head - 8 * words;
    trace->chains[trace->chain_count++] = chain;
    return true;
}

static bool read_python(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    struct sc_trace_python line;
    const char *text = payload + sizeof line.head, *zero;

    if (bytes < sizeof line.head)
        return true;
    bytes -= sizeof line.head;
    memcpy(&line.head, payload, sizeof line.head);
    zero = memchr(text, '\0', bytes);
    if (!zero)
        return true;
    if (!sc_trace_list_reserve(&trace->python, &trace->python_room, trace->python_count, 1, sizeof line))
        return false;
    line.file = (struct sc_trace_text){text, (size_t)(zero - text)};
    line.function = (struct sc_trace_text){zero + 1, bytes - line.file.bytes - 1};
    trace->python[trace->python_count++] = line;
    return true;
}

static bool read_setting(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    if (!sc_trace_list_reserve(&trace->settings, &trace->setting_room, trace->setting_count, 1,
                               sizeof *trace->settings))
        return false;
    trace->settings[trace->setting_count++] = (struct sc_trace_text){payload, bytes};
    return true;
}

static bool read_record(struct sc_trace_reading *trace, uint32_t kind, const char *payload, size_t bytes)
{
    switch (kind) {
    case SC_RECORD_ROUTINE:
        read_routine(trace, payload, bytes);
        return true;
    case SC_RECORD_MODULE:
        return read_module(trace, payload, bytes);
    case SC_RECORD_SETTING:
        return read_setting(trace, payload, bytes);
    case SC_RECORD_CHAIN:
        return read_chain(trace, payload, bytes);
    case SC_RECORD_PYTHON:
        return read_python(trace, payload, bytes);
    }
    return true; /* unknown kind, of a later version: skipped */
}

static bool read_records(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    struct sc_trace_record record;

    for (size_t at = 0; bytes - at >= sizeof record;) {
        memcpy(&record, payload + at, sizeof record);
        at += sizeof record;
        if (record.bytes > bytes - at)
            break;
        if (!read_record(trace, record.kind, payload + at, record.bytes))
            return false;
        at += (record.bytes + 7) & ~(size_t)7;
        if (at > bytes)
            break;
    }
    return true;
}

struct block {
    uint64_t sequence;
    const char *payload;
    size_t room; /* bytes of payload inside the file */
    uint32_t kind, count;
};

static int by_sequence(const void *left, const void *right)
{
    const struct block *a = left, *b = right;

    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->payload < b->payload ? -1 : a->payload > b->payload;
}

/* Lists the blocks of the file in the caller's array. The last block may be cut off. */
static size_t find_blocks(const struct sc_trace_reading *trace, struct block *blocks)
{
    struct sc_trace_block_head head;
    size_t count = 0;

    for (size_t at = trace->header.header_bytes; at < trace->size && trace->size - at > sizeof head;
         at += trace->header.block_bytes) {
        size_t left = trace->size - at < trace->header.block_bytes ? trace->size - at : trace->header.block_bytes;

        memcpy(&head, trace->bytes + at, sizeof head);
        if (head.magic == SC_TRACE_BLOCK_MAGIC)
            blocks[count++] = (struct block){head.sequence, trace->bytes + at + sizeof head, left - sizeof head,
                                             head.kind, head.count};
    }
    qsort(blocks, count, sizeof *blocks, by_sequence);
    return count;
}

static size_t events_of(const struct block *block)
{
    size_t room = block->room / sizeof(struct sc_event);

    return block->kind != SC_BLOCK_EVENTS ? 0 : block->count < room ? block->count : room;
}

static bool read_block(struct sc_trace_reading *trace, const struct block *block)
{
    return block->kind != SC_BLOCK_RECORDS ||
           read_records(trace, block->payload, block->count < block->room ? block->count : block->room);
}

/* --- order by time ------------------------------------------------------------------------------------------------ */

/* Neighbours in a block of the file, in the order of their times. `rank` orders events of the same nanosecond: the
 * events of a thread keep their order, and a group stays together. */
struct stretch {
    uint64_t nanoseconds; /* of *next */
    const struct sc_event *next, *end;
    size_t rank;
};

struct stretches {
    struct stretch *list;
    size_t count, room;
};

/* Blocks are damaged or written by threads whose clocks disagree if a block has several stretches. */
static bool add_stretches(struct stretches *s, const struct block *block)
{
    const struct sc_event *at = (const struct sc_event *)block->payload, *end = at + events_of(block), *from;

    while (at < end) {
        for (from = at++; at < end && at[-1].nanoseconds <= at->nanoseconds; at++)
            ;
        if (!sc_trace_list_reserve(&s->list, &s->room, s->count, 1, sizeof *s->list))
            return false;
        s->list[s->count] = (struct stretch){from->nanoseconds, from, at, s->count};
        s->count++;
    }
    return true;
}

static bool is_before(const struct stretch *a, const struct stretch *b)
{
    return a->nanoseconds != b->nanoseconds ? a->nanoseconds < b->nanoseconds : a->rank < b->rank;
}

/* Restores the heap below `at`: no element is before the element above. */
static void sink(struct stretches *heap, size_t at)
{
    struct stretch sinking = heap->list[at];

    for (size_t below = 2 * at + 1; below < heap->count; below = 2 * at + 1) {
        below += below + 1 < heap->count && is_before(&heap->list[below + 1], &heap->list[below]);
        if (!is_before(&heap->list[below], &sinking))
            break;
        heap->list[at] = heap->list[below];
        at = below;
    }
    heap->list[at] = sinking;
}

/* Merges all stretches, and empties the list. */
static void merge(struct stretches *heap, struct sc_event *to)
{
    for (size_t at = heap->count / 2; at-- > 0;)
        sink(heap, at);
    while (heap->count) {
        struct stretch *first = heap->list;

        *to++ = *first->next++;
        if (first->next < first->end)
            first->nanoseconds = first->next->nanoseconds;
        else
            *first = heap->list[--heap->count];
        sink(heap, 0);
    }
}

/* In huge pages where the system has these: most of the time would go into page faults. */
static bool map_events(struct sc_trace_reading *trace)
{
    void *at = mmap(NULL, trace->event_count * sizeof *trace->events, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return false;
    madvise(at, trace->event_count * sizeof *trace->events, MADV_HUGEPAGE);
    trace->events = at;
    return true;
}

static bool read_events(struct sc_trace_reading *trace, const struct block *blocks, size_t count)
{
    struct stretches stretches = {NULL, 0, 0};
    bool good = true;

    for (size_t i = 0; i < count; i++)
        trace->event_count += events_of(&blocks[i]);
    if (!trace->event_count)
        return true;
    for (size_t i = 0; good && i < count; i++)
        good = add_stretches(&stretches, &blocks[i]);
    good = good && map_events(trace);
    if (good)
        merge(&stretches, trace->events);
    free(stretches.list);
    return good;
}

static bool read_blocks(struct sc_trace_reading *trace)
{
    struct block *blocks = malloc((trace->size / trace->header.block_bytes + 1) * sizeof *blocks);
    size_t count = blocks ? find_blocks(trace, blocks) : 0;
    bool good = blocks != NULL;

    for (size_t i = 0; good && i < count; i++)
        good = read_block(trace, &blocks[i]);
    good = good && read_events(trace, blocks, count);
    free(blocks);
    return good;
}

static const char *header_problem(struct sc_trace_reading *trace)
{
    struct sc_trace_header *header = &trace->header;

    if (trace->size < sizeof *header)
        return "it is too short for a trace";
    memcpy(header, trace->bytes, sizeof *header);
    if (memcmp(header->magic, SC_TRACE_MAGIC, sizeof header->magic) != 0)
        return "it is not a semcache trace";
    if (header->byte_order != SC_TRACE_BYTE_ORDER)
        return "it was written by a machine of the other byte order";
    if (header->version != SC_TRACE_VERSION || header->event_bytes != sizeof(struct sc_event))
        return "it was written by another version of semcache (record it again, or use that version)";
    if (header->header_bytes < sizeof *header || header->header_bytes % 8 ||
        header->block_bytes < LEAST_BLOCK || header->block_bytes % 8)
        return "its header is damaged";
    return NULL;
}

static enum sc_status map_file(struct sc_trace_reading *trace, const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *problem = NULL;

    if (fd < 0 && errno == ENOENT) {
        problem = "there is no such file (without devices or large calls a program writes no trace)";
    } else if (fd < 0 || fstat(fd, &about) != 0) {
        problem = strerror(errno);
    } else if (!S_ISREG(about.st_mode)) {
        problem = "it is not a regular file";
    } else if (about.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (bytes == MAP_FAILED)
            problem = strerror(errno);
        else
            *trace = (struct sc_trace_reading){.bytes = bytes, .size = (size_t)about.st_size};
    }
    if (fd >= 0)
        close(fd);
    if (!problem)
        problem = header_problem(trace);
    if (!problem)
        return SC_OK;
    sc_log(SC_LOG_ERROR, "cannot read %s: %s", path, problem);
    return SC_ERR_IO;
}

enum sc_status sc_trace_read(const char *path, struct sc_trace_reading *trace)
{
    enum sc_status status;

    *trace = (struct sc_trace_reading){0};
    status = map_file(trace, path);
    if (status == SC_OK && !read_blocks(trace)) {
        sc_log(SC_LOG_ERROR, "no memory to read %s", path);
        status = SC_ERR_MEMORY;
    }
    if (status != SC_OK)
        sc_trace_read_end(trace);
    return status;
}

void sc_trace_read_end(struct sc_trace_reading *trace)
{
    if (trace->events)
        munmap(trace->events, trace->event_count * sizeof *trace->events);
    free(trace->modules);
    free(trace->settings);
    free(trace->chains);
    free(trace->python);
    if (trace->bytes)
        munmap((void *)trace->bytes, trace->size);
    *trace = (struct sc_trace_reading){0};
}

int sc_trace_group(const struct sc_trace_reading *trace, const struct sc_event *call)
{
    const struct sc_event *end = trace->events + trace->event_count;
    uint32_t n = 0;

    while (n < call->following && n + 1 < SC_TRACE_GROUP_MAX && call + 1 + n < end &&
           (call[1 + n].kind == SC_EVENT_SCALARS || call[1 + n].kind == SC_EVENT_OPERAND))
        n++;
    return n == call->following ? (int)n : -1;
}

bool sc_trace_is_lapack(const struct sc_event *call) { return sc_trace_id_is_lapack(call->routine); }

const struct sc_trace_module *sc_trace_module_of(const struct sc_trace_reading *trace, uint64_t ip)
{
    for (size_t i = trace->module_count; i-- > 0;) /* later records first: the end repeats the table */
        if (ip >= trace->modules[i].head.start && ip < trace->modules[i].head.end)
            return &trace->modules[i];
    return NULL;
}

const struct sc_trace_python *sc_trace_python_of(const struct sc_trace_reading *trace, uint64_t word)
{
    for (size_t i = 0; word >= SC_TRACE_PYTHON && i < trace->python_count; i++)
        if (trace->python[i].head.frame == word)
            return &trace->python[i];
    return NULL;
}

uint64_t sc_trace_chain_word(const struct sc_trace_chain *chain, size_t i)
{
    uint64_t word;

    memcpy(&word, chain->words + i * sizeof word, sizeof word);
    return word;
}

uint64_t *sc_trace_chain_field(struct sc_event *event)
{
    switch (event->kind) {
    case SC_EVENT_SITE: return &event->site.chain;
    case SC_EVENT_FAULT: return &event->touch.chain;
    case SC_EVENT_ACQUIRE:
    case SC_EVENT_ALLOC: return &event->range.chain;
    }
    return NULL;
}

uint64_t *sc_trace_line_field(struct sc_event *event)
{
    switch (event->kind) {
    case SC_EVENT_SITE: return &event->site.program;
    case SC_EVENT_FAULT: return &event->touch.line;
    }
    return &event->range.ip;
}

void sc_trace_put_text(FILE *out, struct sc_trace_text text, const char *if_none)
{
    if (!text.bytes)
        fputs(if_none, out);
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.at[i];

        putc(c > ' ' && c < 0x7f ? c : '?', out);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
