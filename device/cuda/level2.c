/* Level 2 through cuBLAS. */
#include "device/cuda/kernel.h"

typedef cublasStatus_t gemv_fn(cublasHandle_t, cublasOperation_t, int64_t m, int64_t n, const void *alpha,
                               const void *a, int64_t, const void *x, int64_t, const void *beta, void *y, int64_t);
typedef cublasStatus_t ger_fn(cublasHandle_t, int64_t m, int64_t n, const void *alpha, const void *x, int64_t,
                              const void *y, int64_t, void *a, int64_t);
typedef cublasStatus_t trsv_fn(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t n,
                               const void *a, int64_t, void *x, int64_t);
typedef cublasStatus_t gbmv_fn(cublasHandle_t, cublasOperation_t, int64_t m, int64_t n, int64_t kl, int64_t ku,
                               const void *alpha, const void *a, int64_t, const void *x, int64_t, const void *beta,
                               void *y, int64_t);
typedef cublasStatus_t symv_fn(cublasHandle_t, cublasFillMode_t, int64_t n, const void *alpha, const void *a, int64_t,
                               const void *x, int64_t, const void *beta, void *y, int64_t);
typedef cublasStatus_t sbmv_fn(cublasHandle_t, cublasFillMode_t, int64_t n, int64_t k, const void *alpha, const void *a,
                               int64_t, const void *x, int64_t, const void *beta, void *y, int64_t);
typedef cublasStatus_t spmv_fn(cublasHandle_t, cublasFillMode_t, int64_t n, const void *alpha, const void *a,
                               const void *x, int64_t, const void *beta, void *y, int64_t);
typedef cublasStatus_t syr_fn(cublasHandle_t, cublasFillMode_t, int64_t n, const void *alpha, const void *x, int64_t,
                              void *a, int64_t);
typedef cublasStatus_t syr2_fn(cublasHandle_t, cublasFillMode_t, int64_t n, const void *alpha, const void *x, int64_t,
                               const void *y, int64_t, void *a, int64_t);
typedef cublasStatus_t spr_fn(cublasHandle_t, cublasFillMode_t, int64_t n, const void *alpha, const void *x, int64_t,
                              void *a);
typedef cublasStatus_t spr2_fn(cublasHandle_t, cublasFillMode_t, int64_t n, const void *alpha, const void *x, int64_t,
                               const void *y, int64_t, void *a);
typedef cublasStatus_t tbsv_fn(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t n,
                               int64_t k, const void *a, int64_t, void *x, int64_t);
typedef cublasStatus_t tpsv_fn(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t n,
                               const void *a, void *x, int64_t);

