#include <config.h>

#include "tools/dwarf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES 8 /* of an address */

static void set(char *to, size_t bytes, const char *text) { snprintf(to, bytes, "%s", text ? text : ""); }

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include "base/loader.h"

/* --- program files ------------------------------------------------------------------------------------------------ */

/* One trace at a time; a later trace takes the place of an earlier trace. */
static struct {
    const struct sc_trace_reading *trace;
    Dwfl *files;
    bool attached;                     /* to the stacks */
    const struct sc_trace_chain *stack; /* the stack that is unwound now */
    uint64_t *frames;
    int count, most;
} session;

static bool is_reported(const struct sc_trace_reading *trace, size_t number)
{
    const struct sc_trace_module *module = &trace->modules[number];

    for (size_t i = 0; i < number; i++)
        if (trace->modules[i].head.bias == module->head.bias && trace->modules[i].path.bytes == module->path.bytes &&
            memcmp(trace->modules[i].path.at, module->path.at, module->path.bytes) == 0)
            return true;
    return false;
}

void sc_dwarf_forget(void)
{
    if (session.files)
        dwfl_end(session.files);
    session.files = NULL;
    session.trace = NULL;
    session.attached = false;
}

static Dwfl *files_of(const struct sc_trace_reading *trace)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};

    if (session.trace == trace)
        return session.files;
    sc_dwarf_forget();
    session.trace = trace;
    session.files = dwfl_begin(&callbacks);
    if (!session.files)
        return NULL;
    dwfl_report_begin(session.files);
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct sc_trace_module *module = &trace->modules[i];
        char path[4096];

        snprintf(path, sizeof path, "%.*s", (int)(module->path.bytes < sizeof path ? module->path.bytes : 0),
                 module->path.at);
        if (*path && !is_reported(trace, i))
            dwfl_report_elf(session.files, path, path, -1, module->head.bias, true);
    }
    dwfl_report_end(session.files, NULL, NULL);
    return session.files;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static bool is_function(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);

    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

/* Adds the place where the inline function was inlined. */
static bool add_caller(Dwarf_Die *unit, Dwarf_Die *die, struct sc_tool_place *place)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;

    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, NULL) != 0)
        return false;
    set(place->file, sizeof place->file, dwarf_filesrc(files, file, NULL, NULL));
    *place->function = '\0';
    place->line = (int)line;
    return true;
}

/* The functions around the innermost line, places[0]. */
static int add_functions(Dwarf_Die *unit, Dwarf_Addr address, struct sc_tool_place *places, int most)
{
    Dwarf_Die *scopes = NULL, inner;
    int count = dwarf_getscopes(unit, address, &scopes), places_count = 1;

    if (count > 0) {
        inner = scopes[0];
        free(scopes);
        scopes = NULL;
        count = dwarf_getscopes_die(&inner, &scopes);
    }
    for (int i = 0; i < count; i++) {
        if (!is_function(&scopes[i]))
            continue;
        set(places[places_count - 1].function, sizeof places->function, dwarf_diename(&scopes[i]));
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine || places_count == most ||
            !add_caller(unit, &scopes[i], &places[places_count]))
            break;
        places_count++;
    }
    free(scopes);
    return places_count;
}

/* Of "void a::b<c>(d)": "a::b". */
static void set_short(char *to, size_t bytes, const char *name)
{
    static const char anonymous[] = "(anonymous namespace)::";
    size_t used = 0;
    int depth = 0;

    for (const char *at = name; *at; at++) {
        if (!depth && strncmp(at, anonymous, sizeof anonymous - 1) == 0) {
            at += sizeof anonymous - 2;
            continue;
        }
        if (!depth && (*at == '(' || strncmp(at, " [", 2) == 0))
            break;
        if (!depth && *at == ' ')
            used = 0; /* behind the type of the result */
        else if (!depth && *at != '<' && used + 1 < bytes)
            to[used++] = *at;
        depth += (*at == '<') - (*at == '>');
    }
    to[used] = '\0';
}

/* A name of C++ is made readable if C++'s library is on this machine. */
static void set_function(char *to, size_t bytes, const char *name)
{
    static char *(*demangle)(const char *name, char *room, size_t *bytes, int *status);
    static bool asked;
    char *readable = NULL;

    if (name && strncmp(name, "_Z", 2) == 0 && !asked) {
        void *library = sc_loader_open("libstdc++.so.6", RTLD_LAZY);

        asked = true;
        *(void **)&demangle = library ? sc_loader_symbol(library, "__cxa_demangle") : NULL;
    }
    if (demangle && name && strncmp(name, "_Z", 2) == 0)
        readable = demangle(name, NULL, NULL, NULL);
    if (readable)
        set_short(to, bytes, readable);
    else
        set(to, bytes, name);
    free(readable);
}

/* The function from the table of symbols: only a function that contains the address. */
static void set_symbol(Dwfl_Module *module, uint64_t ip, struct sc_tool_place *place)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, ip, &offset, &symbol, NULL, NULL, NULL);

    set_function(place->function, sizeof place->function, name && offset < symbol.st_size ? name : NULL);
}

static int all_places(const struct sc_trace_reading *trace, uint64_t ip, struct sc_tool_place *places, int most)
{
    Dwfl *files = files_of(trace);
    Dwfl_Module *module = files ? dwfl_addrmodule(files, ip) : NULL;
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, ip) : NULL;
    Dwarf_Addr bias;
    Dwarf_Die *unit;

    if (!module)
        return 0;
    places[0] = (struct sc_tool_place){.line = 0};
    if (!line) {
        set(places[0].file, sizeof places[0].file,
            dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        set_symbol(module, ip, &places[0]);
        return 1;
    }
    set(places[0].file, sizeof places[0].file, dwfl_lineinfo(line, NULL, &places[0].line, NULL, NULL, NULL));
    unit = dwfl_module_addrdie(module, ip, &bias);
    if (unit)
        most = add_functions(unit, ip - bias, places, most);
    else
        most = 1;
    if (!*places[0].function)
        set_symbol(module, ip, &places[0]);
    return most;
}

