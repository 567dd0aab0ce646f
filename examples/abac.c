/* D = A B + A C by two dgemm and one daxpy over all n*n elements, then the CPU looks at D.
 *
 *     abac [-d none|one|pages|whole] [-f] [n [rounds]]
 *
 * -d  what the CPU reads: nothing, one element, one element of each page, or everything (default)
 * -f  the CPU writes A, B and C afresh before each round (not timed)
 * The time of a round runs until the CPU has read what it reads. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

/* A(i,k) depends on i mod P and k mod Q only, B(k,j) and C(k,j) on k mod Q and j mod R: so the exact D has P * R different
 * numbers, and each element can be checked.  Primes, so that no cut of a matrix falls on a period. */
enum { P = 61, Q = 67, R = 71 };

enum look { LOOK_NONE, LOOK_ONE, LOOK_PAGES, LOOK_WHOLE };

static double value(unsigned i, unsigned j, unsigned salt)
{
    return (double)((i * 131u + j * 541u + i * j * 7u + salt) % 1009u) / 1009.0 - 0.5;
}

static void generate(double *m, int n, int rows, int cols, unsigned salt)
{
    for (int j = 0; j < n; j++) {
        double *column = m + (size_t)j * (size_t)n;

        for (int i = 0; i < n && i < rows; i++)
            column[i] = value((unsigned)i, (unsigned)(j % cols), salt);
        for (int i = rows; i < n; i++)
            column[i] = column[i - rows];
    }
}

/* expected[i % P + P * (j % R)]: the exact D(i,j), up to rounding. */
static void expect(double *expected, int n)
{
    double count[Q];

    for (int k = 0; k < Q; k++)
        count[k] = n / Q + (k < n % Q);
    for (unsigned j = 0; j < R; j++)
        for (unsigned i = 0; i < P; i++) {
            double sum = 0;

            for (unsigned k = 0; k < Q; k++)
                sum += count[k] * value(i, k, 1) * (value(k, j, 2) + value(k, j, 3));
            expected[i + P * j] = sum;
        }
}

static double error_at(const double *d, const double *expected, int n, int i, int j)
{
    return fabs(d[(size_t)j * (size_t)n + (size_t)i] - expected[i % P + P * (j % R)]);
}

/* Reads D as told; returns the largest error seen. */
static double look_at(const double *d, const double *expected, int n, enum look look)
{
    size_t count = (size_t)n * (size_t)n, step = look == LOOK_PAGES ? 4096 / sizeof(double) : 1;
    double worst = 0;

    if (look == LOOK_NONE)
        return 0;
    if (look == LOOK_ONE)
        return error_at(d, expected, n, n / 2, n / 3);
    if (look == LOOK_PAGES) {
        for (size_t at = 0; at < count; at += step) {
            double e = error_at(d, expected, n, (int)(at % (size_t)n), (int)(at / (size_t)n));

            if (!(e <= worst))
                worst = e;
        }
        return worst;
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double e = error_at(d, expected, n, i, j);

            if (!(e <= worst))
                worst = e;
        }
    return worst;
}

static int parse_look(const char *word, enum look *look)
{
    static const char *const words[] = {"none", "one", "pages", "whole"};

    for (int i = 0; i < 4; i++)
        if (strcmp(word, words[i]) == 0) {
            *look = (enum look)i;
            return 0;
        }
    return -1;
}

int main(int argc, char **argv)
{
    int n = 2000, rounds = 1, option;
    enum look look = LOOK_WHOLE;
    bool fresh = false, good;
    double worst = 0, bound, first = 0, rest = 0;
    double *a, *b, *c, *d, *e;
    static double expected[P * R];
    size_t count;

    while ((option = getopt(argc, argv, "d:f")) != -1) {
        if (option == 'f')
            fresh = true;
        else if (option != 'd' || parse_look(optarg, &look) != 0)
            goto usage;
    }
    if (optind < argc)
        n = atoi(argv[optind++]);
    if (optind < argc)
        rounds = atoi(argv[optind++]);
    if (n < 1 || n > 46340 || rounds < 1 || optind < argc) /* n * n is one int */
        goto usage;

    count = (size_t)n * (size_t)n;
    a = example_doubles(count);
    b = example_doubles(count);
    c = example_doubles(count);
    d = example_doubles(count);
    e = example_doubles(count);
    expect(expected, n);
    for (int round = 0; round < rounds; round++) {
        double start, error;

        if (round == 0 || fresh) {
            generate(a, n, P, Q, 1);
            generate(b, n, Q, R, 2);
            generate(c, n, Q, R, 3);
        }
        start = example_now();
        cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, n, n, n, 1, a, n, b, n, 0, d, n);
        cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, n, n, n, 1, a, n, c, n, 0, e, n);
        cblas_daxpy(n * n, 1, e, 1, d, 1);
        error = look_at(d, expected, n, look);
        if (!(error <= worst))
            worst = error;
        if (round == 0)
            first = example_now() - start;
        else
            rest += (example_now() - start) / (rounds - 1);
    }

    bound = 4e-16 * n * sqrt(n) + 1e-13;
    good = worst <= bound;
    printf("abac n=%d rounds=%d error=%.3e bound=%.3e first_seconds=%.6f later_seconds=%.6f %s\n", n, rounds, worst, bound,
           first, rest, good ? "ok" : "WRONG");
    free(e);
    free(d);
    free(c);
    free(b);
    free(a);
    return good ? 0 : 1;
usage:
    fprintf(stderr, "usage: abac [-d none|one|pages|whole] [-f] [n [rounds]]\n");
    return 2;
}
