/* Threads of every kind compute C := 2 A by dgemm under semcache: on small stacks, with blocked signals, on alternate
 * stacks, under OpenMP. Threads are cancelled or end with device work in flight. Every value is a small integer, so
 * results are exact.
 *
 *     thread_kinds [KIND [BYTES]]   every kind, or KIND; prints a line for each, "right" on success
 *                                   BYTES: of the smallest stack beyond the C library's minimum */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define N       120
#define COUNT   (N * N)
#define THREADS 8
#define LARGEST 131072

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *, size_t);
void dscal_(const int *, const double *, double *, const int *);
double ddot_(const int *, const double *, const int *, const double *, const int *);

static const int n = N, one = 1, count = COUNT;
static const double unit = 1, zero = 0, minus = -1;
static double *twice; /* 2 I, an input of every thread */

/* --- one thread's matrices ---------------------------------------------------------------------------------------- */

struct pair {
    double *a, *c;
};

static struct pair make(int first)
{
    struct pair p = {malloc(COUNT * sizeof *p.a), malloc(COUNT * sizeof *p.c)};

    if (!p.a || !p.c)
        abort();
    for (int i = 0; i < COUNT; i++)
        p.a[i] = first + i % 1000;
    return p;
}

static void drop(struct pair *p)
{
    free(p->a);
    free(p->c);
}

static void multiply(double *a, double *c)
{
    dgemm_("N", "N", &n, &n, &n, &unit, a, &n, twice, &n, &zero, c, &n, 1, 1);
}

/* Opens the devices. A call of a second thread would run on the host while the first call opens them. */
static void open_devices(void)
{
    double *c = calloc(COUNT, sizeof *c);

    multiply(twice, c);
    free(c);
}

/* Number of elements of C that differ from 2 A; looks at every step-th element. */
static int differ(const struct pair *p, int first, int step)
{
    int bad = 0;

    for (int i = 0; i < COUNT; i += step)
        bad += ((volatile double *)p->c)[i] != 2.0 * (first + i % 1000);
    return bad;
}

/* C := 2 A, -C, reads and writes by the CPU in between; y := A x with x a unit vector. */
static int chain(struct pair *p, int first)
{
    double dot, *x = p->c, *y = p->c + N; /* of the second product */
    int bad;

    multiply(p->a, p->c);
    bad = differ(p, first, 37);
    dscal_(&count, &minus, p->c, &one);
    p->c[N] = 5;
    bad += ((volatile double *)p->c)[N + 1] != -2.0 * (first + N + 1);
    dot = ddot_(&n, p->c + 2 * N, &one, twice, &one); /* the first column of 2 I */
    bad += dot != 2 * -2.0 * (first + 2 * N) || p->c[N] != 5;
    memset(x, 0, N * sizeof *x);
    x[3] = 1;
    dgemv_("N", &n, &n, &unit, p->a, &n, x, &one, &zero, y, &one, 1);
    for (int i = 0; i < N; i += 11)
        bad += ((volatile double *)y)[i] != first + (3 * N + i) % 1000;
    return bad;
}

static int whole_chain(int first)
{
    struct pair p = make(first);
    int bad = chain(&p, first);

    drop(&p);
    return bad;
}

static int run_thread(const pthread_attr_t *attr, void *(*body)(void *), void *argument)
{
    void *result = NULL;
    pthread_t thread;

    if (pthread_create(&thread, attr, body, argument) || pthread_join(thread, &result))
        return 1;
    return (int)(intptr_t)result;
}

static void *chains(void *argument)
{
    intptr_t bad = 0;

    for (int i = 0; i < 5; i++)
        bad += whole_chain((int)(intptr_t)argument + i);
    return (void *)bad;
}

static void *no_chains(void *argument) { return argument; }

/* --- stacks ------------------------------------------------------------------------------------------------------- */

/* Runs on a stack of `more` bytes beyond the C library's minimum with these libraries' thread-local variables. */
static int on_stack(size_t more)
{
    size_t bytes = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    pthread_attr_t attr;
    pthread_t thread;
    void *bad = NULL;

    pthread_attr_init(&attr);
    do {
        bytes += 4096;
        if (pthread_attr_setstacksize(&attr, bytes))
            return 1;
    } while (pthread_create(&thread, &attr, no_chains, NULL) == EINVAL);
    pthread_join(thread, NULL);
    if (pthread_attr_setstacksize(&attr, bytes + more) || pthread_create(&thread, &attr, chains, (void *)1) ||
        pthread_join(thread, &bad))
        return 1;
    pthread_attr_destroy(&attr);
    return (int)(intptr_t)bad;
}

