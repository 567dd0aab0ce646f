/* Routines of LAPACK on the device under test, in all types and several sizes.  Asserts small residuals (products with
 * random vectors, in units of the precision), orthonormal vectors, the order of eigenvalues and singular values, pivots
 * and INFO, and that the unnamed triangle and the memory behind the columns keep their bits.
 *
 * A device may refuse a call with a nonzero INFO; its operands must then be unchanged. */
#include "lapack_matrix.h"

enum { SIDES = 5 };
#define BOUND 100 /* of residuals */

static struct matrix a, b, c, got, more;
static number x[ORDER], y[ORDER], z[ORDER], t[ORDER];
static char title[120];

static struct sc_kernel record(enum sc_op op, enum sc_type type, int m, int n, int k)
{
    return (struct sc_kernel){.op = op, .type = type, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'U',
                              .diag = 'N', .m = m, .n = n, .k = k, .a = dev[0], .b = dev[1], .c = dev[2],
                              .lda = ld_of(m), .ldb = ld_of(m), .ldc = ld_of(m)};
}

/* INFO, or -1000 - status. */
static int64_t launch(struct sc_kernel *k)
{
    enum sc_status status;

    k->result = ops->result_slot(0);
    status = ops->launch(0, SC_STREAM_COMPUTE, k);
    if (!status)
        status = ops->sync(mark(ops, 0, SC_STREAM_COMPUTE));
    return status ? -1000 - (int64_t)status : *(int64_t *)k->result;
}

#define REFUSED (-1000 - (int64_t)SC_ERR_UNSUPPORTED)

/* The operation and its size, for the titles. */
static const char *name(const struct sc_kernel *k)
{
    snprintf(title, sizeof title, "%c%s %lld x %lld", sc_type_letter(k->type), sc_op_name(k->op), (long long)k->m,
             (long long)k->n);
    return title;
}

static void small(double residual, const char *what)
{
    tap_ok(residual <= BOUND, "%s: %.3g", what, residual);
}

/* INFO, or a refusal that changed nothing in A. */
static void fails_with(struct sc_kernel *k, int64_t expected)
{
    int64_t info = launch(k);

    tap_ok(info == expected || (info == REFUSED && is_unchanged(0)), "%s: info %lld, expected %lld", name(k),
           (long long)info, (long long)expected);
}

/* --- triangles ---------------------------------------------------------------------------------------------------- */

/* A X = B for the solution in slot 1 and the right-hand sides in b. */
static void solves(enum sc_type type, char trans, int n)
{
    double worst = 0;
    bool kept = download(1, type, &got, n, SIDES, 0);

    for (int s = 0; s < SIDES; s++) {
        apply(trans, &a, got.v + s * n, y);
        worst = fmax(worst, distance(type, y, b.v + s * n, n, norm(a.v, n * n) * norm(got.v + s * n, n)));
    }
    small(kept ? worst : INFINITY, "  A X = B");
}

/* The factor F in slot 0 of the matrix in a: F^H F, or F F^H for uplo L.  Leaves F in c. */
static void is_factor(enum sc_type type, int slot, const struct matrix *of, char uplo)
{
    int n = of->rows;
    bool kept = download(slot, type, &c, n, n, uplo);

    tap_ok(kept, "  the other triangle keeps its bits");
    draw_vector(x, type, n);
    apply(uplo == 'U' ? 'N' : 'C', &c, x, z);
    apply(uplo == 'U' ? 'C' : 'N', &c, z, y);
    apply('N', of, x, z);
    small(distance(type, y, z, n, norm(of->v, n * n) * norm(x, n)), "  the factor");
}

