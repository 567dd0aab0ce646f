/* System calls by instruction.  libc's functions, syscall() among them, are interposed by the library (host/mmap.c,
 * host/raw.c) and would lead back to it. */
#ifndef SC_BASE_SYSTEM_CALL_H
#define SC_BASE_SYSTEM_CALL_H

#include <errno.h>

/* -1: errno has the error. */
static inline long sc_system_call(long number, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = 0;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
