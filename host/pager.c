/* The pager is the thread that serves faults.  The signal handler cannot serve them: it may not use malloc, locks or
 * devices. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/inside.h"
#include "base/libc_versions.h"
#include "base/log.h"
#include "base/quiet.h"
#include "base/slice.h"
#include "host/fault_int.h"
#include "host/fault_sig.h"
#include "host/host_int.h"

/* Spinning and sleeping.  A pager that is awake answers in 5 us.  Waking a pager on an idle processor took 150 to
 * 400 us more on virtual machines with an H200, because the hypervisor parks the processor.  With processors to
 * spare:
 * - The pager spins for AWAKE_NS after the last fault or closing of pages.  AWAKE_NS is about a hundred times the
 *   cost of a wake-up, so wake-ups cost a program at most one percent.
 * - Closing pages wakes the pager (sc_host_pager_rouse), before the first fault.
 * - Every 20 us the pager yields its processor.  A thread of a parallel BLAS that waits behind the pager would delay
 *   the whole team by a time slice (3 to 4 ms in each panel of a factorization).
 * - The pager stops spinning, for BACKOFF_NS, when the kernel takes its processor away: the program needs every
 *   processor.
 * - Faulting threads, which cannot do anything else, spin longer than most transfers take.
 * With fewer processors both spin briefly, and after a loss of the processor they do not spin for a while.
 *
 * Every processor can be busy although a program needs few: OpenBLAS keeps a thread on each awake for some milliseconds
 * after a call.  A sleeping pager then waits for a processor, mostly for the one of the faulting thread.  That thread
 * therefore yields its processor when the pager has not begun after 50 us, and the pager has a short time slice.  With
 * products of NumPy on 16 threads of 16 processors a fault took 2.3 ms without these two (the whole spin), and 0.2 ms
 * with either. */
#define SPARE_CPUS              4
#define AWAKE_NS                20000000
#define AWAKE_BRIEF_NS          100000
#define BACKOFF_NS              1000000000
#define FAULT_SPIN_CYCLES       (1u << 22) /* 1 to 2 ms */
#define FAULT_SPIN_BRIEF_CYCLES (1u << 17) /* about 50 us */
#define POLLS                   512        /* between two looks at the clock: about 20 us */
#define LANDED_YIELDS           256        /* without processors to spare: looks at other requests before a sleep */
#define LANDED_NS               20000      /* and the sleep; a kernel makes more than 50 us of it */
#define LOST_NS                 1000000    /* a larger gap between two looks: a different thread ran here */

static const struct sc_host_callbacks *calls;
static pthread_t thread;

static bool is_open(uintptr_t addr, enum sc_access access)
{
    return sc_host_prot(addr) <= sc_host_prot_for(access);
}

static void answer(struct sc_fault_slot *slot, enum sc_fault_state state)
{
    __atomic_store_n(&slot->state, state, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&slot->asleep, __ATOMIC_SEQ_CST))
        sc_sig_futex_wake(&slot->state);
}

/* Bounds of the block with addr.  Without a block: bounds of the range; the protocol then refuses the fault. */
static struct sc_host_bounds bounds_of(uintptr_t addr)
{
    const struct sc_host_range *range = sc_host_in_range(&sc_host_zone, (const void *)addr) ? &sc_host_zone
                                                                                             : &sc_host_arena;
    struct sc_host_block block;

    if (sc_host_block_of((const void *)addr, &block))
        return (struct sc_host_bounds){block.base, block.base + block.bytes};
    return (struct sc_host_bounds){range->base, range->base + range->bytes};
}

/* A page that a different request has opened in the meantime is not passed to the protocol, which would take a read
 * of a readable page for a write. */
