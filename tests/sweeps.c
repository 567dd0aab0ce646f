/* SPDX-License-Identifier: BSD-2-Clause */
/* Transpositions made of copies of single vectors, as in NumPy's linear algebra: complete, interrupted at every kind
 * of moment, and beside other threads.  Every result is compared with the copies by definition.  Linked with semcache
 * only; sweeps.t runs the program on the host and on devices. */
#include <complex.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

enum { MOST = 340 };

#define NAMES(t)                                                                                                      \
    void t##copy_(const int *n, const void *x, const int *incx, void *y, const int *incy);                            \
    void cblas_##t##copy(int n, const void *x, int incx, void *y, int incy);                                          \
    void t##copy_64_(const int64_t *n, const void *x, const int64_t *incx, void *y, const int64_t *incy);
NAMES(s)
NAMES(d)
NAMES(c)
NAMES(z)
double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
void dscal_(const int *n, const double *alpha, double *x, const int *incx);

static const size_t bytes_of[] = {4, 8, 8, 16};

static void copy(int type, int interface, int n, const void *x, int incx, void *y, int incy)
{
    static void (*const f77[])(const int *, const void *, const int *, void *, const int *) = {scopy_, dcopy_, ccopy_,
                                                                                                zcopy_};
    static void (*const cblas[])(int, const void *, int, void *, int) = {cblas_scopy, cblas_dcopy, cblas_ccopy,
                                                                         cblas_zcopy};
    static void (*const f77_64[])(const int64_t *, const void *, const int64_t *, void *,
                                  const int64_t *) = {scopy_64_, dcopy_64_, ccopy_64_, zcopy_64_};
    int64_t wide[3] = {n, incx, incy};

    if (interface == 0)
        f77[type](&n, x, &incx, y, &incy);
    else if (interface == 1)
        cblas[type](n, x, incx, y, incy);
    else
        f77_64[type](&wide[0], x, &wide[1], y, &wide[2]);
}

/* --- one transposition -------------------------------------------------------------------------------------------- */

/* gather: x is a matrix of `steps` rows and n columns, by columns x_ld elements apart, and becomes columns of y, y_ld
 * apart.  Otherwise columns of x become rows of y. */
struct sweep {
    int type, interface, n, steps, x_ld, y_ld;
    bool gather;
    size_t bytes, x_bytes, y_bytes;
    char *x, *y;           /* of the program */
    char *right_x, *right; /* what they must be */
};

static unsigned seed = 1;
static void fill(char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1103515245u + 12345u;
        p[i] = (char)(seed >> 16 & 0x3f); /* floating-point numbers of any bits are moved unchanged */
    }
}

/* Memory outside of the arena. */
static char *own(size_t bytes) { return memset(calloc(1, bytes + 1), 0, 1); }

static struct sweep make(int type, int interface, bool gather, int n, int steps, int pad)
{
    struct sweep s = {.type = type, .interface = interface, .n = n, .steps = steps, .gather = gather,
                      .bytes = bytes_of[type], .x_ld = (gather ? steps : n) + pad, .y_ld = (gather ? n : steps) + pad};

    s.x_bytes = (size_t)s.x_ld * (size_t)(gather ? n : steps) * s.bytes;
    s.y_bytes = (size_t)s.y_ld * (size_t)(gather ? steps : n) * s.bytes;
    s.x = malloc(s.x_bytes);
    s.y = malloc(s.y_bytes);
    s.right_x = own(s.x_bytes);
    s.right = own(s.y_bytes);
    fill(s.right_x, s.x_bytes);
    fill(s.right, s.y_bytes);
    memcpy(s.x, s.right_x, s.x_bytes);
    memcpy(s.y, s.right, s.y_bytes);
    return s;
}

static void destroy(struct sweep *s)
{
    free(s->x);
    free(s->y);
    free(s->right_x);
    free(s->right);
}

static size_t x_at(const struct sweep *s, int step, int i)
{
    return ((size_t)(s->gather ? i : step) * (size_t)s->x_ld + (size_t)(s->gather ? step : i)) * s->bytes;
}
static size_t y_at(const struct sweep *s, int step, int i)
{
    return ((size_t)(s->gather ? step : i) * (size_t)s->y_ld + (size_t)(s->gather ? i : step)) * s->bytes;
}