/* Inverse and product of the factor in c. */
static void test_inverses(enum sc_type type, char uplo, int n)
{
    struct sc_kernel k = record(SC_OP_POTRI, type, n, n, 0);

    k.uplo = uplo;
    tap_ok(upload(0, type, &c, uplo) && launch(&k) == 0 && download(0, type, &got, n, n, uplo), "%s %c", name(&k),
           uplo);
    mirror(&got, uplo);
    draw_vector(x, type, n);
    apply('N', &got, x, y);
    apply('N', &a, y, z);
    small(distance(type, z, x, n, norm(a.v, n * n) * norm(got.v, n * n) * norm(x, n)), "  A A^-1 = I");

    k.op = SC_OP_LAUUM;
    tap_ok(upload(0, type, &c, uplo) && launch(&k) == 0 && download(0, type, &got, n, n, uplo), "%s %c", name(&k),
           uplo);
    mirror(&got, uplo);
    apply('N', &got, x, y);
    apply(uplo == 'U' ? 'C' : 'N', &c, x, t);
    apply(uplo == 'U' ? 'N' : 'C', &c, t, z);
    small(distance(type, y, z, n, norm(a.v, n * n) * norm(x, n)), "  U U^H or L^H L");
    for (int unit = 0; unit < 2; unit++) {
        k = record(SC_OP_TRTRI, type, n, n, 0);
        k.uplo = uplo;
        k.diag = "NU"[unit];
        if (unit) /* a small triangle: the inverse does not grow */
            for (int i = 0; i < n * n; i++)
                c.v[i] /= 4 * n;
        tap_ok(upload(0, type, &c, uplo) && launch(&k) == 0 && download(0, type, &got, n, n, uplo), "%s %c%c", name(&k),
               uplo, k.diag);
        for (int i = 0; i < n && unit; i++)
            if (got.v[i + i * n] != get(type, sent[0], i + i * ld_of(n)))
                tap_ok(0, "  the diagonal keeps its bits");
        keep_triangle(&got, uplo, unit);
        more = c;
        keep_triangle(&more, uplo, unit);
        apply('N', &got, x, y);
        apply('N', &more, y, z);
        small(distance(type, z, x, n, norm(more.v, n * n) * norm(got.v, n * n) * norm(x, n)), "  T T^-1 = I");
    }
    c.v[n / 2 + n / 2 * n] = 0;
    k.diag = 'N';
    upload(0, type, &c, uplo);
    fails_with(&k, n / 2 + 1);
}

static void test_cholesky(enum sc_type type, char uplo, int n)
{
    struct sc_kernel f = record(SC_OP_POTRF, type, n, n, 0), s = record(SC_OP_POTRS, type, n, n, SIDES);

    f.uplo = s.uplo = uplo;
    draw_hermitian(&a, type, n, n);
    draw_matrix(&b, type, n, SIDES);
    tap_ok(upload(0, type, &a, uplo) && upload(1, type, &b, 0) && launch(&f) == 0, "%s %c", name(&f), uplo);
    tap_ok(launch(&s) == 0, "%s %c", name(&s), uplo);
    solves(type, 'N', n);
    is_factor(type, 0, &a, uplo);
    test_inverses(type, uplo, n);
    a.v[n / 2 + n / 2 * n] = -1;
    tap_ok(upload(0, type, &a, uplo) && launch(&f) == n / 2 + 1, "%s: info is the order of the leading minor",
           name(&f));
}

/* Symmetric, also in complex types. */
static void test_indefinite(enum sc_type type, char uplo, int n)
{
    int64_t pivots[ORDER];
    struct sc_kernel f = record(SC_OP_SYTRF, type, n, n, 0), s = record(SC_OP_SYTRS, type, n, n, SIDES);

    f.uplo = s.uplo = uplo;
    f.pivots = s.pivots = pivots;
    draw_matrix(&a, type, n, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++)
            a.v[j + i * n] = a.v[i + j * n];
    draw_matrix(&b, type, n, SIDES);
    tap_ok(upload(0, type, &a, uplo) && upload(1, type, &b, 0) && launch(&f) == 0 &&
               download(0, type, &got, n, n, uplo), "%s %c", name(&f), uplo);
    tap_ok(launch(&s) == 0, "%s %c", name(&s), uplo);
    solves(type, 'N', n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a.v[i + j * n] = i == j && i != n / 2;
    upload(0, type, &a, uplo);
    fails_with(&f, n / 2 + 1);
}

/* --- LU and QR ---------------------------------------------------------------------------------------------------- */

/* P L U x = A x for the factors in slot 0. */
static double lu_error(enum sc_type type, const int64_t *pivots, int m, int n)
{
    int least = m < n ? m : n;

    draw_vector(x, type, n);
    for (int i = 0; i < m; i++)
        t[i] = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j && i < least; i++)
            t[i] += got.v[i + j * m] * x[j];
    for (int i = 0; i < m; i++) {
        y[i] = i < least ? t[i] : 0;
        for (int j = 0; j < i && j < least; j++)
            y[i] += got.v[i + j * m] * t[j];
    }
    for (int i = least - 1; i >= 0; i--) {
        number v = y[i];

        if (pivots[i] < i + 1 || pivots[i] > m)
            return INFINITY;
        y[i] = y[pivots[i] - 1];
        y[pivots[i] - 1] = v;
    }
    apply('N', &a, x, z);
    return distance(type, y, z, m, norm(a.v, m * n) * norm(x, n));
}

