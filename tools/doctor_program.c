/* Whether the library can be preloaded to a program's file, and sees its calls. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "blas/blas.h"
#include "tools/doctor.h"
#include "tools/elf_file.h"
#include "tools/tool.h"

static const char check[] = "program";

/* --- names of the BLAS -------------------------------------------------------------------------------------------- */

/* "dgemm_", "dgemm_64_", "cblas_dgemm". */
static bool is_blas(const char *symbol)
{
    static const char *const endings[] = {"_64_", "_"};
    const bool cblas = strncmp(symbol, "cblas_", 6) == 0;
    size_t length = strlen(symbol);

    for (size_t i = 0; !cblas && i < 2; i++) {
        size_t ending = strlen(endings[i]);

        if (length > ending && strcmp(symbol + length - ending, endings[i]) == 0) {
            length -= ending;
            break;
        }
    }
    if (!cblas && !symbol[length])
        return false;
    symbol += cblas ? 6 : 0;
    length -= cblas ? 6 : 0;
    for (int i = 1; i < SC_TRACE_SPARSE_GEMM && sc_trace_routine_name(i); i++)
        if (strncmp(sc_trace_routine_name(i), symbol, length) == 0 && !sc_trace_routine_name(i)[length])
            return true;
    return false;
}

struct names {
    int defined, called;
    char defines[64], calls[64]; /* the first of each */
};

static bool take_symbol(void *context, const char *name, const Elf64_Sym *symbol)
{
    struct names *names = context;
    bool defined = symbol->st_shndx != SHN_UNDEF;
    char *first = defined ? names->defines : names->calls;

    if ((defined && ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) || !is_blas(name))
        return true;
    if (!*first)
        snprintf(first, sizeof names->calls, "%s", name);
    defined ? names->defined++ : names->called++;
    return true;
}

static void check_names(const struct sc_elf *elf)
{
    struct names names = {0};
    char more[32] = "";
    bool whole;

    sc_blas_register_names();
    whole = sc_elf_symbols(elf, SHT_SYMTAB, take_symbol, &names);
    if (!whole)
        sc_elf_symbols(elf, SHT_DYNSYM, take_symbol, &names);
    if (names.called > 1)
        snprintf(more, sizeof more, ", and %d more", names.called - 1);
    if (names.defined)
        sc_doctor_say(SC_VERDICT_FAIL, "calls", "link a shared BLAS, or -lsemcache in front of the static BLAS "
                      "(doc/install.md)", "the program contains %s and %d more names of the BLAS itself: calls of "
                      "them never leave it", names.defines, names.defined - 1);
    else if (names.called)
        sc_doctor_say(SC_VERDICT_OK, "calls", NULL, "the program calls %s%s, in shared libraries", names.calls, more);
    else
        sc_doctor_say(whole ? SC_VERDICT_OK : SC_VERDICT_NOTE, "calls",
                      whole ? NULL : "should the program contain a BLAS of its own, its calls never leave it",
                      "the program itself names no routine of the BLAS%s; libraries that it loads may",
                      whole ? "" : " (its table of symbols was stripped)");
}

/* --- the loader --------------------------------------------------------------------------------------------------- */

struct obstacle {
    const char *text, *remedy; /* what is said behind the program's path; NULL: nothing is in the way */
};

/* Whether the kernel asks the loader to ignore LD_PRELOAD, for this user. */
static struct obstacle obstacle_of_rights(const char *path)
{
    static const char remedy[] = "run a copy without these rights (cp; chmod a-s)";
    struct stat about;
    char value[64];

    if (stat(path, &about) != 0)
        return (struct obstacle){0};
    if ((about.st_mode & S_ISUID && about.st_uid != getuid()) || (about.st_mode & S_ISGID && about.st_gid != getgid()))
        return (struct obstacle){"runs with the rights of another user or group: the loader ignores LD_PRELOAD",
                                 remedy};
    if (getxattr(path, "security.capability", value, sizeof value) > 0)
        return (struct obstacle){"has capabilities: the loader ignores LD_PRELOAD", remedy};
    return (struct obstacle){0};
}

