/* Names besides the BLAS: of the reference BLAS, of OpenBLAS, and of LAPACK's additions to the BLAS, whose operands
 * come home without faults. Linked with semcache only. `lacking`: the host BLAS has no name of OpenBLAS's. */
#include <complex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

typedef double complex number;
enum { N = 150, PACKED = N * (N + 1) / 2 };

double dcabs1_(const number *z);
float cblas_scabs1(const float complex *z);
void dnrm2sub_(const int *n, const double *x, const int *incx, double *result);
void idamaxsub_(const int *n, const double *x, const int *incx, int *result);
void sdsdotsub_(const int *n, const float *b, const float *x, const int *incx, const float *y, const int *incy,
                float *result);
void zdotcsub_(const int *n, const number *x, const int *incx, const number *y, const int *incy, number *result);
void xerbla_array_(const char *name, const int *length, const int *info);
__attribute__((visibility("default"))) void xerbla_(const char *name, const int *info, size_t length);

void cblas_domatcopy(int order, int trans, int rows, int cols, double alpha, const double *a, int lda, double *b,
                     int ldb);
number cblas_zdotc(int n, const void *x, int incx, const void *y, int incy);
double cblas_dsum(int n, const double *x, int incx);
void openblas_set_num_threads(int threads);
int openblas_get_num_threads(void);

void zscal_(const int *n, const number *alpha, number *x, const int *incx);
void zsymv_(const char *uplo, const int *n, const number *alpha, const number *a, const int *lda, const number *x,
            const int *incx, const number *beta, number *y, const int *incy, size_t length);
void zspmv_(const char *uplo, const int *n, const number *alpha, const number *a, const number *x, const int *incx,
            const number *beta, number *y, const int *incy, size_t length);
void zsyr_(const char *uplo, const int *n, const number *alpha, const number *x, const int *incx, number *a,
           const int *lda, size_t length);
void zspr_(const char *uplo, const int *n, const number *alpha, const number *x, const int *incx, number *a,
           size_t length);
void zrot_(const int *n, number *x, const int *incx, number *y, const int *incy, const double *c, const number *s);
void zlacgv_(const int *n, number *x, const int *incx);

static char complained[33];
static int complaint;

void xerbla_(const char *name, const int *info, size_t length)
{
    memcpy(complained, name, length < 32 ? length : 32);
    complaint = *info;
}

static void test_reference(void)
{
    const int n = 3, one = 1, two = 2, four = 4, seven = 7;
    const double x[6] = {3, 0, -4, 0, 0, 0};
    const float f[3] = {1, 2, 3}, b = 5;
    const number z[2] = {1 + 2 * I, 3};
    double norm;
    float dot;
    number zdot;
    int at;

    tap_ok(dcabs1_(&z[0]) == 3 && cblas_scabs1(&(float complex){-1 - 1 * I}) == 2, "absolute values");
    dnrm2sub_(&n, x, &two, &norm);
    idamaxsub_(&n, x, &two, &at);
    sdsdotsub_(&n, &b, f, &one, f, &one, &dot);
    zdotcsub_(&two, z, &one, z, &one, &zdot);
    tap_ok(norm == 5 && at == 2 && dot == 19 && zdot == 14, "functions as subroutines");
    xerbla_array_("DGEX", &four, &seven);
    tap_ok(complaint == 7 && !strncmp(complained, "DGEX    ", 8), "xerbla_array_ calls the program's xerbla_");
}

static void test_openblas(void)
{
    const double a[4] = {1, 2, 3, 4};
    const number z[2] = {1 + 2 * I, 3};
    double b[4] = {0};

    openblas_set_num_threads(1);
    cblas_domatcopy(102, 112, 2, 2, 2, a, 2, b, 2);
    if (!openblas_get_num_threads()) {
        printf("ok %d # SKIP the host BLAS is no OpenBLAS\n", ++tap_count_);
        return;
    }
    tap_ok(b[0] == 2 && b[1] == 6 && b[2] == 4 && b[3] == 8, "nine arguments, three of them on the stack");
    tap_ok(cblas_zdotc(2, z, 1, z, 1) == 14 && cblas_dsum(4, a, 1) == 10, "values");
    tap_ok(openblas_get_num_threads() == 1, "threads");
}

