/* The handle of cuBLAS. */
#include <stdlib.h>

#include "cuda-um/emulated/emulated.h"
#include "cuda-um/names.h"

#define E(name) SC_UM_EMULATED_NAME(name)

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    cublasAtomicsMode_t atomics;
};

cublasStatus_t E(cublasCreate_v2)(cublasHandle_t *out)
{
    if (!out)
        return CUBLAS_STATUS_INVALID_VALUE;
    *out = NULL;
    if (!sc_um_inner->computes()) {
        sc_um_inner->log(SC_LOG_ERROR, "cuda-um: there is neither a CUDA device nor a host BLAS");
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    *out = calloc(1, sizeof **out);
    return *out ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t E(cublasDestroy_v2)(cublasHandle_t h)
{
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    free(h);
    return CUBLAS_STATUS_SUCCESS;
}

/* Pairs of functions that set and get a property. */
#define PROPERTY(set, get, type, field)                                          \
    cublasStatus_t E(set)(cublasHandle_t h, type value)                          \
    {                                                                            \
        if (!h)                                                                  \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                \
        h->field = value;                                                        \
        return CUBLAS_STATUS_SUCCESS;                                            \
    }                                                                            \
    cublasStatus_t E(get)(cublasHandle_t h, type *value)                         \
    {                                                                            \
        if (!h || !value)                                                        \
            return h ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_INITIALIZED; \
        *value = h->field;                                                       \
        return CUBLAS_STATUS_SUCCESS;                                            \
    }
PROPERTY(cublasSetStream_v2, cublasGetStream_v2, cudaStream_t, stream)
PROPERTY(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pointers)
PROPERTY(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)
PROPERTY(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)

cublasStatus_t E(cublasSetWorkspace_v2)(cublasHandle_t h, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    return h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t E(cublasGetVersion_v2)(cublasHandle_t h, int *version)
{
    (void)h;
    return *version = CUBLAS_VERSION, CUBLAS_STATUS_SUCCESS;
}

const char *E(cublasGetStatusName)(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "another cublasStatus_t";
    }
}
const char *E(cublasGetStatusString)(cublasStatus_t status) { return E(cublasGetStatusName)(status); }
/* SPDX-License-Identifier: BSD-2-Clause */
