/* PARALiA (TACO 2023), tables 4 and 5 and figure 3: dgemm in three shapes and ten placements of A, B and C, by the
 * policies of the paper and by semcache's.  Usage: paper-paralia [-a] [-u] [-d FILE]
 * [MACHINE].  Every seventh problem, of increasing size; -a: all; -u: table 5, GPUs of three speeds, the larger sizes;
 * -d: a file of all problems by all policies. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "bench/paper.h"

#define H SC_HOST
#define SIZES 21
#define PLACES 10
#define PROBLEMS (3 * SIZES * PLACES)

/* The paper does not list the ten placements.  Here: every mix of the host and three devices, one device alone, and
 * three distant devices. */
static const int places[PLACES][3] = {{H, H, H}, {H, H, 2}, {H, 1, H}, {H, 1, 2}, {0, H, H},
                                      {0, H, 2}, {0, 1, H}, {0, 1, 2}, {0, 0, 0}, {0, 5, 6}};

struct problem {
    int64_t m, n, k;
    const int *place;
    double gflop;
};

static struct problem problems[PROBLEMS];

static void add(int at, int64_t m, int64_t n, int64_t k)
{
    for (int p = 0; p < PLACES; p++)
        problems[at * PLACES + p] = (struct problem){m, n, k, places[p], 2e-9 * (double)m * (double)n * (double)k};
}

static void make_problems(void)
{
    static const int64_t ratio[3] = {2, 8, 32};

    for (int i = 0; i < SIZES; i++)
        add(i, (i + 2) * 1024, (i + 2) * 1024, (i + 2) * 1024);
    for (int i = 0; i < SIZES; i++) {
        int64_t fat = (8 + 4 * (i / 3)) * 1024, tall = (12 + 4 * (i / 3)) * 1024, r = ratio[i % 3];

        add(SIZES + i, fat, fat, fat / r);
        add(2 * SIZES + i, tall / r, tall / r, tall);
    }
}

static int by_work(const void *a, const void *b)
{
    const struct problem *p = a, *q = b;

    return p->gflop < q->gflop ? -1 : p->gflop > q->gflop;
}

/* --- policies ----------------------------------------------------------------------------------------------------- */

static const struct policy {
    const char *name;
    enum sc_strategy strategy;
    enum sc_offload offload; /* auto: with device selection */
    enum sc_metric metric;
    bool through_host;       /* operands on devices go to the host first */
    unsigned without;
    double paper[6];         /* Gflop/s and Gflop/s/W, of small, large, all */
    double uneven[6];        /* table 5 */
} policies[] = {
    {"cuBLASXt-like", SC_STRATEGY_ROUND_ROBIN, SC_OFFLOAD_ALWAYS, SC_METRIC_PERF, false,
     SC_WITHOUT_REUSE | SC_WITHOUT_TOPOLOGY, {1827, 8516, 7484, 0.79, 3.68, 3.23}, {0}},
    {"BLASX-like", SC_STRATEGY_DYNAMIC, SC_OFFLOAD_ALWAYS, SC_METRIC_PERF, true, SC_WITHOUT_TOPOLOGY,
     {4913, 24755, 21486, 2.12, 10.69, 9.28}, {5036, 18621, 17316, 2.21, 8.2, 7.6}},
    {"XKBLAS-like", SC_STRATEGY_OWNER, SC_OFFLOAD_ALWAYS, SC_METRIC_PERF, false, 0,
     {3569, 18572, 15895, 1.54, 8.02, 6.86}, {5379, 16782, 15520, 2.36, 7.4, 6.8}},
    {"all devices", SC_STRATEGY_CYCLIC, SC_OFFLOAD_ALWAYS, SC_METRIC_PERF, false, 0,
     {9396, 45840, 39996, 4.06, 19.79, 17.27}, {12056, 24892, 24146, 5.5, 10.9, 10.6}},
    {"perf", SC_STRATEGY_AUTO, SC_OFFLOAD_AUTO, SC_METRIC_PERF, false, 0, {10641, 46066, 40933, 5.32, 19.94, 18.06},
     {12160, 27221, 28117, 6.2, 14.7, 13.2}},
    {"edp", SC_STRATEGY_AUTO, SC_OFFLOAD_AUTO, SC_METRIC_EDP, false, 0, {9453, 45433, 39804, 6.30, 20.16, 18.64},
     {9453, 26154, 25645, 7.9, 15.3, 15.1}},
    {"pdp", SC_STRATEGY_AUTO, SC_OFFLOAD_AUTO, SC_METRIC_PDP, false, 0, {3970, 6700, 6530, 13.71, 23.14, 22.56}, {0}},
};
#define POLICIES ((int)(sizeof policies / sizeof *policies))

/* Seconds until the result is back at the first place. */
static void run(const struct policy *policy, const struct problem *p, struct paper_figures *f)
{
    struct paper_matrix a = paper_matrix(p->m, p->k), b = paper_matrix(p->k, p->n), c = paper_matrix(p->m, p->n);
    struct paper_matrix *operand[3] = {&a, &b, &c};
    struct sc_kernel kernel = paper_gemm(&a, &b, &c);

    sc_config.schedule = policy->strategy;
    sc_config.offload = policy->offload;
    sc_config.metric = policy->metric;
    sc_config.without = policy->without;
    for (int i = 0; i < 3; i++)
        if (p->place[i] != H)
            paper_move(operand[i], p->place[i]);
    paper_begin(f);
    for (int i = 0; i < 3 && policy->through_host; i++)
        if (p->place[i] != H)
            paper_drop(operand[i]);
    paper_call(&kernel);
    paper_move(&c, p->place[2]);
    paper_end(f);
    for (int i = 0; i < 3; i++)
        paper_free(operand[i]);
}

