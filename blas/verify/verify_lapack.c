/* Residuals of LAPACK's routines, for verification mode.  Two right algorithms give different vectors and factors, so
 * their results are multiplied with random vectors: F F^H x is A x, A V x is V W x, V^H V x is x.  A product with a
 * vector costs n^2 operations, and shows an error anywhere in the matrix.  Arithmetic is in double complex.
 *
 * The bound is that of LAPACK's testers, in the Frobenius norm: |y - z| <= 60 (n + 8) eps times the norms of factors
 * and of x. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/verify/verify.h"

#define RATIO_MOST 60

typedef double complex number;

/* The elements that an entry of a matrix is made of. */
enum shape { FULL, TRIANGLE, UNIT_TRIANGLE, HERMITIAN, SYMMETRIC };

/* A compact matrix, of which the shape names the elements in use. */
struct matrix {
    enum sc_type type;
    const void *data;
    int64_t rows, cols, ld;
    enum shape shape;
    char uplo;
};

enum { VECTORS = 6 };

struct check {
    const struct sc_kernel *before, *after;
    struct sc_residual *residual;
    double size; /* n + 8, times eps */
    uint64_t random;
    int64_t length;           /* of a vector */
    number *vector[VECTORS];  /* space of the checks */
};

/* --- elements ----------------------------------------------------------------------------------------------------- */

static number number_at(enum sc_type type, const void *data, int64_t i)
{
    switch (type) {
    case SC_S: return (double)((const float *)data)[i];
    case SC_D: return ((const double *)data)[i];
    case SC_C: return ((const float complex *)data)[i];
    default: return ((const number *)data)[i];
    }
}

static number entry(const struct matrix *m, int64_t i, int64_t j)
{
    bool inside = m->uplo == 'U' ? i <= j : i >= j;

    if (m->shape == HERMITIAN && i == j)
        return creal(number_at(m->type, m->data, i + j * m->ld));
    if (m->shape == HERMITIAN && !inside)
        return conj(number_at(m->type, m->data, j + i * m->ld));
    if (m->shape == SYMMETRIC && !inside)
        return number_at(m->type, m->data, j + i * m->ld);
    if (m->shape == UNIT_TRIANGLE && i == j)
        return 1;
    return m->shape == FULL || inside ? number_at(m->type, m->data, i + j * m->ld) : 0;
}

static struct matrix full(const struct sc_kernel *k, const void *data, int64_t rows, int64_t cols)
{
    return (struct matrix){.type = k->type, .data = data, .rows = rows, .cols = cols, .ld = rows};
}

static struct matrix shaped(const struct sc_kernel *k, const void *data, enum shape shape, char uplo)
{
    struct matrix m = full(k, data, k->n, k->n);

    m.shape = shape;
    m.uplo = uplo;
    return m;
}

static enum sc_type real_type(const struct sc_kernel *k) { return k->type == SC_S || k->type == SC_C ? SC_S : SC_D; }
static double value_at(const struct sc_kernel *k, int i, int64_t at)
{
    return creal(number_at(real_type(k), k->small[i], at));
}

static double norm(const struct matrix *m)
{
    double sum = 0;

    for (int64_t j = 0; j < m->cols; j++)
        for (int64_t i = 0; i < m->rows; i++) {
            double size = cabs(entry(m, i, j));

            sum += size * size;
        }
    return sqrt(sum);
}

/* --- vectors ------------------------------------------------------------------------------------------------------ */

static double length_of(const number *x, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    return sqrt(sum);
}

/* A vector of ones with random signs, zeros behind. */
static number *draw(struct check *c, int vector, int64_t n)
{
    memset(c->vector[vector], 0, (size_t)c->length * sizeof(number));
    for (int64_t i = 0; i < n; i++) {
        c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        c->vector[vector][i] = c->random >> 63 ? 1 : -1;
    }
    return c->vector[vector];
}

/* y := op(M) x, zeros behind. */
static number *times(struct check *c, const struct matrix *m, char trans, const number *x, int vector)
{
    number *y = c->vector[vector];

    memset(y, 0, (size_t)c->length * sizeof *y);
    for (int64_t j = 0; j < m->cols; j++)
        for (int64_t i = 0; i < m->rows; i++) {
            number e = entry(m, i, j);

            if (trans == 'N')
                y[i] += e * x[j];
            else
                y[j] += (trans == 'C' ? conj(e) : e) * x[i];
        }
    return y;
}

