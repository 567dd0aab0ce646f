#define _GNU_SOURCE
#include "base/stack.h"

#include <pthread.h>
#include <stdint.h>

#include "base/inside.h"

/* Cached: a query costs an allocation, and on the main thread a read of the list of mappings. */
static __thread struct {
    uintptr_t lo, bytes;
} own __attribute__((tls_model("initial-exec")));

static void ask(void)
{
    pthread_attr_t attr;
    void *base = NULL;
    size_t bytes = 0;

    sc_inside_enter();
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &base, &bytes);
        pthread_attr_destroy(&attr);
    }
    sc_inside_leave();
    own.lo = (uintptr_t)base;
    own.bytes = bytes + !bytes; /* nonzero also after a failed query: never asked again */
}

bool sc_stack_has(unsigned long bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (!own.bytes)
        ask();
    return here - own.lo < own.bytes && here - own.lo >= bytes;
}

bool sc_stack_holds(uintptr_t address) { return address - own.lo < own.bytes; }

bool sc_stack_is(uintptr_t address)
{
    if (!own.bytes)
        ask();
    return sc_stack_holds(address);
}
/* SPDX-License-Identifier: BSD-2-Clause */
