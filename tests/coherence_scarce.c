/* Scarce resources: memory that can be pinned, mappings (the system refuses to split a further mapping), and the arena.
 * Devices and the CPU do random work on many arrays, while resources are refused at any point. Asserts that the values
 * equal the values of plain copies. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coherence/protocol.h"
#include "host/fault_int.h"
#include "host/span.h"
#include "tests/coherence_env.h"

#define ARRAYS 24
#define N 4096 /* elements of an array: 8 pages */

static double *array[ARRAYS], *truth[ARRAYS];
static int devices;

static uint64_t state;
static unsigned random_below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % n);
}

static struct sc_view view(double *x, int64_t n, enum sc_access access)
{
    return (struct sc_view){.ptr = x, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = 1, .access = access,
                            .spread = 1};
}

/* x := 2 x and y := x + y on a device, or on the host where sc_coherence_begin refuses. */
static void scal(double *x, int64_t n)
{
    struct sc_view v = view(x, n, SC_RDWR);
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .m = n, .n = n, .alpha = {2}};
    struct sc_operand o;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK) {
        for (int64_t i = 0; i < n; i++)
            x[i] *= 2;
        return;
    }
    sc_coherence_task((int)random_below((unsigned)devices), &k,
                      (struct sc_piece[3]){{.operand = &o, .rows = n, .cols = 1, .access = SC_RDWR}}, NULL, NULL);
    sc_coherence_end(&o, 1);
}

static void axpy(double *x, double *y, int64_t n)
{
    struct sc_view v[2] = {view(x, n, SC_READ), view(y, n, SC_RDWR)};
    struct sc_kernel k = {.op = SC_OP_AXPY, .type = SC_D, .m = n, .n = n, .alpha = {1}};
    struct sc_operand o[2];

    if (sc_coherence_begin(v, 2, o) != SC_OK) {
        for (int64_t i = 0; i < n; i++)
            y[i] += x[i];
        return;
    }
    sc_coherence_task((int)random_below((unsigned)devices), &k,
                      (struct sc_piece[3]){{.operand = &o[0], .rows = n, .cols = 1, .access = SC_READ},
                                           {.operand = &o[1], .rows = n, .cols = 1, .access = SC_RDWR}},
                      NULL, NULL);
    sc_coherence_end(o, 2);
}

static void fresh(int i)
{
    free(array[i]);
    array[i] = malloc(N * sizeof(double));
    for (int k = 0; k < N; k++)
        array[i][k] = truth[i][k] = k % 13 + i;
}

/* Resets large values to small ones. */
static void step(void)
{
    int i = (int)random_below(ARRAYS), j = (int)random_below(ARRAYS - 1), k = (int)random_below(N);
    int64_t n = random_below(2) ? N : 600;

    j += j >= i;
    switch (random_below(6)) {
    case 0:
        scal(array[i], n);
        for (int64_t e = 0; e < n; e++)
            truth[i][e] *= 2;
        break;
    case 1:
    case 2:
        axpy(array[j], array[i], n);
        for (int64_t e = 0; e < n; e++)
            truth[i][e] += truth[j][e];
        break;
    case 3: array[i][k] = truth[i][k] = k; break;
    case 4: fresh(i); break;
    default: break;
    }
    if (truth[i][0] > 1e12 || truth[i][N - 1] > 1e12)
        fresh(i);
}

static int wrong_arrays(void)
{
    int wrong = 0;

    for (int i = 0; i < ARRAYS; i++)
        wrong += memcmp(array[i], truth[i], N * sizeof(double)) != 0;
    return wrong;
}

static int run(int steps)
{
    int wrong = 0;

    for (int s = 0; s < steps; s++) {
        int i = (int)random_below(ARRAYS), k = (int)random_below(N);

        if (s % 4 == 0)
            sc_host_pause_end();
        step();
        wrong += array[i][k] != truth[i][k];
    }
    return wrong + wrong_arrays();
}