/* Notes a residual above its bound, and one that is not a number. */
static bool same(struct check *c, const char *what, const number *y, const number *z, int64_t n, double scale)
{
    double sum = 0, bound = RATIO_MOST * c->size * scale;

    for (int64_t i = 0; i < n; i++) {
        double distance = cabs(y[i] - z[i]);

        sum += distance * distance;
    }
    if (isfinite(bound) && sqrt(sum) <= bound)
        return true;
    *c->residual = (struct sc_residual){what, sqrt(sum), bound};
    return false;
}

/* A zero on the diagonal: the solution is undetermined. */
static bool is_singular(const struct matrix *t)
{
    for (int64_t i = 0; i < t->cols; i++)
        if (entry(t, i, i) == 0)
            return true;
    return false;
}

/* --- triangles ---------------------------------------------------------------------------------------------------- */

/* F^H F x or F F^H x of Cholesky's factor; reverse: of the product that ?lauum computes. */
static number *times_factor(struct check *c, const struct matrix *f, bool reverse, const number *x, int vector)
{
    bool upper = (f->uplo == 'U') != reverse;
    number *t = times(c, f, upper ? 'N' : 'C', x, VECTORS - 1);

    return times(c, f, upper ? 'C' : 'N', t, vector);
}

static bool check_factor(struct check *c, const void *matrix, const void *factor)
{
    struct matrix a = shaped(c->before, matrix, HERMITIAN, c->before->uplo);
    struct matrix f = shaped(c->before, factor, TRIANGLE, c->before->uplo);
    int64_t n = c->before->n;
    number *x = draw(c, 0, n);
    double size = norm(&f);

    return same(c, "A and its Cholesky factors", times(c, &a, 'N', x, 1), times_factor(c, &f, false, x, 2), n,
                size * size * length_of(x, n));
}

static bool check_definite_solution(struct check *c, const void *factor)
{
    const struct sc_kernel *k = c->before;
    struct matrix f = shaped(k, factor, TRIANGLE, k->uplo), b = full(k, k->b, k->n, k->k);
    struct matrix x = full(k, c->after->b, k->n, k->k);
    number *z = draw(c, 0, k->k), *y = times(c, &x, 'N', z, 1);
    double size = norm(&f);

    if (is_singular(&f))
        return true;
    return same(c, "A X and B", times_factor(c, &f, false, y, 2), times(c, &b, 'N', z, 3), k->n,
                size * size * norm(&x) * length_of(z, k->k));
}

/* An inverse X of T: T X x or X T x is x. */
static bool check_inverse(struct check *c)
{
    const struct sc_kernel *k = c->before;
    bool definite = k->op == SC_OP_POTRI;
    enum shape shape = definite ? HERMITIAN : k->diag == 'U' ? UNIT_TRIANGLE : TRIANGLE;
    struct matrix t = shaped(k, k->a, definite ? TRIANGLE : shape, k->uplo);
    struct matrix x = shaped(k, c->after->a, shape, k->uplo);
    number *z = draw(c, 0, k->n);
    double size = norm(&t), scale = size * (definite ? size : 1) * norm(&x) * length_of(z, k->n);

    if (same(c, "A^-1 A and I", definite ? times_factor(c, &t, false, times(c, &x, 'N', z, 1), 2)
                                         : times(c, &t, 'N', times(c, &x, 'N', z, 1), 2), z, k->n, scale))
        return true;
    return !definite && same(c, "A^-1 A and I", times(c, &x, 'N', times(c, &t, 'N', z, 1), 2), z, k->n, scale);
}

static bool check_lauum(struct check *c)
{
    const struct sc_kernel *k = c->before;
    struct matrix f = shaped(k, k->a, TRIANGLE, k->uplo), p = shaped(k, c->after->a, HERMITIAN, k->uplo);
    number *x = draw(c, 0, k->n);
    double size = norm(&f);

    return same(c, "the product of the triangle", times(c, &p, 'N', x, 1), times_factor(c, &f, true, x, 2), k->n,
                size * size * length_of(x, k->n));
}

/* --- LU ----------------------------------------------------------------------------------------------------------- */

