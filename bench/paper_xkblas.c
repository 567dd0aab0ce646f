/* XKBLAS (2021), table II and figure 3: the value of the heuristics, left out one by one, and the gain with resident
 * data; figure 8: two calls composed.  Usage: paper-xkblas [MACHINE]. */
#include <stdlib.h>

#include "base/config.h"
#include "bench/paper.h"

#define SIZES 4
static const int64_t sizes[SIZES] = {16384, 24576, 32768, 40960};

static const enum paper_routines routines[3] = {PAPER_GEMM, PAPER_SYR2K, PAPER_TRSM};
/* Percent, largest for n >= 16384: data on device, without optimistic device to device copies, and without topology. */
static const double published[3][3] = {{111.7, -43.5, -43}, {71.1, -19.4, -53.5}, {52.6, -29.6, -29.3}};

enum variant { BASE, ON_DEVICE, NO_TRANSIT, NO_TRANSIT_NO_TOPOLOGY, NO_TOPOLOGY, VARIANTS };
static const unsigned without[VARIANTS] = {0, 0, SC_WITHOUT_TRANSIT, SC_WITHOUT_TRANSIT | SC_WITHOUT_TOPOLOGY,
                                           SC_WITHOUT_TOPOLOGY};

/* Tflop/s.  On device: spread as in a call, and the result stays on the devices. */
static double rate_of(enum paper_routines routine, int64_t n, enum variant variant)
{
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n), c = paper_matrix(n, n);
    struct sc_kernel kernel = paper_square(routine, &a, &b, &c);
    struct paper_figures f;

    sc_config.without = without[variant];
    if (variant == ON_DEVICE) {
        paper_spread(&a);
        paper_spread(&b);
        paper_spread(&c);
    }
    paper_begin(&f);
    paper_call(&kernel);
    if (variant != ON_DEVICE)
        paper_move(paper_routine[routine].in_place ? &b : &c, SC_HOST);
    paper_end(&f);
    sc_config.without = 0;
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
    return paper_routine[routine].flops * 1e-12 * (double)n * (double)n * (double)n / f.seconds;
}

static void ablation(void)
{
    static const char *const names[VARIANTS] = {"all", "data on device", "no transit", "no transit, no topology",
                                                "no topology"};
    double most[3][VARIANTS] = {{0}};

    printf("Figure 3: Tflop/s, result on the host but for data on device\n\n| routine | n |");
    for (int v = 0; v < VARIANTS; v++)
        printf(" %s |", names[v]);
    printf("\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < SIZES; i++) {
            double rate[VARIANTS];

            printf("| %s | %lld |", paper_routine[routines[r]].name, (long long)sizes[i]);
            for (int v = 0; v < VARIANTS; v++) {
                double change;

                rate[v] = rate_of(routines[r], sizes[i], (enum variant)v);
                change = 100 * (rate[v] / rate[BASE] - 1);
                if (v == ON_DEVICE ? change > most[r][v] : change < most[r][v])
                    most[r][v] = change;
                printf(" %.1f |", rate[v]);
            }
            printf("\n");
        }
    printf("\nTable II: largest change in percent, ours (XKBLAS)\n\n"
           "| routine | data on device | no transit | no transit, no topology | no topology |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (int r = 0; r < 3; r++)
        printf("| %s | %+.1f (%+.1f) | %+.1f (%+.1f) | %+.1f (%+.1f) | %+.1f |\n", paper_routine[routines[r]].name,
               most[r][ON_DEVICE], published[r][0], most[r][NO_TRANSIT], published[r][1],
               most[r][NO_TRANSIT_NO_TOPOLOGY], published[r][2], most[r][NO_TOPOLOGY]);
}

/* X := A^-1 B, then D := X C + D, until D is at home; alone; with a wait between the calls. */
static double composed(int64_t n, bool solve, bool product, bool wait)
{
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n), c = paper_matrix(n, n), d = paper_matrix(n, n);
    struct sc_kernel trsm = paper_square(PAPER_TRSM, &a, &b, &c), gemm = paper_gemm(&b, &c, &d);
    struct paper_figures f;

    paper_begin(&f);
    if (solve)
        paper_call(&trsm);
    if (wait) {
        paper_wait();
        paper_move(&b, SC_HOST);
    }
    if (product)
        paper_call(&gemm);
    paper_move(product ? &d : &b, SC_HOST);
    paper_end(&f);
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
    paper_free(&d);
    return (solve + 2 * product) * 1e-12 * (double)n * (double)n * (double)n / f.seconds;
}

int main(int argc, char **argv)
{
    const char *machine = argc > 1 ? argv[1] : "dgx1";
    int64_t n = 32768;

    paper_open(machine);
    printf("XKBLAS on %s\n\n", machine);
    ablation();
    printf("\nFigure 8: Tflop/s at n = %lld: dtrsm %.1f, dgemm %.1f, in sequence %.1f, composed %.1f (XKBLAS "
           "56.6, Chameleon 36.6)\n", (long long)n, composed(n, true, false, false), composed(n, false, true, false),
           composed(n, true, true, true), composed(n, true, true, false));
    paper_close();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
