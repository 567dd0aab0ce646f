/* The element types of the BLAS and the record of one BLAS operation on one address space. */
#ifndef SC_BASE_TYPES_H
#define SC_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_type { SC_S, SC_D, SC_C, SC_Z, SC_TYPES };

static inline size_t sc_type_bytes(enum sc_type t)
{
    static const uint8_t bytes[SC_TYPES] = {4, 8, 8, 16};
    return bytes[t];
}
static inline bool sc_type_is_complex(enum sc_type t) { return t == SC_C || t == SC_Z; }
static inline char sc_type_letter(enum sc_type t) { return "sdcz"[t]; }

/* How an operation uses an operand.  WRITE means: every element is overwritten and none is read. */
enum sc_access { SC_READ = 1, SC_WRITE = 2, SC_RDWR = 3 };

/* Operations that a device can be asked for.  "x", "y": vectors; "A", "B", "C": column-major matrices. */
enum sc_op {
    SC_OP_AXPY,  /* b=y := alpha a=x + y */
    SC_OP_SCAL,  /* a=x := alpha x; alpha real when scale_real */
    SC_OP_COPY,  /* b=y := a=x */
    SC_OP_SWAP,  /* a=x <-> b=y */
    SC_OP_DOT,   /* result := x^T y */
    SC_OP_DOTC,  /* result := conj(x)^T y */
    SC_OP_NRM2,  /* result := ||x||_2 (real) */
    SC_OP_ASUM,  /* result := sum |Re x| + |Im x| (real) */
    SC_OP_IAMAX, /* result := int64_t, 1-based index of the first maximal element, 0 when n < 1 */
    SC_OP_GEMV,  /* c=y := alpha op(A) x + beta y; A is m x n as stored; x in b */
    SC_OP_GER,   /* C := alpha x y^T + C; x in a (m), y in b (n) */
    SC_OP_GERC,  /* C := alpha x conj(y)^T + C */
    SC_OP_TRSV,  /* b=x := op(A)^-1 x; A is n x n */
    SC_OP_GEMM,  /* C := alpha op(A) op(B) + beta C; C is m x n */
    SC_OP_SYMM,  /* C := alpha A B + beta C (side L) or alpha B A + beta C (side R); C is m x n */
    SC_OP_HEMM,
    SC_OP_SYRK,  /* C := alpha A A^T + beta C (trans N) or A^T A; C is n x n, k the other size */
    SC_OP_HERK,  /* alpha, beta real */
    SC_OP_SYR2K, /* C := alpha A B^T + alpha B A^T + beta C (trans N) or alpha A^T B + alpha B^T A + beta C */
    SC_OP_HER2K, /* C := alpha A B^H + conj(alpha) B A^H + beta C (trans N), or as SYR2K; beta real */
    SC_OP_GEMMT, /* as GEMM, C n x n, only the triangle `uplo` of it */
    SC_OP_TRMM,  /* B := alpha op(A) B (side L) or alpha B op(A) (side R); B is m x n */
    SC_OP_TRSM,  /* B := alpha op(A)^-1 B (side L) or alpha B op(A)^-1 (side R); B is m x n */
    SC_OPS
};

/* One operation.  Pointers belong to the address space the operation runs in.  A vector is (pointer to the element of
 * lowest address, signed increment), as in the BLAS.  Letters are upper case as in the Fortran BLAS.  Complex scalars
 * are (re, im); single precision ones are kept as double (exactly). */
struct sc_kernel {
    enum sc_op op;
    enum sc_type type;
    char transa, transb; /* 'N', 'T', 'C' */
    char side, uplo, diag; /* 'L'/'R', 'U'/'L', 'U'/'N' */
    bool scale_real;     /* SCAL of a complex vector by a real alpha: csscal, zdscal */
    int64_t m, n, k;     /* vector operations: n */
    double alpha[2], beta[2];
    void *a, *b, *c;
    int64_t lda, ldb, ldc; /* leading dimensions, or increments of vectors, in elements */
    void *result;        /* reductions: 16 bytes; the type's own scalar (float, double, or a pair), or int64_t */
};

const char *sc_op_name(enum sc_op op);
static inline int sc_op_level(enum sc_op op) { return op < SC_OP_GEMV ? 1 : op < SC_OP_GEMM ? 2 : 3; }
static inline bool sc_op_is_reduction(enum sc_op op) { return op >= SC_OP_DOT && op <= SC_OP_IAMAX; }

#endif
