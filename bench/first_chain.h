/* A chain of products on memory that nothing has used before: R1 = A0 A1, R2 = R1 A2, up to R_L, which eight threads
 * read.  The factors were written by the host, the memory of the results was never touched.  All matrices are of order
 * n, by columns; no memory is freed, so that every round has new memory. */
#ifndef BENCH_FIRST_CHAIN_H
#define BENCH_FIRST_CHAIN_H

#include <math.h>

#include "bench/columns.h"
#include "examples/example.h"

enum { CHAIN_LINKS_MAX = 8, CHAIN_THREADS = 8 };

struct chain {
    int n, links;
    double *factor[CHAIN_LINKS_MAX + 1], *result[CHAIN_LINKS_MAX]; /* from plain malloc */
};

static inline double chain_element(int n, int seed, int i, int j)
{
    return (example_element((uint32_t)(i + seed), (uint32_t)j) - 0.5) / n;
}

static inline void *chain_write(void *argument)
{
    struct columns *p = argument;
    double *matrix = p->matrix;

    for (int j = p->from; j < p->to; j++)
        for (int i = 0; i < p->n; i++)
            matrix[(size_t)j * (size_t)p->n + (size_t)i] = chain_element(p->n, p->seed, i, j);
    return NULL;
}

/* Absolute values of one element of each page. */
static inline void *chain_read(void *argument)
{
    struct columns *p = argument;
    const double *matrix = p->matrix;
    size_t to = (size_t)p->to * (size_t)p->n;

    for (size_t at = (size_t)p->from * (size_t)p->n; at < to; at += 4096 / sizeof(double))
        p->sum += fabs(matrix[at]);
    return NULL;
}

static inline struct chain chain_new(int n, int links)
{
    struct chain chain = {.n = n, .links = links};
    size_t count = (size_t)n * (size_t)n;

    for (int i = 0; i <= links; i++) {
        chain.factor[i] = example_doubles(count);
        columns_by_threads(chain.factor[i], n, i, CHAIN_THREADS, chain_write);
    }
    for (int i = 0; i < links; i++)
        chain.result[i] = example_doubles(count);
    return chain;
}

/* Error of element (i, j) of A0 A1, relative to the sum of the terms' absolute values. */
static inline double chain_error(const struct chain *chain, const double *first, int i, int j)
{
    double sum = 0, size = 0;

    for (int k = 0; k < chain->n; k++) {
        double term = chain_element(chain->n, 0, i, k) * chain_element(chain->n, 1, k, j);

        sum += term;
        size += fabs(term);
    }
    return fabs(sum - first[(size_t)j * (size_t)chain->n + (size_t)i]) / size;
}

/* Prints the seconds of rounds of `run`, which computes the results; the last one is in host memory when `run` returns,
 * or when the host reads it.  `open` comes before the first round. */
static inline int chain_main(int argc, char **argv, const char *name, void (*open)(void),
                             void (*run)(const struct chain *))
{
    int n = argc > 1 ? atoi(argv[1]) : 8192, links = argc > 2 ? atoi(argv[2]) : 3;
    int rounds = argc > 3 ? atoi(argv[3]) : 3;
    double best = INFINITY, first = 0, sum = 0;

    if (n < 1 || links < 1 || links > CHAIN_LINKS_MAX || rounds < 1) {
        fprintf(stderr, "usage: %s [n [links, at most %d [rounds]]]\n", argv[0], CHAIN_LINKS_MAX);
        return 2;
    }
    open();
    for (int round = 0; round < rounds; round++) {
        struct chain chain = chain_new(n, links);
        double start = example_now(), seconds;

        run(&chain);
        sum += columns_by_threads(chain.result[links - 1], n, 0, CHAIN_THREADS, chain_read);
        seconds = example_now() - start;
        if (round == 0)
            first = seconds;
        if (seconds < best)
            best = seconds;
        if (links == 1 && chain_error(&chain, chain.result[0], n / 3, n / 2) > 1e-12) {
            fprintf(stderr, "%s: a wrong result\n", argv[0]);
            return 1;
        }
    }
    printf("%s n=%d links=%d first_seconds=%.4f best_seconds=%.4f sum=%.10g\n", name, n, links, first, best, sum);
    return 0;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
