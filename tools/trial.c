/* A call, repeated from the same state of the operands. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autotuner/explain.h"
#include "base/config.h"
#include "base/inside.h"
#include "base/median.h"
#include "blas/blas.h"
#include "coherence/access.h"
#include "coherence/devices.h"
#include "coherence/faults.h"
#include "host/host.h"
#include "tools/tool.h"
#include "tools/trial.h"

#define ROUNDS 5      /* repetitions for the median, and a first call */
#define HOST_ROUNDS 3
/* s: OpenBLAS's threads look for work for 2^28 ticks of the processor's clock, 0.1 to 0.13 s, and every page closed in
 * this time interrupts all threads. An upload of an operand then takes 25 us longer on 32 processors. */
#define REST 0.15
#define PATTERN ((size_t)1 << 20) /* bytes of the contents of operands */

struct operand {
    char *at;
    int64_t rows, cols; /* a vector: 1 column */
    size_t bytes;
    bool written;
};

static const struct sc_host_callbacks callbacks = {
    .fault = sc_coherence_fault, .read_ahead = sc_coherence_read_ahead, .forget = sc_coherence_forget,
    .withdraw = sc_coherence_withdraw,
    .acquire = sc_coherence_acquire_host, .home = sc_coherence_fork_prepare, .child = sc_coherence_fork_child,
    .resume = sc_coherence_fork_parent};

/* Results are not pushed to the host: a trial reads every result, and would train the library. */
bool sc_trial_start(const struct sc_device_ops *ops, int devices)
{
    sc_config.push = 0;
    if (sc_host_arena_start() == SC_OK && sc_coherence_start(ops, devices, &sc_tool_device_host) == SC_OK &&
        sc_host_faults_start(&callbacks) == SC_OK)
        return true;
    fprintf(stderr, "semcache tune: the library cannot be started in this process\n");
    return false;
}

