/* Every operation of the BLAS by its definition: plain loops with 64-bit sizes and strides, for calls that no
 * library of the process serves.  All types are computed in double precision, and addresses modulo 2^64.  Loops are
 * slow (some nanoseconds for each multiplication), but the program gets its numbers. */
#include <complex.h>
#include <math.h>

#include "blas/veneers/loops.h"

typedef double complex value;

static value times(value a, value b)
{
    if (cimag(a) == 0 && cimag(b) == 0)
        return creal(a) * creal(b);
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
static value over(value a, value b) { return cimag(a) == 0 && cimag(b) == 0 ? creal(a) / creal(b) : a / b; }

static value load(enum sc_type type, const void *at)
{
    union sc_blas_scalar s;

    memcpy(&s, at, sc_type_bytes(type));
    return type == SC_S ? s.s : type == SC_D ? s.d : type == SC_C ? (value)s.c : s.z;
}
static void store(enum sc_type type, void *at, value v)
{
    const double parts[2] = {creal(v), cimag(v)};
    const union sc_blas_scalar s = sc_blas_typed(type, parts);

    memcpy(at, &s, sc_type_bytes(type));
}

/* --- views -------------------------------------------------------------------------------------------------------- */

/* Elements that a matrix has beyond the stored elements: zeros or a mirror image outside the triangle. */
enum shape { GENERAL, TRIANGULAR, SYMMETRIC, HERMITIAN };

/* op(A) of a stored matrix A. */
struct view {
    enum sc_type type;
    enum shape shape;
    bool upper, unit, banded, packed;
    bool turned, conjugated;
    int64_t n, kl, ku;    /* n: order of a packed matrix */
    uintptr_t origin;     /* address of element (0, 0), unless banded or packed */
    uint64_t row, column; /* bytes from a row to the next, from a column to the next */
};

static struct view general(enum sc_type type, const void *a, int64_t ld)
{
    const uint64_t bytes = sc_type_bytes(type);

    return (struct view){.type = type, .origin = (uintptr_t)a, .row = bytes, .column = bytes * (uint64_t)ld};
}
/* A vector as a matrix with a single column. */
static struct view vector(enum sc_type type, const void *x, int64_t n, int64_t inc)
{
    const uint64_t step = (uint64_t)inc * sc_type_bytes(type), back = inc < 0 ? (uint64_t)(n - 1) * -step : 0;

    return (struct view){.type = type, .origin = (uintptr_t)x + back, .row = step};
}
static struct view turned(struct view v, char trans)
{
    v.turned ^= trans != 'N';
    v.conjugated ^= trans == 'C' && sc_type_is_complex(v.type);
    return v;
}

/* Address of the element (i, j) of the stored matrix; false outside the band. */
static bool locate(const struct view *v, int64_t i, int64_t j, uintptr_t *at)
{
    uint64_t r = (uint64_t)i, c = (uint64_t)j;

    if (v->banded && (i - j > v->kl || j - i > v->ku))
        return false;
    if (v->packed)
        *at = v->origin + v->row * (v->upper ? r + c * (c + 1) / 2 : r + c * (uint64_t)v->n - c * (c + 1) / 2);
    else
        *at = v->origin + v->row * (v->banded ? (uint64_t)v->ku + r - c : r) + v->column * c;
    return true;
}
static bool is_stored(const struct view *v, int64_t i, int64_t j)
{
    return v->shape == GENERAL || (v->upper ? i <= j : i >= j);
}
static value element(const struct view *v, int64_t i, int64_t j)
{
    const int64_t r = v->turned ? j : i, c = v->turned ? i : j;
    const bool mirrored = !is_stored(v, r, c);
    uintptr_t at;
    value e;

    if (v->shape == TRIANGULAR && (mirrored || (v->unit && r == c)))
        return mirrored ? 0 : 1;
    if (!locate(v, mirrored ? c : r, mirrored ? r : c, &at))
        return 0;
    e = load(v->type, (const void *)at);
    if (v->shape == HERMITIAN)
        e = r == c ? creal(e) : mirrored ? conj(e) : e;
    return v->conjugated ? conj(e) : e;
}
static void put(const struct view *v, int64_t i, int64_t j, value e)
{
    uintptr_t at;

    if (locate(v, v->turned ? j : i, v->turned ? i : j, &at))
        store(v->type, (void *)at, v->shape == HERMITIAN && i == j ? creal(e) : e);
}

/* Columns of row i, among `count` columns, that may be nonzero. */
struct range {
    int64_t first, end;
};
static struct range columns_of(const struct view *v, int64_t i, int64_t count)
{
    const int64_t reach = v->kl > v->ku ? v->kl : v->ku;

    if (!v->banded || reach >= count)
        return (struct range){0, count};
    return (struct range){i > reach ? i - reach : 0, count - i > reach + 1 ? i + reach + 1 : count};
}
static value row_by_column(const struct view *a, const struct view *b, int64_t i, int64_t j, struct range r)
{
    value sum = 0;

    for (int64_t p = r.first; p < r.end; p++)
        sum += times(element(a, i, p), element(b, p, j));
    return sum;
}

/* --- levels 2 and 3 ----------------------------------------------------------------------------------------------- */

/* C := alpha A B + beta C for the stored part of C.  Operands that a zero factor cancels are not read. */
static void product(const struct view *c, int64_t m, int64_t n, int64_t k, const struct view *a, const struct view *b,
                    value alpha, value beta)
{
    if ((alpha == 0 || k == 0) && beta == 1)
        return;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            const struct range all = alpha == 0 ? (struct range){0, 0} : columns_of(a, i, k);
            value e;

            if (!is_stored(c, i, j))
                continue;
            e = beta == 0 ? 0 : times(beta, element(c, i, j));
            put(c, i, j, e + times(alpha, row_by_column(a, b, i, j, all)));
        }
}

