/* SPDX-License-Identifier: BSD-2-Clause */
/* Work on the columns of a matrix by several threads. */
#ifndef BENCH_COLUMNS_H
#define BENCH_COLUMNS_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { COLUMNS_THREADS_MAX = 64 };

/* Columns from `from` up to `to` of a matrix of order n, for one thread. */
struct columns {
    pthread_t thread;
    void *matrix;
    int n, from, to, seed; /* seed: for the work */
    double sum;            /* the work's result, 0 before */
};

/* Calls work(struct columns *) in `threads` threads, the caller's among them. Returns the sum of the results. */
static inline double columns_by_threads(void *matrix, int n, int seed, int threads, void *(*work)(void *))
{
    struct columns part[COLUMNS_THREADS_MAX];
    double sum = 0;

    for (int i = 0; i < threads; i++) {
        part[i] = (struct columns){.matrix = matrix, .n = n, .seed = seed};
        part[i].from = (int)((int64_t)n * i / threads);
        part[i].to = (int)((int64_t)n * (i + 1) / threads);
        if (i > 0 && pthread_create(&part[i].thread, NULL, work, &part[i]))
            exit(2);
    }
    work(&part[0]);
    for (int i = 0; i < threads; i++) {
        if (i > 0)
            pthread_join(part[i].thread, NULL);
        sum += part[i].sum;
    }
    return sum;
}

#endif
