/* Factorizations of LAPACK and their uses, called as a program calls them: lapack_whole seed rounds [first_order
 * last_order].  Linked with a LAPACK only; lapack_whole.t runs the program with every call on devices.  Asserts
 * residuals as LAPACK's testers do, in all types, with leading dimensions above the order.  Memory outside of the
 * results keeps its bits: the triangle that is not named, rows behind the matrix, everything when arguments are invalid
 * or sizes of workspaces are asked for.  Pivots and INFO lie behind a matrix, on pages that are closed while devices
 * have it.
 * lapack_whole stay order [cholesky]: a factorization and ten solves. */
#define _GNU_SOURCE
#include "tests/lapack_random.h"

/* The triangle of a matrix after the call; unit: with ones on the diagonal. */
static struct full full_triangle(const struct matrix *m, char uplo, bool unit_diagonal, int rows, int cols)
{
    struct full f = full(rows, cols);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            E(f, i, j) = i == j && unit_diagonal ? 1 : in_triangle(uplo, i, j) ? at(m, i, j) : 0;
    return f;
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

/* ?latdf reads a vector that ?gecon leaves in its workspace, for matrices of up to 8 rows. */
static void check_null_vector(void)
{
    int n = 1 + below(8), *info = take(4);
    struct matrix a = hermitian(n, 'U', 2 * n);
    struct work w = work_for(n);
    char *result = take(8), *vector = w.work + (size_t)n * bytes_of_type();
    bool written = false;

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            put(&a, i, j, i == j ? n : 0.25);
    store(result, 0, 1); /* the norm */
    memset(w.work, 0x4b, 4 * (size_t)n * bytes_of_type());
    CALL("gecon", "I", &n, a.data, &a.ld, result, take(8), w.work, is_complex() ? w.rwork : w.iwork, info);
    for (size_t i = 0; i < (size_t)n * bytes_of_type(); i++)
        written = written || (is_complex() ? w.work : vector)[i] != 0x4b;
    tap_ok(*info == 0 && written, "%cgecon of order %d leaves a vector in its workspace", type, n);
    work_free(&w);
}

/* The estimate of the inverse's norm is a lower bound, and seldom far from the norm. */
static void check_condition(const struct matrix *factors, struct full f, struct full inverse, char letter)
{
    struct full a = letter == 'i' ? adjoint(f) : f, x = letter == 'i' ? adjoint(inverse) : inverse;
    double size = norm_of_columns(a), right = 1 / size / norm_of_columns(x), told = condition(factors, letter, size);

    tap_ok(told > 0.9 * right && told < 20 * right, "%c: condition %c of order %d: %g, exact %g", type, letter, f.rows,
           told, right);
}

/* --- norms -------------------------------------------------------------------------------------------------------- */

/* A function with up to eight arguments by address.  The rest, lengths of letters, is not read. */
static double function(const char *name, const void *const a[8])
{
    typedef double in_double(P, P, P, P, P, P, P, P, size_t, size_t, size_t);
    typedef float in_single(P, P, P, P, P, P, P, P, size_t, size_t, size_t);
    char symbol[16];
    void *fn;

    sprintf(symbol, "%c%s_", type, name);
    fn = dlsym(RTLD_DEFAULT, symbol);
    if (!fn)
        return NAN;
    return is_single() ? (double)((in_single *)fn)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], 1, 1, 1)
                       : ((in_double *)fn)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], 1, 1, 1);
}
#define FUNCTION(name, ...) function(name, (const void *[8]){__VA_ARGS__})

static double norm_of_letter(struct full a, char letter)
{
    double most = 0;

    for (int i = 0; i < a.rows * a.cols && letter == 'M'; i++)
        most = fmax(most, cabs(a.e[i]));
    return letter == 'M' ? most : letter == 'F' ? norm(a) : norm_of_columns(letter == 'I' ? adjoint(a) : a);
}

static void check_norm(const char *name, char letter, double told, struct full f)
{
    double right = norm_of_letter(f, letter);

    tap_ok(fabs(told - right) <= LIMIT * (f.rows + f.cols) * unit() * right, "%c%s %c of %d x %d: %g, exact %g", type,
           name, letter, f.rows, f.cols, told, right);
}

static struct full full_symmetric(const struct matrix *m, char uplo)
{
    struct full f = full(m->rows, m->cols);

    for (int j = 0; j < m->cols; j++)
        for (int i = 0; i < m->rows; i++)
            E(f, i, j) = in_triangle(uplo, i, j) ? was(m, i, j) : was(m, j, i);
    return f;
}

/* Of a matrix that the CPU has written, with the smallest and the largest squares; of zeros; and of no number. */
static void norms_of_written(int n, char uplo)
{
    static const double scales[] = {1, 0x1p-600, 0x1p600, 0};
    double *work = malloc((size_t)n * sizeof *work), scale = scales[below(4)], told;
    char letter[2] = {"mOieF"[below(5)], 0}, upper = *letter == 'O' ? '1' : *letter == 'e' ? 'F' : *letter & ~0x20;
    struct matrix a = random_matrix(n, n);

    for (int j = 0; j < n && !is_single(); j++)
        for (int i = 0; i < n; i++)
            put(&a, i, j, scale * was(&a, i, j));
    scale = is_single() || scale == 0 ? 1 : scale;
    told = FUNCTION("lansy", letter, &uplo, &n, a.data, &a.ld, work);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            put(&a, i, j, was(&a, i, j) / scale);
    check_norm("lansy", upper, told / scale, full_symmetric(&a, uplo));
    put(&a, below(n), below(n), NAN);
    told = FUNCTION("lange", letter, &n, &n, a.data, &a.ld, work);
    tap_ok(isnan(told), "%clange %s of a matrix with an element that is no number: %g", type, letter, told);
    told = FUNCTION("lange", letter, I32(0), &n, a.data, &a.ld, work);
    tap_ok(told == 0, "%clange of no rows", type);
    free(work);
}

