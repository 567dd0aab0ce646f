/* A host BLAS without computation, for bench/host_path: the time of a call is the time that the library adds. */
#include <stdint.h>

#pragma GCC visibility push(default) /* the sources are compiled with hidden names */

void dcopy_(void), daxpy_(void), dscal_(void), dgemv_(void), dger_(void), dsymv_(void), dgemm_(void), dtrsv_(void);
void dcopy_(void) {}
void daxpy_(void) {}
void dscal_(void) {}
void dgemv_(void) {}
void dger_(void) {}
void dsymv_(void) {}
void dgemm_(void) {}
void dtrsv_(void) {}

/* For the library's test of integers and complex results. */
int32_t isamax_(const int32_t *n);
int32_t isamax_(const int32_t *n) { return *n > 0; }
double _Complex zdotu_(void);
double _Complex zdotu_(void) { return 0; }
/* SPDX-License-Identifier: BSD-2-Clause */
