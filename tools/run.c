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

#include "libsemcache/config.h"
#include "tools/tool.h"

enum { CANNOT_RUN = 126, NOT_FOUND = 127 }; /* as the shell, env(1) and others */

static const struct argp_option options[] = {
    {"device", 'd', "DEVICE", 0, "auto, none, cuda[:0,1,...] or emu:MACHINE[:COUNT]", 0},
    {"offload", 'o', "WHICH", 0, "auto, always or never", 0},
    {"stats", 's', "FILE", 0, "write statistics there at exit (-: stderr; %p: process id)", 0},
    {"trace", 't', "FILE", 0, "write a trace there (%p: process id)", 0},
    {"explain", 'e', "FILE", 0, "write there at exit why calls ran where they ran", 0},
    {"check", 'c', NULL, 0, "check the invariants of the protocol (slow)", 0},
    {0}};

static const struct {
    int key;
    const char *setting;
} variables[] = {{'d', "SEMCACHE_DEVICE"}, {'o', "SEMCACHE_OFFLOAD"}, {'s', "SEMCACHE_STATS"},
                 {'t', "SEMCACHE_TRACE"}, {'e', "SEMCACHE_EXPLAIN"}, {'c', "SEMCACHE_CHECK"}};

static const char *variable_of(int key)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (variables[i].key == key)
            return variables[i].setting;
    return NULL;
}

/* The program may change its folder before it ends; the file belongs here. */
static const char *from_here(const char *path, char *room, size_t bytes)
{
    char folder[PATH_MAX];

    if (!*path || *path == '/' || strcmp(path, "-") == 0 || !getcwd(folder, sizeof folder) ||
        snprintf(room, bytes, "%s/%s", folder, path) >= (int)bytes)
        return path;
    return room;
}

/* An old file would be taken for that of a program that ends without writing any. */
static void remove_old(const char *path)
{
    struct stat about;

    if (lstat(path, &about) == 0 && S_ISREG(about.st_mode))
        unlink(path);
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
    char room[2 * PATH_MAX];
    const char *value = text;

    switch (key) {
    case 's':
    case 't':
    case 'e':
        value = from_here(text, room, sizeof room);
        remove_old(value);
        break;
    case 'c':
        value = "1";
        break;
    }
    if (!variable_of(key))
        return ARGP_ERR_UNKNOWN;
    sc_tool_set(state->name, variable_of(key), value);
    return 0;
}

const struct argp sc_tool_settings = {.options = options, .parser = parse_setting};

/* In front of what is preloaded already. */
int sc_tool_preload(const char *name)
{
    const char *library = sc_tool_library();
    const char *others = getenv("LD_PRELOAD");
    char *list;

    if (access(library, R_OK) != 0) {
        fprintf(stderr, "%s: the library %s is not there: %s\n", name, library, strerror(errno));
        return -1;
    }
    if (strpbrk(library, " :")) {
        fprintf(stderr, "%s: %s cannot be preloaded: its name has a space or a colon\n", name, library);
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
        state->next = state->argc; /* the rest is the program's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the program to run is missing");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int sc_tool_run(int argc, char **argv)
{
    static const struct argp_child children[] = {{&sc_tool_settings, 0, NULL, 0}, {0}};
    static const struct argp argp = {.children = children,
                                     .parser = parse,
                                     .args_doc = "PROGRAM [ARGUMENT...]",
                                     .doc = "Runs a program with semcache under it."};
    char **program = NULL;

    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &program);
    if (sc_tool_preload(argv[0]) != 0)
        return CANNOT_RUN;
    execvp(program[0], program);
    fprintf(stderr, "%s: cannot run %s: %s\n", argv[0], program[0], strerror(errno));
    return errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
}
