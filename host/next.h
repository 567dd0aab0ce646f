/* The next definition of an interposed function, in the order of libraries: libc's, mostly. */
#ifndef SC_HOST_NEXT_H
#define SC_HOST_NEXT_H

#include <dlfcn.h> /* RTLD_NEXT: the includer defines _GNU_SOURCE */

/* An interposed function's own pointer to the next one: filled when the library is loaded, or at the first call when that
 * comes earlier (constructors of other libraries). */
static inline void *sc_host_next(void **slot, const char *name)
{
    void *next = __atomic_load_n(slot, __ATOMIC_RELAXED);

    if (__builtin_expect(!next, 0)) {
        next = dlsym(RTLD_NEXT, name);
        __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    }
    return next;
}

#endif
