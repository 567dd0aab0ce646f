/* SemCache++ (ICS 2015), figures 6 to 9, where the text has figures: D = A B + A C on one and two K20 (two products and
 * a daxpy), the moved bytes, eight M2090, and Jacobi; figure 10 is bench/paper.sh's.
 * Usage: paper-semcachepp [MACHINE]. */
#include <stdlib.h>

#include "base/config.h"
#include "bench/paper.h"

static const int64_t sizes[2] = {6 * 1024, 11 * 1024};

static struct sc_kernel axpy(const struct paper_matrix *x, const struct paper_matrix *y)
{
    return (struct sc_kernel){.op = SC_OP_AXPY, .type = SC_D, .n = x->rows * x->cols, .alpha = {1, 0}, .a = x->at,
                              .lda = 1, .b = y->at, .ldb = 1};
}

/* Cached: by the library.  Otherwise every call uploads the operands and fetches the result. */
static void microbenchmark(int64_t n, bool cached, struct paper_figures *f)
{
    struct paper_matrix m[5]; /* A, B, C, D, E: D := A B, E := A C, D := D + E */
    struct sc_kernel calls[3];

    for (int i = 0; i < 5; i++)
        m[i] = paper_matrix(n, n);
    calls[0] = paper_gemm(&m[0], &m[1], &m[3]);
    calls[1] = paper_gemm(&m[0], &m[2], &m[4]);
    calls[2] = axpy(&m[4], &m[3]);
    calls[0].beta[0] = calls[1].beta[0] = 0;
    paper_begin(f);
    for (int i = 0; i < 3; i++) {
        paper_call(&calls[i]);
        for (int k = 0; k < 5 && !cached; k++)
            paper_drop(&m[k]);
    }
    paper_move(&m[3], SC_HOST);
    paper_end(f);
    for (int i = 0; i < 5; i++)
        paper_free(&m[i]);
}

static double host_gb(const struct paper_figures *f, int devices)
{
    double sum = 0;

    for (int d = 0; d < devices; d++)
        sum += (double)(f->bytes[PAPER_HOST][d] + f->bytes[d][PAPER_HOST]) * 1e-9;
    return sum;
}

/* y := A x and back to x through the host's loop: the CPU writes x in every iteration. */
static double jacobi(int64_t n, int steps, bool cached)
{
    struct paper_matrix a = paper_matrix(n, n), x = paper_matrix(n, 1), y = paper_matrix(n, 1);
    struct sc_kernel k = {.op = SC_OP_GEMV, .type = SC_D, .transa = 'N', .m = n, .n = n, .alpha = {1, 0}, .a = a.at,
                          .lda = n, .b = x.at, .ldb = 1, .c = y.at, .ldc = 1};
    struct paper_figures f;

    paper_begin(&f);
    for (int i = 0; i < steps; i++) {
        paper_call(&k);
        paper_drop(&y);
        paper_drop(&x);
        if (!cached)
            paper_drop(&a);
    }
    paper_end(&f);
    paper_free(&a);
    paper_free(&x);
    paper_free(&y);
    return f.seconds;
}

/* Figure 8: the same products on up to eight GPUs with a common cable to the host. */
static void print_scaling(void)
{
    static const char machine[] = "m2090x8";
    double base[2] = {0};

    printf("\nFigure 8: D = AB + AC on %s, speed-up over one GPU, no cache; the paper's: \"increasing performance up "
           "to 8 GPUs\" with large matrices\n\n| n | 1 | 2 | 4 | 8 |\n| --- | --- | --- | --- | --- |\n", machine);
    for (int i = 0; i < 2; i++) {
        printf("| %lld |", (long long)sizes[i]);
        for (int gpus = 1; gpus <= 8; gpus *= 2) {
            struct paper_figures ours, none;
            char some[64];

            snprintf(some, sizeof some, "%s:%d", machine, gpus);
            paper_open(some);
            microbenchmark(sizes[i], true, &ours);
            if (gpus == 1) {
                microbenchmark(sizes[i], false, &none);
                base[i] = none.seconds;
            }
            printf(" %.2f |", base[i] / ours.seconds);
            paper_close();
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const char *machine = argc > 1 ? argv[1] : "k20x2";
    double base[2] = {0}, loop = 0;

    sc_config.offload = SC_OFFLOAD_ALWAYS;
    printf("SemCache++ on %s\n\nFigures 6 and 7: D = AB + AC; the paper's: on two GPUs nearly 3 times one of unified "
           "memory, and 1.3 to 1.5 times cuBLASXt\n\n"
           "| n | GPUs | seconds | speed-up over one, no cache | over no cache | host links, GB | no cache, GB |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n", machine);
    for (int gpus = 1; gpus <= 2; gpus++) {
        char some[64];

        snprintf(some, sizeof some, "%s:%d", machine, gpus);
        paper_open(some);
        for (int i = 0; i < 2; i++) {
            struct paper_figures ours, none;

            microbenchmark(sizes[i], true, &ours);
            microbenchmark(sizes[i], false, &none);
            base[i] = gpus == 1 ? none.seconds : base[i];
            printf("| %lld | %d | %.3f | %.2f | %.2f | %.2f | %.2f |\n", (long long)sizes[i], gpus, ours.seconds,
                   base[i] / ours.seconds, none.seconds / ours.seconds, host_gb(&ours, gpus), host_gb(&none, gpus));
        }
        paper_close();
    }
    print_scaling();
    printf("\nFigure 9: 100 steps of Jacobi, n = 20000, speed-up over one GPU with an upload of A in every step; the "
           "paper's: 20 on one GPU, linear for more\n\n| GPUs | speed-up |\n| --- | --- |\n");
    for (int gpus = 1; gpus <= 2; gpus++) {
        char some[64];

        snprintf(some, sizeof some, "%s:%d", machine, gpus);
        paper_open(some);
        loop = gpus == 1 ? jacobi(20000, 100, false) : loop;
        printf("| %d | %.1f |\n", gpus, loop / jacobi(20000, 100, true));
        paper_close();
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
