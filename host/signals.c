/* The signal calls of the program, so that they do not disable the fault engine:
 * - who sets a SIGSEGV handler while the engine runs is remembered as the one that gets the faults that are not ours;
 * - SIGSEGV is taken out of the masks of threads and handlers: a fault with SIGSEGV blocked kills.  Masks last longer
 *   than the engine's start, so that this begins when the arena exists.
 * Otherwise the calls pass to libc. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/log.h"
#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/host_int.h"
#include "host/next.h"

/* sigset is deprecated; programs call it nevertheless. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef void (*handler_fn)(int);

SC_HOST_EXPORT handler_fn bsd_signal(int sig, handler_fn handler);
SC_HOST_EXPORT handler_fn __sysv_signal(int sig, handler_fn handler);
#undef sysv_signal
SC_HOST_EXPORT handler_fn sysv_signal(int sig, handler_fn handler);

/* --- libc's own -------------------------------------------------------------------------------------------------- */

static void *next_sigaction, *next_signal, *next___sysv_signal, *next_sigset, *next_sigprocmask, *next_pthread_sigmask;

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

/* At load: looking a name up later could happen in a handler, and is not safe there. */
static void __attribute__((constructor)) find_next(void)
{
    NEXT(sigaction);
    NEXT(signal);
    NEXT(__sysv_signal);
    NEXT(sigset);
    NEXT(sigprocmask);
    NEXT(pthread_sigmask);
}

int sc_host_real_sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    return NEXT(sigaction)(sig, action, old);
}

int sc_host_real_sigmask(int how, const sigset_t *set, sigset_t *old) { return NEXT(pthread_sigmask)(how, set, old); }

/* --- whose SIGSEGV is it ----------------------------------------------------------------------------------------- */

/* The engine holds SIGSEGV in this process.  Not so in forked children (the desk is cleared there) and vforked ones,
 * whose signal actions are their own while the memory is their parent's. */
static bool held(void)
{
    const struct sc_fault_desk *desk = sc_fault_desk;

    return desk && __atomic_load_n(&desk->open, __ATOMIC_ACQUIRE) && desk->owner == (int32_t)getpid();
}

static inline bool keep_open(void) { return sc_host_arena.bytes != 0 || sc_fault_desk; }

/* Handlers that were installed before the arena existed, with every signal blocked. */
static void open_handlers(void)
{
    for (int sig = 1; sig < NSIG; sig++) {
        struct sigaction action;

        if (sig == SIGKILL || sig == SIGSTOP || sig == SIGSEGV || NEXT(sigaction)(sig, NULL, &action) ||
            action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || sigismember(&action.sa_mask, SIGSEGV) != 1)
            continue;
        sigdelset(&action.sa_mask, SIGSEGV);
        NEXT(sigaction)(sig, &action, NULL);
    }
}

/* What is asynchronous waits while a fault is served (also libc's own signal for cancellation, 32: a thread cancelled
 * in there would keep its slot); what the handler itself might do wrong does not. */
static void set_mask(sigset_t *mask)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};

    sigfillset(mask);
    for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
        sigdelset(mask, synchronous[i]);
    *(uint64_t *)(void *)mask |= UINT64_C(1) << (32 - 1);
}

enum sc_status sc_host_signals_take(void (*handler)(int, siginfo_t *, void *), const struct sigaction *theirs)
{
    struct sigaction ours = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigset_t segv;

    sc_chain_sig_set(theirs, NULL);
    set_mask(&ours.sa_mask);
    if (NEXT(sigaction)(SIGSEGV, &ours, NULL)) {
        sc_log(SC_LOG_ERROR, "no handler for SIGSEGV: %s", strerror(errno));
        return SC_ERR_UNSUPPORTED;
    }
    open_handlers();
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    NEXT(pthread_sigmask)(SIG_UNBLOCK, &segv, NULL);
    return SC_OK;
}

void sc_host_signals_give_back(void)
{
    struct sigaction theirs;

    sc_chain_sig_set(NULL, &theirs);
    sc_host_real_sigaction(SIGSEGV, &theirs, NULL);
}

/* --- the calls --------------------------------------------------------------------------------------------------- */

SC_HOST_EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction opened;

    if (sig == SIGSEGV && held()) {
        sc_chain_sig_set(action, old);
        return 0;
    }
    if (action && keep_open() && sigismember(&action->sa_mask, SIGSEGV) == 1) {
        opened = *action;
        sigdelset(&opened.sa_mask, SIGSEGV);
        action = &opened;
    }
    return NEXT(sigaction)(sig, action, old);
}

static handler_fn remember(handler_fn handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sc_chain_sig_set(&action, &old);
    return old.sa_handler;
}

SC_HOST_EXPORT handler_fn signal(int sig, handler_fn handler)
{
    return sig == SIGSEGV && held() ? remember(handler, SA_RESTART) : NEXT(signal)(sig, handler);
}

SC_HOST_EXPORT handler_fn bsd_signal(int sig, handler_fn handler) { return signal(sig, handler); }

SC_HOST_EXPORT handler_fn __sysv_signal(int sig, handler_fn handler)
{
    return sig == SIGSEGV && held() ? remember(handler, (int)SA_RESETHAND | SA_NODEFER)
                                    : NEXT(__sysv_signal)(sig, handler);
}

SC_HOST_EXPORT handler_fn sysv_signal(int sig, handler_fn handler) { return __sysv_signal(sig, handler); }

/* As System V has it, but SIGSEGV cannot be held: that would block it. */
SC_HOST_EXPORT handler_fn sigset(int sig, handler_fn handler)
{
    struct sigaction old;

    if (sig != SIGSEGV || !held())
        return NEXT(sigset)(sig, handler);
    if (handler != SIG_HOLD)
        return remember(handler, 0);
    sc_chain_sig_set(NULL, &old);
    return old.sa_handler;
}

/* The set without SIGSEGV where it would block SIGSEGV.  The library's own threads may. */
static const sigset_t *without_segv(int how, const sigset_t *set, sigset_t *opened)
{
    if (!set || how == SIG_UNBLOCK || !keep_open() || sc_inside() || sigismember(set, SIGSEGV) != 1)
        return set;
    *opened = *set;
    sigdelset(opened, SIGSEGV);
    return opened;
}

SC_HOST_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t opened;

    return NEXT(sigprocmask)(how, without_segv(how, set, &opened), old);
}

SC_HOST_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t opened;

    return NEXT(pthread_sigmask)(how, without_segv(how, set, &opened), old);
}
