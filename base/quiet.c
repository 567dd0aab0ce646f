#include "base/quiet.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "base/system_call.h"

uint64_t sc_quiet_signals;
__thread unsigned sc_quiet_threads __attribute__((tls_model("initial-exec")));

__thread unsigned sc_quiet_depth __attribute__((tls_model("initial-exec")));

static __thread struct {
    int cancel, type;       /* cancellation state and type at the first enter */
    /* Signals blocked by us (0: no signal), and the mask at the first enter, in the kernel's format. */
    uint64_t held, before;
} here __attribute__((tls_model("initial-exec")));

/* The system call, with the kernel's format of a signal set.  libc's interposed functions change sets, and libc's sets
 * are larger. */
static void mask(int how, const uint64_t *set, uint64_t *old)
{
    int kept = errno;

    sc_system_call(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof *set, 0);
    errno = kept;
}

void sc_quiet_begin(void)
{
    uint64_t held = __atomic_load_n(&sc_quiet_signals, __ATOMIC_RELAXED), before = 0;

    if (held)
        mask(SIG_BLOCK, &held, &before);
    here.held = held;
    here.before = before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &here.cancel);
    /* In glibc up to 2.36 the handler of a pending cancellation checks the type only, not the state. */
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &here.type);
}

void sc_quiet_end(void)
{
    uint64_t before = here.before, held = here.held;
    int ignored;

    if (here.type != PTHREAD_CANCEL_DEFERRED)
        pthread_setcanceltype(here.type, &ignored);
    if (here.cancel != PTHREAD_CANCEL_DISABLE)
        pthread_setcancelstate(here.cancel, &ignored);
    if (held)
        mask(SIG_SETMASK, &before, NULL);
}
/* SPDX-License-Identifier: BSD-2-Clause */