/* Steps [from, end), in the program's memory and in the memory that says what is right. */
static void go(const struct sweep *s, int from, int end)
{
    for (int k = from; k < end; k++) {
        copy(s->type, s->interface, s->n, s->x + x_at(s, k, 0), s->gather ? s->x_ld : 1, s->y + y_at(s, k, 0),
             s->gather ? 1 : s->y_ld);
        for (int i = 0; i < s->n; i++)
            memcpy(s->right + y_at(s, k, i), s->right_x + x_at(s, k, i), s->bytes);
    }
}

/* The program's loads, which fault. */
static bool is_right(const struct sweep *s)
{
    volatile const char *x = s->x, *y = s->y;
    bool same = true;

    for (size_t i = 0; i < s->y_bytes && same; i++)
        same = y[i] == s->right[i];
    for (size_t i = 0; i < s->x_bytes && same; i++)
        same = x[i] == s->right_x[i];
    return same;
}

/* The program's store. */
static void poke(char *p, char *right, size_t at, char value)
{
    ((volatile char *)p)[at] = value;
    right[at] = value;
}

/* --- what may come between ---------------------------------------------------------------------------------------- */

typedef void between(struct sweep *s, int done);

static void nothing(struct sweep *s, int done) { (void)s, (void)done; }
static void read_result(struct sweep *s, int done)
{
    tap_ok(((volatile char *)s->y)[y_at(s, done - 1, 0)] == s->right[y_at(s, done - 1, 0)] && is_right(s), "  read");
}
static void read_rest(struct sweep *s, int done)
{
    size_t at = y_at(s, done < s->steps ? done : 0, s->n / 2);

    tap_ok(((volatile char *)s->y)[at] == s->right[at], "  an element that was not copied yet has its old value");
}
static void read_source(struct sweep *s, int done)
{
    size_t at = x_at(s, done - 1, 1);

    tap_ok(((volatile char *)s->x)[at] == s->right_x[at], "  source read");
}
static void write_source(struct sweep *s, int done)
{
    poke(s->x, s->right_x, x_at(s, done < s->steps ? done : 0, 3), 77);
    poke(s->x, s->right_x, x_at(s, 0, 3), 78);
}
static void write_result(struct sweep *s, int done)
{
    poke(s->y, s->right, y_at(s, s->steps - 1, 2), 79);
    poke(s->y, s->right, y_at(s, done / 2, 2), 80);
}
static void write_copied(struct sweep *s, int done)
{
    (void)done;
    poke(s->y, s->right, y_at(s, 2, 1), 81);
}
static void read_from_file(struct sweep *s, int done)
{
    int file = open("/dev/zero", O_RDONLY);

    (void)done;
    tap_ok(file >= 0 && read(file, s->x, s->x_bytes / 2) == (ssize_t)(s->x_bytes / 2), "  a system call writes there");
    memset(s->right_x, 0, s->x_bytes / 2);
    close(file);
}
static void acquire(struct sweep *s, int done)
{
    (void)done;
    semcache_acquire(s->y, s->y_bytes, SEMCACHE_READ);
    tap_ok(is_right(s), "  acquired");
}
static void compute(struct sweep *s, int done) /* type d */
{
    const int n = s->n / 2, one = 1;
    double sum = 0, *right = (double *)(void *)s->right;

    (void)done;
    for (int i = 0; i < n; i++)
        sum += right[i] * right[i];
    double got = ddot_(&n, (double *)(void *)s->y, &one, (double *)(void *)s->y, &one);
    tap_ok(got - sum <= 1e-10 * sum && sum - got <= 1e-10 * sum, "  another call reads the result");
}
static void scale(struct sweep *s, int done) /* type d */
{
    const int n = s->n, one = 1;
    const double two = 2;

    dscal_(&n, &two, (double *)(void *)(s->x + (s->gather ? 0 : x_at(s, done % s->steps, 0))), &one);
    for (int i = 0; i < n; i++)
        ((double *)(void *)(s->right_x + (s->gather ? 0 : x_at(s, done % s->steps, 0))))[i] *= 2;
}
static void fork_here(struct sweep *s, int done)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        bool same = is_right(s);

        go(s, done, s->steps);
        _exit(!(same && is_right(s)));
    }
    tap_ok(child > 0 && waitpid(child, &status, 0) == child && status == 0, "  a child sees the same and goes on");
}
static void *look(void *sweep) { return (void *)(uintptr_t)is_right(sweep); }
static void other_thread(struct sweep *s, int done)
{
    pthread_t thread;
    void *same = NULL;

    (void)done;
    tap_ok(pthread_create(&thread, NULL, look, s) == 0 && pthread_join(thread, &same) == 0 && same,
           "  another thread sees the same");
}
static void other_shape(struct sweep *s, int done)
{
    char *x = malloc(64 * s->bytes), *y = malloc(64 * s->bytes);

    (void)done;
    memset(x, 1, 64 * s->bytes);
    for (int i = 0; i < 3; i++)
        copy(s->type, s->interface, 60, x, 1, y, 1);
    tap_ok(memcmp(x, y, 60 * s->bytes) == 0, "  copies of another shape");
    free(x);
    free(y);
}
static void release(struct sweep *s, int done)
{
    (void)done;
    free(s->y);
    s->y = malloc(s->y_bytes);
    memcpy(s->y, s->right, s->y_bytes);
}
static void resize(struct sweep *s, int done)
{
    (void)done;
    s->y = realloc(s->y, s->y_bytes + 100000);
}

