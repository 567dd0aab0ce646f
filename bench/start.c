/* Time of the first large call of a process until the result can be read: a plain BLAS program.
 *
 *     start [n]            (4096) */
#include <stdbool.h>
#include <unistd.h>

#include "examples/example.h"

struct product {
    int n;
    double *a, *b, *c;
};

static double *matrix(int n)
{
    double *m = example_doubles((size_t)n * (size_t)n);

    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        m[i] = example_element((uint32_t)(i % (size_t)n), (uint32_t)(i / (size_t)n));
    return m;
}

/* C := A B, then reads an element of every page of C; returns the seconds. */
static double multiply(const struct product *p, double *sum)
{
    size_t elements = (size_t)p->n * (size_t)p->n, page = (size_t)sysconf(_SC_PAGESIZE) / sizeof(double);
    double start = example_now();

    cblas_dgemm(EXAMPLE_COL_MAJOR, EXAMPLE_NO_TRANS, EXAMPLE_NO_TRANS, p->n, p->n, p->n, 1, p->a, p->n, p->b, p->n, 0,
                p->c, p->n);
    for (size_t i = 0; i < elements; i += page)
        *sum += p->c[i];
    return example_now() - start;
}

/* The elements are multiples of 2^-20 and small enough for every order of the sum to be exact. */
static bool is_right(const struct product *p)
{
    for (int j = 0; j < p->n; j += p->n / 7 + 1)
        for (int i = 0; i < p->n; i += p->n / 5 + 1) {
            double sum = 0;

            for (int k = 0; k < p->n; k++)
                sum += p->a[(size_t)k * (size_t)p->n + (size_t)i] * p->b[(size_t)j * (size_t)p->n + (size_t)k];
            if (p->c[(size_t)j * (size_t)p->n + (size_t)i] != sum)
                return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    struct product p = {.n = argc > 1 ? atoi(argv[1]) : 4096};
    double sum = 0, first, second;
    bool right;

    if (p.n < 1) {
        fprintf(stderr, "usage: start [n]\n");
        return 2;
    }
    p.a = matrix(p.n);
    p.b = matrix(p.n);
    p.c = example_doubles((size_t)p.n * (size_t)p.n);
    first = multiply(&p, &sum);
    second = multiply(&p, &sum);
    right = is_right(&p) && sum > 0;
    printf("start n=%d first_seconds=%.4f second_seconds=%.4f %s\n", p.n, first, second, right ? "ok" : "WRONG");
    return !right;
}
/* SPDX-License-Identifier: BSD-2-Clause */
