/* examples/jacobi written by hand for one GPU with cuBLAS: all data resident, the same calls per iteration.
 *
 *     hand_jacobi [-o] [n [iterations]]
 *
 * -o  as examples/jacobi -o: own loops on the host update x. Vectors are copied to and from the device in each
 *     iteration. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench/hand.h"

/* One iteration with all vectors on the device. Returns the norm. */
static double resident(cublasHandle_t blas, int n, const double *a, const double *b, double *x, double *r)
{
    const double unit = 1, minus = -1;
    double norm;

    HAND_CUBLAS(cublasDcopy(blas, n, b, 1, r, 1));
    HAND_CUBLAS(cublasDgemv(blas, CUBLAS_OP_N, n, n, &minus, a, n, x, 1, &unit, r, 1));
    HAND_CUBLAS(cublasDnrm2(blas, n, r, 1, &norm)); /* waits: the norm is on the host */
    HAND_CUBLAS(cublasDaxpy(blas, n, &unit, r, 1, x, 1));
    return norm;
}

/* One iteration with x, b and r in pinned memory of the host; device_x and device_r are their images. */
static double own_loops(cublasHandle_t blas, int n, const double *a, const double *b, double *x, double *r,
                        double *device_x, double *device_r)
{
    const double unit = 1, minus = -1;
    size_t bytes = (size_t)n * sizeof *x;
    double sum = 0;

    HAND_CUDA(cudaMemcpyAsync(device_r, b, bytes, cudaMemcpyHostToDevice, NULL));
    HAND_CUDA(cudaMemcpyAsync(device_x, x, bytes, cudaMemcpyHostToDevice, NULL));
    HAND_CUBLAS(cublasDgemv(blas, CUBLAS_OP_N, n, n, &minus, a, n, device_x, 1, &unit, device_r, 1));
    HAND_CUDA(cudaMemcpyAsync(r, device_r, bytes, cudaMemcpyDeviceToHost, NULL));
    HAND_CUDA(cudaStreamSynchronize(NULL));
    for (int i = 0; i < n; i++) {
        x[i] += r[i];
        sum += r[i] * r[i];
    }
    return sqrt(sum);
}

/* n doubles of pinned memory, with the values `from` (NULL: 0). */
static double *pinned(int n, const double *from)
{
    void *p;

    HAND_CUDA(cudaMallocHost(&p, (size_t)n * sizeof(double)));
    for (int i = 0; i < n; i++)
        ((double *)p)[i] = from ? from[i] : 0;
    return p;
}

int main(int argc, char **argv)
{
    bool own = argc > 1 && strcmp(argv[1], "-o") == 0;
    int n = argc > 1 + own ? atoi(argv[1 + own]) : 2000, iterations = argc > 2 + own ? atoi(argv[2 + own]) : 100;
    double *host_a = example_doubles((size_t)n * (size_t)n), *host_b = example_doubles((size_t)n);
    double *a, *b, *x, *r, *host_x, *host_r, norm = 0;
    struct example_timer timer = {0};
    cublasHandle_t blas;

    example_jacobi((size_t)n, 0, host_a, host_b);
    HAND_CUBLAS(cublasCreate(&blas));
    a = hand_device((size_t)n * (size_t)n, host_a);
    b = hand_device((size_t)n, host_b);
    x = hand_device((size_t)n, NULL);
    r = hand_device((size_t)n, NULL);
    HAND_CUDA(cudaMemset(x, 0, (size_t)n * sizeof *x));
    host_b = pinned(n, host_b);
    host_x = pinned(n, NULL);
    host_r = pinned(n, NULL);
    HAND_CUDA(cudaDeviceSynchronize());

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        norm = own ? own_loops(blas, n, a, host_b, host_x, host_r, x, r) : resident(blas, n, a, b, x, r);
        example_lap(&timer);
    }
    HAND_CUDA(cudaDeviceSynchronize());
    printf("hand_jacobi n=%d iterations=%d residual=%.3e seconds_per_iteration=%.6f\n", n, iterations, norm,
           example_seconds(&timer));
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
