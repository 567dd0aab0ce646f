/* Inside the CUDA module: declarations shared by the kernels of the three levels.
 *
 * The four types of a routine differ only in pointed-to types, so a routine has one signature with void pointers and a
 * table of four functions.  (Whether a function may be called through a type with other pointed-to types depends on the
 * ABI; x86-64 passes all object pointers alike.) */
#ifndef SC_DEVICE_CUDA_KERNEL_H
#define SC_DEVICE_CUDA_KERNEL_H

#include "device/cuda/cuda_int.h"

#define SC_CUDA_FOUR(fn, s, d, c, z)                                                                            \
    {(fn *)cublas##s##_v2_64, (fn *)cublas##d##_v2_64, (fn *)cublas##c##_v2_64, (fn *)cublas##z##_v2_64}
/* Routines without complex versions (sc_op_has_type). */
#define SC_CUDA_TWO(fn, s, d) {(fn *)cublas##s##_v2_64, (fn *)cublas##d##_v2_64, NULL, NULL}

/* A scalar in cuBLAS's format: a real or complex number of the type's precision.  cuBLAS relies on the 16-byte
 * alignment of cuDoubleComplex. */
union sc_cuda_scalar {
    float s[2];
    _Alignas(16) double d[2];
};

struct sc_cuda_call {
    struct sc_cuda_stream *queue;
    cublasHandle_t blas;
    cusparseHandle_t sparse; /* set by sc_cuda_sparse */
    int device;
    enum sc_stream stream;
    const struct sc_kernel *k;
    union sc_cuda_scalar alpha, beta;
};

static inline union sc_cuda_scalar sc_cuda_scalar_of(enum sc_type type, const double value[2])
{
    union sc_cuda_scalar out;

    if (type == SC_S || type == SC_C)
        out.s[0] = (float)value[0], out.s[1] = (float)value[1];
    else
        out.d[0] = value[0], out.d[1] = value[1];
    return out;
}

/* The imaginary part counts only if the scalar is complex; the caller need not clear the imaginary part of a real
 * scalar. */
static inline bool sc_cuda_scalar_is(const struct sc_kernel *k, const double value[2], double real)
{
    bool is_real = k->op == SC_OP_HERK || k->op == SC_OP_HER || k->op == SC_OP_HPR ||
                   (k->op == SC_OP_HER2K && value == k->beta);
    bool pair = sc_type_is_complex(k->type) && !is_real;

    return value[0] == real && (!pair || value[1] == 0);
}

static inline cublasOperation_t sc_cuda_operation(const struct sc_kernel *k, char letter)
{
    if (letter == 'N')
        return CUBLAS_OP_N;
    return letter == 'C' && sc_type_is_complex(k->type) ? CUBLAS_OP_C : CUBLAS_OP_T;
}

static inline cublasFillMode_t sc_cuda_fill_mode(const struct sc_kernel *k)
{
    return k->uplo == 'U' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

static inline cublasSideMode_t sc_cuda_side_mode(const struct sc_kernel *k)
{
    return k->side == 'L' ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

static inline cublasDiagType_t sc_cuda_diag_type(const struct sc_kernel *k)
{
    return k->diag == 'U' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

static inline enum sc_status sc_cuda_result_of(const struct sc_cuda_call *c, cublasStatus_t error)
{
    return error == CUBLAS_STATUS_SUCCESS ? SC_OK : sc_cuda_blas_failed(error, sc_op_name(c->k->op));
}

/* C := beta C for an m x n matrix.  A and B are not read. */
enum sc_status sc_cuda_scale(const struct sc_cuda_call *c, int64_t m, int64_t n, void *matrix, int64_t ld);

/* Copies the named triangle of order n between a matrix and packed storage.  All numbers have 32 bits. */
enum sc_status sc_cuda_pack(const struct sc_cuda_call *c, int64_t n, const void *matrix, int64_t ld, void *packed);
enum sc_status sc_cuda_unpack(const struct sc_cuda_call *c, int64_t n, const void *packed, void *matrix, int64_t ld);

/* C := alpha op(A) op(B) + beta C, in the type of the call. */
struct sc_cuda_product {
    cublasOperation_t transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    const void *a, *b;
    void *c;
    const union sc_cuda_scalar *alpha, *beta;
};
enum sc_status sc_cuda_product(const struct sc_cuda_call *c, const struct sc_cuda_product *p);

/* trsm by kernels of the module and products.  SC_ERR_UNSUPPORTED: nothing was enqueued. */
enum sc_status sc_cuda_triangle(const struct sc_cuda_call *c);

/* The double precision dot product of single precision vectors, for n > 0. */
enum sc_status sc_cuda_dsdot(const struct sc_cuda_call *c);

/* axpby, and the product of a diagonal matrix (csr.diagonal) and a vector, by one kernel of the module.
 * SC_ERR_UNSUPPORTED: nothing was enqueued.  is_loaded: a launch with this record loads nothing. */
enum sc_status sc_cuda_axpby(const struct sc_cuda_call *c);
enum sc_status sc_cuda_diagonal(const struct sc_cuda_call *c);
bool sc_cuda_vector_is_loaded(int device, const struct sc_kernel *k);

/* The product of a matrix with short rows (csr.longest) and a vector, by one kernel of the module, as above. */
enum sc_status sc_cuda_rows(const struct sc_cuda_call *c);
bool sc_cuda_rows_is_loaded(int device, const struct sc_kernel *k);

/* The product of such a matrix and a matrix of few columns stored by rows, as above. */
enum sc_status sc_cuda_rows_columns(const struct sc_cuda_call *c);

/* gemm of a small matrix and wide matrices of few rows, by kernels of the module.  m, n, k > 0, alpha is not 0.
 * SC_ERR_UNSUPPORTED: nothing was enqueued. */
enum sc_status sc_cuda_thin(const struct sc_cuda_call *c);

/* Whether a launch of this sparse kernel is one call, with the analysis of an earlier call. */
bool sc_cuda_sparse_certain(int device, enum sc_stream stream, const struct sc_kernel *k);

/* The call's kernel, by level, or sparse. */
enum sc_status sc_cuda_level1(const struct sc_cuda_call *c);
enum sc_status sc_cuda_level2(const struct sc_cuda_call *c);
enum sc_status sc_cuda_sparse(struct sc_cuda_call *c);
enum sc_status sc_cuda_lapack(const struct sc_cuda_call *c);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
