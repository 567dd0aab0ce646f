/* Threads that no code of the program has started.  Such a *helper thread* belongs to the library, a device driver or a
 * BLAS, and ends with the process.
 *
 * - Handlers.  A signal for the process goes to the main thread unless the main thread blocks the signal, as it does in
 *   calls (base/quiet.h).  The kernel then picks any thread that does not block the signal.  Without threads of the
 *   program's own, it would pick a thread of OpenBLAS or a driver, where a handler that jumps, for example, goes wrong.
 *   Threads of a BLAS or a driver therefore start with signals blocked.
 * - The end.  libc ends a process with its last thread.  After the main thread has ended (pthread_exit, a
 *   cancellation), helper threads would keep the process for ever.  A thread therefore waits until only helper threads
 *   are left, and then calls exit as libc does.  A thread that is not known as a helper counts as the program's. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/loader.h"
#include "base/quiet.h"
#include "host/host_int.h"
#include "host/next.h"
#include "host/process.h"

enum {
    HELPERS_MAX = 512,
    WAIT_MOST_US = 100000,
};

static void *next_pthread_create, *next_exit;
static void (*main_has_left)(void), (*before_exit)(void); /* atomic */

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

/* Past the interposed function, which keeps SIGSEGV open and notes the mask. */
static void set_mask(int how, const sigset_t *set, sigset_t *old)
{
    sc_host_sys(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof(uint64_t), 0);
}

/* --- helper threads ----------------------------------------------------------------------------------------------- */

static struct helper {
    pid_t process; /* whose the entry is; 0: free; atomic */
    pid_t thread;  /* 0 until the thread runs; atomic */
    void *(*body)(void *);
    void *arg;
} helpers[HELPERS_MAX];

/* A free entry, or NULL.  The parent's entries are free in a child. */
static struct helper *new_helper(void)
{
    pid_t own = getpid();

    for (int i = 0; i < HELPERS_MAX; i++) {
        pid_t process = __atomic_load_n(&helpers[i].process, __ATOMIC_RELAXED);

        if (process != own && __atomic_compare_exchange_n(&helpers[i].process, &process, own, false, __ATOMIC_ACQUIRE,
                                                          __ATOMIC_RELAXED))
            return &helpers[i];
    }
    return NULL;
}

/* ThreadSanitizer's part of a new thread begins in h->body: what runs before and behind has no instrumentation. */
#define PLAIN __attribute__((no_sanitize("thread")))

static PLAIN void free_helper(void *argument)
{
    struct helper *h = argument;

    __atomic_store_n(&h->thread, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&h->process, 0, __ATOMIC_RELEASE);
}

static PLAIN void *run_helper(void *argument)
{
    struct helper *h = argument;
    void *result;

    __atomic_store_n(&h->thread, gettid(), __ATOMIC_RELEASE);
    pthread_cleanup_push(free_helper, h);
    result = h->body(h->arg);
    pthread_cleanup_pop(1);
    return result;
}

/* The first bytes of a file, as text; "" for a file that cannot be read. */
static void read_text(const char *path, char *text, size_t room)
{
    long fd = sc_host_sys(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0), got;

    got = fd >= 0 ? sc_host_sys(SYS_read, fd, (long)text, (long)room - 1, 0, 0) : 0;
    text[got > 0 ? got : 0] = 0;
    if (fd >= 0)
        sc_host_sys(SYS_close, fd, 0, 0, 0, 0);
}

static bool is_named(pid_t thread)
{
    char path[48], name[16];

    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)thread);
    read_text(path, name, sizeof name);
    return strncmp(name, SC_QUIET_NAME, strlen(SC_QUIET_NAME)) == 0;
}

static bool is_helper(pid_t thread)
{
    for (int i = 0; i < HELPERS_MAX; i++)
        if (__atomic_load_n(&helpers[i].thread, __ATOMIC_ACQUIRE) == thread &&
            __atomic_load_n(&helpers[i].process, __ATOMIC_ACQUIRE) == getpid())
            return true;
    return is_named(thread);
}

