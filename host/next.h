/* The next definition of an interposed function, in the order of libraries: libc's, mostly. */
#ifndef SC_HOST_NEXT_H
#define SC_HOST_NEXT_H

#include <stddef.h>

/* Looks it up and keeps it in *slot.  Not for signal handlers; errno is kept. */
void *sc_host_next_find(void **slot, const char *name);

/* An interposed function's own pointer to the next one: filled when the library is loaded, or at the first call when
 * that comes earlier (constructors of other libraries). */
static inline void *sc_host_next(void **slot, const char *name)
{
    void *next = __atomic_load_n(slot, __ATOMIC_RELAXED);

    return __builtin_expect(next != NULL, 1) ? next : sc_host_next_find(slot, name);
}

#endif
