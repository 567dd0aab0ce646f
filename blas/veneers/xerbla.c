/* Error handlers, lsame, and two variables of the reference CBLAS.  Definitions of the program itself precede these in
 * the search order of the dynamic linker, and in a static link, because these are weak.  A preloaded library precedes
 * the program's libraries, and the linker ignores that a definition is weak.  The handlers here therefore call those of
 * the program's libraries (R has one in libR, an extension of Python in its module). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blas/veneers/prototypes.h"

#define TEXT 512 /* bytes of a complaint of the CBLAS */

/* Written by the reference CBLAS and read by its test programs. */
__attribute__((weak)) int RowMajorStrg;
__attribute__((weak)) int CBLAS_CallFromC;

/* A copy of semcache recognises a second copy by this symbol: semcache must not be taken for a host BLAS. */
const int semcache_is_blas = 1;

__attribute__((weak)) void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    typedef void (*xerbla)(const char *name, const sc_blas_int *info, size_t length);
    xerbla theirs = (xerbla)sc_blas_handler_of_program("xerbla_", __builtin_return_address(0));

    if (theirs) {
        theirs(name, info, length);
        return;
    }
    length = strnlen(name, length < 32 ? length : 32);
    dprintf(STDERR_FILENO, " ** On entry to %.*s parameter number %d had an illegal value\n", (int)length, name, *info);
}

__attribute__((weak)) void cblas_xerbla(int parameter, const char *routine, const char *form, ...)
{
    typedef void (*handler)(int parameter, const char *routine, const char *form, ...);
    handler theirs = (handler)sc_blas_handler_of_program("cblas_xerbla", __builtin_return_address(0));
    va_list args;

    if (theirs) {
        /* A list of arguments cannot be passed on: the text is. */
        char text[TEXT];

        va_start(args, form);
        vsnprintf(text, sizeof text, form, args);
        va_end(args);
        theirs(parameter, routine, "%s", text);
        return;
    }
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
