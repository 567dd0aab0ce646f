/* Newest versions of the functions that the library interposes (host/syscalls.tab) and libc has in several versions.
 *
 * A reference without a version binds to the library's own definition where the library comes first.  Where libc comes
 * first, as in a program that opens the library by dlopen, the reference binds to the oldest version.  Old versions are
 * wrong: an old pthread_cond_wait does not work with today's pthread_cond_signal, an old sched_getaffinity has other
 * parameters.  Callers of these functions therefore include this header (tests/exports.t). */
#ifndef SC_BASE_LIBC_VERSIONS_H
#define SC_BASE_LIBC_VERSIONS_H

#include <features.h>
#include <pthread.h>

#if defined __GLIBC__ && defined __x86_64__ && !defined __ILP32__
__asm__(".symver pthread_cond_init, pthread_cond_init@GLIBC_2.3.2");
__asm__(".symver pthread_cond_wait, pthread_cond_wait@GLIBC_2.3.2");
__asm__(".symver pthread_cond_timedwait, pthread_cond_timedwait@GLIBC_2.3.2");
__asm__(".symver sched_getaffinity, sched_getaffinity@GLIBC_2.3.4");
__asm__(".symver glob, glob@GLIBC_2.27");
#endif

/* pthread_cond_wait under a name without a version: the linker's --wrap cannot replace versioned names. */
int sc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
