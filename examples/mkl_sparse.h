/* The few sparse names of MKL called by the examples, declared as in MKL's mkl_spblas.h. */
#ifndef EXAMPLES_MKL_SPARSE_H
#define EXAMPLES_MKL_SPARSE_H

typedef struct sparse_matrix *sparse_matrix_t;
struct matrix_descr {
    int type, mode, diag;
};
enum { SPARSE_STATUS_SUCCESS = 0, SPARSE_INDEX_BASE_ZERO = 0, SPARSE_OPERATION_NON_TRANSPOSE = 10,
       SPARSE_OPERATION_TRANSPOSE = 11, SPARSE_MATRIX_TYPE_GENERAL = 20 };

int mkl_sparse_d_create_csr(sparse_matrix_t *matrix, int base, int rows, int columns, int *start, int *end, int *index,
                            double *values);
int mkl_sparse_set_mv_hint(sparse_matrix_t matrix, int operation, struct matrix_descr descr, int calls);
int mkl_sparse_optimize(sparse_matrix_t matrix);
int mkl_sparse_destroy(sparse_matrix_t matrix);
int mkl_sparse_d_mv(int operation, double alpha, sparse_matrix_t matrix, struct matrix_descr descr, const double *x,
                    double beta, double *y);

void mkl_cspblas_dcsrgemv(const char *trans, const int *rows, const double *values, const int *start,
                          const int *columns, const double *x, double *y);
void mkl_ddiamv(const char *trans, const int *rows, const int *columns, const double *alpha, const char *matdescra,
                const double *values, const int *ld, const int *offsets, const int *diagonals, const double *x,
                const double *beta, double *y);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
