/* The part of the fault engine that runs in the signal handler (rule F2).  The code uses no malloc, stdio, lock,
 * device call or errno.  Frames are small, because a thread may have a stack of only 16 KiB. */
#include "config.h"

#include "host/fault_sig.h"

#include <errno.h>

#include "base/inside.h"
#include "host/fault_int.h"
#include "host/host_int.h"
#include "host/watch.h"

/* Limit on repeats of the same fault without a change of protection in between.  Beyond the limit the fault would
 * repeat for ever. */
#define STUCK_MOST 8
/* A device that does not answer must not keep a crashed program alive for ever. */
#define HOME_SECONDS 60

struct sc_fault_desk *sc_fault_desk;
__thread bool sc_fault_on_pager __attribute__((tls_model("initial-exec")));

/* The last fault of the thread. */
static __thread struct {
    uintptr_t addr, ip;
    uint32_t changes; /* sc_host_prot_changes at the entry of the handler */
    unsigned stuck;
} last __attribute__((tls_model("initial-exec")));

enum verdict { ASK, RETRY, STUCK };

static inline uint32_t changes_now(void) { return __atomic_load_n(&sc_host_prot_changes, __ATOMIC_SEQ_CST); }

static enum verdict look(uintptr_t addr, uintptr_t ip, enum sc_access access)
{
    bool again = last.addr == addr && last.ip == ip;
    uint32_t now = changes_now();

    /* Only a repeat without a change since the last entry counts.  A page that was opened for this thread and closed
     * again before the thread ran is no reason to give up. */
    last.stuck = again && last.changes == now ? last.stuck + 1 : 0;
    last.changes = now;
    last.addr = addr;
    last.ip = ip;
    if (last.stuck > STUCK_MOST)
        return STUCK;
    return (sc_host_within((const void *)addr) ? sc_host_prot(addr) : sc_watch_prot(addr)) <=
                   sc_host_prot_for(access) ? RETRY : ASK;
}

static struct sc_fault_slot *claim(struct sc_fault_desk *desk)
{
    unsigned start = (unsigned)((uintptr_t)&last >> 12); /* most likely different for each thread */

    for (;;) {
        for (unsigned i = 0; i < SC_FAULT_SLOTS; i++) {
            struct sc_fault_slot *slot = &desk->slots[(start + i) % SC_FAULT_SLOTS];
            uint32_t state = SC_FAULT_FREE;

            if (__atomic_compare_exchange_n(&slot->state, &state, SC_FAULT_FILLING, false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED))
                return slot;
        }
        sc_sig_syscall(SYS_sched_yield, 0, 0, 0, 0);
    }
}

static bool answered(const struct sc_fault_slot *slot)
{
    return __atomic_load_n(&slot->state, __ATOMIC_SEQ_CST) >= SC_FAULT_SERVED;
}

/* A processor that the kernel took away during a spin shows that the machine has no idle processor. */
#define LOST_CYCLES    (1u << 21) /* about 1 ms */
#define SLEEPING_AFTER 64         /* faults */

static bool sleeps(struct sc_fault_desk *desk)
{
    uint32_t left = __atomic_load_n(&desk->sleeping, __ATOMIC_RELAXED);

    return left && __atomic_compare_exchange_n(&desk->sleeping, &left, left - 1, false, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED);
}

/* Yields with few processors, and when the pager has not begun after a moment: it may be waiting for this processor. A
 * yield to a thread that computes costs a time slice of some milliseconds. */
#define MOMENT_CYCLES (1u << 17) /* about 50 us */

static void linger(const struct sc_fault_desk *desk, const struct sc_fault_slot *slot, uint64_t cycles)
{
    if (!desk->yields &&
        (cycles < MOMENT_CYCLES || __atomic_load_n(&slot->state, __ATOMIC_RELAXED) != SC_FAULT_POSTED)) {
        __builtin_ia32_pause();
        return;
    }
    for (int i = 0; i < 64; i++)
        __builtin_ia32_pause();
    sc_sig_syscall(SYS_sched_yield, 0, 0, 0, 0);
}