/* The host BLAS's kernels need different stacks on different processors: the caller chooses the smallest stack. */
static size_t smallest = 65536;

static int small_stack(void)
{
    int bad = 0;

    for (size_t more = smallest; more <= LARGEST; more *= 2)
        bad += on_stack(more);
    return bad;
}

/* The alternate stack is too small for a signal frame of today's processors. No handler of the program uses it. */
static void *with_tiny_stack(void *argument)
{
    size_t bytes = 2048; /* the old MINSIGSTKSZ; on some systems too small for sigaltstack */
    char *memory = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t tiny = {.ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
    void *bad;

    if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE))
        return (void *)1;
    tiny.ss_sp = memory + 4096;
    if (sigaltstack(&tiny, NULL)) {
        tiny.ss_size = 4096;
        if (sigaltstack(&tiny, NULL))
            return (void *)1;
    }
    bad = chains(argument);
    sigaltstack(&none, NULL);
    munmap(memory, 3 * 4096);
    return bad;
}

static int alternate_stack(void) { return run_thread(NULL, with_tiny_stack, (void *)2); }

/* --- masks -------------------------------------------------------------------------------------------------------- */

static struct pair touched; /* by a handler */
static volatile sig_atomic_t seen_wrong, handled;

static void touch(int sig)
{
    (void)sig;
    seen_wrong += ((volatile double *)touched.c)[COUNT / 2] != 2.0 * (3 + COUNT / 2 % 1000);
    handled++;
}

static void *blocked_by_itself(void *argument)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    return chains(argument);
}

/* The thread waits in sigsuspend for the handler, which runs with every other signal blocked. */
static void *in_sigsuspend(void *argument)
{
    struct sigaction action = {.sa_handler = touch}, before;
    sigset_t only, old, usr1;

    (void)argument;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, &before);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, &old);
    sigfillset(&only);
    sigdelset(&only, SIGUSR1);
    touched = make(3);
    seen_wrong = 0;
    multiply(touched.a, touched.c);
    pthread_kill(pthread_self(), SIGUSR1);
    sigsuspend(&only);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGUSR1, &before, NULL);
    drop(&touched);
    return (void *)(intptr_t)(seen_wrong + (handled != 1));
}

static int blocked(void)
{
    int bad = run_thread(NULL, blocked_by_itself, (void *)4);
    pthread_attr_t attr;
    sigset_t all;

    pthread_attr_init(&attr);
    sigfillset(&all);
    pthread_attr_setsigmask_np(&attr, &all);
    bad += run_thread(&attr, chains, (void *)5);
    pthread_attr_destroy(&attr);
    return bad + run_thread(NULL, in_sigsuspend, NULL);
}

/* --- cancelled ---------------------------------------------------------------------------------------------------- */

static pthread_barrier_t started;

/* Runs until cancelled: during a fetch of its result, in a call, or while waiting for a fetch of a second thread. */
static void *endless(void *argument)
{
    struct pair *p = argument;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    multiply(p->a, p->c);
    pthread_barrier_wait(&started);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (int i = 0;; i = (i + 977) % COUNT) {
        multiply(p->a, p->c);
        ((volatile double *)p->c)[i] = ((volatile double *)p->c)[COUNT - 1 - i];
        pthread_testcancel();
    }
    return NULL;
}

static void *endless_asynchronous(void *argument)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return endless(argument);
}

static int cancel(void *(*body)(void *))
{
    struct pair pairs[THREADS];
    pthread_t threads[THREADS];
    int bad = 0;

    pthread_barrier_init(&started, NULL, THREADS + 1);
    for (int t = 0; t < THREADS; t++) {
        pairs[t] = make(10 * t);
        pthread_create(&threads[t], NULL, body, &pairs[t]);
    }
    pthread_barrier_wait(&started);
    for (int t = 0; t < THREADS; t++) {
        void *result;

        usleep((unsigned)(t * 700 % 2900));
        pthread_cancel(threads[t]);
        /* NULL: glibc up to 2.36 where the state is enabled again after the request */
        bad += pthread_join(threads[t], &result) || (result && result != PTHREAD_CANCELED);
    }
    pthread_barrier_destroy(&started);
    for (int t = 0; t < THREADS; t++) { /* the matrices stay usable after the cancellations */
        bad += chain(&pairs[t], 10 * t);
        drop(&pairs[t]);
    }
    return bad;
}

