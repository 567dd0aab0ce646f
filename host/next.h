/* The next definition of an interposed function in the order of libraries, usually libc's. */
#ifndef SC_HOST_NEXT_H
#define SC_HOST_NEXT_H

#include <stddef.h>

/* Looks the function up and stores its address in *slot.  Not for signal handlers.  Keeps errno. */
void *sc_host_next_find(void **slot, const char *name);

/* The next definition, kept in *slot.  The slot is filled when the library is loaded, or at an earlier call by the
 * constructor of a different library. */
static inline void *sc_host_next(void **slot, const char *name)
{
    void *next = __atomic_load_n(slot, __ATOMIC_RELAXED);

    return __builtin_expect(next != NULL, 1) ? next : sc_host_next_find(slot, name);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
