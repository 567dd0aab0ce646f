/* Lines of Python programs. CPython keeps the frames of a thread in a list, and each frame names its code object and
 * its instruction. The layouts below are those of released versions, which do not change after the release. Reads go
 * through the kernel, so a wrong pointer or a closed page ends the list and does no harm. The running thread's own
 * frames are read directly as soon as the kernel's reads have found the thread's state: allocations are noted often. */
#include <config.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/loader.h"
#include "trace/chain.h"
#include "trace/store.h"

#define LINES 4096    /* known lines of Python */
#define SLOTS 8192    /* of the table of known lines */
#define TEXT (1 << 20) /* bytes of their names */
#define THREADS_MOST 1000
#define TABLE_MOST 16384 /* bytes of a code object's table of lines */
#define NAME_MOST 256

/* Offsets in CPython's structures. */
static const struct layout {
    unsigned version;                                        /* major << 8 | minor */
    uint8_t next, thread, frame;                             /* of a thread's state */
    bool indirect;                                           /* `frame` leads to a pointer to the frame */
    uint8_t indirect_frame;
    uint8_t previous, code, instruction, owner;              /* of a frame; owner 0: absent */
    uint8_t file, name, first_line, lines, instructions;     /* of a code object */
    uint8_t text;                                            /* of an ASCII string */
} layouts[] = {{0x30b, 8, 152, 56, true, 8, 48, 32, 56, 0, 112, 128, 72, 136, 184, 48},
               {0x30c, 8, 136, 56, true, 0, 8, 0, 56, 70, 112, 128, 68, 136, 192, 40},
               {0x30d, 8, 152, 72, false, 0, 8, 0, 56, 70, 112, 128, 68, 136, 200, 40},
               {0x30e, 8, 152, 72, false, 0, 8, 0, 56, 74, 112, 128, 68, 136, 208, 40}};
/* OWNED_BY_C: the least owner of a frame without code of Python.  REFERENCE: bits of a tagged reference (3.14). */
enum { STATE_BYTES = 160, FRAME_BYTES = 80 }; /* read at once */
enum { SIZE = 16, STRING_STATE = 32, BYTES = 32, ASCII = 0x40, OWNED_BY_C = 3, REFERENCE = 3 };

/* An interpreter without a lock around its threads has other layouts, and a mark. */
static const char cookie[] = "xdebugpy";

static struct {
    const struct layout *layout; /* NULL: no known interpreter */
    void *(*first)(void);        /* PyInterpreterState_Head */
    void *(*threads)(void *);    /* PyInterpreterState_ThreadHead */
    void *(*own)(void);          /* PyGILState_GetThisThreadState; needs no lock of the interpreter */
} python;

/* State of the calling thread that the kernel's reads have found; 0: none. */
static __thread uint64_t found __attribute__((tls_model("initial-exec")));

/* Known lines, by code object and instruction. Protected by the file lock. */
static struct known {
    uint64_t code, instruction, file;
    uint32_t line;
    const char *at; /* file, zero, function */
    uint32_t bytes;
    bool written;
} known[LINES];
static uint32_t known_count;
static uint16_t slots[SLOTS]; /* number of the line, plus 1; 0: empty */
static char text[TEXT];
static size_t text_used;

struct frame {
    uint64_t code, instruction, previous;
    bool is_python;
};

void sc_python_prepare(void)
{
    const unsigned long *version = sc_loader_symbol(RTLD_DEFAULT, "Py_Version");
    const char *runtime = sc_loader_symbol(RTLD_DEFAULT, "_PyRuntime");

    if (python.layout || !version || !runtime)
        return;
    *(void **)&python.first = sc_loader_symbol(RTLD_DEFAULT, "PyInterpreterState_Head");
    *(void **)&python.threads = sc_loader_symbol(RTLD_DEFAULT, "PyInterpreterState_ThreadHead");
    *(void **)&python.own = sc_loader_symbol(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    if (memcmp(runtime, cookie, sizeof cookie - 1) == 0 && runtime[16])
        return;
    for (size_t i = 0; python.first && python.threads && python.own && i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].version == *version >> 16)
            python.layout = &layouts[i];
}

static bool peek_word(uint64_t address, uint64_t *to) { return sc_chain_peek(address, to, sizeof *to); }

/* --- names and lines ---------------------------------------------------------------------------------------------- */

