/* D = A B + A C by two dgemm and one daxpy over all n*n elements; the CPU reads D afterwards.
 *
 *     abac [-d none|one|pages|whole] [-f] [n [rounds]]
 *
 * -d  the CPU reads no element, one element, one element of every page, or (default) the whole of D.
 * -f  the CPU writes A, B and C anew before each round (not timed).
 *
 * The time of a round includes the CPU's reads. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

/* A(i,k) depends on i mod P and k mod Q only, B(k,j) and C(k,j) on k mod Q and j mod R. The exact D therefore has P * R
 * different numbers, and every element can be checked. P, Q and R are primes, so that no cut of a matrix falls on a
 * period. */
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
    int i = 0, j = 0;

    if (look == LOOK_NONE)
        return 0;
    if (look == LOOK_ONE)
        return error_at(d, expected, n, n / 2, n / 3);
    for (size_t at = 0; at < count; at += step) {
        worst = example_worse(worst, error_at(d, expected, n, i, j));
        for (i += (int)step; i >= n; i -= n)
            j++;
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

struct problem {
    int n, rounds;
    enum look look;
    bool fresh;
    double *a, *b, *c, *d, *e;
    double expected[P * R];
};

static int parse(int argc, char **argv, struct problem *p)
{
    int option;

    while ((option = getopt(argc, argv, "d:f")) != -1) {
        if (option == 'f')
            p->fresh = true;
        else if (option != 'd' || parse_look(optarg, &p->look) != 0)
            return -1;
    }
    if (optind < argc)
        p->n = atoi(argv[optind++]);
    if (optind < argc)
        p->rounds = atoi(argv[optind++]);
    return p->n < 1 || p->n > 46340 || p->rounds < 1 || optind < argc ? -1 : 0; /* n * n fits into an int */
}

/* D := A B + A C, and the CPU's reads; returns the largest error read. */
static double run_round(struct problem *p)
{
    int n = p->n;

    cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, n, n, n, 1, p->a, n, p->b, n, 0, p->d, n);
    cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, n, n, n, 1, p->a, n, p->c, n, 0, p->e, n);
    cblas_daxpy(n * n, 1, p->e, 1, p->d, 1);
    return look_at(p->d, p->expected, n, p->look);
}

/* Runs the rounds. Returns the largest error, the seconds of the first round, and the mean seconds of later rounds. */
static double run_rounds(struct problem *p, double *first, double *later)
{
    double worst = 0;

    *first = *later = 0;
    for (int round = 0; round < p->rounds; round++) {
        double start, error;

        if (round == 0 || p->fresh) {
            generate(p->a, p->n, P, Q, 1);
            generate(p->b, p->n, Q, R, 2);
            generate(p->c, p->n, Q, R, 3);
        }
        start = example_now();
        error = run_round(p);
        if (round == 0)
            *first = example_now() - start;
        else
            *later += (example_now() - start) / (p->rounds - 1);
        worst = example_worse(worst, error);
    }
    return worst;
}

int main(int argc, char **argv)
{
    static struct problem p = {.n = 2000, .rounds = 1, .look = LOOK_WHOLE};
    double error, bound, first, later;
    bool good;
    size_t count;

    if (parse(argc, argv, &p) != 0) {
        fprintf(stderr, "usage: abac [-d none|one|pages|whole] [-f] [n [rounds]]\n");
        return 2;
    }
    count = (size_t)p.n * (size_t)p.n;
    p.a = example_doubles(count);
    p.b = example_doubles(count);
    p.c = example_doubles(count);
    p.d = example_doubles(count);
    p.e = example_doubles(count);
    expect(p.expected, p.n);
    error = run_rounds(&p, &first, &later);

    bound = 4e-16 * p.n * sqrt(p.n) + 1e-13;
    good = error <= bound;
    printf("abac n=%d rounds=%d error=%.3e bound=%.3e first_seconds=%.6f later_seconds=%.6f %s\n", p.n, p.rounds, error,
           bound, first, later, good ? "ok" : "WRONG");
    free(p.e);
    free(p.d);
    free(p.c);
    free(p.b);
    free(p.a);
    return good ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
