/* A front end of the fault engine: the way of a SIGSEGV from the kernel to sc_fault_sig_serve. */
#ifndef SC_HOST_FRONT_H
#define SC_HOST_FRONT_H

#include <signal.h>

#include "base/status.h"
#include "base/types.h"
#include "host/host.h"

struct sc_host_front {
    const char *name;
    /* Installs the handler in place of `theirs`.  SC_ERR_UNSUPPORTED: unusable in this process, use the next front
     * end. */
    enum sc_status (*install)(const struct sigaction *theirs);
    void (*remove)(void);
};

extern const struct sc_host_front sc_host_front_sigaction;
#ifdef HAVE_LIBSIGSEGV
extern const struct sc_host_front sc_host_front_libsigsegv;
#endif

/* In the signal handler: the code that faulted; context: its ucontext_t. */
static inline struct sc_host_code sc_front_code(long long ip, long long sp, const void *context)
{
    struct sc_host_code code = {.ip = (uintptr_t)ip, .sp = (uintptr_t)sp, .context = context};

    __asm__("mov %%fs:0, %0" : "=r"(code.thread));
    return code;
}

/* error_code: REG_ERR of the signal's context.  Bit 1 of x86's error code tells a write from a read. */
static inline enum sc_access sc_front_access(long long error_code)
{
    return error_code & 2 ? SC_WRITE : SC_READ;
}

/* For tests, before the start: name of the front end to use, or NULL for the default. */
extern const char *sc_host_front_wanted;

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
