/* Factorizations, their solutions and inverses of triangles, of an order at which blocks of columns lie on several
 * devices, called as a program calls them: lapack_columns ROUTINE order [order...]; lapack_columns clock ROUTINE order
 * calls the routine twice, for devices that compute nothing.  lapack_columns.t runs the program with every call on
 * devices.
 * Asserts, in all types and for both triangles, with leading dimensions above the order: |A x - L (L^H x)| and its like
 * within LAPACK's threshold for the tests of linear equations, for random vectors x; INFO of a matrix without factors;
 * and the bits of the memory that is not the result's. */
#define _GNU_SOURCE
#include "tests/lapack_program.h"

enum { THRESHOLD = 30, PAD = 3, VECTORS = 2, SIDES = 5 }; /* THRESHOLD: of LAPACK's testers, dtest.in */

static uint64_t state = 20261122;

static double draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 33) / (double)(UINT64_C(1) << 31) - 0.5;
}

static number draw_number(void) { return draw() + (is_complex() ? draw() : 0) * I; }

static void put(const struct matrix *m, int i, int j, number v)
{
    store(m->data, (size_t)i + (size_t)j * (size_t)m->ld, v);
}
static size_t bytes_of(const struct matrix *m) { return (size_t)m->ld * (size_t)m->cols * bytes_of_type(); }

static void keep(struct matrix *m) { memcpy(m->before, m->data, bytes_of(m)); }
static bool is_kept(const struct matrix *m) { return !memcmp(m->before, m->data, bytes_of(m)); }

static struct matrix new_matrix(int rows, int cols, number (*value)(int i, int j))
{
    struct matrix m = {.rows = rows, .cols = cols, .ld = rows + PAD};

    m.data = malloc(bytes_of(&m));
    m.before = malloc(bytes_of(&m));
    memset(m.data, 0x4b, bytes_of(&m));
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            put(&m, i, j, value(i, j));
    keep(&m);
    return m;
}

static void free_matrix(struct matrix *m) { free(m->data), free(m->before); }

/* --- vectors ------------------------------------------------------------------------------------------------------ */

/* y := op(T) x, for the elements of `value` in a triangle (uplo 0: in all of the matrix).  unit: ones on the
 * diagonal. */
struct part {
    const struct matrix *m;
    number (*value)(const struct matrix *m, int i, int j);
    char uplo;
    bool unit;
};
static void apply(struct part p, bool adjoint, int rows, int cols, const number *x, number *y)
{
    for (int i = 0; i < (adjoint ? cols : rows); i++)
        y[i] = 0;
    for (int j = 0; j < cols; j++)
        for (int i = p.uplo == 'L' ? j : 0; i < (p.uplo == 'U' && j + 1 < rows ? j + 1 : rows); i++) {
            number v = p.unit && i == j ? 1 : p.value(p.m, i, j);

            if (adjoint)
                y[j] += conj(v) * x[i];
            else
                y[i] += v * x[j];
        }
}

/* y := A x for a Hermitian matrix of which a triangle was stored. */
static void apply_hermitian(const struct matrix *m, char uplo, const number *x, number *y)
{
    for (int i = 0; i < m->rows; i++)
        y[i] = 0;
    for (int j = 0; j < m->cols; j++)
        for (int i = uplo == 'L' ? j : 0; i <= (uplo == 'U' ? j : m->rows - 1); i++) {
            number v = was(m, i, j);

            y[i] += v * x[j];
            if (i != j)
                y[j] += conj(v) * x[i];
        }
}

static double norm_of(const struct matrix *m, char uplo) /* Frobenius, before the call */
{
    double sum = 0;

    for (int j = 0; j < m->cols; j++)
        for (int i = 0; i < m->rows; i++)
            if (!uplo || in_triangle(uplo, i, j))
                sum += (uplo && i != j ? 2 : 1) * creal(was(m, i, j) * conj(was(m, i, j)));
    return sqrt(sum);
}

static double norm(const number *x, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += creal(x[i] * conj(x[i]));
    return sqrt(sum);
}

