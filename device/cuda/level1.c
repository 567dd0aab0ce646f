/* Level 1 through cuBLAS. */
#include "device/cuda/kernel.h"

typedef cublasStatus_t axpy_fn(cublasHandle_t, int64_t n, const void *alpha, const void *x, int64_t, void *y, int64_t);
typedef cublasStatus_t scal_fn(cublasHandle_t, int64_t n, const void *alpha, void *x, int64_t);
typedef cublasStatus_t pair_fn(cublasHandle_t, int64_t n, void *x, int64_t, void *y, int64_t);
typedef cublasStatus_t dot_fn(cublasHandle_t, int64_t n, const void *x, int64_t, const void *y, int64_t, void *result);
typedef cublasStatus_t reduce_fn(cublasHandle_t, int64_t n, const void *x, int64_t, void *result);
typedef cublasStatus_t rot_fn(cublasHandle_t, int64_t n, void *x, int64_t, void *y, int64_t, const void *c,
                              const void *s);
typedef cublasStatus_t rotm_fn(cublasHandle_t, int64_t n, void *x, int64_t, void *y, int64_t, const void *param);

static axpy_fn *const axpy[] = SC_CUDA_FOUR(axpy_fn, Saxpy, Daxpy, Caxpy, Zaxpy);
static scal_fn *const scal[] = SC_CUDA_FOUR(scal_fn, Sscal, Dscal, Cscal, Zscal);
static scal_fn *const scal_real[] = SC_CUDA_FOUR(scal_fn, Sscal, Dscal, Csscal, Zdscal);
static pair_fn *const copy[] = SC_CUDA_FOUR(pair_fn, Scopy, Dcopy, Ccopy, Zcopy);
static pair_fn *const swap[] = SC_CUDA_FOUR(pair_fn, Sswap, Dswap, Cswap, Zswap);
static dot_fn *const dot[] = SC_CUDA_FOUR(dot_fn, Sdot, Ddot, Cdotu, Zdotu);
static dot_fn *const dotc[] = SC_CUDA_FOUR(dot_fn, Sdot, Ddot, Cdotc, Zdotc);
static reduce_fn *const nrm2[] = SC_CUDA_FOUR(reduce_fn, Snrm2, Dnrm2, Scnrm2, Dznrm2);
static reduce_fn *const asum[] = SC_CUDA_FOUR(reduce_fn, Sasum, Dasum, Scasum, Dzasum);
static reduce_fn *const iamax[] = SC_CUDA_FOUR(reduce_fn, Isamax, Idamax, Icamax, Izamax);
static reduce_fn *const iamin[] = SC_CUDA_FOUR(reduce_fn, Isamin, Idamin, Icamin, Izamin);
static rot_fn *const rot[] = SC_CUDA_FOUR(rot_fn, Srot, Drot, Csrot, Zdrot);
static rotm_fn *const rotm[] = SC_CUDA_TWO(rotm_fn, Srotm, Drotm);

static enum sc_status run_axpy(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0 || sc_cuda_scalar_is(k, k->alpha, 0))
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    return sc_cuda_result_of(c, axpy[k->type](c->blas, k->n, &c->alpha, k->a, k->lda, k->b, k->ldb));
}

static enum sc_status run_scal(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0 || k->lda <= 0) /* as in the reference BLAS */
        return SC_OK;
    return sc_cuda_result_of(c, (k->scale_real ? scal_real : scal)[k->type](c->blas, k->n, &c->alpha, k->a, k->lda));
}

static enum sc_status run_pair(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;

    if (k->n <= 0)
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    return sc_cuda_result_of(c, (k->op == SC_OP_COPY ? copy : swap)[k->type](c->blas, k->n, k->a, k->lda, k->b,
                                                                             k->ldb));
}

