/* Start and stop of the fault engine. */
#include "base/locks.h"
#include "config.h"

#include <pthread.h>
#include <string.h>

#include "base/forks.h"
#include "base/log.h"
#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/fork.h"
#include "host/front.h"
#include "host/host_int.h"

const char *sc_host_front_wanted;

static struct sc_lock lock = SC_LOCK(SC_RANK_FAULTS); /* serialises start and stop */
static const struct sc_host_front *front;                /* NULL while the engine does not run */

/* In order of preference. */
static const struct sc_host_front *const fronts[] = {
#ifdef HAVE_LIBSIGSEGV
    &sc_host_front_libsigsegv,
#endif
    &sc_host_front_sigaction,
};
#define FRONTS (sizeof fronts / sizeof *fronts)

static const struct sc_host_front *install(void)
{
    struct sigaction theirs;

    sc_host_real_sigaction(SIGSEGV, NULL, &theirs);
    for (size_t i = 0; i < FRONTS; i++) {
        if (sc_host_front_wanted && strcmp(fronts[i]->name, sc_host_front_wanted))
            continue;
        if (fronts[i]->install(&theirs) == SC_OK)
            return fronts[i];
    }
    return NULL;
}

/* In a forked child, which has no pager, the program's own action for SIGSEGV is restored. */
static void child(void)
{
    sc_lock_init(&lock, SC_RANK_FAULTS);
    if (!front)
        return;
    /* Already 0 where the kernel supports MADV_WIPEONFORK. */
    __atomic_store_n(&sc_fault_desk->open, 0, __ATOMIC_SEQ_CST);
    front->remove();
    front = NULL;
}

bool sc_host_orphan(void)
{
    const struct sc_fault_desk *desk = __atomic_load_n(&sc_fault_desk, __ATOMIC_RELAXED);

    return desk && !__atomic_load_n(&desk->owner, __ATOMIC_RELAXED);
}

static void watch_forks(void)
{
    sc_forks_register(NULL, NULL, child);
}

/* Start: the handler is installed before the pager runs, because the handler passes every fault on while the desk is
 * closed.  Stop: the opposite order. */
enum sc_status sc_host_faults_start(const struct sc_host_callbacks *callbacks)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    enum sc_status status = SC_OK;

    pthread_once(&once, watch_forks);
    sc_host_fork_protocol_start();
    sc_lock(&lock);
    if (!front) {
        sc_host_callbacks_set(callbacks);
        front = install();
        status = front ? sc_host_pager_start(callbacks) : SC_ERR_UNSUPPORTED;
        if (front && status != SC_OK) {
            front->remove();
            front = NULL;
        }
    }
    sc_unlock(&lock);
    return status;
}

void sc_host_faults_stop(void)
{
    sc_lock(&lock);
    if (front) {
        sc_host_pager_stop();
        front->remove();
        front = NULL;
    }
    sc_unlock(&lock);
}

const char *sc_host_faults_front(void)
{
    const struct sc_host_front *now = __atomic_load_n(&front, __ATOMIC_RELAXED);

    return now ? now->name : fronts[0]->name;
}
/* SPDX-License-Identifier: BSD-2-Clause */
