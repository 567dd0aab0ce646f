/* fork and exit run what libraries have registered.  A library that is being loaded by another thread at that time may
 * have registered half of it, and what it registers while a fork has begun is not run for that fork: an OpenBLAS whose
 * threads were not ended before it waits for them in the child, for ever or past its memory.  So these calls wait first
 * until nobody of ours is loading any more.
 *
 * Not seen: a return from main (libsemcache/opener.c), and forks inside other libraries' calls into libc, which are
 * held up by fork.c's handlers. */
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/host_int.h"
#include "host/next.h"
#include "host/process.h"

static void *next_fork, *next_forkpty, *next_daemon, *next_exit;
static void (*before)(void);

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

/* At load: fork and exit may be called in signal handlers, where names are not looked up. */
static void __attribute__((constructor)) find_next(void)
{
    NEXT(fork);
    NEXT(forkpty);
    NEXT(daemon);
    NEXT(exit);
}

void sc_host_process_before(void (*wait)(void)) { __atomic_store_n(&before, wait, __ATOMIC_RELEASE); }

static void wait_first(void)
{
    void (*wait)(void) = __atomic_load_n(&before, __ATOMIC_ACQUIRE);

    if (wait)
        wait();
}

SC_HOST_EXPORT pid_t fork(void)
{
    wait_first();
    return NEXT(fork)();
}

SC_HOST_EXPORT int forkpty(int *main_end, char *name, const struct termios *mode, const struct winsize *size)
{
    wait_first();
    return NEXT(forkpty)(main_end, name, mode, size);
}

SC_HOST_EXPORT int daemon(int nochdir, int noclose)
{
    wait_first();
    return NEXT(daemon)(nochdir, noclose);
}

SC_HOST_EXPORT void exit(int status)
{
    wait_first();
    NEXT(exit)(status);
    __builtin_unreachable();
}