/* B := alpha A B or alpha A^-1 B with a triangular A of order m, in an order that overwrites no element too early. */
static void triangular(const struct view *a, const struct view *b, int64_t m, int64_t n, value alpha, bool solves)
{
    const bool upper = a->upper != a->turned, down = upper != solves;

    for (int64_t j = 0; j < n; j++)
        for (int64_t step = 0; step < m; step++) {
            const int64_t i = down ? step : m - 1 - step;
            struct range r = columns_of(a, i, m);
            value sum;

            *(upper ? &r.first : &r.end) = upper ? i + 1 : i;
            if (alpha == 0) {
                put(b, i, j, 0);
                continue;
            }
            sum = row_by_column(a, b, i, j, r);
            put(b, i, j, solves ? over(times(alpha, element(b, i, j)) - sum, element(a, i, i))
                                : times(alpha, times(element(a, i, i), element(b, i, j)) + sum));
        }
}

static bool is_hermitian(enum sc_op op)
{
    switch (op) {
    case SC_OP_HEMV: case SC_OP_HBMV: case SC_OP_HPMV: case SC_OP_HER: case SC_OP_HPR: case SC_OP_HER2:
    case SC_OP_HPR2: case SC_OP_HEMM: case SC_OP_HERK: case SC_OP_HER2K: return true;
    default: return false;
    }
}
static value scalar_of(const struct sc_kernel *k, const double s[2])
{
    return CMPLX(s[0], sc_type_is_complex(k->type) ? s[1] : 0);
}

/* The matrix A, or the square result C, with the operation's shape and storage. */
static struct view of_shape(const struct sc_kernel *k, const void *a, int64_t ld, enum shape shape)
{
    struct view v = general(k->type, a, ld);

