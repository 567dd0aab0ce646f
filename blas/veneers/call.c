/* Common to the veneers: from the arguments of any BLAS routine to the record for the devices, or to operands at
 * home. */
#include "blas/blas_int.h"
#include "coherence/call.h"

/* --- arguments as the program passes them: not inline, because every veneer has some ------------------------------ */

int64_t sc_blas_int_at(const sc_blas_int *p)
{
    int64_t wide;

    if (!sc_blas_wide)
        return *p;
    memcpy(&wide, p, sizeof wide);
    return wide;
}
int64_t sc_blas_int_of(int64_t value) { return sc_blas_wide ? value : (sc_blas_int)value; }

char sc_blas_letter(char letter)
{
    if (letter >= 'a' && letter <= 'z')
        return (char)(letter - 'a' + 'A');
    return letter ? letter : '?';
}
char sc_cblas_order(int order) { return order == 101 ? SC_BLAS_ROWS : order == 102 ? SC_BLAS_COLUMNS : '?'; }
char sc_cblas_trans(int trans) { return trans == 111 ? 'N' : trans == 112 ? 'T' : trans == 113 ? 'C' : '?'; }
char sc_cblas_uplo(int uplo) { return uplo == 121 ? 'U' : uplo == 122 ? 'L' : '?'; }
char sc_cblas_diag(int diag) { return diag == 131 ? 'N' : diag == 132 ? 'U' : '?'; }
char sc_cblas_side(int side) { return side == 141 ? 'L' : side == 142 ? 'R' : '?'; }

/* --- the record --------------------------------------------------------------------------------------------------- */

/* False: an increment that devices do not serve.  Kernels take 32-bit increments, even for vectors of one element.  For
 * a single vector with an increment below 1 libraries differ: no operation, 0, or backwards. */
static bool increments_fit(const struct sc_blas_call *call)
{
    const char *letters = sc_blas_letters(call->routine);

    if ((strchr(letters, 'X') && !sc_blas_fits(call->incx)) || (strchr(letters, 'Y') && !sc_blas_fits(call->incy)))
        return false;
    if (sc_blas_rows[call->routine].level > 1)
        return true;
    return letters[1] ? call->incx != 0 && call->incy != 0 : call->incx > 0;
}

/* The parameters of rotm. */
static void place_param(const struct sc_blas_call *call, struct sc_kernel *kernel)
{
    for (int i = 0; i < 5; i++)
        kernel->param[i] = call->type == SC_S ? ((const float *)call->param)[i] : ((const double *)call->param)[i];
}

bool sc_blas_call_kernel(struct sc_blas_call *call, struct sc_kernel *kernel)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];

    if (row->op < 0 || call->n <= 0 || (sc_ops[row->op].m && call->m <= 0))
        return false;
    *kernel = sc_blas_call_as_kernel(call);
    kernel->result = &call->result;
    if (call->param)
        place_param(call, kernel);
    return increments_fit(call);
}

/* Brings the operands home.  A routine with an empty side may leave even its WRITE operand unchanged, so such calls
 * are left to faults. */
static void bring_home(const struct sc_blas_call *call)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_blas_call_views(call, view);

    for (int i = 0; i < count; i++) {
        if (view[i].rows <= 0 || view[i].cols <= 0)
            return;
        if (view[i].ld == 0) /* level 1: the same element repeatedly */
            view[i].rows = view[i].ld = 1;
    }
    sc_blas_host_operands(view, count);
}

enum sc_blas_next sc_blas_large(struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    struct sc_blas_call asked;
    struct sc_kernel kernel;
    bool done;

    if (!sc_blas_call_fits(call))
        return SC_BLAS_PLAIN;
    sc_blas_call_unwrap(call);
    asked = *call;
    if (call->order == SC_BLAS_ROWS && row->columns)
        row->columns(call);
    if (!sc_blas_call_valid(call))
        return SC_BLAS_PLAIN;
    if (!sc_coherence_stack_fits()) {
        bring_home(call);
        return SC_BLAS_HOST;
    }
    if (!sc_blas_started(row->op, call->type, call->side, call->m, call->n, call->k))
        return SC_BLAS_HOST; /* without devices all data is home */
    sc_trace_routine = (uint16_t)call->routine;
    if (__builtin_expect(sc_trace_on || sc_explain_on, 0))
        sc_trace_site = sc_trace_site_here();
    if (__builtin_expect(sc_trace_on, 0))
        sc_blas_record(&asked);
    done = sc_blas_call_kernel(call, &kernel) &&
           (sc_blas_called_by_lapack() ? sc_blas_offload_once : sc_blas_offload)(call->routine, &kernel);
    if (done)
        sc_trace(.kind = SC_EVENT_DONE);
    else
        bring_home(call);
    sc_trace_routine = 0;
    return done ? SC_BLAS_DONE : SC_BLAS_HOST;
}
/* SPDX-License-Identifier: BSD-2-Clause */