/* |x - y| / (n size unit) of a right result is below the threshold. */
static void same(const number *x, const number *y, int n, double size, const char *what)
{
    double sum = 0, ratio;

    for (int i = 0; i < n; i++)
        sum += creal((x[i] - y[i]) * conj(x[i] - y[i]));
    ratio = sqrt(sum) / (n * size * unit());
    tap_ok(ratio < THRESHOLD, "%c%s: ratio %.3g", type, what, ratio);
}

static number *vector(int n, bool random)
{
    number *x = calloc((size_t)n, sizeof *x);

    for (int i = 0; i < n && random; i++)
        x[i] = draw_number();
    return x;
}

/* --- Cholesky ----------------------------------------------------------------------------------------------------- */

/* Definite, with rows of sizes from 1 to 2^-10 and, in complex types, of every phase. */
static number definite(int i, int j)
{
    number phase = is_complex() ? cexp(I * (i - j)) : 1;

    return (1.0 / (1 + abs(i - j) / 8.0) + (i == j)) * phase * ldexp(1, -(i % 11) - (j % 11));
}

static number random_value(int i, int j) { return (void)i, (void)j, draw_number(); }

static void check_cholesky(const struct matrix *a, char uplo)
{
    int n = a->rows;
    struct part factor = {.m = a, .value = at, .uplo = uplo};
    double size = norm_of(a, uplo);

    for (int v = 0; v < VECTORS; v++) {
        number *x = vector(n, true), *y = vector(n, false), *z = vector(n, false);

        apply(factor, uplo == 'L', n, n, x, y);
        apply(factor, uplo == 'U', n, n, y, z);
        apply_hermitian(a, uplo, x, y);
        same(z, y, n, size * norm(x, n), uplo == 'L' ? "potrf L" : "potrf U");
        free(x), free(y), free(z);
    }
}

/* The solutions of A X = B, A as before its factorization.  kind: the triangle of a Hermitian matrix, or T or C for the
 * transposed or adjoint matrix.  Of many right sides a few are checked. */
static void check_solutions(const struct matrix *a, char kind, const struct matrix *b, const char *what)
{
    bool hermitian = kind == 'L' || kind == 'U';
    double size = norm_of(a, hermitian ? kind : 0);
    int n = a->rows;

    for (int j = 0; j < b->cols; j += b->cols / SIDES) {
        number *x = vector(n, false), *y = vector(n, false), *z = vector(n, false);

        for (int i = 0; i < n; i++) {
            x[i] = kind == 'T' ? conj(at(b, i, j)) : at(b, i, j);
            z[i] = kind == 'T' ? conj(was(b, i, j)) : was(b, i, j);
        }
        if (hermitian)
            apply_hermitian(a, kind, x, y);
        else
            apply((struct part){.m = a, .value = was}, kind, n, n, x, y);
        same(y, z, n, size * norm(x, n), what);
        free(x), free(y), free(z);
    }
}

static void cholesky(int n, char uplo)
{
    struct matrix a = new_matrix(n, n, definite), b = new_matrix(n, SIDES, random_value);
    int info = 7, fails = n / 2 + n / 8;

    CALL("potrf", &uplo, &n, a.data, &a.ld, &info);
    tap_ok(info == 0 && rest_is_kept(&a, uplo), "%cpotrf %c %d", type, uplo, n);
    check_cholesky(&a, uplo);
    CALL("potrs", &uplo, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, &info);
    tap_ok(info == 0 && rest_is_kept(&b, 0), "%cpotrs %c %d", type, uplo, n);
    check_solutions(&a, uplo, &b, "potrs");
    free_matrix(&a);

    a = new_matrix(n, n, definite);
    put(&a, fails, fails, -1);
    keep(&a);
    CALL("potrf", &uplo, &n, a.data, &a.ld, &info);
    tap_ok(info == fails + 1 && rest_is_kept(&a, uplo), "%cpotrf %c: no factor of the minor of order %d", type, uplo,
           fails + 1);
    memcpy(a.data, a.before, bytes_of(&a));
    memcpy(b.data, b.before, bytes_of(&b));
    CALL("posv", &uplo, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, &info);
    tap_ok(info == fails + 1 && !memcmp(b.data, b.before, bytes_of(&b)), "%cposv %c leaves the right sides", type,
           uplo);
    free_matrix(&a);

    a = new_matrix(n, n, definite);
    memcpy(b.data, b.before, bytes_of(&b));
    CALL("posv", &uplo, &n, &b.cols, a.data, &a.ld, b.data, &b.ld, &info);
    tap_ok(info == 0 && rest_is_kept(&a, uplo), "%cposv %c %d", type, uplo, n);
    check_solutions(&a, uplo, &b, "posv");
    free_matrix(&a);
    free_matrix(&b);
}

