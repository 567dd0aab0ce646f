/* Calls of LAPACK's C interface, in an installed library: lapacke LIBRARY PREFIX SUFFIX BITS, with names such as
 * scipy_LAPACKE_dgesv64_.  Asserts right solutions, factors and eigenvalues in both orders.  Which of the calls came
 * to semcache, lapack_names.t sees in the statistics.  Ends with status 77 where the library is missing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { N = 300, LD = 303, SIDES = 4, ROWS = 101, COLUMNS = 102 };

static double a[N * LD], b[N * LD], f[N * LD], w[N];
static int64_t pivots[N]; /* in 32 bits for most libraries */
static const char *prefix, *suffix;
static void *library;
static int order;

static size_t place(int i, int j, int ld_columns, int ld_rows)
{
    return order == COLUMNS ? (size_t)(i + j * ld_columns) : (size_t)(i * ld_rows + j);
}

static void *routine(const char *name)
{
    char full[64];
    void *fn;

    snprintf(full, sizeof full, "%sLAPACKE_%s%s", prefix, name, suffix);
    fn = dlsym(library, full);
    if (!fn) {
        printf("Bail out! no %s\n", full);
        exit(1);
    }
    return fn;
}

/* Symmetric, not diagonal; definite with a diagonal above N. */
static double element(int i, int j, double diagonal) { return i == j ? diagonal : 1.0 / (1 + i + j); }

static void fill(double *m, double diagonal)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            m[place(i, j, LD, LD)] = element(i, j, diagonal);
}

static int ld_of_sides(void) { return order == COLUMNS ? LD : SIDES; }

/* Right sides for the solution i + j + 1. */
static void fill_sides(double diagonal)
{
    for (int j = 0; j < SIDES; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;

            for (int l = 0; l < N; l++)
                sum += element(i, l, diagonal) * (l + j + 1);
            b[place(i, j, LD, SIDES)] = sum;
        }
}

static void check_solution(const char *name, int64_t info)
{
    double worst = 0;

    for (int j = 0; j < SIDES; j++)
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(b[place(i, j, LD, SIDES)] / (i + j + 1) - 1));
    tap_ok(info == 0 && worst < 1e-9, "%s%s%s, order %d: info %d, error %g", prefix, name, suffix, order, (int)info,
           worst);
}

/* Arguments are 64 bits wide in registers: the callee takes 32 or 64 of them. */
typedef int64_t gesv(int64_t, int64_t, int64_t, double *, int64_t, void *, double *, int64_t);
typedef int64_t potrf(int64_t, char, int64_t, double *, int64_t);
typedef int64_t potrs(int64_t, char, int64_t, int64_t, double *, int64_t, double *, int64_t);
typedef int64_t syevd(int64_t, char, char, int64_t, double *, int64_t, double *);

static int64_t info_of(int64_t value, bool wide) { return wide ? value : (int32_t)value; }

static void test(bool wide)
{
    double sum = 0;
    int64_t info;

    fill(a, 2 * N);
    fill_sides(2 * N);
    info = info_of(((gesv *)routine("dgesv"))(order, N, SIDES, a, LD, pivots, b, ld_of_sides()), wide);
    check_solution("dgesv", info);
    fill(a, 2 * N);
    fill_sides(2 * N);
    info = info_of(((potrf *)routine("dpotrf"))(order, 'U', N, a, LD), wide);
    if (info == 0)
        info = info_of(((potrs *)routine("dpotrs"))(order, 'U', N, SIDES, a, LD, b, ld_of_sides()), wide);
    check_solution("dpotrs", info);
    fill(f, 1);
    info = info_of(((syevd *)routine("dsyevd"))(order, 'V', 'L', N, f, LD, w), wide);
    for (int i = 0; i < N; i++)
        sum += w[i];
    tap_ok(info == 0 && fabs(sum - N) < 1e-9 * N, "%sdsyevd%s, order %d: info %d, trace %g", prefix, suffix, order,
           (int)info, sum);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("# %s\n", dlerror());
        return 77;
    }
    prefix = argv[2];
    suffix = argv[3];
    for (order = ROWS; order <= COLUMNS; order++)
        test(atoi(argv[4]) == 64);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
