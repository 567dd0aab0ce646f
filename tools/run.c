/* semcache run: sets the environment and becomes the program. */
#include <config.h>

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/backend.h"
#include "libsemcache/config.h"
#include "tools/elf_file.h"
#include "tools/tool.h"

enum { SUMMARY = 256 };
enum { CANNOT_RUN = 126, NOT_FOUND = 127 }; /* as the shell, env(1) and others */

static const struct argp_option options[] = {
    {"device", 'd', "DEVICE", 0, SC_DEVICE_VALUES, 0},
    {"offload", 'o', "WHICH", 0, "auto, always or never", 0},
    {"stats", 's', "FILE", 0, "write statistics there at exit (-: stderr; %p: process id)", 0},
    {"trace", 't', "FILE", 0, "write a trace there (%p: process id)", 0},
    {"explain", 'e', "FILE", 0, "write there at exit why calls ran where they ran", 0},
    {"summary", SUMMARY, "FORM", OPTION_ARG_OPTIONAL, "say at exit what was done: table, or FORM: line, off, auto "
     "(a line on a terminal; this is the default)", 0},
    {"check", 'c', NULL, 0, "check the invariants of the protocol (slow)", 0},
    {0}};

static const struct variable {
    int key;
    const char *setting;
    const char *file; /* name of the option if its value names a file */
    enum sc_file_kind kind;
} variables[] = {{'d', "SEMCACHE_DEVICE", NULL, 0},
                 {'o', "SEMCACHE_OFFLOAD", NULL, 0},
                 {'s', "SEMCACHE_STATS", "--stats", SC_FILE_STATISTICS},
                 {'t', "SEMCACHE_TRACE", "--trace", SC_FILE_TRACE},
                 {'e', "SEMCACHE_EXPLAIN", "--explain", SC_FILE_EXPLANATION},
                 {SUMMARY, "SEMCACHE_SUMMARY", NULL, 0},
                 {'c', "SEMCACHE_CHECK", NULL, 0}};

static const struct variable *variable_of(int key)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (variables[i].key == key)
            return &variables[i];
    return NULL;
}

/* The program may change its folder before the end; the file belongs in the present folder. */
static const char *from_here(const char *path, char *room, size_t bytes)
{
    char folder[PATH_MAX];

    if (!*path || *path == '/' || *path == '-' || !getcwd(folder, sizeof folder) ||
        snprintf(room, bytes, "%s/%s", folder, path) >= (int)bytes)
        return path;
    return room;
}

void sc_tool_set(const char *tool, const char *name, const char *value)
{
    static struct sc_config scratch;
    const struct sc_setting *setting = sc_config_settings;

    while (strcmp(setting->name, name) != 0)
        setting++;
    if (!*value || !sc_config_set(&scratch, setting, value)) {
        fprintf(stderr, "%s: %s='%s' is not allowed (allowed: %s)\n", tool, name, value, setting->values);
        exit(argp_err_exit_status);
    }
    setenv(name, value, 1);
}

static error_t parse_setting(int key, char *text, struct argp_state *state)
{
    const struct variable *variable = variable_of(key);
    char room[2 * PATH_MAX];
    const char *value = key == 'c' ? "1" : key == SUMMARY && !text ? "table" : text;

    if (!variable)
        return ARGP_ERR_UNKNOWN;
    if (variable->file) {
        value = from_here(text, room, sizeof room);
        sc_tool_output(state->name, variable->file, variable->kind, value);
    }
    sc_tool_set(state->name, variable->setting, value);
    return 0;
}

const struct argp sc_tool_settings = {.options = options, .parser = parse_setting};

bool sc_tool_can_preload(char *why, size_t bytes)
{
    const char *library = sc_tool_library();

    if (access(library, R_OK) != 0)
        snprintf(why, bytes, "the library %s is not there: %s", library, strerror(errno));
    else if (strpbrk(library, " :"))
        snprintf(why, bytes, "%s cannot be preloaded: its name has a space or a colon", library);
    else
        return true;
    return false;
}

/* In front of what is preloaded already. */
int sc_tool_preload(const char *name)
{
    const char *library = sc_tool_library();
    const char *others = getenv("LD_PRELOAD");
    char *list, why[2 * PATH_MAX];

    if (!sc_tool_can_preload(why, sizeof why)) {
        fprintf(stderr, "%s: %s\n", name, why);
        return -1;
    }
    if (asprintf(&list, "%s%s%s", library, others && *others ? ":" : "", others ? others : "") < 0)
        return -1;
    setenv("LD_PRELOAD", list, 1);
    free(list);
    return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    (void)text;
    switch (key) {
    case ARGP_KEY_ARG:
        *(char ***)state->input = state->argv + state->next - 1;
        state->next = state->argc; /* the remaining arguments belong to the program */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the program to run is missing");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static bool is_program(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

bool sc_tool_find_program(const char *name, char *path, size_t bytes)
{
    const char *at = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin", *end;

    snprintf(path, bytes, "%s", name);
    if (strchr(name, '/'))
        return is_program(name);
    for (;; at = end + 1) {
        end = strchrnul(at, ':');
        snprintf(path, bytes, "%.*s/%s", end > at ? (int)(end - at) : 1, end > at ? at : ".", name);
        if (is_program(path))
            return true;
        if (!*end)
            return false;
    }
}

static bool is_elf(const char *path)
{
    char interpreter[PATH_MAX];
    struct sc_elf elf;
    enum sc_elf_kind kind = sc_elf_open(path, &elf, interpreter, sizeof interpreter);

    if (kind == SC_ELF_GOOD)
        sc_elf_close(&elf);
    return kind == SC_ELF_GOOD || kind == SC_ELF_FOREIGN;
}

/* As execvp, which however gives a damaged or foreign ELF file to the shell, as a script. `path`: the file, or NULL.
 * Returns errno. */
static int execute(const char *path, char **program)
{
    int error = ENOEXEC;

    if (path) {
        execv(path, program);
        error = errno;
    }
    if (error != ENOEXEC || (path && is_elf(path)))
        return error;
    execvp(program[0], program);
    return errno;
}

int sc_tool_run(int argc, char **argv)
{
    static const struct argp_child children[] = {{&sc_tool_settings, 0, NULL, 0}, {0}};
    static const struct argp argp = {.children = children,
                                     .parser = parse,
                                     .args_doc = "PROGRAM [ARGUMENT...]",
                                     .doc = "Runs a program with semcache under it."};
    char **program = NULL, path[2 * PATH_MAX];
    bool found;
    int error;

    sc_tool_parse(&argp, argc, argv, ARGP_IN_ORDER, &program);
    sc_tool_outputs_check(argv[0], NULL);
    if (sc_tool_preload(argv[0]) != 0)
        return CANNOT_RUN;
    found = sc_tool_find_program(program[0], path, sizeof path);
    if (found) { /* an earlier run's files stay if there is no run */
        sc_tool_outputs_clear();
        sc_tool_adapt(path, program + 1);
        sc_tool_warn_program(argv[0], path);
    }
    setenv("SEMCACHE_SUMMARY", "auto", 0);
    error = execute(found ? path : NULL, program);
    fprintf(stderr, "%s: cannot run %s: %s\n", argv[0], program[0],
            found && error == ENOENT ? "its interpreter or loader is missing" : strerror(error));
    return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
}
/* SPDX-License-Identifier: BSD-2-Clause */
