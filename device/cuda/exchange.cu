/* Copies pieces between this device's memory and other devices' memory, or from host memory.  blockIdx.y is the piece;
 * the blocks with equal blockIdx.y share its units.  A round trip over a link takes as long as hundreds of units;
 * therefore a thread keeps several units in transit. */
#include "device/cuda/exchange_kernel.h"

template <typename unit>
static __device__ void copy_line(unit *to, const unit *from, size_t all, size_t at, size_t step)
{
    for (; at + (SC_CUDA_EXCHANGE_AHEAD - 1) * step < all; at += SC_CUDA_EXCHANGE_AHEAD * step) {
        unit ahead[SC_CUDA_EXCHANGE_AHEAD];

#pragma unroll
        for (int i = 0; i < SC_CUDA_EXCHANGE_AHEAD; i++)
            ahead[i] = from[at + i * step];
#pragma unroll
        for (int i = 0; i < SC_CUDA_EXCHANGE_AHEAD; i++)
            to[at + i * step] = ahead[i];
    }
    for (; at < all; at += step)
        to[at] = from[at];
}

template <typename unit> static __device__ void copy_piece(const struct sc_cuda_piece &p)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
    const size_t row = p.width / sizeof(unit);

    if (p.height == 1) {
        copy_line((unit *)p.dst, (const unit *)p.src, row, at, step);
        return;
    }
    for (size_t i = at; i < row * p.height; i += step)
        ((unit *)(p.dst + i / row * p.dst_pitch))[i % row] = ((const unit *)(p.src + i / row * p.src_pitch))[i % row];
}

template <int most> struct pieces {
    struct sc_cuda_piece piece[most];
};

template <int most> static __device__ void exchange(const struct pieces<most> &all)
{
    const struct sc_cuda_piece &p = all.piece[blockIdx.y];

    if (p.unit == 16)
        copy_piece<uint4>(p);
    else if (p.unit == 4)
        copy_piece<unsigned>(p);
    else
        copy_piece<unsigned char>(p);
}

extern "C" __global__ void __launch_bounds__(SC_CUDA_EXCHANGE_THREADS)
    exchange_few(const __grid_constant__ struct pieces<SC_CUDA_EXCHANGE_FEW> all)
{
    exchange(all);
}

extern "C" __global__ void __launch_bounds__(SC_CUDA_EXCHANGE_THREADS)
    exchange_many(const __grid_constant__ struct pieces<SC_CUDA_EXCHANGE_MANY> all)
{
    exchange(all);
}
/* SPDX-License-Identifier: BSD-2-Clause */