static int create_helper(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    struct helper *h = new_helper();
    int error;

    if (!h)
        return NEXT(pthread_create)(thread, attr, body, arg);
    __atomic_store_n(&h->thread, 0, __ATOMIC_RELAXED);
    h->body = body;
    h->arg = arg;
    error = NEXT(pthread_create)(thread, attr, run_helper, h);
    if (error)
        free_helper(h);
    return error;
}

/* True for code of a BLAS, judged by the name of its file. */
static bool is_blas(void *(*body)(void *))
{
    struct sc_loader_object file;
    const char *name;

    if (!sc_loader_object((const void *)(uintptr_t)body, &file))
        return false;
    name = strrchr(file.path, '/');
    name = name ? name + 1 : file.path;
    return strstr(name, "blas") || strstr(name, "blis");
}

SC_HOST_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t set, before;
    int result;

    if (!sc_quiet_threads && !is_blas(body))
        return (sc_inside() ? create_helper : NEXT(pthread_create))(thread, attr, body, arg);
    sigfillset(&set);
    for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
        sigdelset(&set, synchronous[i]);
    set_mask(SIG_BLOCK, &set, &before);
    result = create_helper(thread, attr, body, arg);
    set_mask(SIG_SETMASK, &before, NULL);
    return result;
}

/* --- the end of the main thread ----------------------------------------------------------------------------------- */

/* True once the kernel has nothing but the main thread's status left.  Its destructors have run by then. */
static bool main_has_ended(void)
{
    char text[512];
    const char *state;

    read_text("/proc/self/stat", text, sizeof text);
    state = strrchr(text, ')'); /* the name in front may contain any letter */
    return state && strncmp(state, ") Z", 3) == 0;
}

/* True if a thread is left that is neither the main thread, nor a helper, nor the caller. */
static bool program_goes_on(void)
{
    _Alignas(struct dirent64) char entries[2048];
    long folder = sc_host_sys(SYS_openat, AT_FDCWD, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
    bool found = folder < 0;
    long bytes;

    while (folder >= 0 && (bytes = sc_host_sys(SYS_getdents64, folder, (long)entries, sizeof entries, 0, 0)) > 0)
        for (long at = 0; at < bytes; at += ((const struct dirent64 *)(entries + at))->d_reclen) {
            pid_t thread = (pid_t)atoi(((const struct dirent64 *)(entries + at))->d_name);

            found |= thread > 0 && thread != getpid() && thread != gettid() && !is_helper(thread);
        }
    if (folder >= 0)
        sc_host_sys(SYS_close, folder, 0, 0, 0, 0);
    return found;
}

static sigset_t mask_of_main;

void sc_host_threads_watch(void (*main_left)(void), void (*exit)(void))
{
    __atomic_store_n(&main_has_left, main_left, __ATOMIC_RELEASE);
    __atomic_store_n(&before_exit, exit, __ATOMIC_RELEASE);
}

static void *wait_for_threads(void *none)
{
    useconds_t pause = 1000;

    sc_inside_enter();
    while (!main_has_ended() || program_goes_on()) {
        usleep(pause);
        pause = pause * 2 < WAIT_MOST_US ? pause * 2 : WAIT_MOST_US;
    }
    sc_inside_leave();
    set_mask(SIG_SETMASK, &mask_of_main, NULL);
    (void)none;
    sc_host_call_set(&before_exit);
    NEXT(exit)(0);
    return NULL;
}

/* The main thread ends before the process. */
static void main_ends(void *unused)
{
    sigset_t all;
    pthread_t thread;

    (void)unused;
    sc_host_call_set(&main_has_left);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    set_mask(SIG_BLOCK, &all, &mask_of_main); /* the program's handlers run on its own threads */
    if (NEXT(pthread_create)(&thread, NULL, wait_for_threads, NULL) == 0)
        pthread_detach(thread);
    set_mask(SIG_SETMASK, &mask_of_main, NULL);
}

/* The destructor of a thread's value runs when the thread ends, but not at exit. */
static void __attribute__((constructor)) expect_end(void)
{
    static pthread_key_t key;

    NEXT(pthread_create);
    NEXT(exit);
    if (getpid() == gettid() && pthread_key_create(&key, main_ends) == 0)
        pthread_setspecific(key, &key);
}
/* SPDX-License-Identifier: BSD-2-Clause */
