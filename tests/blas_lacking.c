/* The reference BLAS as the host BLAS: routines that it lacks are made of further routines, or computed by loops. */
#include "tests/tap.h"
#include "tests/veneers_fake.h"

int main(void)
{
    static const char *const reference[] = {"/usr/lib/x86_64-linux-gnu/blas/libblas.so.3", "libblas.so.3",
                                             NULL};
    const double x[3] = {3, -1, 2};
    double y[3] = {1, 1, 1};
    float a[8] = {1, 1, 2, 0, 0, 1, 1, -1}, c[8] = {0}; /* complex 2 x 2, by columns */
    const float one[2] = {1, 0}, zero[2] = {0, 0};

    sc_blas_host_candidates = reference;
    if (sc_blas_host_open(NULL) != SC_OK || sc_blas_host_symbol("daxpby_"))
        tap_skip_all("no host BLAS that lacks axpby");
    cblas_daxpby(3, 2, x, 1, 3, y, 1);
    tap_ok(y[0] == 9 && y[1] == 1 && y[2] == 7, "axpby");
    tap_ok(cblas_idamin(3, x, 1) == 1 && idamin_64_(&(int64_t){3}, x, &(int64_t){1}) == 2, "iamin, from 0 and from 1");
    cblas_cgemm3m(102, 111, 111, 2, 2, 2, one, a, 2, a, 2, zero, c, 2);
    tap_ok(c[0] == 0 && c[1] == 4 && c[2] == 4 && c[3] == 0 && c[4] == 0 && c[5] == 2 && c[6] == 0 && c[7] == 0,
           "gemm3m: %g %g %g %g %g %g %g %g", c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
