/* Error handlers, lsame, and two variables of the reference CBLAS.  A program's own definitions precede these in the
 * search order of the dynamic linker, and in a static link, because these are weak. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blas/veneers/prototypes.h"

/* Written by the reference CBLAS and read by its test programs. */
__attribute__((weak)) int RowMajorStrg;
__attribute__((weak)) int CBLAS_CallFromC;

/* A copy of semcache recognises a second copy by this symbol: semcache must not be taken for a host BLAS. */
const int semcache_is_blas = 1;

__attribute__((weak)) void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    typedef void (*xerbla)(const char *name, const sc_blas_int *info, size_t length);
    xerbla host = (xerbla)sc_blas_host_symbol("xerbla_");

    if (host) {
        host(name, info, length);
        return;
    }
    length = strnlen(name, length < 32 ? length : 32);
    dprintf(STDERR_FILENO, " ** On entry to %.*s parameter number %d had an illegal value\n", (int)length, name, *info);
}

__attribute__((weak)) void cblas_xerbla(int parameter, const char *routine, const char *form, ...)
{
    va_list args;

    if (parameter)
        dprintf(STDERR_FILENO, "Parameter %d to routine %s was incorrect\n", parameter, routine);
    va_start(args, form);
    vdprintf(STDERR_FILENO, form, args);
    va_end(args);
}

/* Defined here because LAPACK's test suite calls lsame hundreds of millions of times. */
__attribute__((weak)) int lsame_(const char *a, const char *b)
{
    unsigned difference = (unsigned char)(*a ^ *b);
    unsigned letter = (unsigned)(*a | 32) - 'a';

    return !difference || (difference == 32 && letter < 26);
}
/* SPDX-License-Identifier: BSD-2-Clause */