static void serve(struct sc_fault_slot *slot)
{
    enum sc_access access = (enum sc_access)slot->access;
    uintptr_t addr = slot->addr, next;
    size_t bytes;

    if (access == SC_FAULT_HOME) {
        if (calls->all_home)
            calls->all_home();
        answer(slot, SC_FAULT_SERVED);
        return;
    }
    if (!sc_host_within((const void *)addr)) { /* a watched page, outside the arena */
        answer(slot, calls->fault(addr, access, slot->code, 0) == SC_FAULT_DONE ? SC_FAULT_SERVED : SC_FAULT_REFUSED);
        return;
    }
    if (is_open(addr, access)) {
        answer(slot, SC_FAULT_SERVED);
        return;
    }
    if (calls->fault(addr, access, slot->code, sc_host_window(addr, access, bounds_of(addr))) != SC_FAULT_DONE) {
        answer(slot, SC_FAULT_REFUSED);
        return;
    }
    answer(slot, SC_FAULT_SERVED); /* the slot belongs to the next owner from here on */
    if (sc_host_window_served(addr, access, &next, &bytes) && calls->read_ahead)
        calls->read_ahead(next, bytes);
}

static bool serve_all(struct sc_fault_desk *desk)
{
    bool any = false;

    for (int i = 0; i < SC_FAULT_SLOTS; i++) {
        uint32_t posted = SC_FAULT_POSTED;

        if (__atomic_load_n(&desk->slots[i].state, __ATOMIC_RELAXED) == SC_FAULT_POSTED &&
            __atomic_compare_exchange_n(&desk->slots[i].state, &posted, SC_FAULT_SERVING, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            serve(&desk->slots[i]);
            any = true;
        }
    }
    return any;
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* True when a request was posted after `seen`; false when it is time to sleep. */
static bool spin(struct sc_fault_desk *desk, uint32_t seen)
{
    static uint64_t backoff_until;
    uint64_t start = clock_ns(), now = start, before, most;
    bool many = desk->spinning_most >= SPARE_CPUS / 2, crowded = start < backoff_until;

    __atomic_store_n(&desk->rousing, many && !crowded, __ATOMIC_RELAXED);
    most = many && !crowded ? AWAKE_NS : many || (!crowded && desk->spinning_most) ? AWAKE_BRIEF_NS : 0;
    while (now - start < most) {
        for (int i = 0; i < POLLS; i++) {
            if (__atomic_load_n(&desk->posted, __ATOMIC_SEQ_CST) != seen)
                return true;
            __builtin_ia32_pause();
        }
        before = now;
        sched_yield();
        now = clock_ns();
        if (now - before > LOST_NS) {
            backoff_until = now + BACKOFF_NS;
            __atomic_store_n(&desk->rousing, 0, __ATOMIC_RELAXED);
            return false;
        }
    }
    return false;
}

/* A slot that is being served belongs to the pager: the thread's registers do not change. */
static void serve_landed(struct sc_fault_slot *slot)
{
    uint32_t posted = SC_FAULT_POSTED;

    if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) != SC_FAULT_POSTED ||
        !__atomic_compare_exchange_n(&slot->state, &posted, SC_FAULT_SERVING, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    if ((enum sc_access)slot->access == SC_READ && sc_host_within((const void *)slot->addr) &&
        (is_open(slot->addr, SC_READ) || calls->landed(slot->addr, slot->code)))
        answer(slot, SC_FAULT_SERVED);
    else
        __atomic_store_n(&slot->state, SC_FAULT_POSTED, __ATOMIC_SEQ_CST);
}

bool sc_host_serve_landed(int looks)
{
    static bool inside; /* of the pager thread: a callback may wait, too */
    struct sc_fault_desk *desk = sc_fault_desk;

    if (!sc_fault_on_pager || !calls->landed || inside)
        return false;
    inside = true;
    for (int i = 0; i < SC_FAULT_SLOTS; i++)
        serve_landed(&desk->slots[i]);
    inside = false;
    if (desk->spinning_most >= SPARE_CPUS / 2)
        for (int i = 0; i < POLLS / 4; i++)
            __builtin_ia32_pause();
    else if (looks < LANDED_YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = LANDED_NS}, NULL);
    return true;
}

/* Waits for a post after `seen`: spins, then sleeps. */
static void wait_for_post(struct sc_fault_desk *desk, uint32_t seen)
{
    if (spin(desk, seen))
        return;
    __atomic_store_n(&desk->pager_asleep, 1, __ATOMIC_SEQ_CST);
    sc_sig_futex_wait(&desk->posted, seen, NULL); /* returns at once when the word has changed */
    __atomic_store_n(&desk->pager_asleep, 0, __ATOMIC_SEQ_CST);
}

/* Posts without a request: the pager finds no work and begins to spin anew. */
void sc_host_pager_rouse(void)
{
    struct sc_fault_desk *desk = sc_fault_desk;

    if (!desk || !__atomic_load_n(&desk->rousing, __ATOMIC_RELAXED))
        return;
    __atomic_fetch_add(&desk->posted, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&desk->pager_asleep, __ATOMIC_SEQ_CST))
        sc_sig_futex_wake(&desk->posted);
}

