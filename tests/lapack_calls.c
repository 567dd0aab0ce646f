/* The LAPACK routines that semcache implements, called as LAPACK calls them: lapack_calls [seed]. Linked with a LAPACK
 * only; lapack.t runs the program with every call on devices. ?larft and ?larfb are compared with reflectors applied
 * one after the other, ?laswp with row exchanges one after the other, LAPACK's additions to the BLAS with loops.
 * Memory outside of the operands (padding; the unused triangle of V, filled with NaN) must be neither written nor
 * read. */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/tap.h"

#define DECLARE(t)                                                                                                    \
    void t##larft_(const char *, const char *, const int *, const int *, void *, const int *, const void *, void *,   \
                   const int *, size_t, size_t);                                                                      \
    void t##larfb_(const char *, const char *, const char *, const char *, const int *, const int *, const int *,     \
                   const void *, const int *, const void *, const int *, void *, const int *, void *, const int *,    \
                   size_t, size_t, size_t, size_t);                                                                   \
    void t##laswp_(const int *, void *, const int *, const int *, const int *, const int *, const int *);
DECLARE(s) DECLARE(d) DECLARE(c) DECLARE(z)

typedef double complex number;

static const struct type {
    char letter;
    size_t bytes;
    double epsilon;
    __typeof__(slarft_) *larft;
    __typeof__(slarfb_) *larfb;
    __typeof__(slaswp_) *laswp;
} types[] = {{'s', 4, 2e-7, slarft_, slarfb_, slaswp_}, {'d', 8, 4e-16, dlarft_, dlarfb_, dlaswp_},
             {'c', 8, 2e-7, clarft_, clarfb_, claswp_}, {'z', 16, 4e-16, zlarft_, zlarfb_, zlaswp_}};

static uint64_t state;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

static double uniform(void)
{
    return below(2000001) / 1e6 - 1;
}

static bool is_complex(const struct type *t) { return t->letter == 'c' || t->letter == 'z'; }

static number get(const struct type *t, const void *a, size_t i)
{
    switch (t->letter) {
    case 's': return ((const float *)a)[i];
    case 'd': return ((const double *)a)[i];
    case 'c': return ((const float complex *)a)[i];
    default: return ((const double complex *)a)[i];
    }
}

static void put(const struct type *t, void *a, size_t i, number value)
{
    switch (t->letter) {
    case 's': ((float *)a)[i] = (float)creal(value); break;
    case 'd': ((double *)a)[i] = creal(value); break;
    case 'c': ((float complex *)a)[i] = (float complex)value; break;
    default: ((double complex *)a)[i] = value;
    }
}

static number any(const struct type *t)
{
    double re = uniform();

    return is_complex(t) ? CMPLX(re, uniform()) : re;
}

static void *filled(const struct type *t, size_t n)
{
    void *a = malloc(n * t->bytes);

    for (size_t i = 0; i < n; i++)
        put(t, a, i, any(t));
    return a;
}

/* --- reflectors --------------------------------------------------------------------------------------------------- */

struct block {
    const struct type *t;
    char side, trans, direct, storev;
    int m, n, k, length, ldv, ldc;
    void *v, *tau;
    number *h; /* the product of the reflectors, length x length */
};

/* Where element r of reflector i is stored; false: the element is an implied 0 or 1. */
static bool stored(const struct block *b, int i, int r, size_t *at)
{
    int one = b->direct == 'F' ? i : b->length - b->k + i;

    *at = b->storev == 'C' ? (size_t)r + (size_t)i * (size_t)b->ldv : (size_t)i + (size_t)r * (size_t)b->ldv;
    return b->direct == 'F' ? r > one : r < one;
}

static number element(const struct block *b, int i, int r)
{
    size_t at;
    number v;

    if (!stored(b, i, r, &at))
        return r == (b->direct == 'F' ? i : b->length - b->k + i);
    v = get(b->t, b->v, at);
    return b->storev == 'R' ? conj(v) : v;
}

/* H := H (I - tau v v^H), over the reflectors forwards or backwards. */
static void multiply_out(struct block *b)
{
    int q = b->length;

    b->h = calloc((size_t)q * (size_t)q, sizeof *b->h);
    for (int r = 0; r < q; r++)
        b->h[r + r * q] = 1;
    for (int step = 0; step < b->k; step++) {
        int i = b->direct == 'F' ? step : b->k - 1 - step;
        number tau = get(b->t, b->tau, (size_t)i);

        for (int r = 0; r < q; r++) {
            number sum = 0;

            for (int s = 0; s < q; s++)
                sum += b->h[r + s * q] * element(b, i, s);
            for (int s = 0; s < q; s++)
                b->h[r + s * q] -= tau * sum * conj(element(b, i, s));
        }
    }
}

