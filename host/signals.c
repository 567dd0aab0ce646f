/* The program's signal calls, kept from disabling the fault engine:
 * - A SIGSEGV handler that the program sets while the engine runs is remembered.  It receives the faults that do not
 *   concern the library.
 * - The library knows which signals have handlers, for code that no handler may interrupt (base/quiet.h).
 * - The other signals of a crash have a handler that brings all data home for the core file.  The program never sees
 *   the handler.
 * - SIGSEGV is removed from the masks of handlers, as from every mask (masks.c).
 * In all other cases the calls pass to libc. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/quiet.h"
#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/host_int.h"
#include "host/next.h"

/* sigset is deprecated but still in use. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef void (*handler_fn)(int);

SC_HOST_EXPORT handler_fn bsd_signal(int sig, handler_fn handler);
SC_HOST_EXPORT handler_fn __sysv_signal(int sig, handler_fn handler);
#undef sysv_signal
SC_HOST_EXPORT handler_fn sysv_signal(int sig, handler_fn handler);
SC_HOST_EXPORT handler_fn ssignal(int sig, handler_fn handler);
SC_HOST_EXPORT int __sigaction(int sig, const struct sigaction *action, struct sigaction *old);

/* --- libc's own --------------------------------------------------------------------------------------------------- */

static void *next_sigaction, *next_signal, *next___sysv_signal, *next_sigset;

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

/* At load: a later look-up could happen in a signal handler and is not safe there. */
static void __attribute__((constructor)) find_next(void)
{
    NEXT(sigaction);
    NEXT(signal);
    NEXT(__sysv_signal);
    NEXT(sigset);
}

int sc_host_real_sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    return NEXT(sigaction)(sig, action, old);
}

/* --- the holder of SIGSEGV ---------------------------------------------------------------------------------------- */

/* True while the engine holds SIGSEGV in this process.  False in forked children, where the kernel has cleared the
 * desk, and in vforked children, which have their own signal actions in their parent's memory. */
static bool held(void)
{
    const struct sc_fault_desk *desk = sc_fault_desk;

    return desk && __atomic_load_n(&desk->open, __ATOMIC_ACQUIRE) && desk->owner == (int32_t)getpid();
}

/* --- which signals have handlers ---------------------------------------------------------------------------------- */

/* Signals that a thread raises by its own instructions; they are never held back. */
#define SYNCHRONOUS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP) | BIT(SIGSYS) | BIT(SIGABRT))
#define BIT(sig) (UINT64_C(1) << ((sig) - 1))
#define CANCEL 32 /* libc's own, for pthread_cancel */
#define SETXID 33 /* libc's own, for setuid in all threads */

static void (*engine)(int, siginfo_t *, void *); /* the handler, while held() */

/* Installs the handler.  While a fault is served, signals with handlers wait; signals without handlers do not, so
 * that a deadly signal kills even a thread whose fault is never answered.  CANCEL waits too, because a cancelled
 * thread would keep its slot.  The handler runs on the alternate stack only if the program's handler for SIGSEGV
 * does: other alternate stacks may be too small for a signal's frame. */
static int install(void)
{
    struct sigaction ours = {.sa_sigaction = engine, .sa_flags = SA_SIGINFO | SA_NODEFER}, theirs;

    sc_chain_sig_set(NULL, &theirs);
    ours.sa_flags |= theirs.sa_flags & SA_ONSTACK;
    *(uint64_t *)(void *)&ours.sa_mask = __atomic_load_n(&sc_quiet_signals, __ATOMIC_RELAXED) | BIT(CANCEL);
    return NEXT(sigaction)(SIGSEGV, &ours, NULL);
}

static void has_handler(int sig)
{
    uint64_t bit = sig >= 1 && sig <= 64 ? BIT(sig) & ~SYNCHRONOUS : 0;

    if (bit && !(__atomic_fetch_or(&sc_quiet_signals, bit, __ATOMIC_RELAXED) & bit) && held())
        install();
}

/* Only for this process: a vforked child resets handlers that its parent keeps. */
static void has_no_handler(int sig)
{
    uint64_t bit = sig >= 1 && sig <= 64 ? BIT(sig) : 0;

    if (held() && __atomic_fetch_and(&sc_quiet_signals, ~bit, __ATOMIC_RELAXED) & bit)
        install();
}

/* Treats handlers that were installed before the arena existed, or unseen: notes their signals and removes SIGSEGV
 * from their masks. */
static void look_at_handlers(void)
{
    for (int sig = 1; sig < NSIG; sig++) {
        struct sigaction action;

        if (sig == SIGKILL || sig == SIGSTOP || sig == SIGSEGV || NEXT(sigaction)(sig, NULL, &action) ||
            action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
            continue;
        has_handler(sig);
        if (sigismember(&action.sa_mask, SIGSEGV) != 1)
            continue;
        sigdelset(&action.sa_mask, SIGSEGV);
        NEXT(sigaction)(sig, &action, NULL);
    }
}

/* --- crashes ------------------------------------------------------------------------------------------------------ */

/* Deadly signals that dump core and that a program raises by its own instructions.  Where the program leaves the
 * default action, all data is brought home before the process dies, as for SIGSEGV. */
static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL};

