/* Short device memory: eviction storms, many small matrices (10^5 in check-long), evictions whose transfer fails, and a
 * stop while a call is still at work. Asserts right values, and bounded numbers of evictions examined and of
 * comparisons in the directory: a search that grows with the number of matrices would exceed the bounds. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "coherence/protocol.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

static int wrong;

static double *array(int64_t n, double value)
{
    double *p = malloc((size_t)n * sizeof *p);

    for (int64_t i = 0; i < n; i++)
        p[i] = value;
    return p;
}

static struct sc_view view(double *x, int64_t n, enum sc_access access)
{
    return (struct sc_view){.ptr = x, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = 1, .access = access,
                            .spread = 1};
}

/* y := y + alpha x, or (x NULL) alpha y, on a device. */
static void kernel(int device, double alpha, double *x, double *y, int64_t n)
{
    struct sc_view v[2] = {view(y, n, SC_RDWR), view(x, n, SC_READ)};
    struct sc_kernel k = {.op = x ? SC_OP_AXPY : SC_OP_SCAL, .type = SC_D, .n = n, .alpha = {alpha}};
    struct sc_piece piece[3] = {{.operand = NULL}};
    struct sc_operand o[2];

    if (sc_coherence_begin(v, x ? 2 : 1, o) != SC_OK) {
        wrong++;
        return;
    }
    piece[x != NULL] = (struct sc_piece){.operand = &o[0], .rows = n, .cols = 1, .access = SC_RDWR};
    if (x)
        piece[0] = (struct sc_piece){.operand = &o[1], .rows = n, .cols = 1, .access = SC_READ};
    wrong += sc_coherence_task(device, &k, piece, NULL, NULL) != SC_OK;
    sc_coherence_end(o, x ? 2 : 1);
}

/* Arrays of four times the devices' memory, used again and again in a changing order. */
static void test_storm(void)
{
    enum { ARRAYS = 64, LENGTH = 8192, ROUNDS = 30 };
    static double *x[ARRAYS];
    static double model[ARRAYS];
    uint64_t before = sc_stats.evictions, steps = sc_memory_steps, evictions;
    unsigned broken = sc_coherence_broken();

    wrong = 0;
    env_start("emu:h200x8:2", ARRAYS * LENGTH * sizeof(double) / 8);
    sc_emu_jitter(7, 20);
    for (int i = 0; i < ARRAYS; i++)
        x[i] = array(LENGTH, model[i] = i % 5);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < ARRAYS; i++) {
            int a = (i * 29 + round) % ARRAYS, b = (a + 1 + round % 7) % ARRAYS;

            kernel((i + round) % 2, round % 2 ? 1 : -1, x[a], x[b], LENGTH);
            model[b] += (round % 2 ? 1 : -1) * model[a];
            if (i % 16 == 3) {
                wrong += x[a][round] != model[a] || x[b][LENGTH - 1] != model[b];
                for (int64_t k = 0; k < LENGTH; k++)
                    x[b][k] = 2;
                model[b] = 2;
            }
        }
    for (int i = 0; i < ARRAYS; i++) {
        for (int64_t k = 0; k < LENGTH; k++)
            wrong += x[i][k] != model[i];
        free(x[i]);
    }
    sc_coherence_stop();
    evictions = sc_stats.evictions - before;
    steps = sc_memory_steps - steps;
    tap_ok(wrong == 0 && broken == sc_coherence_broken(), "4 times as much as the devices have: %d wrong", wrong);
    tap_ok(evictions > ROUNDS * ARRAYS / 4 && steps < 4 * evictions,
           "%" PRIu64 " evictions looked at %" PRIu64 " copies", evictions, steps);
}

/* Many vectors, each of which has room on the device for a while. */
static void test_many(void)
{
    enum { LENGTH = 1024, FIT = 1500 };
    const int ARRAYS = getenv("SEMCACHE_TEST_LONG") ? 100000 : 20000;
    double **x = malloc((size_t)ARRAYS * sizeof *x);
    uint64_t evictions, copies, looks, calls = 0;

    wrong = 0;
    env_start("emu:h200x8:1", FIT * LENGTH * sizeof(double));
    evictions = sc_stats.evictions;
    copies = sc_memory_steps;
    looks = sc_directory_steps;
    for (int i = 0; i < ARRAYS; i++)
        x[i] = array(LENGTH, i);
    for (int i = 0; i < ARRAYS; i++, calls++)
        kernel(0, 2, NULL, x[(i & ~31) + i * 13 % 32], LENGTH); /* scattered, but not over too many mappings */
    for (int i = 0; i < 3000; i++, calls++)
        kernel(0, 2, NULL, x[ARRAYS - 1 - i], LENGTH);
    evictions = sc_stats.evictions - evictions;
    copies = sc_memory_steps - copies;
    looks = sc_directory_steps - looks;
    tap_ok(sc_directory_count() == (size_t)ARRAYS, "%zu matrices", sc_directory_count());
    tap_ok(evictions >= (uint64_t)(ARRAYS - FIT) && copies <= 4 * evictions,
           "%" PRIu64 " evictions looked at %" PRIu64 " copies", evictions, copies);
    tap_ok(looks < calls * 20 * 17, "%" PRIu64 " calls made %" PRIu64 " comparisons in the directory", calls, looks);
    looks = sc_directory_steps;
    sc_coherence_home_all();
    looks = sc_directory_steps - looks;
    for (int i = 0; i < ARRAYS; i++)
        wrong += x[i][i % LENGTH] != (i < ARRAYS - 3000 ? 2.0 : 4.0) * i;
    tap_ok(wrong == 0 && looks < (uint64_t)ARRAYS * 20 * 17, "all of them home, with %" PRIu64 " comparisons: %d wrong",
           looks, wrong);
    for (int i = 0; i < ARRAYS; i += 2)
        free(x[i]);
    looks = sc_directory_steps;
    sc_coherence_stop();
    looks = sc_directory_steps - looks;
    tap_ok(sc_directory_count() == 0 && looks < (uint64_t)ARRAYS * 20 * 17, "the end takes %" PRIu64 " comparisons",
           looks);
    for (int i = 1; i < ARRAYS; i += 2)
        free(x[i]);
    free(x);
}

