/* fork: devices do not survive it.  Before, everything is brought home and opened, so the child finds all its data in
 * host memory and all pages accessible; after, the child's library has no devices, its malloc takes nothing more from
 * the arena (free still knows the arena's blocks), and no call goes back to the protocol.
 *
 * libc runs no handlers for vfork, posix_spawn and system, whose child uses the parent's memory, and executes another
 * program, and none for _Fork and clone: process.c does. */
#include "host/fork.h"

#include <pthread.h>

#include "base/forks.h"
#include "host/arena.h"
#include "host/span.h"
#include "host/watch.h"

/* Two sets of handlers.  The arena's are registered with the arena.  The protocol's come once devices are open, and
 * therefore run first: what the devices' libraries do before a fork (OpenBLAS ends its threads) must find no work in
 * progress. */

/* The protocol went home for the fork that this thread is in; it may be started by another thread meanwhile.  made_up:
 * it was so, and went home late. */
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
