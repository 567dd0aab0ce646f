/* Prints a trace file as text; names without control characters (rule T7). */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "ops/ops.h"
#include "trace/read.h"
#include "trace/filter.h"
#include "trace/wrap.h"

/* The columns that have a meaning for a kind of event. */
enum { TILED = 1, LOCATED = 2, SIZED = 4 };
static const struct {
    const char *name;
    unsigned columns;
} kinds[SC_EVENT_KINDS] = {
    [SC_EVENT_CALL] = {"call", 0},
    [SC_EVENT_STATE] = {"state", TILED | LOCATED | SIZED},
    [SC_EVENT_TRANSFER] = {"transfer", TILED | LOCATED | SIZED},
    [SC_EVENT_KERNEL] = {"kernel", LOCATED},
    [SC_EVENT_FAULT] = {"fault", 0},
    [SC_EVENT_EVICT] = {"evict", TILED | LOCATED | SIZED},
    [SC_EVENT_MATRIX] = {"matrix", SIZED},
    [SC_EVENT_RESHAPE] = {"reshape", SIZED},
    [SC_EVENT_FORGET] = {"forget", SIZED},
    [SC_EVENT_SCALARS] = {"scalars", 0},
    [SC_EVENT_OPERAND] = {"operand", 0},
    [SC_EVENT_DONE] = {"done", LOCATED},
    [SC_EVENT_FREE] = {"free", SIZED},
    [SC_EVENT_ACQUIRE] = {"acquire", SIZED},
    [SC_EVENT_RELEASE] = {"release", SIZED},
    [SC_EVENT_HOME] = {"home", 0},
    [SC_EVENT_PREFETCH] = {"prefetch", LOCATED},
    [SC_EVENT_TIME] = {"time", 0},
    [SC_EVENT_TILE] = {"tile", TILED},
    [SC_EVENT_USE] = {"use", TILED | LOCATED},
    [SC_EVENT_PROTECT] = {"protect", SIZED},
    [SC_EVENT_LOST] = {"lost", TILED | LOCATED},
    [SC_EVENT_SITE] = {"site", 0},
    [SC_EVENT_CHOICE] = {"choice", 0},
    [SC_EVENT_TOOK] = {"took", 0},
    [SC_EVENT_STAGE] = {"stage", SIZED},
    [SC_EVENT_WAIT] = {"wait", 0},
    [SC_EVENT_ALLOC] = {"alloc", SIZED},
    [SC_EVENT_KEEP] = {"keep", 0},
};

const char *sc_trace_kind_name(uint16_t kind) { return kind < SC_EVENT_KINDS ? kinds[kind].name : NULL; }
bool sc_trace_kind_has_tile(uint16_t kind) { return kind < SC_EVENT_KINDS && kinds[kind].columns & TILED; }

static void put_kind(FILE *out, uint16_t kind)
{
    if (kind < SC_EVENT_KINDS && kinds[kind].name)
        fprintf(out, " %-8s", kinds[kind].name);
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

/* Prints "file+0x1234", for addr2line -e file 0x1234. */
static void put_code_address(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, ip);

    if (module) {
        sc_trace_put_text(out, module->path, "?");
        ip -= module->head.bias;
        putc('+', out);
    }
    fprintf(out, "0x%" PRIx64, ip);
}

static void put_letters(FILE *out, const struct sc_trace_letters *letters)
{
    const struct {
        const char *name;
        char letter;
    } all[] = {{"order", letters->order}, {"transa", letters->transa}, {"transb", letters->transb},
               {"side", letters->side},   {"uplo", letters->uplo},     {"diag", letters->diag}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].letter)
            fprintf(out, " %s=%c", all[i].name, all[i].letter > ' ' && all[i].letter < 0x7f ? all[i].letter : '?');
}

/* A complex number, or a real one. */
static void put_scalar(FILE *out, const char *name, double re, double im)
{
    fprintf(out, im != 0 ? " %s=%.17g%+.17gi" : " %s=%.17g", name, re, im);
}

static void put_scalars(FILE *out, const struct sc_event *event)
{
    const union sc_event_scalars *s = &event->scalars;

    if (!event->is_rotm) {
        put_scalar(out, "alpha", s->alpha[0], s->alpha[1]);
        put_scalar(out, "beta", s->beta[0], s->beta[1]);
        return;
    }
    for (int i = 0; i < 5; i++) /* of rotm, with netlib's names */
        put_scalar(out, (const char *const[]){"flag", "h11", "h21", "h12", "h22"}[i], s->rotm[i], 0);
}

