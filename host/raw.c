/* System calls that a program makes through libc's syscall().  Arena memory is acquired as for the functions of
 * syscalls.tab.  System call instructions of the program's own (Go, libraries of io_uring and io_submit) are out of
 * reach. */
#define _GNU_SOURCE
#include <stdarg.h>

#include "base/inside.h"
#include "host/fault_int.h"
#include "host/next.h"
#include "host/process.h"
#include "host/touch.h"
#include "host/watch.h"

static void *next_syscall;

/* Passes six arguments on for every system call, as libc's own syscall() does. */
__attribute__((no_sanitize_address)) SC_HOST_EXPORT long syscall(long number, ...)
{
    struct sc_host_use use = {0};
    long a[6], result;
    uint64_t mask;
    bool divides;
    va_list args;
    int change;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (sc_host_remaps(number, a, &change)) {
        sc_watch_changed(change);
        return 0;
    }
#ifdef SYS_process_madvise
    if (number == SYS_process_madvise && sc_host_advises_by_fd(a, &result))
        return result;
#endif
    sc_host_touch_system_call(&use, number, a);
    sc_host_mask_open_raw(number, a, &mask);
    divides = sc_host_is_fork(number, a) && sc_host_process_divides();
    result = ((__typeof__(syscall) *)sc_host_next(&next_syscall, "syscall"))(number, a[0], a[1], a[2], a[3], a[4],
                                                                             a[5]);
    sc_watch_changed(change);
    if (divides)
        sc_host_process_divided(result == 0);
    sc_host_use_end(&use);
    if (result >= 0 && (number == SYS_open || number == SYS_openat) && !sc_inside())
        sc_host_opened((const char *)a[number == SYS_openat]);
    return result;
}

static void __attribute__((constructor)) find_next(void) { sc_host_next(&next_syscall, "syscall"); }
/* SPDX-License-Identifier: BSD-2-Clause */
