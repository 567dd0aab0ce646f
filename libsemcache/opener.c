#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "autotuner/start.h"
#include "base/config.h"
#include "base/inside.h"
#include "base/libc_versions.h"
#include "base/locks.h"
#include "blas/blas.h"
#include "libsemcache/opener.h"

static enum stage {
    NOBODY,  /* not opened: sc_opener_take opens the devices */
    OPENING, /* the thread opens the devices */
    OPENED,  /* opened by the thread, not yet taken */
    TAKEN
} stage; /* written with the lock held */
static struct sc_lock lock = SC_LOCK(SC_RANK_OPENER); /* never held during an opening or a wait for it */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool awaited; /* a thread waits for the opening; atomic */
static bool tried, forbidden; /* an opening was attempted; none may be; both atomic, written with the lock held */
static bool given_up;         /* the attempt ended early because none may be; with the lock held */
static __thread bool me __attribute__((tls_model("initial-exec")));

static enum sc_status status_;
static const struct sc_device_ops *ops_;
static int count_;

static enum stage stage_now(void) { return __atomic_load_n(&stage, __ATOMIC_ACQUIRE); }

bool sc_opener_is_me(void) { return me; }

void sc_opener_thread_enter(void)
{
    me = true;
    sc_inside_enter();
}

static void hold(void) { sc_lock(&lock); }
static void release(void) { sc_unlock(&lock); }

/* Lock held. */
static void set_stage(enum stage next)
{
    __atomic_store_n(&stage, next, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&changed);
}

/* Waits until the thread has opened the devices; false after so many seconds.  Lock held, released during the wait. */
static bool wait_for_thread(double seconds)
{
    struct timespec until = sc_lock_deadline(seconds);

    while (stage == OPENING)
        if (pthread_cond_timedwait(&changed, &lock.mutex, &until))
            return false;
    return true;
}

/* Blocks signals with a handler.  Signals without a handler stay open: a deadly signal must end a program with a driver
 * that never answers. */
void sc_opener_hold_signals(sigset_t *before)
{
    sigset_t some;
    struct sigaction action;

    sigemptyset(&some);
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE && sig != SIGILL && sig != SIGTRAP && sig != SIGSYS &&
            sig != SIGABRT && sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
            action.sa_handler != SIG_IGN)
            sigaddset(&some, sig);
    pthread_sigmask(SIG_BLOCK, &some, before);
}

/* --- exit during the opening -------------------------------------------------------------------------------------- */

/* An exit must wait for the opening before it runs any exit handler.  A driver's libraries register exit handlers while
 * being loaded, and handlers run in reverse order, so an exit would run the newest handlers in the middle of the
 * loading.  The first step of exit is to destroy the thread's thread_local objects; the wait is therefore registered as
 * such a destructor.  (exit by a thread without the destructor: host/process.c.) */
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *dso);
extern void *__dso_handle;

static void (*wait_at_end)(void) = sc_opener_wait;

void sc_opener_at_end(void (*wait)(void)) { wait_at_end = wait; }

static void at_end_of_main(void *none)
{
    (void)none;
    wait_at_end();
}

/* Registers the wait for the main thread only: a return from main ends the program, unseen by the library.  The end of
 * another thread does not end the program, and the joining thread may be in a constructor. */
