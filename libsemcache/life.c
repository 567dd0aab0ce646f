/* From the first large call to the end: rules L4 to L7 of README.md.
 *
 * The thread that changes `life` opens devices in STARTING and closes devices in ENDING.  It holds no lock, because
 * drivers and modules take the loader's lock (doc/locks.md).  Calls of other threads run on the host and do not wait
 * for STARTING.
 *
 *   IDLE --sc_library_start--> STARTING --> RUNNING --sc_library_end--> ENDING --> OVER
 *     \------ no devices, sc_library_end, fork of a process that is running ------^ */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "autotuner/autotuner.h"
#include "autotuner/explain.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "base/forks.h"
#include "base/inside.h"
#include "base/libc_versions.h"
#include "base/locks.h"
#include "base/quiet.h"
#include "base/stack.h"
#include "blas/blas.h"
#include "coherence/access.h"
#include "coherence/call.h"
#include "coherence/devices.h"
#include "coherence/faults.h"
#include "device/device.h"
#include "device/submit.h"
#include "host/fork.h"
#include "host/host.h"
#include "host/process.h"
#include "libsemcache/config.h"
#include "libsemcache/library.h"
#include "libsemcache/opener.h"
#include "sparse/sparse.h"
#include "tasks/tasks.h"
#include "trace/trace.h"

/* Protects the transitions of `life`.  A thread may hold the lock several times, because a fork has two sets of
 * handlers. */
static struct sc_lock life_lock = SC_LOCK(SC_RANK_LIFE);
static pthread_cond_t life_changed = PTHREAD_COND_INITIALIZER;
static __thread unsigned holds __attribute__((tls_model("initial-exec")));
static __thread bool changing __attribute__((tls_model("initial-exec"))); /* this thread performs STARTING or ENDING */
static enum sc_library_life life; /* written under life_lock, except in a forked child */
static const struct sc_device_ops *ops;
static int device_count;

static bool opened; /* attempted, with or without success */
bool sc_library_opened(void) { return __atomic_load_n(&opened, __ATOMIC_ACQUIRE); }

enum sc_library_life sc_library_life(void) { return __atomic_load_n(&life, __ATOMIC_ACQUIRE); }

static void set_life(enum sc_library_life next) { __atomic_store_n(&life, next, __ATOMIC_RELEASE); }

static void hold(void)
{
    sc_quiet_enter();
    if (holds++ == 0)
        sc_lock(&life_lock);
}

static void release(void)
{
    if (--holds == 0)
        sc_unlock(&life_lock);
    sc_quiet_leave();
}

static bool in_change(void)
{
    enum sc_library_life now = sc_library_life();

    return now == SC_LIBRARY_STARTING || now == SC_LIBRARY_ENDING;
}

/* Takes the lock, after waiting for other threads that change `life`.  Returns false, with the lock, if a change lasts
 * too long: the other thread may wait for the loader's lock, and the caller may hold the loader's lock. */
static bool hold_settled(void)
{
    struct timespec until = sc_lock_deadline(SC_OPENER_PATIENCE);

    hold();
    while (!changing && in_change())
        if (pthread_cond_timedwait(&life_changed, &life_lock.mutex, &until))
            return false;
    return true;
}

static bool exits; /* handlers of exit run, or will run soon; written under life_lock */

/* Begins to open the devices; false if another thread has begun, and in a process that ends. */
static bool begin_start(void)
{
    bool begins;

    hold();
    begins = life == SC_LIBRARY_IDLE && !exits;
    if (begins)
        set_life(SC_LIBRARY_STARTING);
    changing = begins;
    release();
    return begins;
}

static void end_change(enum sc_library_life next)
{
    hold();
    set_life(next);
    changing = false;
    pthread_cond_broadcast(&life_changed);
    release();
}

/* --- how large a call must be ------------------------------------------------------------------------------------- */

static void let_through(void)
{
    for (int level = 1; level <= 4; level++) {
        int64_t small = sc_config.offload == SC_OFFLOAD_ALWAYS ? 0 : sc_autotuner_small(level);

        __atomic_store_n(&sc_blas_small[level], small, __ATOMIC_RELEASE);
    }
}

static void keep_on_host(void)
{
    for (int level = 1; level <= 4; level++)
        __atomic_store_n(&sc_blas_small[level], INT64_MAX, __ATOMIC_RELEASE);
}

