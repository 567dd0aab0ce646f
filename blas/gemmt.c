/* gemmt made of the host's gemm.  Not every host BLAS has one (the reference BLAS, OpenBLAS before 0.3.22), and the one
 * of a later OpenBLAS is wrong: half of the cases of tests/blas_veneers.c.  So these are in sc_blas_host always. */
#include "base/log.h"
#include "blas/prototypes.h"
#include "coherence/coherence.h" /* for the kernels on the host */

/* The first argument that the standard does not allow, or 0. */
static sc_blas_int wrong_argument(const struct sc_kernel *k)
{
    int64_t rows_a = k->transa == 'N' ? k->n : k->k, rows_b = k->transb == 'N' ? k->k : k->n;

    if (k->uplo != 'U' && k->uplo != 'L')
        return 1;
    if (k->transa != 'N' && k->transa != 'T' && k->transa != 'C')
        return 2;
    if (k->transb != 'N' && k->transb != 'T' && k->transb != 'C')
        return 3;
    if (k->n < 0 || k->k < 0)
        return k->n < 0 ? 4 : 5;
    if (k->lda < 1 || k->lda < rows_a)
        return 8;
    if (k->ldb < 1 || k->ldb < rows_b)
        return 10;
    return k->ldc < 1 || k->ldc < k->n ? 13 : 0;
}

static void run(const char *name, struct sc_kernel *k, const void *alpha, const void *beta)
{
    const int64_t wrong = wrong_argument(k);

    if (wrong) {
        xerbla_(name, (const sc_blas_int *)&wrong, 6); /* of either width */
        return;
    }
    for (int i = 0; i < (sc_type_is_complex(k->type) ? 2 : 1); i++) {
        bool single = k->type == SC_S || k->type == SC_C;

        k->alpha[i] = single ? (double)((const float *)alpha)[i] : ((const double *)alpha)[i];
        k->beta[i] = single ? (double)((const float *)beta)[i] : ((const double *)beta)[i];
    }
    if (sc_device_kernel_host(sc_blas_host_symbol, k) != SC_OK)
        sc_log(SC_LOG_ERROR, "%s was called and not done", name);
}

#define GEMMT(function, type_, name)                                                                                   \
    static void function(const char *uplo, const char *transa, const char *transb, const sc_blas_int *n,               \
                         const sc_blas_int *k, const void *alpha, void *a, const sc_blas_int *lda, void *b,            \
                         const sc_blas_int *ldb, const void *beta, void *c, const sc_blas_int *ldc)                    \
    {                                                                                                                  \
        struct sc_kernel kernel = {.op = SC_OP_GEMMT, .type = type_, .uplo = sc_blas_letter(*uplo),                    \
                                   .transa = sc_blas_letter(*transa), .transb = sc_blas_letter(*transb),               \
                                   .n = sc_blas_int_at(n), .k = sc_blas_int_at(k), .a = a, .lda = sc_blas_int_at(lda), \
                                   .b = b, .ldb = sc_blas_int_at(ldb), .c = c, .ldc = sc_blas_int_at(ldc)};            \
                                                                                                                       \
        run(name, &kernel, alpha, beta);                                                                               \
    }
GEMMT(gemmt_s, SC_S, "SGEMMT")
GEMMT(gemmt_d, SC_D, "DGEMMT")
GEMMT(gemmt_c, SC_C, "CGEMMT")
GEMMT(gemmt_z, SC_Z, "ZGEMMT")

sc_blas_fn sc_blas_substitute(int routine)
{
    static const sc_blas_fn made[SC_TYPES] = {(sc_blas_fn)gemmt_s, (sc_blas_fn)gemmt_d, (sc_blas_fn)gemmt_c,
                                              (sc_blas_fn)gemmt_z};

    return sc_blas_rows[routine].op == SC_OP_GEMMT ? made[sc_blas_rows[routine].type] : NULL;
}
