/* The operations of levels 1 and 2 written from the definition of the BLAS: plain loops in double precision over
 * complex numbers. Tests compare devices with these loops. */
#ifndef SC_TESTS_BLAS_DEFINITION_H
#define SC_TESTS_BLAS_DEFINITION_H

#include <complex.h>
#include <math.h>

#include "ops/ops.h"


typedef double complex definition_value;

/* Position of logical element i of a vector of n. */
static inline int64_t definition_at(int64_t i, int64_t n, int64_t inc)
{
    return inc >= 0 ? i * inc : (n - 1 - i) * -inc;
}

static inline definition_value definition_scalar(const struct sc_kernel *k, const double s[2], bool real)
{
    return real || !sc_type_is_complex(k->type) ? CMPLX(s[0], 0) : CMPLX(s[0], s[1]);
}

/* beta y + sum, where y is not read when beta is 0. */
static inline definition_value definition_sum(definition_value beta, definition_value y, definition_value sum)
{
    return beta == 0 ? sum : beta * y + sum;
}

/* --- level 1 ---------------------------------------------------------------------------------------------------- */

static inline double definition_size(definition_value v) { return fabs(creal(v)) + fabs(cimag(v)); }

static inline void definition_rotm(const double *p, definition_value *x, definition_value *y)
{
    double h11 = p[0] == 1 || p[0] == -1 ? p[1] : 1, h21 = p[0] == 1 ? -1 : p[2];
    double h12 = p[0] == 1 ? 1 : p[3], h22 = p[0] == 1 || p[0] == -1 ? p[4] : 1;
    definition_value old = *x;

    if (p[0] == -2)
        return;
    *x = h11 * old + h12 * *y;
    *y = h21 * old + h22 * *y;
}

/* The vectors in place; the return value is a reduction's. */
static inline definition_value definition_level1(const struct sc_kernel *k, definition_value *a, definition_value *b)
{
    definition_value alpha = definition_scalar(k, k->alpha, k->scale_real), sum = 0;
    definition_value beta = definition_scalar(k, k->beta, false);
    double best = -1;

    for (int64_t i = 0; i < k->n; i++) {
        definition_value *x = &a[definition_at(i, k->n, k->lda)], *y = &b[definition_at(i, k->n, k->ldb)], old = *x;
        double size = definition_size(*x);

        switch (k->op) {
        case SC_OP_AXPY: *y = alpha == 0 ? *y : *y + alpha * *x; break;
        case SC_OP_AXPBY: *y = definition_sum(beta, *y, alpha == 0 ? 0 : alpha * *x); break;
        case SC_OP_SCAL: *x *= alpha; break;
        case SC_OP_COPY: *y = *x; break;
        case SC_OP_SWAP: *x = *y, *y = old; break;
        case SC_OP_ROT: *x = k->alpha[0] * old + k->beta[0] * *y, *y = k->alpha[0] * *y - k->beta[0] * old; break;
        case SC_OP_ROTM: definition_rotm(k->param, x, y); break;
        case SC_OP_DOT: case SC_OP_DSDOT: sum += *x * *y; break;
        case SC_OP_DOTC: sum += conj(*x) * *y; break;
        case SC_OP_NRM2: sum += *x * conj(*x); break;
        case SC_OP_ASUM: sum += size; break;
        default: /* iamax, iamin */
            if (best < 0 || (k->op == SC_OP_IAMAX ? size > best : size < best))
                best = size, sum = (double)(i + 1);
        }
    }
    return k->op == SC_OP_NRM2 ? sqrt(creal(sum)) : sum;
}

/* --- level 2 ---------------------------------------------------------------------------------------------------- */

static inline bool definition_is_triangular(enum sc_op op)
{
    return op == SC_OP_TRMV || op == SC_OP_TRSV || op == SC_OP_TBMV || op == SC_OP_TBSV || op == SC_OP_TPMV ||
           op == SC_OP_TPSV;
}
static inline bool definition_is_hermitian(enum sc_op op)
{
    return op == SC_OP_HEMV || op == SC_OP_HBMV || op == SC_OP_HPMV || op == SC_OP_HER || op == SC_OP_HPR ||
           op == SC_OP_HER2 || op == SC_OP_HPR2;
}
static inline bool definition_is_general(enum sc_op op)
{
    return op == SC_OP_GEMV || op == SC_OP_GBMV || op == SC_OP_GER || op == SC_OP_GERC;
}