/* The transfer home of an evicted array fails; the program looks at the array much later. */
static void test_eviction_fails(void)
{
    enum { LENGTH = 4096 };
    double *x[3];

    env_start("emu:h200x8:1", 2 * LENGTH * sizeof(double));
    sc_directory_limits.tile_bytes = LENGTH * sizeof(double);
    for (int i = 0; i < 3; i++)
        x[i] = array(LENGTH, 3);
    wrong = 0;
    kernel(0, 2, NULL, x[0], LENGTH);
    kernel(0, 2, NULL, x[1], LENGTH);
    env_submitted();
    sc_emu_inject(0, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = 1, .late = true, .quiet = true});
    sc_protocol_lock();
    sc_transfer_to_host(sc_directory_next((uintptr_t)x[0], (uintptr_t)(x[0] + LENGTH)),
                        &sc_directory_next((uintptr_t)x[0], (uintptr_t)(x[0] + LENGTH))->tiles[0], ~UINT64_C(0));
    sc_protocol_unlock();
    while (!sc_protocol.ops->done(sc_directory_next((uintptr_t)x[0], (uintptr_t)(x[0] + LENGTH))->tiles[0].landed[0]))
        usleep(100); /* the transfer has ended, without data */
    wrong += ((volatile double *)x[0])[5] != 3;
    tap_ok(sc_protocol.lost[0] && wrong == 0, "a transfer home that failed unseen is noticed before its pages open");
    kernel(0, 2, NULL, x[2], LENGTH);
    tap_ok(x[2][7] == 6, "later calls run on the host");
    for (int i = 0; i < 3; i++)
        free(x[i]);
    sc_coherence_stop();
}

/* --- stopping ----------------------------------------------------------------------------------------------------- */

static sem_t in_call, go_on;

static void slow_dscal(const int *n, const double *alpha, double *x, const int *inc)
{
    sem_post(&in_call);
    while (sem_wait(&go_on))
        ;
    for (int i = 0; i < *n; i++)
        x[i * *inc] *= *alpha;
}

static void *slow_symbol(const char *name)
{
    return strcmp(name, "dscal_") == 0 ? (void *)slow_dscal : env_symbol(name);
}

static void *call(void *x)
{
    kernel(0, 2, NULL, x, 4096);
    kernel(0, 2, NULL, x, 4096); /* refused: the devices have been closed, or are about to be */
    return NULL;
}

static void *stop(void *none)
{
    sc_coherence_stop();
    return none;
}

static void test_stop_during_call(void)
{
    struct sc_device_host slow = env_host;
    const struct sc_device_ops *during;
    pthread_t calling, stopping;
    double *x;

    env_start("emu:h200x8:1", 0);
    slow.blas_symbol = slow_symbol;
    sc_protocol.host = &slow;
    sc_protocol.failed[0] = true; /* the task therefore runs on the host */
    sem_init(&in_call, 0, 0);
    sem_init(&go_on, 0, 0);
    x = array(4096, 3);
    wrong = 0;
    pthread_create(&calling, NULL, call, x);
    while (sem_wait(&in_call))
        ;
    pthread_create(&stopping, NULL, stop, NULL);
    for (bool begun = false; !begun;) {
        sc_protocol_lock();
        begun = sc_protocol.stopping;
        sc_protocol_unlock();
    }
    usleep(20000);
    during = __atomic_load_n(&sc_protocol.ops, __ATOMIC_ACQUIRE);
    sem_post(&go_on);
    pthread_join(calling, NULL);
    pthread_join(stopping, NULL);
    tap_ok(during && !sc_protocol.ops, "devices are closed when the last call is through");
    tap_ok(x[0] == 6 && x[4095] == 6 && wrong == 1, "which is done, and the next one is refused");
    free(x);
}

/* Acquires the operands of a host call, as before each larger call. */
static void *operands_home(void *x)
{
    sc_coherence_acquire_view(&(struct sc_view){.ptr = x, .type = SC_D, .rows = 10, .cols = 10, .ld = 10,
                                                .access = SC_RDWR});
    return NULL;
}

static void test_nothing_there(void)
{
    pthread_t other;
    double *x;

    env_start("emu:h200x8:1", 1 << 20);
    x = array(1000, 1);
    sc_protocol_lock(); /* a thread that needs the lock would wait until the alarm */
    pthread_create(&other, NULL, operands_home, x);
    pthread_join(other, NULL);
    sc_protocol_unlock();
    tap_ok(sc_directory_count() == 0, "an access of the host takes no lock while there are no matrices");
    kernel(0, 2, NULL, x, 1000);
    operands_home(x);
    tap_ok(sc_host_prot((uintptr_t)x) == SC_PROT_RW && x[99] == 2.0, "and brings home what is there");
    sc_coherence_stop();
    free(x);
}

int main(void)
{
    if (!env_is_emulated()) {
        printf("1..0 # SKIP counts and faults of emulated devices\n");
        return 0;
    }
    env_init();
    alarm(250);
    test_nothing_there();
    test_storm();
    test_eviction_fails();
    test_stop_during_call();
    test_many();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
