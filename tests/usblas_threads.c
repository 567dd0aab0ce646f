/* Handles of the Sparse BLAS in several threads. Each thread makes, uses and destroys its own matrices; the threads
 * share one matrix, which the last thread destroys. A race on the table of handles would give wrong products. usblas.t
 * runs the program on the host and on devices. */
#include <pthread.h>

#include "semcache/blas_sparse.h"
#include "tests/tap.h"

enum { N = 500, THREADS = 4, ROUNDS = 40 };

static int shared;

/* Number of wrong elements in y := A x, where A has `diagonal` on its diagonal and 1 above. */
static int use(int m, int diagonal, int round)
{
    double *x = calloc(2 * N, sizeof *x), *y = x ? x + N : NULL;
    int wrong = !x;

    for (int i = 0; !wrong && i < N; i++)
        x[i] = i % 10 + round;
    if (!wrong && BLAS_dusmv(blas_no_trans, 1, m, x, 1, y, 1))
        wrong = N;
    for (int i = 0; x && i < N; i++)
        wrong += y[i] != diagonal * x[i] + (i + 1 < N ? x[i + 1] : 0);
    free(x);
    return wrong;
}

static int make(int diagonal)
{
    int m = BLAS_duscr_begin(N, N), wrong = m == -1;

    for (int i = 0; i < N; i++) {
        wrong += !!BLAS_duscr_insert_entry(m, diagonal, i, i);
        wrong += i + 1 < N && BLAS_duscr_insert_entry(m, 1, i, i + 1);
    }
    return wrong || BLAS_duscr_end(m) ? -1 : m;
}

static void *work(void *number)
{
    int diagonal = 2 + *(int *)number, wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        int m = make(diagonal);

        wrong += use(m, diagonal, round) + use(shared, 100, round);
        wrong += BLAS_usgp(m, blas_num_nonzeros) != 2 * N - 1;
        wrong += !!BLAS_usds(m);
        wrong += BLAS_usgp(m, blas_invalid_handle) != 1;
    }
    *(int *)number = wrong;
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int number[THREADS];

    shared = make(100);
    for (int t = 0; t < THREADS; t++) {
        number[t] = t;
        if (pthread_create(&thread[t], NULL, work, &number[t]))
            return 1;
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        tap_ok(number[t] == 0, "thread %d: %d are wrong", t, number[t]);
    }
    tap_ok(use(shared, 100, 1) == 0 && BLAS_usds(shared) == 0, "the one of all");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
