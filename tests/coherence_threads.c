/* Several threads of the program at once. A thread allocates, uses and frees its own arrays, writes a stretch of a
 * shared array (stretches meet in the middle of pages and sectors), and reads a constant array. Accesses are kernels on
 * any device, page faults of the CPU, acquires and forks, under eviction and jitter. Every value is compared with a
 * model of the thread's data; values are small integers, so results are exact. SEMCACHE_TEST_SEED and
 * SEMCACHE_TEST_STEPS choose other runs. The order of the threads cannot be replayed. */
#include <inttypes.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coherence/protocol.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

#define THREADS 4
#define STRETCH 9001 /* elements of a thread's stretch of the shared array: no multiple of a page or a sector */
#define CONSTANT (THREADS * STRETCH)
#define OWN 3 /* arrays of a thread: two private arrays and its stretch */

static int devices, steps;
static double *shared, *constant; /* constant[i] = i % 7 */
static pthread_barrier_t barrier;

struct area {
    double *data, *model;
    int64_t n;
};

static struct worker {
    pthread_t thread;
    uint64_t seed;
    int number, wrong, offloaded;
    struct area area[OWN];
} workers[THREADS];

static int64_t below(struct worker *w, int64_t n)
{
    w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((w->seed >> 33) % (uint64_t)n);
}

static double *plain(int64_t n) /* not to be tracked */
{
    double *p;

    sc_inside_enter();
    p = malloc((size_t)n * sizeof *p);
    sc_inside_leave();
    return p;
}

static void make_own(struct worker *w, struct area *a)
{
    a->n = 1100 + below(w, 20000);
    a->data = malloc((size_t)a->n * sizeof *a->data);
    a->model = plain(a->n);
    for (int64_t i = 0; i < a->n; i++)
        a->data[i] = a->model[i] = (double)below(w, 100);
}

