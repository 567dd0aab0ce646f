/* The rounding bounds of verification mode.
 *
 * A sum of k products is off by at most about k u (|a1 b1| + ...  + |ak bk|), in any order of addition; u is half a
 * unit in the last place.  The sums of absolute values for all elements of a result are the result of the same
 * routine on |alpha|, |A|, |B|, |beta|, |C|.  The host BLAS computes them, with the triangle, band or packing of the
 * call.  Two results may each be off by that much.  With the constants of complex arithmetic and of final scalings,
 * this gives the factor. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "blas/verify/verify.h"
#include "coherence/task.h"

#define PARTS_OF(type) (sc_type_is_complex(type) ? 2 : 1)

static bool is_single(enum sc_type type) { return type == SC_S || type == SC_C; }

static double part(enum sc_type type, const void *data, int64_t i)
{
    return is_single(type) ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void set_part(enum sc_type type, void *data, int64_t i, double value)
{
    if (is_single(type))
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

double sc_blas_shadow_abs(enum sc_type type, const void *data, int64_t e)
{
    double sum = 0;

    for (int i = 0; i < PARTS_OF(type); i++)
        sum += fabs(part(type, data, e * PARTS_OF(type) + i));
    return sum;
}

double sc_blas_shadow_distance(enum sc_type type, const void *a, const void *b, int64_t e)
{
    double sum = 0;

    for (int i = 0; i < PARTS_OF(type); i++) {
        int64_t at = e * PARTS_OF(type) + i;

        sum += fabs(part(type, a, at) - part(type, b, at));
    }
    return sum;
}

static void set_real(enum sc_type type, void *data, int64_t e, double value)
{
    set_part(type, data, e * PARTS_OF(type), value);
    if (sc_type_is_complex(type))
        set_part(type, data, e * 2 + 1, 0);
}

/* --- shadows ------------------------------------------------------------------------------------------------------ */

enum sc_status sc_blas_shadow_run(struct sc_shadow_call *call)
{
    call->kernel.result = call->result;
    return sc_coherence_kernel_on_host(&call->kernel);
}

void sc_blas_shadow_free(struct sc_shadow_call *call)
{
    for (int i = 0; i < call->operands; i++)
        free(call->operand[i].data);
    call->operands = 0;
}

bool sc_blas_shadow_copy(struct sc_shadow_call *to, const struct sc_shadow_call *from)
{
    size_t elem = sc_type_bytes(from->kernel.type);

    *to = *from;
    to->operands = 0;
    for (int i = 0; i < from->operands; i++) {
        const struct sc_shadow *old = &from->operand[i];
        void *data = malloc((size_t)old->elements * elem + !old->elements);
        void **slot[3] = {&to->kernel.a, &to->kernel.b, &to->kernel.c};

        if (!data) {
            sc_blas_shadow_free(to);
            return false;
        }
        memcpy(data, old->data, (size_t)old->elements * elem);
        for (int s = 0; s < 3; s++)
            if (*slot[s] == old->data)
                *slot[s] = data;
        to->operand[i].data = data;
        to->operands++;
    }
    return true;
}

static void make_absolute(struct sc_shadow_call *call)
{
    struct sc_kernel *k = &call->kernel;

    for (int i = 0; i < call->operands; i++)
        for (int64_t e = 0; e < call->operand[i].elements; e++)
            set_real(k->type, call->operand[i].data, e, sc_blas_shadow_abs(k->type, call->operand[i].data, e));
    k->alpha[0] = fabs(k->alpha[0]) + fabs(k->alpha[1]);
    k->beta[0] = fabs(k->beta[0]) + fabs(k->beta[1]);
    k->alpha[1] = k->beta[1] = 0;
}

/* --- the factor --------------------------------------------------------------------------------------------------- */

static int64_t triangle(const struct sc_kernel *k) { return sc_side_order(k->side, k->m, k->n); }

/* Number of products that are added for an element of the result. */
static int64_t terms(const struct sc_kernel *k)
{
    switch (k->op) {
    case SC_OP_DOT:
    case SC_OP_DOTC:
    case SC_OP_DSDOT: /* held to single precision, because OpenBLAS adds no better */
    case SC_OP_NRM2:
    case SC_OP_ASUM: return k->n;
    case SC_OP_GEMV: return k->transa == 'N' ? k->n : k->m;
    case SC_OP_GBMV: return k->kl + k->ku + 1;
    case SC_OP_SYMV:
    case SC_OP_HEMV:
    case SC_OP_SPMV:
    case SC_OP_HPMV:
    case SC_OP_TRMV:
    case SC_OP_TPMV:
    case SC_OP_TRSV:
    case SC_OP_TPSV: return k->n;
    case SC_OP_SBMV:
    case SC_OP_HBMV: return 2 * k->k + 1;
    case SC_OP_TBMV:
    case SC_OP_TBSV: return k->k + 1;
    case SC_OP_GEMM:
    case SC_OP_GEMMT:
    case SC_OP_SYRK:
    case SC_OP_HERK: return k->k;
    case SC_OP_SYR2K:
    case SC_OP_HER2K: return 2 * k->k;
    case SC_OP_SYMM:
    case SC_OP_HEMM:
    case SC_OP_TRMM:
    case SC_OP_TRSM: return triangle(k);
    default: return 2;
    }
}

