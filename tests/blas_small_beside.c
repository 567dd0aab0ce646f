/* Small operands outside of the arena, of calls in a row: a copy of such an operand is uploaded behind the kernels of
 * earlier calls, and its memory serves a later call.  Each call has other numbers at the same address.  A copy that is
 * overwritten before its upload gives the numbers of a later call. */
#include "base/config.h"
#include "blas/blas.h"
#include "tests/coherence_env.h"

enum { SIDE = 4, WIDE = 2000, CALLS = 60 };

/* C := A B for all calls, before any result is read.  Number of wrong elements. */
static int wrong_after_calls(double *b, double **c)
{
    double a[SIDE * SIDE];
    int wrong = 0;

    for (int call = 0; call < CALLS; call++) {
        struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = SIDE, .n = WIDE,
                              .k = SIDE, .alpha = {1, 0}, .a = a, .b = b, .c = c[call], .lda = SIDE, .ldb = SIDE,
                              .ldc = SIDE};

        for (int i = 0; i < SIDE * SIDE; i++)
            a[i] = i % (SIDE + 1) ? 0 : call + 1;
        wrong += !sc_blas_offload(1, &k, false, NULL);
    }
    for (int call = 0; call < CALLS; call++)
        for (int i = 0; i < SIDE * WIDE; i++)
            wrong += c[call][i] != (call + 1) * b[i];
    return wrong;
}

int main(void)
{
    double *b = malloc(sizeof *b * SIDE * WIDE), *c[CALLS];

    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    for (int devices = 1; devices <= 2; devices++) {
        char machine[32];

        snprintf(machine, sizeof machine, "emu:h200x8:%d", devices);
        if (env_start(machine, 0) < devices)
            tap_skip_all("takes two devices");
        free(b);
        b = malloc(sizeof *b * SIDE * WIDE);
        for (int i = 0; i < SIDE * WIDE; i++)
            b[i] = i % 19 - 9;
        for (int i = 0; i < CALLS; i++)
            c[i] = malloc(sizeof *c[i] * SIDE * WIDE);
        for (int round = 0; round < 3; round++)
            tap_ok(wrong_after_calls(b, c) == 0, "%d calls in a row, %d devices, round %d", CALLS, devices, round);
        tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
        for (int i = 0; i < CALLS; i++)
            free(c[i]);
        sc_coherence_stop();
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