struct lu {
    struct matrix l, u;
    const int64_t *pivots;
    double size;
};

static struct lu lu_of(const struct sc_kernel *k, const void *factors, int64_t rows)
{
    int64_t least = rows < k->n ? rows : k->n;
    struct lu f = {full(k, factors, rows, least), full(k, factors, least, k->n), k->pivots, 0};

    f.l.shape = UNIT_TRIANGLE, f.l.uplo = 'L';
    f.u.shape = TRIANGLE, f.u.uplo = 'U', f.u.ld = rows;
    f.size = norm(&f.l) * norm(&f.u);
    return f;
}

static void interchange(const struct lu *f, bool back, number *x)
{
    for (int64_t i = 0, n = f->l.cols; i < n; i++) {
        int64_t own = back ? n - 1 - i : i, other = f->pivots[own] - 1;

        if (other >= 0 && other < f->l.rows) {
            number swap = x[own];

            x[own] = x[other];
            x[other] = swap;
        }
    }
}

/* op(P L U) x */
static number *times_lu(struct check *c, const struct lu *f, char trans, number *x, int vector)
{
    number *y;

    if (trans == 'N') {
        y = times(c, &f->l, 'N', times(c, &f->u, 'N', x, VECTORS - 1), vector);
        interchange(f, true, y);
        return y;
    }
    y = memcpy(c->vector[vector], x, (size_t)c->length * sizeof *x);
    interchange(f, false, y);
    return times(c, &f->u, trans, times(c, &f->l, trans, y, VECTORS - 1), vector);
}

static bool check_lu(struct check *c, int64_t rows)
{
    const struct sc_kernel *k = c->before;
    struct matrix a = full(k, k->a, rows, k->n);
    struct lu f = lu_of(k, c->after->a, rows);
    number *x = draw(c, 0, k->n);

    return same(c, "A and P L U", times(c, &a, 'N', x, 1), times_lu(c, &f, 'N', x, 2), rows,
                f.size * length_of(x, k->n));
}

static bool check_solution(struct check *c, const void *factors, char trans)
{
    const struct sc_kernel *k = c->before;
    struct lu f = lu_of(k, factors, k->n);
    struct matrix b = full(k, k->b, k->n, k->k), x = full(k, c->after->b, k->n, k->k);
    number *z = draw(c, 0, k->k), *y = times(c, &x, 'N', z, 1);

    if (is_singular(&f.u))
        return true;
    return same(c, "A X and B", times_lu(c, &f, trans, y, 2), times(c, &b, 'N', z, 3), k->n,
                f.size * norm(&x) * length_of(z, k->k));
}

static bool check_getri(struct check *c)
{
    const struct sc_kernel *k = c->before;
    struct lu f = lu_of(k, k->a, k->n);
    struct matrix x = full(k, c->after->a, k->n, k->n);
    number *z = draw(c, 0, k->n);
    double scale = f.size * norm(&x) * length_of(z, k->n);

    return same(c, "A A^-1 and I", times_lu(c, &f, 'N', times(c, &x, 'N', z, 1), 2), z, k->n, scale) ||
           same(c, "A A^-1 and I", times(c, &x, 'N', times_lu(c, &f, 'N', z, 1), 2), z, k->n, scale);
}

/* --- symmetric matrices ------------------------------------------------------------------------------------------- */

/* U D U^T or L D L^T as ?sytrf leaves the factors: for each block of D an interchange and the block's columns. */
struct blocks {
    struct matrix f;
    const int64_t *pivots;
    bool upper;
};

static void interchange_block(const struct blocks *b, int64_t from, int64_t size, number *x)
{
    int64_t own = size == 2 && !b->upper ? from + 1 : from;
    int64_t other = (b->pivots[own] < 0 ? -b->pivots[own] : b->pivots[own]) - 1;
    number swap = x[own];

    if (other < 0 || other >= b->f.rows)
        return;
    x[own] = x[other];
    x[other] = swap;
}

/* x := the factor of block [from, from + size), or the transposed factor, times x */
static void times_block(const struct blocks *b, int64_t from, int64_t size, bool transposed, number *x)
{
    int64_t first = b->upper ? 0 : from + size, end = b->upper ? from : b->f.rows;

    if (transposed)
        interchange_block(b, from, size, x);
    for (int64_t j = from; j < from + size; j++)
        for (int64_t i = first; i < end; i++) {
            if (transposed)
                x[j] += entry(&b->f, i, j) * x[i];
            else
                x[i] += entry(&b->f, i, j) * x[j];
        }
    if (!transposed)
        interchange_block(b, from, size, x);
}

