/* Inside blas/run/: routines of LAPACK by blocks of columns (columns.c). */
#ifndef SC_BLAS_RUN_COLUMNS_H
#define SC_BLAS_RUN_COLUMNS_H

#include "blas/run/tasks.h"

/* One block of columns of A. */
struct sc_column_block {
    int device;
    bool on_host; /* the host has factored the block, and left `info` */
    int64_t info;
    struct sc_blas_launched launched;
};

struct sc_columns_job {
    const struct sc_kernel *kernel;   /* the routine's */
    const struct sc_operand *a, *b;   /* b: right sides of a solution */
    const struct sc_operand *unit;    /* of an inverse: the identity, of the order of the widest block */
    struct sc_cuts t, right;          /* of the columns of A and of B */
    struct sc_column_block *block;    /* of A */
    bool descends; /* the last block is finished first */
    bool at_blocks; /* right sides travel to the blocks of A; false: the blocks travel to the right sides */
    int64_t *inverse; /* NULL, or interchanges that undo the pivots */
    void *diagonal;   /* NULL, or the diagonal of A, of which INFO tells the first zero */
    /* The last task on each device that read pivots or tau, or finished right sides; awaited at the end. */
    struct sc_fence last[SC_DEVICES_MAX];
};

/* A factorization has finish and update; a solution, or a product of factors, has solve. */
struct sc_columns_method {
    enum sc_op op;
    enum sc_status (*finish)(struct sc_columns_job *c, int k);        /* factors block k after all of its updates */
    enum sc_status (*update)(struct sc_columns_job *c, int j, int k); /* applies finished block k to block j */
    enum sc_status (*solve)(struct sc_columns_job *c);
    bool swaps_left; /* at the end, rows of finished blocks are interchanged by the pivots of the blocks to the right */
};
extern const struct sc_columns_method sc_columns_cholesky, sc_columns_cholesky_solution, sc_columns_lu,
    sc_columns_lu_solution, sc_columns_qr, sc_columns_orthogonal, sc_columns_inverse, sc_columns_product,
    sc_columns_diagonal;

/* Rows [from, end) of block j. */
struct sc_piece sc_columns_rows(const struct sc_columns_job *c, int64_t from, int64_t end, int j,
                                enum sc_access access);
/* The square of block j at the rows of block i. */
struct sc_piece sc_columns_square(const struct sc_columns_job *c, int i, int j, enum sc_access access);
/* A piece as a view of the host's memory. */
struct sc_view sc_columns_host_view(const struct sc_piece *p);
/* A record of the routine's type, with alpha = beta = 1. */
struct sc_kernel sc_columns_kernel(const struct sc_columns_job *c, enum sc_op op);

/* z := z + alpha op(x) op(y), with alpha = 1 or -1.  Without elements of z, or of the sum: nothing. */
enum sc_status sc_columns_add(const struct sc_columns_job *c, int device, double alpha, char trans_x, struct sc_piece x,
                              char trans_y, struct sc_piece y, struct sc_piece z);
/* The same with alpha = -1. */
enum sc_status sc_columns_subtract(const struct sc_columns_job *c, int device, char trans_x, struct sc_piece x,
                                   char trans_y, struct sc_piece y, struct sc_piece z);
/* A factorization inside of block k, on the host if the device cannot. */
enum sc_status sc_columns_factor(const struct sc_columns_job *c, int k, struct sc_kernel kernel, struct sc_piece piece);
/* A task of a routine of LAPACK, on the host if the device cannot.  The end awaits the task: O(n) operands stay until
 * then. */
enum sc_status sc_columns_task(struct sc_columns_job *c, int device, struct sc_kernel *kernel,
                               const struct sc_piece pieces[3]);
/* Interchanges rows [first, end) of a piece by the pivots, once the piece `after` is written. */
enum sc_status sc_columns_swap(struct sc_columns_job *c, int device, int64_t first, int64_t end, int64_t *pivots,
                               struct sc_piece after, struct sc_piece piece);
/* Solves op(T) X = B, where T is a triangle of A. */
enum sc_status sc_columns_triangle(struct sc_columns_job *c, char uplo, char trans, char diag);
/* Interchanges the rows of all right sides. */
enum sc_status sc_columns_swap_right(struct sc_columns_job *c, int64_t *pivots);
/* Runs a routine on the operands of a bracket, and ends the bracket.  diagonal: NULL, or pinned memory for the diagonal
 * of A, whose first zero is INFO. */
enum sc_status sc_columns_run(const struct sc_columns_method *method, struct sc_blas_bracket *b,
                              const struct sc_plan *plan, bool last, void *diagonal, int64_t *info);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