static number of_h(const struct block *b, int r, int s)
{
    return b->trans == 'N' ? b->h[r + s * b->length] : conj(b->h[s + r * b->length]);
}

/* Element (i, j) of op(H) C or C op(H). */
static number expected(const struct block *b, const void *c, int i, int j)
{
    number sum = 0;

    for (int r = 0; r < b->length; r++)
        sum += b->side == 'L' ? of_h(b, i, r) * get(b->t, c, (size_t)r + (size_t)j * (size_t)b->ldc)
                              : get(b->t, c, (size_t)i + (size_t)r * (size_t)b->ldc) * of_h(b, r, j);
    return sum;
}

static double compare(const struct block *b, const void *before, const void *after)
{
    double worst = 0;

    for (int j = 0; j < b->n; j++)
        for (int i = 0; i < b->ldc; i++) {
            size_t at = (size_t)i + (size_t)j * (size_t)b->ldc;
            double error = i < b->m ? cabs(get(b->t, after, at) - expected(b, before, i, j))
                                    : get(b->t, after, at) == get(b->t, before, at) ? 0 : INFINITY;

            worst = error <= worst ? worst : error;
        }
    return worst;
}

static void make_reflectors(struct block *b)
{
    size_t columns = (size_t)(b->storev == 'C' ? b->k : b->length), at;

    b->v = filled(b->t, (size_t)b->ldv * columns);
    b->tau = filled(b->t, (size_t)b->k);
    for (int i = 0; i < b->k; i++)
        for (int r = 0; r < b->length; r++)
            if (stored(b, i, r, &at)) /* of moderate length */
                put(b->t, b->v, at, get(b->t, b->v, at) / sqrt(b->length));
            else
                put(b->t, b->v, at, NAN);
    multiply_out(b);
}

/* The error relative to the bound of rounding. */
static double try_block(struct block *b)
{
    int ldt = b->k + below(3), ldwork = (b->side == 'L' ? b->n : b->m) + below(3);
    size_t c_size = (size_t)b->ldc * (size_t)b->n;
    void *t = filled(b->t, (size_t)ldt * (size_t)b->k), *work = filled(b->t, (size_t)ldwork * (size_t)b->k);
    void *c, *before;
    double worst;

    make_reflectors(b);
    c = filled(b->t, c_size);
    before = malloc(c_size * b->t->bytes);
    memcpy(before, c, c_size * b->t->bytes);
    b->t->larft(&b->direct, &b->storev, &b->length, &b->k, b->v, &b->ldv, b->tau, t, &ldt, 1, 1);
    b->t->larfb(&b->side, &b->trans, &b->direct, &b->storev, &b->m, &b->n, &b->k, b->v, &b->ldv, t, &ldt, c, &b->ldc,
                work, &ldwork, 1, 1, 1, 1);
    worst = compare(b, before, c) / (b->t->epsilon * (b->length + b->k));
    free(c);
    free(before);
    free(work);
    free(t);
    free(b->h);
    free(b->tau);
    free(b->v);
    return worst;
}

static void test_reflectors(const struct type *t)
{
    static const char *const sides = "LR", *const ways = "FB", *const stores = "CR";
    double worst = 0;

    for (int form = 0; form < 32; form++) {
        struct block b = {.t = t, .side = sides[form & 1], .direct = ways[form >> 1 & 1],
                          .storev = stores[form >> 2 & 1],
                          .trans = form >> 3 & 1 ? 'N' : is_complex(t) ? 'C' : 'T'};
        bool square = form >> 4 & 1; /* V consists of its triangle only */
        double error;

        b.m = 1 + below(90);
        b.n = 1 + below(90);
        b.length = b.side == 'L' ? b.m : b.n;
        b.k = square ? b.length : 1 + below(b.length < 40 ? b.length : 40);
        b.ldv = (b.storev == 'C' ? b.length : b.k) + below(4);
        b.ldc = b.m + below(4);
        error = try_block(&b);
        if (!(error <= 1))
            tap_diag("%c side %c trans %c direct %c storev %c m %d n %d k %d ldv %d ldc %d: error %g", t->letter,
                     b.side, b.trans, b.direct, b.storev, b.m, b.n, b.k, b.ldv, b.ldc, error);
        worst = error <= worst ? worst : error;
    }
    tap_ok(worst <= 1, "%clarft and %clarfb: 32 forms (worst error %.2g of what is allowed)", t->letter, t->letter,
           worst);
}

/* --- interchanges ------------------------------------------------------------------------------------------------- */

