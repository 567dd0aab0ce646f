/* SIGSEGV is removed from every mask that the program sets for a thread, because a fault with SIGSEGV blocked kills
 * the process.  Masks outlast the start of the fault engine, so the removal begins with the arena.  signals.c does
 * the same for the masks of handlers. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "base/inside.h"
#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/host_int.h"
#include "host/libc.h"
#include "host/next.h"

static void *next_pthread_attr_setsigmask_np;
/* The remaining arguments of these calls go to the kernel, too: the next function is sc_libc_NAME. */
static void *next_sigprocmask = sc_libc_sigprocmask, *next_pthread_sigmask = sc_libc_pthread_sigmask;
static void *next_sigsuspend = sc_libc_sigsuspend, *next_pselect = sc_libc_pselect, *next_ppoll = sc_libc_ppoll;
static void *next___ppoll_chk = sc_libc___ppoll_chk, *next_epoll_pwait = sc_libc_epoll_pwait;
static void *next_epoll_pwait2 = sc_libc_epoll_pwait2;
static void *next_sigblock, *next_sigsetmask, *next_sighold, *next_bsd_sigpause, *next___sigpause;
static void *next___sigsuspend = sc_libc_sigsuspend;

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

/* The calls of BSD and System V are deprecated but still in use.  The header's sigpause is System V's, under a
 * different symbol. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int bsd_sigpause(int mask) __asm__("sigpause");
SC_HOST_EXPORT int __sigpause(int sig_or_mask, int is_sig);
SC_HOST_EXPORT int __sigsuspend(const sigset_t *set);

SC_HOST_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *set,
                               size_t bytes);
/* Not in every C library. */
SC_HOST_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attr, const sigset_t *set);
SC_HOST_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *limit,
                                const sigset_t *set);
#undef ppoll

/* At load: a later look-up could happen in a signal handler and is not safe there. */
static void __attribute__((constructor)) find_next(void)
{
    NEXT(sigprocmask);
    NEXT(pthread_sigmask);
    NEXT(pthread_attr_setsigmask_np);
    NEXT(sigsuspend);
    NEXT(pselect);
    NEXT(ppoll);
    NEXT(__ppoll_chk);
    NEXT(epoll_pwait);
    NEXT(epoll_pwait2);
    NEXT(__sigsuspend);
    NEXT(sigblock);
    NEXT(sigsetmask);
    NEXT(sighold);
    sc_host_next(&next_bsd_sigpause, "sigpause");
    NEXT(__sigpause);
}

int sc_host_real_sigmask(int how, const sigset_t *set, sigset_t *old) { return NEXT(pthread_sigmask)(how, set, old); }

bool sc_host_masks_kept(void) { return sc_host_arena.bytes != 0 || sc_fault_desk; }

/* The library's own threads may block SIGSEGV. */
static bool kept(void) { return sc_host_masks_kept() && !sc_inside(); }

void sc_host_mask_open(sigset_t *set)
{
    if (kept() && sigismember(set, SIGSEGV) == 1)
        sigdelset(set, SIGSEGV);
}

void sc_host_unblock(void)
{
    const uint64_t segv = UINT64_C(1) << (SIGSEGV - 1);

    sc_sig_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&segv, 0, sizeof segv);
}

/* Returns the set, or a copy without SIGSEGV if the call would block SIGSEGV. */
static const sigset_t *without_segv(int how, const sigset_t *set, sigset_t *opened)
{
    if (!set || how == SIG_UNBLOCK || !kept() || sigismember(set, SIGSEGV) != 1)
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

/* BSD masks: bit n - 1 stands for signal n. */
static int without_segv_bit(int mask) { return kept() ? mask & ~(1 << (SIGSEGV - 1)) : mask; }

SC_HOST_EXPORT int sigblock(int mask) { return NEXT(sigblock)(without_segv_bit(mask)); }
SC_HOST_EXPORT int sigsetmask(int mask) { return NEXT(sigsetmask)(without_segv_bit(mask)); }
SC_HOST_EXPORT int sighold(int sig) { return sig == SIGSEGV && kept() ? 0 : NEXT(sighold)(sig); }

/* Index of the mask among a system call's arguments; -1 for a call that cannot block SIGSEGV. */
static int mask_of(long number, const long argument[6])
{
    switch (number) {
    case SYS_rt_sigprocmask: return argument[0] == SIG_UNBLOCK ? -1 : 1;
    case SYS_rt_sigsuspend: return 0;
    case SYS_ppoll: return 3;
    case SYS_epoll_pwait: return 4;
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2: return 4;
#endif
    default: return -1;
    }
}

void sc_host_mask_open_raw(long number, long argument[6], uint64_t *opened)
{
    int at = mask_of(number, argument);

    if (at < 0 || !argument[at] || !kept())
        return;
    *opened = *(const uint64_t *)argument[at] & ~(UINT64_C(1) << (SIGSEGV - 1));
    argument[at] = (long)opened;
}

/* For future threads. */
SC_HOST_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attr, const sigset_t *set)
{
    sigset_t opened;

    return NEXT(pthread_attr_setsigmask_np)(attr, without_segv(SIG_SETMASK, set, &opened));
}

/* --- calls that wait with a mask: signal handlers that run during the wait have the same mask --------------------- */

SC_HOST_EXPORT int sigsuspend(const sigset_t *set)
{
    sigset_t opened;

    return NEXT(sigsuspend)(without_segv(SIG_SETMASK, set, &opened));
}

SC_HOST_EXPORT int __sigsuspend(const sigset_t *set)
{
    sigset_t opened;

    return NEXT(__sigsuspend)(without_segv(SIG_SETMASK, set, &opened));
}

SC_HOST_EXPORT int bsd_sigpause(int mask)
{
    return ((__typeof__(bsd_sigpause) *)sc_host_next(&next_bsd_sigpause, "sigpause"))(without_segv_bit(mask));
}

SC_HOST_EXPORT int __sigpause(int sig_or_mask, int is_sig)
{
    return NEXT(__sigpause)(is_sig ? sig_or_mask : without_segv_bit(sig_or_mask), is_sig);
}

SC_HOST_EXPORT int pselect(int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *limit,
                           const sigset_t *set)
{
    sigset_t opened;

    return NEXT(pselect)(count, in, out, other, limit, without_segv(SIG_SETMASK, set, &opened));
}

SC_HOST_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *set)
{
    sigset_t opened;

    return NEXT(ppoll)(fds, count, limit, without_segv(SIG_SETMASK, set, &opened));
}

SC_HOST_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *set,
                               size_t bytes)
{
    sigset_t opened;

    return NEXT(__ppoll_chk)(fds, count, limit, without_segv(SIG_SETMASK, set, &opened), bytes);
}

SC_HOST_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int limit, const sigset_t *set)
{
    sigset_t opened;

    return NEXT(epoll_pwait)(fd, events, most, limit, without_segv(SIG_SETMASK, set, &opened));
}

SC_HOST_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *limit,
                                const sigset_t *set)
{
    sigset_t opened;

    return NEXT(epoll_pwait2)(fd, events, most, limit, without_segv(SIG_SETMASK, set, &opened));
}
/* SPDX-License-Identifier: BSD-2-Clause */
