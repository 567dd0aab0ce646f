/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer of bench/level3: cuBLASXt on pinned memory, with its best block size.  Options: bench/level3.h.  The
 * environment variable XT_DEVICES is the number of GPUs (default 1). */
#include <cublasXt.h>

#include "bench/hand.h"
#include "bench/level3.h"

enum { BLOCKS = 3 };
static const int blocks[BLOCKS] = {2048, 4096, 8192};
static cublasXtHandle_t xt;
static int current = -1; /* variant */

static double *level3_numbers(size_t count)
{
    void *memory;

    HAND_CUDA(cudaMallocHost(&memory, count * sizeof(double)));
    return memory;
}

static int level3_variants(int n)
{
    int count = 1;

    while (count < BLOCKS && blocks[count] <= n)
        count++;
    return count;
}

static int level3_call(enum level3_routine routine, const struct level3_matrices *m, int variant)
{
    const cublasOperation_t plain = CUBLAS_OP_N;
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    const cublasSideMode_t left = CUBLAS_SIDE_LEFT;
    const cublasDiagType_t diagonal = CUBLAS_DIAG_NON_UNIT;
    const double one = 1;
    size_t n = (size_t)m->n;

    if (variant != current)
        HAND_CUBLAS(cublasXtSetBlockDim(xt, blocks[variant]));
    current = variant;
    switch (routine) {
    case LEVEL3_GEMM:
        HAND_CUBLAS(cublasXtDgemm(xt, plain, plain, n, n, n, &one, m->a, n, m->b, n, &m->beta, m->c, n));
        break;
    case LEVEL3_SYMM:
        HAND_CUBLAS(cublasXtDsymm(xt, left, lower, n, n, &one, m->a, n, m->b, n, &m->beta, m->c, n));
        break;
    case LEVEL3_SYRK: HAND_CUBLAS(cublasXtDsyrk(xt, lower, plain, n, n, &one, m->a, n, &m->beta, m->c, n)); break;
    case LEVEL3_SYR2K:
        HAND_CUBLAS(cublasXtDsyr2k(xt, lower, plain, n, n, &one, m->a, n, m->b, n, &m->beta, m->c, n));
        break;
    case LEVEL3_TRMM:
        HAND_CUBLAS(cublasXtDtrmm(xt, left, lower, plain, diagonal, n, n, &one, m->a, n, m->b, n, m->c, n));
        break;
    case LEVEL3_TRSM:
        HAND_CUBLAS(cublasXtDtrsm(xt, left, lower, plain, diagonal, n, n, &one, m->a, n, m->b, n));
        break;
    case LEVEL3_ROUTINES: break;
    }
    HAND_CUDA(cudaDeviceSynchronize());
    return blocks[variant];
}

static double *level3_result(enum level3_routine routine, const struct level3_matrices *m)
{
    return routine == LEVEL3_TRSM ? m->b : m->c;
}

int main(int argc, char **argv)
{
    const char *count = getenv("XT_DEVICES");
    int devices[16], most = count ? atoi(count) : 1;

    if (most < 1 || most > 16)
        return 2;
    for (int i = 0; i < most; i++)
        devices[i] = i;
    HAND_CUBLAS(cublasXtCreate(&xt));
    HAND_CUBLAS(cublasXtDeviceSelect(xt, most, devices));
    return level3_main(argc, argv);
}
