/* Reads a trace file.  Nothing in it is trusted (rule T7): all lengths are checked against what is really there. */
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

static bool read_events(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    size_t count = bytes / sizeof(struct sc_event);

    if (!sc_trace_list_reserve(&trace->events, &trace->event_room, trace->event_count, count, sizeof *trace->events))
        return false;
    memcpy(trace->events + trace->event_count, payload, count * sizeof *trace->events);
    trace->event_count += count;
    return true;
}

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

static bool read_setting(struct sc_trace_reading *trace, const char *payload, size_t bytes)
{
    if (!sc_trace_list_reserve(&trace->settings, &trace->setting_room, trace->setting_count, 1,
                               sizeof *trace->settings))
        return false;
    trace->settings[trace->setting_count++] = (struct sc_trace_text){payload, bytes};
    return true;
}

static bool read_chunk(struct sc_trace_reading *trace, uint32_t kind, const char *payload, size_t bytes)
{
    switch (kind) {
    case SC_CHUNK_EVENTS:
        return read_events(trace, payload, bytes);
    case SC_CHUNK_ROUTINE:
        read_routine(trace, payload, bytes);
        return true;
    case SC_CHUNK_MODULE:
        return read_module(trace, payload, bytes);
    case SC_CHUNK_SETTING:
        return read_setting(trace, payload, bytes);
    case SC_CHUNK_END:
        if (bytes >= sizeof trace->end) {
            memcpy(&trace->end, payload, sizeof trace->end);
            trace->ended = true;
        }
        return true;
    }
    return true; /* of a later minor revision: skipped */
}

static bool read_chunks(struct sc_trace_reading *trace)
{
    size_t at = trace->header.header_bytes;

    while (trace->size - at >= sizeof(struct sc_trace_chunk)) {
        struct sc_trace_chunk chunk;
        size_t left;

        memcpy(&chunk, trace->bytes + at, sizeof chunk);
        at += sizeof chunk;
        left = trace->size - at;
        /* The last chunk of a program that was killed may be cut off: what is there of it counts. */
        if (!read_chunk(trace, chunk.kind, trace->bytes + at, chunk.bytes < left ? (size_t)chunk.bytes : left))
            return false;
        if (chunk.bytes >= left)
            break;
        at += (size_t)chunk.bytes;
        at += (8 - chunk.bytes % 8) % 8;
        if (at > trace->size)
            break;
    }
    return true;
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
    if (header->header_bytes != sizeof *header)
        return "its header is damaged";
    return NULL;
}

static enum sc_status map_file(struct sc_trace_reading *trace, const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *problem = NULL;

    if (fd < 0 || fstat(fd, &about) != 0) {
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

/* By time; events of the same nanosecond as they stand in the file, in which a thread's are in order. */
static int compare_events(const void *left, const void *right)
{
    const struct sc_event *a = *(const struct sc_event *const *)left, *b = *(const struct sc_event *const *)right;

    if (a->nanoseconds != b->nanoseconds)
        return a->nanoseconds < b->nanoseconds ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool sort_events(struct sc_trace_reading *trace)
{
    trace->order = malloc((trace->event_count + 1) * sizeof *trace->order);
    if (!trace->order)
        return false;
    for (size_t i = 0; i < trace->event_count; i++)
        trace->order[i] = &trace->events[i];
    qsort(trace->order, trace->event_count, sizeof *trace->order, compare_events);
    return true;
}

enum sc_status sc_trace_read(const char *path, struct sc_trace_reading *trace)
{
    enum sc_status status;

    *trace = (struct sc_trace_reading){0};
    status = map_file(trace, path);
    if (status == SC_OK && (!read_chunks(trace) || !sort_events(trace))) {
        sc_log(SC_LOG_ERROR, "no memory to read %s", path);
        status = SC_ERR_MEMORY;
    }
    if (status != SC_OK)
        sc_trace_read_end(trace);
    return status;
}

void sc_trace_read_end(struct sc_trace_reading *trace)
{
    free(trace->order);
    free(trace->events);
    free(trace->modules);
    free(trace->settings);
    if (trace->bytes)
        munmap((void *)trace->bytes, trace->size);
    *trace = (struct sc_trace_reading){0};
}

int sc_trace_group(const struct sc_trace_reading *trace, const struct sc_event *call)
{
    const struct sc_event *end = trace->events + trace->event_count;
    uint32_t n = 0;

    while (n < call->tile && n + 1 < SC_TRACE_GROUP_MAX && call + 1 + n < end &&
           (call[1 + n].kind == SC_EVENT_SCALARS || call[1 + n].kind == SC_EVENT_OPERAND))
        n++;
    return n == call->tile ? (int)n : -1;
}

const struct sc_trace_module *sc_trace_module_of(const struct sc_trace_reading *trace, uint64_t ip)
{
    for (size_t i = trace->module_count; i-- > 0;) /* later ones first: the table is written again at the end */
        if (ip >= trace->modules[i].head.start && ip < trace->modules[i].head.end)
            return &trace->modules[i];
    return NULL;
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
