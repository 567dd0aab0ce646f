/* Effect of the width of strips on emulated machines: virtual milliseconds of a product of square matrices, or of a
 * solve, until the result is at home.
 *
 *     strips [-r gemm|syrk|syr2k|symm|trmm|trsm] [-t NN|NT|TN|TT] [-l LL|LU|RL|RU] [-w WIDTH] [-x STRATEGY] [-s] [-b]
 *            MACHINE [N...]
 *
 * -l: side and triangle.  -x: number of a strategy, 0 (auto) to 6 (dynamic).  -s: the inner product of matrices 8 times
 * as tall as wide (gemm, N: the height).  -b: beta is 1, and the program
 * writes C, too.  The program reads the result after every call.  Two kinds of rounds: the
 * program writes the operands before every call, or keeps the operands. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "autotuner/strips.h"
#include "autotuner/trials.h"
#include "base/config.h"
#include "bench/paper.h"
#include "coherence/access.h"
#include "coherence/devices.h"

#define ROUNDS 16

#define TALL 8

static const char *trans = "NN", *place = "LL";
static enum paper_routines routine = PAPER_GEMM;
static bool tall, adds;

/* The kinds of rounds. */
struct operands {
    struct paper_matrix a, b, c;
    struct sc_kernel kernel;
};

static void make(struct operands *o, int64_t n)
{
    int64_t wide = tall ? n / TALL : n;

    o->a = paper_matrix(n, wide);
    o->b = paper_matrix(n, wide);
    o->c = paper_matrix(wide, wide);
    o->kernel = paper_square(routine, &o->a, &o->b, &o->c);
    o->kernel.m = o->kernel.n = wide;
    o->kernel.beta[0] = adds;
    o->kernel.transa = trans[0];
    o->kernel.transb = trans[1];
    o->kernel.side = place[0];
    o->kernel.uplo = place[1];
}

static void write_inputs(const struct operands *o)
{
    size_t bytes = (size_t)(o->a.rows * o->a.cols) * sizeof(double);

    sc_coherence_acquire_host((uintptr_t)o->a.at, bytes, SC_RDWR);
    if (paper_routine[routine].has_b)
        sc_coherence_acquire_host((uintptr_t)o->b.at, bytes, SC_RDWR);
    if (adds)
        sc_coherence_acquire_host((uintptr_t)o->c.at, (size_t)(o->c.rows * o->c.cols) * sizeof(double), SC_RDWR);
}

static void rounds(int64_t n, bool kept, double seconds[ROUNDS])
{
    struct operands o;

    make(&o, n);
    for (int i = 0; i < ROUNDS; i++) {
        double start;

        if (!kept)
            write_inputs(&o);
        paper_wait();
        start = sc_coherence_virtual_seconds();
        paper_call(&o.kernel);
        paper_move(paper_routine[routine].in_place ? &o.b : &o.c, SC_HOST);
        paper_wait();
        seconds[i] = sc_coherence_virtual_seconds() - start;
    }
    paper_free(&o.a);
    paper_free(&o.b);
    paper_free(&o.c);
}

static void line(const char *machine, int64_t n, bool kept)
{
    double seconds[ROUNDS];

    rounds(n, kept, seconds);
    printf("%s %s %.2s %.2s n=%lld %s:", machine, paper_routine[routine].name, trans, place, (long long)n,
           kept ? "kept" : "fresh");
    for (int r = 0; r < ROUNDS; r++)
        printf(" %.4f", 1e3 * seconds[r]);
    printf(" ms\n");
}

static bool set_routine(const char *name)
{
    for (int r = 0; r < PAPER_ROUTINES; r++)
        if (strcasecmp(name, paper_routine[r].name + 1) == 0) {
            routine = (enum paper_routines)r;
            return true;
        }
    return false;
}

static bool set_option(int option)
{
    switch (option) {
    case 'w': return (sc_strips_fixed = atoll(optarg)) > 0;
    case 't': trans = optarg; return strlen(optarg) == 2;
    case 'l': place = optarg; return strlen(optarg) == 2;
    case 'r': return set_routine(optarg);
    case 'x': sc_config.schedule = (enum sc_strategy)atoi(optarg); return sc_config.schedule < SC_STRATEGIES;
    case 'b': return adds = true;
    case 's': trans = "TN"; return tall = true;
    default: return false;
    }
}

int main(int argc, char **argv)
{
    static const int64_t usual[] = {4096, 8192, 16384};
    const char *machine;
    int option, count;

    while ((option = getopt(argc, argv, "w:t:l:r:x:sb")) != -1)
        if (!set_option(option))
            return 2;
    machine = optind < argc ? argv[optind++] : "h200x8:4";
    count = optind < argc ? argc - optind : (int)(sizeof usual / sizeof *usual);
    paper_open(machine);
    sc_config.push = 1;
    for (int i = 0; i < count; i++)
        for (int kept = 0; kept < 2; kept++)
            line(machine, optind < argc ? atoll(argv[optind + i]) : usual[i], kept);
    sc_trials_write(stdout);
    paper_close();
    return EXIT_SUCCESS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