static void drop_own(struct area *a)
{
    free(a->data);
    sc_inside_enter();
    free(a->model);
    sc_inside_leave();
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static struct sc_view view(double *p, int64_t n, int64_t step, enum sc_access access)
{
    return (struct sc_view){.ptr = p, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = step, .access = access,
                            .spread = devices};
}

/* Runs x (op) y in pieces on random devices. Returns false if the call was refused. */
static bool offload(struct worker *w, enum sc_op op, double alpha, const struct sc_view *views, int count)
{
    struct sc_operand o[2];
    struct sc_cuts cuts, other;

    if (sc_coherence_begin(views, count, o) != SC_OK)
        return false;
    sc_coherence_row_cuts(&o[0], &cuts);
    if (count == 2) {
        sc_coherence_row_cuts(&o[1], &other);
        sc_cuts_merge(&cuts, &other);
    }
    for (int i = 0; i < cuts.n; i++) {
        int64_t r = cuts.at[i], n = cuts.at[i + 1] - r;
        struct sc_kernel k = {.op = op, .type = SC_D, .m = n, .n = n, .alpha = {alpha}};
        struct sc_piece pieces[3] = {{.operand = NULL}};

        for (int p = 0; p < count; p++)
            pieces[p] = (struct sc_piece){.operand = &o[p], .r = r, .rows = n, .cols = 1, .access = views[p].access};
        w->wrong += sc_coherence_task((int)below(w, devices), &k, pieces, NULL, NULL) != SC_OK;
    }
    sc_coherence_end(o, count);
    return true;
}

/* Scales a part of the area by -1, copies the constant into it, or adds a multiple of the constant. */
static void step_kernel(struct worker *w, struct area *a)
{
    int64_t step = below(w, 4) ? 1 : 1 + below(w, 20), first = below(w, a->n);
    int64_t n = 1 + below(w, (a->n - 1 - first) / step + 1), from = below(w, CONSTANT - n + 1);
    enum sc_op op = below(w, 3) ? (below(w, 2) ? SC_OP_SCAL : SC_OP_AXPY) : SC_OP_COPY;
    double alpha = op == SC_OP_SCAL ? -1 : 2;
    struct sc_view x = view(constant + from, n, 1, SC_READ);
    struct sc_view y = view(a->data + first, n, step, op == SC_OP_COPY ? SC_WRITE : SC_RDWR);
    struct sc_view both[2] = {x, y};
    bool done = op == SC_OP_SCAL ? offload(w, op, alpha, &y, 1) : offload(w, op, alpha, both, 2);

    w->offloaded += done;
    for (int64_t i = 0; i < n; i++) {
        double *model = a->model + first + i * step, *data = a->data + first + i * step, c = (double)((from + i) % 7);

        *model = op == SC_OP_SCAL ? alpha * *model : op == SC_OP_AXPY ? *model + alpha * c : c;
        if (!done)
            *data = op == SC_OP_SCAL ? alpha * *data : op == SC_OP_AXPY ? *data + alpha * constant[from + i] : c;
    }
}

static void compare(struct worker *w, const struct area *a, int64_t first, int64_t n, int64_t step)
{
    for (int64_t i = first; i < first + n; i += step)
        if (((volatile double *)a->data)[i] != a->model[i] && w->wrong++ == 0)
            tap_diag("thread %d, array %d, element %" PRId64 " of %" PRId64 ": %g, not %g", w->number,
                     (int)(a - w->area), i, a->n, a->data[i], a->model[i]);
}

static void write_some(struct worker *w, struct area *a, int64_t first, int64_t n, int64_t step)
{
    for (int64_t i = first; i < first + n; i += step)
        a->data[i] = a->model[i] = (double)below(w, 100);
}

static void step_cpu(struct worker *w, struct area *a)
{
    int64_t first = below(w, a->n), n = 1 + below(w, a->n - first), at = below(w, CONSTANT);

    switch (below(w, 7)) {
    case 0: compare(w, a, first, n, 1 + below(w, 700)); break;
    case 1: write_some(w, a, first, n, 1 + below(w, 700)); break;
    case 2: w->wrong += ((volatile double *)constant)[at] != (double)(at % 7); break;
    case 3:
        sc_coherence_acquire_host((uintptr_t)(a->data + first), (size_t)n * 8, SC_RDWR);
        compare(w, a, first, n, 1);
        break;
    case 4:
        sc_coherence_acquire_host((uintptr_t)(a->data + first), (size_t)n * 8, SC_WRITE);
        write_some(w, a, first, n, 1);
        break;
    case 5:
        if (a != &w->area[OWN - 1]) {
            compare(w, a, 0, a->n, 1);
            drop_own(a);
            make_own(w, a);
        }
        break;
    default:
        if (a != &w->area[OWN - 1])
            sc_coherence_release_range((uintptr_t)a->data, (size_t)a->n * 8);
        else if (below(w, 4) == 0)
            sc_coherence_home_all();
    }
}

static void *work(void *argument)
{
    struct worker *w = argument;

    pthread_barrier_wait(&barrier);
    for (int i = 0; i < steps && !w->wrong; i++) {
        struct area *a = &w->area[below(w, OWN)];

        if (below(w, 2))
            step_kernel(w, a);
        else
            step_cpu(w, a);
        if (i % 16 == 0)
            write_some(w, a, 0, a->n, 1); /* values stay small */
    }
    for (int k = 0; k < OWN; k++)
        compare(w, &w->area[k], 0, w->area[k].n, 1);
    return NULL;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* A child reads the constant array and ends. A hanging fork would be a failure, too. */
static int fork_once(void)
{
    int status = -1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        int bad = 0;

        for (int64_t i = 0; i < CONSTANT; i++)
            bad += constant[i] != (double)(i % 7);
        _exit(bad != 0);
    }
    waitpid(child, &status, 0);
    return child <= 0 || status != 0;
}

static void make_arrays(uint64_t seed, bool one_matrix)
{
    struct sc_view whole;

    shared = malloc(CONSTANT * sizeof *shared);
    constant = malloc(CONSTANT * sizeof *constant);
    for (int64_t i = 0; i < CONSTANT; i++) {
        shared[i] = (double)(i % 100);
        constant[i] = (double)(i % 7);
    }
    for (int t = 0; t < THREADS; t++) {
        struct worker *w = &workers[t];

        *w = (struct worker){.number = t, .seed = seed * 1000 + (uint64_t)t};
        make_own(w, &w->area[0]);
        make_own(w, &w->area[1]);
        w->area[2] = (struct area){shared + t * STRETCH, plain(STRETCH), STRETCH};
        for (int64_t i = 0; i < STRETCH; i++)
            w->area[2].model[i] = (double)((t * STRETCH + i) % 100);
    }
    if (one_matrix) { /* otherwise a stretch becomes one matrix or several */
        whole = view(shared, CONSTANT, 1, SC_RDWR);
        offload(&workers[0], SC_OP_SCAL, 1, &whole, 1);
    }
}

static void drop_arrays(void)
{
    for (int t = 0; t < THREADS; t++) {
        drop_own(&workers[t].area[0]);
        drop_own(&workers[t].area[1]);
        sc_inside_enter();
        free(workers[t].area[2].model);
        sc_inside_leave();
    }
    free(shared);
    free(constant);
}

static void run(const char *machine, uint64_t limit, unsigned jitter, uint64_t seed, bool one_matrix, int forks)
{
    unsigned broken = sc_coherence_broken();
    int wrong = 0, offloaded = 0;

    devices = env_start(machine, limit);
    if (jitter && env_is_emulated())
        sc_emu_jitter(seed, jitter);
    make_arrays(seed, one_matrix);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int t = 0; t < THREADS; t++)
        pthread_create(&workers[t].thread, NULL, work, &workers[t]);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < forks; i++)
        wrong += fork_once();
    if (wrong)
        tap_diag("%d forks went wrong", wrong);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        wrong += workers[t].wrong;
        offloaded += workers[t].offloaded;
    }
    pthread_barrier_destroy(&barrier);
    drop_arrays();
    sc_coherence_stop();
    tap_ok(wrong == 0 && broken == sc_coherence_broken() && offloaded > steps / 4,
           "%s, limit %" PRIu64 ", jitter %u us, seed %" PRIu64 ", %s, %d forks: %d offloaded", machine, limit, jitter,
           seed, one_matrix ? "one shared matrix" : "several", forks, offloaded);
}

