/* Heat on a circle by FFT: in each step every column of u is transformed, multiplied by a filter and transformed back,
 * by three tasks.  The array stays on the device; a GPU uses cuFFT.
 *
 *   fft_loop [LOG2_N [COLUMNS [STEPS]]] */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "fft_loop.h"
#include "tasks_common.h"

#ifndef TASKS_GPU
#define fft_loop_transform_gpu NULL
#define fft_loop_filter_gpu    NULL
static int fft_loop_prepare(int devices, int64_t n, int64_t columns)
{
    (void)devices, (void)n, (void)columns;
    return 1;
}
#endif

static const double pi = 3.14159265358979323846;

/* Radix 2, in place, without the factor 1 / n. */
static void fft(double complex *u, int64_t n, int sign)
{
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;

        for (; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
        if (i < j) {
            double complex swap = u[i];

            u[i] = u[j];
            u[j] = swap;
        }
    }
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t k = 0; k < half; k++) {
            double complex w = cexp(I * (sign * pi * (double)k / (double)half));

            for (int64_t i = k; i < n; i += 2 * half) {
                double complex a = u[i], b = w * u[i + half];

                u[i] = a + b;
                u[i + half] = a - b;
            }
        }
}

static void transform(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    (void)place, (void)count;
    for (int64_t j = 0; j < v[0].cols; j++)
        fft((double complex *)v[0].memory + j * v[0].ld, v[0].rows, *(const int *)arguments);
}

/* Operands: u, the filter with the factor 1 / n. */
static void filter(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    const double *by = v[1].memory;

    (void)place, (void)count, (void)arguments;
    for (int64_t j = 0; j < v[0].cols; j++)
        for (int64_t i = 0; i < v[0].rows; i++)
            ((double complex *)v[0].memory)[i + j * v[0].ld] *= by[i];
}

static int step(const struct semcache_region *u, const struct semcache_region *by)
{
    const struct semcache_operand all = {u, SEMCACHE_READWRITE};
    const struct semcache_operand filtered[2] = {{u, SEMCACHE_READWRITE}, {by, SEMCACHE_READ}};
    const int forward = -1, back = 1;

    return tasks_run("fft", fft_loop_transform_gpu, transform, 0, &all, 1, &forward, sizeof forward) &&
           tasks_run("filter", fft_loop_filter_gpu, filter, 0, filtered, 2, NULL, 0) &&
           tasks_run("fft back", fft_loop_transform_gpu, transform, 0, &all, 1, &back, sizeof back);
}

int main(int argc, char **argv)
{
    int64_t n = (int64_t)1 << (argc > 1 ? atoi(argv[1]) : 10), columns = argc > 2 ? atoll(argv[2]) : 16;
    int64_t steps = argc > 3 ? atoll(argv[3]) : 10;
    double complex *u = semcache_alloc((size_t)(n * columns) * sizeof *u);
    double *by = semcache_alloc((size_t)n * sizeof *by), worst = 0, since;
    struct semcache_region all, factors;
    struct semcache_statistics before;

    if (!u || !by)
        return 2;
    /* Column j is a wave of frequency j, which each step multiplies by exp(-j^2 / 1000). */
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < n; i++)
            u[i + j * n] = cexp(I * (2 * pi * (double)(i * j % n) / (double)n));
    for (int64_t i = 0; i < n; i++) {
        double frequency = (double)(i <= n / 2 ? i : n - i);

        by[i] = exp(-frequency * frequency / 1000) / (double)n;
    }
    semcache_region_2d(&all, u, SEMCACHE_COMPLEX128, n, columns, n);
    semcache_region_1d(&factors, by, SEMCACHE_FLOAT64, n);
    semcache_init();
    if (!fft_loop_prepare(semcache_device_count(), n, columns) || !step(&all, &factors))
        return 1;
    before = tasks_moved();
    since = example_now();
    for (int64_t s = 1; s < steps; s++)
        if (!step(&all, &factors))
            return 1;
    tasks_print_moved("further steps", &before);
    semcache_region_wait(&all);
    printf("%lld columns of %lld, %lld steps: %.3f s\n", (long long)columns, (long long)n, (long long)steps,
           example_now() - since);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < n; i++) {
            double frequency = (double)(j <= n / 2 ? j : n - j);
            double complex wave = cexp(I * (2 * pi * (double)(i * j % n) / (double)n));

            worst = example_worse(worst,
                                  cabs(u[i + j * n] - wave * exp(-frequency * frequency / 1000 * (double)steps)));
        }
    printf("error: %.1e%s\n", worst, worst < 1e-11 ? " ok" : "");
    semcache_free(u);
    semcache_free(by);
    return !(worst < 1e-11);
}
/* SPDX-License-Identifier: BSD-2-Clause */
