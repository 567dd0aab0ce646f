/* Another process, seen through /proc: its mappings and the library in it. */
#ifndef SC_TOOLS_PROCESS_H
#define SC_TOOLS_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sc_process {
    pid_t pid;
    char program[PATH_MAX]; /* its file; "" unknown */
    char library[PATH_MAX]; /* libsemcache's file as mapped; "": not loaded */
    bool replaced;          /* that file has been removed or written anew since */
    uintptr_t base;         /* where its file begins in memory */
    size_t mappings;
};

/* NULL, or the cause why the process cannot be looked at. */
const char *sc_process_look(pid_t pid, struct sc_process *process);

/* What permission is missing to look into processes, and a remedy in one line. */
const char *sc_process_remedy(pid_t pid);

/* The environment that the process was started with, ended by NULL (never freed); NULL: it cannot be read. */
char **sc_process_environment(pid_t pid);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
