/* The measured time of calls on the host: which calls have a mean, and what the mean is after slow calls. */
#include "autotuner/host_rates.h"
#include "tests/tap.h"

enum { N = 10000 };

static struct sc_view operands[SC_VIEWS_MAX];

/* A dcopy between vectors with these strides. */
static struct sc_autotuner_call copy(int64_t from, int64_t to)
{
    static double memory[1];
    const struct sc_kernel k = {.op = SC_OP_COPY, .type = SC_D, .n = N, .a = memory, .b = memory, .lda = from,
                                .ldb = to};

    return (struct sc_autotuner_call){.op = k.op, .type = k.type, .n = N, .view = operands,
                                      .operands = sc_kernel_views(&k, operands)};
}

/* Three calls whose predictions are far below any time that a clock shows. */
static void run_slowly(const struct sc_autotuner_call *call)
{
    for (int i = 0; i < 3; i++) {
        sc_host_rates_expect(sc_host_rates_of(call), 1e-12);
        sc_host_rates_begin();
        sc_host_rates_end();
    }
}

static double factor(const struct sc_autotuner_call *call) { return sc_host_rates_factor(sc_host_rates_of(call)); }

int main(void)
{
    static const int64_t strides[][2] = {{1, 8}, {-8, 1}, {N, N}};
    struct sc_autotuner_call near = copy(1, 1), unknown = near, emulated = near, loop = near;

    unknown.view = NULL;
    emulated.machine.emulated = true;
    loop.loops = true;
    for (int i = 0; i < 3; i++) {
        struct sc_autotuner_call apart = copy(strides[i][0], strides[i][1]);

        run_slowly(&apart);
        tap_ok(!sc_host_rates_of(&apart) && factor(&apart) == 1, "strides %d and %d have no mean", (int)strides[i][0],
               (int)strides[i][1]);
    }
    run_slowly(&unknown);
    run_slowly(&emulated);
    run_slowly(&loop);
    near = copy(1, 1);
    tap_ok(factor(&near) == 1, "nor have vectors that nobody knows, emulated calls, or loops of the program");
    near = copy(1, 7);
    run_slowly(&near);
    tap_ok(factor(&near) == 8, "slow calls of small strides: the largest factor (%g)", factor(&near));
    near = copy(1, 1);
    tap_ok(factor(&near) == 8, "also for a call without strides");
    near.n = 64 * N;
    tap_ok(factor(&near) == 1, "but not of another size");
    sc_host_rates_reset();
    near = copy(1, 1);
    tap_ok(factor(&near) == 1, "forgotten");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
