/* PROACT (MICRO 2021), figure 10: strong scaling from 1 to 16 V100 of an iteration y := A x, x := y on the devices.
 * Every device needs all of x.  Usage: paper-proact [MACHINE [N]]. */
#include <stdlib.h>

#include "base/config.h"
#include "bench/paper.h"

#define STEPS 50

static double seconds_of(const char *machine, int gpus, int64_t n)
{
    struct paper_figures f;
    struct paper_matrix a, x, y;
    struct sc_kernel product, copy;
    char some[64];

    snprintf(some, sizeof some, "%s:%d", machine, gpus);
    paper_open(some);
    a = paper_matrix(n, n);
    x = paper_matrix(n, 1);
    y = paper_matrix(n, 1);
    product = (struct sc_kernel){.op = SC_OP_GEMV, .type = SC_D, .transa = 'N', .m = n, .n = n, .alpha = {1, 0},
                                 .a = a.at, .lda = n, .b = x.at, .ldb = 1, .c = y.at, .ldc = 1};
    copy = (struct sc_kernel){.op = SC_OP_COPY, .type = SC_D, .n = n, .a = y.at, .lda = 1, .b = x.at, .ldb = 1};
    paper_call(&product); /* the matrix goes to the devices */
    paper_begin(&f);
    for (int i = 0; i < STEPS; i++) {
        paper_call(&copy);
        paper_call(&product);
    }
    paper_end(&f);
    paper_free(&a);
    paper_free(&x);
    paper_free(&y);
    paper_close();
    return f.seconds;
}

int main(int argc, char **argv)
{
    const char *machine = argc > 1 ? argv[1] : "v100x16";
    int64_t n = argc > 2 ? atoll(argv[2]) : 40000;
    double one = 0;

    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_config.push = 1; /* as shipped */
    printf("PROACT, figure 10, on %s: %d steps of Jacobi's product, n = %lld.  The paper's means: 90, 87 and 77%% of "
           "ideal on 4, 8 and 16\n\n| GPUs | ms a step | speed-up | of ideal |\n| --- | --- | --- | --- |\n", machine,
           STEPS, (long long)n);
    for (int gpus = 1; gpus <= 16; gpus += gpus < 4 ? gpus : gpus < 8 ? 2 : 4) {
        double seconds = seconds_of(machine, gpus, n);

        one = gpus == 1 ? seconds : one;
        printf("| %d | %.3f | %.2f | %.0f%% |\n", gpus, seconds / STEPS * 1e3, one / seconds,
               100 * one / seconds / gpus);
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
