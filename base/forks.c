#include "base/forks.h"

#include <pthread.h>

#include "base/inside.h"

#define HANDLERS_MAX 8
static struct {
    void (*prepare)(void), (*parent)(void), (*child)(void);
} handlers[HANDLERS_MAX];
static int count;

/* Number of handlers prepared by the fork in progress on this thread. */
static __thread int prepared __attribute__((tls_model("initial-exec")));

void sc_forks_register(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    int mine = __atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL); /* the pointers stay NULL until filled */

    sc_inside_enter();
    if (mine < HANDLERS_MAX) {
        handlers[mine].prepare = prepare;
        handlers[mine].parent = parent;
        handlers[mine].child = child;
    }
    pthread_atfork(prepare, parent, child);
    sc_inside_leave();
}

void sc_forks_prepare(void)
{
    prepared = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    if (prepared > HANDLERS_MAX)
        prepared = HANDLERS_MAX;
    for (int i = prepared; i-- > 0;)
        if (handlers[i].prepare)
            handlers[i].prepare();
}

void sc_forks_parent(void)
{
    for (int i = 0; i < prepared; i++)
        if (handlers[i].parent)
            handlers[i].parent();
}

void sc_forks_child(void)
{
    for (int i = 0; i < prepared; i++)
        if (handlers[i].child)
            handlers[i].child();
}
/* SPDX-License-Identifier: BSD-2-Clause */
