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
#include "base/quiet.h"
#include "libsemcache/opener.h"

/* Who ends or forks the process waits no longer for the thread: it may be waiting for the loader's lock, which the
 * caller has when it is a constructor. */
#define PATIENCE_SECONDS 10

static enum stage {
    NOBODY,  /* opens: who takes does it */
    OPENING, /* the thread does */
    OPENED,  /* by the thread, and not taken yet */
    TAKEN
} stage; /* written under the lock */
static struct sc_lock lock = SC_LOCK(SC_RANK_OPENER); /* never held while anything is opened or waited for */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool awaited; /* somebody waits for the thread; atomic */
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

/* A handler that ran meanwhile could call exit or fork. */
static void hold(void)
{
    sc_quiet_enter();
    sc_lock(&lock);
}

static void release(void)
{
    sc_unlock(&lock);
    sc_quiet_leave();
}

/* Under the lock. */
static void set_stage(enum stage next)
{
    __atomic_store_n(&stage, next, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&changed);
}

struct timespec sc_opener_patience(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    return until;
}

/* Under the lock, given up meanwhile.  False: the thread is not through. */
static bool wait_for_thread(void)
{
    struct timespec until = sc_opener_patience();

    while (stage == OPENING)
        if (pthread_cond_timedwait(&changed, &lock.mutex, &until))
            return false;
    return true;
}

/* Those with a handler: what is deadly ends a program whose driver never answers. */
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

/* --- an exit meanwhile -------------------------------------------------------------------------------------------- */

/* A driver's libraries register what they do at exit while they are still being loaded, and an exit would run that in
 * the middle of their loading: what was registered last comes first.  So an exit waits before anything of the kind, as
 * what it does before all else is to destroy the thread's own objects.  (exit called by a thread that is not known
 * here: host/process.c.) */
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *dso);
extern void *__dso_handle;

static bool tried; /* to start */

static void at_end_of_main(void *none)
{
    (void)none;
    __atomic_store_n(&tried, true, __ATOMIC_RELEASE); /* what runs at exit does not begin it in the background */
    sc_opener_wait();
}

/* A return from main ends the program unseen.  The end of another thread does not, and who waits for that thread may
 * be a constructor. */
void sc_opener_know_thread(void)
{
    static bool known; /* atomic */

    if (getpid() == gettid() && !__atomic_exchange_n(&known, true, __ATOMIC_RELAXED)) {
        sc_locks_none("__cxa_thread_atexit_impl");
        __cxa_thread_atexit_impl(at_end_of_main, NULL, &__dso_handle);
    }
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* What is measured behind the opening ends when somebody waits for the thread. */
static bool is_awaited(void *none)
{
    (void)none;
    return __atomic_load_n(&awaited, __ATOMIC_RELAXED);
}

static void hurry(void) { __atomic_store_n(&awaited, true, __ATOMIC_RELAXED); }

/* Of ordinary priority: the driver's own threads inherit it, and stay. */
static void *open_devices(void *host)
{
    sc_opener_thread_enter(); /* for good */
    status_ = sc_device_open(host, sc_config.device, &ops_, &count_);
    if (status_ == SC_OK && ops_)
        sc_autotuner_prepare(ops_, count_, host, is_awaited);
    atexit(sc_opener_end); /* now, so that it runs before what the driver has registered (rule L7) */
    hold();
    set_stage(OPENED);
    release();
    return NULL;
}

/* Under the lock.  An exit waits: a driver cannot be torn down while it is being opened. */
static void start(const struct sc_device_host *host)
{
    sigset_t all, before;
    pthread_t thread;
    bool started;

    sc_inside_enter();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the thread inherits it, and so do those of a driver */
    set_stage(OPENING);
    started = atexit(sc_opener_wait) == 0 && pthread_create(&thread, NULL, open_devices, (void *)host) == 0;
    if (started)
        pthread_detach(thread);
    else
        set_stage(NOBODY);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sc_inside_leave();
}

bool sc_opener_ready(const struct sc_device_host *host)
{
    if (stage_now() == NOBODY && !__atomic_exchange_n(&tried, true, __ATOMIC_ACQ_REL)) {
        sc_opener_know_thread();
        hold();
        if (stage_now() == NOBODY)
            start(host);
        release();
    }
    return !sc_opener_busy();
}

bool sc_opener_busy(void) { return stage_now() == OPENING; }

void sc_opener_wait(void)
{
    if (me || !sc_opener_busy())
        return;
    hurry();
    hold();
    wait_for_thread();
    release();
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
    close = wait_for_thread() && stage == OPENED && status_ == SC_OK && ops_;
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
    wait_for_thread();
}

void sc_opener_fork_parent(void) { release(); }

bool sc_opener_fork_child(void)
{
    bool begun = stage == OPENING || stage == OPENED;

    if (me) /* another thread may have had it */
        sc_lock_init(&lock, SC_RANK_OPENER);
    else
        release();
    pthread_cond_init(&changed, NULL);
    if (begun)
        stage = TAKEN; /* by the parent: nothing to close here */
    return begun;
}
