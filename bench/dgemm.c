/* C = A B from plain malloc memory, until C is valid on the host (the CPU has read one element of each of its pages).
 * Knows nothing of semcache.
 *
 *     dgemm [-f] [n [rounds]]
 *
 * -f  the CPU writes A and B afresh before each round (not timed) */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "examples/example.h"

static void generate(double *m, int n, int seed)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            m[(size_t)j * (size_t)n + (size_t)i] = example_element((uint32_t)(i + seed), (uint32_t)j) / 3 - 0.2;
}

static double read_pages(const double *c, int n)
{
    size_t count = (size_t)n * (size_t)n;
    double sum = 0;

    for (size_t at = 0; at < count; at += 4096 / sizeof(double))
        sum += c[at];
    return sum;
}

/* |C(i,j) - the sum| at one place, by a plain loop. */
static double error_at(const double *a, const double *b, const double *c, int n, int i, int j)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[(size_t)k * (size_t)n + (size_t)i] * b[(size_t)j * (size_t)n + (size_t)k];
    return fabs(sum - c[(size_t)j * (size_t)n + (size_t)i]);
}

int main(int argc, char **argv)
{
    int n = 2000, rounds = 3, option;
    bool fresh = false, good;
    double first = 0, best = INFINITY, sum = 0, error = 0, flops;
    double *a, *b, *c;

    while ((option = getopt(argc, argv, "f")) != -1) {
        if (option != 'f')
            return 2;
        fresh = true;
    }
    if (optind < argc)
        n = atoi(argv[optind++]);
    if (optind < argc)
        rounds = atoi(argv[optind++]);
    a = example_doubles((size_t)n * (size_t)n);
    b = example_doubles((size_t)n * (size_t)n);
    c = example_doubles((size_t)n * (size_t)n);
    for (int round = 0; round < rounds; round++) {
        double start, seconds;

        if (round == 0 || fresh) {
            generate(a, n, 1);
            generate(b, n, 2);
        }
        start = example_now();
        cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
        sum += read_pages(c, n);
        seconds = example_now() - start;
        if (round == 0)
            first = seconds;
        else
            best = fmin(best, seconds);
    }
    for (int i = 0; i < 8; i++)
        error = example_worse(error, error_at(a, b, c, n, i * 971 % n, i * 577 % n));
    good = error <= 1e-14 * n && isfinite(sum);
    flops = 2.0 * n * n * n;
    printf("dgemm n=%d rounds=%d first_seconds=%.6f later_seconds=%.6f first_tflops=%.3f later_tflops=%.3f"
           " error=%.1e %s\n",
           n, rounds, first, best, 1e-12 * flops / first, 1e-12 * flops / best, error, good ? "ok" : "WRONG");
    return good ? 0 : 1;
}
