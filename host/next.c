#define _GNU_SOURCE
#include "host/next.h"

#include <dlfcn.h>
#include <errno.h>

void *sc_host_next_find(void **slot, const char *name)
{
    int saved = errno;
    void *next = dlsym(RTLD_NEXT, name);

    __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    errno = saved;
    return next;
}