static gemv_fn *const gemv[] = SC_CUDA_FOUR(gemv_fn, Sgemv, Dgemv, Cgemv, Zgemv);
static ger_fn *const ger[] = SC_CUDA_FOUR(ger_fn, Sger, Dger, Cgeru, Zgeru);
static ger_fn *const gerc[] = SC_CUDA_FOUR(ger_fn, Sger, Dger, Cgerc, Zgerc);
static trsv_fn *const trsv[] = SC_CUDA_FOUR(trsv_fn, Strsv, Dtrsv, Ctrsv, Ztrsv);
static trsv_fn *const trmv[] = SC_CUDA_FOUR(trsv_fn, Strmv, Dtrmv, Ctrmv, Ztrmv);
static gbmv_fn *const gbmv[] = SC_CUDA_FOUR(gbmv_fn, Sgbmv, Dgbmv, Cgbmv, Zgbmv);
static symv_fn *const symv[] = SC_CUDA_TWO(symv_fn, Ssymv, Dsymv);
static symv_fn *const hemv[] = SC_CUDA_FOUR(symv_fn, Ssymv, Dsymv, Chemv, Zhemv);
static sbmv_fn *const sbmv[] = SC_CUDA_TWO(sbmv_fn, Ssbmv, Dsbmv);
static sbmv_fn *const hbmv[] = SC_CUDA_FOUR(sbmv_fn, Ssbmv, Dsbmv, Chbmv, Zhbmv);
static spmv_fn *const spmv[] = SC_CUDA_TWO(spmv_fn, Sspmv, Dspmv);
static spmv_fn *const hpmv[] = SC_CUDA_FOUR(spmv_fn, Sspmv, Dspmv, Chpmv, Zhpmv);
static syr_fn *const syr[] = SC_CUDA_TWO(syr_fn, Ssyr, Dsyr);
static syr_fn *const her[] = SC_CUDA_FOUR(syr_fn, Ssyr, Dsyr, Cher, Zher);
static syr2_fn *const syr2[] = SC_CUDA_TWO(syr2_fn, Ssyr2, Dsyr2);
static syr2_fn *const her2[] = SC_CUDA_FOUR(syr2_fn, Ssyr2, Dsyr2, Cher2, Zher2);
static spr_fn *const spr[] = SC_CUDA_TWO(spr_fn, Sspr, Dspr);
static spr_fn *const hpr[] = SC_CUDA_FOUR(spr_fn, Sspr, Dspr, Chpr, Zhpr);
static spr2_fn *const spr2[] = SC_CUDA_TWO(spr2_fn, Sspr2, Dspr2);
static spr2_fn *const hpr2[] = SC_CUDA_FOUR(spr2_fn, Sspr2, Dspr2, Chpr2, Zhpr2);
static tbsv_fn *const tbmv[] = SC_CUDA_FOUR(tbsv_fn, Stbmv, Dtbmv, Ctbmv, Ztbmv);
static tbsv_fn *const tbsv[] = SC_CUDA_FOUR(tbsv_fn, Stbsv, Dtbsv, Ctbsv, Ztbsv);
static tpsv_fn *const tpmv[] = SC_CUDA_FOUR(tpsv_fn, Stpmv, Dtpmv, Ctpmv, Ztpmv);
static tpsv_fn *const tpsv[] = SC_CUDA_FOUR(tpsv_fn, Stpsv, Dtpsv, Ctpsv, Ztpsv);

static enum sc_status run_gemv(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->m <= 0 || k->n <= 0)
        return SC_OK;
    if (!k->ldb || !k->ldc)
        return SC_ERR_UNSUPPORTED;
    if (sc_cuda_scalar_is(k, k->alpha, 0)) /* y as the row of a matrix; the order of elements is irrelevant */
        return sc_cuda_scale(c, 1, k->transa == 'N' ? k->m : k->n, k->c, sc_step(k->ldc));
    if (k->op == SC_OP_GBMV)
        return sc_cuda_result_of(c, gbmv[k->type](c->blas, sc_cuda_operation(k, k->transa), k->m, k->n, k->kl, k->ku,
                                                  &c->alpha, k->a, k->lda, k->b, k->ldb, &c->beta, k->c, k->ldc));
    return sc_cuda_result_of(c, gemv[k->type](c->blas, sc_cuda_operation(k, k->transa), k->m, k->n, &c->alpha, k->a,
                                              k->lda, k->b, k->ldb, &c->beta, k->c, k->ldc));
}

static enum sc_status run_ger(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->m <= 0 || k->n <= 0 || sc_cuda_scalar_is(k, k->alpha, 0))
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    return sc_cuda_result_of(c, (k->op == SC_OP_GER ? ger : gerc)[k->type](c->blas, k->m, k->n, &c->alpha, k->a, k->lda,
                                                                           k->b, k->ldb, k->c, k->ldc));
}

/* y := alpha A x + beta y for a symmetric or Hermitian A. */
static enum sc_status run_symmetric(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    cublasFillMode_t uplo = sc_cuda_fill_mode(k);
    symv_fn *f = k->op == SC_OP_SYMV ? symv[k->type] : hemv[k->type];
    sbmv_fn *banded = k->op == SC_OP_SBMV ? sbmv[k->type] : hbmv[k->type];
    spmv_fn *packed = k->op == SC_OP_SPMV ? spmv[k->type] : hpmv[k->type];

    if (k->n <= 0)
        return SC_OK;
    if (!k->ldb || !k->ldc)
        return SC_ERR_UNSUPPORTED;
    if (sc_cuda_scalar_is(k, k->alpha, 0))
        return sc_cuda_scale(c, 1, k->n, k->c, sc_step(k->ldc));
    if (sc_op_is_packed(k->op))
        return sc_cuda_result_of(c, packed(c->blas, uplo, k->n, &c->alpha, k->a, k->b, k->ldb, &c->beta, k->c, k->ldc));
    if (sc_op_is_banded(k->op))
        return sc_cuda_result_of(c, banded(c->blas, uplo, k->n, k->k, &c->alpha, k->a, k->lda, k->b, k->ldb, &c->beta,
                                           k->c, k->ldc));
    return sc_cuda_result_of(c, f(c->blas, uplo, k->n, &c->alpha, k->a, k->lda, k->b, k->ldb, &c->beta, k->c, k->ldc));
}