/* Rows from `first` on are interchanged in ascending order, up to the last but one. */
static void test_interchanges(enum sc_type type, int n)
{
    struct sc_kernel k = record(SC_OP_LASWP, type, n, n / 2 + 1, n > 1 ? n - 1 : 1);
    int64_t pivots[ORDER];
    bool right = true;

    k.kl = k.k / 3 + 1;
    k.pivots = pivots;
    draw_matrix(&a, type, n, (int)k.n);
    upload(2, type, &a, 0);
    for (int64_t i = 0; i < k.k; i++)
        pivots[i] = i + 1 + (int64_t)((draw() + 0.5) * (double)(n - i));
    tap_ok(launch(&k) == 0 && download(2, type, &got, n, (int)k.n, 0), "%s", name(&k));
    for (int64_t i = k.kl - 1; i < k.k; i++)
        for (int64_t j = 0; j < k.n; j++) {
            number swap = a.v[i + j * n];

            a.v[i + j * n] = a.v[pivots[i] - 1 + j * n];
            a.v[pivots[i] - 1 + j * n] = swap;
        }
    for (int64_t i = 0; i < n * k.n; i++)
        right = right && a.v[i] == got.v[i];
    tap_ok(right, "  rows %d to %d", (int)k.kl, (int)k.k);
}

/* B in slot 1 becomes the transpose of an n x n/2 + 1 matrix in slot 0; the rows of B after its end stay. */
static void test_transposition(enum sc_type type, int n)
{
    struct sc_kernel k = record(SC_OP_OMATCOPY, type, n, n / 2 + 1, 0);
    int columns = (int)k.n;
    bool right = true;

    draw_matrix(&a, type, n, columns);
    draw_matrix(&b, type, columns, n);
    k.ldb = ld_of(columns);
    tap_ok(upload(0, type, &a, 0) && upload(1, type, &b, 0) && launch(&k) == 0 &&
               download(1, type, &got, columns, n, 0), "%s", name(&k));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++)
            right = right && got.v[j + i * columns] == a.v[i + j * n];
    tap_ok(right && is_unchanged(0), "  B = A^T, to the bit");
}

/* The norm of a full matrix in `got`. */
static double norm_of(char kind, int m, int n)
{
    double most = 0, squares = 0;

    for (int i = 0; i < (kind == '1' ? n : m); i++) {
        double sum = 0;

        for (int j = 0; j < (kind == '1' ? m : n); j++) {
            double size = cabs(kind == '1' ? got.v[j + i * m] : got.v[i + j * m]);

            sum = kind == 'M' ? fmax(sum, size) : sum + size;
            squares += size * size;
        }
        most = fmax(most, sum);
    }
    return kind == 'F' ? sqrt(squares) : most;
}

/* The matrix that an operation sees in `a`, in full, in `got`. */
static void see(const struct sc_kernel *k)
{
    bool symmetric = k->op == SC_OP_LANSY || k->op == SC_OP_LANHE;
    int64_t m = k->m;

    got = a;
    for (int64_t j = 0; j < k->n && k->op != SC_OP_LANGE; j++)
        for (int64_t i = 0; i < m; i++) {
            bool named = k->uplo == 'U' ? i <= j : i >= j;

            if (symmetric)
                got.v[i + j * m] = named ? a.v[i + j * m] : a.v[j + i * m];
            else if (!named || (i == j && k->diag == 'U'))
                got.v[i + j * m] = named;
            if (i == j && k->op == SC_OP_LANHE)
                got.v[i + j * m] = creal(a.v[i + j * m]);
        }
}

/* Norms need a kernel of the module: a module built without nvcc, and the fake cuSOLVER, leave norms to the host. */
static bool no_norms, norms;

/* All norms of a matrix in slot 0. */
static void test_norm(enum sc_type type, enum sc_op op, int m, int n, const char *letters)
{
    for (const char *kind = "M1IF"; *kind && !no_norms; kind++) {
        struct sc_kernel k = record(op, type, m, n, 1);
        double value[2] = {NAN, NAN}, found, right;
        int64_t info;

        k.uplo = letters[0];
        k.diag = letters[1];
        k.job[0] = *kind;
        k.small[0] = value;
        info = launch(&k);
        if (info == REFUSED && !norms) {
            no_norms = true;
            tap_ok(is_unchanged(0), "norms # SKIP no kernels for norms here");
            continue;
        }
        norms = true;
        see(&k);
        right = norm_of(*kind, m, n);
        found = creal(get(type == SC_S || type == SC_C ? SC_S : SC_D, (const char *)value, 0));
        tap_ok(info == 0 && fabs(found - right) <= (m + n + 8) * unit_of(type) * right && is_unchanged(0),
               "%s %c %s: %g, %g is right", name(&k), *kind, letters, found, right);
    }
}

