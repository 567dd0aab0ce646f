/* Chains of calls. A chain of a call holds addresses. A chain of a fault holds registers and a copy of the stack, which
 * libdw unwinds. The line of a chain is the innermost frame of the program: code of the system and of a BLAS is passed
 * over, and code of an interpreter gives way to the line of Python. */
#include <config.h>

#include "tools/frames.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/dwarf.h"

#define NATIVE 48
#define CALLERS 3      /* shown */
#define LINES 16384    /* of source */
#define NUMBERS 65536u /* more are no trace of ours */

/* What a reader of the program knows of a frame. */
enum owner { SYSTEM, INTERPRETER, FOREIGN, SOURCE, PROGRAM, PYTHON };

struct frames {
    int count;
    uint64_t frame[NATIVE + 16];
    int at;        /* the frame of the program's line; count: none */
    uint64_t line; /* the address that stands for the line; 0: none */
};

static struct {
    const struct sc_trace_reading *trace;
    struct frames **chain; /* by number; NULL: none */
    uint32_t count;
} known;

/* --- whose code --------------------------------------------------------------------------------------------------- */

static bool begins(const struct sc_trace_text *path, size_t at, const char *with)
{
    size_t bytes = strlen(with);

    return path->bytes - at >= bytes && memcmp(path->at + at, with, bytes) == 0;
}

static size_t name_of(const struct sc_trace_text *path)
{
    size_t at = path->bytes;

    while (at > 0 && path->at[at - 1] != '/')
        at--;
    return at;
}

static bool is_interpreter(const struct sc_trace_text *path)
{
    size_t name = name_of(path);

    return begins(path, name, "python3") || begins(path, name, "libpython3");
}

static bool is_system(const struct sc_trace_text *path)
{
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    static const char *const libraries[] = {"libsemcache", "libblas",  "libcblas", "libopenblas", "liblapack",
                                            "libmkl_",     "libblis",  "libflexiblas", "libgomp", "libscipy_openblas"};
    size_t name = name_of(path);

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (begins(path, 0, folders[i]))
            return true;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (begins(path, name, libraries[i]))
            return true;
    return false;
}

static bool is_program(const struct sc_trace_reading *trace, const struct sc_trace_text *path)
{
    size_t bytes = strnlen(trace->header.program, sizeof trace->header.program);

    return path->bytes == bytes && memcmp(path->at, trace->header.program, bytes) == 0;
}

/* Python's own modules and installed packages. */
static bool is_installed(const struct sc_trace_text *file)
{
    for (size_t at = 0; at < file->bytes; at++)
        if (begins(file, at, "/lib/python3") || begins(file, at, "-packages/"))
            return true;
    return begins(file, 0, "<frozen");
}

/* A library counts as the program's when its source is on this machine. */
static enum owner owner_of(const struct sc_trace_reading *trace, uint64_t frame, bool in_python)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, frame);
    const struct sc_trace_python *line = sc_trace_python_of(trace, frame);
    struct sc_tool_place place;

    if (line)
        return is_installed(&line->file) ? SYSTEM : PYTHON;
    if (!module)
        return FOREIGN;
    if (in_python && is_interpreter(&module->path))
        return INTERPRETER;
    if (is_program(trace, &module->path))
        return PROGRAM;
    if (is_system(&module->path))
        return SYSTEM;
    return sc_dwarf_places(trace, frame, &place, 1) && place.line && access(place.file, R_OK) == 0 ? SOURCE : FOREIGN;
}

/* --- the line of a chain ------------------------------------------------------------------------------------------ */

static bool has_python(const struct frames *f) { return f->count && f->frame[f->count - 1] >= SC_TRACE_PYTHON; }

/* Whether the frame is the program's, as far as a reader of the source knows. */
static bool is_shown(const struct sc_trace_reading *trace, const struct frames *f, int i)
{
    enum owner owner = owner_of(trace, f->frame[i], has_python(f));

    return owner == SOURCE || owner == PROGRAM || owner == PYTHON;
}

/* The frame of the line. Native frames outside an interpreter are the innermost. */
static int line_of(const struct sc_trace_reading *trace, const struct frames *f)
{
    bool within = has_python(f);

    for (int i = 0; i < f->count; i++)
        if (within && owner_of(trace, f->frame[i], true) == INTERPRETER)
            while (i + 1 < f->count && f->frame[i + 1] < SC_TRACE_PYTHON)
                i++;
        else if (is_shown(trace, f, i))
            return i;
    for (int i = 0; i < f->count; i++)
        if (owner_of(trace, f->frame[i], within) == FOREIGN || f->frame[i] >= SC_TRACE_PYTHON)
            return i;
    return f->count;
}

static struct {
    uint64_t key, ip;
} first_of[LINES];

