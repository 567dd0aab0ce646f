/* Whole routines of LAPACK, called as a program calls them: lapack_whole seed rounds [first_order last_order].  Linked
 * with a LAPACK only; lapack_whole.t runs the program with every call on devices.  Asserts residuals as LAPACK's
 * testers do, in all types, with leading dimensions above the order.  Memory outside of the results keeps its bits: the
 * triangle that is not named, rows behind the matrix, everything when arguments are invalid or sizes of workspaces are
 * asked for.  Pivots, eigenvalues and INFO lie behind a matrix, on pages that are closed while devices have it.
 * lapack_whole stay order [cholesky]: a factorization and ten solves. */
#define _GNU_SOURCE
#include "tests/lapack_program.h"

enum { ROOM = 24 << 20, LIMIT = 60 }; /* LIMIT: of the ratios */

static uint64_t state;
static char *tracked, still[ROOM], *room; /* `room`: the memory of this round's operands, one of the two */
static size_t used;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

/* In the place of LAPACK's, which may end the program. */
void xerbla_(const char *name, const int *place, size_t length);
void xerbla_(const char *name, const int *place, size_t length)
{
    (void)name, (void)place, (void)length;
}

/* --- matrices of the type ----------------------------------------------------------------------------------------- */

static double real_at(const void *w, int i) { return is_single() ? ((const float *)w)[i] : ((const double *)w)[i]; }

/* Memory of the round, filled with a pattern, at odd places. */
static void *take(size_t bytes)
{
    char *at = room + used;

    used += (bytes + 15) / 16 * 16 + 16 * (size_t)below(3);
    if (used > ROOM) {
        printf("Bail out! too large an order\n");
        exit(1);
    }
    memset(at, 0x4b, bytes);
    return at;
}

static struct matrix matrix(int rows, int cols)
{
    struct matrix m = {.rows = rows, .cols = cols, .ld = rows + (below(2) ? below(5) : 0)};

    m.ld = m.ld > 0 ? m.ld : 1;
    m.bytes = (size_t)m.ld * (size_t)(cols > 0 ? cols : 1) * bytes_of_type();
    m.data = take(m.bytes);
    m.before = malloc(m.bytes);
    memcpy(m.before, m.data, m.bytes);
    return m;
}

static void put(struct matrix *m, int i, int j, number v)
{
    store(m->data, (size_t)i + (size_t)j * (size_t)m->ld, v);
    store(m->before, (size_t)i + (size_t)j * (size_t)m->ld, v);
}

static number draw(void)
{
    double re = (below(2001) - 1000) / 1024.0, im = is_complex() ? (below(2001) - 1000) / 1024.0 : 0;

    return re + im * I;
}

static struct matrix random_matrix(int rows, int cols)
{
    struct matrix m = matrix(rows, cols);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            put(&m, i, j, draw());
    return m;
}

/* Hermitian, only one triangle of it stored.  weight: added to the diagonal. */
static struct matrix hermitian(int n, char uplo, double weight)
{
    struct matrix m = matrix(n, n);

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (in_triangle(uplo, i, j))
                put(&m, i, j, i == j ? creal(draw()) + weight : draw());
    return m;
}

/* Elements of the operand before the call. */
static number whole(const struct matrix *m, char uplo, int i, int j)
{
    return in_triangle(uplo, i, j) ? was(m, i, j) : conj(was(m, j, i));
}

/* A matrix in full, for the checks. */
struct full {
    int rows, cols;
    number *e;
};
static struct full full(int rows, int cols)
{
    return (struct full){rows, cols, calloc((size_t)(rows * cols) + 1, sizeof(number))};
}
#define E(m, i, j) ((m).e[(size_t)(i) + (size_t)(j) * (size_t)(m).rows])

static struct full full_of(const struct matrix *m, int rows, int cols, bool before)
{
    struct full f = full(rows, cols);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            E(f, i, j) = before ? was(m, i, j) : at(m, i, j);
    return f;
}

static struct full full_hermitian(const struct matrix *m, char uplo)
{
    struct full f = full(m->rows, m->cols);

    for (int j = 0; j < m->cols; j++)
        for (int i = 0; i < m->rows; i++)
            E(f, i, j) = whole(m, uplo, i, j);
    return f;
}

/* The triangle of a matrix after the call; unit: with ones on the diagonal. */
static struct full full_triangle(const struct matrix *m, char uplo, bool unit_diagonal, int rows, int cols)
{
    struct full f = full(rows, cols);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            E(f, i, j) = i == j && unit_diagonal ? 1 : in_triangle(uplo, i, j) ? at(m, i, j) : 0;
    return f;
}

static struct full adjoint(struct full a)
{
    struct full f = full(a.cols, a.rows);

    for (int j = 0; j < a.cols; j++)
        for (int i = 0; i < a.rows; i++)
            E(f, j, i) = conj(E(a, i, j));
    return f;
}

static struct full times(struct full a, struct full b)
{
    struct full f = full(a.rows, b.cols);

    for (int j = 0; j < b.cols; j++)
        for (int l = 0; l < a.cols; l++)
            for (int i = 0; i < a.rows; i++)
                E(f, i, j) += E(a, i, l) * E(b, l, j);
    return f;
}

static struct full identity(int n)
{
    struct full f = full(n, n);

    for (int i = 0; i < n; i++)
        E(f, i, i) = 1;
    return f;
}

static double norm(struct full a)
{
    double sum = 0;

    for (int i = 0; i < a.rows * a.cols; i++)
        sum += creal(a.e[i]) * creal(a.e[i]) + cimag(a.e[i]) * cimag(a.e[i]);
    return sqrt(sum);
}

