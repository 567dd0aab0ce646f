/* A random program of STEPS steps. Threads multiply, scale, add, read, write, allocate, free, grow, do I/O and sparse
 * products. Every thread works on its own arrays, in memory of every kind, and on its part of one shared array. A timer
 * interrupts; children are forked and programs started. Every number is compared with the result of plain loops on a
 * copy. Values are small integers, so sums are exact.
 *
 *     soak SEED STEPS        prints what went wrong, and at the end "ok" or "WRONG" */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "semcache/semcache.h"

#define THREADS 4
#define SLOTS   6
#define MOST    100 /* rows, columns */
#define SHARED  (MOST * MOST)
#define ROOM    ((MOST + 20) * MOST) /* numbers of the largest matrix */

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
void dsyrk_(const char *, const char *, const int *, const int *, const double *, const double *, const int *,
            const double *, double *, const int *, size_t, size_t);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *, size_t);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void dscal_(const int *, const double *, double *, const int *);
double ddot_(const int *, const double *, const int *, const double *, const int *);

static const double unit = 1, zero = 0, minus = -1;
static const int one = 1;
static int steps;

/* Where an array lies; every place except MALLOC has room for any matrix. */
enum place { MALLOC, ALIGNED, MAPPED, MAPPED_SHARED, STATIC, STACK, PLACES };

/* A column-major matrix and its right values; data has ld * cols numbers. */
struct slot {
    double *data, *truth;
    enum place place;
    int rows, cols, ld;
};

struct worker {
    pthread_t thread;
    uint64_t seed;
    int number, wrong;
    struct slot slot[SLOTS];
    double *part, *part_truth; /* the thread's part of the shared array */
    int part_n;
    double (*stack)[ROOM];     /* a place on the stack for each slot */
};
static struct worker workers[THREADS];
static double in_bss[THREADS][SLOTS][ROOM]; /* neighbours share pages */
static double *shared, *shared_truth;

static int below(struct worker *w, int n)
{
    w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n > 0 ? (int)((w->seed >> 33) % (uint64_t)n) : 0;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static int numbers(const struct slot *s) { return s->ld * s->cols; }

static void judge(struct worker *w, bool good, const char *what)
{
    if (!good && w->wrong++ < 3)
        printf("thread %d: %s\n", w->number, what);
}

static void compare(struct worker *w, const double *data, const double *truth, int n, int step, const char *after)
{
    for (int i = 0; i < n; i += step) {
        double seen = ((volatile const double *)data)[i];

        if (seen != truth[i] && w->wrong++ < 3)
            printf("thread %d, %s: element %d of %d at %p is %g, not %g\n", w->number, after, i, n, (const void *)data,
                   seen, truth[i]);
    }
}

static void fill(struct worker *w, struct slot *s)
{
    for (int i = 0; i < numbers(s); i++)
        s->data[i] = s->truth[i] = below(w, 19) - 9;
}

/* A half of the arrays are from malloc. */
static double *room_for(struct worker *w, struct slot *s)
{
    int number = (int)(s - w->slot), kind = below(w, 2 * PLACES);
    size_t bytes = sizeof *s->data * ROOM;
    void *map;

    s->place = kind < PLACES ? (enum place)kind : MALLOC;
    switch (s->place) {
    case MALLOC: return malloc(sizeof *s->data * (size_t)numbers(s));
    case ALIGNED: return aligned_alloc((size_t)64 << below(w, 10), (bytes + 65535) / 65536 * 65536);
    case STATIC: return in_bss[w->number][number];
    case STACK: return w->stack[number];
    default:
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_ANONYMOUS | (s->place == MAPPED ? MAP_PRIVATE : MAP_SHARED), -1, 0);
        return map == MAP_FAILED ? NULL : map;
    }
}

static void make(struct worker *w, struct slot *s)
{
    s->rows = 1 + below(w, MOST);
    s->cols = 1 + below(w, MOST);
    s->ld = s->rows + (below(w, 3) ? 0 : below(w, 20));
    s->data = room_for(w, s);
    s->truth = malloc(sizeof *s->truth * (size_t)numbers(s));
    if (!s->data || !s->truth)
        abort();
    fill(w, s);
}

