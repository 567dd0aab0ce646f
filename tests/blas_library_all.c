/* Every routine of blas/veneers/routines.tab, with every combination of letters and two sizes of integers, through the
 * whole library. Emulated devices take every supported call (SEMCACHE_OFFLOAD=always); results are compared with the
 * host BLAS. The operands lie close together in one tracked block, so most operands share pages. */
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "blas/veneers/prototypes.h"
#include "tests/blas_data.h"
#include "tests/tap.h"

void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    (void)name, (void)info, (void)length;
}

static int differing(void *host, int *compared)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct check *plain = plain_of(&checks[i]);
        sc_blas_fn direct = (sc_blas_fn)dlsym(host, plain->name);

        if (!direct || strstr(plain->name, "gemmt"))
            continue; /* not every BLAS has a CBLAS; gemmt is never the host's (blas/veneers/compute.c) */
        *compared += 1;
        bad += !same_as(&checks[i], checks[i].veneer, plain, direct, false);
    }
    return bad;
}

int main(void)
{
    const char *path = getenv("SEMCACHE_HOST_BLAS");
    void *host = dlopen(path ? path : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    int compared = 0;

    if (!host)
        host = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!host || !dlsym(host, "dgemm_")) {
        printf("1..0 # SKIP no host BLAS to compare with\n");
        return 0;
    }
    data_start(8 << 20);
    tap_ok(differing(host, &compared) == 0, "the same as the host BLAS");
    tap_ok(compared > 300, "%d routines compared", compared);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