/* Norms of matrices that devices have just overwritten. */
static void norms(int m, int n, char uplo)
{
    char letter[2] = {"M1IF"[below(4)], 0}, diag[2] = {"Un"[below(2)], 0};
    struct matrix a = random_matrix(m, n), b = hermitian(n, uplo, 2 * n), c = hermitian(n, uplo, 2 * n);
    int *pivots = take(4 * (size_t)(m + n)), *info = take(4);
    double *work = malloc((size_t)(m + n) * sizeof *work), told;

    CALL("getrf", &m, &n, a.data, &a.ld, pivots, info);
    told = FUNCTION("lange", letter, &m, &n, a.data, &a.ld, work);
    check_norm("lange", *letter, told, full_of(&a, m, n, false));
    told = FUNCTION("lantr", letter, &uplo, diag, &m, &n, a.data, &a.ld, work);
    check_norm("lantr", *letter, told, full_triangle(&a, uplo, *diag == 'U', m, n));
    CALL("potrf", &uplo, &n, b.data, &b.ld, info);
    told = FUNCTION("lantr", letter, &uplo, "N", &n, &n, b.data, &b.ld, work);
    check_norm("lantr", *letter, told, full_triangle(&b, uplo, false, n, n));
    CALL("potrf", &uplo, &n, c.data, &c.ld, info);
    CALL("potri", &uplo, &n, c.data, &c.ld, info);
    told = FUNCTION(is_complex() ? "lanhe" : "lansy", letter, &uplo, &n, c.data, &c.ld, work);
    memcpy(c.before, c.data, c.bytes);
    check_norm("lansy", *letter, told, full_hermitian(&c, uplo));
    free(work);
}

/* --- Cholesky ----------------------------------------------------------------------------------------------------- */

static struct full factor_of(const struct matrix *a, char uplo)
{
    struct full t = full_triangle(a, uplo, false, a->rows, a->cols);

    return uplo == 'L' ? times(t, adjoint(t)) : times(adjoint(t), t);
}

/* Of a spectrum; kind SPECTRA: a random matrix. */
static struct matrix matrix_of(int m, int n, int kind)
{
    double *value = malloc((size_t)(m + n) * sizeof *value);
    struct matrix of = kind < SPECTRA ? with_singular_values(m, n, kind, value) : random_matrix(m, n);

    free(value);
    return of;
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
    static const int kinds[] = {SPECTRA, CLUSTERS, GRADED}; /* of full rank */
    /* A graded matrix in single precision may have a last pivot of zero. */
    struct matrix a = matrix_of(m, n, kinds[below(is_single() ? 2 : 3)]), s, b;
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
    struct matrix a = matrix_of(m, n, below(SPECTRA + 1)), q = matrix(m, least), c = random_matrix(m, 5);
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

/* --- least squares of full rank ----------------------------------------------------------------------------------- */

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
    if (m < n && scale == 1) {
        struct full l = full_triangle(&a, 'L', false, m, m);

        same(times(l, adjoint(l)), times(f, adjoint(f)), norm(f) * norm(f), "gels, L");
    }
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

/* The reciprocal condition number from factors, after norms of the factors.  The CPU reads one number of each. */
static bool is_conditioned(int n, const double *a, bool definite)
{
    double *work = malloc(4 * (size_t)n * sizeof *work), anorm = 4 * n, most, right;
    int *iwork = malloc((size_t)n * sizeof *iwork), info;

    most = definite ? FUNCTION("lantr", "M", "L", "N", &n, &n, a, &n, work)
                    : FUNCTION("lange", "M", &n, &n, a, &n, work);
    if (definite)
        CALL("pocon", "L", &n, a, &n, &anorm, &right, work, iwork, &info);
    else
        CALL("gecon", "1", &n, a, &n, &anorm, &right, work, iwork, &info);
    free(work), free(iwork);
    return info == 0 && most > sqrt(n) / 2 && most <= n && right > 0.01 && right <= 1;
}

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
    if (info == 0 && !is_conditioned(n, a, definite))
        info = -1000;
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

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void all(int m, int n, char uplo)
{
    cholesky(n, uplo);
    lu(m, n);
    triangles(n, uplo);
    qr(m, n);
    indefinite(n, uplo);
    pivoted(m, n, below(2) ? 1 : 0.25);
    full_rank(m, n, below(3) ? 1 : is_single() ? 0x1p-110 : 0x1p-980);
    if (n <= m)
        no_rank(m, n);
    if (n > 1)
        refused(n);
    check_null_vector();
    norms(m, n, uplo);
    norms_of_written(n, uplo);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "stay"))
        return stay(atoi(argv[2]), argc > 3);
    run_rounds(argc, argv, all);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
