/* A program for blas_larger.t that knows nothing of semcache: one routine of level 3 on square matrices that nobody has
 * written, whose result is then read, a number on each page.
 *
 *     level3 s|d|c|z gemm|syrk|syr2k|symm|trmm|trsm LETTERS N
 *
 * LETTERS: transpositions of A and B (gemm), triangle and transposition (syrk, syr2k), side and triangle (symm), side,
 * triangle and transposition (trmm, trsm). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const int *integer;
typedef const char *letter;
typedef const void *in; /* a scalar or a matrix of any type */

#define DECLARE(t)                                                                                                    \
    void t##gemm_(letter, letter, integer, integer, integer, in, in, integer, in, integer, in, void *, integer,       \
                  size_t, size_t);                                                                                    \
    void t##syrk_(letter, letter, integer, integer, in, in, integer, in, void *, integer, size_t, size_t);            \
    void t##syr2k_(letter, letter, integer, integer, in, in, integer, in, integer, in, void *, integer, size_t,       \
                   size_t);                                                                                           \
    void t##symm_(letter, letter, integer, integer, in, in, integer, in, integer, in, void *, integer, size_t,        \
                  size_t);                                                                                            \
    void t##trmm_(letter, letter, letter, letter, integer, integer, in, in, integer, void *, integer, size_t, size_t, \
                  size_t, size_t);                                                                                    \
    void t##trsm_(letter, letter, letter, letter, integer, integer, in, in, integer, void *, integer, size_t, size_t, \
                  size_t, size_t);
DECLARE(s)
DECLARE(d)
DECLARE(c)
DECLARE(z)

static const struct type {
    char letter;
    size_t bytes;
    void (*gemm)(letter, letter, integer, integer, integer, in, in, integer, in, integer, in, void *, integer, size_t,
                 size_t);
    void (*syrk)(letter, letter, integer, integer, in, in, integer, in, void *, integer, size_t, size_t);
    void (*syr2k)(letter, letter, integer, integer, in, in, integer, in, integer, in, void *, integer, size_t, size_t);
    void (*symm)(letter, letter, integer, integer, in, in, integer, in, integer, in, void *, integer, size_t, size_t);
    void (*trmm)(letter, letter, letter, letter, integer, integer, in, in, integer, void *, integer, size_t, size_t,
                 size_t, size_t);
    void (*trsm)(letter, letter, letter, letter, integer, integer, in, in, integer, void *, integer, size_t, size_t,
                 size_t, size_t);
} types[] = {
#define TYPE(t, bytes) {#t[0], bytes, t##gemm_, t##syrk_, t##syr2k_, t##symm_, t##trmm_, t##trsm_},
    TYPE(s, 4) TYPE(d, 8) TYPE(c, 8) TYPE(z, 16)
};

static int call(const struct type *t, const char *routine, letter l, int n, const void *a, const void *b, void *c)
{
    const double ones[2] = {1}, zero[2] = {0};
    const float single[2] = {1};
    const void *one = t->letter == 's' || t->letter == 'c' ? (const void *)single : ones;

    if (strcmp(routine, "gemm") == 0)
        t->gemm(l, l + 1, &n, &n, &n, one, a, &n, b, &n, zero, c, &n, 1, 1);
    else if (strcmp(routine, "syrk") == 0)
        t->syrk(l, l + 1, &n, &n, one, a, &n, zero, c, &n, 1, 1);
    else if (strcmp(routine, "syr2k") == 0)
        t->syr2k(l, l + 1, &n, &n, one, a, &n, b, &n, zero, c, &n, 1, 1);
    else if (strcmp(routine, "symm") == 0)
        t->symm(l, l + 1, &n, &n, one, a, &n, b, &n, zero, c, &n, 1, 1);
    else if (strcmp(routine, "trmm") == 0)
        t->trmm(l, l + 1, l + 2, "N", &n, &n, one, a, &n, c, &n, 1, 1, 1, 1);
    else if (strcmp(routine, "trsm") == 0)
        t->trsm(l, l + 1, l + 2, "N", &n, &n, one, a, &n, c, &n, 1, 1, 1, 1);
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    int n = argc == 5 && strlen(argv[3]) >= 2 ? atoi(argv[4]) : 0, status;
    const struct type *t = types;
    char *a, *b, *c;
    size_t bytes;
    long sum = 0;

    while (n > 0 && t < types + 4 && t->letter != argv[1][0])
        t++;
    if (n < 1 || t == types + 4)
        return 2;
    bytes = (size_t)n * (size_t)n * t->bytes;
    a = malloc(bytes);
    b = malloc(bytes);
    c = malloc(bytes);
    if (!a || !b || !c)
        return 2;
    status = call(t, argv[2], argv[3], n, a, b, c);
    for (size_t i = 0; i < bytes; i += 4096)
        sum += c[i];
    printf("%ld\n", sum);
    free(a);
    free(b);
    free(c);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