/* An inverse of a triangle that is singular in its first, a middle or its last row and in rows behind the first zero.
 * The matrix is at home, then also on devices, which have solved with it. */
static void check_singular(struct matrix *a, char uplo, bool by_factors)
{
    struct matrix b = new_matrix(a->rows, SIDES, random_value);
    int n = a->rows, info = 7, rows[] = {n - 1, n / 2 + n / 8, 0};

    for (int i = 0; i < 3; i++) {
        int row = rows[i];

        put(a, row, row, row % 2 ? 0.0 : -0.0);
        keep(a);
        for (int there = 0; there < 2; there++) {
            if (there)
                CALL("potrs", &uplo, &n, &b.cols, a->data, &a->ld, b.data, &b.ld, &info);
            if (by_factors)
                CALL("potri", &uplo, &n, a->data, &a->ld, &info);
            else
                CALL("trtri", &uplo, "N", &n, a->data, &a->ld, &info);
            tap_ok(info == row + 1 && is_kept(a), "%c%s %c of a matrix that is singular in row %d%s", type,
                   by_factors ? "potri" : "trtri", uplo, row, there ? ", on devices" : "");
        }
    }
    free_matrix(&b);
}

/* Y x = z, Y being the hermitian matrix whose triangle is stored, and x from A x = z. */
static void cholesky_inverse(int n, char uplo)
{
    struct matrix a = new_matrix(n, n, definite), b = new_matrix(n, SIDES, random_value);
    int info = 7;

    CALL("potrf", &uplo, &n, a.data, &a.ld, &info);
    tap_ok(info == 0, "%cpotrf %c %d", type, uplo, n);
    CALL("potri", &uplo, &n, a.data, &a.ld, &info);
    tap_ok(info == 0 && rest_is_kept(&a, uplo), "%cpotri %c %d", type, uplo, n);
    for (int i = 0; i < SIDES * n; i++) { /* the solution by the inverse, in the place of a routine's */
        number sum = 0;

        for (int j = 0; j < n; j++)
            sum += (in_triangle(uplo, i % n, j) ? at(&a, i % n, j) : conj(at(&a, j, i % n))) * was(&b, j, i / n);
        put(&b, i % n, i / n, sum);
    }
    check_solutions(&a, uplo, &b, "potri");
    check_singular(&a, uplo, true);
    free_matrix(&a);
    free_matrix(&b);
}

/* --- inverses of triangles ---------------------------------------------------------------------------------------- */

static number dominant(int i, int j)
{
    return (i == j ? 2 : 0.1) * draw_number() * ldexp(1, -abs(i - j) / 16) + (i == j) * (3.0 + i % 3);
}

static void inverse(int n, char uplo, char diag)
{
    struct matrix a = new_matrix(n, n, dominant);
    struct part before = {.m = &a, .value = was, .uplo = uplo, .unit = diag == 'U'}, after = before;
    int info = 7;

    after.value = at;
    CALL("trtri", &uplo, &diag, &n, a.data, &a.ld, &info);
    tap_ok(info == 0 && rest_is_kept(&a, uplo), "%ctrtri %c%c %d", type, uplo, diag, n);
    for (int v = 0; v < VECTORS; v++) {
        number *x = vector(n, true), *y = vector(n, false), *z = vector(n, false);

        apply(after, false, n, n, x, y);
        apply(before, false, n, n, y, z);
        same(z, x, n, norm_of(&a, uplo) * norm(y, n), "trtri");
        free(x), free(y), free(z);
    }
    if (diag == 'U')
        for (int i = 0; i < n; i++)
            if (at(&a, i, i) != was(&a, i, i))
                tap_ok(false, "the diagonal has changed in row %d", i);
    check_singular(&a, uplo, false);
    free_matrix(&a);
}

/* --- LU ----------------------------------------------------------------------------------------------------------- */

