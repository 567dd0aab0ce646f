/* Time of the CPU's reads of a result, C of 1 GiB from a thin dgemm: (a) an element of every page in order, (b) every
 * element in order, (c) a single element.  The reads begin after a pause in which the dgemm ends.  For (c) the pause is
 * 10 ms of work, and 200 ms of sleep, in which processors and the library's thread fall asleep too.  A plain BLAS
 * program.
 *
 *     sweep [rounds [n]]     C is n x n, default 11586 (1 GiB) */
#include <math.h>
#include <stdbool.h>

#include "examples/example.h"

enum { THIN = 512, TOUCHES = 15, WORK = -10, LONG_PAUSE = 200 };

struct product {
    int n;
    double *a, *b, *c;
};

/* C := A B again.  Returns after a pause for the devices: milliseconds of sleep, or of work when negative. */
static void compute(const struct product *p, long milliseconds)
{
    struct timespec pause = {0, milliseconds * 1000 * 1000};
    double until = example_now() - 1e-3 * (double)milliseconds;

    cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, p->n, p->n, THIN, 1, p->a, p->n, p->b, THIN, 0,
                p->c, p->n);
    if (milliseconds > 0)
        nanosleep(&pause, NULL);
    else
        while (example_now() < until)
            ;
}

static double sweep(const struct product *p, size_t step, double *sum)
{
    size_t count = (size_t)p->n * (size_t)p->n;
    double start = example_now(), s = 0;

    for (size_t at = 0; at < count; at += step)
        s += ((const volatile double *)p->c)[at];
    *sum += s;
    return example_now() - start;
}

/* Median seconds of the first touch of one element of a fresh result. */
static double first_touch(const struct product *p, long pause, double *sum)
{
    double seconds[TOUCHES];
    size_t count = (size_t)p->n * (size_t)p->n;

    for (int i = 0; i < TOUCHES; i++) {
        size_t at = (size_t)(i + 1) * (count / (TOUCHES + 2)) + 12345 % count;
        double start;

        compute(p, pause);
        start = example_now();
        *sum += ((const volatile double *)p->c)[at % count];
        seconds[i] = example_now() - start;
    }
    qsort(seconds, TOUCHES, sizeof *seconds, example_compare);
    return seconds[TOUCHES / 2];
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 4;
    struct product p = {.n = argc > 2 ? atoi(argv[2]) : 11586};
    double pages = INFINITY, all = INFINITY, touch, slept, sum = 0, bytes = 8.0 * p.n * p.n;

    p.a = example_doubles((size_t)p.n * THIN);
    p.b = example_doubles((size_t)p.n * THIN);
    p.c = example_doubles((size_t)p.n * (size_t)p.n);
    for (size_t i = 0; i < (size_t)p.n * THIN; i++) {
        p.a[i] = 1;
        p.b[i] = 1.0 / THIN;
    }
    for (int round = 0; round < rounds; round++) { /* the first has the start-up costs; the best counts */
        compute(&p, LONG_PAUSE);
        pages = fmin(pages, sweep(&p, 4096 / sizeof(double), &sum));
        compute(&p, LONG_PAUSE);
        all = fmin(all, sweep(&p, 1, &sum));
    }
    touch = first_touch(&p, WORK, &sum);
    slept = first_touch(&p, LONG_PAUSE, &sum);
    printf("sweep bytes=%.0f pages_gbs=%.3f all_gbs=%.3f touch_us=%.1f slept_us=%.1f sum=%.6e\n", bytes,
           1e-9 * bytes / pages, 1e-9 * bytes / all, 1e6 * touch, 1e6 * slept, sum);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