static void exchange(const struct type *t, void *a, int n, int ld, int r, int s)
{
    for (int j = 0; j < n; j++) {
        size_t x = (size_t)r + (size_t)j * (size_t)ld, y = (size_t)s + (size_t)j * (size_t)ld;
        number value = get(t, a, x);

        put(t, a, x, get(t, a, y));
        put(t, a, y, value);
    }
}

static bool try_interchange(const struct type *t, int inc)
{
    int ld = 20 + below(100), n = 1 + below(80), k1 = 1 + below(10), k2 = k1 + below(10), step = inc < 0 ? -inc : inc;
    size_t bytes = (size_t)ld * (size_t)n * t->bytes;
    int *pivots = calloc((size_t)(k2 * step + k2 + 1), sizeof *pivots);
    void *a = filled(t, (size_t)ld * (size_t)n), *want = malloc(bytes);
    bool good;

    memcpy(want, a, bytes);
    for (int i = k1; i <= k2; i++) /* LAPACK reads pivots from k1 on */
        pivots[k1 - 1 + (i - k1) * step] = below(4) ? 1 + below(ld) : i;
    for (int i = inc > 0 ? k1 : k2; k1 <= i && i <= k2; i += inc > 0 ? 1 : -1)
        exchange(t, want, n, ld, i - 1, pivots[k1 - 1 + (i - k1) * step] - 1);
    t->laswp(&n, a, &ld, &k1, &k2, pivots, &inc);
    good = memcmp(a, want, bytes) == 0;
    if (!good)
        tap_diag("%c ld %d n %d k1 %d k2 %d inc %d", t->letter, ld, n, k1, k2, inc);
    free(want);
    free(a);
    free(pivots);
    return good;
}

static void test_interchanges(const struct type *t)
{
    int bad = 0;

    for (int i = 0; i < 40; i++)
        bad += !try_interchange(t, (const int[]){1, -1, 2, -3}[i % 4]);
    tap_ok(bad == 0, "%claswp: 40 sequences of interchanges, forwards and backwards", t->letter);
}

/* --- additions to the BLAS, on the result of a product ------------------------------------------------------------ */

enum { ORDER = 150 };

#define DECLARE_ADDITIONS(t)                                                                                          \
    void t##gemm_(const char *, const char *, const int *, const int *, const int *, const void *, const void *,      \
                  const int *, const void *, const int *, const void *, void *, const int *, size_t, size_t);         \
    void t##symv_(const char *, const int *, const void *, const void *, const int *, const void *, const int *,      \
                  const void *, void *, const int *, size_t);                                                         \
    void t##spmv_(const char *, const int *, const void *, const void *, const void *, const int *, const void *,     \
                  void *, const int *, size_t);                                                                       \
    void t##syr_(const char *, const int *, const void *, const void *, const int *, void *, const int *, size_t);    \
    void t##spr_(const char *, const int *, const void *, const void *, const int *, void *, size_t);                 \
    void t##lacgv_(const int *, void *, const int *);
DECLARE_ADDITIONS(c) DECLARE_ADDITIONS(z)
void crot_(const int *, void *, const int *, void *, const int *, const float *, const void *);
void zrot_(const int *, void *, const int *, void *, const int *, const double *, const void *);

/* A matrix, its values, and vectors. */
struct addition {
    const struct type *t;
    void *a, *x, *y;
    number *was, *want;
    char uplo;
};

/* Where element (i, j) of a symmetric matrix is stored. */
static size_t place(const struct addition *d, bool packed, int i, int j)
{
    int r = (d->uplo == 'U') == (i < j) ? i : j, c = r == i ? j : i;

    if (!packed)
        return (size_t)r + (size_t)c * ORDER;
    return d->uplo == 'U' ? (size_t)(r + c * (c + 1) / 2) : (size_t)(r + c * (2 * ORDER - c - 1) / 2);
}

/* A := values, made by a device: the product with the identity. */
static void renew(struct addition *d)
{
    const struct type *t = d->t;
    const int n = ORDER;
    void *values = filled(t, ORDER * ORDER), *identity = calloc(ORDER * ORDER, t->bytes), *one = calloc(2, t->bytes);
    const void *zero = (char *)one + t->bytes;

    put(t, one, 0, 1);
    for (int i = 0; i < n; i++)
        put(t, identity, (size_t)i * (ORDER + 1), 1);
    (t->letter == 'c' ? cgemm_ : zgemm_)("N", "N", &n, &n, &n, one, values, &n, identity, &n, zero, d->a, &n, 1, 1);
    for (size_t i = 0; i < ORDER * ORDER; i++)
        d->was[i] = d->want[i] = get(t, values, i);
    free(values), free(identity), free(one);
}