    v.shape = shape;
    v.upper = k->uplo == 'U';
    v.unit = k->diag == 'U';
    v.packed = sc_op_is_packed(k->op);
    v.banded = sc_op_is_banded(k->op);
    v.n = k->n;
    if (v.banded) {
        v.kl = k->op == SC_OP_GBMV ? k->kl : v.upper ? 0 : k->k;
        v.ku = k->op == SC_OP_GBMV ? k->ku : v.upper ? k->k : 0;
    }
    return v;
}
static enum shape mirrored_shape(const struct sc_kernel *k) { return is_hermitian(k->op) ? HERMITIAN : SYMMETRIC; }

/* y := alpha op(A) x + beta y */
static void matrix_by_vector(const struct sc_kernel *k)
{
    const bool is_general = k->op == SC_OP_GEMV || k->op == SC_OP_GBMV, plain = !is_general || k->transa == 'N';
    const int64_t m = is_general ? k->m : k->n, rows = plain ? m : k->n, cols = plain ? k->n : m;
    const struct view a = turned(of_shape(k, k->a, k->lda, is_general ? GENERAL : mirrored_shape(k)),
                                 plain ? 'N' : k->transa);
    const struct view x = vector(k->type, k->b, cols, k->ldb), y = vector(k->type, k->c, rows, k->ldc);

    product(&y, rows, 1, cols, &a, &x, scalar_of(k, k->alpha), scalar_of(k, k->beta));
}

/* C := alpha x y^T + C */
static void outer(const struct sc_kernel *k)
{
    const struct view c = general(k->type, k->c, k->ldc), x = vector(k->type, k->a, k->m, k->lda);
    const struct view y = turned(vector(k->type, k->b, k->n, k->ldb), k->op == SC_OP_GERC ? 'C' : 'T');

    product(&c, k->m, k->n, 1, &x, &y, scalar_of(k, k->alpha), 1);
}

/* C := alpha A B^T + beta C in the stored triangle.  two: adds alpha' B A^T, with alpha' = conj(alpha) for Hermitian
 * C. */
static void update(const struct sc_kernel *k, struct view a, struct view b, int64_t inner, bool two, value beta)
{
    const bool hermitian = is_hermitian(k->op) && sc_type_is_complex(k->type);
    const char trans = hermitian ? 'C' : 'T';
    const struct view c = of_shape(k, k->c, k->ldc, mirrored_shape(k)), at = turned(a, trans), bt = turned(b, trans);
    const value alpha = hermitian && !two ? k->alpha[0] : scalar_of(k, k->alpha);

    product(&c, k->n, k->n, inner, &a, &bt, alpha, beta);
    if (two && alpha != 0)
        product(&c, k->n, k->n, inner, &b, &at, hermitian ? conj(alpha) : alpha, 1);
}
static void update_by_vectors(const struct sc_kernel *k)
{
    const bool two = k->op == SC_OP_SYR2 || k->op == SC_OP_HER2 || k->op == SC_OP_SPR2 || k->op == SC_OP_HPR2;
    const struct view x = vector(k->type, k->a, k->n, k->lda);

    update(k, x, two ? vector(k->type, k->b, k->n, k->ldb) : x, 1, two, 1);
}
static void update_by_matrices(const struct sc_kernel *k)
{
    const bool two = k->op == SC_OP_SYR2K || k->op == SC_OP_HER2K, real_beta = is_hermitian(k->op);
    const char trans = k->transa == 'N' ? 'N' : is_hermitian(k->op) ? 'C' : 'T';
    const struct view a = turned(general(k->type, k->a, k->lda), trans);

    update(k, a, two ? turned(general(k->type, k->b, k->ldb), trans) : a, k->k, two,
           real_beta ? k->beta[0] : scalar_of(k, k->beta));
}

