/* The random BLAS test on the fake protocol: only the decomposition is under test. */
#include <dlfcn.h>
#include <stdlib.h>

#include "autotuner/strips.h"
#include "base/config.h"
#include "blas/blas.h"
#include "tests/blas_random.h"
#include "tests/fake_coherence.h"
#include "tests/tap.h"

void *reference_symbol(const char *name)
{
    static void *handle;

    if (!handle) {
        setenv("OPENBLAS_NUM_THREADS", "1", 0);
        handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            handle = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
    }
    return handle ? dlsym(handle, name) : NULL;
}

void target_start(void)
{
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    if (!reference_symbol("dgemm_")) {
        printf("1..0 # SKIP no host BLAS found\n");
        exit(0);
    }
}

void target_vary(struct random *r)
{
    static const int64_t steps[] = {3, 7, 16, 40, 1000};

    fake.devices = 1 + (int)random_below(r, 4);
    fake.homes = (enum fake_homes)random_below(r, 4);
    fake.tile_rows = steps[random_below(r, 5)];
    fake.tile_cols = steps[random_below(r, 5)];
    fake.tile_vector = 2 * steps[random_below(r, 5)];
    fake.sector = 1 + random_below(r, 5);
    fake.phase = random_next(r);
    fake.run = random_below(r, 2) ? 1 + random_below(r, 50) : 0;
    fake.column = random_below(r, 2) ? 1 + random_below(r, 20) : 0;
    fake.cold = random_below(r, 2);
    fake.host_has = random_below(r, 2);
    sc_config.host_share = (int)random_below(r, 60);
    fake.fail_temporary = random_below(r, 3) ? 0 : 1 + (int)random_below(r, 4);
    fake.fail_task = random_below(r, 3) ? 0 : 1 + (int)random_below(r, 4);
    fake.conflict = random_below(r, 50) == 0;
    sc_config.schedule = (enum sc_strategy)random_below(r, SC_STRATEGIES);
    sc_config.memory_limit = random_below(r, 2) ? 500 + (uint64_t)random_below(r, 20000) : 0; /* calls in parts */
    sc_strips_fixed = random_below(r, 2) ? 1 + random_below(r, 30) : 0; /* results are cut, too */
}

void *target_alloc(size_t bytes, struct random *r)
{
    (void)r;
    return malloc(bytes);
}

void target_free(void *memory)
{
    free(memory);
}

bool target_run(const struct sc_kernel *kernel)
{
    bool done = sc_blas_offload(1, kernel, false, NULL);

    if (fake.live_temporaries) {
        fake.errors++;
        tap_diag("%d temporaries not freed", fake.live_temporaries);
        fake.live_temporaries = 0;
    }
    return done;
}

int target_errors(void)
{
    return fake.errors;
}
/* SPDX-License-Identifier: BSD-2-Clause */
