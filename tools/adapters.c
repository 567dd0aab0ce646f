/* The variables by which an interpreter or a library finds its adapter (adapters/README.md). */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/elf_file.h"
#include "tools/tool.h"

/* Puts `entry` into a variable's list, in front or at the end. */
static void add(const char *name, const char *entry, const char *separator, bool in_front)
{
    const char *others = getenv(name);
    char *list;

    if (others && strstr(others, entry)) /* set by an outer `semcache run` */
        return;
    if (!others || !*others)
        others = separator = "";
    if (asprintf(&list, "%s%s%s", in_front ? entry : others, separator, in_front ? others : entry) < 0)
        return;
    setenv(name, list, 1);
    free(list);
}

/* Python: a sitecustomize. */
static void adapt_scipy(void)
{
    char path[PATH_MAX];

    if (sc_tool_adapter("scipy", false, path, sizeof path) && !strchr(path, ':'))
        add("PYTHONPATH", path, ":", true);
}

/* The package `semcache`, which is no adapter: a program that imports the package asks for it. */
static void show_package(void)
{
    char path[PATH_MAX];

    if (sc_tool_adapter("python", false, path, sizeof path) && !strchr(path, ':'))
        add("PYTHONPATH", path, ":", false);
}

/* Octave: a folder of Octave's path, whose PKG_ADD runs at start. */
static void adapt_octave(void)
{
    char path[PATH_MAX];

    if (sc_tool_adapter("octave", true, path, sizeof path) && !strchr(path, ':'))
        add("OCTAVE_PATH", path, ":", true);
}

/* A library that PETSc opens. */
static void adapt_petsc(const char *path)
{
    char option[2 * PATH_MAX];

    if (strpbrk(path, " \t'\""))
        return;
    snprintf(option, sizeof option, "-dll_append %s", path);
    add("PETSC_OPTIONS", option, " ", true);
}

/* A library with the names of another library; behind libsemcache. */
static void preload(const char *path)
{
    if (!strpbrk(path, " :"))
        add("LD_PRELOAD", path, ":", false);
}

static const struct adapter {
    const char *name, *library; /* library: the beginning of its file name */
    void (*start)(const char *path);
} adapters[] = {{"petsc", "libpetsc", adapt_petsc}, {"cholmod", "libcholmod.", preload},
                {"hypre", "libHYPRE", preload}, {"epetra", "libtrilinos_epetra", preload}};

/* Starts the adapter of a library, if there is one for exactly this library. */
static void adapt_library(const char *library)
{
    char name[PATH_MAX], path[PATH_MAX];

    for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++) {
        const struct adapter *a = &adapters[i];

        if (strncmp(library, a->library, strlen(a->library)) == 0 &&
            snprintf(name, sizeof name, "%s/%s/libsemcache_%s.so", a->name, library, a->name) < (int)sizeof name &&
            sc_tool_adapter(name, true, path, sizeof path))
            a->start(path);
    }
}

/* The names that a dynamic linker lists: "libm.so.6 => /lib/libm.so.6 (0x...)". */
static void adapt_listed(FILE *list)
{
    char line[2 * PATH_MAX], library[NAME_MAX + 1];

    while (fgets(line, sizeof line, list))
        if (sscanf(line, " %255s =>", library) == 1 && !strchr(library, '/'))
            adapt_library(library);
}

/* The program's dynamic linker knows the libraries of the program, and the libraries that these need.  --list runs no
 * code of the program. */
static void ask_linker(const char *linker, const char *path)
{
    int ends[2];
    FILE *list;
    pid_t child;

    if (pipe(ends) != 0)
        return;
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(STDERR_FILENO);
        execl(linker, linker, "--list", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    list = fdopen(ends[0], "r");
    if (list) {
        adapt_listed(list);
        fclose(list);
    } else {
        close(ends[0]);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void adapt_program(const char *path)
{
    char script[PATH_MAX], linker[PATH_MAX];
    const char *segment;
    struct sc_elf elf;
    size_t bytes;

    if (sc_elf_open(path, &elf, script, sizeof script) != SC_ELF_GOOD)
        return;
    segment = sc_elf_segment(&elf, PT_INTERP, &bytes);
    snprintf(linker, sizeof linker, "%.*s", segment ? (int)bytes : 0, segment ? segment : "");
    sc_elf_close(&elf);
    if (*linker)
        ask_linker(linker, path);
}

void sc_tool_adapt(const char *program, char **arguments)
{
    const char *setting = getenv("SEMCACHE_ADAPTERS");
    char path[2 * PATH_MAX];

    show_package();
    if (setting && strcmp(setting, "0") == 0)
        return;
    adapt_scipy();
    adapt_octave();
    adapt_program(program);
    for (; *arguments; arguments++)
        if (sc_tool_find_program(*arguments, path, sizeof path))
            adapt_program(path);
}
/* SPDX-License-Identifier: BSD-2-Clause */
