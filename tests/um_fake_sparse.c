/* cuSPARSE of the fake CUDA (um_fake_cuda.c): handles and descriptors are those of libsemcache-cuda-um's emulation.
 * Products are semcache's, or fail. */
#include "cuda-um/emulated/emulated.h"
#include "cuda-um/names.h"

#undef SC_UM_EMULATED_NAME
#define SC_UM_EMULATED_NAME(name) name
#pragma GCC visibility push(default)

#include "cuda-um/emulated/cusparse.c"

/* semcache's module calls without a handle, and expects a refusal. */
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t alg,
                                         size_t *bytes)
{
    (void)op, (void)alpha, (void)a, (void)x, (void)beta, (void)y, (void)type, (void)alg;
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    *bytes = 64;
    return CUSPARSE_STATUS_SUCCESS;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *about, int device)
{
    *about = (struct cudaDeviceProp){.managedMemory = 1};
    return device < 2 ? cudaSuccess : cudaErrorInvalidDevice;
}
/* SPDX-License-Identifier: BSD-2-Clause */
