/* Declarations shared by the files of device/. */
#ifndef SC_DEVICE_DEVICE_INT_H
#define SC_DEVICE_DEVICE_INT_H

#include "device/device.h"

/* SC_OK if sc_device_kernel_host can run the record: the host BLAS has the routine, and the sizes fit its integers. */
enum sc_status sc_device_kernel_check(void *(*blas_symbol)(const char *name), const struct sc_kernel *kernel);

/* Sparse operations, which need no BLAS.  Transposed solves are not supported. */
enum sc_status sc_device_kernel_sparse_check(const struct sc_kernel *kernel);
enum sc_status sc_device_kernel_sparse(const struct sc_kernel *kernel);

/* An operand of a kernel as stored: `cols` columns of `rows` elements, `ld` elements apart.  A vector is one row of n
 * columns, |increment| apart. */
struct sc_kernel_operand {
    const void *ptr;
    int64_t rows, cols, ld;
    double used;         /* fraction of the rectangle in use: 0.5 for triangles */
    enum sc_access access;
};

/* Fills `out` with the operands in use, in the order a, b, c; returns their number, at most three.  The integers of a
 * sparse matrix are not included. */
int sc_device_kernel_operands(const struct sc_kernel *kernel, struct sc_kernel_operand out[3]);
/* Bytes from the first element of an operand to the end of its last. */
uint64_t sc_device_operand_extent(const struct sc_kernel_operand *operand, enum sc_type type);
/* Traffic between device memory and processors in bytes; an operand counts once per access. */
double sc_device_kernel_bytes(const struct sc_kernel *kernel);
/* Real additions and multiplications. */
double sc_device_kernel_flops(const struct sc_kernel *kernel);

#endif