static double difference(const struct addition *d, const void *is, const number *want, int n)
{
    double most = 0;

    for (int i = 0; i < n; i++)
        most = fmax(most, cabs(get(d->t, is, (size_t)i) - want[i]));
    return most / d->t->epsilon;
}

/* y := alpha A x + beta y */
static double try_product(struct addition *d, bool packed)
{
    const struct type *t = d->t;
    const int n = ORDER, step = 1;
    void *scalars = filled(t, 2), *beta = (char *)scalars + t->bytes;
    number want[ORDER];
    double far;

    renew(d);
    for (int i = 0; i < n; i++) {
        want[i] = get(t, scalars, 1) * get(t, d->y, (size_t)i);
        for (int j = 0; j < n; j++)
            want[i] += get(t, scalars, 0) * d->was[place(d, packed, i, j)] * get(t, d->x, (size_t)j);
    }
    if (packed)
        (t->letter == 'c' ? cspmv_ : zspmv_)(&d->uplo, &n, scalars, d->a, d->x, &step, beta, d->y, &step, 1);
    else
        (t->letter == 'c' ? csymv_ : zsymv_)(&d->uplo, &n, scalars, d->a, &n, d->x, &step, beta, d->y, &step, 1);
    far = difference(d, d->y, want, n);
    free(scalars);
    return far;
}

/* A := alpha x x^T + A */
static double try_update(struct addition *d, bool packed)
{
    const struct type *t = d->t;
    const int n = ORDER, step = 1;
    void *alpha = filled(t, 1);
    double far;

    renew(d);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++)
            d->want[place(d, packed, i, j)] += get(t, alpha, 0) * get(t, d->x, (size_t)i) * get(t, d->x, (size_t)j);
    if (packed)
        (t->letter == 'c' ? cspr_ : zspr_)(&d->uplo, &n, alpha, d->x, &step, d->a, 1);
    else
        (t->letter == 'c' ? csyr_ : zsyr_)(&d->uplo, &n, alpha, d->x, &step, d->a, &n, 1);
    far = difference(d, d->a, d->want, ORDER * ORDER);
    free(alpha);
    return far;
}

/* The rotation of two columns, then the conjugates of a row. */
static double try_rotation(struct addition *d)
{
    const int n = ORDER, step = 1;
    const double cosine = 0.6;
    const float single = 0.6F;
    char *second = (char *)d->a + ORDER * d->t->bytes, *row = (char *)d->a + 2 * d->t->bytes;
    void *sine = calloc(1, d->t->bytes);

    renew(d);
    put(d->t, sine, 0, 0.8);
    for (int i = 0; i < n; i++) {
        d->want[i] = cosine * d->was[i] + 0.8 * d->was[ORDER + i];
        d->want[ORDER + i] = cosine * d->was[ORDER + i] - 0.8 * d->was[i];
    }
    for (int j = 0; j < n; j++)
        d->want[2 + j * ORDER] = conj(d->want[2 + j * ORDER]);
    if (d->t->letter == 'c') {
        crot_(&n, d->a, &step, second, &step, &single, sine);
        clacgv_(&n, row, &n);
    } else {
        zrot_(&n, d->a, &step, second, &step, &cosine, sine);
        zlacgv_(&n, row, &n);
    }
    free(sine);
    return difference(d, d->a, d->want, ORDER * ORDER);
}

static void test_additions(const struct type *t)
{
    struct addition d = {.t = t, .a = calloc(ORDER * ORDER, t->bytes), .x = filled(t, ORDER), .y = filled(t, ORDER),
                         .was = calloc(ORDER * ORDER, sizeof (number)), .want = calloc(ORDER * ORDER, sizeof (number))};
    double worst = 0;

    for (const char *uplo = "UL"; *uplo; uplo++) {
        d.uplo = *uplo;
        for (int packed = 0; packed < 2; packed++)
            worst = fmax(worst, fmax(try_product(&d, packed), try_update(&d, packed)));
        worst = fmax(worst, try_rotation(&d));
    }
    tap_ok(worst < 50 * ORDER, "%csymv, spmv, syr, spr, rot and lacgv on a result: %.0f units of roundoff", t->letter,
           worst);
    free(d.a), free(d.x), free(d.y), free(d.was), free(d.want);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    tap_diag("seed %llu", (unsigned long long)state);
    for (int i = 0; i < 4; i++) {
        test_reflectors(&types[i]);
        test_interchanges(&types[i]);
        if (is_complex(&types[i]))
            test_additions(&types[i]);
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