void sc_opener_know_thread(void)
{
    static bool known; /* atomic */

    if (getpid() == gettid() && !__atomic_exchange_n(&known, true, __ATOMIC_RELAXED)) {
        sc_locks_none("__cxa_thread_atexit_impl");
        __cxa_thread_atexit_impl(at_end_of_main, NULL, &__dso_handle);
    }
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

bool sc_opener_is_unwanted(void) { return stage_now() == OPENING && __atomic_load_n(&forbidden, __ATOMIC_RELAXED); }

/* Ends the measurements after the opening as soon as a thread waits for the opener. */
static bool is_awaited(void *none)
{
    (void)none;
    return __atomic_load_n(&awaited, __ATOMIC_RELAXED);
}

static void hurry(void) { __atomic_store_n(&awaited, true, __ATOMIC_RELAXED); }

/* Runs at ordinary priority, because the driver's own threads inherit the priority and stay. */
static void *open_devices(void *host)
{
    sc_opener_thread_enter(); /* forever */
    sc_blas_host_threads_fewer();
    status_ = sc_device_open(host, sc_config.device, &ops_, &count_);
    if (status_ == SC_OK && ops_)
        sc_autotuner_prepare(ops_, count_, host, is_awaited);
    sc_blas_host_threads_all();
    /* Registered after the driver's handlers, and therefore run before them (rule L7). */
    atexit(sc_opener_end);
    hold();
    given_up = sc_opener_is_unwanted() && !ops_;
    set_stage(given_up ? NOBODY : OPENED);
    release();
    return NULL;
}

/* Starts the thread.  Lock held.  An exit waits, because a driver cannot be closed during its opening. */
static void start(const struct sc_device_host *host)
{
    sigset_t all, before;
    pthread_t thread;
    bool started;

    sc_inside_enter();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* inherited by the thread and by a driver's threads */
    set_stage(OPENING);
    started = atexit(sc_opener_wait) == 0 && pthread_create(&thread, NULL, open_devices, (void *)host) == 0;
    if (started)
        pthread_detach(thread);
    else
        set_stage(NOBODY);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sc_inside_leave();
}

void sc_opener_permit(bool permitted)
{
    hold();
    __atomic_store_n(&forbidden, !permitted, __ATOMIC_RELAXED);
    if (permitted && given_up) {
        given_up = false;
        __atomic_store_n(&tried, false, __ATOMIC_RELAXED);
    }
    release();
}

static bool may_start(void)
{
    return stage_now() == NOBODY && !__atomic_load_n(&tried, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&forbidden, __ATOMIC_RELAXED);
}

bool sc_opener_ready(const struct sc_device_host *host)
{
    if (may_start()) {
        sc_opener_know_thread();
        hold();
        if (may_start()) {
            __atomic_store_n(&tried, true, __ATOMIC_RELAXED);
            start(host);
        }
        release();
    }
    return !sc_opener_busy();
}

bool sc_opener_busy(void) { return stage_now() == OPENING; }

static void wait_for_opening(double seconds)
{
    hurry();
    hold();
    wait_for_thread(seconds);
    release();
}

void sc_opener_wait(void)
{
    if (!me && sc_opener_busy())
        wait_for_opening(SC_OPENER_PATIENCE);
}

double sc_opener_wait_seconds = 0.5;

bool sc_opener_busy_long(void)
{
    static bool waited; /* atomic */

    if (!me && sc_opener_busy() && !__atomic_exchange_n(&waited, true, __ATOMIC_RELAXED))
        wait_for_opening(sc_opener_wait_seconds);
    return sc_opener_busy();
}

enum sc_status sc_opener_take(const struct sc_device_host *host, const struct sc_device_ops **ops, int *count)
{
    bool opened;

    hurry();
    hold();
    opened = stage == OPENED;
    set_stage(TAKEN);
    release();
    if (!opened)
        return sc_device_open(host, sc_config.device, ops, count);
    *ops = ops_;
    *count = count_;
    return status_;
}

void sc_opener_end(void)
{
    bool close;

    if (me || stage_now() == NOBODY)
        return;
    hurry();
    hold();
    close = wait_for_thread(SC_OPENER_PATIENCE) && stage == OPENED && status_ == SC_OK && ops_;
    if (stage == OPENED)
        set_stage(TAKEN);
    release();
    if (close)
        ops_->close();
}

void sc_opener_fork_prepare(void)
{
    hurry();
    hold();
    wait_for_thread(SC_OPENER_PATIENCE);
}

void sc_opener_fork_parent(void) { release(); }

bool sc_opener_fork_child(void)
{
    bool begun = stage == OPENING || stage == OPENED;

    if (me) /* another thread of the parent may hold the lock */
        sc_lock_init(&lock, SC_RANK_OPENER);
    else
        release();
    pthread_cond_init(&changed, NULL);
    if (begun)
        stage = TAKEN; /* taken by the parent: nothing to close in the child */
    return begun;
}
/* SPDX-License-Identifier: BSD-2-Clause */
