/* The few names of the Sparse BLAS called by the examples, declared as in a library's blas_sparse.h. */
#ifndef EXAMPLES_USBLAS_H
#define EXAMPLES_USBLAS_H

enum { blas_no_trans = 111, blas_lower_symmetric = 237 };

int BLAS_duscr_begin(int rows, int columns);
int BLAS_ussp(int matrix, int property);
int BLAS_duscr_insert_entry(int matrix, double value, int row, int column);
int BLAS_duscr_end(int matrix);
int BLAS_dusmv(int trans, double alpha, int matrix, const double *x, int incx, double *y, int incy);
int BLAS_usds(int matrix);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
