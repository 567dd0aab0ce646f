/* For the tests of host/: a protocol that only notes the requests. */
#ifndef SC_TESTS_HOST_FAKE_H
#define SC_TESTS_HOST_FAKE_H

#include <errno.h>
#include <string.h>

#include "base/config.h"
#include "base/inside.h"
#include "host/host_int.h"

struct fake_call {
    uintptr_t addr;
    size_t bytes;
    enum sc_access access;
};
static struct fake_call fake_acquired[64], fake_forgotten[64];
static int fake_acquires, fake_forgets, fake_homes, fake_resumes, fake_children, fake_outside;

static inline void fake_note(struct fake_call *calls, int *count, uintptr_t addr, size_t bytes, enum sc_access access)
{
    if (*count < 64)
        calls[*count] = (struct fake_call){addr, bytes, access};
    ++*count;
    if (!sc_inside())
        fake_outside++;
    errno = E2BIG; /* a callback's errno must not reach the program */
}

static inline void fake_acquire(uintptr_t addr, size_t bytes, enum sc_access access)
{
    fake_note(fake_acquired, &fake_acquires, addr, bytes, access);
}
static inline void fake_forget(uintptr_t addr, size_t bytes)
{
    fake_note(fake_forgotten, &fake_forgets, addr, bytes, 0);
}
static inline void fake_home(void) { fake_homes++; }
static inline void fake_resume(void) { fake_resumes++; }
static inline void fake_child(void) { fake_children++; }

static inline void fake_withdraw(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg)
{
    fake_acquire(addr, bytes, SC_RDWR);
    fake_forget(addr, bytes);
    if (end)
        end(arg);
}
static const struct sc_host_callbacks fake_callbacks = {
    .forget = fake_forget, .withdraw = fake_withdraw,
    .acquire = fake_acquire, .home = fake_home, .child = fake_child,
    .resume = fake_resume};

static inline void fake_reset(void)
{
    fake_acquires = fake_forgets = fake_homes = fake_resumes = fake_children = fake_outside = 0;
}

/* Whether the range was acquired exactly once since the last reset, and nothing else; resets. */
static inline int fake_acquired_only(const void *p, size_t bytes, enum sc_access access)
{
    int good = fake_acquires == 1 && fake_acquired[0].addr == (uintptr_t)p && fake_acquired[0].bytes == bytes &&
               fake_acquired[0].access == access && !fake_outside;

    fake_reset();
    return good;
}

static inline int fake_start(size_t arena_bytes)
{
    sc_config.arena_bytes = arena_bytes;
    if (sc_host_arena_start() != SC_OK)
        return -1;
    sc_host_callbacks_set(&fake_callbacks);
    return 0;
}

static inline int all_bytes(const void *p, int value, size_t bytes)
{
    const unsigned char *c = p;

    return bytes == 0 || (c[0] == value && memcmp(c, c + 1, bytes - 1) == 0);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
