/* Maps errors of CUDA, cuBLAS, cuSPARSE and cuSOLVER to status codes. */
#include "device/cuda/cuda_int.h"

/* True at the first occurrence of a cause in the process. */
static bool first_time(unsigned char *said, unsigned cause, unsigned causes)
{
    return !__atomic_exchange_n(&said[cause < causes ? cause : causes - 1], 1, __ATOMIC_RELAXED);
}

static const char *remedy(cudaError_t error)
{
    switch (error) {
    case cudaErrorInsufficientDriver: return "install a driver that supports this CUDA toolkit";
    case cudaErrorDevicesUnavailable: return "another process has the device for itself; see nvidia-smi";
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError: return "the device is faulty; leave it out with SEMCACHE_DEVICE=cuda:LIST";
    default: return "the work goes on on the host; SEMCACHE_DEVICE=none avoids the devices";
    }
}

enum sc_status sc_cuda_failed(cudaError_t error, const char *call)
{
    static unsigned char said[1024];

    cudaGetLastError(); /* hides our errors from the program's own checks */
    if (error == cudaErrorMemoryAllocation)
        return SC_ERR_DEVICE_MEMORY;
    if (error == cudaErrorCudartUnloading) /* the process is ending, and there is no remedy */
        return SC_ERR_DEVICE;
    if (first_time(said, (unsigned)error, sizeof said))
        sc_cuda_host->log(SC_LOG_ERROR, "%s: %s (%s): %s", call, cudaGetErrorName(error), cudaGetErrorString(error),
                          remedy(error));
    return SC_ERR_DEVICE;
}

enum sc_status sc_cuda_blas_failed(cublasStatus_t error, const char *call)
{
    static unsigned char said[32];

    cudaGetLastError();
    if (error == CUBLAS_STATUS_ALLOC_FAILED)
        return SC_ERR_DEVICE_MEMORY;
    if (error == CUBLAS_STATUS_NOT_SUPPORTED)
        return SC_ERR_UNSUPPORTED;
    if (first_time(said, (unsigned)error, sizeof said))
        sc_cuda_host->log(SC_LOG_ERROR, "cuBLAS %s: %s: the work goes on on the host; SEMCACHE_DEVICE=none avoids the "
                          "devices", call, cublasGetStatusName(error));
    return error == CUBLAS_STATUS_INVALID_VALUE ? SC_ERR_INVALID : SC_ERR_DEVICE;
}

enum sc_status sc_cuda_sparse_failed(cusparseStatus_t error, const char *call)
{
    static unsigned char said[32];

    cudaGetLastError();
    if (error == CUSPARSE_STATUS_ALLOC_FAILED || error == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
        return SC_ERR_DEVICE_MEMORY;
    if (error == CUSPARSE_STATUS_NOT_SUPPORTED)
        return SC_ERR_UNSUPPORTED;
    if (first_time(said, (unsigned)error, sizeof said))
        sc_cuda_host->log(SC_LOG_ERROR,
                          "cuSPARSE %s: %s: the work goes on on the host; SEMCACHE_DEVICE=none avoids the "
                          "devices", call, cusparseGetErrorName(error));
    /* A value invalid for cuSPARSE may be valid for us. */
    return error == CUSPARSE_STATUS_INVALID_VALUE ? SC_ERR_UNSUPPORTED : SC_ERR_DEVICE;
}

/* A function of cuSOLVER that works in place has failed in the middle.  cuSOLVER has no texts for its errors. */
enum sc_status sc_cuda_solver_failed(int error, const char *call)
{
    static unsigned char said[64];

    cudaGetLastError();
    if (first_time(said, (unsigned)error, sizeof said))
        sc_cuda_host->log(SC_LOG_ERROR, "cuSOLVER %s: status %d: the work goes on on the host; SEMCACHE_DEVICE=none "
                          "avoids the devices", call, error);
    return SC_ERR_DEVICE;
}
/* SPDX-License-Identifier: BSD-2-Clause */
