/* examples/jacobi written by hand for one GPU with cuBLAS: all data resident, the same calls per iteration.
 *
 *     hand_jacobi [n [iterations]] */
#include "bench/hand.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000, iterations = argc > 2 ? atoi(argv[2]) : 100;
    const double unit = 1, minus = -1;
    double *a, *b, *x, *r, norm = 0;
    double *host_a = example_doubles((size_t)n * (size_t)n), *host_b = example_doubles((size_t)n);
    struct example_timer timer = {0};
    cublasHandle_t blas;

    example_jacobi((size_t)n, 0, host_a, host_b);
    HAND_CUBLAS(cublasCreate(&blas));
    a = hand_device((size_t)n * (size_t)n, host_a);
    b = hand_device((size_t)n, host_b);
    x = hand_device((size_t)n, NULL);
    r = hand_device((size_t)n, NULL);
    HAND_CUDA(cudaMemset(x, 0, (size_t)n * sizeof *x));
    HAND_CUDA(cudaDeviceSynchronize());

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        HAND_CUBLAS(cublasDcopy(blas, n, b, 1, r, 1));
        HAND_CUBLAS(cublasDgemv(blas, CUBLAS_OP_N, n, n, &minus, a, n, x, 1, &unit, r, 1));
        HAND_CUBLAS(cublasDnrm2(blas, n, r, 1, &norm)); /* waits: the norm is on the host */
        HAND_CUBLAS(cublasDaxpy(blas, n, &unit, r, 1, x, 1));
        example_lap(&timer);
    }
    HAND_CUDA(cudaDeviceSynchronize());
    printf("hand_jacobi n=%d iterations=%d residual=%.3e seconds_per_iteration=%.6f\n", n, iterations, norm,
           example_seconds(&timer));
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