static enum sc_status run_rot(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    float single[5];

    if (k->n <= 0)
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    if (k->op == SC_OP_ROT)
        return sc_cuda_result_of(c, rot[k->type](c->blas, k->n, k->a, k->lda, k->b, k->ldb, &c->alpha, &c->beta));
    for (int i = 0; i < 5; i++)
        single[i] = (float)k->param[i];
    return sc_cuda_result_of(c, rotm[k->type](c->blas, k->n, k->a, k->lda, k->b, k->ldb,
                                              k->type == SC_S ? (const void *)single : k->param));
}

/* cuBLAS has no axpby.  Without a kernel of the module, two calls: y is not read if beta is 0, x is not read if alpha
 * is 0.  Scaling may ignore the sign of increments. */
static enum sc_status run_axpby(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    int64_t step = sc_step(k->ldb);
    bool alpha = !sc_cuda_scalar_is(k, k->alpha, 0), beta = !sc_cuda_scalar_is(k, k->beta, 0);
    cublasStatus_t error = CUBLAS_STATUS_SUCCESS;
    enum sc_status status;

    if (k->n <= 0)
        return SC_OK;
    if (!k->lda || !k->ldb)
        return SC_ERR_UNSUPPORTED;
    if (!alpha)
        return sc_cuda_scale(c, 1, k->n, k->b, step);
    status = sc_cuda_axpby(c);
    if (status != SC_ERR_UNSUPPORTED)
        return status;
    if (!beta)
        error = copy[k->type](c->blas, k->n, k->a, k->lda, k->b, k->ldb);
    if (error == CUBLAS_STATUS_SUCCESS && !sc_cuda_scalar_is(k, beta ? k->beta : k->alpha, 1))
        error = scal[k->type](c->blas, k->n, beta ? &c->beta : &c->alpha, k->b, step);
    if (error == CUBLAS_STATUS_SUCCESS && beta)
        error = axpy[k->type](c->blas, k->n, &c->alpha, k->a, k->lda, k->b, k->ldb);
    return sc_cuda_result_of(c, error);
}

/* Reductions write their result to k->result in stream order; no thread waits. */
static enum sc_status run_reduction(const struct sc_cuda_call *c)
{
    const struct sc_kernel *k = c->k;
    bool two = k->op == SC_OP_DOT || k->op == SC_OP_DOTC || k->op == SC_OP_DSDOT;
    reduce_fn *const *one = k->op == SC_OP_NRM2    ? nrm2
                           : k->op == SC_OP_ASUM  ? asum
                           : k->op == SC_OP_IAMAX ? iamax : iamin;
    int64_t inc = k->op == SC_OP_NRM2 ? sc_step(k->lda) : k->lda; /* a norm does not depend on the order */
    cublasStatus_t error;

    if (k->n <= 0 || (!two && k->op != SC_OP_NRM2 && k->lda <= 0)) /* as in the reference BLAS */
        return sc_cuda_fill(c->device, c->stream, k->result, SC_CUDA_SLOT_BYTES, 0, SC_CUDA_SLOT_BYTES, 1);
    if (!k->lda || (two && !k->ldb))
        return SC_ERR_UNSUPPORTED;
    if (k->op == SC_OP_DSDOT)
        return sc_cuda_dsdot(c);
    cublasSetPointerMode(c->blas, CUBLAS_POINTER_MODE_DEVICE);
    if (two)
        error = (k->op == SC_OP_DOT ? dot : dotc)[k->type](c->blas, k->n, k->a, k->lda, k->b, k->ldb, k->result);
    else
        error = one[k->type](c->blas, k->n, k->a, inc, k->result);
    cublasSetPointerMode(c->blas, CUBLAS_POINTER_MODE_HOST);
    return sc_cuda_result_of(c, error);
}

enum sc_status sc_cuda_level1(const struct sc_cuda_call *c)
{
    switch (c->k->op) {
    case SC_OP_AXPY: return run_axpy(c);
    case SC_OP_AXPBY: return run_axpby(c);
    case SC_OP_SCAL: return run_scal(c);
    case SC_OP_COPY: case SC_OP_SWAP: return run_pair(c);
    case SC_OP_ROT: case SC_OP_ROTM: return run_rot(c);
    default: return run_reduction(c);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
