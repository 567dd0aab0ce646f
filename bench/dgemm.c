/* C = A B from plain malloc memory, until C is valid on the host: the CPU has read an element of every page of C.
 * A plain BLAS program.
 *
 *     dgemm [-f] [-t threads] [-w] [n [rounds]]
 *
 * -f  the CPU writes A and B afresh before each round (not timed);
 * -t  number of threads that read C, a part of the columns by thread;
 * -w  C is written to /dev/null, 1 GiB at a time, and not read by the CPU: the system call needs a valid C and takes no
 *     time for the bytes. */
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "bench/columns.h"
#include "examples/example.h"

static void generate(double *m, int n, int seed)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            m[(size_t)j * (size_t)n + (size_t)i] = example_element((uint32_t)(i + seed), (uint32_t)j) / 3 - 0.2;
}

static void *read_pages(void *argument)
{
    struct columns *p = argument;
    const double *c = p->matrix, *to = c + (size_t)p->n * (size_t)p->to;

    for (const double *at = c + (size_t)p->n * (size_t)p->from; at < to; at += 4096 / sizeof *at)
        p->sum += *at;
    return NULL;
}

/* False: a short write. */
static bool write_out(const double *c, int n, int to)
{
    size_t bytes = (size_t)n * (size_t)n * sizeof *c, most = (size_t)1 << 30;

    for (size_t at = 0; at < bytes; at += most) {
        size_t part = bytes - at < most ? bytes - at : most;

        if (write(to, (const char *)c + at, part) != (ssize_t)part)
            return false;
    }
    return true;
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
    int n = 2000, rounds = 3, threads = 1, option;
    bool fresh = false, good = true;
    int null = -1;
    double first = 0, best = INFINITY, call = 0, sum = 0, error = 0, flops; /* call: until the fastest call returned */
    double *a, *b, *c;

    while ((option = getopt(argc, argv, "fwt:")) != -1) {
        if (option == 'f')
            fresh = true;
        else if (option == 'w')
            null = open("/dev/null", O_WRONLY);
        else
            threads = option == 't' ? atoi(optarg) : 0;
    }
    if (threads < 1 || threads > COLUMNS_THREADS_MAX)
        return 2;
    if (optind < argc)
        n = atoi(argv[optind++]);
    if (optind < argc)
        rounds = atoi(argv[optind++]);
    a = example_doubles((size_t)n * (size_t)n);
    b = example_doubles((size_t)n * (size_t)n);
    c = example_doubles((size_t)n * (size_t)n);
    for (int round = 0; round < rounds; round++) {
        double start, returned, seconds;

        if (round == 0 || fresh) {
            generate(a, n, 1);
            generate(b, n, 2);
        }
        start = example_now();
        cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
        returned = example_now() - start;
        if (null < 0)
            sum += columns_by_threads(c, n, 0, threads, read_pages);
        else
            good = write_out(c, n, null) && good;
        seconds = example_now() - start;
        if (round == 0) {
            first = seconds;
        } else if (seconds < best) {
            best = seconds;
            call = returned;
        }
    }
    for (int i = 0; i < 8; i++)
        error = example_worse(error, error_at(a, b, c, n, i * 971 % n, i * 577 % n));
    good = good && error <= 1e-14 * n && isfinite(sum);
    flops = 2.0 * n * n * n;
    printf("dgemm n=%d rounds=%d first_seconds=%.6f later_seconds=%.6f first_tflops=%.3f later_tflops=%.3f"
           " later_call_seconds=%.6f error=%.1e %s\n",
           n, rounds, first, best, 1e-12 * flops / first, 1e-12 * flops / best, call, error, good ? "ok" : "WRONG");
    return good ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
