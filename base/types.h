/* The element types of the BLAS, and sparse matrices in one address space. */
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

/* A matrix stored by rows.  Row i has entries [rows[i], rows[i + 1]), in any order; entries with equal columns are
 * summed. */
struct sc_csr {
    const void *rows, *columns; /* m + 1 and `nonzeros` integers of index_bytes, counted from `base` */
    int64_t nonzeros;
    /* Every column index, counted from 0, lies in [first, end): the kernel reads only this range of x. */
    int64_t first, end;
    int index_bytes;     /* 4 or 8 */
    int base;            /* 0 or 1 */
    int64_t longest;     /* entries of the longest row, in the whole matrix; 0: not known */
    bool diagonal;       /* row i has one entry, in column shift + i */
    int64_t shift;
    int64_t chain;       /* of solves: rows that must be computed one after another; 0: not known */
    /* Place for the device's analysis of the structure (sc_device_ops.forget).  *plan is NULL at first and belongs to
     * the device.  NULL: no analysis is kept. */
    void **plan;
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

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
