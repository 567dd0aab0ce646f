/* From the first large call to the end: rules L4 to L7 of README.md.
 *
 *   IDLE --sc_library_start--> RUNNING --sc_library_end--> ENDING --> OVER
 *     \--- no devices, sc_library_end, fork of a running process ------^
 *
 * Lock order: life_lock is outermost; it is held while devices are opened and closed, never by the callbacks. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "autotuner/autotuner.h"
#include "autotuner/explain.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "base/inside.h"
#include "base/stack.h"
#include "blas/blas.h"
#include "coherence/coherence.h"
#include "coherence/faults.h"
#include "device/device.h"
#include "host/fork.h"
#include "host/host.h"
#include "host/process.h"
#include "libsemcache/config.h"
#include "libsemcache/library.h"
#include "libsemcache/opener.h"
#include "sparse/sparse.h"
#include "trace/trace.h"

/* Protects the transitions of `life`, and `ops`.  Recursive: a driver that is being opened may fork. */
static pthread_mutex_t life_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static enum sc_library_life life; /* written under life_lock (but in a forked child) */
static const struct sc_device_ops *ops;
static int device_count;

static bool opened; /* or tried to */
bool sc_library_opened(void) { return __atomic_load_n(&opened, __ATOMIC_ACQUIRE); }

enum sc_library_life sc_library_life(void) { return __atomic_load_n(&life, __ATOMIC_ACQUIRE); }

static void set_life(enum sc_library_life next) { __atomic_store_n(&life, next, __ATOMIC_RELEASE); }

/* --- how large a call must be ------------------------------------------------------------------------------------- */

static void let_through(void)
{
    for (int level = 1; level <= 3; level++) {
        int64_t small = sc_config.offload == SC_OFFLOAD_ALWAYS ? 0 : sc_autotuner_small(level);

        __atomic_store_n(&sc_blas_small[level], small, __ATOMIC_RELEASE);
    }
}

static void keep_on_host(void)
{
    for (int level = 1; level <= 3; level++)
        __atomic_store_n(&sc_blas_small[level], INT64_MAX, __ATOMIC_RELEASE);
}

/* A fork must not catch the lock in another thread's hands, nor a driver half open: the child could never end.  The
 * fork of a driver that is being opened by a thread of its own does not wait for that thread. */
static void lock_for_fork(void)
{
    if (sc_opener_is_me())
        return;
    pthread_mutex_lock(&life_lock);
    sc_opener_wait();
    sc_host_fork_make_up();
}

static void unlock_in_parent(void)
{
    if (sc_opener_is_me())
        return;
    sc_host_fork_made_up(false);
    pthread_mutex_unlock(&life_lock);
}

static void unlock_in_child(void)
{
    sc_host_fork_made_up(true);
    life_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    if (sc_opener_child()) {
        keep_on_host();
        set_life(SC_LIBRARY_OVER);
    }
}

void sc_library_arm(void)
{
    static int armed;

    if (sc_config.offload == SC_OFFLOAD_NEVER || !sc_device_expected(sc_config.device)) {
        keep_on_host();
        return;
    }
    if (sc_host_arena_start() != SC_OK)
        return;
    sc_opener_know_thread();
    sc_host_process_before(sc_opener_wait);
    if (!__atomic_exchange_n(&armed, 1, __ATOMIC_RELAXED))
        pthread_atfork(lock_for_fork, unlock_in_parent, unlock_in_child);
    __atomic_store_n(&sc_blas_start, sc_library_start, __ATOMIC_RELEASE);
    __atomic_store_n(&sc_sparse_start, sc_library_start, __ATOMIC_RELEASE);
    let_through();
}

enum sc_status sc_library_set_device(const char *device)
{
    enum sc_status status = SC_OK;

    pthread_mutex_lock(&life_lock);
    if (sc_library_life() != SC_LIBRARY_IDLE)
        status = SC_ERR_CONFLICT;
    else if (!sc_config_set(&sc_config, &sc_config_settings[0], device))
        status = SC_ERR_INVALID;
    else
        sc_library_arm();
    pthread_mutex_unlock(&life_lock);
    return status;
}

/* --- what the host asks of the protocol --------------------------------------------------------------------------- */

/* True while there is a protocol to ask.  During ENDING too: memory freed then must not be written home to any more. */
static bool is_tracking(void)
{
    enum sc_library_life now = sc_library_life();

    return now == SC_LIBRARY_RUNNING || now == SC_LIBRARY_ENDING;
}

static void forget(uintptr_t addr, size_t bytes)
{
    if (!is_tracking())
        return;
    sc_trace(.kind = SC_EVENT_FREE, .a = addr, .bytes = bytes);
    sc_coherence_forget(addr, bytes);
}

static void acquire(uintptr_t addr, size_t bytes, enum sc_access access)
{
    if (!is_tracking())
        return;
    sc_trace(.kind = SC_EVENT_ACQUIRE, .a = addr, .bytes = bytes, .ip = sc_trace_line_here(),
                 .old_state = (uint8_t)access);
    sc_coherence_acquire_host(addr, bytes, access);
}

