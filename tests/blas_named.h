/* A call of blas/veneers/routines.tab by the name that a program calls and in the host BLAS, and the comparison of two
 * results. */
#ifndef SC_TESTS_BLAS_NAMED_H
#define SC_TESTS_BLAS_NAMED_H

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>

#include "tests/blas_calls.h"
#include "tests/tap.h"

static inline bool named_is_fortran(const struct sc_blas_call *call, int routine)
{
    return call->order == SC_BLAS_FORTRAN && !calls_is_complex_function(&sc_blas_rows[routine]);
}

/* The routine under the name that a program would call; `wide`: the name with 64-bit integers. */
static inline sc_blas_fn named_target(const struct sc_blas_call *call, bool wide)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    bool fortran = named_is_fortran(call, call->routine);
    char name[64];

    snprintf(name, sizeof name, "%s%s", fortran ? row->name : row->cblas,
             wide ? fortran ? "_64_" : "64_" : fortran ? "_" : "");
    return (sc_blas_fn)dlsym(RTLD_DEFAULT, name);
}

/* A routine of the host BLAS, in the order of storage of the call. */
static inline sc_blas_fn named_host(const struct sc_blas_call *call, int routine)
{
    return sc_blas_host[named_is_fortran(call, routine) ? SC_BLAS_F77 : SC_BLAS_CBLAS][routine];
}

static inline bool named_same_real(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

/* Compares real numbers of a type, up to a relative error; prints the first difference. */
static inline bool named_same(enum sc_type type, const void *x, const void *y, int64_t reals, double eps)
{
    for (int64_t i = 0; i < reals; i++) {
        double a = calls_real(type, x, i), b = calls_real(type, y, i);

        if (!named_same_real(a, b) && !(fabs(a - b) <= eps * fabs(b))) {
            tap_diag("real %lld: %.17g, not %.17g", (long long)i, a, b);
            return false;
        }
    }
    return true;
}

/* Compares the results of two calls of a routine. Norms may differ by the rounding of the root. Other results must be
 * equal, but for the sign of zero. Results are compared as real numbers of the type, a comparison that also tells
 * different indices and results of dsdot apart. */
static inline bool named_same_result(const struct sc_blas_call *x, const struct sc_blas_call *y)
{
    const struct sc_blas_row *row = &sc_blas_rows[x->routine];
    double eps = row->op != SC_OP_NRM2 ? 0 : calls_real_bytes(row->type) == 4 ? 1e-5 : 1e-13;

    return named_same(row->type, &x->result, &y->result,
                      (int64_t)(sizeof x->result / calls_real_bytes(row->type)), eps);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
