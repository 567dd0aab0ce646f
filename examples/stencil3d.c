/* Heat in a box: a 7-point stencil on n x n x n points, planes distributed over the devices, with a kernel of its own
 * (semcache/tasks.h).
 *
 *   stencil3d [-b] [N [STEPS]]
 *
 * -b: times the steps on GPUs after two others, beside the same steps in CUDA alone, and compares the results.
 *
 * A part of the planes and its two halo planes are three operands: the part stays in place on its device, and a step
 * moves the halo planes only.  The program compares its result with a plain loop. */
#include <stdbool.h>
#include <string.h>

#include "semcache/tasks.h"

#include "example.h"
#include "stencil3d.h"

/* The plain loop, on whole arrays. */
static void step(const double *from, double *to, int64_t n)
{
    for (int64_t k = 1; k < n - 1; k++)
        for (int64_t j = 1; j < n - 1; j++)
            for (int64_t i = 1; i < n - 1; i++) {
                const double *u = from + i + n * (j + n * k);

                to[i + n * (j + n * k)] = stencil3d_point(u[0], u[-1], u[1], u[-n], u[n], u[-n * n], u[n * n]);
            }
}

/* The kernel of the host and of emulated devices.  Operands: the part of the new values, the part of the old values,
 * the plane below and the plane above, which are empty at the ends of the box. */
static void step_part(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    (void)place, (void)count, (void)arguments;
    for (int64_t k = 0; k < v[0].planes; k++)
        for (int64_t j = 0; j < v[0].cols; j++)
            for (int64_t i = 0; i < v[0].rows; i++)
                stencil3d_element(v, i, j, k);
}

#ifndef STENCIL3D_GPU
#define stencil3d_gpu NULL
static void stencil3d_synchronize(int devices) { (void)devices; }
static double stencil3d_hand(int64_t n, int64_t warm, int64_t steps, int devices, const double *initial,
                             double *result)
{
    (void)n, (void)warm, (void)steps, (void)devices, (void)initial, (void)result;
    return -1;
}
#endif

/* One step of one part: *to := stencil of *from. */
static enum semcache_status run_part(const struct semcache_decomposition *planes, const struct semcache_region *to,
                                     const struct semcache_region *from, int64_t part)
{
    struct semcache_region target, source, wide, below, above;
    struct semcache_operand operands[4] = {{&target, SEMCACHE_WRITE}, {&source, SEMCACHE_READ},
                                           {&below, SEMCACHE_READ}, {&above, SEMCACHE_READ}};
    struct semcache_task task = {.size = sizeof task, .kernel = stencil3d_gpu, .host = step_part, .operands = operands,
                                 .count = 4};
    size_t plane = (size_t)from->plane;
    bool first, last;

    if (semcache_part(planes, to, part, 0, &target, &task.device) != SEMCACHE_OK ||
        semcache_part(planes, from, part, 0, &source, NULL) != SEMCACHE_OK ||
        semcache_part(planes, from, part, 1, &wide, NULL) != SEMCACHE_OK)
        return SEMCACHE_ERROR_INVALID;
    if (!source.planes)
        return SEMCACHE_OK;
    first = wide.memory == source.memory;
    last = wide.planes == source.planes + !first;
    below = above = source;
    below.planes = !first;
    above.planes = !last;
    below.memory = first ? source.memory : wide.memory;
    above.memory = (double *)source.memory + (last ? 0 : plane * (size_t)source.planes);
    return semcache_run(&task, NULL);
}

static double *box(int64_t n)
{
    double *u = semcache_alloc((size_t)(n * n * n) * sizeof *u);

    if (!u)
        exit(2);
    for (int64_t i = 0; i < n * n * n; i++)
        u[i] = example_element((uint32_t)i, 7);
    return u;
}

static bool run_steps(const struct semcache_decomposition *planes, const struct semcache_region whole[2], int64_t from,
                      int64_t end)
{
    for (int64_t s = from; s < end; s++)
        for (int64_t p = 0; p < planes->parts; p++)
            if (run_part(planes, &whole[(s + 1) % 2], &whole[s % 2], p) != SEMCACHE_OK)
                return false;
    return true;
}

