/* rotg and rotmg by their definitions (loops.h): plane rotations that make the second of two numbers zero. */
#include <complex.h>
#include <math.h>

#include "blas/veneers/loops.h"

/* (c, s) with c a + s b = r, c b - s a = 0.  b becomes the number from which c and s can be reconstructed. */
static void rotg(double *a, double *b, double *c, double *s)
{
    const bool a_larger = fabs(*a) > fabs(*b);
    const double r = copysign(hypot(*a, *b), a_larger ? *a : *b);

    *c = r == 0 ? 1 : *a / r;
    *s = r == 0 ? 0 : *b / r;
    *b = r == 0 ? 0 : a_larger ? *s : *c != 0 ? 1 / *c : 1;
    *a = r;
}
void sc_blas_drotg(double *a, double *b, double *c, double *s) { rotg(a, b, c, s); }
void sc_blas_srotg(float *a, float *b, float *c, float *s)
{
    double wide[4] = {*a, *b, 0, 0};

    rotg(&wide[0], &wide[1], &wide[2], &wide[3]);
    *a = (float)wide[0], *b = (float)wide[1], *c = (float)wide[2], *s = (float)wide[3];
}

/* c real, s complex, with c a + s b = r and conj(s) a = c b. */
static double complex rotg_complex(double complex a, double complex b, double *c, double complex *s)
{
    const double size = cabs(a), r = hypot(size, cabs(b));
    const double complex direction = size == 0 ? 1 : CMPLX(creal(a) / size, cimag(a) / size);

    *c = r == 0 ? 1 : size / r;
    *s = r == 0 ? 0 : direction * CMPLX(creal(b) / r, -cimag(b) / r);
    if (size == 0 && r != 0) { /* then r is b */
        *s = 1;
        return b;
    }
    return CMPLX(creal(direction) * r, cimag(direction) * r);
}
void sc_blas_zrotg(void *a, void *b, double *c, void *s)
{
    *(double complex *)a = rotg_complex(*(double complex *)a, *(double complex *)b, c, s);
}
void sc_blas_crotg(void *a, void *b, float *c, void *s)
{
    double wide_c;
    double complex wide_s, r = rotg_complex(*(float complex *)a, *(float complex *)b, &wide_c, &wide_s);

    *(float complex *)a = (float complex)r;
    *c = (float)wide_c;
    *(float complex *)s = (float complex)wide_s;
}

/* The modified rotation H with H (sqrt(d1) x1, sqrt(d2) y1)^T = (., 0)^T.  A flag in param tells which elements of H
 * are stored behind the flag: -1: every element; 0: off the diagonal; 1: on the diagonal; -2: no element (H is the
 * identity). */
struct modified {
    double d1, d2, x1, flag, h11, h21, h12, h22;
};

static void store_all(struct modified *m)
{
    if (m->flag == 0)
        m->h11 = m->h22 = 1;
    else if (m->flag == 1)
        m->h21 = -1, m->h12 = 1;
    m->flag = -1;
}

/* Keeps |d| between 4096^-2 and 4096^2, and scales the matching row of H, and x1, to compensate. */
static void rescale(struct modified *m, double *d, double *h_one, double *h_other, double *x)
{
    const double gamma = 4096, square = gamma * gamma;

    while (*d != 0 && isfinite(*d) && (fabs(*d) <= 1 / square || fabs(*d) >= square)) {
        const bool small = fabs(*d) <= 1 / square;

        store_all(m);
        *d *= small ? square : 1 / square;
        *h_one *= small ? 1 / gamma : gamma;
        *h_other *= small ? 1 / gamma : gamma;
        if (x)
            *x *= small ? 1 / gamma : gamma;
    }
}

static void clear(struct modified *m) { *m = (struct modified){.flag = -1}; }

static void rotmg(struct modified *m, double y1)
{
    const double p1 = m->d1 * m->x1, p2 = m->d2 * y1, q1 = p1 * m->x1, q2 = p2 * y1, old = m->d1;

    if (m->d1 < 0) {
        clear(m);
        return;
    }
    m->flag = -2;
    if (p2 == 0)
        return;
    if (fabs(q1) > fabs(q2)) {
        m->h21 = -y1 / m->x1;
        m->h12 = p2 / p1;
        m->flag = 0;
    } else if (q2 < 0) {
        clear(m);
        return;
    } else {
        m->h11 = p1 / p2;
        m->h22 = m->x1 / y1;
        m->flag = 1;
    }
    const double u = m->flag == 0 ? 1 - m->h12 * m->h21 : 1 + m->h11 * m->h22;

    if (u <= 0) {
        clear(m);
        return;
    }
    m->d1 = (m->flag == 0 ? m->d1 : m->d2) / u;
    m->d2 = (m->flag == 0 ? m->d2 : old) / u;
    m->x1 = (m->flag == 0 ? m->x1 : y1) * u;
    rescale(m, &m->d1, &m->h11, &m->h12, &m->x1);
    rescale(m, &m->d2, &m->h21, &m->h22, NULL);
}

#define ROTMG(name, type)                                                                                              \
    void name(type *d1, type *d2, type *x1, const type *y1, type *param)                                               \
    {                                                                                                                  \
        struct modified m = {.d1 = *d1, .d2 = *d2, .x1 = *x1};                                                         \
                                                                                                                       \
        rotmg(&m, *y1);                                                                                                \
        param[0] = (type)m.flag;                                                                                       \
        if (m.flag == -1 || m.flag == 1)                                                                               \
            param[1] = (type)m.h11, param[4] = (type)m.h22;                                                            \
        if (m.flag == -1 || m.flag == 0)                                                                               \
            param[2] = (type)m.h21, param[3] = (type)m.h12;                                                            \
        *d1 = (type)m.d1, *d2 = (type)m.d2, *x1 = (type)m.x1;                                                          \
    }
ROTMG(sc_blas_srotmg, float)
ROTMG(sc_blas_drotmg, double)
/* SPDX-License-Identifier: BSD-2-Clause */