static struct obstacle obstacle_of_loader(const struct sc_elf *elf)
{
    size_t bytes = 0;
    const char *loader = sc_elf_segment(elf, PT_INTERP, &bytes);

    if (!loader)
        return (struct obstacle){"is statically linked: nothing can be preloaded to it",
                                 "link it dynamically (without -static)"};
    if (memmem(loader, bytes, "ld-musl", 7))
        return (struct obstacle){"is linked with musl, the library with glibc", "build it on a system with glibc"};
    return (struct obstacle){0};
}

static void check_elf(struct sc_elf *elf, const char *path)
{
    struct obstacle loader = obstacle_of_loader(elf), rights = obstacle_of_rights(path);

    if (loader.text)
        sc_doctor_say(SC_VERDICT_FAIL, check, loader.remedy, "%s %s", path, loader.text);
    else
        sc_doctor_say(SC_VERDICT_OK, check, NULL, "%s", path);
    if (rights.text)
        sc_doctor_say(SC_VERDICT_FAIL, check, rights.remedy, "%s %s", path, rights.text);
    check_names(elf);
    sc_elf_close(elf);
}

void sc_tool_warn_program(const char *tool, const char *path)
{
    char interpreter[PATH_MAX];
    struct sc_elf elf;
    struct obstacle obstacle;

    if (sc_elf_open(path, &elf, interpreter, sizeof interpreter) != SC_ELF_GOOD)
        return;
    obstacle = obstacle_of_loader(&elf);
    sc_elf_close(&elf);
    if (!obstacle.text)
        obstacle = obstacle_of_rights(path);
    if (obstacle.text)
        fprintf(stderr, "%s: %s %s; the program runs without semcache: %s\n", tool, path, obstacle.text,
                obstacle.remedy);
}

static void check_file(const char *path, int depth)
{
    char interpreter[PATH_MAX];
    struct sc_elf elf;

    switch (sc_elf_open(path, &elf, interpreter, sizeof interpreter)) {
    case SC_ELF_GOOD:
        check_elf(&elf, path);
        return;
    case SC_ELF_SCRIPT:
        sc_doctor_say(SC_VERDICT_OK, check, NULL, "%s is a script of %s; programs that it starts get the library, too",
                      path, interpreter);
        if (depth < 4)
            check_file(interpreter, depth + 1);
        return;
    case SC_ELF_FOREIGN:
        sc_doctor_say(SC_VERDICT_FAIL, check, "build it for the processors of this machine, with 64 bits",
                      "%s is for another architecture than the library", path);
        return;
    case SC_ELF_FAILED:
        sc_doctor_say(SC_VERDICT_FAIL, check, "name a program that this user may read", "%s cannot be read: %s", path,
                      strerror(errno));
        return;
    case SC_ELF_OTHER:
        sc_doctor_say(SC_VERDICT_FAIL, check, "name a program, or a trace of semcache run --trace",
                      "%s is neither a program nor a trace", path);
        return;
    }
}

void sc_doctor_program(const char *file)
{
    char path[2 * PATH_MAX];

    if (sc_tool_find_program(file, path, sizeof path))
        check_file(path, 0);
    else if (strchr(file, '/') ? access(file, F_OK) == 0 : access(file, R_OK) == 0)
        sc_doctor_say(SC_VERDICT_FAIL, check, "name a program, or a trace of semcache run --trace",
                      "%s is neither a program that can be run nor a trace", file);
    else
        sc_doctor_say(SC_VERDICT_FAIL, check, "a trace begins with the first large call after the devices have opened: "
                      "semcache run --summary says why there was none", "there is no %s", file);
}
/* SPDX-License-Identifier: BSD-2-Clause */