static void spin(struct sc_fault_desk *desk, const struct sc_fault_slot *slot)
{
    uint64_t start = __builtin_ia32_rdtsc(), cycles = 0;

    if (sleeps(desk))
        return;
    if (__atomic_fetch_add(&desk->spinning, 1, __ATOMIC_RELAXED) < desk->spinning_most)
        for (; !answered(slot) && cycles < desk->spin_cycles; cycles = __builtin_ia32_rdtsc() - start)
            linger(desk, slot, cycles);
    __atomic_fetch_sub(&desk->spinning, 1, __ATOMIC_RELAXED);
    if (__builtin_ia32_rdtsc() - start > (uint64_t)desk->spin_cycles + LOST_CYCLES)
        __atomic_store_n(&desk->sleeping, SLEEPING_AFTER, __ATOMIC_RELAXED);
}

/* Posts a request and waits for the answer, at most for `limit` (NULL: without limit).  Returns true when the request
 * was served. */
static bool ask(struct sc_fault_desk *desk, uintptr_t addr, enum sc_access access, struct sc_host_code code,
                const struct timespec *limit)
{
    struct sc_fault_slot *slot = claim(desk);
    uint32_t state = SC_FAULT_POSTED;
    bool served;

    slot->addr = addr;
    slot->code = code;
    slot->access = access;
    /* The pager may still read the field for the previous owner of the slot. */
    __atomic_store_n(&slot->asleep, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->state, SC_FAULT_POSTED, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&desk->posted, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&desk->pager_asleep, __ATOMIC_SEQ_CST))
        sc_sig_futex_wake(&desk->posted);
    /* A pager that stops closes the desk first and answers posted requests afterwards.  The pager sees the request, or
     * the thread sees the closed desk. */
    if (!__atomic_load_n(&desk->open, __ATOMIC_SEQ_CST) &&
        __atomic_compare_exchange_n(&slot->state, &state, SC_FAULT_FREE, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return false;
    spin(desk, slot);
    __atomic_store_n(&slot->asleep, 1, __ATOMIC_SEQ_CST);
    while (!answered(slot)) {
        state = __atomic_load_n(&slot->state, __ATOMIC_SEQ_CST);
        if (state < SC_FAULT_SERVED && sc_sig_futex_wait(&slot->state, state, limit) == -ETIMEDOUT)
            return false; /* the slot stays taken: the pager may still answer */
    }
    served = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SC_FAULT_SERVED;
    __atomic_store_n(&slot->state, SC_FAULT_FREE, __ATOMIC_RELEASE);
    return served;
}

void sc_fault_sig_home(void)
{
    struct sc_fault_desk *desk = sc_fault_desk;
    const struct timespec limit = {.tv_sec = HOME_SECONDS};

    if (desk && !sc_fault_on_pager && !sc_inside() && __atomic_load_n(&desk->open, __ATOMIC_SEQ_CST) &&
        desk->owner == (int32_t)sc_sig_syscall(SYS_getpid, 0, 0, 0, 0))
        ask(desk, 0, SC_FAULT_HOME, (struct sc_host_code){0}, &limit);
}

bool sc_fault_sig_ours(uintptr_t addr)
{
    return sc_host_within((const void *)addr) || sc_watch_meets(addr, addr + 1) || sc_watch_was(addr);
}

/* The array's bytes are on the parent's devices.  base/log.h is not async-signal-safe. */
static void lament(void)
{
    static const char text[] =
        "semcache: error: a process that was made past libc (by a system call of the program's own) touches an array "
        "that was on a device: call semcache_sync before it is made\n";

    sc_sig_syscall(SYS_write, 2, (long)text, sizeof text - 1, 0);
}

bool sc_fault_sig_serve(uintptr_t addr, enum sc_access access, struct sc_host_code code)
{
    struct sc_fault_desk *desk = sc_fault_desk;

    if (!desk || sc_fault_on_pager || !sc_fault_sig_ours(addr))
        return false;
    switch (look(addr, code.ip, access)) {
    case ASK:
        if (!desk->owner)
            lament();
        return __atomic_load_n(&desk->open, __ATOMIC_SEQ_CST) && ask(desk, addr, access, code, NULL);
    case RETRY:
        return true;
    default:
        return false;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
