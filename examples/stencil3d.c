/* Heat in a box: a 7-point stencil on n x n x n points, planes distributed over the devices, with a kernel of its own
 * (semcache/tasks.h).
 *
 *   stencil3d [N [STEPS]]
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

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 64, steps = argc > 2 ? atoll(argv[2]) : 10, wrong = 0;
    double *u[2] = {box(n), box(n)}, *check[2] = {example_doubles((size_t)(n * n * n)),
                                                  example_doubles((size_t)(n * n * n))};
    struct semcache_statistics before = {.size = sizeof before}, after = before;
    struct semcache_region whole[2];
    struct semcache_decomposition planes = {.size = sizeof planes, .cut = SEMCACHE_PLANES, .parts = 1};
    double since;

    if (semcache_init() == SEMCACHE_OK)
        planes.parts = semcache_device_count();
    for (int i = 0; i < 2; i++) {
        memcpy(check[i], u[i], (size_t)(n * n * n) * sizeof *u[i]);
        semcache_region_3d(&whole[i], u[i], SEMCACHE_FLOAT64, n, n, n, n, n * n);
        semcache_distribute(&planes, &whole[i]); /* without devices the steps run on the host */
    }
    semcache_statistics(&before);
    since = example_now();
    for (int64_t s = 0; s < steps; s++)
        for (int64_t p = 0; p < planes.parts; p++)
            if (run_part(&planes, &whole[(s + 1) % 2], &whole[s % 2], p) != SEMCACHE_OK)
                return 1;
    semcache_statistics(&after);
    semcache_region_wait(&whole[steps % 2]);
    printf("%lld^3 points, %lld steps, %lld parts: %.3f s\n", (long long)n, (long long)steps, (long long)planes.parts,
           example_now() - since);
    printf("moved by the steps: to devices %llu, to the host %llu, between devices %llu bytes\n",
           (unsigned long long)(after.bytes_h2d - before.bytes_h2d),
           (unsigned long long)(after.bytes_d2h - before.bytes_d2h),
           (unsigned long long)(after.bytes_d2d - before.bytes_d2d));
    for (int64_t s = 0; s < steps; s++)
        step(check[s % 2], check[(s + 1) % 2], n);
    for (int64_t i = 0; i < n * n * n; i++)
        wrong += u[steps % 2][i] != check[steps % 2][i];
    printf("wrong: %lld%s\n", (long long)wrong, wrong ? "" : " ok");
    for (int i = 0; i < 2; i++) {
        semcache_free(u[i]);
        free(check[i]);
    }
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
