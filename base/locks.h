/* Locks of the library and their order.  A thread takes a lock only if every lock it holds comes earlier in enum
 * sc_rank, and calls the dynamic loader (base/loader.h) without any lock.  doc/locks.md gives the reasons, and the data
 * under each lock.
 *
 * Without -DNDEBUG, one line reports a thread that breaks the order; the tests and SEMCACHE_CHECK also trap. */
#ifndef SC_BASE_LOCKS_H
#define SC_BASE_LOCKS_H

#include "base/assert.h"
#include "base/quiet.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum sc_rank {
    SC_RANK_LIFE,         /* libsemcache/life.c */
    SC_RANK_OPENER,       /* libsemcache/opener.c */
    SC_RANK_FAULTS,       /* host/faults.c */
    SC_RANK_SPARSE_TABLE, /* sparse/usblas_handle.c */
    SC_RANK_SPARSE_KEPT,  /* sparse/matrix.c */
    SC_RANK_MIRROR,       /* coherence/mirror.c */
    SC_RANK_MPI,          /* host/mpi_pending.c */
    SC_RANK_PROTOCOL,     /* coherence/lock.c */
    SC_RANK_DONE,         /* coherence/completion.c */
    SC_RANK_WATCH,        /* host/watch.c */
    SC_RANK_PIN,          /* host/span.c */
    SC_RANK_SPAN,
    SC_RANK_LIFETIME,      /* host/mapping_lifetime.c */
    SC_RANK_OWN_FD,       /* base/own_fd.c */
    SC_RANK_EXPLAIN,      /* autotuner/explain.c */
    SC_RANK_EXCHANGES,    /* trace/exchanges.c */
    SC_RANK_HOST_BLAS,    /* blas/veneers/host_blas.c */
    SC_RANK_COUNTS,       /* blas/veneers/counts.c */
    SC_RANK_TRACE,        /* trace/rings.c */
    SC_RANKS
};

struct sc_lock {
    pthread_mutex_t mutex;
    enum sc_rank rank;
};
#define SC_LOCK(rank) {PTHREAD_MUTEX_INITIALIZER, rank}

#ifdef NDEBUG
static inline void sc_locks_take(enum sc_rank rank) { (void)rank; }
static inline void sc_locks_give(enum sc_rank rank) { (void)rank; }
static inline void sc_locks_none(const char *for_what) { (void)for_what; }
#define sc_assert_held(rank) ((void)0)
#define sc_assert_not_held(rank) ((void)0)
#else
extern bool sc_locks_trap; /* trap at a broken order; set by tests */
extern __thread uint32_t sc_locks_held __attribute__((tls_model("initial-exec"))); /* bits 1 << rank */
void sc_locks_wrong(const char *what, int rank);

static inline void sc_locks_take(enum sc_rank rank)
{
    if (__builtin_expect(sc_locks_held >> rank != 0, 0))
        sc_locks_wrong("a lock is taken", (int)rank);
    sc_locks_held |= UINT32_C(1) << rank;
}
static inline void sc_locks_give(enum sc_rank rank) { sc_locks_held &= ~(UINT32_C(1) << rank); }

/* Asserts that the thread holds the lock of that rank: the first statement of functions that need the lock. */
#define sc_assert_held(rank) sc_assert_that(sc_locks_held >> (rank) & 1, "the lock " #rank " is held")

#define sc_assert_not_held(rank) \
    sc_assert_that(!(sc_locks_held >> (rank) & 1), "the lock " #rank " is not held")

/* Checks that the thread holds no lock of the library. */
static inline void sc_locks_none(const char *for_what)
{
    if (__builtin_expect(sc_locks_held != 0, 0))
        sc_locks_wrong(for_what, -1);
}
#endif

/* Bare: the holder is not made quiet.  For a lock that no signal handler of the program waits for, directly or by a
 * fault that the pager serves. */
static inline void sc_lock_bare(struct sc_lock *lock)
{
    sc_locks_take(lock->rank);
    pthread_mutex_lock(&lock->mutex);
}
static inline bool sc_try_lock_bare(struct sc_lock *lock)
{
    if (pthread_mutex_trylock(&lock->mutex) != 0)
        return false;
    sc_locks_take(lock->rank);
    return true;
}
static inline void sc_unlock_bare(struct sc_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
    sc_locks_give(lock->rank);
}

/* The holder is quiet (base/quiet.h).  Pending handlers run in sc_unlock. */
static inline void sc_lock(struct sc_lock *lock)
{
    sc_quiet_enter();
    sc_lock_bare(lock);
}
static inline void sc_unlock(struct sc_lock *lock)
{
    sc_unlock_bare(lock);
    sc_quiet_leave();
}

/* The time so many seconds from now, as pthread_cond_timedwait takes it. */
struct timespec sc_lock_deadline(double seconds);

/* For a new object, and for a lock in a forked child. */
static inline void sc_lock_init(struct sc_lock *lock, enum sc_rank rank)
{
    pthread_mutex_init(&lock->mutex, NULL);
    lock->rank = rank;
    sc_locks_give(rank);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
