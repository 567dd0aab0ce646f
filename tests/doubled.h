/* C := A B of order N, where B is twice the identity, by programs that know nothing of semcache.
 * N is defined before. */
#ifndef SC_TESTS_DOUBLED_H
#define SC_TESTS_DOUBLED_H

#include <stdlib.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static double *a, *b, *c;

static inline void set_up(void)
{
    a = malloc(sizeof *a * N * N);
    b = calloc(N * N, sizeof *b);
    c = calloc(N * N, sizeof *c);
    for (int i = 0; i < N * N; i++)
        a[i] = i;
    for (int i = 0; i < N; i++)
        b[i * (N + 1)] = 2;
}

static inline void multiply(void)
{
    const int n = N;
    const double one = 1, zero = 0;

    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

/* Elements of C that are not twice A's. */
static inline int count_wrong(void)
{
    int wrong = 0;

    for (int i = 0; i < N * N; i++)
        wrong += c[i] != 2.0 * i;
    return wrong;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