static void drop(struct slot *s)
{
    if (s->place == MALLOC || s->place == ALIGNED)
        free(s->data);
    else if (s->place == MAPPED || s->place == MAPPED_SHARED)
        munmap(s->data, sizeof *s->data * ROOM);
    free(s->truth);
}

/* Refills the array before its values grow out of the exact range. */
static void tame(struct worker *w, struct slot *s)
{
    for (int i = 0; i < numbers(s); i++)
        if (s->truth[i] > 1e5 || s->truth[i] < -1e5) {
            fill(w, s);
            return;
        }
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static int least(int a, int b) { return a < b ? a : b; }

static void multiply(struct worker *w, struct slot *a, struct slot *b, struct slot *c)
{
    int m = least(a->rows, c->rows), n = least(b->cols, c->cols), k = least(a->cols, b->rows);
    const double *beta = below(w, 2) ? &unit : &zero;

    tame(w, a), tame(w, b);
    if (a == c || b == c)
        return;
    dgemm_("N", "N", &m, &n, &k, &unit, a->data, &a->ld, b->data, &b->ld, beta, c->data, &c->ld, 1, 1);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = *beta * c->truth[i + j * c->ld];

            for (int l = 0; l < k; l++)
                sum += a->truth[i + l * a->ld] * b->truth[l + j * b->ld];
            c->truth[i + j * c->ld] = sum;
        }
}

static void square(struct worker *w, struct slot *a, struct slot *c)
{
    int n = least(a->rows, least(c->rows, c->cols)), k = a->cols;

    tame(w, a);
    if (a == c)
        return;
    dsyrk_("L", "N", &n, &k, &unit, a->data, &a->ld, &unit, c->data, &c->ld, 1, 1);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            for (int l = 0; l < k; l++)
                c->truth[i + j * c->ld] += a->truth[i + l * a->ld] * a->truth[j + l * a->ld];
}

static void times_vector(struct worker *w, struct slot *a, struct slot *x, struct slot *y)
{
    int n = least(a->cols, numbers(x)), m = least(a->rows, numbers(y));

    tame(w, a), tame(w, x);
    if (x == y || a == y)
        return;
    dgemv_("N", &m, &n, &minus, a->data, &a->ld, x->data, &one, &unit, y->data, &one, 1);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y->truth[i] -= a->truth[i + j * a->ld] * x->truth[j];
}

static void vectors(struct worker *w, struct slot *x, struct slot *y)
{
    int step = below(w, 3) ? 1 : 1 + below(w, 9), n = (least(numbers(x), numbers(y)) - 1) / step + 1;
    double dot = 0;

    tame(w, x), tame(w, y);
    if (x == y || below(w, 3) == 0) {
        dscal_(&n, &minus, y->data, &step);
        for (int i = 0; i < n; i++)
            y->truth[i * step] *= -1;
    } else if (below(w, 2)) {
        daxpy_(&n, &minus, x->data, &step, y->data, &step);
        for (int i = 0; i < n; i++)
            y->truth[i * step] -= x->truth[i * step];
    } else {
        for (int i = 0; i < n; i++)
            dot += x->truth[i * step] * y->truth[i * step];
        judge(w, ddot_(&n, x->data, &step, y->data, &step) == dot, "a dot product");
    }
}

/* Works on the thread's part of the shared array; the pages are shared with the parts of other threads. */
static void part(struct worker *w)
{
    int first = below(w, w->part_n), n = 1 + below(w, w->part_n - first);

    dscal_(&n, &minus, w->part + first, &one);
    for (int i = first; i < first + n; i++)
        w->part_truth[i] *= -1;
    w->part[first] = w->part_truth[first] = below(w, 100);
    compare(w, w->part, w->part_truth, w->part_n, 1 + below(w, 50), "shared array");
}

/* --- a sparse matrix that all multiply with ----------------------------------------------------------------------- */

#define SPARSE 3000

