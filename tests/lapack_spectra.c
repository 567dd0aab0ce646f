/* Eigenvalues and singular values by LAPACK, called as a program calls them: lapack_spectra seed rounds [first_order
 * last_order].  As lapack_whole.c in all else. */
#define _GNU_SOURCE
#include "tests/lapack_random.h"

/* --- eigenvalues -------------------------------------------------------------------------------------------------- */

/* A Hermitian matrix with the eigenvalues `value`, by random reflections. */
static struct matrix with_values(int n, char uplo, const double *value)
{
    struct matrix m = matrix(n, n);
    struct full a = full(n, n);

    for (int i = 0; i < n; i++)
        E(a, i, i) = value[i];
    for (int round = 0; round < 3; round++) {
        struct full v = random_unit(n);

        a = reflected(adjoint(reflected(a, v)), v);
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (in_triangle(uplo, i, j))
                put(&m, i, j, i == j ? creal(E(a, i, j)) : E(a, i, j));
    return m;
}

/* Random, or with one of the spectra. */
static struct matrix hermitian_of(int n, char uplo)
{
    int kind = below(SPECTRA + 1);
    double *value = malloc((size_t)n * sizeof *value);
    struct matrix m;

    if (kind < SPECTRA)
        spectrum(n, kind, value);
    m = kind < SPECTRA ? with_values(n, uplo, value) : hermitian(n, uplo, 0);
    free(value);
    return m;
}

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
        struct matrix a = hermitian_of(n, uplo), b = matrix(n, n);
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
    struct matrix a = hermitian_of(n, uplo), z = matrix(n, n);
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
    for (int i = 0; i < n && relative; i++) /* a vector of a splitting matrix has zeros */
        if (support[2 * i] < 1 || support[2 * i] > support[2 * i + 1] || support[2 * i + 1] > n)
            tap_ok(false, "%c%s: rows %d to %d of vector %d", type, name, support[2 * i], support[2 * i + 1], i);
    check_eigen(full_hermitian(&a, uplo), full_of(&z, n, n, false), w[0], w[1], name);
    work_free(&k);
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

static number eigenvalue(const void *w, const void *wi, int i)
{
    return is_complex() ? load(w, (size_t)i) : real_at(w, i) + real_at(wi, i) * I;
}

/* Eigenvalues by ?geevx, against those of ?geev; what ?geevx tells of the balanced matrix, against ?gebal. */
static void general_balanced(int n, char balance)
{
    struct work k = work_for(n);
    struct matrix a = random_matrix(n, n), b = random_matrix(n, n), c = random_matrix(n, n);
    void *w[2] = {take((size_t)n * 16), take((size_t)n * 16)}, *wi[2] = {take((size_t)n * 8), take((size_t)n * 8)};
    int *info = take(4), *low = take(8), *high = low + 1, told[2];
    char *scale = take((size_t)n * 8), *right = take((size_t)n * 8), *norm_told = take(8), name[16];
    size_t real = is_single() ? 4 : 8;
    double sum, most = 0, worst = 0;

    for (int j = 0; j < n; j++) /* badly scaled, with a row that ?gebal isolates */
        for (int i = 0; i < n; i++) {
            put(&a, i, j, i == n / 2 && j != i ? 0 : at(&a, i, j) * (j % 3 ? 1 : 256) / (i % 3 ? 1 : 256));
            put(&b, i, j, at(&a, i, j));
            put(&c, i, j, at(&a, i, j));
        }
    if (is_complex()) {
        CALL("geevx", &balance, "N", "N", "N", &n, a.data, &a.ld, w[0], NULL, I32(1), NULL, I32(1), low, high, scale,
             norm_told, NULL, NULL, k.work, &k.lwork, k.rwork, info);
        CALL("geev", "N", "N", &n, b.data, &b.ld, w[1], NULL, I32(1), NULL, I32(1), k.work, &k.lwork, k.rwork, info);
    } else {
        CALL("geevx", &balance, "N", "N", "N", &n, a.data, &a.ld, w[0], wi[0], NULL, I32(1), NULL, I32(1), low, high,
             scale, norm_told, NULL, NULL, k.work, &k.lwork, k.iwork, info);
        CALL("geev", "N", "N", &n, b.data, &b.ld, w[1], wi[1], NULL, I32(1), NULL, I32(1), k.work, &k.lwork, info);
    }
    sprintf(name, "geevx %c", balance);
    for (int i = 0; i < n; i++) { /* each value is among those of ?geev */
        double nearest = HUGE_VAL;

        for (int j = 0; j < n; j++)
            nearest = fmin(nearest, cabs(eigenvalue(w[0], wi[0], i) - eigenvalue(w[1], wi[1], j)));
        worst = fmax(worst, nearest);
        most = fmax(most, cabs(eigenvalue(w[1], wi[1], i)));
    }
    tap_ok(worst <= 1000 * n * unit() * (most + 1) * (balance == 'N' || balance == 'P' ? 65536 : 1),
           "%c%s %d: the values, %.3g", type, name, n, worst);
    CALL("gebal", &balance, &n, c.data, &c.ld, &told[0], &told[1], right, info);
    tap_ok(*low == told[0] && *high == told[1] && !memcmp(scale, right, (size_t)n * real), "%c%s: the balance", type,
           name);
    most = 0;
    for (int j = 0; j < n; j++) {
        sum = 0;
        for (int i = 0; i < n; i++)
            sum += cabs(at(&c, i, j));
        most = fmax(most, sum);
    }
    tap_ok(fabs(real_at(norm_told, 0) - most) <= 10 * n * unit() * most, "%c%s: the norm", type, name);
    work_free(&k);
}

/* --- singular values ---------------------------------------------------------------------------------------------- */

/* kind: of the spectra; SPECTRA: a random matrix. */
static void singular(int m, int n, char job, bool divides, int kind)
{
    int least = m < n ? m : n;
    double *value = calloc((size_t)least, sizeof *value), worst = 0;
    struct matrix a = kind < SPECTRA ? with_singular_values(m, n, kind, value) : random_matrix(m, n);
    struct matrix u = matrix(m, job == 'A' ? m : job == 'S' ? least : 0);
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
        worst = fmax(worst, fabs(real_at(s, i) - value[i]));
    }
    if (kind < SPECTRA)
        tap_ok(worst <= LIMIT * least * unit() * norm(f), "%c: singular values of spectrum %d", type, kind);
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
    free(value);
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

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void all(int m, int n, char uplo)
{
    eigen(n, uplo);
    eigen_apart(n, uplo, below(2));
    eigen_general(n, uplo, 1 + below(3));
    general(n);
    general_balanced(n, 'B');
    general_balanced(n, "NPS"[below(3)]);
    singular(m, n, "NSA"[below(3)], below(2), below(SPECTRA + 1));
    least_squares(m, n, below(2));
    eigen_range(n, uplo, (enum range_of)below(3), below(SPECTRA));
    not_a_number(m, n);
}

int main(int argc, char **argv)
{
    run_rounds(argc, argv, all);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