/* |A - B| / (n size unit), at most LIMIT in a right result. */
static void same(struct full a, struct full b, double size, const char *what)
{
    double n = a.rows > a.cols ? a.rows : a.cols, ratio;

    for (int i = 0; i < a.rows * a.cols; i++)
        a.e[i] -= b.e[i];
    ratio = norm(a) / (n * size * unit());
    tap_ok(ratio < LIMIT, "%c%s: ratio %.3g", type, what, ratio);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

#define I32(value) (&(int){value})

/* Workspaces; the rule of LAPACK is asked for. */
struct work {
    char *work, *rwork, *iwork;
    int lwork, lrwork, liwork;
};
static struct work work_for(int n)
{
    int most = 8 * n * n + 200 * n + 1000;

    return (struct work){malloc((size_t)most * 16), malloc((size_t)most * 8), malloc((size_t)most * 8), most, most,
                         most};
}
static void work_free(struct work *w) { free(w->work), free(w->rwork), free(w->iwork); }

static bool kept(const struct matrix *m) { return !memcmp(m->data, m->before, m->bytes); }

static const char *sy(const char *rest, char *name)
{
    sprintf(name, "%s%s", is_complex() ? "he" : "sy", rest);
    return name;
}

/* --- condition numbers -------------------------------------------------------------------------------------------- */

/* The largest sum of absolute values of a column. */
static double norm_of_columns(struct full a)
{
    double most = 0;

    for (int j = 0; j < a.cols; j++) {
        double sum = 0;

        for (int i = 0; i < a.rows; i++)
            sum += cabs(E(a, i, j));
        most = fmax(most, sum);
    }
    return most;
}

/* The reciprocal of a condition number by factors, or INFO.  letter: of the norm; a triangle: the factors are
 * Cholesky's. */
static double condition(const struct matrix *factors, char letter, double size)
{
    struct work w = work_for(factors->rows);
    bool definite = letter == 'U' || letter == 'L';
    float single = (float)size;
    void *result = take(8);
    int *info = take(4);

    CALL(definite ? "pocon" : "gecon", &letter, &factors->rows, factors->data, &factors->ld,
         is_single() ? (const void *)&single : &size, result, w.work, is_complex() ? w.rwork : w.iwork, info);
    work_free(&w);
    return *info ? *info : real_at(result, 0);
}

/* The estimate of the inverse's norm is a lower bound, and seldom far from the norm. */
static void check_condition(const struct matrix *factors, struct full f, struct full inverse, char letter)
{
    struct full a = letter == 'i' ? adjoint(f) : f, x = letter == 'i' ? adjoint(inverse) : inverse;
    double size = norm_of_columns(a), right = 1 / size / norm_of_columns(x), told = condition(factors, letter, size);

    tap_ok(told > 0.9 * right && told < 20 * right, "%c: condition %c of order %d: %g, exact %g", type, letter, f.rows,
           told, right);
}

/* --- Cholesky ----------------------------------------------------------------------------------------------------- */

static struct full factor_of(const struct matrix *a, char uplo)
{
    struct full t = full_triangle(a, uplo, false, a->rows, a->cols);

    return uplo == 'L' ? times(t, adjoint(t)) : times(adjoint(t), t);
}

static void cholesky(int n, char uplo)
{
    struct matrix a = hermitian(n, uplo, 2 * n), b = random_matrix(n, 1 + below(9)), c = hermitian(n, uplo, 2 * n);
    struct matrix factors;
    int *info = take(4), fails = below(n);
    struct full f = full_hermitian(&a, uplo), x, g = full_hermitian(&c, uplo);

    CALL("potrf", &uplo, &n, a.data, &a.ld, info, I32(1));
    tap_ok(*info == 0 && rest_is_kept(&a, uplo), "%cpotrf %c %d", type, uplo, n);
    same(factor_of(&a, uplo), f, norm(f), "potrf");
    CALL("potrs", &uplo, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, info);
    x = full_of(&b, n, b.cols, false);
    tap_ok(*info == 0 && rest_is_kept(&b, 0), "%cpotrs", type);
    same(times(f, x), full_of(&b, n, b.cols, true), norm(f) * norm(x), "potrs");
    factors = a;
    factors.data = memcpy(take(a.bytes), a.data, a.bytes);
    CALL("potri", &uplo, &n, a.data, &a.ld, info);
    memcpy(a.before, a.data, a.bytes);
    x = full_hermitian(&a, uplo);
    same(times(x, f), identity(n), norm(f) * norm(x), "potri");
    check_condition(&factors, f, x, uplo);

    memcpy(b.before, b.data, b.bytes);
    CALL("posv", &uplo, &n, &b.cols, c.data, &c.ld, b.data, &b.ld, info);
    x = full_of(&b, n, b.cols, false);
    tap_ok(*info == 0 && rest_is_kept(&c, uplo), "%cposv", type);
    same(times(g, x), full_of(&b, n, b.cols, true), norm(g) * norm(x), "posv");

    a = hermitian(n, uplo, 2 * n);
    put(&a, fails, fails, -1);
    memcpy(b.before, b.data, b.bytes);
    CALL("posv", &uplo, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, info);
    tap_ok(*info == fails + 1 && kept(&b), "%cposv: no factor of the minor of order %d, B is kept", type, fails + 1);
}

/* --- LU ----------------------------------------------------------------------------------------------------------- */

static struct full permuted(struct full a, const int *pivots, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < a.cols; j++) {
            number swap = E(a, i, j);

            E(a, i, j) = E(a, pivots[i] - 1, j);
            E(a, pivots[i] - 1, j) = swap;
        }
    return a;
}

/* The inverse of F from its factors. */
static void inverse(int n, struct matrix *factors, struct full f, const int *pivots)
{
    struct work w = work_for(n);
    int *info = take(4), minus = -1;
    char *copy = malloc(factors->bytes);
    struct full x;

    memcpy(factors->before, factors->data, factors->bytes);
    memcpy(copy, factors->data, factors->bytes);
    CALL("getri", &n, factors->data, &factors->ld, pivots, w.work, &minus, info);
    tap_ok(*info == 0 && creal(load(w.work, 0)) >= n && kept(factors), "%cgetri tells the size of its workspace", type);
    CALL("getri", &n, factors->data, &factors->ld, pivots, w.work, I32(n - 1), info);
    tap_ok(*info == -6 && kept(factors), "%cgetri: a short workspace", type);
    CALL("getri", &n, factors->data, &factors->ld, pivots, w.work, &w.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(factors, 0), "%cgetri %d", type, n);
    x = full_of(factors, n, n, false);
    same(times(f, x), identity(n), norm(f) * norm(x), "getri");
    memcpy(factors->data, copy, factors->bytes);
    check_condition(factors, f, x, '1');
    check_condition(factors, f, x, 'i');
    tap_ok(condition(factors, 'X', 1) == -1, "%cgecon: an invalid letter", type);
    tap_ok(condition(factors, 'O', 0) == 0, "%cgecon of a matrix of norm 0", type);
    memset(factors->data, 0, bytes_of_type());
    memcpy(factors->before, factors->data, factors->bytes);
    CALL("getri", &n, factors->data, &factors->ld, pivots, w.work, &w.lwork, info);
    tap_ok(*info == 1 && kept(factors), "%cgetri of a zero on the diagonal", type);
    tap_ok(condition(factors, '1', 1) == 0, "%cgecon of a zero on the diagonal", type);
    work_free(&w);
    free(copy);
}

