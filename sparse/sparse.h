/* Sparse matrices on devices: the interface for Sparse BLAS, MKL's names and semcache.h.
 *
 * A matrix is a handle on host arrays.  Devices hold derived copies, made from the arrays at the first use.  After a
 * write to the arrays, by the CPU or a device, the affected data is made again at the next use; no announcement is
 * needed.
 *
 * Every function is thread safe.  Calls on the same matrix run one after another.  On an error a function
 * returns a status and writes nothing; the function that finds the cause prints one line on stderr. */
#ifndef SC_SPARSE_SPARSE_H
#define SC_SPARSE_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/types.h"

enum sc_sparse_format { SC_SPARSE_CSR, SC_SPARSE_CSC, SC_SPARSE_COO, SC_SPARSE_BSR, SC_SPARSE_DIA };

/* Host arrays.  Integers have index_bytes bytes; positions, rows and columns count from `base`. */
struct sc_sparse_arrays {
    enum sc_sparse_format format;
    enum sc_type type;
    int index_bytes;     /* 4 or 8 */
    int base;            /* 0 or 1 */
    int64_t rows, cols;  /* in elements */
    /* CSR, CSC, BSR: the start of every row (column, row of blocks).  COO: the rows. */
    const void *start;
    /* The end (one past) of every row, column or row of blocks.  NULL: the start of the next. */
    const void *end;
    /* CSR, BSR, COO: the columns (of blocks); CSC: the rows; DIA: diagonals, column minus row, without base. */
    const void *index;
    /* BSR: one block after another.  DIA: element (i, i + index[d]) is values[i + d * ld]. */
    const void *values;
    int64_t count;       /* COO: entries; DIA: diagonals; else unused */
    int64_t block;       /* BSR: rows and columns of a block; divides `rows` and `cols` */
    bool block_by_rows;  /* BSR: blocks are stored by rows */
    int64_t ld;          /* DIA: distance of diagonals in `values`, in elements */
};

/* Which stored entries count.  Entries of the other triangle are ignored. */
enum sc_sparse_kind {
    SC_SPARSE_GENERAL,
    SC_SPARSE_SYMMETRIC,  /* the triangle `uplo` represents both */
    SC_SPARSE_HERMITIAN,
    SC_SPARSE_TRIANGULAR, /* only the triangle `uplo` */
    SC_SPARSE_DIAGONAL
};
struct sc_sparse_descr {
    enum sc_sparse_kind kind;
    char uplo; /* 'L', 'U'; ignored for general and diagonal matrices */
    /* 'N', or 'U': the diagonal is all ones, regardless of stored values.  General matrices: 'N'. */
    char diag;
    bool inverse; /* each stored value stands for its inverse, and 0 for 0 */
};

struct sc_sparse_matrix;

/* Creates a handle.  The arrays stay the program's and must live as long as the matrix; with `copy` they are copied
 * now.
 *
 * SC_ERR_INVALID: an argument is wrong.  The contents of the arrays are checked at their use: the using call returns
 * SC_ERR_INVALID for a decreasing or out-of-range position and for an invalid index.  Entries may be in any order;
 * entries at the same position are summed. */
enum sc_status sc_sparse_create(struct sc_sparse_matrix **out, const struct sc_sparse_arrays *arrays, bool copy);
void sc_sparse_destroy(struct sc_sparse_matrix *matrix); /* NULL has no effect */

/* For interfaces without handles: finds the matrix of exactly these arrays, known from an earlier call, or creates it.
 * The caller destroys the handle after use; the most recent matrices stay cached for later calls. */
enum sc_status sc_sparse_find(struct sc_sparse_matrix **out, const struct sc_sparse_arrays *arrays);

/* Valid as long as the matrix.  `end` is never NULL for CSR, CSC and BSR. */
const struct sc_sparse_arrays *sc_sparse_arrays(const struct sc_sparse_matrix *matrix);
/* Checks the arrays: SC_OK, or SC_ERR_INVALID with a line.  *entries (if not NULL) is the number of stored entries. */
enum sc_status sc_sparse_check(struct sc_sparse_matrix *matrix, int64_t *entries);
/* Announces a write to copied arrays through sc_sparse_arrays.  The program's own arrays need no announcement. */
void sc_sparse_touched(struct sc_sparse_matrix *matrix);
/* Declares that only sc_sparse_values_changed announces writes to the copied arrays.  The host's CSR for a use
 * (transposed, both triangles, sorted) is then kept for later calls, like the devices' derived copies. */