static void test_norms(enum sc_type type, int m, int n)
{
    draw_matrix(&a, type, m, n);
    upload(0, type, &a, 0);
    test_norm(type, SC_OP_LANGE, m, n, "UN");
    for (int i = 0; i < 4; i++) {
        const char *letters = (const char *[]){"UN", "UU", "LN", "LU"}[i];

        test_norm(type, SC_OP_LANTR, m, n, letters);
        if (m == n && letters[1] == 'N')
            test_norm(type, SC_OP_LANSY, m, n, letters);
        if (m == n && letters[1] == 'N')
            test_norm(type, SC_OP_LANHE, m, n, letters);
    }
}

/* The inverse from the factors in slot 0. */
static void test_inverse(enum sc_type type, int64_t *pivots, int n)
{
    struct sc_kernel k = record(SC_OP_GETRI, type, n, n, 0);
    double scale;

    k.pivots = pivots;
    tap_ok(launch(&k) == 0 && download(0, type, &got, n, n, 0), "%s", name(&k));
    scale = norm(a.v, n * n) * norm(got.v, n * n);
    draw_vector(x, type, n);
    apply('N', &got, x, y);
    apply('N', &a, y, z);
    small(distance(type, z, x, n, scale * norm(x, n)), "  A A^-1 = I");
    draw_matrix(&b, type, n, n);
    b.v[n / 2 + n / 2 * n] = 0;
    upload(0, type, &b, 0);
    fails_with(&k, n / 2 + 1);
}

static void test_lu(enum sc_type type, int m, int n)
{
    int64_t pivots[ORDER];
    struct sc_kernel f = record(SC_OP_GETRF, type, m, n, 0), s = record(SC_OP_GETRS, type, n, n, SIDES);

    f.pivots = s.pivots = pivots;
    draw_matrix(&a, type, m, n);
    tap_ok(upload(0, type, &a, 0) && launch(&f) == 0 && download(0, type, &got, m, n, 0), "%s", name(&f));
    small(lu_error(type, pivots, m, n), "  P L U = A");
    for (int i = 0; i < 3 && m == n; i++) {
        s.transa = "NTC"[i];
        draw_matrix(&b, type, n, SIDES);
        tap_ok(upload(1, type, &b, 0) && launch(&s) == 0, "%s %c", name(&s), s.transa);
        solves(type, s.transa, n);
    }
    if (m == n)
        test_inverse(type, pivots, n);
    for (int i = 0; i < m; i++)
        a.v[i + (m < n ? m : n) / 2 * m] = 0;
    upload(0, type, &a, 0);
    fails_with(&f, (m < n ? m : n) / 2 + 1);
}

/* op(Q) C or C op(Q) by ORMQR for the reflectors in slot 0 and Q in `q`. */
static void test_products(enum sc_type type, const struct matrix *q, int k, void *tau)
{
    for (int variant = 0; variant < 4; variant++) {
        int order = q->rows, rows = variant & 1 ? order : SIDES, cols = variant & 1 ? SIDES : order;
        char adjoint = sc_type_is_complex(type) ? 'C' : 'T', trans = variant & 2 ? 'N' : adjoint;
        struct sc_kernel o = record(SC_OP_ORMQR, type, rows, cols, k);

        o.side = variant & 1 ? 'L' : 'R';
        o.transa = trans;
        o.lda = ld_of(order);
        o.small[0] = tau;
        draw_matrix(&b, type, rows, cols);
        tap_ok(upload(2, type, &b, 0) && launch(&o) == 0 && download(2, type, &got, rows, cols, 0), "%s %c%c", name(&o),
               o.side, trans);
        draw_vector(x, type, cols);
        apply('N', &got, x, y);
        if (o.side == 'L') {
            apply('N', &b, x, t);
            apply(trans == 'N' ? 'N' : 'C', q, t, z);
        } else {
            apply(trans == 'N' ? 'N' : 'C', q, x, t);
            apply('N', &b, t, z);
        }
        small(distance(type, y, z, rows, norm(b.v, rows * cols) * norm(x, cols)), "  the product");
    }
}

