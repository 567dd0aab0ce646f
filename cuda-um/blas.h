/* Building blocks of the generated cuBLAS functions (generate.awk).  A generated function asks sc_um_begin whether
 * semcache serves the call, converts enumerations to letters and addresses of scalars to scalars, and calls the Fortran
 * routine with 64-bit integers. */
#ifndef SC_UM_BLAS_H
#define SC_UM_BLAS_H

#include "cuda-um/um.h"

struct sc_um_call {
    cublasHandle_t handle;
    cublasStatus_t status;
    bool device_scalars;    /* the handle's pointer mode */
    bool switched;          /* to device scalars, for a call of CUDA */
    union {
        double d[5]; /* large enough for rotm's parameters */
        float s[5];
        char c[40];
    } scalar[2];
};

/* True: semcache serves the call, and call->status tells whether the arguments are valid so far.  False: CUDA serves
 * the call, and all preparations are done.  `memory`: the operands.  `scalars`: addresses on the host or the device. */
bool sc_um_begin(struct sc_um_call *call, const void *caller, cublasHandle_t handle, const void *const *memory,
                 int memories, const void *const *scalars, int count);

/* After a call of CUDA: returns its status, and restores the handle's pointer mode. */
cublasStatus_t sc_um_passed(const struct sc_um_call *call, cublasStatus_t status);

static inline void sc_um_require(struct sc_um_call *call, bool right)
{
    if (!right && call->status == CUBLAS_STATUS_SUCCESS)
        call->status = CUBLAS_STATUS_INVALID_VALUE;
}

/* The letter of the BLAS for an enumerator; an unknown enumerator makes the call invalid. */
char sc_um_trans(struct sc_um_call *call, cublasOperation_t trans);
char sc_um_side(struct sc_um_call *call, cublasSideMode_t side);
char sc_um_uplo(struct sc_um_call *call, cublasFillMode_t uplo);
char sc_um_diag(struct sc_um_call *call, cublasDiagType_t diag);

/* The address of a scalar readable by the CPU: `at`, or a copy in call->scalar[slot]. */
const void *sc_um_scalar(struct sc_um_call *call, int slot, const void *at, size_t bytes);
/* Stores a result at an address given by the program. */
void sc_um_result(struct sc_um_call *call, void *at, const void *value, size_t bytes);

/* C := B, column by column, for trmm out of place.  `copy` is the copy routine of the type. */
typedef void sc_um_copy_routine(const int64_t *n, const void *x, const int64_t *incx, void *y, const int64_t *incy);
void sc_um_copy_matrix(struct sc_um_call *call, sc_um_copy_routine *copy, int64_t m, int64_t n, const void *b,
                       int64_t ldb, void *c, int64_t ldc, size_t element);

/* The routine of semcache, or NULL; without the routine the call is not supported. */
void *sc_um_need(struct sc_um_call *call, void **found, const char *name);

static inline int64_t sc_um_most(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