static int child_is_right(void)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(wrong_arrays() != 0);
    waitpid(pid, &status, 0);
    return status == 0;
}

/* --- pins --------------------------------------------------------------------------------------------------------- */

static enum { PINS, SOME, NONE } pinning;
static const struct sc_device_ops *real;
static int pins_tried;

static enum sc_status pin(void *base, size_t bytes)
{
    pins_tried++;
    return pinning == NONE || (pinning == SOME && random_below(2)) ? SC_ERR_MEMORY : real->pin(base, bytes);
}

/* Has to run first: memory once pinned stays pinned. */
static void test_pins(void)
{
    static struct sc_device_ops mine;
    int wrong;

    real = sc_protocol.ops;
    mine = *real;
    mine.pin = pin;
    sc_protocol.ops = &mine;
    pinning = NONE;
    wrong = run(300);
    tap_ok(wrong == 0 && sc_host_mappings == 0 && sc_directory_count() == 0,
           "nothing can be pinned: all runs on the host (%d wrong)", wrong);
    tap_ok(pins_tried > 0 && pins_tried < 30, "and that is not tried each time (%d times)", pins_tried);
    pinning = SOME;
    wrong = run(1200);
    tap_ok(wrong == 0, "some can, later: %d wrong", wrong);
    pinning = PINS;
    wrong = run(300);
    tap_ok(wrong == 0 && sc_directory_count() > 0, "devices are used again (%d wrong)", wrong);
    sc_protocol.ops = real;
}

/* --- the arena ---------------------------------------------------------------------------------------------------- */

/* Arrays outside of the arena: copied into the arena and back while the arena has room, computed by the host
 * afterwards. */
static void test_arena_full(void)
{
    void **blocks = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int count = 0, wrong, inside = 0;

    while (count < 4096 && sc_host_in_arena(blocks[count] = malloc((size_t)4 << 20)))
        count++;
    free(blocks[count]);
    wrong = run(300);
    for (int i = 0; i < ARRAYS / 2; i++) {
        free(array[i]);
        array[i] = NULL;
    }
    while (count < 100000 && sc_host_in_arena(blocks[count] = malloc(N * sizeof(double))))
        count++;
    free(blocks[count]);
    for (int i = 0; i < ARRAYS / 2; i++)
        fresh(i);
    wrong += run(600);
    for (int i = 0; i < ARRAYS; i++)
        inside += sc_host_in_arena(array[i]);
    tap_ok(wrong == 0 && inside < ARRAYS, "a full arena: %d wrong, %d of %d arrays in it", wrong, inside, ARRAYS);
    while (count--)
        free(blocks[count]);
    for (int i = 0; i < ARRAYS; i++)
        fresh(i);
    wrong = run(300);
    tap_ok(wrong == 0 && sc_host_in_arena(array[0]), "and with room again");
    munmap(blocks, 1 << 20);
}

/* --- giving an array up while another range is mended ------------------------------------------------------------- */

static uint64_t waited_for[SC_DEVICES_MAX][SC_STREAMS];
static int rewritten;

/* A fence counts as reached only after a wait for the fence. */
static bool done_when_waited_for(struct sc_fence f)
{
    return f.seq <= __atomic_load_n(&waited_for[f.device][f.stream], __ATOMIC_RELAXED) && real->done(f);
}

/* During the fetch of the second array, a call writes the first array, whose pages are already open. A reached fence is
 * waited for with the lock held. */
static enum sc_status sync_between(struct sc_fence f)
{
    bool unlocked = f.seq > waited_for[f.device][f.stream];
    enum sc_status status = real->sync(f);

    if (unlocked) {
        __atomic_store_n(&waited_for[f.device][f.stream], f.seq, __ATOMIC_RELAXED);
        if (!rewritten && sc_host_prot((uintptr_t)array[0]) == SC_PROT_RW) {
            rewritten = 1;
            scal(array[0], N);
        }
    }
    return status;
}