/* A := alpha x x^T + A and the Hermitian and packed versions, for one triangle. */
static enum sc_status run_update(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    cublasFillMode_t uplo = sc_cuda_fill_mode(k);
    bool packed = sc_op_is_packed(k->op);
    syr_fn *f = k->op == SC_OP_SYR ? syr[k->type] : her[k->type];
    spr_fn *g = k->op == SC_OP_SPR ? spr[k->type] : hpr[k->type];

    if (k->n <= 0 || sc_cuda_scalar_is(k, k->alpha, 0))
        return SC_OK;
    if (!k->lda)
        return SC_ERR_UNSUPPORTED;
    return sc_cuda_result_of(c, packed ? g(c->blas, uplo, k->n, &c->alpha, k->a, k->lda, k->c) : f(c->blas, uplo, k->n,
                                                                                                   &c->alpha, k->a,
                                                                                                   k->lda, k->c,
                                                                                                   k->ldc));
}

/* As run_update, with two vectors. */
static enum sc_status run_update2(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    cublasFillMode_t uplo = sc_cuda_fill_mode(k);
    bool packed = sc_op_is_packed(k->op);
    syr2_fn *f = k->op == SC_OP_SYR2 ? syr2[k->type] : her2[k->type];
    spr2_fn *g = k->op == SC_OP_SPR2 ? spr2[k->type] : hpr2[k->type];

    if (k->n <= 0 || sc_cuda_scalar_is(k, k->alpha, 0))
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    return sc_cuda_result_of(c, packed ? g(c->blas, uplo, k->n, &c->alpha, k->a, k->lda, k->b, k->ldb,
                                           k->c) : f(c->blas, uplo, k->n, &c->alpha, k->a, k->lda, k->b, k->ldb, k->c,
                                                     k->ldc));
}

/* x := op(A) x or op(A)^-1 x. */
static enum sc_status run_triangular(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    cublasFillMode_t uplo = sc_cuda_fill_mode(k);
    cublasOperation_t trans = sc_cuda_operation(k, k->transa);
    cublasDiagType_t diag = sc_cuda_diag_type(k);

    if (k->n <= 0)
        return SC_OK;
    if (!k->ldb)
        return SC_ERR_UNSUPPORTED;
    if (sc_op_is_packed(k->op))
        return sc_cuda_result_of(c, (k->op == SC_OP_TPMV ? tpmv : tpsv)[k->type](c->blas, uplo, trans, diag, k->n, k->a,
                                                                                 k->b, k->ldb));
    if (sc_op_is_banded(k->op))
        return sc_cuda_result_of(c, (k->op == SC_OP_TBMV ? tbmv : tbsv)[k->type](c->blas, uplo, trans, diag, k->n, k->k,
                                                                                 k->a, k->lda, k->b, k->ldb));
    return sc_cuda_result_of(c, (k->op == SC_OP_TRMV ? trmv : trsv)[k->type](c->blas, uplo, trans, diag, k->n, k->a,
                                                                             k->lda, k->b, k->ldb));
}

enum sc_status sc_cuda_level2(const struct sc_cuda_call *c)
{
    switch (c->k->op) {
    case SC_OP_GEMV: case SC_OP_GBMV: return run_gemv(c);
    case SC_OP_GER: case SC_OP_GERC: return run_ger(c);
    case SC_OP_SYMV: case SC_OP_HEMV: case SC_OP_SBMV: case SC_OP_HBMV: case SC_OP_SPMV: case SC_OP_HPMV:
        return run_symmetric(c);
    case SC_OP_SYR: case SC_OP_HER: case SC_OP_SPR: case SC_OP_HPR: return run_update(c);
    case SC_OP_SYR2: case SC_OP_HER2: case SC_OP_SPR2: case SC_OP_HPR2: return run_update2(c);
    default: return run_triangular(c);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
