/* cublasGemmEx, if the call is one of the four gemms with at least the requested precision. */
#include "cuda-um/um.h"

enum kind { SINGLE, DOUBLE, COMPLEX_SINGLE, COMPLEX_DOUBLE, OTHER };

static bool computes_single(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: return true;
    default: return false;
    }
}

static enum kind kind_of(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t compute)
{
    bool wide = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;

    if (a != b || b != c)
        return OTHER;
    switch (a) {
    case CUDA_R_32F: return computes_single(compute) ? SINGLE : OTHER;
    case CUDA_C_32F: return computes_single(compute) ? COMPLEX_SINGLE : OTHER;
    case CUDA_R_64F: return wide ? DOUBLE : OTHER;
    case CUDA_C_64F: return wide ? COMPLEX_DOUBLE : OTHER;
    default: return OTHER;
    }
}

/* Calls not mapped access memory as kernels do. */
static void make_way(const void *caller)
{
    if (sc_um_way() == SC_UM_MAPPED && !sc_um_passes(caller))
        sc_um_home(NULL);
}

/* The mapped gemms decide who serves the call. */
#define GEMM_EX(suffix, integer)                                                                                       \
    SC_UM_EXPORT cublasStatus_t cublasGemmEx##suffix(                                                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, integer m, integer n, integer k,    \
        const void *alpha, const void *a, cudaDataType a_type, integer lda, const void *b, cudaDataType b_type,        \
        integer ldb, const void *beta, void *c, cudaDataType c_type, integer ldc, cublasComputeType_t compute,         \
        cublasGemmAlgo_t algo)                                                                                         \
    {                                                                                                                  \
        switch (sc_um_passes(SC_UM_CALLER) ? OTHER : kind_of(a_type, b_type, c_type, compute)) {                       \
        case SINGLE:                                                                                                   \
            return cublasSgemm_v2##suffix(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);       \
        case DOUBLE:                                                                                                   \
            return cublasDgemm_v2##suffix(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);       \
        case COMPLEX_SINGLE:                                                                                           \
            return cublasCgemm_v2##suffix(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);       \
        case COMPLEX_DOUBLE:                                                                                           \
            return cublasZgemm_v2##suffix(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);       \
        default:                                                                                                       \
            make_way(SC_UM_CALLER);                                                                                    \
            return SC_UM_BEHIND(cublasGemmEx##suffix)(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b,       \
                                                      b_type, ldb, beta, c, c_type, ldc, compute, algo);               \
        }                                                                                                              \
    }

GEMM_EX(, int)
GEMM_EX(_64, int64_t)
/* SPDX-License-Identifier: BSD-2-Clause */