static int cancelled(void)
{
    int bad = 0;

    for (int round = 0; round < 10; round++)
        bad += cancel(round % 2 ? endless : endless_asynchronous);
    return bad;
}

/* Cancels a thread in a read() into an array. */
static void *reads(void *argument)
{
    int *ends = ((void **)argument)[0];
    double *where = ((void **)argument)[1];

    pthread_barrier_wait(&started);
    if (read(ends[0], where, N * sizeof *where) >= 0)
        return (void *)1;
    return NULL;
}

static int cancelled_in_read(void)
{
    struct pair p = make(6);
    void *argument[2], *result;
    int ends[2], bad = 0;
    pthread_t thread;

    multiply(p.a, p.c);
    if (pipe(ends))
        return 1;
    argument[0] = ends;
    argument[1] = p.c;
    for (int round = 0; round < 100; round++) { /* more rounds than slots for system calls in progress */
        pthread_barrier_init(&started, NULL, 2);
        pthread_create(&thread, NULL, reads, argument);
        pthread_barrier_wait(&started);
        if (round % 10 == 0)
            usleep(2000);
        pthread_cancel(thread);
        bad += pthread_join(thread, &result) || result != PTHREAD_CANCELED;
        pthread_barrier_destroy(&started);
    }
    bad += chain(&p, 6);
    drop(&p);
    close(ends[0]);
    close(ends[1]);
    return bad;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static pthread_key_t last_words;

static void speak(void *argument)
{
    struct pair *p = argument;

    dscal_(&count, &minus, p->c, &one); /* a thread's last call, from a destructor */
}

static void *ends_at_once(void *argument)
{
    struct pair *p = argument;

    pthread_setspecific(last_words, p);
    multiply(p->a, p->c);
    dscal_(&count, &minus, p->c, &one);
    pthread_exit(NULL);
}

static int ended(void)
{
    struct pair pairs[THREADS];
    pthread_t threads[THREADS];
    int bad = 0;

    pthread_key_create(&last_words, speak);
    for (int t = 0; t < THREADS; t++) {
        pairs[t] = make(t);
        pthread_create(&threads[t], NULL, ends_at_once, &pairs[t]);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        bad += differ(&pairs[t], t, 1);
        drop(&pairs[t]);
    }
    pthread_key_delete(last_words);
    return bad;
}

/* --- a fork while another thread's call opens the devices --------------------------------------------------------- */

static struct pair forked;
static pthread_t opener;

static void *opens(void *argument)
{
    (void)argument;
    multiply(forked.a, forked.c);
    return NULL;
}

/* Runs before the library's own fork handlers, except for handlers that the call registers. */
static void open_meanwhile(void)
{
    if (pthread_create(&opener, NULL, opens, NULL) == 0)
        pthread_join(opener, NULL);
}

static int forked_early(void)
{
    int status = -1, bad;
    pid_t pid;

    forked = make(9);
    pthread_atfork(open_meanwhile, NULL, NULL);
    pid = fork();
    if (pid == 0) {
        alarm(20);
        bad = differ(&forked, 9, 1);
        _exit(bad + whole_chain(9) != 0);
    }
    bad = pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
    bad += differ(&forked, 9, 1) + chain(&forked, 9);
    drop(&forked);
    return bad;
}

/* --- thread-local arrays ------------------------------------------------------------------------------------------ */

static __thread double local[2 * N]; /* 2 N at most: a small stack holds thread-local arrays, too */

static void *with_local(void *argument)
{
    int first = (int)(intptr_t)argument;
    struct pair p = make(first);
    intptr_t bad = 0;

    for (int i = 0; i < N; i++) {
        memset(local, 0, N * sizeof *local);
        local[i] = i;
        dgemv_("N", &n, &n, &unit, p.a, &n, local, &one, &zero, local + N, &one, 1);
        for (int j = 0; j < N; j++)
            bad += local[N + j] != i * (double)(first + (i * N + j) % 1000);
        dscal_(&n, &minus, local + N, &one);
        bad += local[2 * N - 1] != -i * (double)(first + (i * N + N - 1) % 1000);
    }
    drop(&p);
    return (void *)bad;
}

static int thread_local_arrays(void)
{
    pthread_t threads[THREADS];
    int bad = 0;

    for (intptr_t t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, with_local, (void *)t);
    for (int t = 0; t < THREADS; t++) {
        void *result;

        pthread_join(threads[t], &result);
        bad += (int)(intptr_t)result;
    }
    return bad;
}

/* --- many threads on the same and on different matrices ----------------------------------------------------------- */

static struct pair shared; /* C has a column for each thread and round; every thread reads A */
static int shared_first = 7;

static void *churns(void *argument)
{
    int me = (int)(intptr_t)argument;
    intptr_t bad = 0;

    for (int round = 0; round < 20; round++) {
        int column = (round * THREADS + me) % N;
        double *y = shared.c + column * N;
        struct pair own = make(me);

        dgemv_("N", &n, &n, &unit, shared.a, &n, twice + column * N, &one, &zero, y, &one, 1);
        if (round % 2)
            own.c = realloc(own.c, (COUNT + 1000) * sizeof *own.c);
        multiply(own.a, own.c);
        for (int i = me % 5; i < N; i += 5)
            bad += ((volatile double *)y)[i] != 2.0 * (shared_first + (column * N + i) % 1000);
        bad += differ(&own, me, 101);
        own.c = realloc(own.c, COUNT * sizeof *own.c / 2);
        bad += ((volatile double *)own.c)[COUNT / 2 - 1] != 2.0 * (me + (COUNT / 2 - 1) % 1000);
        drop(&own);
    }
    return (void *)bad;
}

static int churned(void)
{
    pthread_t threads[THREADS];
    int bad = 0;

    shared = make(shared_first);
    memset(shared.c, 0, COUNT * sizeof *shared.c);
    for (intptr_t t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, churns, (void *)t);
    for (int t = 0; t < THREADS; t++) {
        void *result;

        pthread_join(threads[t], &result);
        bad += (int)(intptr_t)result;
    }
    drop(&shared);
    return bad;
}

#ifdef _OPENMP
/* --- OpenMP ------------------------------------------------------------------------------------------------------- */

/* Parallel loops over results, calls in parallel regions, tasks that pass results to later tasks. */
static int openmp(void)
{
    struct pair p = make(8);
    int bad = 0;

    for (int round = 0; round < 5; round++) {
        multiply(p.a, p.c);
#pragma omp parallel for reduction(+ : bad) schedule(static, 100) num_threads(4)
        for (int i = 0; i < COUNT; i++)
            bad += p.c[i] != 2.0 * (8 + i % 1000);
#pragma omp parallel for schedule(dynamic, 333) num_threads(4)
        for (int i = 0; i < COUNT; i++)
            p.c[i] += 1;
#pragma omp parallel for reduction(+ : bad) num_threads(4)
        for (int j = 0; j < N; j++) { /* one call for each column, neighbouring columns at the same time */
            dscal_(&n, &minus, p.c + j * N, &one);
            bad += ((volatile double *)p.c)[j * N] != -2.0 * (8 + j * N % 1000) - 1;
        }
#pragma omp parallel num_threads(4)
#pragma omp single
        for (int t = 0; t < 8; t++) {
#pragma omp task firstprivate(t) shared(bad)
            {
                int wrong = whole_chain(t);
#pragma omp atomic
                bad += wrong;
            }
        }
    }
    drop(&p);
    return bad;
}
#endif

/* ------------------------------------------------------------------------------------------------------------------ */

static const struct kind {
    const char *name;
    int (*run)(void);
} kinds[] = {
    {"small stacks", small_stack},
    {"alternate stacks", alternate_stack},
    {"blocked signals", blocked},
    {"cancelled", cancelled},
    {"cancelled in read", cancelled_in_read},
    {"ended", ended},
    {"forked early", forked_early},
    {"thread-local arrays", thread_local_arrays},
    {"churn", churned},
#ifdef _OPENMP
    {"openmp", openmp},
#endif
};

static bool wanted(const char *name, int argc, char **argv)
{
    return argc < 2 || strcmp(argv[1], name) == 0;
}

int main(int argc, char **argv)
{
    int wrong = 0;

    if (argc > 2)
        smallest = (size_t)atol(argv[2]);

    alarm(600); /* ends the program if a thread hangs */
    twice = calloc(COUNT, sizeof *twice);
    for (int i = 0; i < N; i++)
        twice[i * (N + 1)] = 2;
    open_devices();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (wanted(kinds[k].name, argc, argv)) {
            int bad = kinds[k].run();

            printf("%s: %s\n", kinds[k].name, bad ? "wrong" : "right");
            fflush(stdout);
            wrong += bad != 0;
        }
    free(twice);
    puts(wrong ? "WRONG" : "ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