static const char *access_name(uint8_t access)
{
    static const char *const names[] = {"?", "read", "write", "update"};

    return names[access & SC_RDWR];
}

static const char *protection_name(uint8_t protection)
{
    static const char *const names[] = {"all access", "read-only", "no access"};

    return protection < sizeof names / sizeof *names ? names[protection] : "?";
}

static void put_operand(FILE *out, const struct sc_event *event)
{
    const struct sc_event_operand *o = &event->operand;
    char name = o->name >= 'A' && o->name <= 'Z' ? (char)o->name : '?';

    fprintf(out, " %c=0x%" PRIx64 " %c %s %" PRId64 "x%" PRId64 " %s=%" PRId64, name, o->address,
            event->type < SC_TYPES ? sc_type_letter(event->type) : '?', access_name(event->access), o->rows, o->cols,
            name == 'X' || name == 'Y' ? "inc" : "ld", o->step);
    if (o->block)
        fprintf(out, " in 0x%" PRIx64 "+%" PRIu64, o->block, (uint64_t)event->block_pages << 12);
    else
        fputs(" untracked", out);
}

static void put_by(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    if (!ip)
        return;
    fputs(" by ", out);
    put_code_address(out, trace, ip);
}

static void put_choice(FILE *out, const struct sc_event *event)
{
    const struct sc_event_choice *c = &event->choice;

    fprintf(out, " %s: host %.1f us, devices %.1f (kernel %.1f, move %.1f, result %.1f, overlap %.1f): %s",
            event->device < 0 ? "host" : "devices", c->host, c->now, c->device, c->move, c->result, c->overlap,
            sc_trace_reason_name(event->reason));
}

static const char *const memories[SC_MEMORIES] = {[SC_MEMORY_OTHER] = "of no malloc",
                                                  [SC_MEMORY_STACK] = "on a stack",
                                                  [SC_MEMORY_STATIC] = "static",
                                                  [SC_MEMORY_SMALL] = "small"};

static void put_transfer(FILE *out, const struct sc_event *event)
{
    fputs(" from", out);
    if (event->peer < 0)
        fputs(" host", out);
    else
        fprintf(out, " %d", event->peer);
    if (event->is_part)
        fputs(event->is_part == 2 ? " older bytes in part" : " in part", out);
}

static void put_call(FILE *out, const struct sc_event_call *call)
{
    fprintf(out, " m=%" PRId64 " n=%" PRId64 " k=%" PRId64, call->m, call->n, call->k);
    if (call->kl || call->ku)
        fprintf(out, " kl=%" PRId64 " ku=%" PRId64, call->kl, call->ku);
    put_letters(out, &call->letters);
}

/* Events of the program. */
static void put_done_by_program(FILE *out, const struct sc_trace_reading *trace, const struct sc_event *event)
{
    switch (event->kind) {
    case SC_EVENT_CALL: put_call(out, &event->call); break;
    case SC_EVENT_SCALARS: put_scalars(out, event); break;
    case SC_EVENT_OPERAND:
    case SC_EVENT_PREFETCH: put_operand(out, event); break;
    case SC_EVENT_FAULT:
        fprintf(out, " %s of 0x%" PRIx64 " by ", event->access & SC_WRITE ? "write" : "read", event->touch.address);
        put_code_address(out, trace, event->touch.ip);
        if (event->touch.line != event->touch.ip)
            put_by(out, trace, event->touch.line);
        break;
    case SC_EVENT_ALLOC:
        fprintf(out, " base=0x%" PRIx64, event->range.address);
        put_by(out, trace, event->range.ip);
        break;
    case SC_EVENT_ACQUIRE:
        fprintf(out, " %s of 0x%" PRIx64, access_name(event->access), event->range.address);
        put_by(out, trace, event->range.ip);
        break;
    case SC_EVENT_SITE:
        put_by(out, trace, event->site.ip);
        if (event->site.program != event->site.ip)
            put_by(out, trace, event->site.program);
        break;
    case SC_EVENT_FREE:
    case SC_EVENT_RELEASE: fprintf(out, " base=0x%" PRIx64, event->range.address); break;
    case SC_EVENT_TIME:
        fprintf(out, " since loaded %.6f s", (double)event->time.nanoseconds * 1e-9);
        if (event->time.virtual_nanoseconds)
            fprintf(out, ", virtual %.6f s", (double)event->time.virtual_nanoseconds * 1e-9);
        break;
    }
}