/* A number for the file and the line; 0: unknown. */
static uint64_t key_of_line(const struct sc_trace_reading *trace, uint64_t ip)
{
    const struct sc_trace_python *python = sc_trace_python_of(trace, ip);
    struct sc_tool_place place;
    struct sc_trace_text file = {place.file, 0};
    uint64_t key = 1, line;

    if (python) {
        file = python->file;
        line = python->head.line;
    } else if (sc_dwarf_places(trace, ip, &place, 1) && place.line) {
        file.bytes = strlen(place.file);
        line = (uint64_t)place.line;
    } else {
        return 0;
    }
    for (size_t i = 0; i < file.bytes; i++)
        key = key * 31 + (unsigned char)file.at[i];
    return (key * 65599 + line) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* The address that stands for a line of source: the first address of the line in a chain. */
static uint64_t one_of_line(const struct sc_trace_reading *trace, uint64_t ip)
{
    uint64_t key = key_of_line(trace, ip);
    unsigned slot;

    if (!key)
        return ip;
    slot = (unsigned)(key >> 40) % LINES;
    for (unsigned i = 0; i < LINES && first_of[slot].key && first_of[slot].key != key; i++)
        slot = (slot + 1) % LINES;
    if (!first_of[slot].key) {
        first_of[slot].key = key;
        first_of[slot].ip = ip;
    }
    return first_of[slot].key == key ? first_of[slot].ip : ip;
}

static struct frames *frames_of(const struct sc_trace_reading *trace, const struct sc_trace_chain *chain)
{
    struct frames *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->count = sc_dwarf_unwind(trace, chain, f->frame, NATIVE);
    for (uint32_t i = 0; i < chain->head.frames && f->count < NATIVE + 16; i++)
        f->frame[f->count++] = sc_trace_chain_word(chain, i);
    f->at = line_of(trace, f);
    f->line = f->at < f->count ? one_of_line(trace, f->frame[f->at]) : 0;
    return f;
}

static const struct frames *frames_at(const struct sc_trace_reading *trace, uint64_t number)
{
    return trace == known.trace && number < known.count ? known.chain[number] : NULL;
}

static void forget(void)
{
    for (uint32_t i = 0; i < known.count; i++)
        free(known.chain[i]);
    free(known.chain);
    known.chain = NULL;
    known.count = 0;
}

static void learn(const struct sc_trace_reading *trace)
{
    uint32_t most = 0;

    forget();
    sc_dwarf_forget();
    sc_tool_forget_lines();
    memset(first_of, 0, sizeof first_of);
    known.trace = trace;
    for (size_t i = 0; i < trace->chain_count; i++)
        if (trace->chains[i].head.chain < NUMBERS && trace->chains[i].head.chain > most)
            most = trace->chains[i].head.chain;
    known.chain = calloc(most + 1, sizeof(struct frames *));
    known.count = known.chain ? most + 1 : 0;
    for (size_t i = 0; i < trace->chain_count; i++) {
        uint32_t number = trace->chains[i].head.chain;

        if (number < known.count && !known.chain[number])
            known.chain[number] = frames_of(trace, &trace->chains[i]);
    }
}

void sc_tool_set_lines(struct sc_trace_reading *trace)
{
    learn(trace);
    for (size_t i = 0; i < trace->event_count; i++) {
        struct sc_event *event = &trace->events[i];
        const uint64_t *number = sc_trace_chain_field(event);
        const struct frames *f = number ? frames_at(trace, *number) : NULL;

        if (f && f->line)
            *sc_trace_line_field(event) = f->line;
    }
}

/* --- callers ------------------------------------------------------------------------------------------------------ */

static void put_place(FILE *out, const struct sc_tool_place *place)
{
    const char *slash = strrchr(place->file, '/');
    const char *name = slash ? slash + 1 : place->file;

    fputs(" <- ", out);
    if (*place->function) {
        sc_trace_put_text(out, (struct sc_trace_text){place->function, strlen(place->function)}, "");
        putc(' ', out);
    }
    sc_trace_put_text(out, (struct sc_trace_text){name, strlen(name)}, "?");
    if (place->line)
        fprintf(out, ":%d", place->line);
}

static int put_python(FILE *out, const struct sc_trace_python *line, int shown)
{
    struct sc_tool_place place = {.line = (int)line->head.line};

    snprintf(place.file, sizeof place.file, "%.*s", (int)line->file.bytes, line->file.at);
    snprintf(place.function, sizeof place.function, "%.*s", (int)line->function.bytes, line->function.at);
    put_place(out, &place);
    return shown + 1;
}

/* The places of a frame from `first` on: an inline function has several. */
static int put_frame(FILE *out, const struct sc_trace_reading *trace, uint64_t frame, int first, int shown)
{
    const struct sc_trace_python *line = sc_trace_python_of(trace, frame);
    struct sc_tool_place places[8];
    int count;

    if (line)
        return first ? shown : put_python(out, line, shown);
    count = sc_dwarf_places(trace, frame, places, 8);
    for (int i = first; i < count && shown < CALLERS && places[i].line; i++, shown++)
        put_place(out, &places[i]);
    return shown;
}

void sc_tool_put_callers(FILE *out, const struct sc_trace_reading *trace, uint32_t chain, uint64_t ip)
{
    const struct frames *f = frames_at(trace, chain);
    int shown;

    if (!f || !f->line || f->line != ip)
        return;
    shown = put_frame(out, trace, f->frame[f->at], 1, 0);
    for (int at = f->at + 1; at < f->count && shown < CALLERS; at++)
        if (is_shown(trace, f, at))
            shown = put_frame(out, trace, f->frame[at], 0, shown);
}
/* SPDX-License-Identifier: BSD-2-Clause */
