/* What a call of libc, or a system call, is about to hand to the kernel: brought home and opened, and noted for as long
 * as the call runs (rule M8).  Thread safe, errno is kept; memory outside of tracked blocks costs a comparison. */
#ifndef SC_HOST_TOUCH_H
#define SC_HOST_TOUCH_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "host/syscall_ranges.h"

struct mmsghdr; /* of <sys/socket.h>, for programs that ask for it */
struct aiocb;

/* Lists are looked at only when something can be tracked: a wrong pointer must give EFAULT, as without us. */
bool sc_host_anything_tracked(void);

void sc_host_touch_arena(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access);
void sc_host_touch_watched(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access);

static inline void sc_host_touch(struct sc_host_use *use, const void *p, size_t bytes, enum sc_access access)
{
    if (__builtin_expect(sc_host_within(p), 0))
        sc_host_touch_arena(use, (uintptr_t)p, bytes, access);
    else if (access & SC_WRITE && __builtin_expect(sc_host_within_watched(p), 0))
        sc_host_touch_watched(use, (uintptr_t)p, bytes, access);
}

/* A string, with the 0 at its end. */
void sc_host_touch_string_arena(struct sc_host_use *use, const char *s);
static inline void sc_host_touch_string(struct sc_host_use *use, const char *s)
{
    if (__builtin_expect(sc_host_within(s), 0))
        sc_host_touch_string_arena(use, s);
}
/* An array of strings, with the NULL at its end. */
void sc_host_touch_strings(struct sc_host_use *use, char *const *list);
/* An address of a socket and where its length stands. */
void sc_host_touch_address(struct sc_host_use *use, void *at, socklen_t *length);

void sc_host_touch_vector(struct sc_host_use *use, const struct iovec *v, size_t count, enum sc_access access);
void sc_host_touch_message(struct sc_host_use *use, const struct msghdr *m, enum sc_access access);
void sc_host_touch_messages(struct sc_host_use *use, const struct mmsghdr *m, size_t count, enum sc_access access);

/* Any range, also one that begins or ends outside of blocks or covers several (MPI's datatypes).  When there is no note
 * left, all of the program's memory counts as in use until it ends: unlike a system call it may last. */
void sc_host_touch_range(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);

/* What vmsplice hands to the pipe, or fills from it. */
void sc_host_touch_spliced(struct sc_host_use *use, int fd, const struct iovec *v, size_t count);
/* Ranges of the process `pid`, when that is this one. */
void sc_host_touch_process(struct sc_host_use *use, int pid, const struct iovec *v, size_t count,
                           enum sc_access access);

/* --- memory that is used after the call --------------------------------------------------------------------------- */

/* The kernel or libc go on using `bytes` bytes at p after the call (a stream's buffer, a condition variable): the block
 * is never tracked again until it is freed. */
void sc_host_keep_arena(const void *p, size_t bytes);
static inline void sc_host_keep(const void *p, size_t bytes)
{
    if (__builtin_expect(sc_host_within(p), 0))
        sc_host_keep_arena(p, bytes);
    else if (__builtin_expect(sc_host_within_watched(p), 0))
        sc_host_keep_arena(p, bytes);
}

/* An asynchronous request (on x86-64 struct aiocb64 is the same): its buffer is in use until aio_return. */
void sc_host_request(struct aiocb *request, bool reads);
void sc_host_request_over(const struct aiocb *request);

/* --- the process's memory as a file ------------------------------------------------------------------------------- */

/* Whether a file that may have been /proc/self/mem was ever opened. */
extern bool sc_host_memory_opened;
void sc_host_opened(const char *path); /* successfully */
/* fd may be one: `bytes` at the offset `at`, -1 for the descriptor's own, are read (SC_READ) or written. */
void sc_host_touch_memory_file(struct sc_host_use *use, int fd, off_t at, size_t bytes, enum sc_access access);

/* --- system calls by number --------------------------------------------------------------------------------------- */

void sc_host_touch_system_call(struct sc_host_use *use, long number, const long argument[6]);

#endif
