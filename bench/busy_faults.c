/* Microseconds of a fault while the processors are idle, and while a thread on each waits awake, as the threads of a
 * parallel BLAS do between calls: median of the first touch of a product's result.
 *
 *     SEMCACHE_OFFLOAD=always semcache run bench/busy_faults [ROUNDS] */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/example.h"

/* Of so many results one is touched: a result that is touched each time comes home without a fault. */
enum { N = 20000, K = 8, RESULTS = 8 };

static bool stop;

static void *wait_awake(void *none)
{
    (void)none;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        sched_yield();
    return NULL;
}

/* Seconds until the first element of a result y = A x can be read. */
static double touch(const double *a, const double *x, double *y, int touched)
{
    static const double one = 1, zero = 0;
    static const int n = N, k = K, step = 1;
    double start;

    for (int i = 0; i < RESULTS; i++)
        dgemv_("N", &n, &k, &one, a, &n, x, &step, &zero, y + i * N, &step, 1);
    usleep(1000); /* the products have ended */
    start = example_now();
    *(volatile double *)(y + touched * N) += 1;
    return example_now() - start;
}

static double median(int rounds, const double *a, const double *x, double *y)
{
    double *seconds = example_doubles((size_t)rounds), middle;

    for (int i = 0; i < rounds; i++)
        seconds[i] = touch(a, x, y, i % RESULTS);
    qsort(seconds, (size_t)rounds, sizeof *seconds, example_compare);
    middle = seconds[rounds / 2];
    free(seconds);
    return middle;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 300, processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t *threads = calloc((size_t)processors, sizeof *threads);
    double *a = example_doubles(N * K), *x = example_doubles(K), *y = example_doubles(N * RESULTS), idle, busy;

    if (rounds < 1 || !threads)
        return 1;
    memset(a, 0, N * K * sizeof *a);
    memset(x, 0, K * sizeof *x);
    median(rounds / 10 + 1, a, x, y);
    idle = median(rounds, a, x, y);
    for (int i = 0; i < processors; i++)
        pthread_create(&threads[i], NULL, wait_awake, NULL);
    busy = median(rounds, a, x, y);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < processors; i++)
        pthread_join(threads[i], NULL);
    printf("fault of 160 kB: %.0f us idle, %.0f us beside %d waiting threads, ratio %.2f\n", idle * 1e6, busy * 1e6,
           processors, busy / idle);
    free(y), free(x), free(a), free(threads);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