static void test_qr(enum sc_type type, int m, int n)
{
    static char tau[ORDER * 16];
    int k = m < n ? m : n;
    struct sc_kernel f = record(SC_OP_GEQRF, type, m, n, 0), o = record(SC_OP_ORGQR, type, m, m, k);

    f.small[0] = o.small[0] = tau;
    draw_matrix(&a, type, m, n);
    tap_ok(upload(0, type, &a, 0) && launch(&f) == 0 && download(0, type, &c, m, n, 0), "%s", name(&f));
    more = c; /* the reflectors, with m columns */
    more.cols = m;
    upload(0, type, &more, 0);
    tap_ok(launch(&o) == 0 && download(0, type, &more, m, m, 0), "%s", name(&o));
    small(orthogonality(type, &more, true), "  Q is orthogonal");
    got = c;
    keep_triangle(&got, 'U', false);
    draw_vector(x, type, n);
    apply('N', &got, x, t);
    apply('N', &more, t, y);
    apply('N', &a, x, z);
    small(distance(type, y, z, m, norm(a.v, m * n) * norm(x, n)), "  Q R = A");
    upload(0, type, &c, 0);
    test_products(type, &more, k, tau);
}

/* --- eigenvalues -------------------------------------------------------------------------------------------------- */

static double real_at(enum sc_type type, const void *w, int i)
{
    return type == SC_S || type == SC_C ? (double)((const float *)w)[i] : ((const double *)w)[i];
}

static bool ascends(enum sc_type type, const void *w, int n)
{
    for (int i = 1; i < n; i++)
        if (!(real_at(type, w, i - 1) <= real_at(type, w, i)))
            return false;
    return true;
}

/* Values [before, before + count) of the w of all, and A V = V W, in the first columns. */
static void test_range(enum sc_type type, char uplo, int n, char range, int before, int count, const double *w)
{
    static double values[ORDER];
    static int64_t found[ORDER];
    struct sc_kernel k = record(SC_OP_SYEVD, type, n, n, count);
    double worst = 0, scale;

    k.uplo = uplo;
    k.job[0] = 'V';
    k.small[0] = values;
    k.range = range;
    k.first = before + 1;
    k.pivots = found;
    for (int i = 0; i < 2; i++) { /* limits between two values, or outside of all */
        int at = before + i * count;

        k.alpha[i] = at == 0 ? real_at(type, w, 0) - 1 : at == n ? real_at(type, w, n - 1) + 1 :
                     (real_at(type, w, at - 1) + real_at(type, w, at)) / 2;
    }
    tap_ok(upload(0, type, &a, uplo) && launch(&k) == 0 && download(0, type, &got, n, n, 0) && found[0] == count,
           "%s V%c, range %c of %d", name(&k), uplo, range, count);
    got.cols = count;
    for (int i = 0; i < count; i++)
        worst = fmax(worst, fabs(real_at(type, w, before + i) - real_at(type, values, i)));
    small(worst / norm(a.v, n * n) / unit_of(type), "  the same eigenvalues");
    small(orthogonality(type, &got, true), "  V is orthogonal");
    draw_vector(x, type, count);
    scale = norm(a.v, n * n) * norm(x, count);
    apply('N', &got, x, t);
    apply('N', &a, t, y);
    for (int i = 0; i < count; i++)
        x[i] *= real_at(type, values, i);
    apply('N', &got, x, z);
    small(distance(type, y, z, n, scale), "  A V = V W");
}

static void test_symmetric(enum sc_type type, char uplo, int n)
{
    static double w[ORDER], values[ORDER];
    struct sc_kernel k = record(SC_OP_SYEVD, type, n, n, 0);
    double worst = 0;

    k.uplo = uplo;
    k.job[0] = 'V';
    k.small[0] = w;
    draw_hermitian(&a, type, n, 0);
    tap_ok(upload(0, type, &a, uplo) && launch(&k) == 0 && download(0, type, &got, n, n, 0), "%s V%c", name(&k), uplo);
    tap_ok(ascends(type, w, n), "  eigenvalues ascend");
    small(orthogonality(type, &got, true), "  V is orthogonal");
    draw_vector(x, type, n);
    apply('C', &got, x, t);
    for (int i = 0; i < n; i++)
        t[i] *= real_at(type, w, i);
    apply('N', &got, t, y);
    apply('N', &a, x, z);
    small(distance(type, y, z, n, norm(a.v, n * n) * norm(x, n)), "  V W V^H = A");
    k.job[0] = 'N';
    k.small[0] = values;
    tap_ok(upload(0, type, &a, uplo) && launch(&k) == 0 && download(0, type, &got, n, n, uplo), "%s N%c", name(&k),
           uplo);
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(real_at(type, w, i) - real_at(type, values, i)));
    small(worst / norm(a.v, n * n) / unit_of(type), "  the same eigenvalues");
    test_range(type, uplo, n, 'I', n / 3, (n + 2) / 3, w);
    test_range(type, uplo, n, 'V', n / 4, (n + 1) / 2, w);
    test_range(type, uplo, n, 'V', 0, n, w);
}

