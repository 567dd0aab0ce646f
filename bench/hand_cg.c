/* examples/cg written by hand for one GPU with cuBLAS: all data resident, the same calls per iteration.
 *
 *     hand_cg [n [iterations]] */
#include <math.h>

#include "bench/hand.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000, iterations = argc > 2 ? atoi(argv[2]) : 100;
    const double unit = 1, zero = 0;
    double *a, *x, *r, *p, *q, rr;
    double *host_a = example_doubles((size_t)n * (size_t)n), *host_b = example_doubles((size_t)n);
    struct example_timer timer = {0};
    cublasHandle_t blas;

    example_cg((size_t)n, host_a, host_b);
    HAND_CUBLAS(cublasCreate(&blas));
    a = hand_device((size_t)n * (size_t)n, host_a);
    r = hand_device((size_t)n, host_b);
    p = hand_device((size_t)n, host_b);
    x = hand_device((size_t)n, NULL);
    q = hand_device((size_t)n, NULL);
    HAND_CUDA(cudaMemset(x, 0, (size_t)n * sizeof *x));
    HAND_CUBLAS(cublasDdot(blas, n, r, 1, r, 1, &rr));
    HAND_CUDA(cudaDeviceSynchronize());

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        double pq, alpha, minus, beta, old = rr;

        HAND_CUBLAS(cublasDgemv(blas, CUBLAS_OP_N, n, n, &unit, a, n, p, 1, &zero, q, 1));
        HAND_CUBLAS(cublasDdot(blas, n, p, 1, q, 1, &pq));
        alpha = rr / pq;
        minus = -alpha;
        HAND_CUBLAS(cublasDaxpy(blas, n, &alpha, p, 1, x, 1));
        HAND_CUBLAS(cublasDaxpy(blas, n, &minus, q, 1, r, 1));
        HAND_CUBLAS(cublasDdot(blas, n, r, 1, r, 1, &rr));
        beta = rr / old;
        HAND_CUBLAS(cublasDscal(blas, n, &beta, p, 1));
        HAND_CUBLAS(cublasDaxpy(blas, n, &unit, r, 1, p, 1));
        example_lap(&timer);
    }
    HAND_CUDA(cudaDeviceSynchronize());
    printf("hand_cg n=%d iterations=%d residual=%.3e seconds_per_iteration=%.6f\n", n, iterations, sqrt(rr),
           example_seconds(&timer));
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
