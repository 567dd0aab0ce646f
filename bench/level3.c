/* SPDX-License-Identifier: BSD-2-Clause */
/* Level 3 routines of any CBLAS on plain malloc memory: a plain BLAS program.  Options: bench/level3.h. */
#include "bench/level3.h"

enum { LEFT = 141, LOWER = 122, NONUNIT = 131 };

void cblas_dsymm(int order, int side, int uplo, int m, int n, double alpha, const double *a, int lda, const double *b,
                 int ldb, double beta, double *c, int ldc);
void cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha, const double *a, int lda, double beta,
                 double *c, int ldc);
void cblas_dsyr2k(int order, int uplo, int trans, int n, int k, double alpha, const double *a, int lda, const double *b,
                  int ldb, double beta, double *c, int ldc);
void cblas_dtrmm(int order, int side, int uplo, int transa, int diag, int m, int n, double alpha, const double *a,
                 int lda, double *b, int ldb);
void cblas_dtrsm(int order, int side, int uplo, int transa, int diag, int m, int n, double alpha, const double *a,
                 int lda, double *b, int ldb);

static double *level3_doubles(size_t count)
{
    return example_doubles(count);
}

static int level3_variants(int n)
{
    (void)n;
    return 1;
}

static int level3_call(enum level3_routine routine, const struct level3_matrices *m, int variant)
{
    int order = EXAMPLE_COL_MAJOR, plain = EXAMPLE_NO_TRANS, n = m->n;

    switch (routine) {
    case LEVEL3_GEMM: cblas_dgemm(order, plain, plain, n, n, n, 1, m->a, n, m->b, n, m->beta, m->c, n); break;
    case LEVEL3_SYMM: cblas_dsymm(order, LEFT, LOWER, n, n, 1, m->a, n, m->b, n, m->beta, m->c, n); break;
    case LEVEL3_SYRK: cblas_dsyrk(order, LOWER, plain, n, n, 1, m->a, n, m->beta, m->c, n); break;
    case LEVEL3_SYR2K: cblas_dsyr2k(order, LOWER, plain, n, n, 1, m->a, n, m->b, n, m->beta, m->c, n); break;
    case LEVEL3_TRMM: cblas_dtrmm(order, LEFT, LOWER, plain, NONUNIT, n, n, 1, m->a, n, m->b, n); break;
    case LEVEL3_TRSM: cblas_dtrsm(order, LEFT, LOWER, plain, NONUNIT, n, n, 1, m->a, n, m->b, n); break;
    case LEVEL3_ROUTINES: break;
    }
    return variant;
}

static double *level3_result(enum level3_routine routine, const struct level3_matrices *m)
{
    return level3_routines[routine].beta ? m->c : m->b;
}

int main(int argc, char **argv)
{
    return level3_main(argc, argv);
}
