/* The element types of the BLAS, and the record of one BLAS operation in one address space. */
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

/* Distance between neighbouring vector elements, in elements, for an increment of either sign.  INT64_MIN is
 * unchanged. */
static inline int64_t sc_step(int64_t inc) { return inc < 0 ? (int64_t)-(uint64_t)inc : inc; }

/* How an operation uses an operand.  WRITE: every element is overwritten and no element is read. */
enum sc_access { SC_READ = 1, SC_WRITE = 2, SC_RDWR = 3 };

/* Operations of a device.  x, y: vectors.  A, B, C: column-major matrices.  "b=y": operand y is in field b of
 * sc_kernel. */
enum sc_op {
    SC_OP_AXPY,  /* b=y := alpha a=x + y */
    SC_OP_SCAL,  /* a=x := alpha x; alpha real when scale_real */
    SC_OP_COPY,  /* b=y := a=x */
    SC_OP_SWAP,  /* a=x <-> b=y */
    SC_OP_AXPBY, /* b=y := alpha a=x + beta y */
    SC_OP_ROT,   /* (a=x, b=y) := (c x + s y, c y - s x); c = alpha, s = beta, real */
    SC_OP_ROTM,  /* modified rotation of a=x, b=y by `param`; real types */
    SC_OP_DOT,   /* result := x^T y */
    SC_OP_DOTC,  /* result := conj(x)^T y */
    SC_OP_DSDOT, /* result := x^T y in double precision; single precision x, y */
    SC_OP_NRM2,  /* result := ||x||_2 (real) */
    SC_OP_ASUM,  /* result := sum |Re x| + |Im x| (real) */
    SC_OP_IAMAX, /* result := int64_t, 1-based index of the first maximal element, 0 when n < 1 */
    SC_OP_IAMIN, /* as IAMAX, for the first minimal element */
    SC_OP_GEMV,  /* c=y := alpha op(A) x + beta y; A is stored m x n; x in b */
    SC_OP_GER,   /* C := alpha x y^T + C; x in a (m), y in b (n) */
    SC_OP_GERC,  /* C := alpha x conj(y)^T + C */
    SC_OP_SYMV,  /* c=y := alpha A x + beta y; A is n x n; x in b; real types */
    SC_OP_HEMV,
    SC_OP_SYR,   /* c=A := alpha x x^T + A, the triangle `uplo`; x in a; real types */
    SC_OP_HER,   /* alpha real */
    SC_OP_SYR2,  /* c=A := alpha x y^T + alpha y x^T + A; x in a, y in b; real types */
    SC_OP_HER2,
    SC_OP_TRMV,  /* b=x := op(A) x; A is n x n */
    SC_OP_TRSV,  /* b=x := op(A)^-1 x; A is n x n */
    SC_OP_GBMV,  /* as GEMV; A with kl sub- and ku superdiagonals, stored (kl + ku + 1) x n */
    SC_OP_SBMV,  /* as SYMV; k off-diagonals, stored (k + 1) x n */
    SC_OP_HBMV,
    SC_OP_TBMV,  /* as TRMV; k off-diagonals, stored (k + 1) x n */
    SC_OP_TBSV,
    SC_OP_SPMV,  /* as SYMV; A packed: a vector of n (n + 1) / 2 elements, lda = 1 */
    SC_OP_HPMV,
    SC_OP_SPR,   /* as SYR; A packed, ldc = 1 */
    SC_OP_HPR,
    SC_OP_SPR2,
    SC_OP_HPR2,
    SC_OP_TPMV,  /* as TRMV; A packed */
    SC_OP_TPSV,
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
    SC_OPS,
    /* Outside the BLAS: A is sparse, m x n, with its values in a and its structure in `csr`. */
    SC_OP_CSRMV = SC_OPS, /* c=y := alpha op(A) x + beta y; x in b */
    /* C := alpha op(A) B + beta C; B, C have k columns, stored by columns, or by rows if transb is 'T' */
    SC_OP_CSRMM,
    SC_OP_CSRSV, /* c=y := alpha A^-1 x; x in b; A is the stored triangle `uplo`, n x n */
    SC_OP_CSRSM, /* C := alpha A^-1 B; B, C as in CSRMM */
    SC_OPS_ALL
};

/* A matrix stored by rows.  Row i has entries [rows[i], rows[i + 1]), in any order; entries with equal columns are
 * summed. */
struct sc_csr {
    const void *rows, *columns; /* m + 1 and `nonzeros` integers of index_bytes, counted from `base` */
    int64_t nonzeros;
    /* Every column index, counted from 0, lies in [first, end): the kernel reads only this range of x. */
    int64_t first, end;
    int index_bytes;     /* 4 or 8 */
    int base;            /* 0 or 1 */
    /* Place for the device's analysis of the structure (sc_device_ops.forget).  *plan is NULL at first and belongs to
     * the device.  NULL: no analysis is kept. */
    void **plan;
};

/* One operation.  Pointers belong to the address space of the operation.  As in the BLAS, a vector is a pointer to the
 * element of lowest address and a signed increment; letters are upper case.  A complex scalar is (re, im); single
 * precision scalars are kept as double, exactly. */
struct sc_kernel {
    enum sc_op op;
    enum sc_type type;
    char transa, transb; /* 'N', 'T', 'C' */
    char side, uplo, diag; /* 'L'/'R', 'U'/'L', 'U'/'N' */
    bool scale_real;     /* SCAL of a complex vector by a real alpha: csscal, zdscal */
    bool conj;           /* level 2 operations of row-major calls: see sc_kernel_rows */
    int64_t m, n, k;     /* vector operations have n only */
    int64_t kl, ku;      /* GBMV */
    double param[5];     /* ROTM, as in the BLAS */
    double alpha[2], beta[2];
    void *a, *b, *c;
    int64_t lda, ldb, ldc; /* leading dimensions, or increments of vectors, in elements */
    struct sc_csr csr;   /* CSRMV, CSRMM, CSRSV, CSRSM */
    /* Reductions: 16 bytes of space for a float, a double, a complex number, or an int64_t. */
    void *result;
};

