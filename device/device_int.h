/* Declarations shared by the files of device/. */
#ifndef SC_DEVICE_DEVICE_INT_H
#define SC_DEVICE_DEVICE_INT_H

#include "device/device.h"

/* SC_OK if sc_device_kernel_host can run the record: the host BLAS has the routine, and the sizes fit its integers. */
enum sc_status sc_device_kernel_check(void *(*blas_symbol)(const char *name), const struct sc_kernel *kernel);

/* Sparse operations, which need no BLAS.  Transposed solves are not supported. */
enum sc_status sc_device_kernel_sparse_check(const struct sc_kernel *kernel);
enum sc_status sc_device_kernel_sparse(const struct sc_kernel *kernel);

/* Routines of LAPACK.  The first check of a routine looks it up, so that the kernel does not. */
enum sc_status sc_device_kernel_lapack_check(void *(*blas_symbol)(const char *name), const struct sc_kernel *kernel);
enum sc_status sc_device_kernel_lapack(void *(*blas_symbol)(const char *name), const struct sc_kernel *kernel);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
