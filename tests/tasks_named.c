/* Tasks with names and times: where they run.  Started by tasks_named.t on one emulated device, which also reads
 * names in the statistics and in the trace. */
#include <string.h>

#include "semcache/tasks.h"
#include "tests/tap.h"

enum { N = 1 << 20 }; /* 8 MiB: 0.1 to 1 ms on a link */

static double *x;

static void add_one(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments)
{
    for (int64_t i = 0; i < views[0].rows; i++)
        ((double *)views[0].memory)[i] += 1;
    (void)place, (void)count, (void)arguments;
}

/* Where a task with these seconds runs. */
static int place_of(const char *name, double host, double device, int where)
{
    struct semcache_region region;
    struct semcache_operand operand = {&region, SEMCACHE_READWRITE};
    struct semcache_task task = {.size = sizeof task, .kernel = add_one, .host = add_one, .operands = &operand,
                                 .count = 1, .device = where, .name = name, .host_seconds = host,
                                 .device_seconds = device};
    int ran = -9;

    semcache_region_1d(&region, x, SEMCACHE_FLOAT64, N);
    tap_ok(semcache_run(&task, &ran) == SEMCACHE_OK, "a task");
    return ran;
}

int main(void)
{
    const int any = SEMCACHE_ANY_DEVICE;
    char name[80];

    semcache_init();
    x = semcache_alloc(N * sizeof *x);
    memset(x, 0, N * sizeof *x);
    tap_ok(place_of("cheap on the host", 1e-6, 1e-6, any) == SEMCACHE_HOST, "at home: the host saves the upload");
    tap_ok(place_of("cheap on the host", 1e-6, 1e-6, 0) == 0, "a named device is not chosen against");
    tap_ok(place_of("cheap on both", 2e-6, 1e-6, any) == 0, "on the device: the device saves the fetch");
    tap_ok(place_of("cheap on both", 1e-6, 100, any) == SEMCACHE_HOST, "a slow device loses against a fetch");
    tap_ok(place_of("large", 1, 1e-3, any) == 0, "a large task pays for the upload");
    tap_ok(place_of(NULL, 0, 0, any) == 0, "without times the device runs a task");
    tap_ok(x[0] == 6 && x[N - 1] == 6, "every task has run once");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%d has a name that is longer than a name may be", i);
        place_of(name, 0, 0, 0);
    }
    semcache_free(x);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