static void lu(int m, int n)
{
    int least = m < n ? m : n, *pivots, *info;
    struct matrix a = random_matrix(m, n), s, b;
    struct full f = full_of(&a, m, n, true), x, product;

    pivots = take(4 * (size_t)(m > n ? m : n));
    info = take(4);
    CALL("getrf", &m, &n, a.data, &a.ld, pivots, info);
    product = times(full_triangle(&a, 'L', true, m, least), full_triangle(&a, 'U', false, least, n));
    tap_ok(*info == 0 && rest_is_kept(&a, 0), "%cgetrf %d x %d", type, m, n);
    same(product, permuted(full_of(&a, m, n, true), pivots, least), norm(f), "getrf");

    s = random_matrix(n, n);
    b = random_matrix(n, 1 + below(9));
    f = full_of(&s, n, n, true);
    CALL("gesv", &n, &b.cols, s.data, &s.ld, pivots, b.data, &b.ld, info);
    x = full_of(&b, n, b.cols, false);
    tap_ok(*info == 0, "%cgesv", type);
    same(times(f, x), full_of(&b, n, b.cols, true), norm(f) * norm(x), "gesv");
    memcpy(b.before, b.data, b.bytes);
    CALL("getrs", "C", &n, &b.cols, s.data, &s.ld, pivots, b.data, &b.ld, info);
    x = full_of(&b, n, b.cols, false);
    same(times(adjoint(f), x), full_of(&b, n, b.cols, true), norm(f) * norm(x), "getrs");

    inverse(n, &s, f, pivots);
    s = random_matrix(n, n);
    for (int i = 0; i < n; i++)
        put(&s, i, n / 2, 0);
    memcpy(b.before, b.data, b.bytes);
    CALL("gesv", &n, &b.cols, s.data, &s.ld, pivots, b.data, &b.ld, info);
    tap_ok(*info == n / 2 + 1 && kept(&b), "%cgesv: a column of zeros, B is kept", type);
}

/* --- symmetric matrices, also complex ones ------------------------------------------------------------------------ */

static struct matrix symmetric(int n, char uplo)
{
    struct matrix m = matrix(n, n);

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (in_triangle(uplo, i, j))
                put(&m, i, j, draw());
    return m;
}

static struct full full_symmetric(const struct matrix *m, char uplo)
{
    struct full f = full(m->rows, m->cols);

    for (int j = 0; j < m->cols; j++)
        for (int i = 0; i < m->rows; i++)
            E(f, i, j) = in_triangle(uplo, i, j) ? was(m, i, j) : was(m, j, i);
    return f;
}

static void indefinite(int n, char uplo)
{
    struct work w = work_for(n);
    struct matrix a = symmetric(n, uplo), s = symmetric(n, uplo), b = random_matrix(n, 1 + below(9));
    struct full f = full_symmetric(&a, uplo), g = full_symmetric(&s, uplo), x;
    int *pivots = take(4 * (size_t)n), *info = take(4), minus = -1;

    CALL("sytrf", &uplo, &n, a.data, &a.ld, pivots, w.work, &minus, info);
    tap_ok(*info == 0 && creal(load(w.work, 0)) >= 1 && kept(&a), "%csytrf tells the size of its workspace", type);
    CALL("sytrf", &uplo, &n, a.data, &a.ld, pivots, w.work, &w.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&a, uplo), "%csytrf %c %d", type, uplo, n);
    CALL("sytrs", &uplo, &n, &b.cols, a.data, &a.ld, pivots, b.data, &b.ld, info);
    x = full_of(&b, n, b.cols, false);
    tap_ok(*info == 0 && rest_is_kept(&b, 0), "%csytrs", type);
    same(times(f, x), full_of(&b, n, b.cols, true), norm(f) * norm(x), "sytrs");

    memcpy(b.before, b.data, b.bytes);
    CALL("sysv", &uplo, &n, &b.cols, s.data, &s.ld, pivots, b.data, &b.ld, w.work, &w.lwork, info);
    x = full_of(&b, n, b.cols, false);
    tap_ok(*info == 0 && rest_is_kept(&s, uplo), "%csysv %c %d", type, uplo, n);
    same(times(g, x), full_of(&b, n, b.cols, true), norm(g) * norm(x), "sysv");

    for (int i = 0; i < n; i++) /* a row and a column of zeros */
        put(&a, in_triangle(uplo, i, n / 2) ? i : n / 2, in_triangle(uplo, i, n / 2) ? n / 2 : i, 0);
    memcpy(b.before, b.data, b.bytes);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (in_triangle(uplo, i, j) && i != n / 2 && j != n / 2)
                put(&a, i, j, i == j ? 1 : 0);
    memcpy(a.before, a.data, a.bytes);
    CALL("sysv", &uplo, &n, &b.cols, a.data, &a.ld, pivots, b.data, &b.ld, w.work, &w.lwork, info);
    tap_ok(*info == n / 2 + 1 && kept(&b), "%csysv: a block of zeros, B is kept", type);
    work_free(&w);
}

