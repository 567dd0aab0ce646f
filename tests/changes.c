/* Preloaded, behind the library's interposers. Before each system call that changes mappings or protections it calls
 * sc_test_before_change, which a program sets. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BEHIND __attribute__((visibility("default")))

BEHIND void (*sc_test_before_change)(void);

static long raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;

    if (sc_test_before_change)
        sc_test_before_change();
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result < 0 && result > -4096 ? -1 : result;
}

BEHIND int munmap(void *p, size_t n) { return (int)raw(SYS_munmap, (long)p, (long)n, 0, 0, 0, 0); }
BEHIND int mprotect(void *p, size_t n, int prot) { return (int)raw(SYS_mprotect, (long)p, (long)n, prot, 0, 0, 0); }
BEHIND int madvise(void *p, size_t n, int advice) { return (int)raw(SYS_madvise, (long)p, (long)n, advice, 0, 0, 0); }

BEHIND int pkey_mprotect(void *p, size_t n, int prot, int key)
{
    return (int)raw(SYS_pkey_mprotect, (long)p, (long)n, prot, key, 0, 0);
}

BEHIND void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t offset)
{
    return (void *)raw(SYS_mmap, (long)p, (long)n, prot, flags, fd, offset);
}

BEHIND void *mmap64(void *p, size_t n, int prot, int flags, int fd, off_t offset)
{
    return mmap(p, n, prot, flags, fd, offset);
}

BEHIND void *mremap(void *p, size_t n, size_t more, int flags, ...)
{
    va_list args;
    void *to;

    va_start(args, flags);
    to = va_arg(args, void *);
    va_end(args);
    return (void *)raw(SYS_mremap, (long)p, (long)n, (long)more, flags, (long)to, 0);
}

BEHIND void *shmat(int id, const void *p, int flags) { return (void *)raw(SYS_shmat, id, (long)p, flags, 0, 0, 0); }

BEHIND long syscall(long number, ...)
{
    long a[6];
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
/* SPDX-License-Identifier: BSD-2-Clause */
