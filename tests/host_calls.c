/* For host_calls.t: functions whose inclusive cost under callgrind is the cost of CALLS calls of the BLAS that run on
 * the host, a function for each call, kind of operands and size.  The host BLAS does not compute. */
#define _GNU_SOURCE
#include <stdio.h>

#include "bench/host_path.h"

enum { CALLS = 40 };

static void repeat(void (*call)(int n), int n)
{
    for (int i = 0; i < CALLS; i++)
        call(n);
}

#define CASE(kind, call)                                                                                               \
    static __attribute__((noipa)) void cost_few_##kind##_##call(void) { repeat(call, FEW); }                           \
    static __attribute__((noipa)) void cost_many_##kind##_##call(void) { repeat(call, MANY); }
#define CASES(call, name)                                                                                              \
    CASE(untracked, call)                                                                                              \
    CASE(home, call)                                                                                                   \
    CASE(shared, call)                                                                                                 \
    CASE(partly, call)                                                                                                 \
    CASE(outside, call)
HOST_PATH_CALLS(CASES)

/* The first two calls of a size are no repetition. */
#define RUN(call, kind)                                                                                                \
    for (int i = 0; i < 2; i++) {                                                                                      \
        call(FEW);                                                                                                     \
        call(MANY);                                                                                                    \
    }                                                                                                                  \
    cost_few_##kind##_##call();                                                                                        \
    cost_many_##kind##_##call();
#define RUN_UNTRACKED(call, name) RUN(call, untracked)
#define RUN_HOME(call, name) RUN(call, home)
#define RUN_SHARED(call, name) RUN(call, shared)
#define RUN_PARTLY(call, name) RUN(call, partly)
#define RUN_OUTSIDE(call, name) RUN(call, outside)

int main(void)
{
    struct semcache_statistics statistics = {.size = sizeof statistics};

    semcache_init();
    make_untracked();
    HOST_PATH_CALLS(RUN_UNTRACKED)
    if (!make_home())
        return 2;
    HOST_PATH_CALLS(RUN_HOME)
    if (!make_shared())
        return 2;
    HOST_PATH_CALLS(RUN_SHARED)
    if (!make_partly())
        return 2;
    HOST_PATH_CALLS(RUN_PARTLY)
    make_outside();
    HOST_PATH_CALLS(RUN_OUTSIDE)
    semcache_statistics(&statistics);
    printf("%llu calls on devices, %llu on the host\n", (unsigned long long)statistics.calls_offloaded,
           (unsigned long long)statistics.calls_host);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
