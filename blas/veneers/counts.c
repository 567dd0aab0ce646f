/* The thresholds of the veneers' gates, and the counts of calls on the host.
 *
 * A count must cost few instructions and share no cache line between threads, so each thread has a block of counters
 * that only the thread writes.  Blocks are never freed.  At a thread's end its block, counts included, becomes
 * available to the next thread.  The sum over all blocks is therefore the number of calls in the life of the
 * process.  A call takes no lock, so a fork cannot leave a lock behind. */
#include <pthread.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/locks.h"
#include "blas/blas_int.h"

int64_t sc_blas_small[5] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

__thread uint64_t *sc_blas_counts __attribute__((tls_model("initial-exec")));

static struct sc_blas_count_block spare = {.used = 1}; /* shared by threads when memory is short; may miss some calls */
struct sc_blas_count_block *sc_blas_count_blocks = &spare; /* atomic; grows at its head only */
uint64_t sc_blas_counts_collected[SC_TRACE_ROUTINES_MAX];  /* under the lock of sc_blas_counts_collect */
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static int have_key;

static void thread_ends(void *block)
{
    sc_blas_counts = NULL; /* a later destructor that calls the BLAS takes a block again */
    __atomic_store_n(&((struct sc_blas_count_block *)block)->used, 0, __ATOMIC_RELEASE);
}

static void make_key(void) { have_key = pthread_key_create(&key, thread_ends) == 0; }

static struct sc_blas_count_block *take_block(void)
{
    struct sc_blas_count_block *block = __atomic_load_n(&sc_blas_count_blocks, __ATOMIC_ACQUIRE);

    for (; block; block = block->next) {
        int unused = 0;

        if (__atomic_compare_exchange_n(&block->used, &unused, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return block;
    }
    sc_inside_enter(); /* memory of the library: malloc must not be the arena's */
    block = calloc(1, sizeof *block);
    sc_inside_leave();
    if (!block)
        return &spare;
    block->used = 1;
    block->next = __atomic_load_n(&sc_blas_count_blocks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&sc_blas_count_blocks, &block->next, block, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return block;
}

/* Called in a thread's first call before any argument is read.  The width of integers is therefore found here. */
uint64_t *sc_blas_counts_new(void)
{
    struct sc_blas_count_block *block = take_block();

    if (!sc_inside()) /* inside: a library that is being opened calls, or the host BLAS, which is open */
        sc_blas_know_width();
    pthread_once(&key_once, make_key);
    if (block != &spare && have_key)
        pthread_setspecific(key, block); /* on failure the block stays taken for ever */
    sc_blas_counts = block->counts;
    return block->counts;
}

void sc_blas_counts_collect(void)
{
    static struct sc_lock lock = SC_LOCK(SC_RANK_COUNTS);

    sc_lock(&lock);
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        const struct sc_blas_count_block *block = __atomic_load_n(&sc_blas_count_blocks, __ATOMIC_ACQUIRE);
        uint64_t sum = 0;

        for (; block; block = block->next)
            sum += __atomic_load_n(&block->counts[i], __ATOMIC_RELAXED);
        if (sum > sc_blas_counts_collected[i]) {
            sc_count(&sc_stats.host[i], sum - sc_blas_counts_collected[i]);
            sc_blas_counts_collected[i] = sum;
        }
    }
    sc_unlock(&lock);
}
/* SPDX-License-Identifier: BSD-2-Clause */