/* --- stacks ------------------------------------------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *files, void *argument, void **thread)
{
    (void)files;
    if (*thread)
        return 0;
    *thread = argument;
    return 1;
}

static uint64_t register_of(int number)
{
    return sc_trace_chain_word(session.stack, session.stack->head.frames + (size_t)number);
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    Dwarf_Word registers[SC_TRACE_REGISTERS];

    (void)argument;
    for (int i = 0; i < SC_TRACE_REGISTERS; i++)
        registers[i] = register_of(i);
    return dwfl_thread_state_registers(thread, 0, SC_TRACE_REGISTERS, registers);
}

static bool read_word(Dwfl *files, Dwarf_Addr address, Dwarf_Word *word, void *argument)
{
    uint64_t at = address - register_of(7);

    (void)files, (void)argument;
    if (at >= session.stack->stack_bytes || session.stack->stack_bytes - at < sizeof *word)
        return false;
    memcpy(word, session.stack->stack + at, sizeof *word);
    return true;
}

static int add_frame(Dwfl_Frame *frame, void *argument)
{
    Dwarf_Addr pc;
    bool exact;

    (void)argument;
    if (session.count == session.most || !dwfl_frame_pc(frame, &pc, &exact))
        return DWARF_CB_ABORT;
    session.frames[session.count++] = exact ? pc : pc - 1;
    return DWARF_CB_OK;
}

int sc_dwarf_unwind(const struct sc_trace_reading *trace, const struct sc_trace_chain *chain, uint64_t *frames,
                    int most)
{
    static const Dwfl_Thread_Callbacks callbacks = {.next_thread = next_thread,
                                                    .memory_read = read_word,
                                                    .set_initial_registers = set_registers};
    Dwfl *files = files_of(trace);

    if (!files || chain->head.registers != SC_TRACE_REGISTERS)
        return 0;
    session.stack = chain;
    session.frames = frames;
    session.count = 0;
    session.most = most;
    if (!session.attached)
        session.attached = dwfl_attach_state(files, NULL, 1, &callbacks, &session);
    if (session.attached)
        dwfl_getthread_frames(files, 1, add_frame, NULL); /* an error ends the list */
    return session.count;
}

#else

/* --- addr2line ---------------------------------------------------------------------------------------------------- */

/* Places by the output of addr2line -f -i: a line with a function and a line with file:line for each of them. */
static int read_places(FILE *in, struct sc_tool_place *places, int most)
{
    char function[4096], line[4096], *colon;
    int count = 0;

    while (count < most && fgets(function, sizeof function, in) && fgets(line, sizeof line, in)) {
        places[count] = (struct sc_tool_place){.line = 0};
        function[strcspn(function, "\n")] = '\0';
        set(places[count].function, sizeof places->function, function[0] != '?' ? function : NULL);
        colon = strrchr(line, ':');
        if (colon && line[0] != '?') {
            *colon = '\0';
            places[count].line = atoi(colon + 1);
            set(places[count].file, sizeof places->file, line);
        }
        count++;
    }
    return count;
}

/* The places of an address, the innermost first; 0: no answer. */
static int ask(const char *path, const char *address, struct sc_tool_place *places, int most)
{
    int ends[2], status, count = 0;
    FILE *in;
    pid_t child;

    if (pipe(ends) != 0)
        return 0;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(STDERR_FILENO);
        execlp("addr2line", "addr2line", "-f", "-i", "-e", path, address, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    in = fdopen(ends[0], "r");
    if (in) {
        count = read_places(in, places, most);
        fclose(in);
    } else {
        close(ends[0]);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return 0;
    return count;
}

static int all_places(const struct sc_trace_reading *trace, uint64_t ip, struct sc_tool_place *places, int most)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, ip);
    char path[4096], address[32];
    int count;

    if (!module || module->path.bytes >= sizeof path)
        return 0;
    snprintf(path, sizeof path, "%.*s", (int)module->path.bytes, module->path.at);
    snprintf(address, sizeof address, "0x%" PRIx64, ip - module->head.bias);
    count = ask(path, address, places, most);
    if (!count)
        places[count++] = (struct sc_tool_place){.line = 0};
    if (!places[0].line)
        set(places[0].file, sizeof places->file, path);
    return count;
}

void sc_dwarf_forget(void) {}

int sc_dwarf_unwind(const struct sc_trace_reading *trace, const struct sc_trace_chain *chain, uint64_t *frames,
                    int most)
{
    (void)trace, (void)chain, (void)frames, (void)most;
    return 0;
}
#endif

/* --- places ------------------------------------------------------------------------------------------------------- */

/* Headers of the system: memset of glibc's fortified strings, a container of the C++ library. */
static bool is_header(const struct sc_tool_place *place)
{
    return strncmp(place->file, "/usr/include/", 13) == 0 || strncmp(place->file, "/usr/lib/gcc/", 13) == 0;
}

int sc_dwarf_places(const struct sc_trace_reading *trace, uint64_t ip, struct sc_tool_place *places, int most)
{
    struct sc_tool_place all[PLACES];
    int count = all_places(trace, ip, all, PLACES), first = 0;

    while (first + 1 < count && is_header(&all[first]))
        first++;
    count = count - first < most ? count - first : most;
    memcpy(places, all + first, (size_t)count * sizeof *places);
    return count;
}
/* SPDX-License-Identifier: BSD-2-Clause */
