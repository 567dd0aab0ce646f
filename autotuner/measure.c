/* Order, time and memory of the measurements. Important measurements come first, because the series may be ended.
 */
#include "autotuner/measure.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "autotuner/measure_int.h"
#include "base/log.h"
#include "base/median.h"

/* The full version takes at least 10 values, and a 95% confidence interval within 5% of the mean (PARALiA, 3.4). 100
 * values or 1 s end a series with a wider interval; virtual time has no variance. In the quick version one disturbed
 * value of few decides the mean. The quick version takes the median of the host's values: a host routine with a thread
 * on every processor took 0.5 ms instead of 10 us beside a driver. Of a device's values the quick version takes the
 * least: the program computes meanwhile, and its threads and kernels only add time. */
#define QUICK_MOST 6
static const struct effort {
    int least, most;
    double seconds;
} full = {10, 100, 1.0}, quick = {3, QUICK_MOST, 0.1}, virtual = {2, 3, 1e9};
#define INTERVAL 0.025 /* half of the interval */
#define KEEP_SECONDS 0.5 /* a process that is killed loses so much; short programs measure for less than a second */

double sc_bench_real_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double sc_bench_now(const struct sc_bench *b)
{
    return b->how->ops->virtual_seconds ? b->how->ops->virtual_seconds() : sc_bench_real_now();
}

bool sc_bench_step(struct sc_bench *b, const char *format, ...)
{
    const struct sc_measure *how = b->how;
    char what[96];
    va_list args;

    if (b->counting) {
        b->total++;
        return false;
    }
    b->cut = b->cut || (how->stop && how->stop(how->arg));
    if (b->cut)
        return false;
    b->done++;
    if (how->keep && sc_bench_real_now() - b->kept > KEEP_SECONDS) {
        b->kept = sc_bench_real_now();
        how->keep(how->arg, b->db);
    }
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (how->progress)
        how->progress(how->arg, what, b->done - 1, b->total);
    return true;
}

static double least_of(const double *values, int count)
{
    double least = values[0];

    for (int i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

double sc_bench_mean(struct sc_bench *b, double (*once)(struct sc_bench *b, void *what), void *what, bool real)
{
    const struct effort *effort = b->how->ops->virtual_seconds && !real ? &virtual : b->how->quick ? &quick : &full;
    struct sc_sample sample = {0};
    double start, few[QUICK_MOST];

    if (once(b, what) <= 0) /* the first try warms up */
        return 0;
    start = sc_bench_real_now();
    while (!sc_sample_is_good(&sample, effort->least, INTERVAL)) {
        bool enough = sample.count >= effort->most || sc_bench_real_now() - start > effort->seconds;
        double seconds;

        if (sample.count >= effort->least && enough)
            break;
        seconds = once(b, what);
        if (seconds <= 0)
            return 0;
        if (sample.count < QUICK_MOST)
            few[sample.count] = seconds;
        sc_sample_add(&sample, seconds);
    }
    if (effort != &quick)
        return sample.mean;
    return real ? sc_median(few, (size_t)sample.count) : least_of(few, sample.count);
}

/* --- memory for transfers ----------------------------------------------------------------------------------------- */

static enum sc_status allocate(struct sc_bench *b)
{
    const struct sc_device_ops *ops = b->how->ops;
    size_t bytes = (size_t)2 * SC_BENCH_CHUNK * (size_t)b->how->devices;
    enum sc_status status = SC_OK;
    struct sc_fence ready;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return SC_ERR_MEMORY;
    status = ops->pin(memory, bytes);
    if (status != SC_OK) {
        munmap(memory, bytes);
        return status;
    }
    b->pinned = memory;
    b->pinned_bytes = bytes;
    for (int d = 0; d < b->how->devices && status == SC_OK; d++) {
        status = ops->alloc(d, (size_t)2 * SC_BENCH_CHUNK, &memory, &ready);
        if (status == SC_OK) {
            b->chunk[d] = memory;
            status = ops->sync(ready);
        }
    }
    return status;
}

static void release(struct sc_bench *b)
{
    for (int d = 0; d < b->how->devices; d++)
        if (b->chunk[d])
            b->how->ops->free(d, b->chunk[d], NULL, 0); /* its users have ended */
    if (b->pinned) {
        b->how->ops->unpin(b->pinned, b->pinned_bytes);
        munmap(b->pinned, b->pinned_bytes);
    }
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* The device whose kernels stand for kernels of this device: the device itself; in the quick version the first device
 * of the same kind. */
static int model_of(const struct sc_bench *b, int device)
{
    for (int d = 0; b->how->quick && d < device; d++)
        if (strcmp(b->properties[d].name, b->properties[device].name) == 0)
            return d;
    return device;
}

static enum sc_status copy_kernels(struct sc_database *db, int from, int to)
{
    enum sc_status status = SC_OK;
    int count = db->kernels;

    for (int i = 0; i < count && status == SC_OK; i++) {
        struct sc_database_kernel kernel = db->kernel[i];

        kernel.place = (uint8_t)to;
        if (db->kernel[i].place == from &&
            !sc_database_find_kernel(db, to, (enum sc_op)kernel.op, (enum sc_type)kernel.type, kernel.size,
                                     kernel.thin))
            status = sc_database_add_kernel(db, &kernel);
    }
    return status;
}

static void stages(struct sc_bench *b)
{
    sc_bench_idle(b);
    sc_bench_links(b);
    sc_bench_exchanges(b);
    for (int d = 0; d < b->how->devices; d++)
        if (model_of(b, d) == d && !b->how->links_only)
            sc_bench_kernels(b, d);
    if (!b->how->links_only && !b->how->devices_only)
        sc_bench_kernels(b, SC_PLACE_HOST);
    sc_bench_sets(b);
    sc_bench_pairs(b);
}

enum sc_status sc_measure(const struct sc_measure *how, struct sc_database *db, bool *complete)
{
    struct sc_bench *b = calloc(1, sizeof *b);
    enum sc_status status;

    if (!b)
        return SC_ERR_MEMORY;
    *b = (struct sc_bench){.how = how, .db = db, .kept = sc_bench_real_now()};
    db->quick = how->quick;
    for (int d = 0; d < how->devices; d++)
        how->ops->properties(d, &b->properties[d]);
    status = allocate(b);
    if (status == SC_OK) {
        b->counting = true;
        stages(b);
        b->counting = false;
        stages(b);
        for (int d = 0; d < how->devices && status == SC_OK; d++)
            if (model_of(b, d) != d)
                status = copy_kernels(db, model_of(b, d), d);
    }
    release(b);
    if (how->progress && status == SC_OK)
        how->progress(how->arg, b->cut ? "stopped" : "done", b->cut ? b->done : b->total, b->total);
    if (complete)
        *complete = status == SC_OK && !b->cut;
    free(b);
    if (!sc_database_index(db) && status == SC_OK)
        status = SC_ERR_INVALID;
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
