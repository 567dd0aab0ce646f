/* SPDX-License-Identifier: BSD-2-Clause */
/* The chain of first_chain by hand with cuBLAS. Each factor is pinned, and copied to the GPU while the next factor is
 * pinned. The memory of the last result is pinned while the GPU computes. The other results stay on the GPU.
 *
 *     hand_first_chain [n [links [rounds]]] */
#include "bench/first_chain.h"
#include "bench/hand.h"

static cublasHandle_t blas;
static cudaStream_t compute, copies;
static double *device_factor[CHAIN_LINKS_MAX + 1], *device_result[2];
static cudaEvent_t there[CHAIN_LINKS_MAX + 1];

static void product(int n, const double *a, const double *b, double *c)
{
    const double one = 1, zero = 0;

    HAND_CUBLAS(cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n));
}

static void open_device(void)
{
    const int n = 6144;
    double *m = hand_device(3 * (size_t)n * (size_t)n, NULL);

    HAND_CUDA(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    HAND_CUDA(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    HAND_CUBLAS(cublasCreate(&blas));
    HAND_CUBLAS(cublasSetStream(blas, compute));
    for (int i = 0; i <= CHAIN_LINKS_MAX; i++)
        HAND_CUDA(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
    product(n, m, m + n * n, m + 2 * n * n);
    HAND_CUDA(cudaStreamSynchronize(compute));
    HAND_CUDA(cudaFree(m));
}

static void run(const struct chain *chain)
{
    size_t count = (size_t)chain->n * (size_t)chain->n, bytes = count * sizeof(double);
    double *last = chain->result[chain->links - 1];

    for (int i = 0; i <= chain->links; i++) {
        if (!device_factor[i])
            device_factor[i] = hand_device(count, NULL);
        if (i < 2 && !device_result[i])
            device_result[i] = hand_device(count, NULL);
        HAND_CUDA(cudaHostRegister(chain->factor[i], bytes, cudaHostRegisterDefault));
        HAND_CUDA(cudaMemcpyAsync(device_factor[i], chain->factor[i], bytes, cudaMemcpyHostToDevice, copies));
        HAND_CUDA(cudaEventRecord(there[i], copies));
    }
    for (int i = 0; i < chain->links; i++) {
        HAND_CUDA(cudaStreamWaitEvent(compute, there[i + 1], 0));
        product(chain->n, i ? device_result[(i + 1) % 2] : device_factor[0], device_factor[i + 1],
                device_result[i % 2]);
    }
    HAND_CUDA(cudaHostRegister(last, bytes, cudaHostRegisterDefault));
    HAND_CUDA(cudaMemcpyAsync(last, device_result[(chain->links - 1) % 2], bytes, cudaMemcpyDeviceToHost, compute));
    HAND_CUDA(cudaStreamSynchronize(compute));
}

int main(int argc, char **argv)
{
    return chain_main(argc, argv, "hand_first_chain", open_device, run);
}