static void times_factors(const struct blocks *b, bool transposed, number *x)
{
    int64_t n = b->f.rows, size;

    for (int64_t at = 0; at < n; at += size) {
        int64_t k = b->upper == transposed ? n - 1 - at : at;

        size = b->pivots[k] < 0 && at + 1 < n ? 2 : 1;
        times_block(b, b->upper == transposed ? k - size + 1 : k, size, transposed, x);
    }
}

/* x := A x */
static number *times_blocks(const struct blocks *b, number *x)
{
    int64_t n = b->f.rows;

    times_factors(b, true, x);
    for (int64_t i = 0; i < n; i++) {
        number own = x[i], off;

        x[i] *= entry(&b->f, i, i);
        if (b->pivots[i] > 0 || i + 1 == n)
            continue;
        off = b->upper ? entry(&b->f, i, i + 1) : entry(&b->f, i + 1, i);
        x[i] += off * x[i + 1];
        x[i + 1] = off * own + entry(&b->f, i + 1, i + 1) * x[i + 1];
        i++;
    }
    times_factors(b, false, x);
    return x;
}

static struct blocks blocks_of(const struct sc_kernel *k, const void *factors)
{
    return (struct blocks){shaped(k, factors, TRIANGLE, k->uplo), k->pivots, k->uplo == 'U'};
}

static bool check_blocks(struct check *c)
{
    const struct sc_kernel *k = c->before;
    struct matrix a = shaped(k, k->a, SYMMETRIC, k->uplo);
    struct blocks b = blocks_of(k, c->after->a);
    double size = norm(&b.f);
    number *x = draw(c, 0, k->n), *y = times(c, &a, 'N', x, 1);

    return same(c, "A and U D U^T", y, times_blocks(&b, x), k->n, (norm(&a) + size) * (1 + size) * sqrt((double)k->n));
}

static bool check_symmetric_solution(struct check *c, const void *factors)
{
    const struct sc_kernel *k = c->before;
    struct blocks f = blocks_of(k, factors);
    struct matrix b = full(k, k->b, k->n, k->k), x = full(k, c->after->b, k->n, k->k);
    number *z = draw(c, 0, k->k), *y = times(c, &x, 'N', z, 1);
    double size = norm(&f.f);

    return same(c, "A X and B", times_blocks(&f, y), times(c, &b, 'N', z, 3), k->n,
                size * (1 + size) * norm(&x) * length_of(z, k->k));
}

/* --- QR ----------------------------------------------------------------------------------------------------------- */

/* x := Q x or Q^H x, Q being the product of k reflectors in V. */
static number *reflect(const struct matrix *v, const struct sc_kernel *tau, int64_t count, bool adjoint, number *x)
{
    for (int64_t step = 0; step < count; step++) {
        int64_t i = adjoint ? step : count - 1 - step;
        number factor = number_at(tau->type, tau->small[0], i), sum = x[i];

        for (int64_t row = i + 1; row < v->rows; row++)
            sum += conj(entry(v, row, i)) * x[row];
        sum *= adjoint ? conj(factor) : factor;
        x[i] -= sum;
        for (int64_t row = i + 1; row < v->rows; row++)
            x[row] -= entry(v, row, i) * sum;
    }
    return x;
}

static bool check_qr(struct check *c)
{
    const struct sc_kernel *k = c->before;
    int64_t least = k->m < k->n ? k->m : k->n;
    struct matrix a = full(k, k->a, k->m, k->n), v = full(k, c->after->a, k->m, least);
    struct matrix r = full(k, c->after->a, least, k->n);
    number *x = draw(c, 0, k->n);

    r.ld = k->m, r.shape = TRIANGLE, r.uplo = 'U';
    return same(c, "A and Q R", times(c, &a, 'N', x, 1), reflect(&v, c->after, least, false, times(c, &r, 'N', x, 2)),
                k->m, norm(&a) * length_of(x, k->n));
}