/* Problems of type 1: A Z = B Z W, 2: A B Z = Z W, 3: B A Z = Z W. */
static void test_generalized(enum sc_type type, char uplo, int n)
{
    static double w[ORDER];
    double scale;

    for (int kind = 1; kind <= 3; kind++) {
        struct sc_kernel k = record(SC_OP_SYGVD, type, n, n, 0);

        k.uplo = uplo;
        k.kl = kind;
        k.job[0] = 'V';
        k.small[0] = w;
        draw_hermitian(&a, type, n, 0);
        draw_hermitian(&b, type, n, n);
        tap_ok(upload(0, type, &a, uplo) && upload(1, type, &b, uplo) && launch(&k) == 0 &&
               download(0, type, &got, n, n, 0), "%s %d%c", name(&k), kind, uplo);
        tap_ok(ascends(type, w, n), "  eigenvalues ascend");
        is_factor(type, 1, &b, uplo);
        draw_vector(x, type, n);
        scale = norm(a.v, n * n) * norm(b.v, n * n) * norm(got.v, n * n) * norm(x, n);
        apply('N', &got, x, t);
        apply('N', kind == 2 ? &b : &a, t, y);
        if (kind > 1) {
            memcpy(t, y, sizeof t);
            apply('N', kind == 2 ? &a : &b, t, y);
        }
        for (int i = 0; i < n; i++)
            x[i] *= real_at(type, w, i);
        apply('N', &got, x, z);
        if (kind == 1) {
            memcpy(t, z, sizeof t);
            apply('N', &b, t, z);
        }
        small(distance(type, y, z, n, scale), "  eigenvectors");
    }
    b.v[n / 2 + n / 2 * n] = -1;
    struct sc_kernel k = record(SC_OP_SYGVD, type, n, n, 0);
    k.uplo = uplo;
    k.kl = 1;
    k.job[0] = 'N';
    k.small[0] = w;
    upload(0, type, &a, uplo);
    upload(1, type, &b, uplo);
    fails_with(&k, n + n / 2 + 1);
}

/* y := V W x, with LAPACK's pairs of columns in the real types; conjugated: V conj(W) x. */
static void times_eigenvalues(enum sc_type type, const struct matrix *v, void *const w[2], bool conjugated)
{
    int n = v->cols;

    for (int i = 0; i < n; i++) {
        double re, im;

        if (sc_type_is_complex(type)) {
            number value = get(type, w[0], i);

            t[i] = (conjugated ? conj(value) : value) * x[i];
            continue;
        }
        re = real_at(type, w[0], i);
        im = real_at(type, w[1], i);
        t[i] = re * x[i];
        if (im > 0 && i + 1 < n)
            t[i] += (conjugated ? -im : im) * x[i + 1];
        if (im < 0 && i > 0)
            t[i] += (conjugated ? -im : im) * x[i - 1];
    }
    apply('N', v, t, y);
}

/* The norm of a column, or of the complex column that two real columns hold. */
static double length(enum sc_type type, const struct matrix *v, void *const w[2], int j)
{
    double im = sc_type_is_complex(type) ? 0 : real_at(type, w[1], j);
    const number *column = v->v + j * v->rows;

    if (im == 0)
        return norm(column, v->rows);
    return norm(im > 0 ? column : column - v->rows, 2 * v->rows);
}

