/* Cost of a result that other devices read in the next call: virtual milliseconds of a round on emulated machines, with
 * the data kept on the devices.
 *
 *     chain MACHINE [N...]
 *
 * chain: C := A B, E := C D.  powers: Y := X A, X := Y A.  Rounds follow without a wait. */
#include <stdlib.h>

#include "base/config.h"
#include "bench/paper.h"
#include "coherence/devices.h"

#define LEARNING 4 /* rounds that are not counted: uploads, and learning of the readers */
#define ROUNDS 8

static double seconds_of(const struct sc_kernel *first, const struct sc_kernel *second)
{
    double start = 0;

    for (int i = 0; i < LEARNING + ROUNDS; i++) {
        if (i == LEARNING) {
            paper_wait();
            start = sc_coherence_virtual_seconds();
        }
        paper_call(first);
        paper_call(second);
    }
    paper_wait();
    return (sc_coherence_virtual_seconds() - start) / ROUNDS;
}

static struct sc_kernel product(struct paper_matrix *a, struct paper_matrix *b, struct paper_matrix *c)
{
    struct sc_kernel kernel = paper_gemm(a, b, c);

    kernel.beta[0] = 0;
    return kernel;
}

static void line(const char *machine, int64_t n)
{
    struct paper_matrix m[5];
    struct sc_kernel first, second;
    double chain, powers;

    for (int i = 0; i < 5; i++)
        m[i] = paper_matrix(n, n);
    first = product(&m[0], &m[1], &m[2]);
    second = product(&m[2], &m[3], &m[4]);
    chain = seconds_of(&first, &second);
    first = product(&m[3], &m[0], &m[2]);
    second = product(&m[2], &m[0], &m[3]);
    powers = seconds_of(&first, &second);
    printf("%s n=%lld: chain %.4f powers %.4f ms\n", machine, (long long)n, 1e3 * chain, 1e3 * powers);
    for (int i = 0; i < 5; i++)
        paper_free(&m[i]);
}

int main(int argc, char **argv)
{
    static const int64_t usual[] = {2048, 4096, 8192, 16384};
    const char *machine = argc > 1 ? argv[1] : "h200x8:4";

    paper_open(machine);
    sc_config.push = 1;
    if (argc < 3)
        for (int i = 0; i < (int)(sizeof usual / sizeof *usual); i++)
            line(machine, usual[i]);
    for (int i = 2; i < argc; i++)
        line(machine, atoll(argv[i]));
    paper_close();
    return EXIT_SUCCESS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