void sc_sparse_set_private(struct sc_sparse_matrix *matrix);
/* For private matrices: announces a write to values, and only values, through sc_sparse_arrays. */
void sc_sparse_values_changed(struct sc_sparse_matrix *matrix);

/* *out := op(A) under `descr`, a new matrix in CSR with sorted columns and its own arrays. */
enum sc_status sc_sparse_convert(struct sc_sparse_matrix **out, struct sc_sparse_matrix *matrix, char trans,
                                 const struct sc_sparse_descr *descr);
/* *out := op(A), in CSC.  SC_ERR_UNSUPPORTED: 'C' of a complex matrix. */
enum sc_status sc_sparse_convert_csc(struct sc_sparse_matrix **out, struct sc_sparse_matrix *matrix, char trans);

/* y := alpha op(A) x + beta y; trans is 'N', 'T' or 'C'.  Increments are not 0; the pointer of a vector is its lowest
 * address.  With a negative increment element 0 has the highest address, as in the BLAS.  If beta is 0, y is not
 * read. */
enum sc_status sc_sparse_mv(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            const double alpha[2], const void *x, int64_t incx, const double beta[2], void *y,
                            int64_t incy);
/* C := alpha op(A) B + beta C with `columns` columns, stored by columns, or by rows if by_rows. */
enum sc_status sc_sparse_mm(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            bool by_rows, int64_t columns, const double alpha[2], const void *b, int64_t ldb,
                            const double beta[2], void *c, int64_t ldc);
/* The same for a library that has a product of its own: the devices compute, or nothing is computed.  One column
 * stored by rows is a vector with increment ldb or ldc.
 * SC_ERR_UNSUPPORTED: the call belongs on the host; B and C are at home, C is unchanged. */
enum sc_status sc_sparse_try(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                             bool by_rows, int64_t columns, const double alpha[2], const void *b, int64_t ldb,
                             const double beta[2], void *c, int64_t ldc);
/* The same for y := alpha op(T)^-1 x with contiguous vectors, which may be the same. */
enum sc_status sc_sparse_try_solve(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                                   const double alpha[2], const void *x, void *y);
/* y := alpha op(T)^-1 x; T is the triangle (or diagonal) of the matrix selected by descr.  x and y may be the same. */
enum sc_status sc_sparse_sv(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            const double alpha[2], const void *x, int64_t incx, void *y, int64_t incy);
enum sc_status sc_sparse_sm(struct sc_sparse_matrix *matrix, char trans, const struct sc_sparse_descr *descr,
                            bool by_rows, int64_t columns, const double alpha[2], const void *b, int64_t ldb, void *c,
                            int64_t ldc);
/* *out := op(A) op(B), in CSR with sorted columns and its own arrays. */
enum sc_status sc_sparse_multiply(struct sc_sparse_matrix **out, char transa, struct sc_sparse_matrix *a, char transb,
                                  struct sc_sparse_matrix *b);
/* C := alpha A + beta C with dense C, stored by columns, or by rows if by_rows; on the host. */
enum sc_status sc_sparse_to_dense(struct sc_sparse_matrix *matrix, const double alpha[2], const double beta[2],
                                  bool by_rows, void *c, int64_t ldc);
/* *out := alpha op(A) + B, in CSR with sorted columns and its own arrays. */
enum sc_status sc_sparse_add(struct sc_sparse_matrix **out, char trans, const double alpha[2],
                             struct sc_sparse_matrix *a, struct sc_sparse_matrix *b);

/* Writes a value into the arrays, the program's or copied.  The first entry at (row, col), counted from 0, gets the
 * value; duplicates get 0.  SC_ERR_INVALID: no entry is stored there. */
enum sc_status sc_sparse_set_value(struct sc_sparse_matrix *matrix, int64_t row, int64_t col, const void *value);
/* Writes all values, in stored order; count: the number from sc_sparse_check. */
enum sc_status sc_sparse_set_values(struct sc_sparse_matrix *matrix, int64_t count, const void *values);

/* Set by libsemcache: opens the devices, in this call if `now`, else in the background.  False: no devices, or not yet
 * open. */
extern bool (*sc_sparse_start)(bool now);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
