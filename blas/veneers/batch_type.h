/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of batch.c in the type LETTER, for both widths of integers.  TYPE: the type's number.  SCALAR, ADDRESS:
 * how the CBLAS passes a scalar.  All four are undefined at the end. */
#define WIDE false
#define FORTRAN(name) PASTE(LETTER, name, _, )
#define CBLAS(name) PASTE(cblas_, LETTER, name, )
#include "blas/veneers/batch_width.h"
#define WIDE true
#define FORTRAN(name) PASTE(LETTER, name, _64_, )
#define CBLAS(name) PASTE(cblas_, LETTER, name, 64_)
#include "blas/veneers/batch_width.h"
#undef LETTER
#undef TYPE
#undef SCALAR
#undef ADDRESS