/* A string of ASCII; other strings become "?". Returns the number of bytes. */
static size_t get_string(uint64_t string, char *to)
{
    uint64_t bytes = 0;
    uint32_t state = 0;

    if (peek_word(string + SIZE, &bytes) && sc_chain_peek(string + STRING_STATE, &state, sizeof state) &&
        state & ASCII && bytes > 0) {
        size_t skipped = bytes > NAME_MOST ? bytes - NAME_MOST : 0; /* the end of a path tells more */

        if (sc_chain_peek(string + python.layout->text + skipped, to, bytes - skipped))
            return bytes - skipped;
    }
    *to = '?';
    return 1;
}

static const uint8_t *get_number(const uint8_t *at, const uint8_t *end, uint32_t *number)
{
    *number = 0;
    for (unsigned shift = 0; at < end && shift < 30; shift += 6) {
        *number |= (uint32_t)(*at & 63) << shift;
        if (!(*at++ & 64))
            break;
    }
    return at;
}

/* The distance of lines in an entry of the table; the entry's first byte is at[-1]. */
static int lines_of_entry(const uint8_t *at, const uint8_t *end)
{
    unsigned kind = at[-1] >> 3 & 15;
    uint32_t number = 0;

    if (kind == 13 || kind == 14) {
        get_number(at, end, &number);
        return number & 1 ? -(int)(number >> 1) : (int)(number >> 1);
    }
    return kind >= 10 && kind <= 12 ? (int)kind - 10 : 0;
}

/* Entries begin with a byte above 127; see CPython's Objects/locations.md. */
static uint32_t find_line(const uint8_t *table, size_t bytes, int line, uint64_t offset)
{
    const uint8_t *end = table + bytes;
    uint64_t at = 0;

    while (table < end) {
        at += 2 * ((*table & 7) + 1u);
        line += lines_of_entry(table + 1, end);
        if (at > offset)
            return line > 0 ? (uint32_t)line : 0;
        while (++table < end && *table < 128)
            ;
    }
    return 0;
}

/* The table is read into a buffer of the caller, because this code runs with small stacks. */
static uint32_t line_of(uint64_t code, uint64_t instruction)
{
    static uint8_t table[TABLE_MOST];
    const struct layout *l = python.layout;
    uint64_t lines, bytes;
    int first;

    if (!sc_chain_peek(code + l->first_line, &first, sizeof first) || !peek_word(code + l->lines, &lines) ||
        !peek_word(lines + SIZE, &bytes) || bytes > sizeof table || !sc_chain_peek(lines + BYTES, table, bytes))
        return 0;
    return find_line(table, bytes, first, instruction - code - l->instructions);
}

/* --- known lines; all with the file lock held --------------------------------------------------------------------- */

static struct known *learn(const struct frame *frame, uint64_t file)
{
    struct known *line = &known[known_count];
    uint64_t name;

    if (known_count == LINES || text_used + 2 * NAME_MOST + 1 > TEXT ||
        !peek_word(frame->code + python.layout->name, &name))
        return NULL;
    *line = (struct known){.code = frame->code, .instruction = frame->instruction, .file = file};
    line->line = line_of(frame->code, frame->instruction);
    line->at = text + text_used;
    text_used += get_string(file, text + text_used);
    text[text_used++] = '\0';
    text_used += get_string(name, text + text_used);
    line->bytes = (uint32_t)(text + text_used - line->at);
    known_count++;
    return line;
}

static uint16_t *slot_of(const struct frame *frame, uint64_t file)
{
    uint64_t key = (frame->code * 3 + frame->instruction * 5 + file) * UINT64_C(0x9e3779b97f4a7c15);

    for (uint64_t slot = key >> 32;; slot++) {
        uint16_t *number = &slots[slot % SLOTS];
        const struct known *line = *number ? &known[*number - 1] : NULL;

        if (!line || (line->code == frame->code && line->instruction == frame->instruction && line->file == file))
            return number;
    }
}

/* The word that stands for the frame's line; 0: unknown. `file`: the name of the code's file, which tells apart two
 * codes that have followed each other at one address. */
static uint64_t word_of(const struct frame *frame, uint64_t file)
{
    uint16_t *slot = slot_of(frame, file);

    if (!*slot && learn(frame, file))
        *slot = (uint16_t)known_count;
    return *slot ? SC_TRACE_PYTHON + *slot - 1 : 0;
}

