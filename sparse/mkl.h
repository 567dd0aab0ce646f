/* MKL's names for sparse matrices, on top of sparse.h: meanings of arguments, and macros for the four types.  Integers
 * are 32 bits wide (LP64), in names ending in _64 64 bits.
 *
 * The numbers are those of MKL's interface, because programs are compiled with them. */
#ifndef SC_SPARSE_MKL_H
#define SC_SPARSE_MKL_H

#include <complex.h>

#include "sparse/sparse.h"

/* Return values of the functions. */
enum sc_mkl_status {
    SC_MKL_SUCCESS,
    SC_MKL_NOT_INITIALIZED, /* a handle or an array is missing */
    SC_MKL_ALLOC_FAILED,
    SC_MKL_INVALID_VALUE,
    SC_MKL_EXECUTION_FAILED,
    SC_MKL_INTERNAL_ERROR,
    SC_MKL_NOT_SUPPORTED
};
enum { SC_MKL_NON_TRANSPOSE = 10, SC_MKL_TRANSPOSE, SC_MKL_CONJUGATE_TRANSPOSE };
enum {
    SC_MKL_GENERAL = 20, SC_MKL_SYMMETRIC, SC_MKL_HERMITIAN, SC_MKL_TRIANGULAR, SC_MKL_DIAGONAL,
    SC_MKL_BLOCK_TRIANGULAR, SC_MKL_BLOCK_DIAGONAL
};
enum { SC_MKL_LOWER = 40, SC_MKL_UPPER, SC_MKL_FULL /* both triangles are stored */ };
enum { SC_MKL_NON_UNIT = 50, SC_MKL_UNIT };
enum { SC_MKL_ROW_MAJOR = 101, SC_MKL_COLUMN_MAJOR };
/* Requests of a product of sparse matrices. */
enum { SC_MKL_FULL_MULT = 90, SC_MKL_NNZ_COUNT, SC_MKL_FINALIZE_MULT, SC_MKL_FULL_MULT_NO_VAL,
       SC_MKL_FINALIZE_MULT_NO_VAL };

/* Passed by value. */
struct sc_mkl_descr {
    int type, mode, diag;
};

/* The program was compiled for 64-bit integers under the names without _64 (ILP64).  Names with arrays as arguments
 * then read 64-bit integers.  Functions that create handles receive sizes by value and refuse. */
bool sc_mkl_wide(void);
extern bool (*sc_mkl_asks_wide)(void); /* set by libsemcache */

/* A handle is a pointer to the matrix. */
typedef struct sc_sparse_matrix *sc_mkl_matrix;

int sc_mkl_result(enum sc_status status);
/* 'N', 'T', 'C', or 0 for an unknown operation */
char sc_mkl_trans(int operation);
int sc_mkl_descr_read(struct sc_sparse_descr *out, struct sc_mkl_descr descr);

/* Begins the definition of an interface function; declares the function, because its header is MKL's. */
#define SC_MKL_FUNCTION(result, name, ...)                                         \
    __attribute__((visibility("default"))) result name(__VA_ARGS__);               \
    result name(__VA_ARGS__)

/* M(letter, capital, element, type, suffix, integer) for every type. */
#define SC_MKL_TYPES(M, suffix, integer)                                           \
    M(s, S, float, SC_S, suffix, integer)                                          \
    M(d, D, double, SC_D, suffix, integer)                                         \
    M(c, C, float complex, SC_C, suffix, integer)                                  \
    M(z, Z, double complex, SC_Z, suffix, integer)
#define SC_MKL_EACH(M) SC_MKL_TYPES(M, , int32_t) SC_MKL_TYPES(M, _64, int64_t)
/* M(suffix, integer): names without a type. */
#define SC_MKL_WIDTHS(M) M(, int32_t) M(_64, int64_t)

/* A scalar in the format of sparse.h. */
#define SC_MKL_SCALAR(value) ((const double[2]){creal(value), cimag(value)})

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
