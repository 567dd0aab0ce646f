/* Row-major calls on complex matrices that a column-major routine can serve only with conjugated vectors, for a host
 * without a CBLAS.  Let B be the array as stored by columns, A = B^T, and z' the conjugate of z:
 *   y := alpha A^H x + beta y, or A Hermitian:  y' := alpha' B x' + beta' y'     (gemv, gbmv; hemv, hbmv, hpmv)
 *   x := op(A) x with op = C:                   x' := B x'                        (tr.v, tb.v, tp.v)
 *   A := alpha x y^H + A:                       B := alpha y' x^T + B             (gerc, by geru)
 *   A := alpha x x^H + A, ...                   B := alpha x' (x')^H + B       (her, hpr; her2, hpr2: y, x exchanged)
 * A vector that is read is conjugated into a copy.  A vector that is updated is conjugated in place before and after
 * the call.  The scalars are conjugated with an updated y.  The exchange of operands is in routines.tab. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "blas/blas_int.h"
#include "blas/veneers/prototypes.h"

/* to[i] := conj(from[i]) for n complex numbers of `type`, with steps in complex numbers.  May be in place. */
static void conjugate(enum sc_type type, void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (type == SC_C) {
            float *t = (float *)to + 2 * i * to_step;
            const float *f = (const float *)from + 2 * i * from_step;

            t[0] = f[0], t[1] = -f[1];
        } else {
            double *t = (double *)to + 2 * i * to_step;
            const double *f = (const double *)from + 2 * i * from_step;

            t[0] = f[0], t[1] = -f[1];
        }
    }
}

static void conjugate_in_place(const struct sc_view *vector)
{
    const int64_t step = sc_step(vector->ld);

    conjugate(vector->type, (void *)(uintptr_t)vector->ptr, step, vector->ptr, step, vector->rows);
}

/* Copies in memory order: the size of the increment changes, but not its sign. */
static bool conjugate_copy(const struct sc_view *vector, void **ptr, int64_t *inc, void **copy)
{
    *copy = malloc((size_t)(vector->rows > 0 ? vector->rows : 1) * sc_type_bytes(vector->type));
    if (!*copy) {
        sc_log(SC_LOG_ERROR, "no memory for a conjugated vector of %lld elements", (long long)vector->rows);
        return false;
    }
    conjugate(vector->type, *copy, 1, vector->ptr, sc_step(vector->ld), vector->rows);
    *ptr = *copy;
    *inc = *inc < 0 ? -1 : 1;
    return true;
}

static int routine_named(const char *name)
{
    int routine = sc_blas_routines - 1;

    while (routine > 0 && strcmp(sc_blas_rows[routine].name, name))
        routine--;
    return routine;
}

/* Conjugates the vectors whose letters are in `which`. */
static bool conjugate_operands(struct sc_blas_call *call, const char *which, struct sc_blas_conj *conj)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_blas_call_views(call, view);

    for (int i = 0; i < count; i++) {
        char letter = sc_blas_letters(call->routine)[i];
        bool is_y = letter == 'Y';

        if (!strchr(which, letter))
            continue;
        if (view[i].access == SC_READ) {
            if (!conjugate_copy(&view[i], is_y ? &call->y : &call->x, is_y ? &call->incy : &call->incx,
                                &conj->copies[is_y])) {
                sc_blas_conj_end(conj);
                return false;
            }
            continue;
        }
        conj->inplace = view[i];
        conjugate_in_place(&view[i]);
        if (is_y)
            call->alpha[1] = -call->alpha[1], call->beta[1] = -call->beta[1];
    }
    return true;
}

bool sc_blas_conj_begin(struct sc_blas_call *call, struct sc_blas_conj *conj)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];

    memset(conj, 0, sizeof *conj);
    if (call->order == '?') {
        cblas_xerbla(1, row->cblas, "Illegal order setting\n");
        return false;
    }
    if (sc_blas_call_fits(call))
        sc_blas_call_unwrap(call);
    if (call->order == SC_BLAS_ROWS && row->columns)
        row->columns(call);
    if (!call->conj || !sc_blas_call_valid(call))
        return true; /* the Fortran routine reports invalid arguments */
    if (row->op != SC_OP_GERC)
        return conjugate_operands(call, "XY", conj);
    call->routine = routine_named(row->type == SC_C ? "cgeru" : "zgeru");
    return conjugate_operands(call, "X", conj); /* the program's y */
}

void sc_blas_conj_end(struct sc_blas_conj *conj)
{
    if (conj->inplace.ptr)
        conjugate_in_place(&conj->inplace);
    free(conj->copies[0]);
    free(conj->copies[1]);
}
/* SPDX-License-Identifier: BSD-2-Clause */
