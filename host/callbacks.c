#include <errno.h>

#include "base/inside.h"
#include "base/quiet.h"
#include "host/arena.h"
#include "host/watch.h"

const struct sc_host_callbacks *sc_host_callbacks;
/* In a forked child.  Host memory is valid and open in the child, and no protocol is left to call. */
static bool in_child;

void sc_host_callbacks_set(const struct sc_host_callbacks *callbacks)
{
    __atomic_store_n(&sc_host_callbacks, callbacks, __ATOMIC_RELEASE);
}

static const struct sc_host_callbacks *any(void)
{
    return in_child ? NULL : __atomic_load_n(&sc_host_callbacks, __ATOMIC_ACQUIRE);
}

static const struct sc_host_callbacks *callable(void) { return sc_host_orphan() ? NULL : any(); }

/* Around a callback. enter returns the program's errno for leave. */
static int enter(void)
{
    int saved = errno;

    sc_quiet_enter();
    sc_inside_enter();
    return saved;
}

static void leave(int saved)
{
    sc_inside_leave();
    sc_quiet_leave();
    errno = saved;
}

void sc_host_forget(uintptr_t addr, size_t bytes)
{
    const struct sc_host_callbacks *calls = callable();
    int saved;

    if (!calls)
        return;
    saved = enter();
    calls->forget(addr, bytes);
    leave(saved);
}

void sc_host_withdraw(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg)
{
    const struct sc_host_callbacks *calls = callable();
    int saved = enter();

    if (calls)
        calls->withdraw(addr, bytes, end, arg);
    else if (end)
        end(arg);
    leave(saved);
}

void sc_host_acquire(uintptr_t addr, size_t bytes, enum sc_access access)
{
    const struct sc_host_callbacks *calls = callable();
    bool watched = access & SC_WRITE && sc_watch_meets(addr, addr + bytes);
    int saved;

    if (!calls || (!watched && calls->is_home && calls->is_home(addr, bytes, access)))
        return;
    saved = enter();
    calls->acquire(addr, bytes, access);
    leave(saved);
}

static void call(void (*function)(void))
{
    int saved = enter();

    if (function)
        function();
    leave(saved);
}

bool sc_host_home(void)
{
    const struct sc_host_callbacks *calls = callable();

    if (calls)
        call(calls->home);
    return calls != NULL;
}

void sc_host_resume(void)
{
    const struct sc_host_callbacks *calls = callable();

    if (calls)
        call(calls->resume);
}

void sc_host_child(void)
{
    const struct sc_host_callbacks *calls = any();

    in_child = true;
    if (calls)
        call(calls->child);
}
/* SPDX-License-Identifier: BSD-2-Clause */