/* A fork must not happen while a driver is half open, because the child could never end.  Both sets of fork handlers
 * hold the lock; the outer set holds it for the whole fork. */
static __thread unsigned forks __attribute__((tls_model("initial-exec")));

static void hold_for_fork(void)
{
    if (forks++)
        return;
    hold_settled();
    sc_opener_fork_prepare();
}

static void release_in_parent(void)
{
    if (--forks)
        return;
    sc_opener_fork_parent();
    release();
}

static void release_in_child(void)
{
    bool begun = in_change();

    if (--forks)
        return;
    begun = sc_opener_fork_child() || begun;
    release();
    pthread_cond_init(&life_changed, NULL);
    if (begun) {
        keep_on_host();
        set_life(SC_LIBRARY_OVER);
    }
}

/* A fork by a driver, in the thread that opens the devices, does not wait for the opening. */
static void lock_for_fork(void)
{
    if (sc_opener_is_me())
        return;
    hold_for_fork();
    sc_host_fork_make_up();
}

static void unlock_in_parent(void)
{
    if (sc_opener_is_me())
        return;
    sc_host_fork_made_up(false);
    release_in_parent();
}

static void unlock_in_child(void)
{
    if (!sc_opener_is_me()) {
        sc_host_fork_made_up(true);
        release_in_child();
        return;
    }
    sc_lock_init(&life_lock, SC_RANK_LIFE); /* another thread of the parent may hold the lock */
    pthread_cond_init(&life_changed, NULL);
    sc_opener_fork_child();
    keep_on_host();
    set_life(SC_LIBRARY_OVER);
}

/* Rule L7, before a fork or an exit.  Waits until the devices are open, calls are over, and the submission threads have
 * submitted all operations.  Each wait lasts at most ten seconds.  A call inside this library may hold a turn that a
 * submission thread waits for. */
static void settle(void)
{
    sc_opener_wait();
    if (sc_inside() || sc_host_orphan())
        return;
    hold_settled();
    release(); /* calls in progress may take the lock */
    if (sc_library_life() != SC_LIBRARY_RUNNING)
        return;
    sc_coherence_await_calls(SC_OPENER_PATIENCE);
    hold_settled();
    if (sc_library_life() == SC_LIBRARY_RUNNING)
        sc_submit_settle(SC_OPENER_PATIENCE);
    release();
}

static void set_exits(bool value)
{
    sc_opener_permit(!value);
    hold();
    exits = value;
    release();
    sc_coherence_leave(value);
}

/* Later calls neither open devices nor use them: the handlers of exit could overtake the opening, and a library's first
 * use. */
static void before_exit(void)
{
    if (!sc_inside() && !sc_host_orphan())
        set_exits(true);
    settle();
}

/* The main thread has ended as at an exit, but the process goes on with its other threads. */
static void main_has_left(void) { set_exits(false); }

void sc_library_arm(void)
{
    static int armed;

    if (sc_config.offload == SC_OFFLOAD_NEVER || !sc_device_expected(sc_config.device)) {
        keep_on_host();
        return;
    }
    if (sc_host_arena_start() != SC_OK)
        return;
    sc_opener_at_end(before_exit);
    sc_opener_know_thread();
    sc_host_process_before(settle, before_exit);
    sc_host_threads_watch(main_has_left, before_exit);
    if (!__atomic_exchange_n(&armed, 1, __ATOMIC_RELAXED))
        sc_forks_register(lock_for_fork, unlock_in_parent, unlock_in_child);
    __atomic_store_n(&sc_blas_start, sc_library_start, __ATOMIC_RELEASE);
    __atomic_store_n(&sc_sparse_start, sc_library_start, __ATOMIC_RELEASE);
    let_through();
}

enum sc_status sc_library_set_device(const char *device)
{
    enum sc_status status = SC_OK;

    hold();
    if (sc_library_life() != SC_LIBRARY_IDLE || sc_opener_busy())
        status = SC_ERR_CONFLICT;
    else if (!sc_config_set(&sc_config, &sc_config_settings[0], device))
        status = SC_ERR_INVALID;
    release();
    if (status == SC_OK)
        sc_library_arm();
    return status;
}

/* --- callbacks of the host ---------------------------------------------------------------------------------------- */

/* True while the protocol is active.  Includes ENDING, because no result may be written back to memory freed
 * meanwhile. */
static bool is_tracking(void)
{
    enum sc_library_life now = sc_library_life();

    return now == SC_LIBRARY_RUNNING || now == SC_LIBRARY_ENDING;
}

