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
#define SC_FAULT_HOME  ((enum sc_access)4) /* no fault: everything is to come home */

/* free -> filling -> posted -> (pager) serving -> done or refused -> free.  The thread that filled it owns it, but
 * between posted and done, when the pager does. */
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
    uint32_t asleep; /* it may be sleeping: wake it */
    uint32_t access;
    uintptr_t addr;
    struct sc_host_code code;
} __attribute__((aligned(64)));

/* Lies in memory that the kernel clears in a forked child (and does not in a vforked one, which shares the pager):
 * there `open` is 0, and nobody waits for a thread that does not exist. */
struct sc_fault_desk {
    uint32_t open;
    int32_t owner;   /* process id */
    uint32_t posted; /* counts posts; the futex that the pager sleeps on */
    uint32_t pager_asleep;
    uint32_t spinning;      /* faulting threads that spin now */
    uint32_t spinning_most; /* more than this many would take the pager's processor */
    uint32_t spin_cycles;   /* how long one spins before it sleeps */
    uint32_t yields;        /* and that it offers its processor to others meanwhile */
    uint32_t sleeping;      /* so many of the next faults are to sleep at once */
    uint32_t rousing;       /* the pager wants to be woken before the first fault (pager.c) */
    struct sc_fault_slot slots[SC_FAULT_SLOTS];
};
extern struct sc_fault_desk *sc_fault_desk; /* NULL before the first start; never unmapped */

/* Set on the pager thread: its own faults cannot be served. */
extern __thread bool sc_fault_on_pager __attribute__((tls_model("initial-exec")));

/* The address is in the arena or in a watched range. */
bool sc_fault_sig_ours(uintptr_t addr);

/* In the signal handler.  True: try the access again; false: the fault is not ours. */
bool sc_fault_sig_serve(uintptr_t addr, enum sc_access access, struct sc_host_code code);

/* In the signal handler of a program that is about to end: everything comes home first, so that a core dump shows it.
 * Not when the thread is inside the library, whose locks it may hold; and not for ever. */
void sc_fault_sig_home(void);

/* In the signal handler: what would have happened without us (chain_sig.c). */
void sc_chain_sig_pass(int sig, siginfo_t *info, void *context);
/* Handler for deadly signals without one: everything home, then the default action. */
void sc_chain_sig_crash(int sig, siginfo_t *info, void *context);
/* The action that gets the faults that are not ours.  Either may be NULL.  Thread safe, async-signal safe. */
void sc_chain_sig_set(const struct sigaction *action, struct sigaction *old);

/* System calls that leave errno alone, are no cancellation points, and are not trapped by SEMCACHE_CHECK=2. */
static inline long sc_sig_syscall(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    uint8_t trapping = sc_host_strict_selector;
    long result;

    sc_host_strict_selector = 0;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    sc_host_strict_selector = trapping;
    return result;
}
/* limit: how long at most, NULL: for ever.  -ETIMEDOUT when it was as long. */
static inline long sc_sig_futex_wait(uint32_t *word, uint32_t value, const struct timespec *limit)
{
    return sc_sig_syscall(SYS_futex, (long)word, 128 /* FUTEX_WAIT | FUTEX_PRIVATE_FLAG */, value, (long)limit);
}
static inline void sc_sig_futex_wake(uint32_t *word)
{
    sc_sig_syscall(SYS_futex, (long)word, 129 /* FUTEX_WAKE | FUTEX_PRIVATE_FLAG */, 1, 0);
}

#endif