/* |P A x - L (U x)|, where P has the interchanges of the pivots. */
static void check_lu(const struct matrix *a, const int *pivots)
{
    int m = a->rows, n = a->cols, least = m < n ? m : n;
    double size = norm_of(a, 0);

    for (int v = 0; v < VECTORS; v++) {
        number *x = vector(n, true), *y = vector(m, false), *z = vector(m, false);

        apply((struct part){.m = a, .value = at, .uplo = 'U'}, false, least, n, x, y);
        apply((struct part){.m = a, .value = at, .uplo = 'L', .unit = true}, false, m, least, y, z);
        apply((struct part){.m = a, .value = was}, false, m, n, x, y);
        for (int i = 0; i < least; i++) {
            number swap = y[i];

            y[i] = y[pivots[i] - 1];
            y[pivots[i] - 1] = swap;
        }
        same(z, y, m, size * norm(x, n), "getrf");
        free(x), free(y), free(z);
    }
}

static bool pivots_are_valid(const int *pivots, int count, int m)
{
    bool valid = true;

    for (int i = 0; i < count; i++)
        valid = valid && pivots[i] > i && pivots[i] <= m;
    return valid;
}

static bool multipliers_are_small(const struct matrix *a)
{
    bool small = true;

    for (int j = 0; j < a->cols; j++)
        for (int i = j + 1; i < a->rows; i++)
            small = small && cabs(at(a, i, j)) < 1.5;
    return small;
}

static void lu(int m, int n)
{
    struct matrix a = new_matrix(m, n, random_value);
    int *pivots = malloc((size_t)(m + n) * sizeof *pivots), info = 7, least = m < n ? m : n;

    CALL("getrf", &m, &n, a.data, &a.ld, pivots, &info);
    tap_ok(info == 0 && rest_is_kept(&a, 0) && pivots_are_valid(pivots, least, m) && multipliers_are_small(&a),
           "%cgetrf %d x %d", type, m, n);
    check_lu(&a, pivots);
    free_matrix(&a);
    free(pivots);
}

static number singular_value(int i, int j) { return j == 211 ? 0 : random_value(i, j); }

static void lu_solutions(int n, int sides)
{
    struct matrix a = new_matrix(n, n, random_value), b = new_matrix(n, sides, random_value);
    int *pivots = malloc((size_t)n * sizeof *pivots), info = 7;

    CALL("gesv", &n, &b.cols, a.data, &a.ld, pivots, b.data, &b.ld, &info);
    tap_ok(info == 0 && rest_is_kept(&a, 0) && rest_is_kept(&b, 0), "%cgesv %d, %d right sides", type, n, sides);
    check_solutions(&a, 0, &b, "gesv");
    for (const char *trans = "TC"; *trans; trans++) {
        memcpy(b.data, b.before, bytes_of(&b));
        CALL("getrs", trans, &n, &b.cols, a.data, &a.ld, pivots, b.data, &b.ld, &info);
        tap_ok(info == 0 && rest_is_kept(&b, 0), "%cgetrs %c", type, *trans);
        check_solutions(&a, *trans, &b, "getrs");
    }
    free_matrix(&a);
    a = new_matrix(n, n, singular_value);
    CALL("getrf", &n, &n, a.data, &a.ld, pivots, &info);
    tap_ok(info == 212, "%cgetrf: a zero on the diagonal", type);
    check_lu(&a, pivots);
    memcpy(a.data, a.before, bytes_of(&a));
    memcpy(b.data, b.before, bytes_of(&b));
    CALL("gesv", &n, &b.cols, a.data, &a.ld, pivots, b.data, &b.ld, &info);
    tap_ok(info == 212 && !memcmp(b.data, b.before, bytes_of(&b)), "%cgesv leaves the right sides", type);
    free_matrix(&a);
    free_matrix(&b);
    free(pivots);
}

