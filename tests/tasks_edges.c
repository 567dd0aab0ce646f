/* Tasks and tokens at the edges of a process (semcache/tasks.h).  Argument: the edge.
 *   fork     children while a token is held and while another thread runs tasks
 *   exec     a new program in the place of a program with a token and with tasks under way
 *   signals  a timer's handler that touches the arrays, and one that jumps out of the calls
 *   memory   no address space for more copies, and more tokens than there are
 *   cancel   threads are cancelled in tasks and tokens, at once and at cancellation points
 *   loss     a device that fails: a result is right, or a call says so
 * Started by tasks_edges.t under `semcache run`. */
#include <config.h> /* GNU extensions: vfork */

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "semcache/tasks.h"
#include "tests/tap.h"

enum { N = 30000, STEPS = 200 };

static int devices;

/* v += 1 */
static void increment(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    for (int64_t i = 0; i < v->rows; i++)
        ((double *)v->memory)[i] += 1;
    (void)place, (void)count, (void)arguments;
}

static double *array_of(double value)
{
    double *a = semcache_alloc(N * sizeof *a);

    for (int i = 0; a && i < N; i++)
        a[i] = value;
    return a;
}

static struct semcache_region region_of(double *a)
{
    struct semcache_region r;

    semcache_region_1d(&r, a, SEMCACHE_FLOAT64, N);
    return r;
}

static enum semcache_status add_one(double *a, int device)
{
    struct semcache_region r = region_of(a);
    struct semcache_operand operand = {&r, SEMCACHE_READWRITE};
    struct semcache_task task = {.size = sizeof task, .kernel = increment, .host = increment, .operands = &operand,
                                 .count = 1, .device = device};

    return semcache_run(&task, NULL);
}

static enum semcache_status hold(double *a, int device, struct semcache_token *token)
{
    struct semcache_region r = region_of(a);
    struct semcache_operand operand = {&r, SEMCACHE_READWRITE};

    token->size = sizeof *token;
    return semcache_token_acquire(&operand, 1, device, token);
}

static void add_in(const struct semcache_token *token)
{
    increment(&token->place, token->views, 1, NULL);
}

/* Number of elements that differ from the first. */
static int uneven(const double *a)
{
    int n = 0;

    for (int i = 0; i < N; i++)
        n += ((const volatile double *)a)[i] != a[0];
    return n;
}

static bool is_all(const double *a, double value) { return a[0] == value && uneven(a) == 0; }

/* --- fork --------------------------------------------------------------------------------------------------------- */

static double *busy_array;
static bool stop;

static void *run_busily(void *done)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        *(long *)done += add_one(busy_array, SEMCACHE_ANY_DEVICE) == SEMCACHE_OK;
    return NULL;
}

/* Bits of what went wrong in a child: the token ends, arrays are whole, tasks run on the host. */
static int in_child(double *held, struct semcache_token *token, double *other)
{
    enum semcache_status released = semcache_token_release(token);
    int wrong = 0, ran;
    double *own = array_of(5);

    wrong |= (released != SEMCACHE_OK && released != SEMCACHE_ERROR_DEVICE) || token->id;
    wrong |= 2 * (uneven(held) != 0 || held[0] != (released == SEMCACHE_OK ? 2 : 1));
    wrong |= 4 * (add_one(other, SEMCACHE_ANY_DEVICE) != SEMCACHE_OK || !is_all(other, 8));
    wrong |= 8 * (hold(own, 0, token) != SEMCACHE_OK);
    ran = token->place.device;
    add_in(token);
    wrong |= 16 * (semcache_token_release(token) != SEMCACHE_OK || !is_all(own, 6));
    wrong |= 32 * (ran != SEMCACHE_HOST);
    return wrong;
}

