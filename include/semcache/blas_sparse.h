/* The Sparse BLAS of the BLAS standard in C, as served by libsemcache.  doc/sparse.md lists the supported functions and
 * our choices where the standard leaves a choice.
 *
 * A matrix is an int, its handle.  The life of a matrix is: begin, set properties (before the first entry), insert
 * entries, end, use, destroy:
 *
 *     blas_sparse_matrix A = BLAS_duscr_begin(n, n);
 *     BLAS_ussp(A, blas_lower_symmetric);
 *     BLAS_duscr_insert_entries(A, count, values, rows, columns);
 *     BLAS_duscr_end(A);
 *     BLAS_dusmv(blas_no_trans, 1.0, A, x, 1, y, 1);
 *     BLAS_usds(A);
 *
 * Functions return 0; on an error they return -1 after one line on stderr, and write nothing.  A begin function returns
 * the handle or -1; BLAS_usgp returns the property.  Names and numbers are the standard's, so programs compiled with
 * another library's header run unchanged.  Complex scalars and arrays are passed as void pointers.  Functions may be
 * called from any thread.  C99 and C++. */
#ifndef SEMCACHE_BLAS_SPARSE_H
#define SEMCACHE_BLAS_SPARSE_H

enum blas_order_type { blas_rowmajor = 101, blas_colmajor = 102 };
enum blas_trans_type { blas_no_trans = 111, blas_trans = 112, blas_conj_trans = 113 };
enum blas_uplo_type { blas_upper = 121, blas_lower = 122 };
enum blas_diag_type { blas_non_unit_diag = 131, blas_unit_diag = 132 };
enum blas_conj_type { blas_conj = 191, blas_no_conj = 192 };
enum blas_base_type { blas_zero_base = 221, blas_one_base = 222 };
enum blas_symmetry_type {
    blas_general = 231,
    blas_symmetric = 232,  /* 232 to 234: only results of BLAS_usgp */
    blas_hermitian = 233,
    blas_triangular = 234,
    blas_lower_triangular = 235,
    blas_upper_triangular = 236,
    blas_lower_symmetric = 237,
    blas_upper_symmetric = 238,
    blas_lower_hermitian = 239,
    blas_upper_hermitian = 240
};
enum blas_field_type { /* this and the next two enumerations: only arguments of BLAS_usgp */
    blas_complex = 241,
    blas_real = 242,
    blas_double_precision = 243,
    blas_single_precision = 244
};
enum blas_size_type { blas_num_rows = 251, blas_num_cols = 252, blas_num_nonzeros = 253 };
enum blas_handle_type {
    blas_invalid_handle = 261,
    blas_new_handle = 262,  /* no entries yet */
    blas_open_handle = 263, /* begun and not ended */
    blas_valid_handle = 264 /* ended */
};
enum blas_sparsity_optimization_type { /* hints */
    blas_regular = 271,
    blas_irregular = 272,
    blas_block = 273,
    blas_unassembled = 274
};

typedef int blas_sparse_matrix;

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of a type, from the type's letter, the type of a scalar argument and the element type of arrays.  A
 * sparse vector has nnz elements x; element i belongs to position indx[i] of the dense vector y. */