void sc_python_record(uint64_t frame)
{
    struct known *line = frame - SC_TRACE_PYTHON < known_count ? &known[frame - SC_TRACE_PYTHON] : NULL;
    struct sc_trace_python_head head = {.frame = frame};

    if (!line || line->written)
        return;
    head.line = line->line;
    sc_trace_store_record(SC_RECORD_PYTHON, &head, sizeof head, line->at, line->bytes);
    line->written = true;
}

void sc_python_forget(void)
{
    for (uint32_t i = 0; i < known_count; i++)
        known[i].written = false;
}

/* --- frames ------------------------------------------------------------------------------------------------------- */

static bool get(bool direct, uint64_t address, void *to, size_t bytes)
{
    if (!direct)
        return sc_chain_peek(address, to, bytes);
    memcpy(to, (const void *)(uintptr_t)address, bytes);
    return true;
}

static uint64_t word_at(const char *bytes, unsigned offset)
{
    uint64_t word;

    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* The innermost frame of a thread's state, or 0. */
static uint64_t frame_of(bool direct, uint64_t state)
{
    const struct layout *l = python.layout;
    uint64_t frame;

    if (!get(direct, state + l->frame, &frame, sizeof frame) ||
        (l->indirect && !get(direct, frame + l->indirect_frame, &frame, sizeof frame)))
        return 0;
    return frame;
}

/* The state of any thread, or 0. */
static uint64_t state_of(uintptr_t thread)
{
    const struct layout *l = python.layout;
    void *interpreter = python.first();
    uint64_t state = interpreter ? (uint64_t)(uintptr_t)python.threads(interpreter) : 0;
    char bytes[STATE_BYTES];

    for (int i = 0; state && i < THREADS_MOST && sc_chain_peek(state, bytes, sizeof bytes); i++) {
        if (word_at(bytes, l->thread) == thread)
            return state;
        state = word_at(bytes, l->next);
    }
    return 0;
}

static bool get_frame(bool direct, uint64_t at, struct frame *frame)
{
    const struct layout *l = python.layout;
    char bytes[FRAME_BYTES];

    if (!get(direct, at, bytes, sizeof bytes))
        return false;
    frame->code = word_at(bytes, l->code) & ~(uint64_t)REFERENCE;
    frame->instruction = word_at(bytes, l->instruction);
    frame->previous = word_at(bytes, l->previous);
    frame->is_python = !l->owner || bytes[l->owner] < OWNED_BY_C;
    return true;
}

/* Names of the files of frames; 0: unknown. */
static void get_files(bool direct, const struct frame *frames, uint64_t *files, int count)
{
    uint64_t names[SC_CHAIN_PYTHON];

    for (int i = 0; i < count; i++) {
        names[i] = frames[i].code + python.layout->file;
        if (direct)
            get(direct, names[i], &files[i], sizeof *files);
    }
    if (!direct)
        sc_chain_peek_words(names, files, count);
}

static void add_frames(bool direct, uint64_t state, struct sc_chain *chain, int most)
{
    uint64_t at = frame_of(direct, state), word, files[SC_CHAIN_PYTHON];
    struct frame frames[SC_CHAIN_PYTHON];
    int count = 0;

    for (int i = 0; at && i < 4 * SC_CHAIN_PYTHON && count < most && get_frame(direct, at, &frames[count]); i++) {
        at = frames[count].previous;
        count += frames[count].is_python;
    }
    get_files(direct, frames, files, count);
    sc_trace_lock();
    for (int i = 0; i < count; i++) {
        word = files[i] ? word_of(&frames[i], files[i]) : 0;
        if (word)
            chain->frame[chain->count++] = word;
    }
    sc_trace_unlock();
}

void sc_python_add_frames(uintptr_t thread, struct sc_chain *chain, int most)
{
    bool is_own = thread == (uintptr_t)pthread_self();
    uint64_t own = python.layout && is_own ? (uint64_t)(uintptr_t)python.own() : 0, state;

    if (!python.layout || (is_own && !own))
        return;
    if (own && own == found) {
        add_frames(true, own, chain, most);
        return;
    }
    state = state_of(thread);
    if (state)
        add_frames(false, state, chain, most);
    if (is_own)
        found = state == own ? own : 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