static void matrix_by_matrix(const struct sc_kernel *k)
{
    const struct view a = turned(general(k->type, k->a, k->lda), k->transa);
    const struct view b = turned(general(k->type, k->b, k->ldb), k->transb);
    const struct view c = of_shape(k, k->c, k->ldc, k->op == SC_OP_GEMMT ? TRIANGULAR : GENERAL);

    product(&c, k->op == SC_OP_GEMMT ? k->n : k->m, k->n, k->k, &a, &b, scalar_of(k, k->alpha),
            scalar_of(k, k->beta));
}
static void mirrored_by_matrix(const struct sc_kernel *k)
{
    const bool left = k->side == 'L';
    const struct view a = of_shape(k, k->a, k->lda, mirrored_shape(k));
    const struct view b = general(k->type, k->b, k->ldb), c = general(k->type, k->c, k->ldc);

    product(&c, k->m, k->n, left ? k->m : k->n, left ? &a : &b, left ? &b : &a, scalar_of(k, k->alpha),
            scalar_of(k, k->beta));
}

/* From the right: the same with transposes. */
static void triangle_by_matrix(const struct sc_kernel *k)
{
    const bool left = k->side == 'L';
    const struct view a = turned(of_shape(k, k->a, k->lda, TRIANGULAR), k->transa);
    const struct view b = general(k->type, k->b, k->ldb), at = turned(a, 'T'), bt = turned(b, 'T');

    triangular(left ? &a : &at, left ? &b : &bt, left ? k->m : k->n, left ? k->n : k->m, scalar_of(k, k->alpha),
               k->op == SC_OP_TRSM);
}
static void triangle_by_vector(const struct sc_kernel *k)
{
    const struct view a = turned(of_shape(k, k->a, k->lda, TRIANGULAR), k->transa);
    const struct view x = vector(k->type, k->b, k->n, k->ldb);

    triangular(&a, &x, k->n, 1, 1, k->op == SC_OP_TRSV || k->op == SC_OP_TBSV || k->op == SC_OP_TPSV);
}

/* --- level 1 ------------------------------------------------------------------------------------------------------ */

static void rotate_modified(const double *p, value *x, value *y)
{
    const double h11 = p[0] == 0 ? 1 : p[1], h21 = p[0] == 1 ? -1 : p[2];
    const double h12 = p[0] == 1 ? 1 : p[3], h22 = p[0] == 0 ? 1 : p[4];
    const value old = *x;

    if (p[0] == -2)
        return;
    *x = h11 * creal(old) + h12 * creal(*y);
    *y = h21 * creal(old) + h22 * creal(*y);
}

static void change(const struct sc_kernel *k, void *at_x, void *at_y)
{
    const value alpha = k->scale_real ? k->alpha[0] : scalar_of(k, k->alpha), beta = scalar_of(k, k->beta);
    value x = load(k->type, at_x), y = at_y ? load(k->type, at_y) : 0, old = x;

    switch (k->op) {
    case SC_OP_AXPY: y += times(alpha, x); break;
    case SC_OP_AXPBY: y = (beta == 0 ? 0 : times(beta, y)) + (alpha == 0 ? 0 : times(alpha, x)); break;
    case SC_OP_SCAL: x = times(alpha, x); break;
    case SC_OP_ROT:
        x = k->alpha[0] * old + k->beta[0] * y;
        y = k->alpha[0] * y - k->beta[0] * old;
        break;
    default: rotate_modified(k->param, &x, &y);
    }
    if (k->op != SC_OP_AXPY && k->op != SC_OP_AXPBY)
        store(k->type, at_x, x);
    if (at_y)
        store(k->type, at_y, y);
}

/* Moves bytes: even a NaN keeps its bits. */
static void move(const struct sc_kernel *k, void *x, void *y)
{
    const size_t bytes = sc_type_bytes(k->type);
    char old[16];

    memcpy(old, y, bytes);
    memcpy(y, x, bytes);
    if (k->op == SC_OP_SWAP)
        memcpy(x, old, bytes);
}

/* The Euclidean norm is scale * sqrt(sum), so that no square overflows. */
struct norm {
    double scale, sum;
    bool infinite;
};
static void add_to_norm(struct norm *n, double part)
{
    const double size = fabs(part);

    if (size > n->scale && !isinf(size)) {
        n->sum = 1 + n->sum * (n->scale / size) * (n->scale / size);
        n->scale = size;
    } else if (size != 0) {
        n->infinite |= isinf(size);
        n->sum += isinf(size) ? 0 : (size / n->scale) * (size / n->scale);
    }
}

