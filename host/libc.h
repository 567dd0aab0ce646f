/* Functions of syscalls.tab that are interposed elsewhere in the folder: they acquire their arguments and call libc's
 * function. */
#ifndef SC_HOST_LIBC_H
#define SC_HOST_LIBC_H

#include <poll.h>
#include <signal.h>
#include <time.h>

int sc_libc_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int sc_libc_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int sc_libc_sigsuspend(const sigset_t *set);
int sc_libc_pselect(int c, void *in, void *out, void *other, const struct timespec *t, const sigset_t *set);
int sc_libc_ppoll(struct pollfd *v, unsigned long c, const struct timespec *t, const sigset_t *set);
int sc_libc___ppoll_chk(struct pollfd *v, unsigned long c, const struct timespec *t, const sigset_t *set, size_t room);
int sc_libc_epoll_pwait(int fd, void *events, int c, int limit, const sigset_t *set);
int sc_libc_epoll_pwait2(int fd, void *events, int c, const struct timespec *t, const sigset_t *set);
int sc_libc_poll(struct pollfd *v, unsigned long c, int limit);
int sc_libc_pipe(int *ends);
int sc_libc_pipe2(int *ends, int flags);
int sc_libc_socketpair(int domain, int type, int protocol, int *ends);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