/* --- LAPACK's --------------------------------------------------------------------------------------------------- */

static number *a, *x, *y;
static uint64_t faults;

static uint64_t faults_now(void)
{
    struct semcache_statistics s = {.size = sizeof s};

    semcache_statistics(&s);
    return s.faults_read + s.faults_write;
}

static number first(int i) { return i % 7 - 3 + (i % 5 - 2) * I; }

/* Makes the three arrays dirty on devices, with the values of first(). */
static void begin(void)
{
    const int all = N * N, n = 2 * N, one = 1;
    const number unit = 2;

    for (int i = 0; i < all; i++)
        a[i] = first(i) / 2;
    for (int i = 0; i < n; i++)
        x[i] = first(i + 1) / 2, y[i] = first(i + 2) / 2;
    zscal_(&all, &unit, a, &one);
    zscal_(&n, &unit, x, &one);
    zscal_(&n, &unit, y, &one);
    faults = faults_now();
}

/* Of the lower triangle. */
static number element(int r, int c, bool packed)
{
    int low = r > c ? c : r, high = r > c ? r : c;

    return packed ? first(high - low + low * N - low * (low - 1) / 2) : first(high + low * N);
}

static void end(const char *name, bool right)
{
    tap_ok(right, "%s: right", name);
}

static void product(const char *name, bool packed)
{
    const number alpha = 2, beta = 3;
    const int n = N, two = 2, back = -1;
    bool right = true;
    uint64_t during;

    begin();
    if (packed)
        zspmv_("L", &n, &alpha, a, x, &two, &beta, y, &back, 1);
    else
        zsymv_("L", &n, &alpha, a, &n, x, &two, &beta, y, &back, 1);
    during = faults_now() - faults;
    for (int r = 0; r < N; r++) {
        number sum = 0;

        for (int c = 0; c < N; c++)
            sum += element(r, c, packed) * first(2 * c + 1);
        right = right && y[N - 1 - r] == alpha * sum + beta * first(N - 1 - r + 2);
    }
    tap_ok(during == 0, "%s: %d faults", name, (int)during);
    end(name, right);
}

static void update(const char *name, bool packed)
{
    const number alpha = 2;
    const int n = N, two = 2;
    bool right = true;
    uint64_t during;

    begin();
    if (packed)
        zspr_("L", &n, &alpha, x, &two, a, 1);
    else
        zsyr_("L", &n, &alpha, x, &two, a, &n, 1);
    during = faults_now() - faults;
    for (int c = 0; c < N; c++)
        for (int r = c; r < N; r++) {
            number now = packed ? a[r - c + c * N - c * (c - 1) / 2] : a[r + c * N];

            right = right && now == element(r, c, packed) + alpha * first(2 * r + 1) * first(2 * c + 1);
        }
    tap_ok(during == 0, "%s: %d faults", name, (int)during);
    end(name, right);
}

static void vectors(void)
{
    const int n = N, two = 2, back = -2;
    const double c = 3;
    const number s = 2 + I;
    bool right = true;
    uint64_t during;

    begin();
    zrot_(&n, x, &two, y, &back, &c, &s);
    zlacgv_(&n, x, &two);
    during = faults_now() - faults;
    for (int i = 0; i < N; i++) {
        number p = first(2 * i + 1), q = first(2 * (N - 1 - i) + 2);

        right = right && x[2 * i] == conj(c * p + s * q) && y[2 * (N - 1 - i)] == c * q - conj(s) * p &&
                x[2 * i + 1] == first(2 * i + 2);
    }
    tap_ok(during == 0, "zrot, zlacgv: %d faults", (int)during);
    end("zrot, zlacgv", right);
}

int main(int argc, char **argv)
{
    (void)argv;
    test_reference();
    test_openblas();
    if (argc > 1)
        return tap_done();
    a = malloc(N * N * sizeof *a);
    x = malloc(2 * N * sizeof *x);
    y = malloc(2 * N * sizeof *y);
    if (!a || !x || !y)
        return 1;
    product("zsymv", false);
    product("zspmv", true);
    update("zsyr", false);
    update("zspr", true);
    vectors();
    free(a);
    free(x);
    free(y);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