static void forget(uintptr_t addr, size_t bytes)
{
    if (!is_tracking())
        return;
    sc_trace(.kind = SC_EVENT_FREE, .range = {.address = addr, .bytes = bytes});
    sc_coherence_forget(addr, bytes);
}

/* For a reader of the trace the memory is acquired and freed. */
static void withdraw(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg)
{
    if (!is_tracking()) {
        if (end)
            end(arg);
        return;
    }
    sc_trace_acquire(addr, bytes, SC_RDWR);
    sc_coherence_withdraw(addr, bytes, end, arg);
    sc_trace(.kind = SC_EVENT_FREE, .range = {.address = addr, .bytes = bytes});
}

static void acquire(uintptr_t addr, size_t bytes, enum sc_access access)
{
    if (!is_tracking())
        return;
    sc_trace_acquire(addr, bytes, access);
    sc_coherence_acquire_host(addr, bytes, access);
}

/* A trace has every acquisition. */
static bool is_home(uintptr_t addr, size_t bytes, enum sc_access access)
{
    return !is_tracking() || (!sc_trace_on && sc_coherence_all_open(addr, bytes, access));
}

static void all_home(void)
{
    if (is_tracking())
        sc_coherence_home_all();
}

/* `life` cannot change around a fork.  These handlers were registered after lock_for_fork: `home` runs before
 * lock_for_fork, `resume` and `child` run after unlock_in_parent and unlock_in_child. */
static void home(void)
{
    hold_for_fork(); /* outermost; lock_for_fork holds the lock again */
    if (!is_tracking())
        return;
    sc_trace(.kind = SC_EVENT_HOME);
    sc_coherence_fork_prepare();
}

static void resume(void)
{
    if (is_tracking())
        sc_coherence_fork_parent();
    release_in_parent();
}

/* The devices, and the other threads with their locks, stay with the parent. */
static void child(void)
{
    if (is_tracking())
        sc_coherence_fork_child();
    keep_on_host();
    set_life(SC_LIBRARY_OVER);
    release_in_child();
}

static const struct sc_host_callbacks callbacks = {.fault = sc_coherence_fault,
                                                   .landed = sc_coherence_fault_landed,
                                                   .read_ahead = sc_coherence_read_ahead,
                                                   .forget = forget,
                                                   .withdraw = withdraw,
                                                   .acquire = acquire,
                                                   .is_home = is_home,
                                                   .all_home = all_home,
                                                   .home = home,
                                                   .child = child,
                                                   .resume = resume};

/* --- start -------------------------------------------------------------------------------------------------------- */

static const struct sc_device_host device_host = {.config = &sc_config,
                                                  .blas_symbol = sc_blas_host_symbol,
                                                  .log = sc_log,
                                                  .thread_enter = sc_opener_thread_enter,
                                                  .unwanted = sc_opener_is_unwanted};

/* Every step logs its own failure. */
static bool open_devices(void)
{
    if (sc_blas_host_open(sc_config.host_blas) != SC_OK)
        return false;
    if (sc_opener_take(&device_host, &ops, &device_count) != SC_OK || !ops)
        return false;
    sc_blas_host_threads_all();
    sc_autotuner_start(ops, device_count, &device_host);
    if (sc_coherence_start(ops, device_count, &device_host) != SC_OK) {
        ops->close();
        return false;
    }
    sc_blas_links();
    if (sc_host_faults_start(&callbacks) != SC_OK) {
        sc_coherence_stop();
        return false;
    }
    return true;
}

static void end_at_exit(void) { sc_library_end(true); }

/* No lock is held in any step. */
static void start(void)
{
    sc_inside_enter();
    /* Here, because a process without offloaded calls writes no trace. */
    if (sc_config.trace && sc_trace_start(sc_config.trace) == SC_OK)
        sc_report_settings();
    if (sc_config.verify) {
        sc_trace_keep();
        sc_blas_verify_start();
    }
    sc_explain_on = sc_config.explain != NULL;
    __atomic_store_n(&opened, true, __ATOMIC_RELEASE);
    if (open_devices()) {
        /* Registered after the driver's handlers, and therefore run before them (rule L7). */
        atexit(end_at_exit);
        end_change(SC_LIBRARY_RUNNING);
    } else {
        keep_on_host();
        end_change(SC_LIBRARY_OVER);
    }
    sc_inside_leave();
}

