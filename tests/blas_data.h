/* For the tests of every routine: arguments, and a comparison of what two implementations leave in the arguments.
 * blas/veneers/checks.h (generated) calls each routine with every combination of its letters. */
#ifndef SC_TESTS_BLAS_DATA_H
#define SC_TESTS_BLAS_DATA_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/veneers/prototypes.h"
#include "tests/tap.h"

struct check {
    const char *name;
    sc_blas_fn veneer;
    void (*run)(sc_blas_fn routine);
    int routine;
    enum sc_blas_interface interface;
    enum sc_type type;
    const char *work; /* of blas/veneers/routines.tab */
};

/* The data that a routine reads or writes. */
enum { ELEMENTS = 400 };
struct blas_data {
    double A[ELEMENTS], B[ELEMENTS], C[ELEMENTS], P[ELEMENTS], X[ELEMENTS], Y[ELEMENTS];
    double scalar[8][8], result[2];
    float float_alpha[2], float_beta[2];
    double double_alpha[2], double_beta[2];
};
static struct blas_data *data_block;
#define data (*data_block)
static const struct { sc_blas_int m, n, k, kl, ku, lda, ldb, ldc, incx, incy; } size = {5, 4, 3, 1, 2, 7, 6, 8, 2, -1};
static const struct { int64_t m, n, k, kl, ku, lda, ldb, ldc, incx, incy; } size_64 = {5, 4, 3, 1, 2, 7, 6, 8, 2, -1};
static const char fortran_side[] = {'L', 'r'}, fortran_uplo[] = {'u', 'L'}, fortran_diag[] = {'N', 'u'};
static const char fortran_trans[] = {'N', 't', 'C'};
static const int cblas_side[] = {141, 142}, cblas_uplo[] = {121, 122}, cblas_diag[] = {131, 132};
static const int cblas_trans[] = {111, 112, 113};

/* The data after each call of a check. */
enum { CALLS_MAX = 64 };
static struct blas_data left[2][CALLS_MAX];
static int calls, side_of_left;
static enum sc_type type;

static double value(int i) { return (i * 37 % 13 - 6) / 4.0 + (i % 5 == 0 ? 3 : 0); }

static void fill(double *array)
{
    for (int i = 0; i < ELEMENTS; i++) {
        array[i] = value(i);
        if (type == SC_S || type == SC_C)
            ((float *)array)[2 * i] = (float)value(2 * i), ((float *)array)[2 * i + 1] = (float)value(2 * i + 1);
    }
}

static void begin(void)
{
    static const float s_alpha[] = {1.5F, -0.5F}, s_beta[] = {0.5F, 2.0F};
    static const double d_alpha[] = {1.5, -0.5}, d_beta[] = {0.5, 2.0};

    memset(&data, 0, sizeof data);
    fill(data.A), fill(data.B), fill(data.C), fill(data.P), fill(data.X), fill(data.Y);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            data.scalar[i][j] = 1 + i;
            if (type == SC_S || type == SC_C)
                ((float *)data.scalar[i])[2 * j] = ((float *)data.scalar[i])[2 * j + 1] = (float)(1 + i);
        }
    if (type == SC_S || type == SC_D)
        memset(data.scalar[4], 0, sizeof data.scalar[4]); /* the flag of rotm's parameters */
    memcpy(data.float_alpha, s_alpha, sizeof s_alpha), memcpy(data.float_beta, s_beta, sizeof s_beta);
    memcpy(data.double_alpha, d_alpha, sizeof d_alpha), memcpy(data.double_beta, d_beta, sizeof d_beta);
}
static void end(void) { left[side_of_left][calls++] = data; }

#include "blas/veneers/checks.h"

/* Puts the data into a block of `bytes` bytes. */
static void data_start(size_t bytes) { data_block = malloc(bytes); }

/* Compares numbers up to rounding; bits that are no sensible number (integers, for example) have to be equal. */
static bool close_to(double a, double b, double tolerance)
{
    double most = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

    return a == b || (isnan(a) && isnan(b)) || (most > 1e-30 && fabs(a - b) <= tolerance * (1 + most));
}
static bool near_enough(const struct blas_data *p, const struct blas_data *q)
{
    const float *s = (const float *)p, *t = (const float *)q;
    const double *d = (const double *)p, *e = (const double *)q;
    bool single = type == SC_S || type == SC_C;

    for (size_t i = 0; i < sizeof *p / (single ? sizeof *s : sizeof *d); i++) {
        if (single ? !memcmp(s + i, t + i, sizeof *s) : !memcmp(d + i, e + i, sizeof *d))
            continue;
        if (single ? !close_to(s[i], t[i], 1e-4) : !close_to(d[i], e[i], 1e-12))
            return false;
    }
    return true;
}

static bool is_wide(const struct check *check) { return check->interface >= SC_BLAS_F77_64; }
/* A routine has four checks: Fortran and CBLAS, and the two with 64-bit integers. Returns the check without 64. */
static const struct check *plain_of(const struct check *check) { return is_wide(check) ? check - 2 : check; }

/* Runs `check` on routine `one` and `otherwise` (`check` itself, or its variant with other integers) on routine
 * `other`; compares the data left by the calls. */
static bool same_as(const struct check *check, sc_blas_fn one, const struct check *otherwise, sc_blas_fn other,
                    bool exactly)
{
    int count;

    type = check->type;
    side_of_left = calls = 0;
    check->run(one);
    count = calls;
    side_of_left = 1, calls = 0;
    otherwise->run(other);
    for (int i = 0; i < count; i++)
        if (exactly ? memcmp(&left[0][i], &left[1][i], sizeof left[0][i]) : !near_enough(&left[0][i], &left[1][i])) {
            tap_diag("%s: call %d of %d differs", check->name, i + 1, count);
            return false;
        }
    return count > 0 && count == calls;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
