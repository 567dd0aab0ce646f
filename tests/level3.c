/* A program for blas_larger.t that knows nothing of semcache: one routine of level 3 on square matrices that nobody has
 * written, whose result is then read, a number on each page.
 *
 *     level3 gemm|syrk|syr2k|symm|trmm|trsm L|R N */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const int *integer;
typedef const double *scalar;
typedef const char *letter;

void dgemm_(letter, letter, integer, integer, integer, scalar, const double *, integer, const double *, integer,
            scalar, double *, integer, size_t, size_t);
void dsyrk_(letter, letter, integer, integer, scalar, const double *, integer, scalar, double *, integer, size_t,
            size_t);
void dsyr2k_(letter, letter, integer, integer, scalar, const double *, integer, const double *, integer, scalar,
             double *, integer, size_t, size_t);
void dsymm_(letter, letter, integer, integer, scalar, const double *, integer, const double *, integer, scalar,
            double *, integer, size_t, size_t);
void dtrmm_(letter, letter, letter, letter, integer, integer, scalar, const double *, integer, double *, integer,
            size_t, size_t, size_t, size_t);
void dtrsm_(letter, letter, letter, letter, integer, integer, scalar, const double *, integer, double *, integer,
            size_t, size_t, size_t, size_t);

static int call(const char *routine, const char *side, int n, const double *a, const double *b, double *c)
{
    const double one = 1, zero = 0;

    if (strcmp(routine, "gemm") == 0)
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    else if (strcmp(routine, "syrk") == 0)
        dsyrk_("L", "N", &n, &n, &one, a, &n, &zero, c, &n, 1, 1);
    else if (strcmp(routine, "syr2k") == 0)
        dsyr2k_("L", "N", &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    else if (strcmp(routine, "symm") == 0)
        dsymm_(side, "L", &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    else if (strcmp(routine, "trmm") == 0)
        dtrmm_(side, "L", "N", "N", &n, &n, &one, a, &n, c, &n, 1, 1, 1, 1);
    else if (strcmp(routine, "trsm") == 0)
        dtrsm_(side, "L", "N", "N", &n, &n, &one, a, &n, c, &n, 1, 1, 1, 1);
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    int n = argc > 3 ? atoi(argv[3]) : 0, status;
    size_t elements = (size_t)n * (size_t)n;
    double *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b), *c = malloc(elements * sizeof *c);
    double sum = 0;

    if (n < 1 || !a || !b || !c)
        return 2;
    status = call(argv[1], argv[2], n, a, b, c);
    for (size_t i = 0; i < elements; i += 512)
        sum += c[i];
    printf("%g\n", sum);
    free(a);
    free(b);
    free(c);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