static struct {
    int rows[SPARSE + 1], columns[3 * SPARSE];
} plan;
static double *sparse_values;
static int *sparse_rows, *sparse_columns;
static struct semcache_sparse *sparse;
static __typeof__(semcache_sparse_mv) *sparse_mv; /* NULL: not under semcache */

static void sparse_start(void)
{
    __typeof__(semcache_sparse_csr) *csr = (__typeof__(csr))dlsym(RTLD_DEFAULT, "semcache_sparse_csr");
    int count = 0;

    sparse_values = malloc(3 * SPARSE * sizeof *sparse_values);
    sparse_rows = malloc(sizeof plan.rows);
    sparse_columns = malloc(sizeof plan.columns);
    for (int i = 0; i < SPARSE; i++) {
        plan.rows[i] = count;
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < SPARSE) {
                plan.columns[count] = j;
                sparse_values[count++] = i == j ? 2 : i < j ? -1 : 3;
            }
    }
    plan.rows[SPARSE] = count;
    memcpy(sparse_rows, plan.rows, sizeof plan.rows);
    memcpy(sparse_columns, plan.columns, sizeof plan.columns);
    if (csr && csr(&sparse, SPARSE, SPARSE, sparse_rows, sparse_columns, sparse_values, SEMCACHE_FLOAT64, 4, 0) ==
                   SEMCACHE_OK)
        sparse_mv = (__typeof__(sparse_mv))dlsym(RTLD_DEFAULT, "semcache_sparse_mv");
}

/* y := A x + beta y, or A^T x + beta y. */
static void sparse_product(struct worker *w, struct slot *x, struct slot *y)
{
    bool transposed = below(w, 3) == 0;
    const double *beta = below(w, 2) ? &unit : &zero;
    int before = transposed ? -1 : 3, after = transposed ? 3 : -1;

    if (!sparse_mv || x == y || numbers(x) < SPARSE || numbers(y) < SPARSE)
        return;
    tame(w, x), tame(w, y);
    judge(w, sparse_mv(sparse, transposed ? 'T' : 'N', &unit, x->data, beta, y->data) == SEMCACHE_OK,
          "a sparse product's status");
    for (int i = 0; i < SPARSE; i++)
        y->truth[i] = *beta * y->truth[i] + 2 * x->truth[i] + (i ? before * x->truth[i - 1] : 0) +
                      (i < SPARSE - 1 ? after * x->truth[i + 1] : 0);
}

/* --- the CPU, memory, the kernel ---------------------------------------------------------------------------------- */

static void write_some(struct worker *w, struct slot *s)
{
    int first = below(w, numbers(s)), step = 1 + below(w, 700);

    for (int i = first; i < numbers(s); i += step)
        s->data[i] = s->truth[i] = below(w, 100);
}

static void grow(struct worker *w, struct slot *s)
{
    int cols = 1 + below(w, MOST), kept = least(cols, s->cols) * s->ld;

    s->cols = cols;
    if (s->place == MALLOC)
        s->data = realloc(s->data, sizeof *s->data * (size_t)numbers(s));
    s->truth = realloc(s->truth, sizeof *s->truth * (size_t)numbers(s));
    if (!s->data || !s->truth)
        abort();
    for (int i = kept; i < numbers(s); i++)
        s->data[i] = s->truth[i] = below(w, 10);
}

/* Writes one array to a file, and reads the file into a second array. */
static void through_file(struct worker *w, struct slot *from, struct slot *to)
{
    size_t bytes = sizeof(double) * (size_t)least(numbers(from), numbers(to));
    int file = memfd_create("soak", 0);

    if (file < 0)
        return;
    judge(w, write(file, from->data, bytes) == (ssize_t)bytes, "write");
    judge(w, pread(file, to->data, bytes, 0) == (ssize_t)bytes, "pread");
    memmove(to->truth, from->truth, bytes);
    close(file);
}

static void move(struct slot *from, struct slot *to)
{
    size_t bytes = sizeof(double) * (size_t)least(numbers(from), numbers(to));

    memmove(to->data, from->data, bytes);
    memmove(to->truth, from->truth, bytes);
}

