/* SPDX-License-Identifier: BSD-2-Clause */
/* Level 3 routines of any CBLAS on plain malloc memory: a plain BLAS program.  Options: bench/level3.h.
 * bench/level3_s, _c and _z are the same program with other types. */
#include "bench/level3.h"

enum { LEFT = 141, LOWER = 122, NONUNIT = 131 };

#if defined LEVEL3_S
#define CBLAS(name) cblas_s##name
#elif defined LEVEL3_C
#define CBLAS(name) cblas_c##name
#elif defined LEVEL3_Z
#define CBLAS(name) cblas_z##name
#else
#define CBLAS(name) cblas_d##name
#endif

#if defined LEVEL3_C || defined LEVEL3_Z
typedef const void *scalar; /* the CBLAS takes complex numbers by address */
#define SCALAR(number) &(level3_number){number}
#else
typedef level3_number scalar;
#define SCALAR(number) (level3_number)(number)
#endif

#if defined LEVEL3_S || defined LEVEL3_C || defined LEVEL3_Z /* examples/example.h has the one of doubles */
void CBLAS(gemm)(int order, int transa, int transb, int m, int n, int k, scalar alpha, const level3_number *a, int lda,
                 const level3_number *b, int ldb, scalar beta, level3_number *c, int ldc);
#endif
void CBLAS(symm)(int order, int side, int uplo, int m, int n, scalar alpha, const level3_number *a, int lda,
                 const level3_number *b, int ldb, scalar beta, level3_number *c, int ldc);
void CBLAS(syrk)(int order, int uplo, int trans, int n, int k, scalar alpha, const level3_number *a, int lda,
                 scalar beta, level3_number *c, int ldc);
void CBLAS(syr2k)(int order, int uplo, int trans, int n, int k, scalar alpha, const level3_number *a, int lda,
                  const level3_number *b, int ldb, scalar beta, level3_number *c, int ldc);
void CBLAS(trmm)(int order, int side, int uplo, int transa, int diag, int m, int n, scalar alpha,
                 const level3_number *a, int lda, level3_number *b, int ldb);
void CBLAS(trsm)(int order, int side, int uplo, int transa, int diag, int m, int n, scalar alpha,
                 const level3_number *a, int lda, level3_number *b, int ldb);

static level3_number *level3_numbers(size_t count)
{
    return (level3_number *)example_doubles((count * sizeof(level3_number) + sizeof(double) - 1) / sizeof(double));
}

static int level3_variants(int n)
{
    (void)n;
    return 1;
}

static int level3_call(enum level3_routine routine, const struct level3_matrices *m, int variant)
{
    int order = EXAMPLE_COL_MAJOR, plain = EXAMPLE_NO_TRANS, n = m->n;
    scalar one = SCALAR(1), beta = SCALAR(m->beta);

    switch (routine) {
    case LEVEL3_GEMM: CBLAS(gemm)(order, plain, plain, n, n, n, one, m->a, n, m->b, n, beta, m->c, n); break;
    case LEVEL3_SYMM: CBLAS(symm)(order, LEFT, LOWER, n, n, one, m->a, n, m->b, n, beta, m->c, n); break;
    case LEVEL3_SYRK: CBLAS(syrk)(order, LOWER, plain, n, n, one, m->a, n, beta, m->c, n); break;
    case LEVEL3_SYR2K: CBLAS(syr2k)(order, LOWER, plain, n, n, one, m->a, n, m->b, n, beta, m->c, n); break;
    case LEVEL3_TRMM: CBLAS(trmm)(order, LEFT, LOWER, plain, NONUNIT, n, n, one, m->a, n, m->b, n); break;
    case LEVEL3_TRSM: CBLAS(trsm)(order, LEFT, LOWER, plain, NONUNIT, n, n, one, m->a, n, m->b, n); break;
    case LEVEL3_ROUTINES: break;
    }
    return variant;
}

static level3_number *level3_result(enum level3_routine routine, const struct level3_matrices *m)
{
    return level3_routines[routine].beta ? m->c : m->b;
}

int main(int argc, char **argv)
{
    return level3_main(argc, argv);
}
