/* Sparse matrices on devices, as the interfaces see them (Sparse BLAS, MKL's names, semcache.h).
 *
 * A matrix is a handle on host arrays.  What the devices have is made from the arrays when it is first needed, and
 * again, as far as necessary, when the CPU (or a device) has written them; there is nothing to be told about changes.
 *
 * All functions may be called from any thread.  Calls on one matrix run one after the other.  Errors: one line on
 * stderr where the cause is known, a status, and nothing written. */
#ifndef SC_SPARSE_SPARSE_H
#define SC_SPARSE_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/types.h"

enum sc_sparse_format { SC_SPARSE_CSR, SC_SPARSE_CSC, SC_SPARSE_COO, SC_SPARSE_BSR, SC_SPARSE_DIA };

/* Host arrays.  Integers have index_bytes; what counts positions, rows or columns counts from `base`. */
struct sc_sparse_arrays {
    enum sc_sparse_format format;
    enum sc_type type;
    int index_bytes;     /* 4 or 8 */
    int base;            /* 0 or 1 */
    int64_t rows, cols;  /* of the matrix, in elements */
    const void *start;   /* CSR, CSC, BSR: where each row (column, row of blocks) starts; COO: the rows */
    const void *end;     /* where it ends (one past); NULL: where the next one starts */
    /* CSR, BSR, COO: the columns (of blocks); CSC: the rows; DIA: diagonals, column minus row, no base */
    const void *index;
    const void *values;  /* BSR: blocks one after the other; DIA: element (i, i + index[d]) at values[i + d * ld] */
    int64_t count;       /* COO: entries; DIA: diagonals; else unused */
    int64_t block;       /* BSR: rows and columns of a block; rows and cols are multiples of it */
    bool block_by_rows;  /* BSR: blocks are stored by rows */
    int64_t ld;          /* DIA */
};

/* What of the stored entries counts.  Entries of the other triangle are ignored. */
enum sc_sparse_kind {
    SC_SPARSE_GENERAL,
    SC_SPARSE_SYMMETRIC,  /* the triangle `uplo` is both */
    SC_SPARSE_HERMITIAN,
    SC_SPARSE_TRIANGULAR, /* the triangle `uplo` and nothing else */
    SC_SPARSE_DIAGONAL
};
struct sc_sparse_descr {
    enum sc_sparse_kind kind;
    char uplo; /* 'L', 'U'; not looked at for general and diagonal */
    char diag; /* 'N', 'U': the diagonal is all ones, whatever is stored; general: 'N' */
};

struct sc_sparse_matrix;

/* Calls that verification mode has compared, and that were not the host's; atomic. */
extern uint64_t sc_sparse_verified, sc_sparse_diverged;

/* The arrays stay the program's and have to live as long as the matrix; with `copy` they are copied now.  They are
 * looked at when they are used: SC_ERR_INVALID here for the arguments, there for what is in the arrays (a position that
 * decreases or leaves the range, an index that is no row or column).  Entries may be in any order; those of one place
 * are summed. */
enum sc_status sc_sparse_create(struct sc_sparse_matrix **out, const struct sc_sparse_arrays *arrays, bool copy);
void sc_sparse_destroy(struct sc_sparse_matrix *matrix); /* NULL: nothing */

/* For interfaces without handles: the matrix of these very arrays, known from earlier calls or new.  To be destroyed by
 * the caller after use, which forgets nothing: the last ones are kept for their next use. */
enum sc_status sc_sparse_find(struct sc_sparse_matrix **out, const struct sc_sparse_arrays *arrays);

/* Valid as long as the matrix; `end` is never NULL for CSR, CSC and BSR. */
const struct sc_sparse_arrays *sc_sparse_arrays(const struct sc_sparse_matrix *matrix);
/* Looks at the arrays: SC_OK or SC_ERR_INVALID, with a line.  *entries (if not NULL) gets the number that is stored. */
enum sc_status sc_sparse_check(struct sc_sparse_matrix *matrix, int64_t *entries);
/* Arrays that are copies were changed through the pointers of sc_sparse_arrays; the program's own need no such call. */
void sc_sparse_touched(struct sc_sparse_matrix *matrix);
/* Nobody else sees its arrays, which are copies: what the host makes of them for a call (transposed, both triangles,
 * sorted) is kept for the next one, as what the devices have is. */
void sc_sparse_set_private(struct sc_sparse_matrix *matrix);
/* After that: values, and nothing else, were written through the pointers of sc_sparse_arrays. */
void sc_sparse_values_changed(struct sc_sparse_matrix *matrix);

/* A new matrix, in CSR with sorted columns, arrays of its own: op(A) as `descr` has it. */
enum sc_status sc_sparse_convert(struct sc_sparse_matrix **out, struct sc_sparse_matrix *matrix, char trans,
                                 const struct sc_sparse_descr *descr);
/* op(A), in CSC.  SC_ERR_UNSUPPORTED: a complex 'C'. */
enum sc_status sc_sparse_convert_csc(struct sc_sparse_matrix **out, struct sc_sparse_matrix *matrix, char trans);

/* y := alpha op(A) x + beta y; trans 'N', 'T', 'C'.  Increments are not 0; vectors start at the element of lowest
 * address. (With a negative increment element 0 is the one of highest address, as in the BLAS.)  beta = 0: y is not
 * read. */
enum sc_status sc_sparse_mv(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            const double alpha[2], const void *x, int64_t incx, const double beta[2], void *y,
                            int64_t incy);
/* C := alpha op(A) B + beta C with `columns` columns, stored by columns or (by_rows) by rows. */
enum sc_status sc_sparse_mm(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            bool by_rows, int64_t columns, const double alpha[2], const void *b, int64_t ldb,
                            const double beta[2], void *c, int64_t ldc);
/* y := alpha op(T)^-1 x, T the triangle (or diagonal) of the matrix that descr names; x and y may be the same. */
enum sc_status sc_sparse_sv(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            const double alpha[2], const void *x, int64_t incx, void *y, int64_t incy);
enum sc_status sc_sparse_sm(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            bool by_rows, int64_t columns, const double alpha[2], const void *b, int64_t ldb, void *c,
                            int64_t ldc);
/* *out := op(A) op(B), in CSR with sorted columns, arrays of its own. */
enum sc_status sc_sparse_multiply(struct sc_sparse_matrix **out, char transa, struct sc_sparse_matrix *a, char transb,
                                  struct sc_sparse_matrix *b);
/* C := alpha A + beta C, dense, stored by columns or (by_rows) by rows; on the host. */
enum sc_status sc_sparse_to_dense(struct sc_sparse_matrix *matrix, const double alpha[2], const double beta[2],
                                  bool by_rows, void *c, int64_t ldc);
/* *out := alpha op(A) + B, as the product. */
enum sc_status sc_sparse_add(struct sc_sparse_matrix **out, char trans, const double alpha[2],
                             struct sc_sparse_matrix *a, struct sc_sparse_matrix *b);

/* Writes into the arrays, the program's or ours, as the program could itself.  Entry (row, col), counted from 0, gets
 * the value; others of the same place get 0.  SC_ERR_INVALID: no such entry is stored. */
enum sc_status sc_sparse_set_value(struct sc_sparse_matrix *matrix, int64_t row, int64_t col, const void *value);
/* All values, in the order in which they are stored; count: that of sc_sparse_check. */
enum sc_status sc_sparse_set_values(struct sc_sparse_matrix *matrix, int64_t count, const void *values);

/* Set by libsemcache: opens the devices, now or meanwhile.  False: no devices, or not yet. */
extern bool (*sc_sparse_start)(bool now);

#endif
