/* A system call invisible to libc's functions and to every interposed function. */
#ifndef SC_TESTS_PAST_LIBC_H
#define SC_TESTS_PAST_LIBC_H

static long __attribute__((noinline)) system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