static void test_fork(void)
{
    enum { CHILDREN = 5 };
    double *held = array_of(1), *other = array_of(6);
    struct semcache_token token;
    pthread_t thread;
    long done = 0;
    int wrong = 0;

    busy_array = array_of(0);
    tap_ok(hold(held, 0, &token) == SEMCACHE_OK, "a token is held");
    add_in(&token);
    add_one(other, SEMCACHE_ANY_DEVICE);
    pthread_create(&thread, NULL, run_busily, &done);
    for (int c = 0; c < CHILDREN; c++) {
        int status = -1;
        pid_t child = fork();

        if (child == 0) {
            alarm(30); /* a child that waits for ever is ended, and seen */
            _exit(in_child(held, &token, other));
        }
        waitpid(child, &status, 0);
        wrong |= WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    tap_ok(wrong == 0, "children end their token, and run tasks and tokens on the host (%d)", wrong);
    tap_ok(semcache_token_release(&token) == SEMCACHE_OK && is_all(held, 2), "the parent's token is released");
    tap_ok(done > 0 && is_all(busy_array, (double)done), "the parent's %ld tasks counted right", done);
    tap_ok(is_all(other, 7), "an array is as the parent left it");
}

/* --- exec --------------------------------------------------------------------------------------------------------- */

static void test_exec(const char *self)
{
    double *a = array_of(1), *b = array_of(0);
    struct semcache_token token;
    int status = -1;
    pid_t child;

    tap_ok(hold(a, 0, &token) == SEMCACHE_OK, "a token is held");
    add_in(&token);
    child = vfork();
    if (child == 0) {
        execl(self, self, "signals", NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child that executes another program runs tasks there");
    for (int i = 0; i < STEPS; i++)
        add_one(b, SEMCACHE_ANY_DEVICE);
    tap_ok(is_all(b, STEPS) && semcache_token_release(&token) == SEMCACHE_OK && is_all(a, 2), "the parent goes on");
    tap_ok(hold(a, 0, &token) == SEMCACHE_OK, "a token is held at the end");
    for (int i = 0; i < STEPS; i++)
        add_one(b, SEMCACHE_ANY_DEVICE);
    execl(self, self, "again", NULL);
    tap_ok(false, "execl");
}

static void test_again(void)
{
    double *a = array_of(0);

    tap_count_ = 4; /* the program before */
    tap_ok(add_one(a, SEMCACHE_ANY_DEVICE) == SEMCACHE_OK && is_all(a, 1), "a task after exec");
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

static double *touched;
static volatile sig_atomic_t alarms;
static sigjmp_buf out;
static volatile sig_atomic_t may_jump, jumps;

static void touch(int number)
{
    ((volatile double *)touched)[alarms++ % N] = 3; /* as before */
    (void)number;
}

static void jump(int number)
{
    alarms++;
    if (!may_jump)
        return;
    jumps++;
    siglongjmp(out, 1);
    (void)number;
}

static void every_ms(void (*handler)(int), int us)
{
    struct sigaction action = {.sa_handler = handler};
    struct itimerval timer = {{0, us}, {0, us}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void test_signals(void)
{
    double *a = array_of(0), expected = 0;
    int wrong = 0, torn = 0;

    touched = array_of(3);
    every_ms(touch, 1000);
    for (int s = 0; s < STEPS || alarms < 20; s++) {
        struct semcache_token token;
        struct semcache_region r = region_of(touched);

        wrong += add_one(a, SEMCACHE_ANY_DEVICE) != SEMCACHE_OK || hold(a, SEMCACHE_ANY_DEVICE, &token) != SEMCACHE_OK;
        add_in(&token);
        wrong += semcache_token_release(&token) != SEMCACHE_OK;
        if (s % 8 == 0)
            semcache_region_prefetch(&r, SEMCACHE_ANY_DEVICE);
        expected += 2;
        wrong += ((volatile double *)a)[s * 37 % N] != expected;
    }
    wrong += uneven(a) || !is_all(touched, 3);
    tap_ok(wrong == 0, "tasks and tokens under a handler that touches arrays (%d signals)", (int)alarms);

    every_ms(jump, 700);
    for (volatile int s = 0; devices && (s < STEPS || jumps < 10); s++) {
        static struct semcache_token token;

        token.id = 0;
        if (sigsetjmp(out, 1) == 0) {
            may_jump = 1;
            add_one(a, 0);
            hold(touched, 0, &token);
            may_jump = 0;
        } else {
            may_jump = 0;
        }
        torn += uneven(a) != 0;
        if (token.id)
            wrong += semcache_token_cancel(&token) != SEMCACHE_OK;
    }
    every_ms(jump, 0);
    tap_ok(torn == 0 && wrong == 0, "a handler jumped %d times out of them: each ran as a whole, or not at all",
           (int)jumps);
    expected = a[0];
    tap_ok(add_one(a, SEMCACHE_ANY_DEVICE) == SEMCACHE_OK && is_all(a, expected + 1) && is_all(touched, 3),
           "then a task runs");
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void test_memory(void)
{
    enum { MANY = 1100 };
    static struct semcache_token token[MANY];
    struct semcache_range range[2] = {{0, N / 2}, {N / 2 + 1, N / 3}};
    double *a = array_of(1), *own = array_of(1);
    struct semcache_region r;
    struct semcache_operand operand = {&r, SEMCACHE_READ};
    struct rlimit limit, before;
    int held = 0, wrong = 0;

    semcache_region_ranges(&r, a, SEMCACHE_FLOAT64, range, 2);
    add_one(a, SEMCACHE_ANY_DEVICE);
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = address_space() + (64 << 20); /* the stack of a thread that starts meanwhile, and copies */
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < MANY; i++) {
        enum semcache_status status;

        token[i].size = sizeof token[i];
        status = semcache_token_acquire(&operand, 1, i % 2 ? SEMCACHE_HOST : SEMCACHE_ANY_DEVICE, &token[i]);
        wrong += status != SEMCACHE_OK && status != SEMCACHE_ERROR_MEMORY;
        held += status == SEMCACHE_OK;
        wrong += (status == SEMCACHE_OK) != (token[i].id != 0);
        wrong += status == SEMCACHE_OK && ((double *)token[i].views[0].memory)[i % N / 2] != 2;
        wrong += add_one(own, SEMCACHE_ANY_DEVICE) != SEMCACHE_OK;
    }
    tap_ok(wrong == 0, "%d tokens until the memory or the table is full; each other call says so", held);
    tap_ok(held > 0 && held < MANY, "%d of %d fit", held, MANY);
    setrlimit(RLIMIT_AS, &before);
    for (int i = 0; i < MANY; i++)
        wrong += token[i].id && semcache_token_release(&token[i]) != SEMCACHE_OK;
    tap_ok(wrong == 0, "all end");
    tap_ok(hold(a, 0, &token[0]) == SEMCACHE_OK, "and memory is there again");
    add_in(&token[0]);
    tap_ok(semcache_token_release(&token[0]) == SEMCACHE_OK && is_all(a, 3) && is_all(own, 1 + MANY), "right numbers");
}

/* --- cancellation ------------------------------------------------------------------------------------------------- */

static struct cancelled {
    double *array;
    struct semcache_token token;
    int type;
    bool begun;
} cancelled;

static void *work(void *unused)
{
    int old;

    pthread_setcanceltype(cancelled.type, &old);
    for (;;) {
        add_one(cancelled.array, SEMCACHE_ANY_DEVICE);
        __atomic_store_n(&cancelled.begun, true, __ATOMIC_RELEASE);
        hold(cancelled.array, SEMCACHE_ANY_DEVICE, &cancelled.token);
        semcache_token_release(&cancelled.token);
        pthread_testcancel();
    }
    return unused;
}

static void test_cancel(int type, const char *kind)
{
    int wrong = 0, left = 0;

    cancelled.type = type;
    cancelled.array = array_of(0);
    for (int i = 0; i < 60; i++) {
        pthread_t thread;
        void *result;

        cancelled.begun = false;
        cancelled.token.id = 0;
        pthread_create(&thread, NULL, work, NULL);
        while (!__atomic_load_n(&cancelled.begun, __ATOMIC_ACQUIRE))
            usleep(50);
        usleep((useconds_t)(i * 41 % 700));
        pthread_cancel(thread);
        pthread_join(thread, &result);
        wrong += result != PTHREAD_CANCELED;
        left += cancelled.token.id != 0;
        if (cancelled.token.id) /* another thread may end it */
            wrong += semcache_token_release(&cancelled.token) != SEMCACHE_OK;
        wrong += devices && uneven(cancelled.array) != 0; /* on the host the function itself is cancelled */
        wrong += add_one(cancelled.array, SEMCACHE_ANY_DEVICE) != SEMCACHE_OK;
    }
    tap_ok(wrong == 0, "threads cancelled %s: tasks are whole, and %d tokens are ended by others", kind, left);
}

/* --- loss --------------------------------------------------------------------------------------------------------- */

/* Until a call says that data is lost, numbers are right. */
static void test_loss(void)
{
    double *a = array_of(0), *b = array_of(0), expected = 0;
    bool said = false;
    int wrong = 0;

    for (int s = 0; s < 12 && !said; s++) {
        struct semcache_token token;

        said |= add_one(a, s % 3 - 1) == SEMCACHE_ERROR_DEVICE;
        if (hold(a, s % 2, &token) != SEMCACHE_OK) {
            wrong++;
            break;
        }
        add_in(&token);
        said |= add_one(b, 0) == SEMCACHE_ERROR_DEVICE; /* the device may fail while the token is held */
        said |= semcache_token_release(&token) != SEMCACHE_OK;
        expected += 2;
        if (s % 3 == 2 && !said && !is_all(a, expected)) {
            tap_diag("step %d: %g, not %g; %d differ", s, a[0], expected, uneven(a));
            printf("LOST\n"); /* right only if a line on stderr has said so */
            break;
        }
    }
    tap_ok(wrong == 0, "a token can always be had on the host");
    for (int i = 0; i < N; i++)
        a[i] = 1;
    tap_ok(add_one(a, SEMCACHE_ANY_DEVICE) != SEMCACHE_ERROR_INVALID && semcache_device_count() >= 0, "then a task");
}

int main(int argc, char **argv)
{
    const char *edge = argc > 1 ? argv[1] : "";

    semcache_init();
    devices = semcache_device_count();
    if (!strcmp(edge, "fork"))
        test_fork();
    else if (!strcmp(edge, "exec"))
        test_exec(argv[0]);
    else if (!strcmp(edge, "again"))
        test_again();
    else if (!strcmp(edge, "signals"))
        test_signals();
    else if (!strcmp(edge, "memory"))
        test_memory();
    else if (!strcmp(edge, "loss"))
        test_loss();
    else if (!strcmp(edge, "cancel")) {
        test_cancel(PTHREAD_CANCEL_DEFERRED, "at cancellation points");
        test_cancel(PTHREAD_CANCEL_ASYNCHRONOUS, "at any time");
    } else
        tap_skip_all("started by tasks_edges.t");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