static void test_general(enum sc_type type, int n)
{
    static char w0[ORDER * 16], w1[ORDER * 16];
    void *const w[2] = {w0, w1};
    double longest = 0, scale;
    int64_t info;

    for (int side = 0; side < 2; side++) { /* right vectors, left vectors */
        struct sc_kernel k = record(SC_OP_GEEV, type, n, n, 0);

        k.job[0] = "NV"[side];
        k.job[1] = "VN"[side];
        k.small[0] = w0;
        k.small[1] = w1;
        if (side)
            k.c = NULL;
        else
            k.b = NULL;
        draw_matrix(&a, type, n, n);
        upload(0, type, &a, 0);
        upload(side ? 1 : 2, type, NULL, 0);
        info = launch(&k);
        if (side && info == REFUSED) {
            tap_ok(is_unchanged(0) && is_unchanged(1), "%s: left vectors are refused", name(&k));
            continue;
        }
        tap_ok(info == 0 && download(side ? 1 : 2, type, &got, n, n, 0), "%s %c%c", name(&k), k.job[0], k.job[1]);
        draw_vector(x, type, n);
        scale = norm(a.v, n * n) * norm(got.v, n * n) * norm(x, n);
        times_eigenvalues(type, &got, w, side);
        apply('N', &got, x, t);
        apply(side ? 'C' : 'N', &a, t, z);
        small(distance(type, y, z, n, scale), "  eigenvectors");
        for (int j = 0; j < n; j++)
            longest = fmax(longest, fabs(length(type, &got, w, j) - 1));
        small(longest / unit_of(type) / n, "  of length 1");
    }
}

/* --- singular values ---------------------------------------------------------------------------------------------- */

static void test_singular(enum sc_type type, int m, int n, const char *jobs, bool deficient)
{
    static double s[ORDER];
    int least = m < n ? m : n, columns = jobs[0] == 'A' ? m : least, rows = jobs[1] == 'A' ? n : least;
    struct sc_kernel k = record(SC_OP_GESVD, type, m, n, 0);
    double squares = 0;

    memcpy(k.job, jobs, 2);
    k.small[0] = s;
    k.ldc = ld_of(rows);
    k.b = jobs[0] == 'N' ? NULL : k.b;
    k.c = jobs[1] == 'N' ? NULL : k.c;
    draw_matrix(&a, type, m, n);
    for (int i = 0; i < m && deficient; i++)
        a.v[i + n / 2 * m] = 0;
    tap_ok(upload(0, type, &a, 0) && upload(1, type, NULL, 0) && upload(2, type, NULL, 0) && launch(&k) == 0, "%s %s%s",
           name(&k), jobs, deficient ? " with a column of zeros" : "");
    for (int i = 0; i < least; i++) {
        t[i] = real_at(type, s, i);
        squares += creal(t[i]) * creal(t[i]);
        if (creal(t[i]) < 0 || (i && creal(t[i]) > creal(t[i - 1])))
            squares = INFINITY;
    }
    small(fabs(sqrt(squares) / fmax(norm(a.v, m * n), 1e-300) - 1) / unit_of(type) / least,
          "  values descend, of A's norm");
    if (jobs[0] != 'N') {
        bool kept = download(1, type, &got, m, columns, 0);
        small(kept ? orthogonality(type, &got, true) : INFINITY, "  U is orthogonal");
    }
    if (jobs[1] != 'N') {
        bool kept = download(2, type, &more, rows, n, 0);
        small(kept ? orthogonality(type, &more, false) : INFINITY, "  V is orthogonal");
    }
    if (jobs[0] == 'N' || jobs[1] == 'N')
        return;
    draw_vector(x, type, n);
    apply('N', &more, x, y);
    for (int i = 0; i < columns; i++)
        z[i] = i < least ? y[i] * real_at(type, s, i) : 0;
    apply('N', &got, z, y);
    apply('N', &a, x, z);
    small(distance(type, y, z, m, norm(a.v, m * n) * norm(x, n)), "  U S V^H = A");
}

/* Whether a variant is tested: of large matrices one, another one for each type. */
static bool takes(enum sc_type type, int n, int variant, int variants)
{
    return n <= 100 || (int)type % variants == variant;
}

static void test_all_singular(enum sc_type type, int n)
{
    static const char *const jobs[] = {"SS", "AA", "NN", "SN", "NS", "AN", "NA", "AS", "SA"};
    const int count = n > 100 ? 3 : 9;

    for (int shape = 0; shape < 3; shape++)
        for (int i = 0; i < count && takes(type, n, shape, 3); i++)
            test_singular(type, shape == 1 ? n + 7 : n, shape == 2 ? n + 7 : n, jobs[i], false);
    if (n > 1)
        test_singular(type, n, n, "SS", true);
}