static void triangles(int n, char uplo)
{
    struct matrix a = random_matrix(n, n), b = random_matrix(n, n);
    struct full t, u;
    int *info = take(4);

    for (int i = 0; i < n; i++)
        put(&a, i, i, n + 1);
    t = full_triangle(&a, uplo, false, n, n);
    CALL("trtri", &uplo, "N", &n, a.data, &a.ld, info);
    tap_ok(*info == 0 && rest_is_kept(&a, uplo), "%ctrtri %c", type, uplo);
    u = full_triangle(&a, uplo, false, n, n);
    same(times(t, u), identity(n), norm(t) * norm(u), "trtri");
    t = full_triangle(&b, uplo, false, n, n);
    for (int i = 0; i < n; i++) { /* the product of factors has real diagonals */
        put(&b, i, i, creal(at(&b, i, i)));
        E(t, i, i) = creal(E(t, i, i));
    }
    CALL("lauum", &uplo, &n, b.data, &b.ld, info);
    tap_ok(*info == 0 && rest_is_kept(&b, uplo), "%clauum %c", type, uplo);
    t = uplo == 'U' ? times(t, adjoint(t)) : times(adjoint(t), t);
    u = full_triangle(&b, uplo, false, n, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            E(t, i, j) = in_triangle(uplo, i, j) ? E(t, i, j) : 0;
    same(u, t, norm(t), "lauum");
}

/* --- QR ----------------------------------------------------------------------------------------------------------- */

static void qr(int m, int n)
{
    int least = m < n ? m : n, *info;
    struct matrix a = random_matrix(m, n), q = matrix(m, least), c = random_matrix(m, 5);
    struct work w = work_for(m > n ? m : n);
    struct full r, orthogonal, f = full_of(&a, m, n, true);
    char name[16], trans = is_complex() ? 'C' : 'T';
    void *tau = take((size_t)least * 16);

    info = take(4);
    CALL("geqrf", &m, &n, a.data, &a.ld, tau, w.work, &w.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&a, 0), "%cgeqrf %d x %d", type, m, n);
    r = full_triangle(&a, 'U', false, least, n);
    for (int j = 0; j < least; j++)
        for (int i = 0; i < m; i++)
            put(&q, i, j, at(&a, i, j));
    sprintf(name, "%sgqr", is_complex() ? "un" : "or");
    CALL(name, &m, &least, &least, q.data, &q.ld, tau, w.work, &w.lwork, info);
    orthogonal = full_of(&q, m, least, false);
    tap_ok(*info == 0 && rest_is_kept(&q, 0), "%c%s", type, name);
    same(times(orthogonal, r), f, norm(f), "geqrf");
    same(times(adjoint(orthogonal), orthogonal), identity(least), 1, name);
    sprintf(name, "%smqr", is_complex() ? "un" : "or");
    CALL(name, "L", &trans, &m, &c.cols, &least, a.data, &a.ld, tau, c.data, &c.ld, w.work, &w.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&c, 0), "%c%s", type, name);
    r = full_of(&c, least, 5, false);
    same(r, times(adjoint(orthogonal), full_of(&c, m, 5, true)), norm(r), name);
    work_free(&w);
}

/* Column pivoting: |A P - Q R| and a diagonal of R that does not grow.  factor: column j has the size factor^j. */
static void pivoted(int m, int n, double factor)
{
    int least = m < n ? m : n, *info = take(4), *places = take(4 * (size_t)n), minus = -1;
    struct matrix a = matrix(m, n), q = matrix(m, least);
    struct work w = work_for(m > n ? m : n);
    struct full f, p = full(m, n), r, orthogonal;
    void *tau = take((size_t)least * 16);
    bool ordered = true;
    char name[8];

    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            put(&a, i, j, pow(factor, j) * draw());
    f = full_of(&a, m, n, true);
    memset(places, 0, 4 * (size_t)n);
    if (is_complex())
        CALL("geqp3", &m, &n, a.data, &a.ld, places, tau, w.work, &minus, w.rwork, info);
    else
        CALL("geqp3", &m, &n, a.data, &a.ld, places, tau, w.work, &minus, info);
    tap_ok(*info == 0 && creal(load(w.work, 0)) >= n && kept(&a), "%cgeqp3 tells the size of its workspace", type);
    if (is_complex())
        CALL("geqp3", &m, &n, a.data, &a.ld, places, tau, w.work, &w.lwork, w.rwork, info);
    else
        CALL("geqp3", &m, &n, a.data, &a.ld, places, tau, w.work, &w.lwork, info);
    r = full_triangle(&a, 'U', false, least, n);
    for (int j = 0; j < least; j++)
        for (int i = 0; i < m; i++)
            put(&q, i, j, at(&a, i, j));
    sprintf(name, "%sgqr", is_complex() ? "un" : "or");
    tap_ok(*info == 0 && rest_is_kept(&a, 0), "%cgeqp3 %d x %d", type, m, n);
    CALL(name, &m, &least, &least, q.data, &q.ld, tau, w.work, &w.lwork, info);
    orthogonal = full_of(&q, m, least, false);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m && places[j] >= 1 && places[j] <= n; i++)
            E(p, i, j) = E(f, i, places[j] - 1);
    for (int i = 1; i < least; i++)
        ordered = ordered && cabs(E(r, i, i)) <= cabs(E(r, i - 1, i - 1)) + LIMIT * unit() * norm(f);
    tap_ok(ordered, "%cgeqp3: the diagonal of R does not grow", type);
    same(times(orthogonal, r), p, norm(f), "geqp3");
    work_free(&w);
}

/* --- eigenvalues -------------------------------------------------------------------------------------------------- */

static struct full diagonal(const void *w, int n)
{
    struct full d = full(n, n);

    for (int i = 0; i < n; i++)
        E(d, i, i) = real_at(w, i);
    return d;
}

static void check_eigen(struct full f, struct full v, const void *w, const void *values, const char *what)
{
    double worst = 0;
    int n = f.rows;

    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(real_at(w, i) - real_at(values, i)));
        if (i && !(real_at(w, i) >= real_at(w, i - 1)))
            worst = INFINITY;
    }
    tap_ok(worst <= LIMIT * n * unit() * norm(f), "%c%s: eigenvalues with and without vectors", type, what);
    same(times(f, v), times(v, diagonal(w, n)), norm(f), what);
    same(times(adjoint(v), v), identity(n), 1, what);
}

