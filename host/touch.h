/* Memory that a call of libc or a system call is about to hand to the kernel: made valid, opened, and noted while
 * the call runs (rule M8).  The functions are thread safe and keep errno.  Memory outside tracked blocks costs a
 * comparison. */
#ifndef SC_HOST_TOUCH_H
#define SC_HOST_TOUCH_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "host/syscall_ranges.h"

struct mmsghdr; /* in <sys/socket.h> with _GNU_SOURCE only */
struct aiocb;

/* Lists are read only when memory may be tracked: a bad pointer must lead to EFAULT, as without the library. */
bool sc_host_anything_tracked(void);

void sc_host_touch_arena(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access);
void sc_host_touch_watched(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access);

static inline void sc_host_touch(struct sc_host_use *use, const void *p, size_t bytes, enum sc_access access)
{
    if (__builtin_expect(sc_host_within(p), 0))
        sc_host_touch_arena(use, (uintptr_t)p, bytes, access);
    else if (access & SC_WRITE && __builtin_expect(sc_host_meets_watched(p, bytes), 0))
        sc_host_touch_watched(use, (uintptr_t)p, bytes, access);
}

/* A string with its final 0. */
void sc_host_touch_string_arena(struct sc_host_use *use, const char *s);
static inline void sc_host_touch_string(struct sc_host_use *use, const char *s)
{
    if (__builtin_expect(sc_host_within(s), 0))
        sc_host_touch_string_arena(use, s);
}
/* An array of strings with its final NULL. */
void sc_host_touch_strings(struct sc_host_use *use, char *const *list);
/* A socket address, and the word with its length. */
void sc_host_touch_address(struct sc_host_use *use, void *at, socklen_t *length);

void sc_host_touch_vector(struct sc_host_use *use, const struct iovec *v, size_t count, enum sc_access access);
void sc_host_touch_message(struct sc_host_use *use, const struct msghdr *m, enum sc_access access);
void sc_host_touch_messages(struct sc_host_use *use, const struct mmsghdr *m, size_t count, enum sc_access access);

/* Any range, also a range that begins or ends outside blocks or covers several blocks (MPI's datatypes).  Without a
 * free note all memory counts as in use until the use ends, because an MPI transfer may last, unlike a system call. */
void sc_host_touch_range(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);

/* Memory that vmsplice hands to the pipe or fills from the pipe. */
void sc_host_touch_spliced(struct sc_host_use *use, int fd, const struct iovec *v, size_t count);
/* Ranges of the process `pid`; ignored for processes other than this one. */
void sc_host_touch_process(struct sc_host_use *use, int pid, const struct iovec *v, size_t count,
                           enum sc_access access);

/* --- memory that is used after the call --------------------------------------------------------------------------- */

/* For `bytes` bytes at p that the kernel or libc will use after the call (a stream's buffer, a condition variable):
 * the block is not tracked again before its free. */
void sc_host_keep_arena(const void *p, size_t bytes);
static inline void sc_host_keep(const void *p, size_t bytes)
{
    if (__builtin_expect(sc_host_within(p), 0))
        sc_host_keep_arena(p, bytes);
    else if (__builtin_expect(sc_host_meets_watched(p, bytes), 0))
        sc_host_keep_arena(p, bytes);
}

/* An asynchronous request; struct aiocb64 is the same on x86-64.  The buffer is in use until aio_return. */
void sc_host_request(struct aiocb *request, bool reads);
void sc_host_request_over(const struct aiocb *request);

/* --- the process's memory as a file ------------------------------------------------------------------------------- */

/* True once a file has been opened that may be /proc/self/mem. */
extern bool sc_host_memory_opened;
void sc_host_opened(const char *path); /* called after a successful open */
/* For a descriptor that may be /proc/self/mem: `bytes` bytes at the offset `at` (-1: the descriptor's own offset)
 * are read (SC_READ) or written. */
void sc_host_touch_memory_file(struct sc_host_use *use, int fd, off_t at, size_t bytes, enum sc_access access);

/* --- system calls by number --------------------------------------------------------------------------------------- */

void sc_host_touch_system_call(struct sc_host_use *use, long number, const long argument[6]);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
