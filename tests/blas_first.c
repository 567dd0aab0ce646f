/* The first call of a process runs on a device. Afterwards no call on the host searches for its routine: a signal
 * handler that has interrupted malloc may make such calls. */
#include "base/config.h"
#include "tests/tap.h"
#include "tests/veneers_fake.h"

static sc_blas_fn before[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX];

static bool start(bool now) { return (void)now, true; }

/* The number of routines of the interface that the host has and a call would have to find. */
static int unresolved(enum sc_blas_interface interface)
{
    int count = 0;

    for (int i = 1; i < sc_blas_routines; i++)
        if (sc_blas_host_symbol(sc_blas_rows[i].fortran) && sc_blas_host[interface][i] == before[interface][i])
            count++;
    return count;
}

int main(void)
{
    enum { N = 64 };
    static double a[N * N], b[N * N], c[N * N];
    const int n = N;
    const double one = 1, zero = 0;

    if (sc_blas_host_open(NULL) != SC_OK)
        tap_skip_all("no host BLAS");
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    offload_answer = true;
    sc_blas_start = start;
    sc_blas_small[3] = 0;
    memcpy(before, sc_blas_host, sizeof before);
    tap_ok(unresolved(SC_BLAS_F77) > 100, "no routine has been found: %d", unresolved(SC_BLAS_F77));
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
    tap_ok(offers == 1, "the first call runs on a device");
    tap_ok(unresolved(SC_BLAS_F77) == 0, "and finds the host's routines: %d are left", unresolved(SC_BLAS_F77));
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
