/* Shared by the adapters that `semcache run` preloads.  An adapter defines functions of a library in front of the
 * library.
 *
 * An adapter needs neither libsemcache nor the library, because child processes of the program load the adapter,
 * too. */
#ifndef SC_ADAPTERS_PRELOAD_H
#define SC_ADAPTERS_PRELOAD_H

#include <dlfcn.h>
#include <stddef.h>

#include "adapters/weak.h"

#define SC_ADAPTER_NAME __attribute__((visibility("default")))

/* The definition of a name in the library SC_LIBRARY, the file name of the library that the adapter was built for.
 * Programs may open the library privately: RTLD_NEXT finds no such library. */
static inline void *sc_adapter_find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name), *library;

    if (!found && (library = dlopen(SC_LIBRARY, RTLD_LAZY | RTLD_NOLOAD))) {
        found = dlsym(library, name);
        dlclose(library);
    }
    return found;
}

/* The library's own function, found at the first call.  Threads may find the same address twice. */
#define SC_ADAPTER_NEXT(pointer, name)                                                                                 \
    (__extension__({                                                                                                   \
        if (!(pointer))                                                                                                \
            (pointer) = (__typeof__(pointer))sc_adapter_find(name);                                                    \
        pointer;                                                                                                       \
    }))

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
