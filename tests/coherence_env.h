/* The real host, directory, coherence and emulated (or, with SEMCACHE_TEST_DEVICE, real) devices, put together for a
 * test without the BLAS layer. */
#ifndef SC_TESTS_COHERENCE_ENV_H
#define SC_TESTS_COHERENCE_ENV_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "coherence/access.h"
#include "coherence/derived.h"
#include "coherence/devices.h"
#include "coherence/faults.h"
#include "device/device.h"
#include "device/submit.h"
#include "directory/directory.h"
#include "host/host.h"
#include "tests/submit_env.h"
#include "tests/tap.h"
#include "trace/trace.h"

static void *env_blas;

static inline void *env_symbol(const char *name)
{
    return dlsym(env_blas, name);
}

static const struct sc_host_callbacks env_callbacks = {
    .fault = sc_coherence_fault, .landed = sc_coherence_fault_landed, .read_ahead = sc_coherence_read_ahead,
    .forget = sc_coherence_forget, .withdraw = sc_coherence_withdraw,
    .acquire = sc_coherence_acquire_host, .home = sc_coherence_fork_prepare, .child = sc_coherence_fork_child,
    .resume = sc_coherence_fork_parent};

static const struct sc_device_host env_host = {.config = &sc_config, .blas_symbol = env_symbol, .log = sc_log,
                                               .thread_enter = sc_inside_enter};

/* Once for the process: host BLAS, arena, settings. */
static inline void env_init(void)
{
    static char machines[4096], modules[4096];
    const char *src = getenv("top_srcdir"), *build = getenv("top_builddir");

    setenv("OPENBLAS_NUM_THREADS", "1", 0); /* idle threads of OpenBLAS, the devices' too, would wait in loops */
    sc_inside_enter();
    env_blas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!env_blas)
        env_blas = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
    sc_inside_leave();
    snprintf(machines, sizeof machines, "%s/device/emu/machines", src ? src : ".");
    snprintf(modules, sizeof modules, "%s/.libs", build ? build : ".");
    sc_config.machine_path = machines;
    sc_config.module_path = modules;
    sc_config.check = 1;
    sc_config.arena_bytes = sc_config.arena_bytes ? sc_config.arena_bytes : UINT64_C(1) << 36;
    sc_config.arena_min = 8192;
    sc_config.window_min = 65536;
    sc_config.window_max = 1 << 20;
    if (sc_host_arena_start() != SC_OK)
        tap_ok(0, "the arena");
}

/* Set before env_start: waits of the program take no time, so that decisions follow the model alone, whatever else a
 * machine with real devices has to do.  Emulated devices have a clock of their own. */
static bool env_timeless;

static inline double env_no_time(enum sc_host_event event)
{
    (void)event;
    return 0;
}

static inline const struct sc_device_ops *env_without_time(const struct sc_device_ops *ops)
{
    static struct sc_device_ops timeless;

    if (ops->host_clock)
        return ops;
    timeless = *ops;
    timeless.host_clock = env_no_time;
    return &timeless;
}

/* Starts the devices `emulated` ("emu:h200x8:2"), or the devices of SEMCACHE_TEST_DEVICE. Returns their number. */
static inline int env_start(const char *emulated, uint64_t memory_limit)
{
    const char *device = getenv("SEMCACHE_TEST_DEVICE");
    const struct sc_device_ops *ops;
    int count = 0;

    sc_config.memory_limit = memory_limit;
    submit_as_tested();
    if (env_is_emulated())
        device = emulated;
    if (sc_device_open(&env_host, device, &ops, &count) != SC_OK || !ops)
        tap_skip_all_for_gpu("no such device here");
    if (env_timeless)
        ops = env_without_time(ops);
    if (sc_coherence_start(ops, count, &env_host) != SC_OK || sc_host_faults_start(&env_callbacks) != SC_OK)
        tap_ok(0, "start on %s", device);
    return count;
}

/* Submission threads (device/submit.c) may not have submitted a call's operations when the call returns. */
static inline void env_submitted(void) { sc_submit_settle(60); }

/* Memory of the arena even for small sizes; NULL fails the test. */
static inline void *env_memory(size_t bytes)
{
    void *p = sc_host_alloc(bytes < 8192 ? 8192 : bytes);

    if (!p)
        tap_ok(0, "memory");
    return p;
}

/* Whether a kernel on the device reads numbers whose squares add up to `sum`; NaN in any element is found. */
static inline bool env_reads(int device, struct sc_view vector, double sum)
{
    struct sc_kernel k = {.op = SC_OP_DOT, .type = SC_D, .m = vector.rows, .n = vector.rows};
    struct sc_operand o;
    struct sc_piece piece = {.operand = &o, .rows = vector.rows, .cols = 1, .access = SC_READ};
    struct sc_fence f;
    void *result;

    if (sc_coherence_begin(&vector, 1, &o) != SC_OK ||
        sc_coherence_task(device, &k, (struct sc_piece[3]){piece, piece}, &f, &result) != SC_OK)
        return false;
    sc_coherence_push(&o, 1, NULL);
    sc_coherence_end(&o, 1);
    return sc_coherence_wait(f) == SC_OK && *(double *)result == sum;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
