/* Exports of the reference BLAS and its CBLAS beyond routines.tab, for programs that use this library as
 * libblas.so.3: absolute values of complex numbers, xerbla with an array, and the CBLAS's Fortran wrappers
 * (functions as subroutines). */
#include <math.h>
#include <string.h>

#include "blas/veneers/prototypes.h"

typedef const sc_blas_int *Int;

#define EXPORTED(result, name, ...)                                                                                   \
    __attribute__((visibility("default"))) result name(__VA_ARGS__);                                                  \
    result name(__VA_ARGS__)

static float size_c(const float *z) { return fabsf(z[0]) + fabsf(z[1]); }
static double size_z(const double *z) { return fabs(z[0]) + fabs(z[1]); }

EXPORTED(float, scabs1_, const void *z) { return size_c(z); }
EXPORTED(double, dcabs1_, const void *z) { return size_z(z); }
EXPORTED(float, cblas_scabs1, const void *z) { return size_c(z); }
EXPORTED(double, cblas_dcabs1, const void *z) { return size_z(z); }
EXPORTED(void, scabs1sub_, const void *z, float *result) { *result = size_c(z); }
EXPORTED(void, dcabs1sub_, const void *z, double *result) { *result = size_z(z); }

/* The name is an array of characters without a hidden length. */
EXPORTED(void, xerbla_array_, const char *name, Int characters, const sc_blas_int *info)
{
    enum { MOST = 32 };
    char padded[MOST + 1] = ""; /* OpenBLAS's xerbla_ reads up to a final 0 */
    int64_t length = sc_blas_int_at(characters);

    memset(padded, ' ', MOST);
    if (length > 0)
        memcpy(padded, name, length < MOST ? (size_t)length : MOST);
    xerbla_(padded, info, MOST);
}

/* Stores a result of Fortran's type INTEGER. */
static void put_integer(void *result, int64_t value)
{
    if (sc_blas_wide)
        memcpy(result, &value, sizeof value);
    else
        memcpy(result, &(sc_blas_int){(sc_blas_int)value}, sizeof(sc_blas_int));
}

#define OF_ONE(name, element, real)                                                                                   \
    EXPORTED(void, name##sub_, Int n, const element *x, Int incx, real *result) { *result = name##_(n, x, incx); }
OF_ONE(snrm2, float, float)
OF_ONE(dnrm2, double, double)
OF_ONE(scnrm2, void, float)
OF_ONE(dznrm2, void, double)
OF_ONE(sasum, float, float)
OF_ONE(dasum, double, double)
OF_ONE(scasum, void, float)
OF_ONE(dzasum, void, double)

#define INDEX(name, element)                                                                                          \
    EXPORTED(void, name##sub_, Int n, const element *x, Int incx, void *result)                                       \
    {                                                                                                                 \
        put_integer(result, name##_(n, x, incx));                                                                     \
    }
INDEX(isamax, float)
INDEX(idamax, double)
INDEX(icamax, void)
INDEX(izamax, void)

#define OF_TWO(name, element, real)                                                                                   \
    EXPORTED(void, name##sub_, Int n, const element *x, Int incx, const element *y, Int incy, real *result)           \
    {                                                                                                                 \
        *result = name##_(n, x, incx, y, incy);                                                                       \
    }
OF_TWO(sdot, float, float)
OF_TWO(ddot, double, double)
OF_TWO(dsdot, float, double)

EXPORTED(void, sdsdotsub_, Int n, const float *b, const float *x, Int incx, const float *y, Int incy, float *result)
{
    *result = sdsdot_(n, b, x, incx, y, incy);
}

/* Calls the Fortran name in this process's form.  The reference CBLAS's own functions call these wrappers. */
#define COMPLEX_DOT(name, number)                                                                                     \
    EXPORTED(void, name##sub_, Int n, const void *x, Int incx, const void *y, Int incy, void *result)                 \
    {                                                                                                                 \
        if (sc_blas_g77)                                                                                              \
            name##_(result, n, x, incx, y, incy);                                                                     \
        else                                                                                                          \
            *(number *)result = name##_(n, x, incx, y, incy, NULL);                                                   \
    }
COMPLEX_DOT(cdotu, float _Complex)
COMPLEX_DOT(cdotc, float _Complex)
COMPLEX_DOT(zdotu, double _Complex)
COMPLEX_DOT(zdotc, double _Complex)
/* SPDX-License-Identifier: BSD-2-Clause */
