/* What the width of strips is good for on emulated machines: milliseconds of dgemm until C is at home, in virtual time.
 *
 *     strips [-w WIDTH] [-t NN|NT|TN|TT] MACHINE [N...]
 *
 * Rounds of calls after each of which the program reads C: with A and B written by it before each of them, and kept. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotuner/strips.h"
#include "autotuner/trials.h"
#include "base/config.h"
#include "bench/paper.h"
#include "coherence/coherence.h"

#define ROUNDS 16

static const char *trans = "NN";

static void rounds(int64_t n, bool kept, double seconds[ROUNDS])
{
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n), c = paper_matrix(n, n);
    struct sc_kernel kernel = paper_gemm(&a, &b, &c);
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);

    kernel.beta[0] = 0;
    kernel.transa = trans[0];
    kernel.transb = trans[1];
    for (int i = 0; i < ROUNDS; i++) {
        double start;

        if (!kept) {
            sc_coherence_acquire_host((uintptr_t)a.at, bytes, SC_RDWR);
            sc_coherence_acquire_host((uintptr_t)b.at, bytes, SC_RDWR);
        }
        paper_wait();
        start = sc_coherence_virtual_seconds();
        paper_call(&kernel);
        paper_move(&c, SC_HOST);
        paper_wait();
        seconds[i] = sc_coherence_virtual_seconds() - start;
    }
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
}

static void line(const char *machine, int64_t n, bool kept)
{
    double seconds[ROUNDS];

    rounds(n, kept, seconds);
    printf("%s %.2s n=%lld %s:", machine, trans, (long long)n, kept ? "kept" : "fresh");
    for (int r = 0; r < ROUNDS; r++)
        printf(" %.4f", 1e3 * seconds[r]);
    printf(" ms\n");
}

int main(int argc, char **argv)
{
    static const int64_t usual[] = {4096, 8192, 16384};
    const char *machine;
    int option, count;

    while ((option = getopt(argc, argv, "w:t:")) != -1) {
        if (option == 'w')
            sc_strips_fixed = atoll(optarg);
        else if (option == 't' && strlen(optarg) == 2)
            trans = optarg;
        else
            return 2;
    }
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
