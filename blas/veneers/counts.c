/* The gate variables of the veneers, and the count of calls that they pass to the host.
 *
 * A count must cost a few instructions and share no cache line between threads: each thread has a block of
 * counters that only it writes.  Blocks are never freed: at a thread's end its block goes back to a list for the
 * next thread, counts and all, so that the sum over all blocks is what has been called in the life of the process.
 * No locks on the way of a call, so a fork cannot leave one behind. */
#include <pthread.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/locks.h"
#include "blas/blas_int.h"

int64_t sc_blas_small[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

__thread uint64_t *sc_blas_counts __attribute__((tls_model("initial-exec")));

struct block {
    uint64_t counts[SC_TRACE_ROUTINES_MAX]; /* first: a thread knows its block by it */
    struct block *next;                     /* in `blocks`: set once */
    int used;                               /* by a live thread; atomic */
};
static struct block spare = {.used = 1};    /* shared when there is no memory: its counts may miss some */
static struct block *blocks = &spare;       /* atomic; only grows at its head */
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static int have_key;

static void thread_ends(void *block)
{
    sc_blas_counts = NULL; /* a later destructor that calls the BLAS gets a block again */
    __atomic_store_n(&((struct block *)block)->used, 0, __ATOMIC_RELEASE);
}

static void make_key(void) { have_key = pthread_key_create(&key, thread_ends) == 0; }

static struct block *take_block(void)
{
    struct block *block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);

    for (; block; block = block->next) {
        int unused = 0;

        if (__atomic_compare_exchange_n(&block->used, &unused, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return block;
    }
    sc_inside_enter(); /* memory of the library, whatever the malloc family does for the program */
    block = calloc(1, sizeof *block);
    sc_inside_leave();
    if (!block)
        return &spare;
    block->used = 1;
    block->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&blocks, &block->next, block, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return block;
}

/* A thread's first call comes here before any of its arguments is read, so this is where the first call of a process
 * opens the host BLAS. */
uint64_t *sc_blas_counts_new(void)
{
    struct block *block = take_block();

    if (!sc_inside()) /* else a library that is being opened calls, or the host BLAS does, which is open */
        sc_blas_host_open(sc_config.host_blas);
    pthread_once(&key_once, make_key);
    if (block != &spare && have_key)
        pthread_setspecific(key, block); /* failing, the block stays taken for ever */
    sc_blas_counts = block->counts;
    return block->counts;
}

void sc_blas_counts_collect(void)
{
    static struct sc_lock lock = SC_LOCK(SC_RANK_COUNTS);
    static uint64_t collected[SC_TRACE_ROUTINES_MAX]; /* under lock */

    sc_lock(&lock);
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        uint64_t sum = 0;

        for (struct block *block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); block; block = block->next)
            sum += __atomic_load_n(&block->counts[i], __ATOMIC_RELAXED);
        if (sum > collected[i]) {
            sc_count(&sc_stats.host[i], sum - collected[i]);
            collected[i] = sum;
        }
    }
    sc_unlock(&lock);
}
