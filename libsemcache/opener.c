#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "autotuner/start.h"
#include "base/config.h"
#include "base/inside.h"
#include "libsemcache/opener.h"

/* A call waits no longer for the thread, which may be waiting for something that the caller holds: the loader's lock,
 * when the call is made by a constructor. */
#define PATIENCE_SECONDS 10

static enum stage {
    NOBODY,  /* opens: who takes does it */
    OPENING, /* the thread does */
    OPENED,  /* by the thread, and not taken yet */
    TAKEN
} stage;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of starting and joining the thread, and taking */
static pthread_t thread;
static bool started; /* and not joined */
static bool awaited; /* somebody waits for the thread; atomic */
static __thread bool me __attribute__((tls_model("initial-exec")));
static __thread bool holds __attribute__((tls_model("initial-exec"))); /* the lock, or waits for it */

static enum sc_status status_;
static const struct sc_device_ops *ops_;
static int count_;

static enum stage stage_now(void) { return __atomic_load_n(&stage, __ATOMIC_ACQUIRE); }
static void set_stage(enum stage next) { __atomic_store_n(&stage, next, __ATOMIC_RELEASE); }

bool sc_opener_is_me(void) { return me; }

void sc_opener_thread_enter(void)
{
    me = true;
    sc_inside_enter();
}

static void hold(void)
{
    holds = true;
    pthread_mutex_lock(&lock);
}

static void release(void)
{
    pthread_mutex_unlock(&lock);
    holds = false;
}

void sc_opener_block_signals(sigset_t *before)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t most;

    sigfillset(&most);
    for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
        sigdelset(&most, synchronous[i]);
    pthread_sigmask(SIG_BLOCK, &most, before);
}

/* --- an exit meanwhile -------------------------------------------------------------------------------------------- */

/* A driver's libraries register what they do at exit while they are still being loaded, and an exit would run that in
 * the middle of their loading: what was registered last comes first.  So an exit waits before anything of the kind, as
 * what it does before all else is to destroy the thread's own objects.  (exit called by a thread that is not known
 * here: host/process.c.) */
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *dso);
extern void *__dso_handle;

static bool tried; /* to start */

static void at_end_of_thread(void *none)
{
    (void)none;
    if (getpid() == gettid())
        __atomic_store_n(&tried, true, __ATOMIC_RELEASE); /* what runs at exit does not begin it in the background */
    sc_opener_wait();
}

void sc_opener_know_thread(void)
{
    static __thread bool known __attribute__((tls_model("initial-exec")));

    if (!known)
        known = __cxa_thread_atexit_impl(at_end_of_thread, NULL, &__dso_handle) == 0;
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
    set_stage(OPENED);
    return NULL;
}

/* Under the lock.  An exit waits: a driver cannot be torn down while it is being opened. */
static void start(const struct sc_device_host *host)
{
    sigset_t before;

    sc_inside_enter();
    sc_opener_block_signals(&before);
    set_stage(OPENING);
    sc_opener_know_thread();
    started = atexit(sc_opener_wait) == 0 && pthread_create(&thread, NULL, open_devices, (void *)host) == 0;
    if (!started)
        set_stage(NOBODY);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sc_inside_leave();
}

bool sc_opener_ready(const struct sc_device_host *host)
{
    if (stage_now() == NOBODY && !__atomic_exchange_n(&tried, true, __ATOMIC_ACQ_REL)) {
        hold();
        if (stage_now() == NOBODY)
            start(host);
        release();
    }
    return stage_now() != OPENING;
}

static void join(void)
{
    if (started)
        pthread_join(thread, NULL);
    started = false;
}

bool sc_opener_come(void)
{
    struct timespec until;

    if (stage_now() == NOBODY)
        return true;
    hurry();
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    hold();
    if (started && pthread_timedjoin_np(thread, NULL, &until) == 0)
        started = false;
    release();
    return stage_now() != OPENING;
}

void sc_opener_wait(void)
{
    static const struct timespec nap = {0, 1000000};

    if (me || stage_now() == NOBODY)
        return;
    hurry();
    while (holds && stage_now() == OPENING) /* in a signal handler that has interrupted one of the others */
        nanosleep(&nap, NULL);
    if (holds)
        return;
    hold();
    join();
    release();
}

enum sc_status sc_opener_take(const struct sc_device_host *host, const struct sc_device_ops **ops, int *count)
{
    enum sc_status status;

    hurry();
    hold();
    join();
    if (stage_now() == OPENED) {
        status = status_;
        *ops = ops_;
        *count = count_;
    } else {
        status = sc_device_open(host, sc_config.device, ops, count);
    }
    set_stage(TAKEN);
    release();
    return status;
}

void sc_opener_end(void)
{
    if (stage_now() == NOBODY)
        return;
    hurry();
    hold();
    join();
    if (stage_now() == OPENED && status_ == SC_OK && ops_)
        ops_->close();
    set_stage(TAKEN);
    release();
}

bool sc_opener_child(void)
{
    bool opened = stage_now() == OPENED;

    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    started = holds = false;
    if (opened)
        set_stage(TAKEN); /* by the parent: nothing to close here */
    return opened;
}
