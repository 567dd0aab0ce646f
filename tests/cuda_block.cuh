/* Kernels with barriers on threads of the host: a thread for each thread of a block, one block after the other.
 * Included before the kernels. */
#include <pthread.h>

#include <functional>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
struct index {
    unsigned x, y;
};
static thread_local index threadIdx;
static index blockIdx, gridDim;
static pthread_barrier_t barrier;
static void __syncthreads() { pthread_barrier_wait(&barrier); }

/* Runs blocks of so many threads. */
static inline void launch_blocks(unsigned blocks, unsigned threads, const std::function<void()> &kernel)
{
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        std::vector<std::thread> block;

        pthread_barrier_init(&barrier, nullptr, threads);
        for (unsigned t = 0; t < threads; t++)
            block.emplace_back([&kernel, t] {
                threadIdx.x = t;
                kernel();
            });
        for (std::thread &t : block)
            t.join();
        pthread_barrier_destroy(&barrier);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
