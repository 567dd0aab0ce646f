/* fork: devices do not survive a fork.  Before the fork, data comes to host memory and pages are opened: the child
 * finds valid and accessible data.  After the fork, the child's library has no devices.  The child's malloc takes
 * nothing more from the arena, the child's free still knows the arena's blocks, and no callback of the protocol is
 * called.
 *
 * For vfork, posix_spawn and system libc runs no fork handlers, and needs none: the child shares the parent's memory
 * and executes a program.  For _Fork and clone libc runs no handlers either: process.c runs the library's. */
#include "host/fork.h"

#include <pthread.h>

#include "base/forks.h"
#include "host/arena.h"
#include "host/span.h"
#include "host/watch.h"

/* There are two sets of handlers.  The arena's set is registered with the arena.  The protocol's set is registered
 * when devices are open, and handlers registered last run first in `prepare`.  The devices' libraries prepare for a
 * fork too (OpenBLAS ends its threads) and must find no work in progress. */

/* went_home: for the fork that this thread is making, `home` was called.  A second thread may start the protocol in
 * the meantime.  made_up: sc_host_fork_make_up called `home`, late. */
static __thread bool went_home __attribute__((tls_model("initial-exec")));
static __thread bool made_up __attribute__((tls_model("initial-exec")));

static void protocol_prepare(void)
{
    went_home = sc_host_home();
}

static void protocol_parent(void)
{
    if (went_home)
        sc_host_resume();
    went_home = false;
}

static void protocol_child(void)
{
    went_home = false;
    sc_host_child();
}

void sc_host_fork_make_up(void)
{
    if (!went_home)
        made_up = went_home = sc_host_home();
}

void sc_host_fork_made_up(bool in_child)
{
    if (made_up)
        (in_child ? protocol_child : protocol_parent)();
    made_up = false;
}

static void prepare(void)
{
    sc_watch_fork_prepare();
    sc_host_spans_fork_prepare();
}

static void parent(void)
{
    sc_host_spans_fork_parent();
    sc_watch_fork_parent();
}

static void child(void)
{
    sc_host_spans_fork_child();
    sc_watch_fork_child();
    __atomic_store_n(&sc_host_arena_from, SIZE_MAX, __ATOMIC_RELEASE);
}

static void start(void) { sc_forks_register(prepare, parent, child); }

static void protocol_start(void) { sc_forks_register(protocol_prepare, protocol_parent, protocol_child); }

void sc_host_fork_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
}

void sc_host_fork_protocol_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, protocol_start);
}
/* SPDX-License-Identifier: BSD-2-Clause */