static struct sweep interrupted;
static timer_t timer;
static volatile sig_atomic_t ticks; /* still to come */
static void on_signal(int signal)
{
    struct sweep *s = &interrupted;

    (void)signal;
    for (int k = 0; k < 12; k++)
        copy(s->type, s->interface, s->n, s->x + x_at(s, k, 0), s->gather ? s->x_ld : 1, s->y + y_at(s, k, 0),
             s->gather ? 1 : s->y_ld);
    if (ticks > 0 && --ticks > 0)
        timer_settime(timer, 0, &(struct itimerspec){.it_value = {0, 300000}}, NULL);
}
static void in_handler(struct sweep *s, int done)
{
    (void)s, (void)done;
    raise(SIGUSR1);
}

static const struct {
    const char *name;
    between *act;
    bool real; /* for type d only */
} acts[] = {
    {"nothing", nothing, false}, {"a read of the result", read_result, false},
    {"a read of what comes next", read_rest, false}, {"a read of the source", read_source, false},
    {"a write to the source", write_source, false}, {"a write to the result", write_result, false},
    {"a write to what was copied", write_copied, false}, {"a system call", read_from_file, false},
    {"an acquisition", acquire, false}, {"a product", compute, true}, {"a scaling of the source", scale, true},
    {"a fork", fork_here, false}, {"another thread", other_thread, false}, {"other copies", other_shape, false},
    {"a free", release, false}, {"a realloc", resize, false}, {"copies in a signal handler", in_handler, false},
};
enum { ACTS = sizeof acts / sizeof *acts };

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* A whole matrix: the next interrupted sweep is begun on a device again. */
static void complete(void)
{
    struct sweep s = make(1, 0, true, 100, 100, 0);

    go(&s, 0, s.steps);
    destroy(&s);
}

static void test(int type, int interface, bool gather, int n, int steps, int pad, int at, int act, bool on)
{
    struct sweep s = make(type, interface, gather, n, steps, pad);

    complete();
    go(&s, 0, at);
    acts[act].act(&s, at);
    if (on)
        go(&s, at, steps);
    tap_ok(is_right(&s), "type %c, %s, n = %d, %d of %d steps, pad %d, then %s%s", "sdcz"[type],
           gather ? "gather" : "scatter", n, at, steps, pad, acts[act].name, on ? ", then the rest" : "");
    destroy(&s);
}

static void *sweeps_of_thread(void *number)
{
    bool right = true;

    for (int round = 0; round < 6; round++) {
        struct sweep s = make(1, 0, (round + (int)(uintptr_t)number) % 2, 200, 190, 0);

        go(&s, 0, s.steps - round % 3);
        right = right && is_right(&s);
        destroy(&s);
    }
    return (void *)(uintptr_t)right;
}

