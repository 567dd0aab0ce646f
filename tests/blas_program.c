/* Calls beyond the host BLAS's 32-bit integers go to the BLAS that the program brought, with all 64 bits of every
 * argument, wherever in the process this BLAS is. */
#include <dlfcn.h>

#include "base/config.h"
#include "tests/tap.h"
#include "tests/veneers_fake.h"

static bool start(bool now) { return now || true; }

typedef void copy_function(int64_t n, const double *x, int64_t incx, double *y);

/* NumPy's argument for a step of -4 doubles: the result of an unsigned division. */
static const int64_t back4 = (int64_t)((uint64_t)-32 / 8);
static double x[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static void copy(int64_t n, const double *from, int64_t inc, double *to)
{
    const int64_t one = 1;

    dcopy_64_(&n, from, &inc, to, &one);
}

static bool goes_back(copy_function *fn)
{
    double y[3] = {-1, -1, -1};

    fn(3, x + 8, back4, y);
    return y[0] == 8 && y[1] == 4 && y[2] == 0;
}

/* Whether the call arrives at library `which` with its size unchanged. */
static bool arrives(copy_function *fn, int which)
{
    const int64_t huge = -((int64_t)1 << 40) - 3;
    double y[2] = {0, 0};

    fn(huge, x, 1, y);
    if (y[0] != (double)huge || y[1] != which)
        tap_diag("%.0f arrived at %g", y[0], y[1]);
    return y[0] == (double)huge && y[1] == which;
}

static void test_alone(void)
{
    const int64_t n = 3, wrapped = 3 + (INT64_C(1) << 61), two = 2;
    double y[3] = {1, 1, 1}, a[4] = {1, 2, 3, 4}, alpha = 2;

    tap_ok(goes_back(copy), "an increment that wraps around, without any other BLAS");
    tap_ok(ddot_64_(&n, x + 1, &wrapped, x + 8, &back4) == 1 * 8 + 4 * 4 + 7 * 0, "two of them");
    tap_ok(idamax_64_(&n, x, &wrapped) == 3 && dasum_64_(&n, x, &wrapped) == 9 && dnrm2_64_(&n, x, &wrapped) > 6.7,
           "one vector alone");
    dscal_64_(&n, &alpha, y, &wrapped);
    tap_ok(y[0] == 2 && y[1] == 1, "and changed");
    daxpy_64_(&two, &alpha, a + 1, &(int64_t){1 - (INT64_C(1) << 61)}, y, &(int64_t){1});
    tap_ok(y[0] == 4 && y[1] == 5, "a negative increment that goes forwards");
}

static void test_program(void)
{
    void *first = dlopen("./tests/.libs/libbundled.so", RTLD_NOW | RTLD_LOCAL);
    void *second = dlopen("./tests/.libs/libbundled_other.so", RTLD_NOW | RTLD_LOCAL);
    void *user = dlopen("./tests/.libs/libbundled_user.so", RTLD_NOW | RTLD_LOCAL);
    void *other = dlopen("./tests/.libs/libbundled_other_user.so", RTLD_NOW | RTLD_LOCAL);
    copy_function *by_user, *by_other;
    int *calls;

    if (!tap_ok(first && second && user && other, "libraries that call the BLAS that they were linked with"))
        return;
    by_user = (copy_function *)dlsym(user, "bundled_copy");
    by_other = (copy_function *)dlsym(other, "bundled_copy");
    tap_ok(arrives(by_user, 1) && arrives(by_other, 2) && arrives(by_user, 1), "each of them gets its own");
    calls = dlsym(first, "bundled_calls");
    *calls = 0;
    tap_ok(goes_back(by_user) && *calls == 1, "with an increment that wraps around");
    tap_ok(cblas_ddot64_(3, x + 8, back4, x + 1, 1) == 8 * 1 + 4 * 2 + 0 * 3 && *calls == 2,
           "the program itself gets that of any library, by the CBLAS name");
    sc_blas_small[1] = 0;
    offers = 0;
    tap_ok(arrives(by_other, 2) && arrives(by_user, 1), "a call that the devices are asked for");
    tap_ok(goes_back(by_user) && goes_back(by_other) && goes_back(copy) && offers == 3,
           "%d of 3 asked for, and done by the host", offers);
}

int main(void)
{
    if (sc_blas_host_open(NULL) != SC_OK)
        tap_skip_all("no host BLAS");
    if (sc_blas_host_symbol("dcopy_64_"))
        tap_skip_all("the host BLAS has 64-bit integers");
    for (int level = 1; level <= 3; level++)
        sc_blas_small[level] = INT64_MAX;
    sc_config.open = SC_OPEN_FIRST;
    sc_blas_start = start;
    test_alone();
    test_program();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