static void eigen(int n, char uplo)
{
    struct work k = work_for(n);
    char name[16];
    static const char *const names[] = {"ev", "evd"};

    for (int i = 0; i < 2; i++) {
        struct matrix a = hermitian(n, uplo, 0), b = matrix(n, n);
        void *w = take((size_t)n * 8), *values = take((size_t)n * 8);
        int *info = take(4);

        memcpy(b.data = take(a.bytes), a.before, a.bytes);
        sy(names[i], name);
        if (is_complex() && i) {
            CALL(name, "V", &uplo, &n, a.data, &a.ld, w, k.work, &k.lwork, k.rwork, &k.lrwork, k.iwork, &k.liwork,
                 info);
            CALL(name, "N", &uplo, &n, b.data, &a.ld, values, k.work, &k.lwork, k.rwork, &k.lrwork, k.iwork, &k.liwork,
                 info);
        } else if (is_complex()) {
            CALL(name, "V", &uplo, &n, a.data, &a.ld, w, k.work, &k.lwork, k.rwork, info);
            CALL(name, "N", &uplo, &n, b.data, &a.ld, values, k.work, &k.lwork, k.rwork, info);
        } else if (i) {
            CALL(name, "V", &uplo, &n, a.data, &a.ld, w, k.work, &k.lwork, k.iwork, &k.liwork, info);
            CALL(name, "N", &uplo, &n, b.data, &a.ld, values, k.work, &k.lwork, k.iwork, &k.liwork, info);
        } else {
            CALL(name, "V", &uplo, &n, a.data, &a.ld, w, k.work, &k.lwork, info);
            CALL(name, "N", &uplo, &n, b.data, &a.ld, values, k.work, &k.lwork, info);
        }
        tap_ok(*info == 0 && rest_is_kept(&a, 0), "%c%s %d", type, name, n);
        check_eigen(full_hermitian(&a, uplo), full_of(&a, n, n, false), w, values, name);
    }
    work_free(&k);
}

/* ?syevr and ?syevx: vectors in another array. */
static void eigen_apart(int n, char uplo, bool relative)
{
    struct work k = work_for(n);
    char name[16], jobs[] = "VN";
    struct matrix a = hermitian(n, uplo, 0), z = matrix(n, n);
    void *w[2] = {take((size_t)n * 8), take((size_t)n * 8)};
    int *support = take((size_t)n * 8), *found = take(4), *info = take(4);
    double zero = 0;

    for (int i = 0; i < 2; i++) {
        char *job = &jobs[i];
        void *copy = memcpy(take(a.bytes), a.before, a.bytes);

        sy(relative ? "evr" : "evx", name);
#define FIRST job, "A", &uplo, &n, copy, &a.ld, &zero, &zero, I32(1), I32(n), &zero, found, w[i], z.data, &z.ld
        if (relative && is_complex())
            CALL(name, FIRST, support, k.work, &k.lwork, k.rwork, &k.lrwork, k.iwork, &k.liwork, info);
        else if (relative)
            CALL(name, FIRST, support, k.work, &k.lwork, k.iwork, &k.liwork, info);
        else if (is_complex())
            CALL(name, FIRST, k.work, &k.lwork, k.rwork, k.iwork, support, info);
        else
            CALL(name, FIRST, k.work, &k.lwork, k.iwork, support, info);
        tap_ok(*info == 0 && *found == n && rest_is_kept(&z, 0), "%c%s %d", type, name, n);
    }
    if (relative)
        tap_ok(support[0] == 1 && support[1] == n && support[2 * n - 1] == n, "%c%s: support", type, name);
    check_eigen(full_hermitian(&a, uplo), full_of(&z, n, n, false), w[0], w[1], name);
    work_free(&k);
}

/* A Hermitian matrix with the eigenvalues `value`, by random reflections. */
static struct matrix with_values(int n, char uplo, const double *value)
{
    struct matrix m = matrix(n, n);
    struct full a = full(n, n), v = full(n, 1), w;

    for (int i = 0; i < n; i++)
        E(a, i, i) = value[i];
    for (int round = 0; round < 3; round++) {
        double length;

        for (int i = 0; i < n; i++)
            E(v, i, 0) = draw();
        length = norm(v);
        for (int i = 0; i < n && length > 0; i++)
            E(v, i, 0) /= length;
        for (int side = 0; side < 2; side++) { /* A := (I - 2 v v^H) A, then the same for A^H */
            w = times(adjoint(v), a);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++)
                    E(a, i, j) -= 2 * E(v, i, 0) * E(w, 0, j);
            a = adjoint(a);
        }
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (in_triangle(uplo, i, j))
                put(&m, i, j, i == j ? creal(E(a, i, j)) : E(a, i, j));
    return m;
}

/* Ascending values: even, in two clusters, graded over many powers of ten, or of low rank. */
static void spectrum(int n, int kind, double *value)
{
    for (int i = 0; i < n; i++)
        value[i] = kind == 0 ? i - n / 3 + 0.25 : kind == 1 ? (i < n / 2 ? -1 : 2) + 4 * unit() * i
                 : kind == 2 ? pow(10, (is_single() ? 8.0 : 16.0) * (i - n + 1) / n) : i < n - 3 ? 0 : i - n + 4;
}

enum range_of { RELATIVE, EXPERT, GENERALIZED };

