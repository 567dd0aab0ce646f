/* A thread empties a part of a block with madvise while a call of another thread works on another part, in a matrix of
 * the whole block. The call has dropped the protocol's lock, as for a part that the host computes. Asserts that the
 * thread waits for the call, and that neither the call's results nor the zeros are lost. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coherence/protocol.h"
#include "tests/coherence_env.h"

#define N    ((int64_t)1 << 16)
#define HALF (N / 2)

static double *x;
static int started, ended;

static void *empties(void *unused)
{
    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    madvise(x + HALF, HALF * sizeof *x, MADV_DONTNEED);
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    return unused;
}

static enum sc_status doubles(struct sc_operand *o)
{
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .m = HALF, .n = HALF, .alpha = {2}};

    return sc_coherence_task(0, &k, (struct sc_piece[3]){{.operand = o, .rows = HALF, .cols = 1, .access = SC_RDWR}},
                             NULL, NULL);
}

/* --- no call begins before the pages are empty -------------------------------------------------------------------- */

static int begun, early;

static void *begins(void *view)
{
    struct sc_operand o;

    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    if (sc_coherence_begin(view, 1, &o) == SC_OK) {
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
        sc_coherence_end(&o, 1);
    }
    return NULL;
}

static struct sc_view all_of_x(void)
{
    return (struct sc_view){.type = SC_D, .vector = true, .rows = N, .cols = 1, .ld = 1, .access = SC_RDWR,
                            .spread = 1, .ptr = x};
}

static void empties_slowly(void *thread)
{
    static struct sc_view v;

    v = all_of_x();
    started = 0;
    pthread_create(thread, NULL, begins, &v);
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        sched_yield();
    usleep(100000); /* time for a call that does not wait */
    early = __atomic_load_n(&begun, __ATOMIC_ACQUIRE);
}

static void test_end(void)
{
    pthread_t thread;

    sc_coherence_withdraw((uintptr_t)x, N * sizeof *x, empties_slowly, &thread);
    pthread_join(thread, NULL);
    tap_ok(begun && !early, "a call of another thread begins after the end of the withdrawal");
}

int main(void)
{
    struct sc_operand o;
    struct sc_view v;
    pthread_t thread;
    int64_t right = 0, zeros = 0;

    env_init();
    env_start("emu:h200x8:1", 0);
    x = env_memory(N * sizeof *x);
    v = all_of_x();
    for (int64_t i = 0; i < N; i++)
        x[i] = (double)i;
    if (sc_coherence_begin(&v, 1, &o) != SC_OK) {
        tap_ok(0, "a call begins");
        return tap_done();
    }
    tap_ok(doubles(&o) == SC_OK, "a part of a call");
    sc_protocol_unlock();
    pthread_create(&thread, NULL, empties, NULL);
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        sched_yield();
    usleep(100000); /* time for a thread that does not wait */
    tap_ok(!__atomic_load_n(&ended, __ATOMIC_ACQUIRE), "a thread that empties another part waits for the call");
    sc_protocol_lock();
    tap_ok(doubles(&o) == SC_OK, "the call goes on");
    sc_coherence_end(&o, 1);
    pthread_join(thread, NULL);
    for (int64_t i = 0; i < HALF; i++) {
        right += x[i] == 4.0 * (double)i;
        zeros += x[HALF + i] == 0;
    }
    tap_ok(right == HALF, "the call's results: %lld of %lld", (long long)right, (long long)HALF);
    tap_ok(zeros == HALF, "and the emptied part: %lld zeros of %lld", (long long)zeros, (long long)HALF);
    test_end();
    sc_coherence_stop();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
