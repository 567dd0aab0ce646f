/* Microseconds of the calling thread for a task or a token on resident regions of BYTES bytes each, with a function
 * that enqueues nothing: what semcache adds to a kernel launch.
 *
 *   task_cost [BYTES [CALLS]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "semcache/tasks.h"

static struct semcache_region region[4];
static int64_t calls;

static void nothing(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments)
{
    (void)place, (void)views, (void)count, (void)arguments;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int failed;

static void task(const struct semcache_operand *operands, int count)
{
    struct semcache_task t = {.size = sizeof t, .kernel = nothing, .host = nothing, .operands = operands,
                              .count = count, .device = 0};

    failed += semcache_run(&t, NULL) != SEMCACHE_OK;
}

static void token(const struct semcache_operand *operands, int count)
{
    struct semcache_token t = {.size = sizeof t};

    failed += semcache_token_acquire(operands, count, 0, &t) != SEMCACHE_OK ||
              semcache_token_release(&t) != SEMCACHE_OK;
}

/* Median of nine rounds. */
static void measure(const char *name, void (*one)(const struct semcache_operand *, int), enum semcache_mode mode,
                    int count)
{
    struct semcache_operand operands[4];
    double round[9];

    for (int i = 0; i < count; i++)
        operands[i] = (struct semcache_operand){&region[i], i ? SEMCACHE_READ : mode};
    one(operands, count);
    for (int r = 0; r < 9; r++) {
        double since = now(), t;
        int at = r;

        for (int64_t i = 0; i < calls; i++)
            one(operands, count);
        t = (now() - since) / (double)calls;
        semcache_region_wait(&region[0]);
        one(operands, count);
        for (; at > 0 && round[at - 1] > t; at--)
            round[at] = round[at - 1];
        round[at] = t;
    }
    printf("%-36s %8.2f us\n", name, round[4]);
}

int main(int argc, char **argv)
{
    int64_t bytes = argc > 1 ? atoll(argv[1]) : 1 << 20;

    calls = argc > 2 ? atoll(argv[2]) : 1000;
    if (semcache_init() != SEMCACHE_OK)
        return 1;
    for (int i = 0; i < 4; i++) {
        double *x = semcache_alloc((size_t)bytes);

        if (!x)
            return 2;
        memset(x, 0, (size_t)bytes);
        semcache_region_1d(&region[i], x, SEMCACHE_FLOAT64, bytes / (int64_t)sizeof *x);
    }
    measure("task, one region, read", task, SEMCACHE_READ, 1);
    measure("task, one region, read and written", task, SEMCACHE_READWRITE, 1);
    measure("task, four regions, one written", task, SEMCACHE_READWRITE, 4);
    measure("token, one region, read", token, SEMCACHE_READ, 1);
    measure("token, one region, read and written", token, SEMCACHE_READWRITE, 1);
    if (failed)
        printf("%d calls failed\n", failed);
    return failed != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