/* Ranges of eigenvalues by number and by value, from routines with vectors in another array. */
static void eigen_range(int n, char uplo, enum range_of what, int kind)
{
    static const char *const names[] = {"evr", "evx", "gvx"};
    struct work k = work_for(n);
    double *value = malloc((size_t)n * sizeof *value), limits[2];
    float singles[2];
    int first = 1 + below(n), last = first + below(n - first + 1), by_value = below(2), *info = take(4);
    struct matrix a, b = hermitian(n, uplo, 2 * n), z = matrix(n, last - first + 1);
    struct full f, g = full_hermitian(&b, uplo), v, right;
    void *w = take((size_t)n * 8);
    int *found = take(4), *support = take((size_t)n * 8), itype = 1;
    char name[8], range[2] = {by_value ? 'V' : 'I', 0};
    const void *low = is_single() ? (void *)&singles[0] : &limits[0];
    const void *high = is_single() ? (void *)&singles[1] : &limits[1];
    const double zero = 0;

    spectrum(n, kind, value);
    if (what == GENERALIZED || kind) /* values between which no limit can be drawn */
        range[0] = 'I';
    a = with_values(n, uplo, value);
    limits[0] = value[first - 1] - 0.5, limits[1] = value[last - 1] + 0.5;
    singles[0] = (float)limits[0], singles[1] = (float)limits[1];
    f = full_hermitian(&a, uplo);
    sy(names[what], name);
#define RANGE "V", range, &uplo, &n, a.data, &a.ld
#define RESULT low, high, &first, &last, &zero, found, w, z.data, &z.ld
    if (what == RELATIVE && is_complex())
        CALL(name, RANGE, RESULT, support, k.work, &k.lwork, k.rwork, &k.lrwork, k.iwork, &k.liwork, info);
    else if (what == RELATIVE)
        CALL(name, RANGE, RESULT, support, k.work, &k.lwork, k.iwork, &k.liwork, info);
    else if (what == EXPERT && is_complex())
        CALL(name, RANGE, RESULT, k.work, &k.lwork, k.rwork, k.iwork, support, info);
    else if (what == EXPERT)
        CALL(name, RANGE, RESULT, k.work, &k.lwork, k.iwork, support, info);
    else if (is_complex())
        CALL(name, &itype, RANGE, b.data, &b.ld, RESULT, k.work, &k.lwork, k.rwork, k.iwork, support, info);
    else
        CALL(name, &itype, RANGE, b.data, &b.ld, RESULT, k.work, &k.lwork, k.iwork, support, info);
    tap_ok(*info == 0 && *found == last - first + 1 && rest_is_kept(&z, 0), "%c%s %s %d of %d values", type, name,
           range, *found, n);
    v = full_of(&z, n, z.cols, false);
    right = what == GENERALIZED ? times(g, v) : v;
    same(times(f, v), times(right, diagonal(w, z.cols)), norm(f) * norm(v) * (what == GENERALIZED ? norm(g) : 1), name);
    if (what != GENERALIZED) {
        double worst = 0;

        for (int i = 0; i < z.cols; i++)
            worst = fmax(worst, fabs(real_at(w, i) - value[first - 1 + i]));
        tap_ok(worst <= LIMIT * n * unit() * norm(f), "%c%s: the values from %d on", type, name, first);
    }
    same(times(adjoint(v), right), identity(z.cols), what == GENERALIZED ? norm(g) : 1, name);
    work_free(&k);
    free(value);
}

static void eigen_general(int n, char uplo, int itype)
{
    struct work k = work_for(n);
    struct matrix a = hermitian(n, uplo, 0), b = hermitian(n, uplo, 2 * n);
    void *w = take((size_t)n * 8);
    int *info = take(4);
    char name[16];
    struct full f = full_hermitian(&a, uplo), g = full_hermitian(&b, uplo), v, left, right;

    sy(below(2) ? "gv" : "gvd", name);
    if (name[4] == 'd' && is_complex())
        CALL(name, &itype, "V", &uplo, &n, a.data, &a.ld, b.data, &b.ld, w, k.work, &k.lwork, k.rwork, &k.lrwork,
             k.iwork, &k.liwork, info);
    else if (name[4] == 'd')
        CALL(name, &itype, "V", &uplo, &n, a.data, &a.ld, b.data, &b.ld, w, k.work, &k.lwork, k.iwork, &k.liwork, info);
    else if (is_complex())
        CALL(name, &itype, "V", &uplo, &n, a.data, &a.ld, b.data, &b.ld, w, k.work, &k.lwork, k.rwork, info);
    else
        CALL(name, &itype, "V", &uplo, &n, a.data, &a.ld, b.data, &b.ld, w, k.work, &k.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&b, uplo), "%c%s %d %d", type, name, itype, n);
    v = full_of(&a, n, n, false);
    left = itype == 1 ? times(f, v) : itype == 2 ? times(f, times(g, v)) : times(g, times(f, v));
    right = itype == 1 ? times(times(g, v), diagonal(w, n)) : times(v, diagonal(w, n));
    same(left, right, norm(f) * norm(g) * norm(v), name);
    work_free(&k);
}

static void general(int n)
{
    struct work k = work_for(n);
    struct matrix a = random_matrix(n, n), l = matrix(n, n), r = matrix(n, n);
    void *w = take((size_t)n * 16), *wi = take((size_t)n * 8);
    struct full f = full_of(&a, n, n, true), v = full(n, n), d = full(n, n);
    int *info = take(4);

    if (is_complex())
        CALL("geev", "V", "V", &n, a.data, &a.ld, w, l.data, &l.ld, r.data, &r.ld, k.work, &k.lwork, k.rwork, info);
    else
        CALL("geev", "N", "V", &n, a.data, &a.ld, w, wi, l.data, &l.ld, r.data, &r.ld, k.work, &k.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&r, 0) && (is_complex() || kept(&l)), "%cgeev %d", type, n);
    for (int j = 0; j < n; j++) {
        double im = is_complex() ? 0 : real_at(wi, j);
        int pair = im > 0 ? j + 1 : j - 1;

        E(d, j, j) = is_complex() ? load(w, (size_t)j) : real_at(w, j) + im * I;
        for (int i = 0; i < n; i++)
            E(v, i, j) = im == 0 ? at(&r, i, j) : im > 0 ? at(&r, i, j) + I * at(&r, i, pair)
                                                         : at(&r, i, pair) - I * at(&r, i, j);
    }
    same(times(f, v), times(v, d), norm(f) * norm(v), "geev");
    work_free(&k);
}

/* --- singular values ---------------------------------------------------------------------------------------------- */