/* --- who gets through --------------------------------------------------------------------------------------------- */

static bool over;  /* atomic */
static long calls; /* atomic */

/* Computes on the first elements of a page without a pause. */
static void *compute(void *argument)
{
    struct sc_view v = view(argument, 100, 1, SC_RDWR);

    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        offload(&workers[1], SC_OP_SCAL, -1, &v, 1);
        __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* The program reads and writes elements that share a page with a second thread's result. Each call of the second thread
 * closes the page again; the program's access must get through all the same. (An acquire holds calls up; a thread that
 * faulted still has to run.) */
static void test_neighbours(void)
{
    struct sc_view whole;
    pthread_t thread;
    long most = 0, before, got;
    double *x;

    devices = env_start("emu:h200x8:1", 0);
    x = malloc(2000 * sizeof *x);
    for (int i = 0; i < 2000; i++)
        x[i] = 1;
    whole = view(x, 2000, 1, SC_RDWR);
    workers[0].wrong = workers[1].wrong = 0;
    offload(&workers[0], SC_OP_SCAL, 1, &whole, 1);
    pthread_create(&thread, NULL, compute, x);
    for (int i = 200; i < 220; i++) {
        usleep(2000);
        before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
        workers[0].wrong += ((volatile double *)x)[i] != 1;
        x[i] = i;
        got = __atomic_load_n(&calls, __ATOMIC_RELAXED) - before;
        most = got > most ? got : most;
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    for (int i = 200; i < 220; i++)
        workers[0].wrong += x[i] != i;
    tap_diag("the longest access waited for %ld calls", most); /* depends on the scheduler: no bound to test */
    tap_ok(workers[0].wrong + workers[1].wrong == 0, "accesses get through between another thread's calls");
    free(x);
    sc_coherence_stop();
}

/* Before an exit the main thread waits for calls in other threads. */
static int at;      /* atomic: 1 the call has begun, 2 it is about to end */
static bool stays;  /* atomic: the call does not end */

static void *call_for_long(void *x)
{
    struct sc_view v = view(x, 2000, 1, SC_RDWR);
    struct sc_operand operand;

    if (sc_coherence_begin(&v, 1, &operand) != SC_OK) {
        __atomic_store_n(&at, 1, __ATOMIC_RELEASE);
        return NULL;
    }
    __atomic_store_n(&at, 1, __ATOMIC_RELEASE);
    usleep(50000);
    __atomic_store_n(&at, 2, __ATOMIC_RELEASE);
    sc_coherence_end(&operand, 1);
    return x;
}

static void *pass_by(void *x) /* a call in progress that has dropped the lock */
{
    sc_protocol_lock();
    sc_protocol_call_begins();
    sc_protocol_unlock();
    __atomic_store_n(&at, 1, __ATOMIC_RELEASE);
    do
        usleep(50000);
    while (__atomic_load_n(&stays, __ATOMIC_ACQUIRE));
    sc_protocol_lock();
    __atomic_store_n(&at, 2, __ATOMIC_RELEASE);
    sc_protocol_call_over();
    sc_protocol_unlock();
    return x;
}

static bool waits_for(void *(*call)(void *), double *x, double seconds)
{
    pthread_t thread;
    void *done;
    bool waited;

    at = 0;
    pthread_create(&thread, NULL, call, x);
    while (!__atomic_load_n(&at, __ATOMIC_ACQUIRE))
        sched_yield();
    sc_coherence_await_calls(seconds);
    waited = __atomic_load_n(&at, __ATOMIC_ACQUIRE) == 2;
    __atomic_store_n(&stays, false, __ATOMIC_RELEASE);
    pthread_join(thread, &done);
    return waited && done == x;
}

static void test_waits(void)
{
    double *x;

    devices = env_start("emu:h200x8:1", 0);
    x = calloc(2000, sizeof *x);
    tap_ok(waits_for(call_for_long, x, 60), "a thread waits until another thread's call is over");
    tap_ok(waits_for(pass_by, x, 60), "and for a call that has dropped the lock");
    stays = true;
    tap_ok(!waits_for(pass_by, x, 0.001), "but not for ever");
    tap_ok(waits_for(call_for_long, x, 60), "calls begin afterwards");
    sc_coherence_leave(true);
    tap_ok(!waits_for(call_for_long, x, 60), "no call begins while the process ends");
    sc_coherence_leave(false);
    tap_ok(waits_for(call_for_long, x, 60), "unless it goes on after all");
    free(x);
    sc_coherence_stop();
}

/* --- a reader whose data a kernel has yet to compute -------------------------------------------------------------- */

#define ORDER 512    /* largest */
#define LATE 64      /* order of the matrix that is computed late */
#define PRODUCTS 20  /* each begins 0 to 200 ms after its predecessor, by a hash: about 2 s */

/* c += `count` times a a, for square matrices of order n.  *fence: of the last product. */
static bool add_products(double *a, double *c, int64_t n, int count, struct sc_fence *fence)
{
    struct sc_view views[2] = {{.ptr = a, .type = SC_D, .rows = n, .cols = n, .ld = n, .access = SC_READ},
                               {.ptr = c, .type = SC_D, .rows = n, .cols = n, .ld = n, .access = SC_RDWR}};
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = n, .n = n, .k = n,
                          .alpha = {1}, .beta = {1}};
    struct sc_piece pieces[3];
    struct sc_operand o[2];
    bool all = sc_coherence_begin(views, 2, o) == SC_OK;

    for (int p = 0; p < 3; p++)
        pieces[p] = (struct sc_piece){.operand = &o[p / 2], .rows = n, .cols = n, .access = p == 2 ? SC_RDWR : SC_READ};
    for (int i = 0; i < count && all; i++)
        all = sc_coherence_task(0, &k, pieces, fence, NULL) == SC_OK;
    sc_coherence_end(o, 2);
    return all;
}