static bool check_q(struct check *c)
{
    const struct sc_kernel *k = c->before;
    struct matrix v = full(k, k->a, k->m, k->k), q = full(k, c->after->a, k->m, k->n);
    number *x = draw(c, 0, k->n), *y = times(c, &q, 'N', x, 1);

    return same(c, "Q and its reflectors", y, reflect(&v, k, k->k, false, x), k->m, sqrt((double)k->n));
}

static bool check_product(struct check *c)
{
    const struct sc_kernel *k = c->before;
    bool left = k->side == 'L', adjoint = k->transa != 'N';
    struct matrix v = full(k, k->a, left ? k->m : k->n, k->k), from = full(k, k->c, k->m, k->n);
    struct matrix to = full(k, c->after->c, k->m, k->n);
    number *x = draw(c, 0, k->n), *y = times(c, &to, 'N', x, 1), *z;

    if (left)
        z = reflect(&v, k, k->k, adjoint, times(c, &from, 'N', x, 2));
    else
        z = times(c, &from, 'N', reflect(&v, k, k->k, adjoint, x), 2);
    return same(c, "the product with Q", y, z, k->m, norm(&from) * sqrt((double)k->n));
}

/* --- eigenvalues and singular values ------------------------------------------------------------------------------ */

static bool check_orthogonal(struct check *c, const char *what, const struct matrix *v, bool by_rows)
{
    int64_t n = by_rows ? v->rows : v->cols;
    number *x = draw(c, 0, n), *t = times(c, v, by_rows ? 'C' : 'N', x, 1);

    return same(c, what, times(c, v, by_rows ? 'N' : 'C', t, 2), x, n, sqrt((double)n));
}

/* x := W x for real values. */
static number *weigh(const struct sc_kernel *k, int64_t n, number *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= value_at(k, 0, i);
    return x;
}

static number trace(const struct matrix *a)
{
    number sum = 0;

    for (int64_t i = 0; i < a->cols; i++)
        sum += entry(a, i, i);
    return sum;
}

/* The sum of squares of singular values, or of eigenvalues of a Hermitian matrix. */
static bool check_values(struct check *c, const struct matrix *a, int64_t count)
{
    double size = norm(a);
    number sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += value_at(c->after, 0, i) * value_at(c->after, 0, i);
    return same(c, "the norms of A and of its values", &sum, &(number){size * size}, 1, size * size);
}

/* Vectors that a routine has written and the call's record knows of. */
static int64_t found_of(const struct check *c)
{
    return c->after->pivots[0] < c->before->k ? c->after->pivots[0] : c->before->k;
}

/* count: vectors and their values, a part of all in a range. */
static bool check_hermitian(struct check *c, const void *vectors, int64_t count)
{
    const struct sc_kernel *k = c->before;
    struct matrix a = shaped(k, k->a, HERMITIAN, k->uplo), v = full(k, vectors, k->n, count);
    number sum = 0, expected = trace(&a), *x, *y;

    for (int64_t i = 0; i < count; i++)
        sum += value_at(c->after, 0, i);
    if (count == k->n && (!check_values(c, &a, k->n) ||
                          !same(c, "the traces", &sum, &expected, 1, norm(&a) * sqrt((double)k->n))))
        return false;
    if (k->job[0] != 'V')
        return true;
    x = draw(c, 0, count);
    y = times(c, &a, 'N', times(c, &v, 'N', x, 1), 2);
    return same(c, "A V and V W", y, times(c, &v, 'N', weigh(c->after, count, x), 1), k->n,
                norm(&a) * sqrt((double)k->n)) && check_orthogonal(c, "V^H V and I", &v, false);
}

/* Type 1: A V = B V W, 2: A B V = V W, 3: B A V = V W. */
static bool check_generalized(struct check *c, const void *vectors, int64_t count)
{
    const struct sc_kernel *k = c->before;
    struct matrix a = shaped(k, k->a, HERMITIAN, k->uplo), b = shaped(k, k->b, HERMITIAN, k->uplo);
    struct matrix v = full(k, vectors, k->n, count);
    double size = norm(&v), scale;
    number *x, *y, *z;

    if (!check_factor(c, k->b, c->after->b))
        return false;
    if (k->job[0] != 'V')
        return true;
    scale = norm(&a) * norm(&b) * size * (k->kl == 1 ? size * size : 1) * sqrt((double)k->n);
    x = draw(c, 0, count);
    y = times(c, &v, 'N', x, 1);
    y = times(c, k->kl == 2 ? &b : &a, 'N', y, 2);
    if (k->kl > 1)
        y = times(c, k->kl == 2 ? &a : &b, 'N', y, 3);
    z = times(c, &v, 'N', weigh(c->after, count, x), 1);
    if (k->kl == 1)
        z = times(c, &b, 'N', z, 4);
    return same(c, "the eigenvalue problem", y, z, k->n, scale);
}

