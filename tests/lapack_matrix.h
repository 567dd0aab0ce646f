/* Matrices in double complex for tests of LAPACK, their products with vectors, and their transport to the device under
 * test.  Products with vectors check factorizations of any size cheaply. */
#ifndef SC_TESTS_LAPACK_MATRIX_H
#define SC_TESTS_LAPACK_MATRIX_H

#include <complex.h>
#include <math.h>

#include "device_common.h"

typedef double complex number;

enum { ORDER = 310, PAD = 3, SLOTS = 3, BYTES = (ORDER + PAD) * (ORDER + PAD) * 16 };

struct matrix {
    int rows, cols;
    number v[ORDER * ORDER]; /* element (i, j) at i + j * rows */
};

static const struct sc_device_ops *ops;
static char *host[SLOTS], *dev[SLOTS], *sent[SLOTS]; /* sent: the bytes of the last upload */
static int bytes = BYTES;                            /* of a slot that are used and compared */
static uint64_t seed = 20261122;

static double draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 33) / (double)(UINT64_C(1) << 31) - 0.5;
}

static number get(enum sc_type type, const char *x, int64_t i)
{
    switch (type) {
    case SC_S: return ((const float *)x)[i];
    case SC_D: return ((const double *)x)[i];
    case SC_C: return ((const float complex *)x)[i];
    default: return ((const number *)x)[i];
    }
}

static void put(enum sc_type type, char *x, int64_t i, number v)
{
    switch (type) {
    case SC_S: ((float *)x)[i] = (float)creal(v); break;
    case SC_D: ((double *)x)[i] = creal(v); break;
    case SC_C: ((float complex *)x)[i] = (float complex)v; break;
    default: ((number *)x)[i] = v; break;
    }
}

static double unit_of(enum sc_type type) { return type == SC_S || type == SC_C ? 0x1p-23 : 0x1p-52; }

/* A number that the type holds exactly. */
static number draw_number(enum sc_type type)
{
    double re = (double)(float)draw(), im = sc_type_is_complex(type) ? (double)(float)draw() : 0;

    return re + im * I;
}

static void draw_matrix(struct matrix *a, enum sc_type type, int rows, int cols)
{
    a->rows = rows;
    a->cols = cols;
    for (int i = 0; i < rows * cols; i++)
        a->v[i] = draw_number(type);
}

/* Hermitian, with `diagonal` added to the diagonal. */
static void draw_hermitian(struct matrix *a, enum sc_type type, int n, double diagonal)
{
    draw_matrix(a, type, n, n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++)
            a->v[j + i * n] = conj(a->v[i + j * n]);
        a->v[j + j * n] = creal(a->v[j + j * n]) + diagonal;
    }
}

static bool in_triangle(char uplo, int i, int j) { return !uplo || (uplo == 'U' ? i <= j : i >= j); }

/* The other triangle := the adjoint of the triangle `uplo`. */
static void mirror(struct matrix *a, char uplo)
{
    for (int j = 0; j < a->cols; j++)
        for (int i = 0; i < a->rows; i++)
            if (!in_triangle(uplo, i, j))
                a->v[i + j * a->rows] = conj(a->v[j + i * a->rows]);
}

/* Elements outside of the triangle := 0; with `unit` the diagonal := 1. */
static void keep_triangle(struct matrix *a, char uplo, bool unit)
{
    for (int j = 0; j < a->cols; j++)
        for (int i = 0; i < a->rows; i++) {
            if (!in_triangle(uplo, i, j))
                a->v[i + j * a->rows] = 0;
            if (unit && i == j)
                a->v[i + j * a->rows] = 1;
        }
}

/* --- transport ---------------------------------------------------------------------------------------------------- */

static int ld_of(int rows) { return rows + PAD; }

/* Uploads a matrix; a pattern lies outside of the triangle `uplo` and behind the columns. */
static bool upload(int slot, enum sc_type type, const struct matrix *a, char uplo)
{
    for (int i = 0; i < bytes; i++)
        host[slot][i] = (char)(0x40 + i % 7);
    for (int j = 0; a && j < a->cols; j++)
        for (int i = 0; i < a->rows; i++)
            if (in_triangle(uplo, i, j))
                put(type, host[slot], i + j * ld_of(a->rows), a->v[i + j * a->rows]);
    memcpy(sent[slot], host[slot], bytes);
    return !move_now(ops, dev[slot], 0, host[slot], SC_HOST, bytes);
}

/* Downloads a matrix into `a`, with zeros outside of the triangle.  False: bytes outside of the triangle, or of the
 * matrix, have changed. */
static bool download(int slot, enum sc_type type, struct matrix *a, int rows, int cols, char uplo)
{
    int elem = (int)sc_type_bytes(type), ld = ld_of(rows);
    bool kept = !move_now(ops, host[slot], SC_HOST, dev[slot], 0, bytes);

    a->rows = rows;
    a->cols = cols;
    for (int j = 0; j * ld * elem < bytes - ld * elem; j++)
        for (int i = 0; i < ld; i++) {
            bool inside = i < rows && j < cols && in_triangle(uplo, i, j);
            int byte = (i + j * ld) * elem;

            if (inside)
                a->v[i + j * rows] = get(type, host[slot], i + j * ld);
            else if (i < rows && j < cols)
                a->v[i + j * rows] = 0;
            kept = kept && (inside || memcmp(host[slot] + byte, sent[slot] + byte, (size_t)elem) == 0);
        }
    return kept;
}

/* The memory of a slot has the bytes of the upload. */
static bool is_unchanged(int slot)
{
    return !move_now(ops, host[slot], SC_HOST, dev[slot], 0, bytes) && memcmp(host[slot], sent[slot], bytes) == 0;
}

/* --- vectors ------------------------------------------------------------------------------------------------------ */

static void draw_vector(number *x, enum sc_type type, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = draw_number(type);
}

/* y := op(A) x */
static void apply(char trans, const struct matrix *a, const number *x, number *y)
{
    int rows = trans == 'N' ? a->rows : a->cols;

    for (int i = 0; i < rows; i++)
        y[i] = 0;
    for (int j = 0; j < a->cols; j++)
        for (int i = 0; i < a->rows; i++) {
            number v = a->v[i + j * a->rows];

            if (trans == 'N')
                y[i] += v * x[j];
            else
                y[j] += (trans == 'C' ? conj(v) : v) * x[i];
        }
}

static double norm(const number *x, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    return sqrt(sum);
}

/* |x - y| in units of the type's precision and of `scale`; infinite if not a number. */
static double distance(enum sc_type type, const number *x, const number *y, int n, double scale)
{
    number difference[ORDER];
    double d;

    for (int i = 0; i < n; i++)
        difference[i] = x[i] - y[i];
    d = norm(difference, n);
    return isnan(d) ? INFINITY : d == 0 ? 0 : d / (scale * unit_of(type));
}

/* |op(A)^H op(A) x - x| for a matrix whose columns (trans N) or rows are orthonormal. */
static double orthogonality(enum sc_type type, const struct matrix *a, bool columns)
{
    number x[ORDER], y[ORDER], z[ORDER];
    int n = columns ? a->cols : a->rows;

    draw_vector(x, type, n);
    apply(columns ? 'N' : 'C', a, x, y);
    apply(columns ? 'C' : 'N', a, y, z);
    return distance(type, z, x, n, norm(x, n));
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