/* Events of the library. */
static void put_done_by_library(FILE *out, const struct sc_event *event)
{
    switch (event->kind) {
    case SC_EVENT_TRANSFER: put_transfer(out, event); break;
    case SC_EVENT_KERNEL:
        fprintf(out, " %s type=%c", sc_op_name(event->op), event->type < SC_TYPES ? sc_type_letter(event->type) : '?');
        break;
    case SC_EVENT_STAGE:
        fprintf(out, " 0x%" PRIx64 " as 0x%" PRIx64 ", %s%s", event->stage.original, event->stage.copy,
                memories[event->memory % SC_MEMORIES], event->is_kept ? ", kept" : ", for this call");
        break;
    case SC_EVENT_CHOICE: put_choice(out, event); break;
    case SC_EVENT_WAIT:
    case SC_EVENT_TOOK: fprintf(out, " %.6f s", (double)event->took * 1e-9); break;
    case SC_EVENT_MATRIX:
        fprintf(out, " base=0x%" PRIx64 " rows=%" PRId64 " cols=%" PRId64, event->made.base, event->made.rows,
                event->made.cols);
        break;
    case SC_EVENT_TILE:
        fprintf(out, " base=0x%" PRIx64 " columns=%" PRIu64 " of %" PRIu64 " bytes", event->laid.base,
                event->laid.columns, event->laid.column_bytes);
        fprintf(out, ", %" PRIu64 " apart, %" PRIu64 " a sector", event->laid.step, event->laid.width);
        break;
    case SC_EVENT_USE:
        fprintf(out, " %s, needs %#" PRIx64, access_name(event->access), event->use.needed);
        if (event->use.parts)
            fprintf(out, ", parts of %#" PRIx64, event->use.parts);
        break;
    case SC_EVENT_KEEP: fputs(event->peer ? " pages open" : " pages by state", out); break;
    case SC_EVENT_PROTECT:
        fprintf(out, " base=0x%" PRIx64 " %s", event->range.address, protection_name(event->protection));
        break;
    }
}

void sc_trace_put_event(FILE *out, const struct sc_trace_reading *trace, const struct sc_event *event)
{
    int64_t since = (int64_t)(event->nanoseconds - trace->header.start_monotonic);
    uint16_t kind = event->kind, routine = event->routine;
    unsigned columns = kind < SC_EVENT_KINDS ? kinds[kind].columns : 0;

    fprintf(out, "%14.9f %7" PRIu32, (double)since * 1e-9, event->thread);
    put_kind(out, kind);
    if (event->matrix && kind != SC_EVENT_OPERAND && kind != SC_EVENT_PREFETCH)
        fprintf(out, " %6" PRIu32, event->matrix);
    else
        fputs("      -", out);
    if (columns & TILED)
        fprintf(out, " %4" PRIu32 " %#18" PRIx64, event->tile, event->sectors);
    else
        fprintf(out, " %4s %18s", "-", "-");
    if (kind == SC_EVENT_STATE)
        fprintf(out, " %s>%s", msi_name(event->old_state), msi_name(event->new_state));
    else
        fputs("   -", out);
    if (columns & LOCATED)
        put_location(out, event->device);
    else
        fputs("    -", out);
    if (columns & SIZED)
        fprintf(out, " %12" PRIu64 " ", event->bytes);
    else
        fprintf(out, " %12s ", "-");
    sc_trace_put_text(out, routine < SC_TRACE_ROUTINES_MAX ? trace->routines[routine] : (struct sc_trace_text){0}, "-");
    put_done_by_program(out, trace, event);
    put_done_by_library(out, event);
    putc('\n', out);
}

/* --- events of one cause ------------------------------------------------------------------------------------------ */

/* A sweep assigns sectors in sequence. An uninterrupted sequence of STATE events is printed as one line for each tile
 * and change. Lines are in the order of their first events; a sector that changes twice begins a new line. */
#define PENDING_MAX 64
struct pending {
    struct sc_event line[PENDING_MAX];
    int count;
};

static void put_pending(FILE *out, const struct sc_trace_reading *trace, struct pending *pending)
{
    for (int i = 0; i < pending->count; i++)
        sc_trace_put_event(out, trace, &pending->line[i]);
    pending->count = 0;
}

static bool is_same_change(const struct sc_event *a, const struct sc_event *b)
{
    return a->device == b->device && a->peer == b->peer && a->old_state == b->old_state &&
           a->new_state == b->new_state && a->bytes == b->bytes;
}