static bool is_crash(int sig)
{
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (crashes[i] == sig)
            return true;
    return false;
}

static const struct sigaction crash = {.sa_sigaction = sc_chain_sig_crash, .sa_flags = SA_SIGINFO};

static bool is_ours(const struct sigaction *action) { return action->sa_sigaction == sc_chain_sig_crash; }

/* Hides the library's handler from the program. */
static void hide(struct sigaction *old)
{
    if (old && is_ours(old))
        *old = (struct sigaction){.sa_handler = SIG_DFL};
}

static void watch_crashes(bool watch)
{
    static const struct sigaction none = {.sa_handler = SIG_DFL};
    struct sigaction now;

    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (NEXT(sigaction)(crashes[i], NULL, &now) == 0 && (watch ? now.sa_handler == SIG_DFL : is_ours(&now)))
            NEXT(sigaction)(crashes[i], watch ? &crash : &none, NULL);
}

enum sc_status sc_host_signals_take(void (*handler)(int, siginfo_t *, void *), const struct sigaction *theirs)
{
    sc_chain_sig_set(theirs, NULL);
    look_at_handlers();
    engine = handler;
    if (install()) {
        sc_log(SC_LOG_ERROR, "no handler for SIGSEGV: %s", strerror(errno));
        return SC_ERR_UNSUPPORTED;
    }
    watch_crashes(true);
    sc_host_unblock();
    return SC_OK;
}

void sc_host_signals_give_back(void)
{
    struct sigaction theirs;

    sc_chain_sig_set(NULL, &theirs);
    sc_host_real_sigaction(SIGSEGV, &theirs, NULL);
    watch_crashes(false);
}

/* --- the calls ---------------------------------------------------------------------------------------------------- */

/* Remembers the program's action for SIGSEGV while the engine holds the signal. */
static void remember_action(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before;

    sc_chain_sig_set(action, &before);
    if (action && (action->sa_flags ^ before.sa_flags) & SA_ONSTACK)
        install();
    if (old)
        *old = before;
}

/* Notes a handler before its installation. The handler is forgotten after its removal: a quiet thread never meets an
 * unknown handler. */
static void will_handle(int sig, handler_fn handler)
{
    if (handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR && handler != SIG_HOLD)
        has_handler(sig);
}

static handler_fn handles(int sig, handler_fn handler, handler_fn old)
{
    if (old != SIG_ERR && (handler == SIG_DFL || handler == SIG_IGN))
        has_no_handler(sig);
    if (old != SIG_ERR && handler == SIG_DFL && is_crash(sig) && held())
        NEXT(sigaction)(sig, &crash, NULL);
    return (void (*)(void))old == (void (*)(void))sc_chain_sig_crash ? SIG_DFL : old;
}

SC_HOST_EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction opened;
    int result;

    if (sig == SIGSEGV && held()) {
        remember_action(action, old);
        return 0;
    }
    if (action && sc_host_masks_kept() && sigismember(&action->sa_mask, SIGSEGV) == 1) {
        opened = *action;
        sigdelset(&opened.sa_mask, SIGSEGV);
        action = &opened;
    }
    if (action)
        will_handle(sig, action->sa_handler);
    result = NEXT(sigaction)(sig, action, old);
    if (action && result == 0)
        handles(sig, action->sa_handler, SIG_DFL);
    if (result == 0)
        hide(old);
    return result;
}

static handler_fn remember(handler_fn handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    remember_action(&action, &old);
    return old.sa_handler;
}

SC_HOST_EXPORT handler_fn signal(int sig, handler_fn handler)
{
    if (sig == SIGSEGV && held())
        return remember(handler, SA_RESTART);
    will_handle(sig, handler);
    return handles(sig, handler, NEXT(signal)(sig, handler));
}

SC_HOST_EXPORT int __sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(sig, action, old);
}
SC_HOST_EXPORT int sigignore(int sig) { return sigaction(sig, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); }
SC_HOST_EXPORT handler_fn bsd_signal(int sig, handler_fn handler) { return signal(sig, handler); }
SC_HOST_EXPORT handler_fn ssignal(int sig, handler_fn handler) { return signal(sig, handler); }

SC_HOST_EXPORT handler_fn __sysv_signal(int sig, handler_fn handler)
{
    if (sig == SIGSEGV && held())
        return remember(handler, (int)SA_RESETHAND | SA_NODEFER);
    will_handle(sig, handler);
    return handles(sig, handler, NEXT(__sysv_signal)(sig, handler));
}

SC_HOST_EXPORT handler_fn sysv_signal(int sig, handler_fn handler) { return __sysv_signal(sig, handler); }

/* As in System V, except that SIGSEGV cannot be held, because holding blocks the signal. */
SC_HOST_EXPORT handler_fn sigset(int sig, handler_fn handler)
{
    struct sigaction old;

    if (sig != SIGSEGV || !held()) {
        will_handle(sig, handler);
        return handles(sig, handler, NEXT(sigset)(sig, handler));
    }
    if (handler != SIG_HOLD)
        return remember(handler, 0);
    sc_chain_sig_set(NULL, &old);
    return old.sa_handler;
}
/* SPDX-License-Identifier: BSD-2-Clause */
