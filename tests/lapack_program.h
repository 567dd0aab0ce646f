/* For tests that call LAPACK by name, as programs do: numbers of the four types, matrices with a copy of their
 * contents before the call, and the call.  The includer defines _GNU_SOURCE. */
#ifndef SC_TESTS_LAPACK_PROGRAM_H
#define SC_TESTS_LAPACK_PROGRAM_H

#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

typedef double complex number;

static char type; /* of the routines and their numbers */

static bool is_complex(void) { return type == 'c' || type == 'z'; }
static bool is_single(void) { return type == 's' || type == 'c'; }
static size_t bytes_of_type(void) { return type == 's' ? 4 : type == 'z' ? 16 : 8; }
static double unit(void) { return is_single() ? 0x1p-23 : 0x1p-52; }

static number load(const void *a, size_t i)
{
    switch (type) {
    case 's': return ((const float *)a)[i];
    case 'd': return ((const double *)a)[i];
    case 'c': return ((const float complex *)a)[i];
    default: return ((const number *)a)[i];
    }
}

static void store(void *a, size_t i, number v)
{
    switch (type) {
    case 's': ((float *)a)[i] = (float)creal(v); break;
    case 'd': ((double *)a)[i] = creal(v); break;
    case 'c': ((float complex *)a)[i] = (float complex)v; break;
    default: ((number *)a)[i] = v;
    }
}

struct matrix {
    int rows, cols, ld;
    char *data, *before; /* before: a copy */
    size_t bytes;
};

static number at(const struct matrix *m, int i, int j) { return load(m->data, (size_t)i + (size_t)j * (size_t)m->ld); }
static number was(const struct matrix *m, int i, int j)
{
    return load(m->before, (size_t)i + (size_t)j * (size_t)m->ld);
}

static bool in_triangle(char uplo, int i, int j) { return uplo == 'U' ? i <= j : i >= j; }

/* Rows behind the matrix, and the triangle that is not named (uplo 0: none), have their bits. */
static bool rest_is_kept(const struct matrix *m, char uplo)
{
    size_t e = bytes_of_type();

    for (int j = 0; j < m->cols; j++)
        for (int i = 0; i < m->ld; i++) {
            size_t place = ((size_t)i + (size_t)j * (size_t)m->ld) * e;

            if ((i >= m->rows || (uplo && !in_triangle(uplo, i, j))) && memcmp(m->data + place, m->before + place, e))
                return false;
        }
    return true;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

#define P const void *

/* The program is linked with a LAPACK. */
void dpotrf_(const char *, const int *, double *, const int *, int *, size_t);
void (*const lapack_of_the_link)(const char *, const int *, double *, const int *, int *, size_t) = dpotrf_;

/* Calls LAPACK's routine of the type with up to 26 addresses. */
static void call(const char *name, const void **a)
{
    char symbol[32];
    void *fn;

    snprintf(symbol, sizeof symbol, "%c%s_", type, name);
    fn = dlsym(RTLD_DEFAULT, symbol);
    if (!fn) {
        printf("Bail out! no %s\n", symbol);
        exit(1);
    }
    ((void (*)(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P))fn)(
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16],
        a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25]);
}
#define CALL(name, ...) call(name, (const void *[26]){__VA_ARGS__})

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