static void singular(int m, int n, char job, bool divides)
{
    int least = m < n ? m : n;
    struct matrix a = random_matrix(m, n), u = matrix(m, job == 'A' ? m : job == 'S' ? least : 0);
    struct matrix vt = matrix(job == 'A' ? n : job == 'S' ? least : 1, job == 'N' ? 0 : n);
    struct work k = work_for(m > n ? m : n);
    void *s = take((size_t)least * 8);
    int *info = take(4);
    struct full f = full_of(&a, m, n, true), d = full(least, least), p, q;
    double sum = 0;

    if (divides && is_complex())
        CALL("gesdd", &job, &m, &n, a.data, &a.ld, s, u.data, &u.ld, vt.data, &vt.ld, k.work, &k.lwork, k.rwork,
             k.iwork, info);
    else if (divides)
        CALL("gesdd", &job, &m, &n, a.data, &a.ld, s, u.data, &u.ld, vt.data, &vt.ld, k.work, &k.lwork, k.iwork, info);
    else if (is_complex())
        CALL("gesvd", &job, &job, &m, &n, a.data, &a.ld, s, u.data, &u.ld, vt.data, &vt.ld, k.work, &k.lwork, k.rwork,
             info);
    else
        CALL("gesvd", &job, &job, &m, &n, a.data, &a.ld, s, u.data, &u.ld, vt.data, &vt.ld, k.work, &k.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&u, 0) && rest_is_kept(&vt, 0), "%c%s %c %d x %d", type,
           divides ? "gesdd" : "gesvd", job, m, n);
    for (int i = 0; i < least; i++) {
        E(d, i, i) = real_at(s, i);
        sum += real_at(s, i) * real_at(s, i);
    }
    tap_ok(fabs(sqrt(sum) - norm(f)) <= LIMIT * least * unit() * norm(f), "%c: the norm of the singular values", type);
    if (job != 'N') {
        p = full_of(&u, m, least, false);
        q = full_of(&vt, least, n, false);
        same(times(times(p, d), q), f, norm(f), "gesdd");
        p = full_of(&u, m, u.cols, false);
        same(times(adjoint(p), p), identity(u.cols), 1, "gesdd, U");
        q = full_of(&vt, vt.rows, n, false);
        same(times(q, adjoint(q)), identity(vt.rows), 1, "gesdd, V");
    }
    work_free(&k);
}

/* --- least squares ------------------------------------------------------------------------------------------------ */

static void least_squares(int m, int n, bool deficient)
{
    int most = m > n ? m : n, least = m < n ? m : n, *rank, *info;
    struct matrix a = random_matrix(m, n), b = random_matrix(most, 3);
    struct work k = work_for(most);
    void *s = take((size_t)least * 8);
    struct full f, x, right, r;
    const char *name = below(2) ? "gelsd" : "gelss";
    double few = is_single() ? 1e-4 : 1e-10, bits;
    float few_single = (float)few;
    const void *limit = is_single() ? (void *)&few_single : (void *)&few;

    rank = take(4);
    info = take(4);
    for (int i = 0; i < m && deficient && n > 1; i++)
        put(&a, i, n - 1, at(&a, i, 0));
    f = full_of(&a, m, n, true);
    right = full_of(&b, m, 3, true);
#define SYSTEM &m, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, s, limit, rank, k.work, &k.lwork
    if (name[4] == 'd' && is_complex())
        CALL(name, SYSTEM, k.rwork, k.iwork, info);
    else if (name[4] == 'd')
        CALL(name, SYSTEM, k.iwork, info);
    else if (is_complex())
        CALL(name, SYSTEM, k.rwork, info);
    else
        CALL(name, SYSTEM, info);
    tap_ok(*info == 0 && *rank == (deficient && n > 1 && n <= m ? n - 1 : least), "%c%s %d x %d: rank %d", type, name,
           m, n, *rank);
    x = full_of(&b, n, 3, false);
    r = times(f, x);
    for (int i = 0; i < m * 3; i++)
        r.e[i] -= right.e[i];
    same(times(adjoint(f), r), full(n, 3), norm(f) * (norm(f) * norm(x) + norm(right)), name);
    if (m > n && *rank == n) {
        bits = 0;
        for (int j = 0; j < 3; j++)
            for (int i = n; i < m; i++)
                bits += creal(at(&b, i, j) * conj(at(&b, i, j)));
        tap_ok(fabs(sqrt(bits) - norm(r)) <= LIMIT * m * unit() * norm(right), "%c%s: the rows below x", type, name);
    }
    work_free(&k);
}

/* ?gels of full rank.  scale: of A.  An adjoint system has its shortest solution. */
static void full_rank(int m, int n, double scale)
{
    int most = m > n ? m : n, *info = take(4), minus = -1;
    bool transposed = below(2);
    struct matrix a = random_matrix(m, n), b = random_matrix(most, 1 + below(4));
    struct work k = work_for(most);
    char trans = !transposed ? 'N' : is_complex() ? 'C' : 'T';
    struct full f, x, right, r, op;
    int rows = transposed ? n : m, cols = transposed ? m : n;

    f = full_of(&a, m, n, true);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            put(&a, i, j, scale * at(&a, i, j));
    right = full_of(&b, rows, b.cols, true);
    op = transposed ? adjoint(f) : f;
    CALL("gels", &trans, &m, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, k.work, &minus, info);
    tap_ok(*info == 0 && creal(load(k.work, 0)) >= 1 && kept(&a) && kept(&b), "%cgels tells the size of its workspace",
           type);
    CALL("gels", &trans, &m, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, k.work, &k.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&a, 0) && rest_is_kept(&b, 0), "%cgels %c %d x %d", type, trans, m, n);
    x = full_of(&b, cols, b.cols, false);
    for (int i = 0; i < cols * b.cols; i++)
        x.e[i] *= scale;
    r = times(op, x);
    for (int i = 0; i < rows * b.cols; i++)
        r.e[i] -= right.e[i];
    if (rows <= cols)
        same(r, full(rows, b.cols), norm(f) * norm(x) + norm(right), "gels");
    else
        same(times(adjoint(op), r), full(cols, b.cols), norm(f) * (norm(f) * norm(x) + norm(right)), "gels");
    work_free(&k);
}