/* Where element (r, c) of the matrix is stored; < 0: nowhere. */
static inline int64_t definition_index(const struct sc_kernel *k, int64_t ld, int64_t r, int64_t c)
{
    bool upper = k->uplo == 'U';
    int64_t row;

    if (!definition_is_general(k->op) && (upper ? r > c : r < c))
        return -1;
    if (sc_op_is_packed(k->op))
        return upper ? r + c * (c + 1) / 2 : r - c + c * k->n - c * (c - 1) / 2;
    if (!sc_op_is_banded(k->op))
        return r + c * ld;
    row = k->op == SC_OP_GBMV ? k->ku + r - c : upper ? k->k + r - c : r - c;
    return row < 0 || row > (k->op == SC_OP_GBMV ? k->kl + k->ku : k->k) ? -1 : row + c * ld;
}

/* Element (r, c) of A; conjugated for a record with `conj`. */
static inline definition_value definition_element(const struct sc_kernel *k, const definition_value *a, int64_t r,
                                                  int64_t c)
{
    int64_t at = definition_index(k, k->lda, r, c);
    bool mirrored = at < 0 && !definition_is_general(k->op) && !definition_is_triangular(k->op);
    definition_value v;

    if (r == c && k->diag == 'U' && definition_is_triangular(k->op))
        return 1;
    if (mirrored)
        at = definition_index(k, k->lda, c, r);
    if (at < 0)
        return 0;
    v = definition_is_hermitian(k->op) ? r == c ? creal(a[at]) : mirrored ? conj(a[at]) : a[at] : a[at];
    return k->conj ? conj(v) : v;
}

/* Element (i, j) of op(A). */
static inline definition_value definition_op(const struct sc_kernel *k, const definition_value *a, int64_t i, int64_t j)
{
    bool plain = k->transa == 'N' || (!definition_is_general(k->op) && !definition_is_triangular(k->op));
    definition_value v = plain ? definition_element(k, a, i, j) : definition_element(k, a, j, i);

    return !plain && k->transa == 'C' ? conj(v) : v;
}

static inline void definition_product(const struct sc_kernel *k, const definition_value *a, const definition_value *x,
                                      definition_value *y)
{
    bool plain = !definition_is_general(k->op) || k->transa == 'N';
    int64_t m = definition_is_general(k->op) ? k->m : k->n, rows = plain ? m : k->n, cols = plain ? k->n : m;
    definition_value alpha = definition_scalar(k, k->alpha, false), beta = definition_scalar(k, k->beta, false);

    for (int64_t i = 0; i < rows; i++) {
        definition_value sum = 0, *yi = &y[definition_at(i, rows, k->ldc)];

        for (int64_t j = 0; j < cols && alpha != 0; j++)
            sum += definition_op(k, a, i, j) * x[definition_at(j, cols, k->ldb)];
        *yi = definition_sum(beta, *yi, alpha == 0 ? 0 : alpha * sum);
    }
}

/* x := op(A) x or op(A)^-1 x, in an order that overwrites no element too early. */
static inline void definition_triangular(const struct sc_kernel *k, const definition_value *a, definition_value *x)
{
    bool solves = k->op == SC_OP_TRSV || k->op == SC_OP_TBSV || k->op == SC_OP_TPSV;
    bool upper = (k->uplo == 'U') == (k->transa == 'N'), down = upper != solves;

    for (int64_t step = 0; step < k->n; step++) {
        int64_t i = down ? step : k->n - 1 - step;
        definition_value *xi = &x[definition_at(i, k->n, k->ldb)], sum = 0;

        for (int64_t j = upper ? i + 1 : 0; j < (upper ? k->n : i); j++)
            sum += definition_op(k, a, i, j) * x[definition_at(j, k->n, k->ldb)];
        *xi = solves ? (*xi - sum) / definition_op(k, a, i, i) : definition_op(k, a, i, i) * *xi + sum;
    }
}