/* X z for the inverse X, and A x = z; the inverse of a singular matrix leaves its factors. */
static void lu_inverse(int n)
{
    struct matrix a = new_matrix(n, n, random_value), b = new_matrix(n, SIDES, random_value);
    int *pivots = malloc((size_t)n * sizeof *pivots), info = 7, size = 64 * n;
    char *work = malloc((size_t)size * 16);

    CALL("getrf", &n, &n, a.data, &a.ld, pivots, &info);
    CALL("getri", &n, a.data, &a.ld, pivots, work, &size, &info);
    tap_ok(info == 0 && rest_is_kept(&a, 0), "%cgetri %d", type, n);
    for (int j = 0; j < SIDES; j++) { /* the solution by the inverse, in the place of a routine's */
        number *z = vector(n, false), *x = vector(n, false);

        for (int i = 0; i < n; i++)
            z[i] = was(&b, i, j);
        apply((struct part){.m = &a, .value = at}, false, n, n, z, x);
        for (int i = 0; i < n; i++)
            put(&b, i, j, x[i]);
        free(z), free(x);
    }
    check_solutions(&a, 0, &b, "getri");
    free_matrix(&a);
    a = new_matrix(n, n, singular_value);
    CALL("getrf", &n, &n, a.data, &a.ld, pivots, &info);
    keep(&a);
    CALL("getri", &n, a.data, &a.ld, pivots, work, &size, &info);
    tap_ok(info == 212 && !memcmp(a.data, a.before, bytes_of(&a)), "%cgetri: a zero on the diagonal", type);
    free_matrix(&a);
    free_matrix(&b);
    free(pivots), free(work);
}

/* --- QR ----------------------------------------------------------------------------------------------------------- */

/* |A x - Q (R x)| and |Q^H Q x - x|, products with Q by LAPACK. */
static void qr(int m, int n)
{
    struct matrix a = new_matrix(m, n, random_value), y = new_matrix(m, 1, random_value);
    int info = 7, least = m < n ? m : n, size = 64 * (m + n);
    char *tau = malloc((size_t)least * 16), *work = malloc((size_t)size * 16);
    const char *product = is_complex() ? "unmqr" : "ormqr", *adjoint = is_complex() ? "C" : "T";
    double norm_a = norm_of(&a, 0);
    number *x = vector(m > n ? m : n, true), *z = vector(m, false), *r = vector(m, false);

    CALL("geqrf", &m, &n, a.data, &a.ld, tau, work, &size, &info);
    tap_ok(info == 0 && rest_is_kept(&a, 0), "%cgeqrf %d x %d", type, m, n);
    apply((struct part){.m = &a, .value = at, .uplo = 'U'}, false, least, n, x, z);
    for (int i = 0; i < m; i++)
        put(&y, i, 0, i < least ? z[i] : 0);
    CALL(product, "L", "N", &m, &y.cols, &least, a.data, &a.ld, tau, y.data, &y.ld, work, &size, &info);
    apply((struct part){.m = &a, .value = was}, false, m, n, x, z);
    for (int i = 0; i < m; i++)
        r[i] = at(&y, i, 0);
    same(r, z, m, norm_a * norm(x, n), "geqrf");
    for (int i = 0; i < m; i++)
        put(&y, i, 0, x[i % n]);
    keep(&y);
    CALL(product, "L", "N", &m, &y.cols, &least, a.data, &a.ld, tau, y.data, &y.ld, work, &size, &info);
    CALL(product, "L", adjoint, &m, &y.cols, &least, a.data, &a.ld, tau, y.data, &y.ld, work, &size, &info);
    for (int i = 0; i < m; i++) {
        r[i] = at(&y, i, 0);
        z[i] = was(&y, i, 0);
    }
    same(r, z, m, norm(z, m), "geqrf, Q");
    free_matrix(&a);
    free_matrix(&y);
    free(tau), free(work), free(x), free(z), free(r);
}