/* ?gels of a column of zeros, and of zeros only. */
static void no_rank(int m, int n)
{
    struct matrix a, b;
    struct work k = work_for(m);
    int *info = take(4);

    for (int zeros = 0; zeros < 2; zeros++) {
        bool none = true;

        a = random_matrix(m, n), b = random_matrix(m, 2);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                if (zeros || j == n - 1)
                    put(&a, i, j, 0);
        CALL("gels", "N", &m, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, k.work, &k.lwork, info);
        for (int i = 0; i < m; i++)
            none = none && at(&b, i, 0) == 0 && at(&b, i, 1) == 0;
        tap_ok(zeros || n == 1 ? *info == 0 && none : *info == n, "%cgels of %s zeros: INFO %d", type,
               zeros ? "a matrix of" : "a column of", *info);
    }
    work_free(&k);
}

/* --- factors that stay on the device ------------------------------------------------------------------------------ */

/* A factorization and ten solves, of which the CPU writes and reads the right sides only. */
static int stay(int n, bool definite)
{
    double *a = malloc((size_t)n * (size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), worst = 0;
    int *pivots = malloc((size_t)n * sizeof *pivots), info;

    type = 'd';
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[i + (size_t)j * (size_t)n] = i == j ? n : 1.0 / (1 + abs(i - j));
    if (definite)
        CALL("potrf", "L", &n, a, &n, &info);
    else
        CALL("getrf", &n, &n, a, &n, pivots, &info);
    for (int round = 0; round < 10 && info == 0; round++) {
        for (int i = 0; i < n; i++) { /* of the solution 1, 1, 1, ... */
            b[i] = n;
            for (int j = 0; j < n; j++)
                b[i] += j == i ? 0 : 1.0 / (1 + abs(i - j));
        }
        if (definite)
            CALL("potrs", "L", &n, I32(1), a, &n, b, &n, &info);
        else
            CALL("getrs", "N", &n, I32(1), a, &n, pivots, b, &n, &info);
        for (int i = 0; i < n; i++)
            worst = fmax(worst, fabs(b[i] - 1));
    }
    printf("info %d, worst error %g: %s\n", info, worst, info == 0 && worst < 1e-12 ? "ok" : "wrong");
    return !(info == 0 && worst < 1e-12);
}

/* --- calls that are the host's ------------------------------------------------------------------------------------ */

static void refused(int n)
{
    struct matrix a = hermitian(n, 'U', 2 * n), b = random_matrix(n, 3);
    struct work k = work_for(n);
    int *info = take(4), *pivots = take(4 * (size_t)n), minus = -1, none = 0;
    char name[16];
    void *w = take((size_t)n * 8);

    CALL("geqrf", &n, &n, a.data, &a.ld, w, k.work, &minus, info);
    tap_ok(*info == 0 && creal(load(k.work, 0)) >= n && kept(&a), "%cgeqrf tells the size of its workspace", type);
    if (is_complex())
        CALL(sy("evd", name), "V", "U", &n, a.data, &a.ld, w, k.work, &minus, k.rwork, &minus, k.iwork, &minus, info);
    else
        CALL(sy("evd", name), "V", "U", &n, a.data, &a.ld, w, k.work, &minus, k.iwork, &minus, info);
    tap_ok(*info == 0 && creal(load(k.work, 0)) >= n && *(int *)k.iwork >= n && kept(&a), "so does %c%s", type, name);
    CALL("potrf", "X", &n, a.data, &a.ld, info);
    tap_ok(*info == -1 && kept(&a), "%cpotrf: an invalid letter", type);
    CALL("gesv", &n, &b.cols, a.data, I32(n - 1), pivots, b.data, &b.ld, info);
    tap_ok(*info == -4 && kept(&a) && kept(&b), "%cgesv: a leading dimension below the order", type);
    CALL("gesv", &none, &b.cols, a.data, &a.ld, pivots, b.data, &b.ld, info);
    tap_ok(*info == 0 && kept(&b), "%cgesv of order 0", type);
    CALL("gesv", &n, &none, a.data, &a.ld, pivots, b.data, &b.ld, info);
    tap_ok(*info == 0, "%cgesv without right sides", type);
    work_free(&k);
}

static void not_a_number(int m, int n)
{
    struct matrix a = random_matrix(m, n);
    struct work k = work_for(m > n ? m : n);
    void *s = take((size_t)(m < n ? m : n) * 8);
    int *info = take(4);

    put(&a, m / 2, n / 2, NAN);
    if (is_complex())
        CALL("gesdd", "N", &m, &n, a.data, &a.ld, s, a.data, &a.ld, a.data, I32(n), k.work, &k.lwork, k.rwork, k.iwork,
             info);
    else
        CALL("gesdd", "N", &m, &n, a.data, &a.ld, s, a.data, &a.ld, a.data, I32(n), k.work, &k.lwork, k.iwork, info);
    tap_ok(*info == -4, "%cgesdd: INFO of a matrix with no number is -4", type);
    work_free(&k);
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 2, first = argc > 3 ? atoi(argv[3]) : 1;
    int last = argc > 4 ? atoi(argv[4]) : 60;

    if (argc > 2 && !strcmp(argv[1], "stay"))
        return stay(atoi(argv[2]), argc > 3);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    tracked = malloc(ROOM);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < 4; t++) {
            int n = first + below(last - first + 1), m = first + below(last - first + 1);
            char uplo = "UL"[below(2)];

            type = "sdcz"[t];
            room = below(3) ? tracked : still;
            used = (size_t)below(64) * 16;
            cholesky(n, uplo);
            lu(m, n);
            triangles(n, uplo);
            qr(m, n);
            eigen(n, uplo);
            eigen_apart(n, uplo, below(2));
            eigen_general(n, uplo, 1 + below(3));
            general(n);
            singular(m, n, "NSA"[below(3)], below(2));
            least_squares(m, n, below(2));
            indefinite(n, uplo);
            pivoted(m, n, below(2) ? 1 : 0.25);
            eigen_range(n, uplo, (enum range_of)below(3), below(4));
            full_rank(m, n, below(3) ? 1 : is_single() ? 0x1p-110 : 0x1p-980);
            if (n <= m)
                no_rank(m, n);
            not_a_number(m, n);
            if (n > 1)
                refused(n);
        }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
