/* What is known of every operation of the devices: generated from operations.tab, the only place that describes
 * operations.  Nothing here has a state. */
#ifndef SC_OPS_OPS_H
#define SC_OPS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "ops/operations.h"

/* Products of the same shape and scalars.  The operands of all products lie in one matrix.  The operand of product i
 * begins `row` * i rows and `col` * i columns after the operand of product 0.  A step of 0: common to all. */
struct sc_batch {
    int64_t count; /* of products; 0: the operation is no batch */
    struct sc_batch_step {
        int64_t row, col;
    } a, b, c;
    const struct sc_batch_items *items; /* NULL: products of one shape, by steps */
};

/* A product of its own shape and scalars.  Its operands begin `a`, `b`, `c` elements behind those of the record. */
struct sc_batch_item {
    char transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha[2], beta[2];
    int64_t a, b, c;
};

/* Products with operands at any places.  An operand of the record is a vector that contains the operands of all
 * products.  Results have no common element.  The record's m, n and k have the products' number of multiply-adds.
 * One block of memory, which ends with `count` items.  A device copies what it needs after the launch. */
struct sc_batch_items {
    int64_t count;
    int64_t extent[3]; /* elements of the vectors A, B and C */
    int shapes;        /* runs of neighbouring items with the same shape and scalars */
    struct sc_batch_item item[];
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
    bool loops;          /* on the host the program has a loop of its own on one processor: for decisions */
    int64_t m, n, k;     /* vector operations have n only */
    int64_t kl, ku;      /* GBMV */
    double param[5];     /* ROTM, as in the BLAS */
    double alpha[2], beta[2];
    void *a, *b, *c;
    int64_t lda, ldb, ldc; /* leading dimensions, or increments of vectors, in elements */
    struct sc_batch batch; /* GEMM; n is the sum of the columns of all C */
    struct sc_csr csr;   /* CSRMV, CSRMM, CSRSV, CSRSM */
    /* LAPACK (level 4), all in host memory of the library, valid until the task's end was waited for.  The device
     * reads pivots and tau in the order of the stream; pivots, tau and the values that it writes are valid when the
     * result is. */
    char job[2];         /* 'N', 'V', or 'N', 'S', 'A', in capitals */
    void *small[2];      /* tau, or eigenvalues or singular values; real and imaginary parts of GEEV in real types */
    int64_t *pivots;     /* 1-based */
    /* Of eigenvalues, 'A' or 0: all; 'I': k values from number `first` on, 1-based; 'V': the values above alpha[0] and
     * at most alpha[1], and the vectors' columns beyond k = 1 are not known before.  SYEVD with 'I' or 'V' puts the
     * values and vectors of the range first, and their number to pivots[0]. */
    char range;
    int64_t first;
    /* Reductions: 16 bytes of space for a float, a double, a complex number, or an int64_t.  LAPACK: INFO, int64_t. */
    void *result;
};

/* How a matrix that several devices use for the first time is distributed. */
enum sc_split { SC_SPLIT_ROWS, SC_SPLIT_COLS };

/* When a known matrix is distributed again, like a new matrix: never; while no device has data of the matrix; or, if
 * the call overwrites the data on the devices, while the host has all data. */
enum sc_recut { SC_RECUT_NEVER, SC_RECUT_ABSENT, SC_RECUT_HOME };

/* One operand of a call.  A matrix is column-major, rows x cols, ld >= rows.  A vector has n in `rows`, cols = 1, its
 * signed increment in `ld`, and ptr at its element of lowest address. */
struct sc_view {
    const void *ptr;
    enum sc_type type;
    bool vector;
    bool half;  /* a triangle: the operation uses half of the elements */
    bool whole; /* every device that takes part needs all of the operand */
    bool passed_on; /* uploads go to the tiles' devices first, because the devices have their tasks in turn */
    int64_t rows, cols, ld;
    enum sc_access access;
    enum sc_split split;
    enum sc_recut recut;
    int spread; /* devices that a new matrix is distributed over; 0: all */
    int tile_rows, tile_cols; /* > 0: tiles of a new matrix, dealt out block-cyclically; `split` is unused then */
    int64_t block; /* > 0: columns of the tiles of a new matrix, dealt out in turn; `split` and tiles are unused then */
    int64_t block_rows; /* > 0: tiles of block_rows x block, dealt out to a grid of tile_rows x tile_cols devices */
    bool reflected; /* with block_rows and tile_cols 1: every second turn goes from the last device to the first */
};

