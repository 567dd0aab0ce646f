/* A library with a kernel of its own on memory of semcache_malloc, beside the same memory from cudaMallocManaged and
 * from cudaMalloc; CUDA's runtime is static, so that no launch is seen by libsemcache-cuda-um.
 *
 *     um_own N STEPS semcache|managed|hand
 *
 * x and y have N elements.  Each step runs y += 2 x on the device, with the pointers inside a structure.  Each 10 steps
 * the CPU changes an element of x.  At the end daxpy adds x to y (else a loop of the host), the kernel runs again, and
 * the CPU reads all.  Prints seconds of the steps, and a checksum. */
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "semcache/semcache.h"

extern "C" void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y, const int *incy);

struct operands {
    size_t n;
    const double *x;
    double *y;
};

__global__ void add_twice(operands o)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < o.n)
        o.y[i] += 2 * o.x[i];
}

static double now()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool ours, by_hand;
static const char *failed;

static double *allocate(size_t n)
{
    double *p = nullptr;

    if (ours)
        p = (double *)semcache_malloc(n * sizeof *p);
    else if (by_hand)
        cudaMalloc(&p, n * sizeof *p);
    else
        cudaMallocManaged(&p, n * sizeof *p);
    if (!p)
        failed = "no memory";
    return p;
}

static void step(size_t n, const double *x, double *y)
{
    operands o = {n, x, y};
    const void *const memory[] = {x, y};
    enum semcache_status status = ours ? semcache_lend(0, memory, 2) : SEMCACHE_OK;

    if (status != SEMCACHE_OK)
        failed = semcache_status_name(status);
    add_twice<<<(unsigned)((n + 255) / 256), 256>>>(o);
}

int main(int argc, char **argv)
{
    size_t n = argc > 3 ? strtoull(argv[1], NULL, 10) : 0;
    int steps = argc > 3 ? atoi(argv[2]) : 0, count = (int)n, one_step = 1;
    double since, first = 0, seconds, sum = 0, one = 1, *x, *y;
    std::vector<double> home;

    if (!n || n > 2000000000 || steps < 2) {
        fprintf(stderr, "usage: um_own N STEPS semcache|managed|hand\n");
        return 2;
    }
    ours = strcmp(argv[3], "semcache") == 0;
    by_hand = strcmp(argv[3], "hand") == 0;
    x = allocate(n);
    y = allocate(n);
    if (failed) {
        fprintf(stderr, "um_own: %s\n", failed);
        return 1;
    }
    home.assign(n, 1.0);
    if (by_hand) {
        cudaMemcpy(x, home.data(), n * sizeof *x, cudaMemcpyHostToDevice);
        cudaMemset(y, 0, n * sizeof *y);
    } else {
        memcpy(x, home.data(), n * sizeof *x);
        memset(y, 0, n * sizeof *y);
    }
    cudaDeviceSynchronize();
    since = now();
    for (int k = 0; k < steps; k++) {
        step(n, x, y);
        if (k % 10 == 9) {
            double value = k;

            if (by_hand) {
                cudaMemcpy(x + k, &value, sizeof value, cudaMemcpyHostToDevice);
            } else {
                if (!ours)
                    cudaDeviceSynchronize();
                x[k] = value; /* waits by itself where the memory is ours */
            }
        }
        if (k == 0) {
            cudaDeviceSynchronize();
            first = now() - since;
        }
    }
    cudaDeviceSynchronize();
    seconds = now() - since;
    if (ours) {
        daxpy_(&count, &one, x, &one_step, y, &one_step);
    } else if (by_hand) {
        std::vector<double> other(n);

        cudaMemcpy(home.data(), x, n * sizeof *x, cudaMemcpyDeviceToHost);
        cudaMemcpy(other.data(), y, n * sizeof *y, cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < n; i++)
            other[i] += home[i];
        cudaMemcpy(y, other.data(), n * sizeof *y, cudaMemcpyHostToDevice);
    } else {
        for (size_t i = 0; i < n; i++)
            y[i] += x[i];
    }
    step(n, x, y);
    if (by_hand)
        cudaMemcpy(home.data(), y, n * sizeof *y, cudaMemcpyDeviceToHost);
    else if (!ours)
        cudaDeviceSynchronize();
    for (size_t i = 0; i < n; i++)
        sum += (by_hand ? home[i] : y[i]) * (double)(i % 13);
    if (cudaGetLastError() != cudaSuccess || failed) {
        fprintf(stderr, "um_own: %s\n", failed ? failed : "an error of CUDA");
        return 1;
    }
    printf("%-9s first step %.4f s, then %.1f us each, checksum=%.12e\n", argv[3], first,
           1e6 * (seconds - first) / (steps - 1), sum);
    if (ours) {
        semcache_free(x);
        semcache_free(y);
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