/* C := A B with sparse A, B and C in one address space.  Integers have the same width in the three matrices; C counts
 * from 0. */
struct sc_csr_product {
    enum sc_type type;
    int64_t m, n, k; /* A is m x k, B is k x n; `first`, `end` and `plan` of A and B are unused */
    struct sc_csr a, b;
    const void *a_values, *b_values;
    int64_t nonzeros; /* of C; valid after the computation */
    /* Private data of the implementation, kept until C is stored; NULL at first. */
    void *work;
};

/* How the source entries of a conversion to CSR are stored. */
enum sc_layout {
    SC_LAYOUT_LINES,       /* by rows or columns, of entries or blocks */
    SC_LAYOUT_COORDINATES, /* every entry with its row and column */
    SC_LAYOUT_DIAGONALS
};

/* Conversion of rows [row, row + rows) of a stored matrix to CSR, in one address space.
 *
 * Integers of the source have from_bytes bytes and count from from_base.  A position is an entry, a block, or the place
 * of a row on every diagonal.  The source arrays `index` and `values` hold positions [first, first + count).
 *
 * A row of the CSR has its entries in stored order: an off-diagonal entry's mirror image follows the entry, and the
 * unit diagonal comes last.  If `sorted`, a row is ordered by columns, and entries with equal columns are summed in
 * stored order. */
struct sc_csr_conversion {
    enum sc_layout layout;
    enum sc_type type;
    int from_bytes, from_base;
    int64_t m, n;          /* size of the stored matrix */
    int64_t first, count;
    /* LINES: the start of every line and the end of the last, lines + 1 integers.  COORDINATES: the rows. */
    const void *start;
    /* LINES, COORDINATES: columns (rows if by_columns).  DIAGONALS: the offsets of all diagonals, counted from 0. */
    const void *index;
    /* DIAGONALS: `count` values of the first diagonal, then of the next. */
    const void *values;
    int64_t lines, block, diagonals; /* block: rows and columns of a block; 1: entries */
    bool by_columns, block_by_rows;

    bool lower, diagonal, upper; /* which entries count: below, on and above the diagonal */
    bool mirrored, mirror_conjugated; /* entries off the diagonal count twice, at (i, j) and (j, i) */
    bool transposed, conjugated; /* applied after `mirrored` */
    bool ones;             /* the diagonal is all ones */
    bool sorted;           /* by columns */

    int64_t row, rows;     /* rows of the result */
    /* Number of entries in these rows; if `sorted`, an upper bound, the capacity of the CSR. */
    int64_t entries;
    int to_bytes, to_base;
    void *csr_rows, *csr_columns, *csr_values;
};

const char *sc_op_name(enum sc_op op);
static inline int sc_op_level(enum sc_op op) { return op < SC_OP_GEMV ? 1 : op < SC_OP_GEMM ? 2 : 3; }
static inline bool sc_op_is_sparse(enum sc_op op) { return op >= SC_OP_CSRMV && op < SC_OPS_ALL; }
static inline bool sc_op_is_reduction(enum sc_op op) { return op >= SC_OP_DOT && op <= SC_OP_IAMIN; }
static inline bool sc_op_is_packed(enum sc_op op) { return op >= SC_OP_SPMV && op <= SC_OP_TPSV; }
static inline bool sc_op_is_banded(enum sc_op op) { return op >= SC_OP_GBMV && op <= SC_OP_TBSV; }
/* Level 3 operations with a triangular or symmetric A on one side of B. */
static inline bool sc_op_has_side(enum sc_op op)
{
    return op == SC_OP_SYMM || op == SC_OP_HEMM || op == SC_OP_TRMM || op == SC_OP_TRSM;
}
/* Whether the operation exists in this type.  In the real types HEMM is SYMM, HER is SYR and so on; the BLAS has no
 * complex SYMV or SYR. */
bool sc_op_has_type(enum sc_op op, enum sc_type type);
/* Reductions: whether the result is an index (int64_t), and the type of a numerical result. */
static inline bool sc_op_gives_index(enum sc_op op) { return op == SC_OP_IAMAX || op == SC_OP_IAMIN; }
static inline enum sc_type sc_op_result_type(enum sc_op op, enum sc_type type)
{
    if (op == SC_OP_DOT || op == SC_OP_DOTC)
        return type;
    return op != SC_OP_DSDOT && (type == SC_S || type == SC_C) ? SC_S : SC_D;
}

/* A row-major call on a complex matrix M is a call on the column-major matrix A = M^T.  The call may then need conj(A)
 * or conj(x), and no column-major level 2 operation has them.  A record with `conj` means, for a Hermitian or
 * triangular A:
 *   GEMV (transa N), HEMV  y := alpha conj(A) x + beta y      TRMV, TRSV (transa N)  x := conj(A) x, conj(A)^-1 x
 *   GERC  A := alpha conj(x) y^T + A                          HER   A := alpha conj(x) x^T + A
 *   HER2  A := alpha conj(x) y^T + conj(alpha) conj(y) x^T + A
 * With vectors as matrices of one row, the operation is one of level 3.  sc_kernel_rows writes the level 3 record,
 * without conj and for the same pointers, to *rows.  Returns false if the record has no such form; increments must be
 * positive. */
bool sc_kernel_rows(const struct sc_kernel *kernel, struct sc_kernel *rows);

#endif