static double factor(const struct sc_kernel *k)
{
    double unit = is_single(k->type) ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    double constant = sc_type_is_complex(k->type) ? 8 : 4;

    if (sc_blas_is_solve(k->op)) /* libraries invert diagonal blocks */
        constant *= 4;
    return constant * (double)(terms(k) + 8) * unit;
}

/* --- the scale ---------------------------------------------------------------------------------------------------- */

/* Rotations subtract: each result is at most (|x| + |y|) times the largest coefficient. */
static void scale_rotation(struct sc_shadow_call *s)
{
    const struct sc_kernel *k = &s->kernel;
    double most = 1, flag = k->param[0];

    if (k->op == SC_OP_ROT)
        most = fmax(most, fmax(k->alpha[0], k->beta[0]));
    else if (flag != -2)
        for (int i = 1; i <= 4; i++) /* h11, h21, h12, h22; some are implied */
            if (flag == -1 || (flag == 0 && (i == 2 || i == 3)) || (flag == 1 && (i == 1 || i == 4)))
                most = fmax(most, fabs(k->param[i]));
    for (int64_t e = 0; e < s->operand[0].elements; e++) {
        /* Index in y of the partner of x[e]. */
        int64_t f = (k->lda < 0) == (k->ldb < 0) ? e : s->operand[0].elements - 1 - e;
        double x = part(k->type, s->operand[0].data, e * PARTS_OF(k->type));
        double y = part(k->type, s->operand[1].data, f * PARTS_OF(k->type));

        set_real(k->type, s->operand[0].data, e, (x + y) * most);
        set_real(k->type, s->operand[1].data, f, (x + y) * most);
    }
}

bool sc_blas_is_solve(enum sc_op op)
{
    return op == SC_OP_TRSM || op == SC_OP_TRSV || op == SC_OP_TBSV || op == SC_OP_TPSV;
}

static enum sc_op product_of(enum sc_op solve)
{
    switch (solve) {
    case SC_OP_TRSM: return SC_OP_TRMM;
    case SC_OP_TRSV: return SC_OP_TRMV;
    case SC_OP_TBSV: return SC_OP_TBMV;
    default: return SC_OP_TPMV;
    }
}

/* |op(A)| |X| + |alpha| |B|. */
static bool scale_solve(struct sc_shadow_call *s, const struct sc_shadow_call *before)
{
    const struct sc_kernel *k = &s->kernel;
    double alpha = k->op == SC_OP_TRSM ? k->alpha[0] : 1;
    struct sc_shadow *x = &s->operand[1];

    s->kernel.op = product_of(k->op);
    s->kernel.alpha[0] = 1;
    if (sc_blas_shadow_run(s) != SC_OK)
        return false;
    for (int64_t e = 0; e < x->elements; e++)
        set_real(k->type, x->data, e, part(k->type, x->data, e * PARTS_OF(k->type)) +
                                          alpha * sc_blas_shadow_abs(k->type, before->operand[1].data, e));
    return true;
}

bool sc_blas_bound(struct sc_bound *bound, const struct sc_shadow_call *before, const struct sc_shadow_call *got)
{
    const struct sc_kernel *k = &before->kernel;
    bool good = true;

    *bound = (struct sc_bound){.factor = factor(k), .tiny = is_single(k->type) ? FLT_MIN : DBL_MIN,
                               .exact = k->op == SC_OP_COPY || k->op == SC_OP_SWAP};
    if (bound->exact)
        return true;
    if (!sc_blas_shadow_copy(&bound->scale, sc_blas_is_solve(k->op) ? got : before))
        return false;
    make_absolute(&bound->scale);
    if (k->op == SC_OP_ROT || k->op == SC_OP_ROTM)
        scale_rotation(&bound->scale);
    else if (sc_blas_is_solve(k->op))
        good = scale_solve(&bound->scale, before);
    else
        good = sc_blas_shadow_run(&bound->scale) == SC_OK;
    if (!good)
        sc_blas_shadow_free(&bound->scale);
    return good;
}

enum sc_status sc_blas_residual(struct sc_shadow_call *got, struct sc_shadow_call *before)
{
    struct sc_kernel alpha = {.op = SC_OP_SCAL, .type = before->kernel.type, .n = before->operand[1].elements,
                              .alpha = {before->kernel.alpha[0], before->kernel.alpha[1]}, .lda = 1,
                              .a = before->operand[1].data};
    bool scales = got->kernel.op == SC_OP_TRSM;

    got->kernel.op = product_of(got->kernel.op);
    got->kernel.alpha[0] = 1;
    got->kernel.alpha[1] = 0;
    if (scales && sc_coherence_kernel_on_host(&alpha) != SC_OK)
        return SC_ERR_UNSUPPORTED;
    return sc_blas_shadow_run(got);
}
/* SPDX-License-Identifier: BSD-2-Clause */
