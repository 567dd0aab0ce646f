/* The LAPACK routines that semcache implements, called as LAPACK calls them: lapack_calls [seed]. Linked with a LAPACK
 * only; lapack.t runs the program with every call on devices. ?larft and ?larfb are compared with reflectors applied
 * one after the other, ?laswp with row exchanges one after the other. Memory outside of the operands (padding; the
 * unused triangle of V, filled with NaN) must be neither written nor read. */
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

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    tap_diag("seed %llu", (unsigned long long)state);
    for (int i = 0; i < 4; i++) {
        test_reflectors(&types[i]);
        test_interchanges(&types[i]);
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