struct reduction {
    value sum;
    struct norm norm;
    double best;
    int64_t index;
};
static void reduce(const struct sc_kernel *k, struct reduction *r, int64_t i, value x, value y)
{
    const double size = fabs(creal(x)) + fabs(cimag(x));

    switch (k->op) {
    case SC_OP_DOT: case SC_OP_DSDOT: r->sum += times(x, y); break;
    case SC_OP_DOTC: r->sum += times(conj(x), y); break;
    case SC_OP_ASUM: r->sum += size; break;
    case SC_OP_NRM2: add_to_norm(&r->norm, creal(x)), add_to_norm(&r->norm, cimag(x)); break;
    default:
        if (!r->index || (k->op == SC_OP_IAMAX ? size > r->best : size < r->best))
            r->best = size, r->index = i + 1;
    }
}
static void keep_result(const struct sc_kernel *k, const struct reduction *r)
{
    if (sc_op_gives_index(k->op))
        memcpy(k->result, &r->index, sizeof r->index);
    else if (k->op == SC_OP_NRM2)
        store(sc_op_result_type(k->op, k->type), k->result,
              r->norm.infinite && !isnan(r->norm.sum) ? INFINITY : r->norm.scale * sqrt(r->norm.sum));
    else
        store(sc_op_result_type(k->op, k->type), k->result, r->sum);
}

static void vectors(const struct sc_kernel *k)
{
    const struct view x = vector(k->type, k->a, k->n, k->lda), y = vector(k->type, k->b, k->n, k->ldb);
    const bool reduces = sc_op_is_reduction(k->op);
    struct reduction r = {.sum = 0};

    if (k->op == SC_OP_AXPY && k->alpha[0] == 0 && k->alpha[1] == 0)
        return;
    for (int64_t i = 0; i < k->n && (k->b || k->lda > 0); i++) {
        void *at_x = (void *)(x.origin + (uint64_t)i * x.row);
        void *at_y = k->b ? (void *)(y.origin + (uint64_t)i * y.row) : NULL;

        if (reduces)
            reduce(k, &r, i, load(k->type, at_x), at_y ? load(k->type, at_y) : 0);
        else if (k->op == SC_OP_COPY || k->op == SC_OP_SWAP)
            move(k, at_x, at_y);
        else
            change(k, at_x, at_y);
    }
    if (reduces)
        keep_result(k, &r);
}

void sc_blas_loops(const struct sc_kernel *k)
{
    switch (k->op) {
    case SC_OP_GEMV: case SC_OP_GBMV: case SC_OP_SYMV: case SC_OP_HEMV: case SC_OP_SBMV: case SC_OP_HBMV:
    case SC_OP_SPMV: case SC_OP_HPMV: matrix_by_vector(k); break;
    case SC_OP_GER: case SC_OP_GERC: outer(k); break;
    case SC_OP_SYR: case SC_OP_HER: case SC_OP_SPR: case SC_OP_HPR: case SC_OP_SYR2: case SC_OP_HER2:
    case SC_OP_SPR2: case SC_OP_HPR2: update_by_vectors(k); break;
    case SC_OP_TRMV: case SC_OP_TRSV: case SC_OP_TBMV: case SC_OP_TBSV: case SC_OP_TPMV: case SC_OP_TPSV:
        triangle_by_vector(k); break;
    case SC_OP_GEMM: case SC_OP_GEMMT: matrix_by_matrix(k); break;
    case SC_OP_SYMM: case SC_OP_HEMM: mirrored_by_matrix(k); break;
    case SC_OP_SYRK: case SC_OP_HERK: case SC_OP_SYR2K: case SC_OP_HER2K: update_by_matrices(k); break;
    case SC_OP_TRMM: case SC_OP_TRSM: triangle_by_matrix(k); break;
    default: vectors(k);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
