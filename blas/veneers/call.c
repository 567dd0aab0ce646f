/* Common to the veneers: from the arguments of any BLAS routine to the record for the devices, or to operands at
 * home. */
#include "blas/blas_int.h"
#include "coherence/coherence.h"

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

/* True when the routine has an m, false when n is its only size. */
static bool has_m(enum sc_op op)
{
    return op == SC_OP_GEMV || op == SC_OP_GBMV || op == SC_OP_GER || op == SC_OP_GERC || op == SC_OP_GEMM ||
           op == SC_OP_SYMM || op == SC_OP_HEMM || op == SC_OP_TRMM || op == SC_OP_TRSM;
}

/* Places the operands in the record in their order, with two exceptions: B and C go by name, and an updated A
 * follows the vectors.  False: an increment that devices do not serve. */
static bool place_operands(const struct sc_blas_call *call, struct sc_kernel *kernel)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    struct {
        void **ptr;
        int64_t *ld;
    } slot[3] = {{&kernel->a, &kernel->lda}, {&kernel->b, &kernel->ldb}, {&kernel->c, &kernel->ldc}};
    bool fit = true; /* kernels take 32-bit increments, even for vectors of one element */

    for (int i = 0; row->letters[i]; i++) {
        switch (row->letters[i]) {
        case 'A': *slot[i ? 2 : 0].ptr = call->a, *slot[i ? 2 : 0].ld = call->lda; break;
        case 'P': *slot[i ? 2 : 0].ptr = call->a, *slot[i ? 2 : 0].ld = 1; break;
        case 'B': kernel->b = call->b, kernel->ldb = call->ldb; break;
        case 'C': kernel->c = call->c, kernel->ldc = call->ldc; break;
        case 'X': *slot[i].ptr = call->x, *slot[i].ld = call->incx, fit = fit && sc_blas_fits(call->incx); break;
        default: *slot[i].ptr = call->y, *slot[i].ld = call->incy, fit = fit && sc_blas_fits(call->incy);
        }
    }
    if (row->level > 1 || !fit)
        return fit;
    /* For a single vector with an increment below 1 libraries differ: no operation, 0, or backwards. */
    return row->letters[1] ? kernel->lda != 0 && kernel->ldb != 0 : kernel->lda > 0;
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

    if (row->op < 0 || call->n <= 0 || (has_m((enum sc_op)row->op) && call->m <= 0))
        return false;
    *kernel = (struct sc_kernel){
        .op = (enum sc_op)row->op, .type = call->type, .scale_real = row->scale_real,
        .transa = call->transa, .transb = call->transb, .side = call->side, .uplo = call->uplo, .diag = call->diag,
        .conj = call->conj, .m = call->m, .n = call->n, .k = call->k, .kl = call->kl, .ku = call->ku,
        .alpha = {call->alpha[0], call->alpha[1]}, .beta = {call->beta[0], call->beta[1]},
        .result = &call->result,
    };
    if (call->param)
        place_param(call, kernel);
    return place_operands(call, kernel);
}

/* Brings the operands home.  A routine with an empty side may leave even its WRITE operand unchanged, so such calls
 * are left to faults. */
static void bring_home(const struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    struct sc_blas_operand operands[SC_BLAS_OPERANDS_MAX];
    int count = row->operands(call, operands);

    for (int i = 0; i < count; i++) {
        if (operands[i].rows <= 0 || operands[i].cols <= 0)
            return;
        if (operands[i].ld == 0) /* level 1: the same element repeatedly */
            operands[i].cols = operands[i].ld = 1;
    }
    sc_blas_host_operands(operands, count);
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