static inline definition_value definition_outer(const struct sc_kernel *k, definition_value x, definition_value y)
{
    bool hermitian = k->op == SC_OP_GERC || definition_is_hermitian(k->op);

    return !hermitian ? x * y : k->conj ? conj(x) * y : x * conj(y);
}

static inline void definition_update(const struct sc_kernel *k, const definition_value *x, const definition_value *y,
                                     definition_value *c)
{
    bool general = definition_is_general(k->op), hermitian = definition_is_hermitian(k->op);
    bool two = k->op == SC_OP_SYR2 || k->op == SC_OP_HER2 || k->op == SC_OP_SPR2 || k->op == SC_OP_HPR2;
    bool one = !general && !two;
    definition_value alpha = definition_scalar(k, k->alpha, hermitian && one);
    int64_t rows = general ? k->m : k->n;

    for (int64_t j = 0; j < k->n && alpha != 0; j++)
        for (int64_t i = 0; i < rows; i++) {
            int64_t at = definition_index(k, k->ldc, i, j);
            int64_t ix = definition_at(i, rows, k->lda), jx = definition_at(j, rows, k->lda);
            int64_t iy = one ? ix : definition_at(i, k->n, k->ldb), jy = one ? jx : definition_at(j, k->n, k->ldb);
            const definition_value *other = one ? x : y;

            if (at < 0)
                continue;
            c[at] += alpha * definition_outer(k, x[ix], other[jy]);
            if (two)
                c[at] += (hermitian ? conj(alpha) : alpha) * definition_outer(k, y[iy], x[jx]);
            if (hermitian && sc_type_is_complex(k->type) && i == j)
                c[at] = creal(c[at]);
        }
}

/* Slots a, b, c in place. */
static inline void definition_level2(const struct sc_kernel *k, definition_value *a, definition_value *b,
                                     definition_value *c)
{
    switch (k->op) {
    case SC_OP_GER: case SC_OP_GERC: case SC_OP_SYR: case SC_OP_HER: case SC_OP_SPR: case SC_OP_HPR:
    case SC_OP_SYR2: case SC_OP_HER2: case SC_OP_SPR2: case SC_OP_HPR2: definition_update(k, a, b, c); break;
    default:
        if (definition_is_triangular(k->op))
            definition_triangular(k, a, b);
        else
            definition_product(k, a, b, c);
    }
}

/* Chooses letters, increments and sizes of a level 2 record by the bits of `v`, so that every combination comes up.
 * Vectors have increments of up to 3; matrices have leading dimension ld. Returns false if the variant does not
 * exist. */
static inline bool definition_variant(struct sc_kernel *k, unsigned v, int64_t m, int64_t n, int64_t ld)
{
    static const int64_t steps[] = {1, 2, -1, -3};
    bool updates = k->op == SC_OP_SYR || k->op == SC_OP_HER || k->op == SC_OP_SPR || k->op == SC_OP_HPR ||
                   k->op == SC_OP_SYR2 || k->op == SC_OP_HER2 || k->op == SC_OP_SPR2 || k->op == SC_OP_HPR2;
    struct sc_kernel rows;

    k->transa = "NTC"[v % 3];
    k->uplo = "UL"[v >> 1 & 1];
    k->diag = "NU"[v >> 2 & 1];
    k->m = m;
    k->n = n;
    k->k = v % 7;
    k->kl = v % 5;
    k->ku = v % 4;
    k->lda = k->ldb = k->ldc = ld;
    if (updates || k->op == SC_OP_GER || k->op == SC_OP_GERC)
        k->lda = steps[v & 3], k->ldb = steps[v >> 2 & 3];
    else
        k->ldb = steps[v & 3], k->ldc = steps[v >> 2 & 3];
    if (sc_op_is_packed(k->op))
        *(updates ? &k->ldc : &k->lda) = 1;
    k->conj = v >> 4 & 1;
    return !k->conj || sc_kernel_rows(k, &rows);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