static void all_home(void)
{
    if (is_tracking())
        sc_coherence_home_all();
}

/* Around a fork `life` cannot change.  These handlers were registered after lock_for_fork: `home` runs before it, and
 * `resume` and `child` after its counterparts. */
static void home(void)
{
    pthread_mutex_lock(&life_lock); /* again in lock_for_fork; and it is outermost */
    if (!is_tracking())
        return;
    sc_trace(.kind = SC_EVENT_HOME);
    sc_coherence_fork_prepare();
}

static void resume(void)
{
    if (is_tracking())
        sc_coherence_fork_parent();
    pthread_mutex_unlock(&life_lock);
}

/* The devices, and the other threads with what they held, stayed with the parent. */
static void child(void)
{
    if (is_tracking())
        sc_coherence_fork_child();
    keep_on_host();
    set_life(SC_LIBRARY_OVER);
}

static const struct sc_host_callbacks callbacks = {.fault = sc_coherence_fault,
                                                   .read_ahead = sc_coherence_read_ahead,
                                                   .forget = forget,
                                                   .acquire = acquire,
                                                   .all_home = all_home,
                                                   .home = home,
                                                   .child = child,
                                                   .resume = resume};

/* --- start -------------------------------------------------------------------------------------------------------- */

static const struct sc_device_host device_host = {.config = &sc_config,
                                                  .blas_symbol = sc_blas_host_symbol,
                                                  .log = sc_log,
                                                  .thread_enter = sc_opener_thread_enter};

/* Each step logs its own failure. */
static bool open_devices(void)
{
    if (sc_blas_host_open(sc_config.host_blas) != SC_OK)
        return false;
    if (sc_opener_take(&device_host, &ops, &device_count) != SC_OK || !ops)
        return false;
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

bool sc_library_start(bool now)
{
    enum sc_library_life before_this = sc_library_life();
    sigset_t before;

    if (before_this == SC_LIBRARY_RUNNING || before_this == SC_LIBRARY_OVER)
        return before_this == SC_LIBRARY_RUNNING;
    if (before_this == SC_LIBRARY_IDLE && !(now ? sc_opener_come() : sc_opener_ready(&device_host)))
        return false;
    if (before_this == SC_LIBRARY_IDLE && !sc_stack_has(SC_STACK_OF_A_CALL)) /* the next call, perhaps */
        return false;
    /* While everything comes home, calls wait for it: a host BLAS that faults on what is still away holds its own locks
     * meanwhile, which an emulated device needs to finish. */
    sc_opener_block_signals(&before); /* until the lock is free: handlers may jump out of here */
    pthread_mutex_lock(&life_lock);
    if (sc_library_life() == SC_LIBRARY_IDLE) {
        sc_inside_enter();
        /* Not earlier: a process that offloads nothing has nothing to tell. */
        if (sc_config.trace && sc_trace_start(sc_config.trace) == SC_OK)
            sc_report_settings();
        if (sc_config.verify) {
            sc_trace_keep();
            sc_blas_verify_start();
        }
        sc_explain_on = sc_config.explain != NULL;
        __atomic_store_n(&opened, true, __ATOMIC_RELEASE);
        if (open_devices()) {
            set_life(SC_LIBRARY_RUNNING);
            atexit(end_at_exit); /* now, so that it runs before what the driver has registered (rule L7) */
        } else {
            keep_on_host();
            set_life(SC_LIBRARY_OVER);
        }
        sc_inside_leave();
    }
    pthread_mutex_unlock(&life_lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return sc_library_life() == SC_LIBRARY_RUNNING;
}

/* --- end ---------------------------------------------------------------------------------------------------------- */

/* Waits for all that was enqueued.  Errors were reported where they arose; what failed is repeated on the host. */
static void wait_for_devices(void)
{
    struct sc_fence fence;

    for (int device = 0; device < device_count; device++)
        for (int stream = 0; stream < SC_STREAMS; stream++)
            if (ops->mark(device, (enum sc_stream)stream, &fence) == SC_OK)
                ops->sync(fence);
}

/* The statistics are those of the program: taken when its work is done and before the rest comes home. */
static void close_devices(bool exiting)
{
    set_life(SC_LIBRARY_ENDING);
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

    /* A signal handler that interrupted the library called exit: its thread may hold any of our locks (rule L7). */
    if (sc_inside())
        return;
    if (__atomic_exchange_n(&ended, 1, __ATOMIC_ACQ_REL))
        return;
    pthread_mutex_lock(&life_lock);
    sc_inside_enter();
    if (sc_library_life() == SC_LIBRARY_RUNNING)
        close_devices(exiting);
    sc_opener_end();
    keep_on_host();
    set_life(SC_LIBRARY_OVER);
    sc_report_end();
    sc_inside_leave();
    pthread_mutex_unlock(&life_lock);
}