#define SEMCACHE_BLAS_SPARSE_OF(l, scalar, element)                                                                  \
    /* r := x^T y, or x^H y */                                                                                       \
    int BLAS_##l##usdot(enum blas_conj_type conj, int nnz, const element *x, const int *indx, const element *y,      \
                        int incy, element *r, enum blas_base_type base);                                             \
    /* y := alpha x + y */                                                                                           \
    int BLAS_##l##usaxpy(int nnz, scalar alpha, const element *x, const int *indx, element *y, int incy,             \
                         enum blas_base_type base);                                                                  \
    /* usga: x[i] := y[indx[i]].  usgz: also y[indx[i]] := 0. */                                                     \
    int BLAS_##l##usga(int nnz, const element *y, int incy, element *x, const int *indx, enum blas_base_type base);  \
    int BLAS_##l##usgz(int nnz, element *y, int incy, element *x, const int *indx, enum blas_base_type base);        \
    /* y[indx[i]] := x[i] */                                                                                         \
    int BLAS_##l##ussc(int nnz, const element *x, element *y, int incy, const int *indx, enum blas_base_type base);  \
    /* y := alpha op(A) x + y; C := alpha op(A) B + C */                                                             \
    int BLAS_##l##usmv(enum blas_trans_type trans, scalar alpha, blas_sparse_matrix A, const element *x, int incx,   \
                       element *y, int incy);                                                                        \
    int BLAS_##l##usmm(enum blas_order_type order, enum blas_trans_type trans, int nrhs, scalar alpha,               \
                       blas_sparse_matrix A, const element *b, int ldb, element *c, int ldc);                        \
    /* x := alpha op(T)^-1 x; B := alpha op(T)^-1 B */                                                               \
    int BLAS_##l##ussv(enum blas_trans_type trans, scalar alpha, blas_sparse_matrix T, element *x, int incx);        \
    int BLAS_##l##ussm(enum blas_order_type order, enum blas_trans_type trans, int nrhs, scalar alpha,               \
                       blas_sparse_matrix T, element *b, int ldb);                                                   \
    /* m x n entries; Mb x Nb blocks of size k x l; Mb x Nb blocks, block (i, j) of size K[i] x L[j] */              \
    blas_sparse_matrix BLAS_##l##uscr_begin(int m, int n);                                                           \
    blas_sparse_matrix BLAS_##l##uscr_block_begin(int Mb, int Nb, int k, int l_);                                    \
    blas_sparse_matrix BLAS_##l##uscr_variable_block_begin(int Mb, int Nb, const int *K, const int *L);              \
    /* Entries at the same position are summed.  A call with an index out of range inserts nothing. */               \
    int BLAS_##l##uscr_insert_entry(blas_sparse_matrix A, scalar value, int i, int j);                               \
    int BLAS_##l##uscr_insert_entries(blas_sparse_matrix A, int nnz, const element *values, const int *indx,         \
                                      const int *jndx);                                                              \
    int BLAS_##l##uscr_insert_col(blas_sparse_matrix A, int j, int nnz, const element *values, const int *indx);     \
    int BLAS_##l##uscr_insert_row(blas_sparse_matrix A, int i, int nnz, const element *values, const int *indx);     \
    /* Clique: rows indx[k], columns jndx[l].  Element (r, c) is values[r * row_stride + c * col_stride]. */         \
    int BLAS_##l##uscr_insert_clique(blas_sparse_matrix A, int k, int l_, const element *values, int row_stride,     \
                                     int col_stride, const int *indx, const int *jndx);                              \
    int BLAS_##l##uscr_insert_block(blas_sparse_matrix A, const element *values, int row_stride, int col_stride,     \
                                    int i, int j);                                                                   \
    int BLAS_##l##uscr_end(blas_sparse_matrix A);                                                                    \
    /* librsb's additions, for matrices after uscr_end.  Ranges of rows include row `last`. */                       \
    int BLAS_##l##usget_element(blas_sparse_matrix A, int i, int j, element *value);                                 \
    int BLAS_##l##usget_diag(blas_sparse_matrix A, element *d);                                                      \
    int BLAS_##l##usget_rows_nnz(blas_sparse_matrix A, int first, int last, int *count);                             \
    int BLAS_##l##usget_rows_sparse(blas_sparse_matrix A, element *values, int *indx, int *jndx, int *count,         \
                                    int first, int last);                                                            \
    int BLAS_##l##usget_matrix_nnz(blas_sparse_matrix A, int *count);                                                \
    /* The norm of op(A); for a complex matrix a real number. */                                                     \
    int BLAS_##l##usget_infinity_norm(blas_sparse_matrix A, element *norm, enum blas_trans_type trans);              \
    /* Overwrites values of stored entries.  A call with an entry not stored changes nothing. */                     \
    int BLAS_##l##usset_element(blas_sparse_matrix A, int i, int j, element *value);                                 \
    int BLAS_##l##usset_elements(blas_sparse_matrix A, const int *indx, const int *jndx, const element *values,      \
                                 int nnz);                                                                           \
    /* A := diag(d) A if trans is blas_no_trans, else A := A diag(d). */                                             \
    int BLAS_##l##usrows_scale(blas_sparse_matrix A, const element *d, enum blas_trans_type trans);

SEMCACHE_BLAS_SPARSE_OF(s, float, float)
SEMCACHE_BLAS_SPARSE_OF(d, double, double)
SEMCACHE_BLAS_SPARSE_OF(c, const void *, void)
SEMCACHE_BLAS_SPARSE_OF(z, const void *, void)

int BLAS_uscr_end(blas_sparse_matrix A);
/* Sets a property, a value of an enumeration above, before the first entry. */
int BLAS_ussp(blas_sparse_matrix A, int property);
/* Returns a size, or 1 or 0 for a property, or -1 for an unknown property or matrix. */
int BLAS_usgp(blas_sparse_matrix A, int property);
int BLAS_usds(blas_sparse_matrix A);

#ifdef __cplusplus
}
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
