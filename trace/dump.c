/* Reads a trace file and prints it.  Nothing in the file is trusted (rule T7): all lengths are checked against what is
 * really there, names are printed without control characters. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "trace/format.h"
#include "trace/trace.h"

struct text {
    const char *at; /* in the file, not terminated */
    size_t bytes;
};

struct module {
    struct sc_trace_module_head head;
    struct text path;
};

struct trace {
    const char *bytes; /* the whole file */
    size_t size;
    struct sc_trace_header header;
    struct sc_event *events;
    size_t event_count, event_room;
    struct module *modules;
    size_t module_count, module_room;
    struct text routines[SC_TRACE_ROUTINES_MAX];
    struct sc_trace_end end;
    bool ended;
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Makes room for `more` elements behind `count`. */
static bool reserve(void **list, size_t *room, size_t count, size_t more, size_t element)
{
    void *larger;
    size_t wanted = *room ? *room : 256;

    while (wanted < count + more)
        wanted *= 2;
    if (wanted == *room)
        return true;
    larger = realloc(*list, wanted * element);
    if (!larger)
        return false;
    *list = larger;
    *room = wanted;
    return true;
}

static bool read_events(struct trace *trace, const char *payload, size_t bytes)
{
    size_t count = bytes / sizeof(struct sc_event);

    if (!reserve((void **)&trace->events, &trace->event_room, trace->event_count, count, sizeof *trace->events))
        return false;
    memcpy(trace->events + trace->event_count, payload, count * sizeof *trace->events);
    trace->event_count += count;
    return true;
}

static void read_routine(struct trace *trace, const char *payload, size_t bytes)
{
    struct sc_trace_name_head head;

    if (bytes < sizeof head)
        return;
    memcpy(&head, payload, sizeof head);
    if (head.routine < SC_TRACE_ROUTINES_MAX)
        trace->routines[head.routine] = (struct text){payload + sizeof head, bytes - sizeof head};
}

static bool read_module(struct trace *trace, const char *payload, size_t bytes)
{
    struct module *module;

    if (bytes < sizeof module->head)
        return true;
    if (!reserve((void **)&trace->modules, &trace->module_room, trace->module_count, 1, sizeof *module))
        return false;
    module = &trace->modules[trace->module_count++];
    memcpy(&module->head, payload, sizeof module->head);
    module->path = (struct text){payload + sizeof module->head, bytes - sizeof module->head};
    return true;
}

static bool read_chunk(struct trace *trace, uint32_t kind, const char *payload, size_t bytes)
{
    switch (kind) {
    case SC_CHUNK_EVENTS:
        return read_events(trace, payload, bytes);
    case SC_CHUNK_ROUTINE:
        read_routine(trace, payload, bytes);
        return true;
    case SC_CHUNK_MODULE:
        return read_module(trace, payload, bytes);
    case SC_CHUNK_END:
        if (bytes >= sizeof trace->end) {
            memcpy(&trace->end, payload, sizeof trace->end);
            trace->ended = true;
        }
        return true;
    }
    return true; /* of a later minor revision: skipped */
}

static bool read_chunks(struct trace *trace)
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

static const char *header_problem(struct trace *trace)
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
        return "it was written by another version of semcache";
    if (header->header_bytes != sizeof *header)
        return "its header is damaged";
    return NULL;
}

static enum sc_status map_file(struct trace *trace, const char *path)
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
            *trace = (struct trace){.bytes = bytes, .size = (size_t)about.st_size};
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

/* --- printing ----------------------------------------------------------------------------------------------------- */

static void put_text(FILE *out, struct text text, const char *if_none)
{
    if (!text.bytes)
        fputs(if_none, out);
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.at[i];

        putc(c > ' ' && c < 0x7f ? c : '?', out);
    }
}

static const char *const kind_names[SC_EVENT_KINDS] = {
    [SC_EVENT_CALL] = "call",   [SC_EVENT_STATE] = "state", [SC_EVENT_TRANSFER] = "transfer",
    [SC_EVENT_KERNEL] = "kernel", [SC_EVENT_FAULT] = "fault", [SC_EVENT_EVICT] = "evict",
    [SC_EVENT_MATRIX] = "matrix", [SC_EVENT_RESHAPE] = "reshape", [SC_EVENT_FORGET] = "forget"};

static void put_kind(FILE *out, uint16_t kind)
{
    if (kind < SC_EVENT_KINDS && kind_names[kind])
        fprintf(out, " %-8s", kind_names[kind]);
    else
        fprintf(out, " event%-3u", kind);
}

static void put_location(FILE *out, int device)
{
    if (device < 0)
        fputs(" host", out);
    else
        fprintf(out, " %4d", device);
}

static const char *msi_name(uint8_t state)
{
    static const char *const names[] = {"C", "S", "G"};

    return state <= SC_MSI_G ? names[state] : "?";
}

/* "file+0x1234": what addr2line -e file 0x1234 turns into a line of the source. */
static void put_code_address(FILE *out, const struct trace *trace, uint64_t ip)
{
    for (size_t i = trace->module_count; i-- > 0;) { /* later ones first: the table is written again at the end */
        const struct module *module = &trace->modules[i];

        if (ip >= module->head.start && ip < module->head.end) {
            put_text(out, module->path, "?");
            fprintf(out, "+0x%" PRIx64, ip - module->head.bias);
            return;
        }
    }
    fprintf(out, "0x%" PRIx64, ip);
}