static bool process_ends; /* set before ENDING */

static void let_process_end(void) { nanosleep(&(struct timespec){0, 50000000}, NULL); }

/* While results are written back, calls wait.  Otherwise a host BLAS could fault on a closed page while holding its own
 * locks, which an emulated device may need to finish.  The remaining work never needs the loader.
 *
 * At exit the destructors of OpenBLAS then free memory of the routines.  The calls therefore wait until the process has
 * probably ended.  The wait is short, because a destructor of the program may join the waiting threads.
 *
 * A thread that has gathered results does not wait, because the end waits until they are collected. */
static void wait_until_home(void)
{
    if (changing || sc_blas_has_gathered())
        return;
    while (sc_library_life() == SC_LIBRARY_ENDING && sc_coherence_devices() > 0)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    if (__atomic_load_n(&process_ends, __ATOMIC_ACQUIRE))
        let_process_end();
}

/* An exit has waited for this thread's vain attempt, and goes on beside the call on the host. */
static bool exit_goes_on(void)
{
    bool goes_on;

    hold();
    goes_on = exits;
    release();
    return goes_on;
}

/* Before the first opening.  Not in sc_library_start, which each large call passes. */
static __attribute__((noinline)) bool open_first(bool now)
{
    sigset_t before;
    bool tried;

    if (now ? sc_opener_busy_long() : !sc_opener_ready(&device_host))
        return false;
    if (!sc_stack_has(SC_STACK_OF_A_CALL)) /* a later call may have a larger stack */
        return false;
    sc_opener_hold_signals(&before); /* signal handlers could longjmp out of this function */
    sc_quiet_enter();
    sc_quiet_threads++;
    tried = begin_start();
    if (tried)
        start();
    sc_quiet_threads--;
    sc_quiet_leave();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (sc_library_life() == SC_LIBRARY_RUNNING)
        return true;
    if (tried && exit_goes_on())
        let_process_end();
    return false;
}

bool sc_library_start(bool now)
{
    enum sc_library_life before_this = sc_library_life();

    if (before_this == SC_LIBRARY_ENDING)
        wait_until_home();
    return before_this == SC_LIBRARY_IDLE ? open_first(now) : before_this == SC_LIBRARY_RUNNING;
}

bool sc_library_start_waiting(void)
{
    if (sc_library_start(true))
        return true;
    sc_opener_wait();
    hold_settled();
    release();
    return sc_library_start(true);
}

/* --- end ---------------------------------------------------------------------------------------------------------- */

/* Waits for all enqueued work.  Errors were reported before, and failed work was repeated on the host. */
static void wait_for_devices(void)
{
    struct sc_fence fence;

    for (int device = 0; device < device_count; device++)
        for (int stream = 0; stream < SC_STREAMS; stream++)
            if (ops->mark(device, (enum sc_stream)stream, &fence) == SC_OK)
                ops->sync(fence);
}

/* The statistics are taken when the program's work is done, before the remaining data is written back. */
static void close_devices(bool exiting)
{
    wait_for_devices();
    sc_report_snapshot();
    if (exiting)
        sc_host_spans_leave_pinned();
    sc_coherence_stop();
    sc_host_faults_stop();
}

void sc_library_end(bool exiting)
{
    static int ended;

    /* exit was called by a signal handler that interrupted the library: the thread may hold every lock (rule L7). */
    if (sc_inside())
        return;
    if (sc_host_orphan() && sc_library_life() == SC_LIBRARY_RUNNING)
        return;
    if (__atomic_exchange_n(&ended, 1, __ATOMIC_ACQ_REL))
        return;
    sc_inside_enter();
    __atomic_store_n(&process_ends, exiting, __ATOMIC_RELEASE);
    hold_settled();
    if (sc_library_life() != SC_LIBRARY_STARTING) {
        changing = sc_library_life() == SC_LIBRARY_RUNNING;
        set_life(changing ? SC_LIBRARY_ENDING : SC_LIBRARY_OVER);
    }
    release();
    if (changing)
        close_devices(exiting);
    sc_opener_end();
    keep_on_host();
    if (changing)
        end_change(SC_LIBRARY_OVER);
    if (sc_config.check && sc_tokens_held())
        sc_log(SC_LOG_ERROR, "%d tokens were never released (semcache_token_release)", sc_tokens_held());
    sc_report_end();
    sc_inside_leave();
}
/* SPDX-License-Identifier: BSD-2-Clause */