/* The protocol drops its lock while it mends a refused change of protection. A call that writes the array in this
 * window must not lose its result. */
static void test_release_mends(void)
{
    static struct sc_device_ops mine;
    struct sc_fence reached;
    int wrong = 0;

    sc_host_mappings_limit = 0;
    for (int i = 0; i < 2; i++) {
        fresh(i);
        scal(array[i], N);
    }
    real = sc_protocol.ops;
    for (int d = 0; d < devices; d++) /* all fences so far are reached */
        for (int s = 0; s < SC_STREAMS; s++)
            if (real->mark(d, (enum sc_stream)s, &reached) == SC_OK && real->sync(reached) == SC_OK)
                waited_for[d][s] = reached.seq;
    mine = *real;
    mine.done = done_when_waited_for;
    mine.sync = sync_between;
    sc_protocol.ops = &mine;
    sc_protocol.refused[0] = (struct sc_range){(uintptr_t)array[1], (uintptr_t)(array[1] + N)};
    sc_protocol.refusals = 1;
    rewritten = 0;
    sc_coherence_release_range((uintptr_t)array[0], N * sizeof(double));
    sc_protocol.ops = real;
    for (int k = 0; k < N; k++) {
        wrong += array[0][k] != 4 * truth[0][k];
        wrong += array[1][k] != 2 * truth[1][k];
    }
    tap_ok(wrong == 0 && rewritten, "an array is written again while it is given up: %d wrong", wrong);
    fresh(0);
    fresh(1);
}

/* --- mappings ----------------------------------------------------------------------------------------------------- */

static void test_limits(void)
{
    static const size_t limits[] = {1, 2, 3, 4, 6, 9, 17, 33, 0};

    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        unsigned broken = sc_coherence_broken();
        int wrong;

        sc_host_mappings_limit = limits[l];
        wrong = run(700);
        tap_ok(wrong == 0 && sc_coherence_broken() == broken,
               "at most %zu mappings: %d wrong, %zu in use", limits[l], wrong, sc_host_mappings);
        tap_ok(child_is_right(), "a child has it all");
    }
}

/* The program takes every mapping that the system allows; the library has to cope with refusals to split a mapping. */
static void test_real_limit(void)
{
    size_t pages = 140000, taken = 0;
    char *p = mmap(NULL, pages * SC_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int wrong;

    sc_host_mappings_limit = 0;
    wrong = run(300); /* some arrays are closed already */
    while (p != MAP_FAILED && taken < pages && mprotect(p + taken * SC_PAGE, SC_PAGE, PROT_READ) == 0)
        taken += 2;
    if (p == MAP_FAILED || taken >= pages) {
        tap_ok(1, "more mappings than the test can take # SKIP");
        return;
    }
    wrong += run(700);
    tap_ok(wrong == 0, "all mappings of the system in use (%zu by the program): %d wrong", taken, wrong);
    munmap(p, pages * SC_PAGE);
    wrong = run(300);
    tap_ok(wrong == 0 && sc_host_mappings > 0, "and free again: %d wrong, %zu in use", wrong, sc_host_mappings);
}

int main(void)
{
    const char *seed = getenv("SEMCACHE_TEST_SEED");

    sc_config.arena_bytes = (uint64_t)256 << 20;
    env_init();
    state = seed ? strtoull(seed, NULL, 0) : 88172645463325252u;
    tap_diag("SEMCACHE_TEST_SEED=%llu", (unsigned long long)state);
    devices = env_start("emu:h200x8:2", 0);
    for (int i = 0; i < ARRAYS; i++) {
        truth[i] = mmap(NULL, N * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fresh(i);
    }
    test_pins();
    test_arena_full();
    test_release_mends();
    test_limits();
    if (env_is_emulated()) /* drivers take mappings of their own */
        test_real_limit();
    sc_coherence_stop();
    sc_host_faults_stop();
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