/* What only this kind of event has. */
static void put_details(FILE *out, const struct trace *trace, const struct sc_event *event)
{
    switch (event->kind) {
    case SC_EVENT_CALL:
        fprintf(out, " m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " first=0x%" PRIx64, (int64_t)event->bytes,
                (int64_t)event->b, (int64_t)event->c, event->a);
        break;
    case SC_EVENT_TRANSFER:
        fputs(" from", out);
        if (event->peer < 0)
            fputs(" host", out);
        else
            fprintf(out, " %d", event->peer);
        break;
    case SC_EVENT_KERNEL:
        fprintf(out, " %s type=%c", sc_op_name(event->old_state),
                event->new_state < SC_TYPES ? sc_type_letter(event->new_state) : '?');
        break;
    case SC_EVENT_FAULT:
        fprintf(out, " %s of 0x%" PRIx64 " by ", event->old_state & SC_WRITE ? "write" : "read", event->a);
        put_code_address(out, trace, event->ip);
        break;
    case SC_EVENT_MATRIX:
        fprintf(out, " base=0x%" PRIx64 " rows=%" PRId64 " cols=%" PRId64, event->a, (int64_t)event->b,
                (int64_t)event->c);
        break;
    }
}

/* Columns that mean nothing for a kind of event are "-". */
static void put_event(FILE *out, const struct trace *trace, const struct sc_event *event)
{
    int64_t since = (int64_t)(event->nanoseconds - trace->header.start_monotonic);
    uint16_t kind = event->kind, routine = event->routine;
    bool tiled = kind == SC_EVENT_STATE || kind == SC_EVENT_TRANSFER || kind == SC_EVENT_EVICT;

    fprintf(out, "%14.9f %7" PRIu32, (double)since * 1e-9, event->thread);
    put_kind(out, kind);
    if (event->matrix)
        fprintf(out, " %6" PRIu32, event->matrix);
    else
        fputs("      -", out);
    if (tiled)
        fprintf(out, " %4" PRIu32 " %#18" PRIx64, event->tile, event->sectors);
    else
        fprintf(out, " %4s %18s", "-", "-");
    if (kind == SC_EVENT_STATE)
        fprintf(out, " %s>%s", msi_name(event->old_state), msi_name(event->new_state));
    else
        fputs("   -", out);
    if (tiled || kind == SC_EVENT_KERNEL)
        put_location(out, event->device);
    else
        fputs("    -", out);
    if (kind == SC_EVENT_CALL || kind == SC_EVENT_KERNEL || kind == SC_EVENT_FAULT)
        fprintf(out, " %12s ", "-");
    else
        fprintf(out, " %12" PRIu64 " ", event->bytes);
    put_text(out, routine < SC_TRACE_ROUTINES_MAX ? trace->routines[routine] : (struct text){0}, "-");
    put_details(out, trace, event);
    putc('\n', out);
}

/* By time; events of the same nanosecond as they stand in the file, in which a thread's are in order. */
static int compare_events(const void *left, const void *right)
{
    const struct sc_event *a = *(const struct sc_event *const *)left, *b = *(const struct sc_event *const *)right;

    if (a->nanoseconds != b->nanoseconds)
        return a->nanoseconds < b->nanoseconds ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool put_events(FILE *out, const struct trace *trace)
{
    const struct sc_event **order = malloc((trace->event_count + 1) * sizeof *order);

    if (!order)
        return false;
    for (size_t i = 0; i < trace->event_count; i++)
        order[i] = &trace->events[i];
    qsort(order, trace->event_count, sizeof *order, compare_events);
    for (size_t i = 0; i < trace->event_count; i++)
        put_event(out, trace, order[i]);
    free(order);
    return true;
}

static void put_heading(FILE *out, const struct trace *trace)
{
    const char *program = trace->header.program;

    fprintf(out, "# semcache trace, version %u: process %u, ", trace->header.version, trace->header.pid);
    put_text(out, (struct text){program, strnlen(program, sizeof trace->header.program)}, "unknown program");
    fprintf(out, "\n# %12s %7s %-8s %6s %4s %18s %3s %4s %12s %s\n", "seconds", "thread", "event", "matrix", "tile",
            "sectors", "o>n", "dev", "bytes", "routine and details");
}

static void put_ending(FILE *out, const struct trace *trace)
{
    if (!trace->ended)
        fputs("# the program ended without closing the trace: its last events are missing\n", out);
    else if (trace->end.dropped)
        fprintf(out, "# %" PRIu64 " events were lost for want of memory\n", trace->end.dropped);
}

enum sc_status sc_trace_dump(const char *path, FILE *out)
{
    struct trace trace = {0};
    enum sc_status status = map_file(&trace, path);

    if (status == SC_OK) {
        put_heading(out, &trace);
        if (!read_chunks(&trace) || !put_events(out, &trace)) {
            sc_log(SC_LOG_ERROR, "no memory to read %s", path);
            status = SC_ERR_MEMORY;
        } else {
            put_ending(out, &trace);
            if (fflush(out) != 0 || ferror(out)) {
                sc_log(SC_LOG_ERROR, "writing failed: %s", strerror(errno));
                status = SC_ERR_IO;
            }
        }
    }
    free(trace.events);
    free(trace.modules);
    if (trace.bytes)
        munmap((void *)trace.bytes, trace.size);
    return status;
}
