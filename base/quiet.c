#include "base/quiet.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t sc_quiet_signals;
__thread unsigned sc_quiet_threads __attribute__((tls_model("initial-exec")));

static __thread struct {
    unsigned depth;
    int cancel, type;       /* the state and type before */
    uint64_t held, before;  /* what was held back (0: nothing), and the mask before */
} here __attribute__((tls_model("initial-exec")));

/* The kernel's call, in the kernel's form of a set: the interposed ones change sets, and libc's are larger. */
static void mask(int how, const uint64_t *set, uint64_t *old)
{
    int kept = errno;

    syscall(SYS_rt_sigprocmask, how, set, old, sizeof *set);
    errno = kept;
}

/* The depth is counted with the signals blocked: a handler finds it 0 or does not run. */
void sc_quiet_enter(void)
{
    if (here.depth == 0) {
        uint64_t held = __atomic_load_n(&sc_quiet_signals, __ATOMIC_RELAXED);
        uint64_t before = 0;

        if (held)
            mask(SIG_BLOCK, &held, &before);
        here.held = held;
        here.before = before;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &here.cancel);
        /* glibc up to 2.36: the signal of a request from before looks at the type, and no more at the state. */
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &here.type);
    }
    here.depth++;
}

void sc_quiet_leave(void)
{
    uint64_t before = here.before, held = here.held;
    int ignored;

    if (--here.depth)
        return;
    pthread_setcanceltype(here.type, &ignored);
    pthread_setcancelstate(here.cancel, &ignored);
    if (held)
        mask(SIG_SETMASK, &before, NULL);
}