enum { SC_VIEWS_MAX = 3 };

/* A row of operations.tab. */
struct sc_op_info {
    const char *name;           /* "gemm" */
    const char *host[SC_TYPES]; /* Fortran routine that computes the operation, "dgemm_"; NULL: no such type */
    const char *letters;        /* names of the operands in their order: A, B, C, P(acked), E(ntries), X, Y */
    const char *slots;          /* of struct sc_kernel, which has them as a, b, c */
    const char *trans;          /* values of `transa`, those in small letters in real types only; NULL: none */
    char result;                /* of a reduction: T, R, D or I; else 0 */
    uint8_t level;              /* 1, 2, 3; sparse operations: 3; LAPACK: 4 */
    char small;                 /* elements of sc_kernel.small: T of the type, R real, G the form of GEEV; 0: none */
    bool pivots;                /* sc_kernel.pivots is an argument */
    bool packed, banded, sparse;
    bool m, k, side, uplo, transa, transb, diag; /* arguments that the operation has */
    bool scales;                /* alpha = 0 takes out what is only read */
    bool apart;                 /* the two operands may not be the same memory */
    bool made;                  /* LAPACK: the tasks of the routine are the operations `parts` */
    enum sc_op parts[2];
    int (*views)(const struct sc_kernel *kernel, struct sc_view view[SC_VIEWS_MAX]);
};
extern const struct sc_op_info sc_ops[SC_OPS_ALL];

#define SC_OP_OWN 255 /* in traces: a kernel of the program */
static inline const char *sc_op_name(enum sc_op op)
{
    return (unsigned)op < SC_OPS_ALL ? sc_ops[op].name : (unsigned)op == SC_OP_OWN ? "own" : "?";
}
static inline int sc_op_level(enum sc_op op) { return sc_ops[op].level; }
/* A routine of LAPACK. */
static inline bool sc_op_is_lapack(enum sc_op op) { return sc_ops[op].level == 4; }
/* The operations that a routine of LAPACK is made of; NULL: the routine is an operation of the devices. */
static inline const enum sc_op *sc_op_parts(enum sc_op op) { return sc_ops[op].made ? sc_ops[op].parts : NULL; }
static inline bool sc_op_is_sparse(enum sc_op op) { return sc_ops[op].sparse; }
static inline bool sc_op_is_reduction(enum sc_op op) { return sc_ops[op].result != 0; }
static inline bool sc_op_is_packed(enum sc_op op) { return sc_ops[op].packed; }
static inline bool sc_op_is_banded(enum sc_op op) { return sc_ops[op].banded; }
/* Level 3 operations with a triangular or symmetric A on one side of B. */
static inline bool sc_op_has_side(enum sc_op op) { return sc_ops[op].side; }
/* Whether the operation exists in this type.  In the real types HEMM is SYMM, HER is SYR and so on; the BLAS has no
 * complex SYMV or SYR. */
static inline bool sc_op_has_type(enum sc_op op, enum sc_type type)
{
    return (unsigned)op < SC_OPS_ALL && (unsigned)type < SC_TYPES && sc_ops[op].host[type];
}
/* Reductions: whether the result is an index (int64_t), and the type of a numerical result. */
static inline bool sc_op_gives_index(enum sc_op op) { return sc_ops[op].result == 'I'; }
static inline enum sc_type sc_op_result_type(enum sc_op op, enum sc_type type)
{
    char result = sc_ops[op].result;

    return result == 'T' ? type : result != 'D' && (type == SC_S || type == SC_C) ? SC_S : SC_D;
}
/* The letters of a record by name. */
enum sc_letter { SC_SIDE = 's', SC_UPLO = 'u', SC_TRANSA = 'a', SC_TRANSB = 'b', SC_DIAG = 'd' };
/* True if the letter of a record may have this value.  The operation must have a letter of this name. */
bool sc_op_takes(enum sc_op op, enum sc_type type, enum sc_letter name, char letter);
/* Multiply-adds of the sizes, of real numbers; at level 1 elements.  Banded: k is the number of off-diagonals; sparse:
 * m is the number of entries. */
double sc_op_work(enum sc_op op, char side, double m, double n, double k);
/* LAPACK: the number of elements of each of `small`, or of `pivots`. */
int64_t sc_kernel_small(const struct sc_kernel *kernel);
extern const uint8_t sc_op_rate[SC_OPS_ALL]; /* additions and multiplications for each unit of that work */

