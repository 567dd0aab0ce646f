/* D = A B + A C with cuBLASXt from pinned host memory and the host's daxpy, until D is valid on the host; and one dgemm
 * alone.  The best round of every block size.
 *
 *     xt_abac [n [rounds [devices]]] */
#include <cublasXt.h>

#include "bench/hand.h"

enum { BLOCKS = 3 };
static const int blocks[BLOCKS] = {2048, 4096, 8192};

struct matrices {
    int n;
    double *a, *b, *c, *d, *e;
};

static double *pinned(int n, int seed)
{
    size_t count = (size_t)n * (size_t)n;
    void *memory;
    double *p;

    HAND_CUDA(cudaMallocHost(&memory, count * sizeof *p));
    p = memory;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            p[(size_t)j * (size_t)n + (size_t)i] = example_element((uint32_t)(i + seed), (uint32_t)j) / 3 - 0.2;
    return p;
}

static void gemm(cublasXtHandle_t xt, const struct matrices *m, const double *right, double *result)
{
    const double unit = 1, zero = 0;
    size_t n = (size_t)m->n;

    HAND_CUBLAS(cublasXtDgemm(xt, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &unit, m->a, n, right, n, &zero, result, n));
    HAND_CUDA(cudaDeviceSynchronize());
}

/* Best seconds of the sum (*both) and of the first dgemm (*single). */
static void measure(cublasXtHandle_t xt, const struct matrices *m, int rounds, double *both, double *single)
{
    for (int round = 0; round < rounds; round++) {
        double start = example_now(), one, all;

        gemm(xt, m, m->b, m->d);
        one = example_now() - start;
        gemm(xt, m, m->c, m->e);
        cblas_daxpy(m->n * m->n, 1, m->e, 1, m->d, 1);
        all = example_now() - start;
        if (round == 0 || one < *single)
            *single = one;
        if (round == 0 || all < *both)
            *both = all;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4096, rounds = argc > 2 ? atoi(argv[2]) : 3;
    int count = argc > 3 ? atoi(argv[3]) : 1;
    struct matrices m = {.n = n, .a = pinned(n, 1), .b = pinned(n, 2), .c = pinned(n, 3), .d = pinned(n, 4),
                         .e = pinned(n, 5)};
    double best_both = 0, best_single = 0;
    int devices[16], block_both = 0, block_single = 0;
    cublasXtHandle_t xt;

    for (int i = 0; i < count && i < 16; i++)
        devices[i] = i;
    HAND_CUBLAS(cublasXtCreate(&xt));
    HAND_CUBLAS(cublasXtDeviceSelect(xt, count, devices));
    for (int i = 0; i < BLOCKS; i++) {
        double both = 0, single = 0;

        if (blocks[i] > n)
            break;
        HAND_CUBLAS(cublasXtSetBlockDim(xt, blocks[i]));
        measure(xt, &m, rounds, &both, &single);
        printf("xt_abac_block n=%d block=%d abac_seconds=%.6f dgemm_seconds=%.6f\n", n, blocks[i], both, single);
        if (!block_both || both < best_both) {
            best_both = both;
            block_both = blocks[i];
        }
        if (!block_single || single < best_single) {
            best_single = single;
            block_single = blocks[i];
        }
    }
    printf("xt_abac n=%d abac_block=%d abac_seconds=%.6f dgemm_block=%d dgemm_seconds=%.6f\n", n, block_both, best_both,
           block_single, best_single);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
