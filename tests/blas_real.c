/* The random BLAS test on the real protocol with emulated devices (or those of SEMCACHE_TEST_DEVICE); results are read
 * back by touching them. WITH_VERIFY: in verification mode, which must find no difference. */
#include "base/config.h"
#include "blas/blas.h"
#include "device/emu/emu.h"
#include "tests/blas_random.h"
#include "tests/coherence_env.h"

#define CALLS_A_MACHINE 150

static bool running;
static int calls;

void *reference_symbol(const char *name)
{
    return env_symbol(name);
}

void target_start(void)
{
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
#ifdef WITH_VERIFY
    sc_blas_verify_start();
#endif
}

/* Chooses a strategy for each call, and at intervals new devices and new sizes of tiles and segments: between calls no
 * array is allocated. */
void target_vary(struct random *r)
{
    static const struct {
        const char *machine;
        uint64_t limit;
        size_t unit;
    } setups[] = {{"emu:h200x8:1", 0, 4096}, {"emu:h200x8:3", 0, 64},
                  {"emu:k20x2", 400000, 32}, {"emu:h200x8:4", 60000, 64}};
    size_t i = (size_t)random_below(r, 4);

    sc_config.host_share = random_below(r, 2) ? (int)random_below(r, 60) : 0;
    sc_config.schedule = (enum sc_strategy)random_below(r, SC_STRATEGIES);
    sc_config.memory_limit = random_below(r, 2) ? 500 + (uint64_t)random_below(r, 20000) : 0; /* calls in parts */
    if (calls++ % CALLS_A_MACHINE)
        return;
    if (running)
        sc_coherence_stop();
    env_start(setups[i].machine, setups[i].limit);
    sc_directory_limits.unit_bytes = setups[i].unit;
    if (env_is_emulated())
        sc_emu_jitter(random_next(r), random_below(r, 2) ? 20 : 0);
    running = true;
}

/* Small blocks lie outside of the arena and cannot be tracked: tests the two kinds. */
void *target_alloc(size_t bytes, struct random *r)
{
    return malloc(random_below(r, 4) && bytes < sc_config.arena_min ? sc_config.arena_min : bytes);
}

void target_free(void *memory)
{
    free(memory);
}

bool target_run(const struct sc_kernel *kernel)
{
    return sc_blas_offload(1, kernel, false, NULL);
}

int target_errors(void)
{
#ifdef WITH_VERIFY
    return (int)(sc_coherence_broken() + sc_blas_diverged) + (calls > 100 && !sc_blas_verified);
#endif
    return (int)sc_coherence_broken();
}
/* SPDX-License-Identifier: BSD-2-Clause */