/* Fills `view` with the operands in the order a, b, c; returns their number.  The integers of a sparse matrix are not
 * included.  The letters of the record must be valid. */
int sc_kernel_views(const struct sc_kernel *kernel, struct sc_view view[SC_VIEWS_MAX]);
/* Product i of a batch: a GEMM on host or device memory. */
struct sc_kernel sc_kernel_of_batch(const struct sc_kernel *kernel, int64_t i);
/* Whether two products differ in their places only. */
bool sc_batch_same_shape(const struct sc_batch_item *a, const struct sc_batch_item *b);
static inline size_t sc_batch_bytes(int64_t count)
{
    return sizeof(struct sc_batch_items) + (size_t)count * sizeof(struct sc_batch_item);
}
/* Elements between the operands of neighbouring products. */
static inline int64_t sc_batch_stride(struct sc_batch_step step, int64_t ld) { return step.row + step.col * ld; }
/* True if letters and sizes are valid, and the operation has more to do than to scale the result or to return. */
bool sc_kernel_is_work(const struct sc_kernel *kernel);
/* Real additions and multiplications. */
double sc_kernel_flops(const struct sc_kernel *kernel);
/* Traffic between device memory and processors in bytes; an operand counts once per access. */
double sc_kernel_bytes(const struct sc_kernel *kernel);
/* An output that is wholly overwritten when beta is 0. */
static inline enum sc_access sc_kernel_output(const struct sc_kernel *kernel)
{
    return kernel->beta[0] == 0 && kernel->beta[1] == 0 ? SC_WRITE : SC_RDWR;
}

/* A row-major call on a complex matrix M is a call on the column-major matrix A = M^T.  The call may then need conj(A)
 * or conj(x), and no column-major level 2 operation has them.  A record with `conj` means, for a Hermitian or
 * triangular A:
 *   GEMV (transa N), HEMV: y := alpha conj(A) x + beta y.
 *   TRMV, TRSV (transa N): x := conj(A) x, x := conj(A)^-1 x.
 *   GERC: A := alpha conj(x) y^T + A.
 *   HER: A := alpha conj(x) x^T + A.
 *   HER2: A := alpha conj(x) y^T + conj(alpha) conj(y) x^T + A.
 * With vectors as matrices of one row, the operation is one of level 3.  sc_kernel_rows writes the level 3 record,
 * without conj and for the same pointers, to *rows.  Returns false if the record has no such form; increments must be
 * positive. */
bool sc_kernel_rows(const struct sc_kernel *kernel, struct sc_kernel *rows);

static inline uint64_t sc_view_bytes(const struct sc_view *v)
{
    return (uint64_t)v->rows * (uint64_t)v->cols * sc_type_bytes(v->type);
}
/* A vector as a matrix of one row; the leading dimension is the distance between neighbouring elements. */
struct sc_view sc_view_flat(const struct sc_view *view);
/* Bytes from the first element of a view to the end of its last. */
uint64_t sc_view_span(const struct sc_view *view);
/* True if the view lies in the address space, so that sums and products of its sizes do not overflow. */
bool sc_view_fits(const struct sc_view *view);

/* For the generated shapes. */
/* Elements of a packed matrix of order n. The orders of wrong calls wrap around. */
static inline int64_t sc_op_packed(int64_t n) { return (int64_t)((uint64_t)n * ((uint64_t)n + 1)) / 2; }
/* Columns (rows) of vectors that a LAPACK routine computes: none, those of an economical result, or `all`. */
static inline int64_t sc_op_vectors(const struct sc_kernel *k, int i, int64_t all)
{
    return k->job[i] == 'A' || k->job[i] == 'V' ? all : k->job[i] != 'S' ? 0 : k->m < k->n ? k->m : k->n;
}
static inline struct sc_view sc_op_vector(const struct sc_kernel *k, const void *ptr, int64_t n, int64_t inc,
                                          enum sc_access access)
{
    return (struct sc_view){.ptr = ptr, .type = k->type, .vector = true, .rows = n, .cols = 1, .ld = inc,
                            .access = access, .split = SC_SPLIT_ROWS};
}
static inline struct sc_view sc_op_matrix(const struct sc_kernel *k, const void *ptr, int64_t rows, int64_t cols,
                                          int64_t ld, enum sc_access access, enum sc_split split)
{
    return (struct sc_view){.ptr = ptr, .type = k->type, .rows = rows, .cols = cols, .ld = ld, .access = access,
                            .split = split};
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