/* Numbers that are not finite end a call, with INFO or a refusal. */
static void test_not_finite(enum sc_type type)
{
    static const enum sc_op with_values[] = {SC_OP_SYEVD, SC_OP_GESVD, SC_OP_GEEV};
    static char w0[ORDER * 16], w1[ORDER * 16];
    const int n = 70;

    bytes = BYTES;
    for (int i = 0; i < 6; i++) {
        struct sc_kernel k = record(with_values[i / 2], type, n, n, 0);
        int64_t info;

        memcpy(k.job, "NN", 2);
        k.small[0] = w0;
        k.small[1] = w1;
        draw_hermitian(&a, type, n, 0);
        a.v[5] = a.v[5 * n] = i % 2 ? NAN : INFINITY;
        upload(0, type, &a, 0);
        info = launch(&k);
        tap_ok(info == REFUSED ? is_unchanged(0) : info > -1000, "%s with %g ends: %lld", name(&k),
               i % 2 ? NAN : INFINITY, (long long)info);
    }
}

/* U U^H of ones, in the last rows of four long columns: the host's routine reads a row to the column behind. */
static void test_long_columns(enum sc_type type)
{
    enum { N = 4, LD = 1 << 20 };
    size_t elem = sc_type_bytes(type);
    char *memory = block_new(ops, 0, N * LD * elem), *rows = memory + (LD - N) * elem;
    struct sc_kernel k = {.op = SC_OP_LAUUM, .type = type, .uplo = 'U', .m = N, .n = N, .a = rows, .lda = LD};
    struct sc_copy2d up = {rows, host[0], LD * elem, N * elem, N * elem, N, 0, SC_HOST};
    struct sc_copy2d down = {host[0], rows, N * elem, LD * elem, N * elem, N, SC_HOST, 0};
    bool right;

    for (int i = 0; i < N * N; i++)
        put(type, host[0], i, 1);
    right = !ops->copy(0, SC_STREAM_H2D, &up) && !ops->sync(mark(ops, 0, SC_STREAM_H2D)) && launch(&k) == 0 &&
            !ops->copy(0, SC_STREAM_D2H, &down) && !ops->sync(mark(ops, 0, SC_STREAM_D2H));
    for (int i = 0; i < N * N && right; i++)
        right = get(type, host[0], i) == (i % N <= i / N ? N - i / N : 1);
    tap_ok(right, "%s of long columns", name(&k));
    ops->free(0, memory, NULL, 0);
}

static void test_size(enum sc_type type, int n)
{
    bytes = (n + 7 + PAD) * (n + 7 + PAD) * 16;
    for (int half = 0; half < 2; half++)
        if (takes(type, n, half, 2)) {
            test_cholesky(type, "UL"[half], n);
            test_symmetric(type, "UL"[half], n);
            test_generalized(type, "UL"[half], n);
            test_indefinite(type, "UL"[half], n);
        }
    for (int shape = 0; shape < 3; shape++)
        if (takes(type, n, shape, 3)) {
            test_lu(type, shape == 1 ? n + 7 : n, shape == 2 ? n + 7 : n);
            test_qr(type, shape == 1 ? n + 7 : n, shape == 2 ? n + 7 : n);
            test_norms(type, shape == 1 ? n + 7 : n, shape == 2 ? n + 7 : n);
        }
    test_all_singular(type, n);
    test_general(type, n);
    test_interchanges(type, n);
    test_transposition(type, n);
}

static void test_types(const int *sizes, int count)
{
    for (int type = 0; type < SC_TYPES; type++) {
        struct sc_kernel k = record(SC_OP_POTRF, (enum sc_type)type, 1, 1, 0);

        a.rows = a.cols = 1;
        a.v[0] = 4;
        upload(0, k.type, &a, 0);
        if ((ops->runs && !ops->runs(k.op, k.type)) || launch(&k) == REFUSED) {
            tap_ok(1, "%c # SKIP the device has no LAPACK", sc_type_letter(k.type));
            continue;
        }
        for (int i = 0; i < count; i++)
            test_size(k.type, sizes[i]);
        test_not_finite(k.type);
        test_long_columns(k.type);
    }
}

static void open_slots(void)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        host[slot] = pinned_new(ops, BYTES);
        dev[slot] = block_new(ops, 0, BYTES);
        sent[slot] = malloc(BYTES);
    }
}

static void close_slots(void)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        ops->free(0, dev[slot], NULL, 0);
        pinned_free(ops, host[slot], BYTES);
        free(sent[slot]);
    }
    ops->close();
}

#ifndef LAPACK_WITHOUT_MAIN
int main(void)
{
    static const int sizes[] = {1, 2, 33, 70, 300};
    int count;

    ops = device_open(&count);
    open_slots();
    test_types(sizes, sizeof sizes / sizeof *sizes);
    close_slots();
    return tap_done();
}
#endif
/* SPDX-License-Identifier: BSD-2-Clause */
