/* Functions of the program that libc calls on threads of its own.  libc runs the functions of timers (SIGEV_THREAD)
 * with every signal blocked: a fault on a closed page would end the program.  For all other events (message queues,
 * asynchronous I/O, look-ups) libc unblocks the signals itself. */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "base/inside.h"
#include "host/fault_int.h"
#include "host/host_int.h"
#include "host/next.h"

static void *next_timer_create;

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

static void __attribute__((constructor)) find_next(void) { NEXT(timer_create); }

/* The function and value of a timer.  A notice is never freed, because a timer's function may be about to run when
 * the timer is deleted.  Timers with the same function and value share a notice. */
struct notice {
    struct notice *next;
    void (*function)(union sigval);
    union sigval value;
};
#define LISTS 64
static struct notice *notices[LISTS]; /* grow at the front only */

static void notify(union sigval value)
{
    const struct notice *n = value.sival_ptr;

    sc_host_unblock();
    n->function(n->value);
}

static struct notice *notice_of(const struct sigevent *event)
{
    uintptr_t key = (uintptr_t)event->sigev_notify_function ^ (uintptr_t)event->sigev_value.sival_ptr;
    struct notice **list = &notices[(key ^ key >> 6 ^ key >> 12) % LISTS], *n;
    struct notice *first = __atomic_load_n(list, __ATOMIC_ACQUIRE);

    for (n = first; n; n = n->next)
        if (n->function == event->sigev_notify_function && n->value.sival_ptr == event->sigev_value.sival_ptr)
            return n;
    n = malloc(sizeof *n);
    if (!n)
        return NULL;
    *n = (struct notice){first, event->sigev_notify_function, event->sigev_value};
    while (!__atomic_compare_exchange_n(list, &n->next, n, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return n;
}

SC_HOST_EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    struct sigevent ours;
    struct notice *n = NULL;

    if (event && event->sigev_notify == SIGEV_THREAD && event->sigev_notify_function && !sc_inside())
        n = notice_of(event);
    if (!n)
        return NEXT(timer_create)(clock, event, timer);
    ours = *event;
    ours.sigev_notify_function = notify;
    ours.sigev_value.sival_ptr = n;
    return NEXT(timer_create)(clock, &ours, timer);
}
/* SPDX-License-Identifier: BSD-2-Clause */