void sc_trial_stop(void)
{
    sc_host_faults_stop();
    sc_coherence_stop();
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static struct sc_kernel record_of(const struct sc_trial *t)
{
    return (struct sc_kernel){.op = t->op, .type = t->type, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'L',
                              .diag = 'U', .m = t->m, .n = t->n, .k = t->k, .alpha = {1e-3, 0}, .beta = {1, 0}};
}

/* Fills in the shapes in the order a, b, c.  False: trials do not have the operation. */
static bool shapes(const struct sc_trial *t, struct operand o[3])
{
    const struct sc_kernel k = record_of(t);
    struct sc_view view[SC_VIEWS_MAX];

    if (sc_op_is_packed(t->op) || sc_op_is_banded(t->op) || sc_op_is_sparse(t->op))
        return false;
    for (int i = sc_kernel_views(&k, view) - 1; i >= 0; i--)
        o[sc_ops[t->op].slots[i] - 'a'] = (struct operand){.rows = view[i].rows, .cols = view[i].cols,
                                                           .bytes = (size_t)sc_view_bytes(&view[i]),
                                                           .written = view[i].access & SC_WRITE};
    return true;
}

uint64_t sc_trial_bytes(const struct sc_trial *t)
{
    struct operand o[3] = {{0}};

    return shapes(t, o) ? (uint64_t)o[0].bytes + o[1].bytes + o[2].bytes : 0;
}

/* Small numbers around zero: products and solutions with a unit diagonal stay finite, and the energy is realistic. */
static void fill(char *at, size_t bytes, enum sc_type type)
{
    static double doubles[PATTERN / sizeof(double)];
    static float floats[PATTERN / sizeof(float)];
    const void *from = type == SC_S || type == SC_C ? (const void *)floats : (const void *)doubles;
    uint32_t state = 12345;

    for (size_t i = 0; i < PATTERN / sizeof(float) && !floats[0]; i++) {
        size_t j = PATTERN / sizeof(float) - 1 - i;

        state = state * 1664525 + 1013904223;
        floats[j] = ((float)(state >> 8) - 8388607.5f) * 1e-12f;
        doubles[j / 2] = floats[j];
    }
    for (size_t done = 0; done < bytes; done += PATTERN)
        memcpy(at + done, from, bytes - done < PATTERN ? bytes - done : PATTERN);
}

static bool allocate(struct operand *o, enum sc_type type)
{
    for (int i = 0; i < 3; i++) {
        if (!o[i].bytes)
            continue;
        o[i].at = sc_host_alloc(o[i].bytes);
        if (!o[i].at)
            return false;
        fill(o[i].at, o[i].bytes, type);
    }
    return true;
}

static void release(struct operand *o)
{
    for (int i = 0; i < 3; i++)
        if (o[i].at)
            sc_coherence_host_free(o[i].at);
}

static struct sc_kernel kernel_of(const struct sc_trial *t, const struct operand *o, char *result)
{
    struct sc_kernel k = record_of(t);
    int64_t *ld[3] = {&k.lda, &k.ldb, &k.ldc};

    k.a = o[0].at, k.b = o[1].at, k.c = o[2].at, k.result = result;
    for (int i = 0; i < 3; i++)
        *ld[i] = o[i].cols > 1 || (sc_op_level(t->op) == 3 && o[i].rows) ? o[i].rows : 1;
    return k;
}

/* --- time --------------------------------------------------------------------------------------------------------- */

static double clock_now(void) { return sc_explain_clock(-1); }

/* The time of the devices: virtual for emulated devices. */
static double devices_now(void) { return sc_explain_clock(sc_coherence_virtual_seconds()); }

/* --- states ------------------------------------------------------------------------------------------------------- */

static const struct operand *largest_of(const struct operand *o)
{
    const struct operand *largest = o;

    for (int i = 1; i < 3; i++)
        if (o[i].bytes > largest->bytes)
            largest = &o[i];
    return largest;
}

/* Restores the state before the call: data written by the CPU is on no device. */
static bool prepare(const struct sc_trial *t, const struct sc_kernel *kernel, const struct operand *o)
{
    if (t->there != SC_TRIAL_NOWHERE && !sc_blas_on_devices(kernel))
        return false;
    for (int i = 0; i < 3; i++)
        if (o[i].bytes && t->there != SC_TRIAL_ALL && (t->there == SC_TRIAL_NOWHERE || &o[i] != largest_of(o)))
            sc_coherence_acquire_host((uintptr_t)o[i].at, o[i].bytes, SC_RDWR);
    sc_blas_recall_forget();
    sc_coherence_drain();
    return true;
}

static bool time_devices(struct sc_trial *t, const struct sc_kernel *kernel, const struct operand *o)
{
    double device[ROUNDS], result[ROUNDS];

    for (int i = -1; i < ROUNDS; i++) {
        double start, done;

        if (!prepare(t, kernel, o) || !sc_blas_predict(kernel, &t->call, &t->predicted))
            return false;
        start = devices_now();
        if (!sc_blas_on_devices(kernel))
            return false;
        sc_coherence_drain();
        done = devices_now();
        for (int p = 0; p < 3; p++)
            if (o[p].written)
                sc_coherence_acquire_host((uintptr_t)o[p].at, o[p].bytes, SC_READ);
        if (i >= 0) {
            device[i] = done - start;
            result[i] = devices_now() - done;
        }
    }
    t->device = sc_median(device, ROUNDS);
    t->result = sc_median(result, ROUNDS);
    return true;
}

/* Fetches are timed by the devices' clock; the host's routine never is. */
static bool time_host(struct sc_trial *t, const struct sc_kernel *kernel, const struct operand *o)
{
    double host[HOST_ROUNDS];

    for (int i = -1; i < HOST_ROUNDS; i++) {
        double start, fetched, run;

        if (!prepare(t, kernel, o))
            return false;
        start = devices_now();
        for (int p = 0; p < 3; p++)
            if (o[p].bytes)
                sc_coherence_acquire_host((uintptr_t)o[p].at, o[p].bytes, o[p].written ? SC_RDWR : SC_READ);
        fetched = devices_now() - start;
        run = clock_now();
        if (sc_device_kernel_host(sc_blas_host_symbol, kernel) != SC_OK)
            return false;
        if (i >= 0)
            host[i] = fetched + clock_now() - run;
    }
    t->host = sc_median(host, HOST_ROUNDS);
    if (sc_coherence_virtual_seconds() < 0)
        nanosleep(&(struct timespec){0, (long)(REST * 1e9)}, NULL);
    return true;
}

bool sc_trial_run(struct sc_trial *t)
{
    struct operand o[3] = {{0}};
    char result[16];
    struct sc_kernel kernel;
    bool good = shapes(t, o) && allocate(o, t->type);

    t->device = t->result = t->host = 0;
    if (good) {
        kernel = kernel_of(t, o, result);
        good = time_devices(t, &kernel, o);
        if (good && t->predicted.host < t->host_limit)
            good = time_host(t, &kernel, o);
    }
    release(o);
    return good;
}
/* SPDX-License-Identifier: BSD-2-Clause */