/* mean(Gflop) / mean(metric) of the smaller half, the larger half, all. */
struct sums {
    double gflop[3], seconds[3], joules[3];
};

static void sum(struct sums *s, int part, double gflop, const struct paper_figures *f)
{
    s->gflop[part] += gflop;
    s->seconds[part] += f->seconds;
    s->joules[part] += f->joules;
}

static void print(const char *name, const struct sums *s, const double *paper)
{
    printf("| %s |", name);
    for (int i = 0; i < 3; i++)
        printf(" %.0f (%.0f) |", s->gflop[i] / s->seconds[i], paper[i]);
    for (int i = 0; i < 3; i++)
        printf(" %.2f (%.2f) |", s->gflop[i] / s->joules[i], paper[3 + i]);
    printf("\n");
    fflush(stdout);
}

static double seconds_of[POLICIES][PROBLEMS];

#define OURS 4 /* perf */

static void print_gains(void)
{
    printf("\nBLASX-like lacks the topology of BLASX and the demand of idle devices for tasks.\n"
           "XKBLAS-like lacks the theft of tasks by idle devices: a call with C on one GPU runs on one GPU.\n");
    printf("\nGeometric mean of the gain of perf (smaller half, larger half, total):\n\n| | S | L | T |\n"
           "| --- | --- | --- | --- |\n");
    for (int policy = 0; policy < OURS; policy++) {
        if (paper_gain(seconds_of[policy], seconds_of[OURS], 0, PROBLEMS) <= 0)
            continue;
        printf("| %s |", policies[policy].name);
        for (int part = 0; part < 3; part++)
            printf(" %.2f |", paper_gain(seconds_of[policy], seconds_of[OURS], part == 1 ? PROBLEMS / 2 : 0,
                                         part == 0 ? PROBLEMS / 2 : PROBLEMS));
        printf("\n");
    }
}

/* Figure 3: GB over links, by the bandwidth of the link. */
static void print_links(int devices)
{
    static const struct problem three = {16384, 16384, 16384, places[7], 0}, host = {16384, 16384, 16384, places[0], 0};

    printf("\nFigure 3, n = 16384: GB over host links, and between GPUs by what the direct link has (GB/s)\n\n"
           "| policy | A, B, C on | host | below 12 | 12 to 30 | above |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i <= OURS; i++)
        for (int on = 0; on < 2; on++) {
            double sum[4] = {0};
            struct paper_figures f;

            run(&policies[i], on ? &three : &host, &f);
            for (int from = 0; from < devices; from++)
                for (int to = 0; to < devices; to++) {
                    double rate = from == to ? 0 : paper_link(from, to);

                    if (from != to)
                        sum[rate < 12e9 ? 1 : rate < 30e9 ? 2 : 3] += (double)f.bytes[from][to] * 1e-9;
                    else
                        sum[0] += (double)(f.bytes[PAPER_HOST][to] + f.bytes[to][PAPER_HOST]) * 1e-9;
                }
            printf("| %s | %s | %.1f | %.1f | %.1f | %.1f |\n", policies[i].name, on ? "GPUs 0, 1, 2" : "host", sum[0],
                   sum[1], sum[2], sum[3]);
        }
}

/* The requested problems, by one policy. */
static void run_policy(int policy, int step, bool uneven)
{
    struct sums sums = {0};

    for (int p = uneven ? PROBLEMS / 4 : 0; p < PROBLEMS; p += step) {
        struct paper_figures f;

        run(&policies[policy], &problems[p], &f);
        seconds_of[policy][p] = f.seconds;
        sum(&sums, p >= PROBLEMS / 2, problems[p].gflop, &f);
        sum(&sums, 2, problems[p].gflop, &f);
    }
    print(policies[policy].name, &sums, uneven ? policies[policy].uneven : policies[policy].paper);
}

/* A line by problem, for plots: size, places of the operands (-1: the host), and the policies' Gflop/s. */
static void write_problems(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fprintf(f, "# m n k A B C");
    for (int i = 0; i < POLICIES; i++)
        fprintf(f, " \"%s\"", policies[i].name);
    for (int p = 0; p < PROBLEMS; p++) {
        const struct problem *q = &problems[p];

        if (seconds_of[OURS][p] <= 0)
            continue;
        fprintf(f, "\n%lld %lld %lld %d %d %d", (long long)q->m, (long long)q->n, (long long)q->k, q->place[0],
                q->place[1], q->place[2]);
        for (int i = 0; i < POLICIES; i++)
            fprintf(f, " %.0f", seconds_of[i][p] > 0 ? q->gflop / seconds_of[i][p] : 0);
    }
    fprintf(f, "\n");
    fclose(f);
}

int main(int argc, char **argv)
{
    const char *data = NULL;
    bool all = false, uneven = false;
    const char *machine = "dgx1";
    int devices, option;

    while ((option = getopt(argc, argv, "aud:")) != -1) {
        all |= option == 'a';
        data = option == 'd' ? optarg : data;
        uneven |= option == 'u';
    }
    if (optind < argc)
        machine = argv[optind];
    make_problems();
    qsort(problems, PROBLEMS, sizeof *problems, by_work);
    devices = uneven ? paper_open_uneven(machine) : paper_open(machine);
    printf("PARALiA on %s%s, %s: ours (the paper's)\n\n", machine, uneven ? " with GPUs of three speeds" : "",
           all ? "all problems" : "every seventh of 630 problems");
    printf("| policy | S Gflop/s | L | T | S Gflop/s/W | L | T |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < POLICIES; i++)
        if (!uneven || policies[i].uneven[0] > 0)
            run_policy(i, all ? 1 : 7, uneven);
    print_gains();
    if (data)
        write_problems(data);
    if (!uneven)
        print_links(devices);
    paper_close();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
