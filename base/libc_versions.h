/* Functions that the library interposes (host/syscalls.tab) and that libc has in several versions.  A reference of ours
 * without a version means the library's own definition where that comes first, and the oldest of libc's where libc
 * comes first, as in a program that opens the library by dlopen: an older pthread_cond_wait does not work with today's
 * pthread_cond_signal, an older sched_getaffinity has other parameters.  Who calls one of them includes this header and
 * gets the newest (tests/exports.t). */
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

/* As pthread_cond_wait, under a name that the linker's --wrap can replace: it replaces no names with versions. */
int sc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

#endif