static int64_t differences(const double *a, const double *b, int64_t count)
{
    int64_t wrong = 0;

    for (int64_t i = 0; i < count; i++)
        wrong += a[i] != b[i];
    printf("wrong: %lld%s\n", (long long)wrong, wrong ? "" : " ok");
    return wrong;
}

/* Two steps and `steps` timed steps, with the devices idle before and after. */
static int64_t compare(const struct semcache_decomposition *planes, const struct semcache_region whole[2], int64_t n,
                       int64_t steps)
{
    const double *u = whole[0].memory;
    double *initial = example_doubles((size_t)(n * n * n)), *result = example_doubles((size_t)(n * n * n));
    int devices = (int)planes->parts;
    double seconds, hand;
    int64_t wrong;

    memcpy(initial, u, (size_t)(n * n * n) * sizeof *u);
    if (!run_steps(planes, whole, 0, 2))
        return 1;
    stencil3d_synchronize(devices);
    seconds = example_now();
    if (!run_steps(planes, whole, 2, steps + 2))
        return 1;
    stencil3d_synchronize(devices);
    seconds = (example_now() - seconds) / (double)steps;
    hand = stencil3d_hand(n, 2, steps, devices, initial, result) / (double)steps;
    printf("%lld^3 points, %d devices, a step: tasks %.6f s, CUDA alone %.6f s, ratio %.4f\n", (long long)n, devices,
           seconds, hand, seconds / hand);
    semcache_region_wait(&whole[steps % 2]);
    wrong = hand < 0 ? 1 : differences(whole[steps % 2].memory, result, n * n * n);
    free(initial);
    free(result);
    return wrong;
}

/* The steps, what they moved, and the result of the plain loop. */
static int64_t check(const struct semcache_decomposition *planes, const struct semcache_region whole[2], int64_t n,
                     int64_t steps)
{
    struct semcache_statistics before = {.size = sizeof before}, after = before;
    double *plain[2], since = example_now();
    int64_t wrong;

    for (int i = 0; i < 2; i++) {
        plain[i] = example_doubles((size_t)(n * n * n));
        memcpy(plain[i], whole[i].memory, (size_t)(n * n * n) * sizeof *plain[i]);
    }
    semcache_statistics(&before);
    if (!run_steps(planes, whole, 0, steps))
        return 1;
    semcache_statistics(&after);
    semcache_region_wait(&whole[steps % 2]);
    printf("%lld^3 points, %lld steps, %lld parts: %.3f s\n", (long long)n, (long long)steps,
           (long long)planes->parts, example_now() - since);
    printf("moved by the steps: to devices %llu, to the host %llu, between devices %llu bytes\n",
           (unsigned long long)(after.bytes_h2d - before.bytes_h2d),
           (unsigned long long)(after.bytes_d2h - before.bytes_d2h),
           (unsigned long long)(after.bytes_d2d - before.bytes_d2d));
    for (int64_t s = 0; s < steps; s++)
        step(plain[s % 2], plain[(s + 1) % 2], n);
    wrong = differences(whole[steps % 2].memory, plain[steps % 2], n * n * n);
    free(plain[0]);
    free(plain[1]);
    return wrong;
}

int main(int argc, char **argv)
{
    bool timed = argc > 1 && strcmp(argv[1], "-b") == 0;
    int64_t n = argc > 1 + timed ? atoll(argv[1 + timed]) : 64, steps = argc > 2 + timed ? atoll(argv[2 + timed]) : 10;
    struct semcache_decomposition planes = {.size = sizeof planes, .cut = SEMCACHE_PLANES, .parts = 1};
    struct semcache_region whole[2];
    double *u[2] = {box(n), box(n)};
    int64_t wrong;

    if (semcache_init() == SEMCACHE_OK)
        planes.parts = semcache_device_count();
    for (int i = 0; i < 2; i++)
        semcache_region_3d(&whole[i], u[i], SEMCACHE_FLOAT64, n, n, n, n, n * n);
    for (int i = 0; i < 2; i++)
        semcache_distribute(&planes, &whole[i]); /* without devices the steps run on the host */
    wrong = timed ? compare(&planes, whole, n, steps) : check(&planes, whole, n, steps);
    semcache_free(u[0]);
    semcache_free(u[1]);
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
