/* For tasks_cost.t: functions whose inclusive cost under callgrind is that of TASKS tasks, or acquires and releases of
 * tokens, on resident regions. */
#include "semcache/tasks.h"

enum { TASKS = 100, N = 1 << 15, MOST = 4 };

static double *array[MOST];
static struct semcache_region region[MOST];
static int failed;

static void nothing(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments)
{
    (void)place, (void)views, (void)count, (void)arguments;
}

static __attribute__((noipa)) void run(enum semcache_mode mode, int count)
{
    struct semcache_operand operands[MOST];
    struct semcache_task task = {.size = sizeof task, .kernel = nothing, .host = nothing, .operands = operands,
                                 .count = count, .device = 0};

    for (int i = 0; i < count; i++)
        operands[i] = (struct semcache_operand){&region[i], i ? SEMCACHE_READ : mode};
    for (int i = 0; i < TASKS; i++) {
        int ran;

        failed += semcache_run(&task, &ran) != SEMCACHE_OK || ran != 0;
    }
}

static __attribute__((noipa)) void cost_read(void) { run(SEMCACHE_READ, 1); }
static __attribute__((noipa)) void cost_written(void) { run(SEMCACHE_READWRITE, 1); }
static __attribute__((noipa)) void cost_token(void)
{
    struct semcache_operand operand = {&region[0], SEMCACHE_READ};

    for (int i = 0; i < TASKS; i++) {
        struct semcache_token token = {.size = sizeof token};

        failed += semcache_token_acquire(&operand, 1, 0, &token) != SEMCACHE_OK || token.place.device != 0 ||
                  semcache_token_release(&token) != SEMCACHE_OK;
    }
}

static __attribute__((noipa)) void cost_four(void) { run(SEMCACHE_READWRITE, MOST); }

int main(void)
{
    static void (*const cost[])(void) = {cost_read, cost_written, cost_four, cost_token};

    semcache_init();
    for (int i = 0; i < MOST; i++) {
        array[i] = semcache_alloc(N * sizeof *array[i]);
        if (!array[i])
            return 1;
        for (int k = 0; k < N; k++)
            array[i][k] = 0;
        semcache_region_1d(&region[i], array[i], SEMCACHE_FLOAT64, N);
    }
    run(SEMCACHE_READWRITE, MOST); /* to the device */
    for (int i = 0; i < 4; i++)
        cost[i]();
    return failed != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