/* A child finds every array as at the fork, and computes by itself, except in mappings shared with the parent. */
static void child(struct worker *w)
{
    bool shares = false;
    int status = 0;
    pid_t pid;

    for (int i = 0; i < 3; i++)
        shares |= w->slot[i].place == MAPPED_SHARED;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        w->wrong = 0;
        for (int i = 0; i < SLOTS; i++)
            compare(w, w->slot[i].data, w->slot[i].truth, numbers(&w->slot[i]), 1, "in a child");
        if (!shares)
            multiply(w, &w->slot[0], &w->slot[1], &w->slot[2]);
        compare(w, w->slot[2].data, w->slot[2].truth, numbers(&w->slot[2]), 1, "computed in a child");
        fflush(stdout);
        _exit(w->wrong != 0);
    }
    judge(w, pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "a child");
}

/* Starts a program by vfork, without a fork handler, while calls of other threads go on. */
static void program(struct worker *w)
{
    char *const words[] = {(char[]){"true"}, NULL}, *const nothing[] = {NULL};
    int status = 1;
    pid_t pid;

    judge(w, posix_spawnp(&pid, "true", NULL, NULL, words, nothing) == 0 && waitpid(pid, &status, 0) == pid &&
                 status == 0, "a program");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void step(struct worker *w)
{
    struct slot *a = &w->slot[below(w, SLOTS)], *b = &w->slot[below(w, SLOTS)], *c = &w->slot[below(w, SLOTS)];

    switch (below(w, 20)) {
    case 0:
    case 1:
    case 2: multiply(w, a, b, c); break;
    case 3: square(w, a, c); break;
    case 4:
    case 5: times_vector(w, a, b, c); break;
    case 6:
    case 7:
    case 8: vectors(w, a, b); break;
    case 9:
    case 10: part(w); break;
    case 11: sparse_product(w, a, b); break;
    case 12: write_some(w, a); break;
    case 13: through_file(w, a, b); break;
    case 14: move(a, b); break;
    case 15: grow(w, a); break;
    case 16:
        compare(w, a->data, a->truth, numbers(a), 1, "before free");
        drop(a);
        make(w, a);
        break;
    case 17:
        if (below(w, 20) == 0)
            child(w);
        else if (below(w, 20) == 0)
            program(w);
        break;
    default: compare(w, b->data, b->truth, numbers(b), 1 + below(w, 900), "read");
    }
}

static void *work(void *argument)
{
    struct worker *w = argument;
    double stack[SLOTS][ROOM];

    w->stack = stack;
    for (int i = 0; i < SLOTS; i++)
        make(w, &w->slot[i]);
    for (int i = 0; i < steps && !w->wrong; i++)
        step(w);
    for (int i = 0; i < SLOTS; i++) {
        compare(w, w->slot[i].data, w->slot[i].truth, numbers(&w->slot[i]), 1, "at the end");
        drop(&w->slot[i]);
    }
    compare(w, w->part, w->part_truth, w->part_n, 1, "shared array, at the end");
    w->stack = NULL;
    return NULL;
}

static void tick(int sig) { (void)sig; }

static void start_timer(void)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 3000}, {0, 3000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int wrong = 0;

    steps = argc > 2 ? atoi(argv[2]) : 300;
    shared = malloc(SHARED * sizeof *shared);
    shared_truth = malloc(SHARED * sizeof *shared_truth);
    for (int i = 0; i < SHARED; i++)
        shared[i] = shared_truth[i] = i % 100;
    sparse_start();
    start_timer();
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (struct worker){.number = t, .seed = seed * 1000 + (uint64_t)t, .part_n = SHARED / THREADS,
                                     .part = shared + t * (SHARED / THREADS),
                                     .part_truth = shared_truth + t * (SHARED / THREADS)};
        if (pthread_create(&workers[t].thread, NULL, work, &workers[t]))
            return 2;
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        wrong += workers[t].wrong;
    }
    free(shared);
    free(shared_truth);
    puts(wrong ? "WRONG" : "ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
