/* Memory that the program uses as a stack (rule F12).  libc is told of most stacks: of threads, alternate stacks,
 * contexts (contexts.c), and children of clone (process.c).  Libraries of coroutines tell no function of libc; their
 * stacks are noticed when a call of the BLAS is made on such a stack. */
#include "host/stacks.h"

#include <pthread.h>
#include <signal.h>

#include "base/inside.h"
#include "base/stack.h"
#include "host/arena.h"
#include "host/fault_int.h"
#include "host/next.h"
#include "host/watch.h"

/* Deprecated but still in use. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
SC_HOST_EXPORT int pthread_attr_setstackaddr(pthread_attr_t *attr, void *top);
static void *next_pthread_attr_setstack, *next_pthread_attr_setstackaddr, *next_sigaltstack;

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

static void __attribute__((constructor)) find_next(void)
{
    NEXT(pthread_attr_setstack);
    NEXT(pthread_attr_setstackaddr);
    NEXT(sigaltstack);
}

void sc_host_stack_at(uintptr_t lo, size_t bytes)
{
    if (!lo || !bytes || !sc_host_arena.bytes || sc_inside())
        return;
    if (sc_host_within((const void *)lo))
        sc_host_arena_abandon(lo, bytes, false);
    else
        sc_watch_stack(lo, bytes);
}

/* Handles the block that contains the caller's stack.  The block is not tracked from then on, so each block is
 * handled once. */
static void stack_here(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct sc_host_block block;

    if (sc_host_within((const void *)here) && sc_host_block_of((const void *)here, &block))
        sc_host_stack_at(block.base, block.bytes);
}

/* A thread that was made past libc may have a mask that the library has not seen (rule F8). */
static void open_mask(void)
{
    static __thread bool opened __attribute__((tls_model("initial-exec")));

    if (!opened && sc_host_masks_kept())
        sc_host_unblock();
    opened = true;
}

bool sc_host_stack_has(unsigned long bytes)
{
    open_mask();
    stack_here();
    return sc_stack_has(bytes);
}

SC_HOST_EXPORT int pthread_attr_setstack(pthread_attr_t *attr, void *lo, size_t bytes)
{
    sc_host_stack_at((uintptr_t)lo, bytes);
    return NEXT(pthread_attr_setstack)(attr, lo, bytes);
}

/* The size of the stack may be set by a later call. */
SC_HOST_EXPORT int pthread_attr_setstackaddr(pthread_attr_t *attr, void *top)
{
    size_t bytes = 1;

    if (!sc_host_within((const char *)top - 1))
        pthread_attr_getstacksize(attr, &bytes);
    sc_host_stack_at((uintptr_t)top - bytes, bytes);
    return NEXT(pthread_attr_setstackaddr)(attr, top);
}

SC_HOST_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    if (stack && !(stack->ss_flags & SS_DISABLE))
        sc_host_stack_at((uintptr_t)stack->ss_sp, stack->ss_size);
    return NEXT(sigaltstack)(stack, old);
}
/* SPDX-License-Identifier: BSD-2-Clause */