static bool joins(struct pending *pending, const struct sc_event *event)
{
    for (int i = pending->count - 1; i >= 0; i--) {
        struct sc_event *line = &pending->line[i];

        if (line->thread != event->thread || line->routine != event->routine)
            return false;
        if (line->matrix != event->matrix || line->tile != event->tile)
            continue;
        if (line->sectors & event->sectors)
            return false;
        if (is_same_change(line, event)) {
            line->sectors |= event->sectors;
            return true;
        }
    }
    return false;
}

static void put_state(FILE *out, const struct sc_trace_reading *trace, struct pending *pending,
                      const struct sc_event *event)
{
    if (joins(pending, event))
        return;
    if (pending->count == PENDING_MAX)
        put_pending(out, trace, pending);
    pending->line[pending->count++] = *event;
}

/* The number of printed events. */
static size_t put_events(FILE *out, const struct sc_trace_reading *trace, const struct sc_trace_filter *filter,
                         struct sc_trace_chooser *chooser)
{
    size_t count = 0;
    struct pending pending = {.count = 0};

    for (size_t i = 0; i < trace->event_count; i++) {
        const struct sc_event *event = &trace->events[i];

        if (!sc_trace_chooser_takes(chooser, event))
            continue;
        count++;
        if (event->kind == SC_EVENT_STATE && !filter->json) {
            put_state(out, trace, &pending, event);
            continue;
        }
        put_pending(out, trace, &pending);
        if (filter->json)
            sc_trace_put_json(out, trace, event);
        else
            sc_trace_put_event(out, trace, event);
    }
    put_pending(out, trace, &pending);
    return count;
}

static void put_settings(FILE *out, const struct sc_trace_reading *trace)
{
    size_t column = 0;

    for (size_t i = 0; i < trace->setting_count; i++) {
        size_t length = trace->settings[i].bytes + 1;

        column = i && column + length <= SC_TRACE_COLUMNS ? column + length : 1 + length;
        fputs(column == 1 + length ? "\n# " : " ", out);
        sc_trace_put_text(out, trace->settings[i], "");
    }
}

void sc_trace_put_heading(FILE *out, const struct sc_trace_reading *trace)
{
    const char *program = trace->header.program;

    fprintf(out, "# semcache trace, version %u: process %u, ", trace->header.version, trace->header.pid);
    sc_trace_put_text(out, (struct sc_trace_text){program, strnlen(program, sizeof trace->header.program)},
                      "unknown program");
    put_settings(out, trace);
    putc('\n', out);
}

static void put_columns(FILE *out)
{
    fprintf(out, "# %12s %7s %-8s %6s %4s %18s %3s %4s %12s %s\n", "seconds", "thread", "event", "matrix", "tile",
            "sectors", "o>n", "dev", "bytes", "routine and details");
}

void sc_trace_put_ending(FILE *out, const struct sc_trace_reading *trace)
{
    const struct sc_trace_header *header = &trace->header;

    if (!header->ended)
        fputs("# the program ended without closing the trace: it is complete up to there\n", out);
    if (header->dropped)
        fprintf(out, "# the oldest %" PRIu64 " events were dropped: SEMCACHE_TRACE_LIMIT, or a full disk\n",
                header->dropped);
    if (header->lost)
        fprintf(out, "# %" PRIu64 " events were lost for want of room\n", header->lost);
}

enum sc_status sc_trace_dump(const char *path, FILE *out)
{
    const struct sc_trace_filter all = SC_TRACE_FILTER_ALL;

    return sc_trace_dump_some(path, out, &all, NULL);
}

enum sc_status sc_trace_dump_some(const char *path, FILE *out, const struct sc_trace_filter *filter,
                                  const struct sc_trace_names *names)
{
    struct sc_trace_reading trace;
    struct sc_trace_chooser *chooser;
    enum sc_status status = sc_trace_read(path, &trace);

    if (status != SC_OK)
        return status;
    chooser = sc_trace_chooser_new(filter, &trace, names);
    if (!chooser) {
        sc_trace_read_end(&trace);
        return SC_ERR_MEMORY;
    }
    if (filter->line)
        names->prepare(&trace);
    if (!filter->json) {
        sc_trace_put_heading(out, &trace);
        put_columns(out);
    }
    if (!put_events(out, &trace, filter, chooser) && filter->line) {
        sc_log(SC_LOG_ERROR, "no event of the line %s: name a line as trace blame and trace explain print lines",
               filter->line);
        status = SC_ERR_INVALID;
    }
    sc_trace_chooser_free(chooser);
    if (!filter->json)
        sc_trace_put_ending(out, &trace);
    if (fflush(out) != 0 || ferror(out)) /* the caller that opened the stream reports the cause */
        status = SC_ERR_IO;
    sc_trace_read_end(&trace);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