static number eigenvalue(const struct sc_kernel *k, int64_t i)
{
    if (sc_type_is_complex(k->type))
        return number_at(k->type, k->small[0], i);
    return value_at(k, 0, i) + value_at(k, 1, i) * I;
}

/* Real types: a pair of columns has the parts of two vectors. */
static bool check_general(struct check *c)
{
    const struct sc_kernel *k = c->before;
    bool pairs = !sc_type_is_complex(k->type);
    struct matrix a = full(k, k->a, k->n, k->n), v = full(k, c->after->c, k->n, k->n);
    number sum = 0, expected = trace(&a), *x, *y, *t;

    for (int64_t i = 0; i < k->n; i++)
        sum += eigenvalue(c->after, i);
    if (!same(c, "the traces", &sum, &expected, 1, norm(&a) * sqrt((double)k->n)))
        return false;
    if (k->job[1] != 'V')
        return true;
    x = draw(c, 0, k->n);
    y = times(c, &a, 'N', times(c, &v, 'N', x, 1), 2);
    t = c->vector[3];
    memset(t, 0, (size_t)c->length * sizeof *t);
    for (int64_t i = 0; i < k->n; i++) {
        number w = eigenvalue(c->after, i);
        int64_t pair = cimag(w) > 0 ? i + 1 : i - 1;

        t[i] = (pairs ? creal(w) : w) * x[i];
        if (pairs && cimag(w) != 0 && pair >= 0 && pair < k->n)
            t[i] += cimag(w) * x[pair];
    }
    return same(c, "A V and V W", y, times(c, &v, 'N', t, 1), k->n, norm(&a) * norm(&v) * sqrt((double)k->n));
}

static bool check_singular(struct check *c)
{
    const struct sc_kernel *k = c->before;
    int64_t least = k->m < k->n ? k->m : k->n;
    struct matrix a = full(k, k->a, k->m, k->n);
    struct matrix u = full(k, c->after->b, k->m, sc_op_vectors(k, 0, k->m));
    struct matrix vt = full(k, c->after->c, sc_op_vectors(k, 1, k->n), k->n);
    number *x, *t;

    if (!check_values(c, &a, least) || (u.cols && !check_orthogonal(c, "U^H U and I", &u, false)) ||
        (vt.rows && !check_orthogonal(c, "V^H V and I", &vt, true)))
        return false;
    if (!u.cols || !vt.rows)
        return true;
    x = draw(c, 0, k->n);
    t = weigh(c->after, least, times(c, &vt, 'N', x, 1));
    memset(t + least, 0, (size_t)(c->length - least) * sizeof *t);
    return same(c, "A and U S V^H", times(c, &a, 'N', x, 2), times(c, &u, 'N', t, 3), k->m,
                norm(&a) * sqrt((double)k->n));
}

/* A^H (A X - B) is zero, but for the singular values that rcond leaves out; adjoint: the same with A^H for A. */
static bool check_least_squares(struct check *c, bool adjoint)
{
    const struct sc_kernel *k = c->before;
    int64_t rows = adjoint ? k->n : k->m, cols = adjoint ? k->m : k->n;
    struct matrix a = full(k, k->a, k->m, k->n), b = full(k, k->b, rows, k->k), x = full(k, c->after->b, cols, k->k);
    double limit = k->alpha[0] > 0 ? k->alpha[0] : 0, size = norm(&a);
    number *z = draw(c, 0, k->k), *r, *product;

    b.ld = x.ld = k->m > k->n ? k->m : k->n;
    r = times(c, &b, 'N', z, 1);
    product = times(c, &a, adjoint ? 'C' : 'N', times(c, &x, 'N', z, 2), 3);
    for (int64_t i = 0; i < rows; i++)
        r[i] -= product[i];
    memset(c->vector[3], 0, (size_t)c->length * sizeof(number));
    return same(c, "A^H (A X - B) and 0", times(c, &a, adjoint ? 'N' : 'C', r, 2), c->vector[3], cols,
                (1 + limit / c->size) * size * (size * norm(&x) + norm(&b)) * length_of(z, k->k));
}

