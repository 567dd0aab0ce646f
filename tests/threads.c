/* Sixteen threads read and write a result while its pages are fetched; no thread may see a byte from before the call.
 * Linked with the BLAS only.
 *
 *     threads [rounds]
 *
 * A round computes y := 2 y by dscal: element i is i + 1 before the call, and 2 (i + 1) afterwards. Every thread walks
 * over the whole of y from its own start, reads each number, and negates the numbers of its own residue class. A thread
 * may see 2 (i + 1) or -2 (i + 1); any different number is stale or torn. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void dscal_(const int *, const double *, double *, const int *);

enum { THREADS = 16, COUNT = 3000000, STEP = 7 };

static double *y;
static atomic_long stale;
static pthread_barrier_t barrier;

static void *walk(void *argument)
{
    int64_t self = (int64_t)(intptr_t)argument, start = COUNT / THREADS * self;
    long bad = 0;

    pthread_barrier_wait(&barrier);
    for (int64_t k = 0; k < COUNT; k += STEP) {
        int64_t i = (start + k) % COUNT;
        double seen = ((volatile double *)y)[i];

        if (fabs(seen) != 2.0 * (double)(i + 1))
            bad++;
        if (i % THREADS == self)
            ((volatile double *)y)[i] = -seen;
    }
    atomic_fetch_add(&stale, bad);
    return NULL;
}

/* Each element must have been negated exactly once by its owner, if the owner's walk met the element. */
static long wrong_at_end(void)
{
    long wrong = 0;

    for (int64_t i = 0; i < COUNT; i++) {
        int64_t start = COUNT / THREADS * (i % THREADS), k = (i - start + COUNT) % COUNT;

        if (y[i] != (k % STEP == 0 ? -2.0 : 2.0) * (double)(i + 1))
            wrong++;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5, n = COUNT, one = 1;
    double two = 2;
    pthread_t threads[THREADS];
    long wrong = 0;

    y = malloc(COUNT * sizeof *y);
    if (!y || pthread_barrier_init(&barrier, NULL, THREADS) != 0)
        return 2;
    for (int round = 0; round < rounds; round++) {
        for (int64_t i = 0; i < COUNT; i++)
            y[i] = (double)(i + 1);
        dscal_(&n, &two, y, &one);
        for (intptr_t i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, walk, (void *)i) != 0)
                return 2;
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        wrong += wrong_at_end();
    }
    printf("threads rounds=%d stale=%ld wrong=%ld %s\n", rounds, stale, wrong, stale || wrong ? "WRONG" : "ok");
    free(y);
    return stale || wrong ? 1 : 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
