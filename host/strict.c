/* System calls by instructions outside libc (Go, io_uring's library, code made at run time).  The kernel's "syscall
 * user dispatch" sends SIGSYS for every system call from outside libc's code, thread by thread.  Forked and executed
 * programs do not inherit the dispatch.  The handler acquires the call's memory as the functions of syscalls.tab do,
 * makes the call, and logs each place of a call once.
 *
 * A filter of system calls (seccomp) is no alternative, because it would outlast exec. */
#define _GNU_SOURCE
#include "host/strict.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "base/config.h"
#include "base/loader.h"
#include "base/log.h"
#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/touch.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON           1
#endif
#define USER_DISPATCH 2 /* value of si_code */
#define STRICT_CHECK  2 /* value of SEMCACHE_CHECK */
#define PLACES        64

__thread volatile uint8_t sc_host_strict_selector __attribute__((tls_model("initial-exec")));
static __thread bool watched __attribute__((tls_model("initial-exec")));

static bool started;
static uintptr_t libc_code;
static size_t libc_bytes; /* 0: dispatch is not possible in this process */
static struct sigaction before;

/* --- the place of a call ------------------------------------------------------------------------------------------ */

/* True the first time that the system call is made at ip. */
static bool is_new(uintptr_t ip, long number)
{
    uintptr_t place = ip | (uintptr_t)number << 48;
    static uintptr_t places[PLACES];

    for (int i = 0; i < PLACES; i++) {
        uintptr_t none = 0;

        if (__atomic_compare_exchange_n(&places[i], &none, place, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
        if (none == place)
            return false;
    }
    return false;
}

static void name_culprit(uintptr_t ip, const char *what, long number, const char *advice)
{
    Dl_info about;

    if (!is_new(ip, number))
        return;
    if (sc_loader_address((void *)ip, &about, NULL, 0) && about.dli_fname)
        sc_log(SC_LOG_WARN, "%s %ld made by %s+%#zx%s%s%s, past libc: %s", what, number, about.dli_fname,
               (size_t)(ip - (uintptr_t)about.dli_fbase), about.dli_sname ? " (" : "",
               about.dli_sname ? about.dli_sname : "", about.dli_sname ? ")" : "", advice);
    else
        sc_log(SC_LOG_WARN, "%s %ld made at %#zx, past libc: %s", what, number, (size_t)ip, advice);
}

/* --- the handler -------------------------------------------------------------------------------------------------- */

/* System calls that the handler cannot make, because they return elsewhere or twice.  They are repeated in place,
 * and the thread is trapped again from its next call of the BLAS on. */
static bool is_made_in_place(long number)
{
    return number == SYS_rt_sigreturn || number == SYS_clone || number == SYS_clone3 || number == SYS_vfork ||
           number == SYS_fork || number == SYS_arch_prctl;
}

static long make(long number, const long a[6])
{
    const long first = a[0], second = a[1], third = a[2], fourth = a[3], fifth = a[4], sixth = a[5];
    /* A sanitizer's function for an access to memory would change the registers: no access follows. */
    register long r10 __asm__("r10") = fourth, r8 __asm__("r8") = fifth, r9 __asm__("r9") = sixth;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static long serve(long number, const long a[6], uintptr_t ip)
{
    struct sc_host_use use = {0};
    long result;

    if (number == SYS_io_uring_setup || number == SYS_io_uring_enter || number == SYS_io_uring_register)
        name_culprit(ip, "io_uring: system call", number,
                     "nothing is brought home for it; call semcache_acquire on its buffers before");
    sc_host_touch_system_call(&use, number, a);
    if (use.note)
        name_culprit(ip, "system call", number,
                     "without SEMCACHE_CHECK=2 it fails on what is on devices; call semcache_acquire before");
    result = make(number, a);
    sc_host_use_end(&use);
    return result;
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(sig, info, context);
    } else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL) {
        before.sa_handler(sig);
    } else {
        sc_host_real_sigaction(sig, &before, NULL);
        raise(sig);
    }
}

static void handler(int sig, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    long a[6] = {regs[REG_RDI], regs[REG_RSI], regs[REG_RDX], regs[REG_R10], regs[REG_R8], regs[REG_R9]};
    int saved = errno;

    sc_host_strict_selector = 0;
    if (info->si_code != USER_DISPATCH) {
        pass_on(sig, info, context);
    } else if (is_made_in_place(info->si_syscall)) {
        regs[REG_RIP] -= 2; /* length of the instruction */
        regs[REG_RAX] = info->si_syscall;
        errno = saved;
        return;
    } else {
        regs[REG_RAX] = serve(info->si_syscall, a, (uintptr_t)info->si_call_addr);
    }
    errno = saved;
    sc_host_strict_selector = 1;
}

/* --- start -------------------------------------------------------------------------------------------------------- */

static int find_libc(struct dl_phdr_info *info, size_t size, void *address)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && p->p_flags & PF_X && (uintptr_t)address - first < p->p_memsz) {
            libc_code = first;
            libc_bytes = p->p_memsz;
            return 1;
        }
    }
    return 0;
}

static void start(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    sc_loader_each(find_libc, sc_loader_symbol(RTLD_NEXT, "syscall"));
    if (!libc_bytes || sc_host_real_sigaction(SIGSYS, &action, &before))
        libc_bytes = 0;
}

void sc_host_strict_thread(void)
{
    if (sc_config.check < STRICT_CHECK)
        return;
    /* A thread that calls during the start is trapped from its next call on. */
    if (!__atomic_exchange_n(&started, true, __ATOMIC_RELAXED))
        start();
    if (!watched && libc_bytes) {
        watched = true;
        if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, libc_code, libc_bytes, &sc_host_strict_selector)) {
            sc_log_once(SC_LOG_WARN, "this kernel does not trap system calls past libc: %s", strerror(errno));
            libc_bytes = 0;
        }
    }
    if (libc_bytes)
        sc_host_strict_selector = 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
