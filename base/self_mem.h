/* The process's own memory under any page protection, through /proc/self/mem.  No page opens meanwhile, so no thread
 * sees half a transfer.  Some hardened systems forbid the access (proc_mem.force_override=never).  System calls are
 * made directly, because the library interposes libc's functions.  Thread safe. */
#ifndef SC_BASE_SELF_MEM_H
#define SC_BASE_SELF_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/status.h"

/* Moves the bytes of the vector to (`write`) or from memory at address `at`, in one or more system calls.  Changes the
 * vector, and keeps errno.  SC_ERR_IO with errno: the system refuses, or there is no such memory. */
enum sc_status sc_self_mem_move(bool write, struct iovec *iov, int count, uintptr_t at);

static inline enum sc_status sc_self_mem_write(void *dst, const void *src, size_t bytes)
{
    struct iovec iov = {(void *)(uintptr_t)src, bytes};

    return sc_self_mem_move(true, &iov, 1, (uintptr_t)dst);
}
static inline enum sc_status sc_self_mem_read(void *dst, const void *src, size_t bytes)
{
    struct iovec iov = {dst, bytes};

    return sc_self_mem_move(false, &iov, 1, (uintptr_t)src);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