static void test_threads(void)
{
    pthread_t thread[3];
    bool right = true;

    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, sweeps_of_thread, (void *)(uintptr_t)i);
    for (int i = 0; i < 3; i++) {
        void *same = NULL;

        pthread_join(thread[i], &same);
        right = right && same;
    }
    tap_ok(right, "three threads");
}

/* A signal at any moment of many sweeps. */
static void test_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    bool right = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;

    ticks = 300;
    timer_settime(timer, 0, &(struct itimerspec){.it_value = {0, 300000}}, NULL);
    for (int round = 0; round < 8 && right; round++) {
        struct sweep s = make(1, 0, round % 2, 200, 190, 0);

        go(&s, 0, s.steps);
        right = is_right(&s);
        destroy(&s);
    }
    ticks = 0;
    timer_delete(timer);
    tap_ok(right, "copies of a signal handler at any moment");
}

/* x is long: the first copies find a block of memory that they cut into strips of columns. */
static void test_strips(void)
{
    enum { TIMES = 5 };
    bool right = true;

    for (int t = 0; t < TIMES; t++) {
        struct sweep s = make(1, 0, true, 9000, 100, 0);

        go(&s, 0, s.steps);
        right = right && is_right(&s);
        destroy(&s);
    }
    tap_ok(right, "%d long matrices transposed", TIMES);
}

/* The first calls of the process, in blocks with room behind the matrices. */
static void test_first(void)
{
    struct sweep s = make(1, 0, true, 400, 400, 0);
    size_t room = 8 * (size_t)s.y_ld * s.bytes;
    char *x = malloc(s.x_bytes + room), *y = malloc(s.y_bytes + room);

    memcpy(x, s.x, s.x_bytes);
    memcpy(y, s.y, s.y_bytes);
    free(s.x), free(s.y);
    s.x = x, s.y = y;
    go(&s, 0, s.steps);
    tap_ok(is_right(&s), "the first calls of the process are a transposition");
    destroy(&s);
}

/* The program reads and rewrites the result after each of several interrupted transpositions: in the same memory, or in
 * new memory each time.  Results that a program touches so may keep their pages open, but not those of a
 * speculation. */
static void test_habit(bool in_new_memory)
{
    enum { N = 1100 };
    struct sweep s = make(1, 0, true, N, N, 0);
    int wrong = 0;

    for (int round = 0; round < 6; round++) {
        if (in_new_memory && round) {
            destroy(&s);
            s = make(1, 0, true, N, N, 0);
        }
        fill(s.right, s.y_bytes);
        memcpy(s.y, s.right, s.y_bytes);
        go(&s, 0, N / 2);
        wrong += !is_right(&s);
    }
    tap_ok(!wrong, "interrupted in %s memory, touched each time (%d wrong)", in_new_memory ? "new" : "the same", wrong);
    destroy(&s);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "first")) {
        test_first();
        tap_done();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "strips")) {
        test_strips();
        tap_done();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "habit")) {
        test_habit(false);
        test_habit(true);
        tap_done();
        return 0;
    }
    interrupted = make(1, 0, true, 120, 110, 0);
    signal(SIGUSR1, on_signal);
    for (int type = 0; type < 4; type++)
        for (int gather = 0; gather < 2; gather++)
            for (int pad = 0; pad < 2; pad++)
                test(type, (type + gather + pad) % 3, gather, 150 + type, MOST - 30 * type, 5 * pad, MOST - 30 * type,
                     0, false);
    for (int act = 0; act < ACTS; act++)
        for (int gather = 0; gather < 2; gather++)
            for (int on = 0; on < 2; on++)
                for (int at = 5; at <= 200; at = 2 * at + 7) /* before, soon after the beginning, in the middle, late */
                    test(acts[act].real ? 1 : act % 4, act % 3, gather, 210, 200, act % 2, at < 180 ? at : 199, act,
                         on);
    test_threads();
    test_timer();
    tap_done();
    return 0;
}
