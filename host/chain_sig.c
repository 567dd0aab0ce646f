/* Faults that do not concern the library, in the signal handler (rule F2).  Such a fault is passed to the action that
 * the program would have met without the library. */
#include "config.h"

#include <stddef.h>

#include "host/fault_sig.h"

/* The remembered actions of the program are kept in a ring, and `current` is the serial number of the newest action.
 * Writers never wait for each other. A reader checks by the serial number that its copy of an entry is whole. The ring
 * takes no lock: it works in signal handlers and forked children. */
#define RING 64
static struct {
    uint64_t serial;
    struct sigaction action;
} ring[RING];
static uint64_t current, newest;

static void remembered(struct sigaction *copy)
{
    for (;;) {
        uint64_t serial = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

        *copy = ring[serial % RING].action; /* serial 0: zeros, the default action */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&ring[serial % RING].serial, __ATOMIC_RELAXED) == serial)
            return;
    }
}

void sc_chain_sig_set(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction copy; /* the program's memory may fault: not touched while the ring changes */
    uint64_t serial;

    if (action)
        copy = *action;
    if (old)
        remembered(old);
    if (!action)
        return;
    serial = __atomic_add_fetch(&newest, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&ring[serial % RING].serial, UINT64_MAX, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    ring[serial % RING].action = copy;
    __atomic_store_n(&ring[serial % RING].serial, serial, __ATOMIC_RELEASE);
    for (uint64_t before = __atomic_load_n(&current, __ATOMIC_RELAXED);
         before < serial &&
         !__atomic_compare_exchange_n(&current, &before, serial, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED);)
        ;
}

/* Sets the default action.  A fault repeats by itself after the return, so the core file shows the faulting frame.  A
 * signal that was sent by a process is sent again. */
static void default_action(int sig, const siginfo_t *info)
{
    const struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } action = {0}; /* the kernel's layout of struct sigaction */

    sc_sig_syscall(SYS_rt_sigaction, sig, (long)&action, 0, sizeof action.mask);
    if (info->si_code <= 0)
        sc_sig_syscall(SYS_rt_tgsigqueueinfo, sc_sig_syscall(SYS_getpid, 0, 0, 0, 0),
                       sc_sig_syscall(SYS_gettid, 0, 0, 0, 0), sig, (long)info);
}

/* The first 64 signals of a set, the signals that the kernel has. */
static uint64_t bits(const sigset_t *set) { return *(const uint64_t *)(const void *)set; }

void sc_chain_sig_crash(int sig, siginfo_t *info, void *context)
{
    (void)context;
    sc_fault_sig_home();
    default_action(sig, info);
}

void sc_chain_sig_pass(int sig, siginfo_t *info, void *context)
{
    struct sigaction theirs;
    uint64_t mask, old;

    remembered(&theirs);
    if (!(theirs.sa_flags & SA_SIGINFO) && theirs.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (!(theirs.sa_flags & SA_SIGINFO) && (theirs.sa_handler == SIG_DFL || theirs.sa_handler == SIG_IGN)) {
        sc_chain_sig_crash(sig, info, context); /* the kernel kills the process for an ignored fault, too */
        return;
    }
    if (theirs.sa_flags & SA_RESETHAND)
        sc_chain_sig_set(&(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    /* The program's handler runs with the mask that the program asked for, added to the mask of the interrupted code.
     * SIGSEGV stays unblocked, because the program's handler may touch closed pages. */
    mask = bits(&((const ucontext_t *)context)->uc_sigmask) | bits(&theirs.sa_mask);
    mask &= ~(UINT64_C(1) << (SIGSEGV - 1));
    sc_sig_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&old, sizeof mask);
    if (theirs.sa_flags & SA_SIGINFO)
        theirs.sa_sigaction(sig, info, context);
    else
        theirs.sa_handler(sig);
    sc_sig_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old);
}
/* SPDX-License-Identifier: BSD-2-Clause */
