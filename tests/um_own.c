/* A library's own kernels on memory of semcache_malloc, with um_fake_cuda.c in place of CUDA, with and without
 * libsemcache-cuda-um; and where there is no CUDA.
 *
 *     um_own [CASE]    CASE: served, by libsemcache-cuda-um; small, a device with too little memory for all; exit, with
 *                      work under way; loss, of the device; none, no memory of one address */
#include <config.h>

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

enum { N = 250000, STEPS = 20 };
static const size_t bytes = N * sizeof(double);
static bool served;

static size_t count_of(const char *name)
{
    const size_t *at = dlsym(RTLD_DEFAULT, name);

    return at ? *at : 0;
}

static size_t went_up(void) { return count_of("um_fake_up"); }
static size_t came_home(void) { return count_of("um_fake_home"); }

static double *vector(void)
{
    double *p = semcache_malloc(bytes);

    if (!p) {
        printf("Bail out! no memory\n");
        exit(99);
    }
    return p;
}

static void set(double *p, double value)
{
    for (int i = 0; i < N; i++)
        p[i] = value;
}

static int all_are(const double *p, double value)
{
    for (int i = 0; i < N; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

static enum semcache_status lend(const void *a, const void *b)
{
    return semcache_lend(0, (const void *const[]){a, b}, b ? 2 : 1);
}

/* p[i] += value, on the device. */
static void launch(double *p, double value)
{
    static __typeof__(&cudaLaunchKernel) start;
    int n = N;
    void *arguments[] = {&p, &n, &value};

    if (!start)
        *(void **)&start = dlsym(RTLD_DEFAULT, "cudaLaunchKernel");
    start("kernel", (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL);
}

static void wait_for_device(void)
{
    __typeof__(&cudaDeviceSynchronize) wait = NULL;

    *(void **)&wait = dlsym(RTLD_DEFAULT, "cudaDeviceSynchronize");
    wait();
}

static int wrong(void)
{
    const int *at = dlsym(RTLD_DEFAULT, "um_fake_wrong");

    return at ? *at : 1;
}

static void test_kernels(double *x, double *y)
{
    size_t up, home;
    int good = 1;

    set(x, 1);
    set(y, 2);
    up = went_up();
    tap_ok(lend(x, NULL) == SEMCACHE_OK && went_up() - up >= bytes && went_up() - up < 2 * bytes,
           "lending a block sends this block");
    launch(x, 1);
    tap_ok(all_are(x, 2), "the CPU reads what a kernel has written");
    tap_ok(lend(x + N / 2, y + 1) == SEMCACHE_OK, "any address in a block names the block");
    up = went_up();
    home = came_home();
    for (int i = 0; i < STEPS; i++) {
        good &= lend(x, y) == SEMCACHE_OK;
        launch(x, 1);
        launch(y, 2);
    }
    tap_ok(good && went_up() == up && came_home() == home, "kernels in a loop move nothing");
    tap_ok(all_are(x, 2 + STEPS) && all_are(y, 2 + 2 * STEPS), "the results are right");
    for (int i = 0; i < STEPS; i++) {
        x[i * 97] += 1;
        good &= lend(x, y) == SEMCACHE_OK;
        launch(x, 1);
        good &= x[i * 97] == 4 + STEPS + i;
    }
    tap_ok(good && x[1] == 2 + 2 * STEPS, "so are single elements that the CPU writes in between");
}

/* Calls of the BLAS and kernels in turn. */
static void test_calls(double *x, double *y)
{
    void (*axpy)(const int *, const double *, const double *, const int *, double *, const int *) = NULL;
    const int n = N, step = 1;
    const double two = 2;
    int good = 1;

    *(void **)&axpy = dlsym(RTLD_DEFAULT, "daxpy_");
    set(x, 1);
    set(y, 0);
    for (int i = 0; i < 3; i++) {
        axpy(&n, &two, x, &step, y, &step);
        good &= lend(x, y) == SEMCACHE_OK;
        launch(x, 1);
        launch(y, 1);
    }
    tap_ok(good && all_are(y, 2 * (1 + 2 + 3) + 3) && all_are(x, 4), "calls and kernels in turn");
}

static void test_arguments(double *x)
{
    double on_stack = 0, *ordinary = semcache_alloc(bytes);

    tap_ok(semcache_lend(0, NULL, 1) == SEMCACHE_ERROR_INVALID && lend(x, NULL) == SEMCACHE_OK &&
               semcache_lend(0, (const void *const[]){x}, 0) == SEMCACHE_ERROR_INVALID &&
               semcache_lend(-1, (const void *const[]){x}, 1) == SEMCACHE_ERROR_INVALID,
           "wrong arguments");
    tap_ok(lend(x, &on_stack) == SEMCACHE_ERROR_UNSUPPORTED && lend(ordinary, NULL) == SEMCACHE_ERROR_UNSUPPORTED,
           "memory without an address on the device");
    tap_ok(semcache_malloc(SIZE_MAX) == NULL, "an absurd size");
    semcache_free(ordinary);
}

static void test_free(double *x)
{
    double *again;

    set(x, 1);
    lend(x, NULL);
    launch(x, 1);
    semcache_free(x);
    again = vector();
    set(again, 5);
    lend(again, NULL);
    launch(again, 1);
    tap_ok(all_are(again, 6), "memory is freed while a kernel works, and used again");
    semcache_free(again);
    semcache_free(NULL);
}

static void test_fork(double *x)
{
    int status = 1;
    pid_t child;

    set(x, 1);
    lend(x, NULL);
    launch(x, 1);
    child = fork();
    if (child == 0) {
        status = !all_are(x, 2) || lend(x, NULL) != SEMCACHE_ERROR_NO_DEVICE;
        x[5] = 20;
        _exit(status);
    }
    waitpid(child, &status, 0);
    tap_ok(child > 0 && status == 0, "a forked child reads the data, and has no device");
    tap_ok(x[5] == 20, "two processes share the memory");
    x[5] = 2;
    lend(x, NULL);
    launch(x, 1);
    tap_ok(all_are(x, 3), "and the parent goes on");
}

/* The device is gone at the first wait. */
static void test_loss(double *x)
{
    enum semcache_status status;

    set(x, 1);
    lend(x, NULL);
    launch(x, 1);
    tap_ok(all_are(x, 1), "a lost device leaves what the CPU wrote last");
    status = lend(x, NULL);
    tap_ok(served ? status == SEMCACHE_OK : status != SEMCACHE_OK, "kernels get the host's memory, or nothing");
}

static void test_none(double *x)
{
    enum semcache_status status;

    set(x, 1);
    status = lend(x, NULL);
    tap_ok(status == (!semcache_device_count() ? SEMCACHE_ERROR_NO_DEVICE
                      : served                 ? SEMCACHE_OK /* kernels read the host's memory */
                                               : SEMCACHE_ERROR_UNSUPPORTED),
           "there is no memory of one address");
    if (status == SEMCACHE_OK)
        launch(x, 0);
    tap_ok(all_are(x, 1), "but memory");
    semcache_free(x);
}

/* A block larger than the device, and blocks that take turns. */
static void test_small(void)
{
    enum { MANY = 7 };
    double *p[MANY], *large = semcache_malloc(MANY * bytes);
    int good = 1;

    for (int i = 0; i < MANY * N; i++)
        large[i] = i;
    good = (lend(large, NULL) == SEMCACHE_OK) == served;
    for (int i = 0; i < MANY * N; i++)
        good &= large[i] == i;
    tap_ok(good, "a block larger than the device is refused, or stays on the host in part, and keeps its values");
    semcache_free(large);
    for (int b = 0; b < MANY; b++)
        set(p[b] = vector(), b);
    for (int i = 0; i < STEPS; i++)
        for (int b = 0; b < MANY; b++) {
            good &= lend(p[b], NULL) == SEMCACHE_OK;
            launch(p[b], 1);
        }
    if (served) /* the host has some blocks, and the program waits */
        wait_for_device();
    for (int b = 0; b < MANY; b++)
        good &= all_are(p[b], b + STEPS);
    tap_ok(good, "blocks that do not fit together take turns");
    for (int b = 0; b < MANY; b++)
        semcache_free(p[b]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    double *x = vector(), *y;

    served = dlsym(RTLD_DEFAULT, "cudaMallocManaged") != NULL;
    if (strcmp(what, "none") == 0) {
        test_none(x);
        return tap_done();
    }
    if (strcmp(what, "loss") == 0) {
        test_loss(x);
        return tap_done();
    }
    if (strcmp(what, "small") == 0) {
        semcache_free(x);
        test_small();
        tap_ok(wrong() == 0, "no access that a GPU could not do");
        return tap_done();
    }
    if (strcmp(what, "exit") == 0) {
        set(x, 1);
        lend(x, NULL);
        launch(x, 1);
        tap_ok(1, "the end comes while a kernel works");
        return tap_done();
    }
    y = vector();
    test_kernels(x, y);
    test_calls(x, y);
    test_arguments(x);
    test_fork(x);
    semcache_free(y);
    test_free(x);
    tap_ok(wrong() == 0, "no access that a GPU could not do");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
