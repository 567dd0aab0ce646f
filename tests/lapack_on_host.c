/* Calls of LAPACK that stay on the host (doc/limits.md), of matrices that a product has left on a device:
 * lapack_on_host seed rounds [first_order last_order].  Asserts residuals as lapack_whole.c. */
#define _GNU_SOURCE
#include "tests/lapack_random.h"

/* A product by a device; *f: its values. */
static struct matrix product(int m, int n, struct full *f)
{
    struct matrix a = random_matrix(m, n), b = random_matrix(n, n), c = matrix(m, n);
    number one = 1, zero = 0;
    char *scalars = take(32);

    store(scalars, 0, one);
    store(scalars + 16, 0, zero);
    CALL("gemm", "N", "N", &m, &n, &n, scalars, a.data, &a.ld, b.data, &b.ld, scalars + 16, c.data, &c.ld);
    *f = times(full_of(&a, m, n, true), full_of(&b, n, n, true));
    return c;
}

/* Singular vectors in the place of the matrix: the left ones (which 'U'), or the right ones ('V'). */
static void singular_in_place(int n, char which, bool divides)
{
    struct full f, d = full(n, n);
    struct matrix a = product(n, n, &f), other = matrix(n, n);
    struct work k = work_for(n);
    void *s = take((size_t)n * 8);
    int *info = take(4);
    const char *left = which == 'U' ? "O" : "S", *right = which == 'U' ? "S" : "O";

    if (divides && is_complex())
        CALL("gesdd", "O", &n, &n, a.data, &a.ld, s, NULL, I32(n), other.data, &other.ld, k.work, &k.lwork, k.rwork,
             k.iwork, info);
    else if (divides)
        CALL("gesdd", "O", &n, &n, a.data, &a.ld, s, NULL, I32(n), other.data, &other.ld, k.work, &k.lwork, k.iwork,
             info);
    else if (is_complex())
        CALL("gesvd", left, right, &n, &n, a.data, &a.ld, s, other.data, &other.ld, other.data, &other.ld, k.work,
             &k.lwork, k.rwork, info);
    else
        CALL("gesvd", left, right, &n, &n, a.data, &a.ld, s, other.data, &other.ld, other.data, &other.ld, k.work,
             &k.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&a, 0) && rest_is_kept(&other, 0), "%c%s %d: %c in the place of A", type,
           divides ? "gesdd" : "gesvd", n, which);
    for (int i = 0; i < n; i++)
        E(d, i, i) = real_at(s, i);
    same(which == 'U' ? times(times(full_of(&a, n, n, false), d), full_of(&other, n, n, false))
                      : times(times(full_of(&other, n, n, false), d), full_of(&a, n, n, false)),
         f, norm(f), divides ? "gesdd O" : "gesvd O");
    work_free(&k);
}

/* Vectors and values of the real routines in complex form. */
static void complex_vectors(const struct matrix *r, const void *w, const void *wi, struct full v, struct full d)
{
    int n = r->rows;

    for (int j = 0; j < n; j++) {
        double im = is_complex() ? 0 : real_at(wi, j);
        int pair = im > 0 ? j + 1 : j - 1;

        E(d, j, j) = is_complex() ? load(w, (size_t)j) : real_at(w, j) + im * I;
        for (int i = 0; i < n; i++)
            E(v, i, j) = im == 0 ? at(r, i, j) : im > 0 ? at(r, i, j) + I * at(r, i, pair)
                                                        : at(r, i, pair) - I * at(r, i, j);
    }
}

/* Left vectors by ?geev, or right vectors by ?geevx without balancing. */
static void eigenvectors(int n, bool expert)
{
    struct full f, v = full(n, n), d = full(n, n);
    struct matrix a = product(n, n, &f), r = matrix(n, n);
    struct work k = work_for(n);
    void *w = take((size_t)n * 16), *wi = take((size_t)n * 8), *scale = take((size_t)n * 8), *size = take(8);
    int *info = take(4), *low = take(8);

    if (expert && is_complex())
        CALL("geevx", "N", "N", "V", "N", &n, a.data, &a.ld, w, NULL, I32(1), r.data, &r.ld, low, low + 1, scale, size,
             NULL, NULL, k.work, &k.lwork, k.rwork, info);
    else if (expert)
        CALL("geevx", "N", "N", "V", "N", &n, a.data, &a.ld, w, wi, NULL, I32(1), r.data, &r.ld, low, low + 1, scale,
             size, NULL, NULL, k.work, &k.lwork, k.iwork, info);
    else if (is_complex())
        CALL("geev", "V", "N", &n, a.data, &a.ld, w, r.data, &r.ld, NULL, I32(1), k.work, &k.lwork, k.rwork, info);
    else
        CALL("geev", "V", "N", &n, a.data, &a.ld, w, wi, r.data, &r.ld, NULL, I32(1), k.work, &k.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&r, 0), "%c%s %d", type, expert ? "geevx" : "geev", n);
    complex_vectors(&r, w, wi, v, d);
    if (expert)
        same(times(f, v), times(v, d), norm(f) * norm(v), "geevx, vectors");
    else
        same(times(adjoint(v), f), times(d, adjoint(v)), norm(f) * norm(v), "geev, left vectors");
    work_free(&k);
}

/* A routine that is not listed: L of an LQ factorization; L L^H = A A^H. */
static void unlisted(int n)
{
    struct full f, l = full(n, n);
    struct matrix a = product(n, n, &f);
    struct work k = work_for(n);
    int *info = take(4);

    CALL("gelqf", &n, &n, a.data, &a.ld, take((size_t)n * 16), k.work, &k.lwork, info);
    tap_ok(*info == 0 && rest_is_kept(&a, 0), "%cgelqf %d", type, n);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            E(l, i, j) = at(&a, i, j);
    same(times(l, adjoint(l)), times(f, adjoint(f)), norm(f) * norm(f), "gelqf");
    work_free(&k);
}

static void all(int m, int n, char uplo)
{
    (void)m, (void)uplo;
    singular_in_place(n, 'U', false);
    singular_in_place(n, 'V', false);
    singular_in_place(n, 'U', true);
    eigenvectors(n, false);
    eigenvectors(n, true);
    unlisted(n);
}

int main(int argc, char **argv)
{
    run_rounds(argc, argv, all);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