static void *pager(void *arg)
{
    struct sc_fault_desk *desk = arg;

    sc_inside_enter();
    sc_quiet_enter(); /* for the thread's life: its signals are blocked anyway */
    sc_fault_on_pager = true;
    sc_slice_shorten();
    for (;;) {
        uint32_t seen = __atomic_load_n(&desk->posted, __ATOMIC_SEQ_CST);
        bool open = __atomic_load_n(&desk->open, __ATOMIC_SEQ_CST);

        if (serve_all(desk))
            continue;
        if (!open) /* every request posted before the desk closed is served */
            return NULL;
        wait_for_post(desk, seen);
    }
}

static enum sc_status desk_open(void)
{
    cpu_set_t cpus;
    struct sc_fault_desk *desk = sc_fault_desk;
    int count = sched_getaffinity(0, sizeof cpus, &cpus) ? 2 : CPU_COUNT(&cpus);

    if (!desk) {
        desk = sc_host_sys_mmap(NULL, sizeof *desk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
        if (desk == MAP_FAILED) {
            sc_log(SC_LOG_ERROR, "no memory for the fault desk: %s", strerror(errno));
            return SC_ERR_MEMORY;
        }
        if (sc_host_sys_madvise(desk, sizeof *desk, MADV_WIPEONFORK))
            sc_log(SC_LOG_WARN, "MADV_WIPEONFORK: %s", strerror(errno));
    }
    desk->owner = (int32_t)getpid();
    desk->spinning_most = (uint32_t)(count > 1 ? count / 2 : 0);
    desk->yields = count < SPARE_CPUS;
    desk->spin_cycles = count >= SPARE_CPUS ? FAULT_SPIN_CYCLES : FAULT_SPIN_BRIEF_CYCLES;
    __atomic_store_n(&sc_fault_desk, desk, __ATOMIC_RELEASE);
    __atomic_store_n(&desk->open, 1, __ATOMIC_SEQ_CST);
    return SC_OK;
}

enum sc_status sc_host_pager_start(const struct sc_host_callbacks *callbacks)
{
    sigset_t all, old;
    int error;

    calls = callbacks;
    sc_host_window_reset();
    if (desk_open() != SC_OK)
        return SC_ERR_MEMORY;
    sigfillset(&all);
    sc_host_real_sigmask(SIG_SETMASK, &all, &old); /* the new thread inherits the mask */
    sc_inside_enter();
    error = pthread_create(&thread, NULL, pager, sc_fault_desk);
    sc_inside_leave();
    sc_host_real_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        __atomic_store_n(&sc_fault_desk->open, 0, __ATOMIC_SEQ_CST);
        sc_log(SC_LOG_ERROR, "no thread for the pager: %s", strerror(error));
        return SC_ERR_MEMORY;
    }
    pthread_setname_np(thread, "semcache-pager");
    return SC_OK;
}

void sc_host_pager_stop(void)
{
    struct sc_fault_desk *desk = sc_fault_desk;

    __atomic_store_n(&desk->open, 0, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&desk->posted, 1, __ATOMIC_SEQ_CST);
    sc_sig_futex_wake(&desk->posted);
    sc_inside_enter();
    pthread_join(thread, NULL);
    sc_inside_leave();
}
/* SPDX-License-Identifier: BSD-2-Clause */
