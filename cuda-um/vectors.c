/* cuBLAS's copies between host and devices: the runtime's copies with strides. */
#include "cuda-um/um.h"

/* Copies rows x cols elements; a vector is 1 x n with the increments as leading dimensions. */
static cublasStatus_t move(int64_t rows, int64_t cols, int64_t element, const void *from, int64_t from_ld, void *to,
                           int64_t to_ld, cudaStream_t stream, bool waits)
{
    size_t width = (size_t)(rows * element);
    cudaError_t error;

    if (rows < 0 || cols < 0 || element <= 0 || from_ld < rows || to_ld < rows || from_ld <= 0 || to_ld <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!rows || !cols)
        return CUBLAS_STATUS_SUCCESS;
    error = waits ? cudaMemcpy2D(to, (size_t)(to_ld * element), from, (size_t)(from_ld * element), width, (size_t)cols,
                                 cudaMemcpyDefault)
                  : cudaMemcpy2DAsync(to, (size_t)(to_ld * element), from, (size_t)(from_ld * element), width,
                                      (size_t)cols, cudaMemcpyDefault, stream);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

static bool passes(const void *caller, const void *from, const void *to)
{
    struct sc_um_block block;

    return sc_um_passes(caller) ||
           (sc_um_way() == SC_UM_MAPPED && !sc_um_inner->holds(from) && !sc_um_inner->holds(to) &&
            !sc_um_block_of(from, &block) && !sc_um_block_of(to, &block));
}

#define MOVES(direction, suffix, I)                                                                                    \
    SC_UM_EXPORT cublasStatus_t cublas##direction##Vector##suffix(I n, I element, const void *x, I incx, void *y,      \
                                                                  I incy)                                              \
    {                                                                                                                  \
        if (passes(SC_UM_CALLER, x, y))                                                                                \
            return SC_UM_BEHIND(cublas##direction##Vector##suffix)(n, element, x, incx, y, incy);                      \
        return move(n > 0, n, element, x, incx, y, incy, NULL, true);                                                  \
    }                                                                                                                  \
    SC_UM_EXPORT cublasStatus_t cublas##direction##VectorAsync##suffix(I n, I element, const void *x, I incx, void *y, \
                                                                       I incy, cudaStream_t stream)                    \
    {                                                                                                                  \
        if (passes(SC_UM_CALLER, x, y))                                                                                \
            return SC_UM_BEHIND(cublas##direction##VectorAsync##suffix)(n, element, x, incx, y, incy, stream);         \
        return move(n > 0, n, element, x, incx, y, incy, stream, false);                                               \
    }                                                                                                                  \
    SC_UM_EXPORT cublasStatus_t cublas##direction##Matrix##suffix(I rows, I cols, I element, const void *a, I lda,     \
                                                                  void *b, I ldb)                                      \
    {                                                                                                                  \
        if (passes(SC_UM_CALLER, a, b))                                                                                \
            return SC_UM_BEHIND(cublas##direction##Matrix##suffix)(rows, cols, element, a, lda, b, ldb);               \
        return move(rows, cols, element, a, lda, b, ldb, NULL, true);                                                  \
    }                                                                                                                  \
    SC_UM_EXPORT cublasStatus_t cublas##direction##MatrixAsync##suffix(I rows, I cols, I element, const void *a,       \
                                                                       I lda, void *b, I ldb, cudaStream_t stream)     \
    {                                                                                                                  \
        if (passes(SC_UM_CALLER, a, b))                                                                                \
            return SC_UM_BEHIND(cublas##direction##MatrixAsync##suffix)(rows, cols, element, a, lda, b, ldb, stream);  \
        return move(rows, cols, element, a, lda, b, ldb, stream, false);                                               \
    }
MOVES(Set, , int)
MOVES(Get, , int)
MOVES(Set, _64, int64_t)
MOVES(Get, _64, int64_t)
/* SPDX-License-Identifier: BSD-2-Clause */