static void *read_corner(void *x) { return *(volatile double *)x == 3 ? x : NULL; }

/* The products of `late` take long: another thread reads `done` meanwhile.  Nothing is measured. */
static void test_later_kernel(int64_t n)
{
    double *zero, *done, *late;
    struct sc_fence fence = SC_FENCE_NONE, last = SC_FENCE_NONE;
    pthread_t waiting;
    bool right, meanwhile;
    uint64_t faults;
    void *same;

    env_start("emu:h200x8:1", 0);
    zero = calloc((size_t)(ORDER * ORDER), sizeof *zero);
    late = calloc(LATE * LATE, sizeof *late);
    done = calloc((size_t)(n * n), sizeof *done);
    done[0] = late[0] = 3;
    right = add_products(zero, done, n, 1, &fence) && sc_coherence_wait(fence) == SC_OK;
    sc_emu_jitter(1, 200000);
    right = right && add_products(zero, late, LATE, PRODUCTS, &last);
    faults = __atomic_load_n(&sc_stats.faults_read, __ATOMIC_ACQUIRE);
    pthread_create(&waiting, NULL, read_corner, late);
    while (right && __atomic_load_n(&sc_stats.faults_read, __ATOMIC_ACQUIRE) == faults)
        usleep(1000); /* valgrind gives a thread that only yields all of the time */
    usleep(2000); /* for the fault to start transfers */
    right = read_corner(done) && right;
    meanwhile = !sc_protocol.ops->done(last);
    sc_emu_jitter(1, 0);
    pthread_join(waiting, &same);
    tap_ok(right && same == late && meanwhile,
           "order %" PRId64 ": a reader of complete data does not wait for the kernel of another reader's data", n);
    free(zero);
    free(done);
    free(late);
    sc_coherence_stop();
}

int main(void)
{
    const char *s = getenv("SEMCACHE_TEST_SEED"), *n = getenv("SEMCACHE_TEST_STEPS");
    uint64_t first = s ? strtoull(s, NULL, 10) : 1;

    steps = n ? atoi(n) : 150;
    env_init();
    alarm(900); /* ends the test if a thread waits for ever */
    run("emu:h200x8:1", 0, 0, first, true, 0);
    run("emu:h200x8:2", 0, 0, first + 1, false, 3);
    run("emu:h200x8:3", 0, 100, first + 2, true, 2);
    run("emu:h200x8:2", 600000, 0, first + 3, true, 0);
    run("emu:h200x8:2", 600000, 50, first + 4, false, 2);
    if (env_is_emulated())
        test_neighbours();
    test_waits();
    if (env_is_emulated() && !n) { /* not with few steps, as under valgrind: a thread that polls starves the others */
        test_later_kernel(LATE);
        test_later_kernel(ORDER);
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
