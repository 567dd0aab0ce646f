/* The state of the protocol, its lock, and the number of calls in progress. */
#include "coherence/protocol.h"

#include "base/locks.h"

#include <pthread.h>

#include "base/libc_versions.h"

struct sc_protocol sc_protocol;

static struct sc_lock lock = SC_LOCK(SC_RANK_PROTOCOL);
static pthread_cond_t may_begin = PTHREAD_COND_INITIALIZER;
static unsigned holding; /* threads that hold calls up */
static pthread_cond_t none_active = PTHREAD_COND_INITIALIZER;

/* Speculation ends before the thread that has got the lock looks at a state (speculate.c). */
static void settle(void)
{
    if (__builtin_expect(sc_protocol.settle != NULL, 0))
        sc_protocol.settle();
}

void sc_protocol_lock(void)
{
    sc_lock(&lock);
    sc_inside_enter();
    settle();
}

void sc_protocol_unlock(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_inside_leave();
    sc_unlock(&lock);
}

/* In a forked child, which has no other thread. */
void sc_protocol_lock_reset(void)
{
    sc_lock_init(&lock, SC_RANK_PROTOCOL);
    pthread_cond_init(&may_begin, NULL);
    pthread_cond_init(&none_active, NULL);
    holding = 0;
}

void sc_protocol_hold_calls(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    holding++;
}

void sc_protocol_resume_calls(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(holding > 0);
    if (--holding == 0)
        pthread_cond_broadcast(&may_begin);
}

bool sc_protocol_await_admission(void)
{
    bool waited = holding;

    sc_assert_held(SC_RANK_PROTOCOL);
    while (holding) {
        sc_cond_wait(&may_begin, &lock.mutex);
        settle();
    }
    return waited;
}

void sc_protocol_call_begins(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    __atomic_fetch_add(&sc_protocol.active, 1, __ATOMIC_SEQ_CST); /* before notes are looked at: acquire.c */
}

void sc_protocol_call_over(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(sc_protocol.active > 0);
    if (__atomic_sub_fetch(&sc_protocol.active, 1, __ATOMIC_RELEASE) == 0)
        pthread_cond_broadcast(&none_active);
}

void sc_protocol_await_calls(double seconds)
{
    struct timespec until = sc_lock_deadline(seconds);

    sc_assert_held(SC_RANK_PROTOCOL);
    while (sc_protocol.active && pthread_cond_timedwait(&none_active, &lock.mutex, &until) == 0)
        settle();
}

void sc_protocol_end_calls(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_protocol.stopping = true;
    while (sc_protocol.active) {
        sc_cond_wait(&none_active, &lock.mutex);
        settle();
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
