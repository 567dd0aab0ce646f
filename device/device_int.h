/* What the files of device/ share. */
#ifndef SC_DEVICE_DEVICE_INT_H
#define SC_DEVICE_DEVICE_INT_H

#include "device/device.h"

/* SC_OK when sc_device_kernel_host can run the record: the host BLAS has the routine and the sizes fit its integers. */
enum sc_status sc_device_kernel_check(void *(*blas_symbol)(const char *name), const struct sc_kernel *kernel);

/* The same for sparse operations, which need no BLAS.  Solves are not transposed. */
enum sc_status sc_device_kernel_sparse_check(const struct sc_kernel *kernel);
enum sc_status sc_device_kernel_sparse(const struct sc_kernel *kernel);

/* One operand of a kernel as it lies in memory: `cols` columns of `rows` elements, `ld` elements apart.  A vector
 * is one row of n columns |increment| apart. */
struct sc_kernel_operand {
    const void *ptr;
    int64_t rows, cols, ld;
    double used;         /* part of the rectangle that is touched: 0.5 for triangles */
    enum sc_access access;
};

/* The operands in use (slots a, b, c in this order), at most three; returns their number.  (The integers of a sparse
 * matrix are not among them.) */
int sc_device_kernel_operands(const struct sc_kernel *kernel, struct sc_kernel_operand out[3]);
/* Bytes from the first to behind the last one of an operand. */
uint64_t sc_device_operand_extent(const struct sc_kernel_operand *operand, enum sc_type type);
/* Bytes that a kernel moves between the device's memory and its units, each operand counted once per access. */
double sc_device_kernel_bytes(const struct sc_kernel *kernel);
/* Real additions and multiplications. */
double sc_device_kernel_flops(const struct sc_kernel *kernel);

#endif
