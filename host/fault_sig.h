/* The desk between faulting threads (in the signal handler) and the pager. */
#ifndef SC_HOST_FAULT_SIG_H
#define SC_HOST_FAULT_SIG_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "host/host.h"
#include "host/strict.h"

#define SC_FAULT_SLOTS 128
#define SC_FAULT_HOME  ((enum sc_access)4) /* not a fault: a request to bring all data to host memory */

/* State of a slot: free -> filling -> posted -> serving (by the pager) -> served or refused -> free.  The thread
 * that filled the slot owns the slot, except from `posted` to the answer, when the pager does.  A posted request
 * changes hands by compare-and-swap. */
enum sc_fault_state {
    SC_FAULT_FREE,
    SC_FAULT_FILLING,
    SC_FAULT_POSTED,
    SC_FAULT_SERVING,
    SC_FAULT_SERVED,
    SC_FAULT_REFUSED
};

struct sc_fault_slot {
    uint32_t state;  /* enum sc_fault_state; the futex that the faulting thread sleeps on */
    uint32_t asleep; /* 1: the faulting thread may be asleep and has to be woken */
    uint32_t access;
    uintptr_t addr;
    struct sc_host_code code;
} __attribute__((aligned(64)));

/* The desk lies in memory that the kernel clears in a forked child.  `open` is then 0, and a thread of the child
 * never waits for the missing pager.  A vforked child shares the memory and the pager. */
struct sc_fault_desk {
    uint32_t open;
    int32_t owner;   /* process id */
    uint32_t posted; /* number of posts; the futex that the pager sleeps on */
    uint32_t pager_asleep;
    uint32_t spinning;      /* number of faulting threads that spin now */
    uint32_t spinning_most; /* limit on `spinning`: more threads would take the pager's processor */
    uint32_t spin_cycles;   /* length of a faulting thread's spin, in cycles */
    uint32_t yields;        /* 1: a spinning thread yields its processor from the start */
    uint32_t sleeping;      /* number of following faults that sleep without a spin */
    uint32_t rousing;       /* 1: closing pages wakes the pager before the first fault (pager.c) */
    struct sc_fault_slot slots[SC_FAULT_SLOTS];
};
extern struct sc_fault_desk *sc_fault_desk; /* NULL before the first start; never unmapped */

/* Set on the pager thread, whose own faults cannot be served. */
extern __thread bool sc_fault_on_pager __attribute__((tls_model("initial-exec")));

/* True when the address lies in the arena or in a watched range. */
bool sc_fault_sig_ours(uintptr_t addr);

/* In the signal handler.  True: retry the access.  False: the fault does not concern the library. */
bool sc_fault_sig_serve(uintptr_t addr, enum sc_access access, struct sc_host_code code);

/* In the signal handler of a program that is about to end: brings all data to host memory, for the core file.  Does
 * nothing when the thread is inside the library, whose locks the thread may hold.  Waits for a limited time. */
void sc_fault_sig_home(void);

/* In the signal handler: passes the signal to the program's action (chain_sig.c). */
void sc_chain_sig_pass(int sig, siginfo_t *info, void *context);
/* Handler for deadly signals that the program does not handle: brings all data to host memory, then takes the default
 * action. */
void sc_chain_sig_crash(int sig, siginfo_t *info, void *context);
/* Sets and returns the program's action for the faults that do not concern the library.  Either pointer may be NULL.
 * Thread safe, async-signal-safe. */
void sc_chain_sig_set(const struct sigaction *action, struct sigaction *old);

/* A system call that keeps errno, is no cancellation point, and is not trapped by SEMCACHE_CHECK=2. A sanitizer calls a
 * function at each access to memory: r10 is set after the last access, because the function may change the register. */
static inline long sc_sig_syscall(long number, long a, long b, long c, long d)
{
    uint8_t trapping = sc_host_strict_selector;
    long result;

    sc_host_strict_selector = 0;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    sc_host_strict_selector = trapping;
    return result;
}
/* Waits at most for `limit`; NULL: without limit.  Returns -ETIMEDOUT at the limit. */
static inline long sc_sig_futex_wait(uint32_t *word, uint32_t value, const struct timespec *limit)
{
    return sc_sig_syscall(SYS_futex, (long)word, 128 /* FUTEX_WAIT | FUTEX_PRIVATE_FLAG */, value, (long)limit);
}
static inline void sc_sig_futex_wake(uint32_t *word)
{
    sc_sig_syscall(SYS_futex, (long)word, 129 /* FUTEX_WAKE | FUTEX_PRIVATE_FLAG */, 1, 0);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
