/* BLASX (2015), tables V and III: bytes over the links of each of three GPUs for six routines at n = 16384, and
 * parallel efficiency.  Usage: paper-blasx [-s STEP] [MACHINE].  STEP: of the sizes of table III, a multiple of 1024.
 * paper-blasx -t MACHINE N [STRATEGY]: only dgemm of one size. */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "bench/paper.h"

#define N 16384
#define GPUS 3

/* Bidirectional host volume and GPU to GPU volume, MB; in table V written as a+b.  GPUs are numbered from 1 there. */
static const struct published {
    double host[GPUS], peer[GPUS]; /* BLASX */
    double xt[GPUS];               /* cuBLAS-XT */
    double efficiency;             /* table III, BLASX */
} published[PAPER_ROUTINES] = {
    [PAPER_GEMM] = {{6895, 1811, 721}, {0, 4768, 4462}, {24528, 24243, 24243}, 93.53},
    [PAPER_SYRK] = {{4278, 1363, 1213}, {0, 3410, 2536}, {12314, 12834, 11492}, 85.54},
    [PAPER_SYR2K] = {{7281, 2231, 1308}, {0, 5905, 2969}, {15910, 15910, 15900}, 85.54},
    [PAPER_SYMM] = {{5628, 1249, 343}, {0, 5318, 3758}, {18865, 18865, 18102}, 90.36},
    [PAPER_TRMM] = {{4966, 1694, 327}, {0, 4353, 2365}, {8885, 2020, 8922}, 88.99},
    [PAPER_TRSM] = {{2751, 981, 300}, {0, 4622, 2575}, {12985, 12792, 12876}, 81.58},
};

static void volumes(int devices)
{
    printf("Table V: MB at n = %d, host + GPU to GPU (both directions, received); BLASX; cuBLAS-XT\n\n", N);
    printf("| routine | GPU | ours | sum | BLASX | sum | cuBLAS-XT |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int r = 0; r < PAPER_ROUTINES; r++) {
        struct paper_figures f;

        paper_square_run((enum paper_routines)r, N, &f);
        for (int d = 0; d < devices && d < GPUS; d++) {
            double host = (double)(f.bytes[PAPER_HOST][d] + f.bytes[d][PAPER_HOST]) / 1e6, peer = 0;
            const struct published *p = &published[r];

            for (int from = 0; from < devices; from++)
                peer += from != d ? (double)f.bytes[from][d] / 1e6 : 0;
            printf("| %s | %d | %.0f + %.0f | %.0f | %.0f + %.0f | %.0f | %.0f |\n", paper_routine[r].name, d + 1, host,
                   peer, host + peer, p->host[d], p->peer[d], p->host[d] + p->peer[d], p->xt[d]);
        }
    }
}

#define SIZES 39
static double one[PAPER_ROUTINES][SIZES + 1]; /* seconds on one GPU */

static void times(int64_t step, double out[PAPER_ROUTINES][SIZES + 1])
{
    for (int r = 0; r < PAPER_ROUTINES; r++)
        for (int64_t i = step; i <= SIZES; i += step) {
            struct paper_figures f;

            paper_square_run((enum paper_routines)r, i * 1024, &f);
            out[r][i] = f.seconds;
        }
}

static void efficiencies(int64_t step, int devices)
{
    static double many[PAPER_ROUTINES][SIZES + 1];

    times(step, many);
    printf("\nTable III: mean parallel efficiency on %d GPUs, n from %d to %d, percent\n\n", devices,
           (int)step * 1024, SIZES / (int)step * (int)step * 1024);
    printf("| routine | ours | BLASX |\n| --- | --- | --- |\n");
    for (int r = 0; r < PAPER_ROUTINES; r++) {
        double sum = 0;
        int count = 0;

        for (int64_t i = step; i <= SIZES; i += step, count++)
            sum += one[r][i] / many[r][i] / devices;
        printf("| %s | %.1f | %.1f |\n", paper_routine[r].name, 100 * sum / count, published[r].efficiency);
    }
}

static int one_product(const char *machine, int64_t n, int strategy)
{
    struct paper_figures f;

    paper_open(machine);
    sc_config.schedule = (enum sc_strategy)strategy;
    paper_square_run(PAPER_GEMM, n, &f);
    printf("%s n=%lld strategy=%d: %.4f s, %.1f Tflop/s\n", machine, (long long)n, strategy, f.seconds,
           2e-12 * (double)n * (double)n * (double)n / f.seconds);
    paper_close();
    return 0;
}

int main(int argc, char **argv)
{
    int64_t step = argc > 2 && strcmp(argv[1], "-s") == 0 ? atoi(argv[2]) / 1024 : 4;
    const char *machine = argc > 1 && argv[argc - 1][0] != '-' && argc % 2 == 0 ? argv[argc - 1] : "k40x3";
    char single[64];
    int devices;

    if (argc > 3 && strcmp(argv[1], "-t") == 0)
        return one_product(argv[2], atoll(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
    snprintf(single, sizeof single, "%s:1", machine);
    paper_open(single);
    times(step > 0 ? step : 4, one);
    paper_close();
    devices = paper_open(machine);
    printf("BLASX on %s\n\n", machine);
    volumes(devices);
    efficiencies(step > 0 ? step : 4, devices);
    paper_close();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
