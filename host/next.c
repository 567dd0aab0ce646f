#define _GNU_SOURCE
#include "host/next.h"


#include "base/loader.h"

void *sc_host_next_find(void **slot, const char *name)
{
    void *next = sc_loader_symbol(RTLD_NEXT, name);

    __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    return next;
}
/* SPDX-License-Identifier: BSD-2-Clause */