/* |A x - Q (R x)| and |Q^H Q x - x|, with the columns of Q that ?orgqr makes in the place of the reflectors. */
static void orthogonal(int m, int n)
{
    struct matrix a = new_matrix(m, n, random_value), q = new_matrix(m, n, random_value);
    int info = 7, size = 64 * (m + n);
    char *tau = malloc((size_t)n * 16), *work = malloc((size_t)size * 16);
    number *x = vector(n, true), *y = vector(n, false), *z = vector(m, false), *r = vector(m, false);
    double norm_a = norm_of(&a, 0);

    memcpy(q.data, a.data, bytes_of(&a));
    keep(&q);
    CALL("geqrf", &m, &n, q.data, &q.ld, tau, work, &size, &info);
    apply((struct part){.m = &a, .value = was}, false, m, n, x, z);
    for (int j = 0; j < n; j++) /* R in the place of A */
        for (int i = 0; i <= j; i++)
            put(&a, i, j, at(&q, i, j));
    CALL(is_complex() ? "ungqr" : "orgqr", &m, &n, &n, q.data, &q.ld, tau, work, &size, &info);
    tap_ok(info == 0 && rest_is_kept(&q, 0), "%corgqr %d x %d", type, m, n);
    apply((struct part){.m = &a, .value = at, .uplo = 'U'}, false, n, n, x, y);
    apply((struct part){.m = &q, .value = at}, false, m, n, y, r);
    same(r, z, m, norm_a * norm(x, n), "orgqr");
    apply((struct part){.m = &q, .value = at}, false, m, n, x, z);
    apply((struct part){.m = &q, .value = at}, true, m, n, z, y);
    same(y, x, n, norm(x, n), "orgqr, Q^H Q");
    free_matrix(&a);
    free_matrix(&q);
    free(tau), free(work), free(x), free(y), free(z), free(r);
}

/* The matrix is never touched. */
static void twice(const char *routine, int n)
{
    double *a = malloc((size_t)n * (size_t)n * sizeof *a), *tau = malloc((size_t)n * sizeof *tau);
    int *pivots = malloc((size_t)n * sizeof *pivots), info = 7;

    type = 'd';
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++) /* without data a factorization leaves no pivots */
            pivots[i] = i + 1;
        if (!strcmp(routine, "getrf"))
            CALL(routine, &n, &n, a, &n, pivots, &info);
        else if (!strcmp(routine, "geqrf"))
            CALL(routine, &n, &n, a, &n, tau, tau, &n, &info);
        else if (!strcmp(routine, "getri") && round)
            CALL(routine, &n, a, &n, pivots, tau, &n, &info);
        else if (!strcmp(routine, "getri"))
            CALL("getrf", &n, &n, a, &n, pivots, &info);
        else if (!strcmp(routine, "potri"))
            CALL(round ? "potri" : "potrf", "L", &n, a, &n, &info);
        else if (!strcmp(routine, "trtri"))
            CALL(routine, "L", "U", &n, a, &n, &info);
        else
            CALL(routine, "L", &n, a, &n, &info);
        tap_ok(info == 0, "d%s %d", routine, n);
    }
    free(pivots);
    free(tau);
    free(a);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "clock")) {
        twice(argv[2], atoi(argv[3]));
        return tap_done();
    }
    for (int i = 2; i < argc; i++)
        for (int t = 0; t < 4; t++) {
            type = "sdcz"[t];
            if (!strcmp(argv[1], "potrf")) {
                cholesky(atoi(argv[i]), 'L');
                cholesky(atoi(argv[i]), 'U');
            } else if (!strcmp(argv[1], "potri")) {
                cholesky_inverse(atoi(argv[i]), 'L');
                cholesky_inverse(atoi(argv[i]), 'U');
            } else if (!strcmp(argv[1], "getri")) {
                lu_inverse(atoi(argv[i]));
            } else if (!strcmp(argv[1], "orgqr")) {
                orthogonal(atoi(argv[i]), atoi(argv[i]));
                orthogonal(atoi(argv[i]) + 101, atoi(argv[i]));
            } else if (!strcmp(argv[1], "trtri")) {
                for (int form = 0; form < 4; form++)
                    inverse(atoi(argv[i]), "LU"[form % 2], "NU"[form / 2]);
            } else if (!strcmp(argv[1], "geqrf")) {
                qr(atoi(argv[i]), atoi(argv[i]));
                qr(atoi(argv[i]) - 101, atoi(argv[i]));
                qr(atoi(argv[i]) + 101, atoi(argv[i]));
            } else {
                lu(atoi(argv[i]), atoi(argv[i]));
                lu(atoi(argv[i]) - 101, atoi(argv[i]));
                lu(atoi(argv[i]) + 101, atoi(argv[i]));
                lu_solutions(atoi(argv[i]), SIDES);
                lu_solutions(300, 1300);
            }
        }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