/* A^H X is B. */
static bool check_shortest(struct check *c)
{
    const struct sc_kernel *k = c->before;
    struct matrix a = full(k, k->a, k->m, k->n), b = full(k, k->b, k->n, k->k), x = full(k, c->after->b, k->m, k->k);
    number *z = draw(c, 0, k->k), *y;

    b.ld = x.ld = k->m;
    y = times(c, &a, 'C', times(c, &x, 'N', z, 1), 2);
    return same(c, "A^H X and B", y, times(c, &b, 'N', z, 3), k->n,
                (norm(&a) * norm(&x) + norm(&b)) * length_of(z, k->k));
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

/* The operands that the routine reads, without a triangle that is not named. */
static bool are_finite(const struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_kernel_views(k, view);

    for (int i = 0; i < count; i++) {
        struct matrix m = full(k, view[i].ptr, view[i].rows, view[i].cols);

        m.ld = view[i].ld;
        m.shape = view[i].half || (i == 0 && sc_ops[k->op].uplo) ? TRIANGLE : FULL;
        m.uplo = k->uplo;
        if (view[i].access & SC_READ && !isfinite(norm(&m)))
            return false;
    }
    return true;
}

static bool check(struct check *c)
{
    const struct sc_kernel *k = c->before;

    switch (k->op) {
    case SC_OP_POTRF: return check_factor(c, k->a, c->after->a);
    case SC_OP_POTRS: return check_definite_solution(c, k->a);
    case SC_OP_POSV: return check_factor(c, k->a, c->after->a) && check_definite_solution(c, c->after->a);
    case SC_OP_POTRI:
    case SC_OP_TRTRI: return check_inverse(c);
    case SC_OP_LAUUM: return check_lauum(c);
    case SC_OP_GETRF: return check_lu(c, k->m);
    case SC_OP_GETRS: return check_solution(c, k->a, k->transa);
    case SC_OP_GESV: return check_lu(c, k->n) && check_solution(c, c->after->a, 'N');
    case SC_OP_GETRI: return check_getri(c);
    case SC_OP_GEQRF: return check_qr(c);
    case SC_OP_ORGQR: return check_q(c);
    case SC_OP_ORMQR: return check_product(c);
    case SC_OP_SYTRF: return check_blocks(c);
    case SC_OP_SYTRS: return check_symmetric_solution(c, k->a);
    case SC_OP_SYSV: return check_blocks(c) && check_symmetric_solution(c, c->after->a);
    case SC_OP_SYEVD: return check_hermitian(c, c->after->a, k->n);
    case SC_OP_SYEVR: return check_hermitian(c, c->after->b, found_of(c));
    case SC_OP_SYGVD: return check_generalized(c, c->after->a, k->n);
    case SC_OP_SYGVX: return check_generalized(c, c->after->c, found_of(c));
    case SC_OP_GEEV: return check_general(c);
    case SC_OP_GESVD: return check_singular(c);
    case SC_OP_GELSD: return check_least_squares(c, false);
    case SC_OP_GELS:
        return k->transa == 'N' || k->m < k->n ? check_least_squares(c, k->transa != 'N') : check_shortest(c);
    default: return true;
    }
}

bool sc_blas_lapack_holds(const struct sc_kernel *before, const struct sc_kernel *after, struct sc_residual *residual)
{
    bool single = before->type == SC_S || before->type == SC_C, holds = true;
    int64_t m = before->m, n = before->n, k = before->k;
    struct check c = {.before = before, .after = after, .residual = residual, .random = 1,
                      .length = (m > n ? m : n) + k};
    number *space = malloc((size_t)c.length * VECTORS * sizeof *space);

    c.size = ((double)(m > n ? m : n) + 8) * (single ? 0x1p-23 : 0x1p-52);
    for (int i = 0; i < VECTORS && space; i++)
        c.vector[i] = space + i * c.length;
    if (space && are_finite(before))
        holds = check(&c);
    free(space);
    return holds;
}
/* SPDX-License-Identifier: BSD-2-Clause */
