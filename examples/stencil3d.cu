/* The kernel of stencil3d for a GPU, and the same stencil in CUDA alone for comparison. */
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define STENCIL3D_GPU
#include "stencil3d.h"

/* New values of `planes` planes of an n x n x n box; `below` and `above`: the planes beside them, NULL at the ends of
 * the box.  A thread walks up MARCH planes. */
struct part {
    double *to;
    const double *from, *below, *above;
    int64_t n, planes;
    int64_t to_ld, to_plane, ld, plane, below_ld, above_ld; /* distances of columns and planes */
};

enum { MARCH = 16 };

__global__ void step(struct part p)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, j = blockIdx.y * (int64_t)blockDim.y + threadIdx.y;
    int64_t first = blockIdx.z * (int64_t)MARCH, end = first + MARCH < p.planes ? first + MARCH : p.planes;
    int64_t at = i + j * p.ld, into = i + j * p.to_ld;
    bool edge = i == 0 || j == 0 || i == p.n - 1 || j == p.n - 1;
    double low, here, high;

    if (i >= p.n || j >= p.n)
        return;
    low = first ? p.from[at + (first - 1) * p.plane] : p.below ? p.below[i + j * p.below_ld] : 0;
    here = p.from[at + first * p.plane];
    for (int64_t k = first; k < end; k++, low = here, here = high) {
        const double *u = p.from + at + k * p.plane;
        bool end_of_box = (k == 0 && !p.below) || (k == p.planes - 1 && !p.above);

        high = k < p.planes - 1 ? u[p.plane] : p.above ? p.above[i + j * p.above_ld] : 0;
        p.to[into + k * p.to_plane] = edge || end_of_box ? here
                                      : stencil3d_point(here, u[-1], u[1], u[-p.ld], u[p.ld], low, high);
    }
}

static void launch(const struct part &p, cudaStream_t stream)
{
    const dim3 threads(64, 4);
    const dim3 blocks((unsigned)((p.n + 63) / 64), (unsigned)((p.n + 3) / 4),
                      (unsigned)((p.planes + MARCH - 1) / MARCH));

    step<<<blocks, threads, 0, stream>>>(p);
}

static const double *plane_of(const struct semcache_view &v)
{
    return v.planes ? (const double *)v.memory : NULL;
}

extern "C" void stencil3d_gpu(const struct semcache_place *place, const struct semcache_view *v, int count,
                              void *arguments)
{
    (void)count, (void)arguments;
    launch({(double *)v[0].memory, (const double *)v[1].memory, plane_of(v[2]), plane_of(v[3]), v[0].rows, v[0].planes,
            v[0].ld, v[0].plane, v[1].ld, v[1].plane, v[2].ld, v[3].ld}, (cudaStream_t)place->stream);
}

/* --- without semcache --------------------------------------------------------------------------------------------- */

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    exit(1);
}

static double now(void)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

extern "C" void stencil3d_synchronize(int devices)
{
    for (int d = 0; d < devices; d++) {
        must(cudaSetDevice(d));
        must(cudaDeviceSynchronize());
    }
}

/* A device's planes of both arrays, with a plane for each neighbour's values. */
struct share {
    double *u[2];
    int64_t first, planes;
    cudaStream_t stream;
    cudaEvent_t done;
};

/* Brings the neighbours' planes of array `from`, and computes the other array.  The copies and the kernel wait for the
 * neighbours' last step. */
static void hand_step(std::vector<share> &shares, int64_t n, int from)
{
    const size_t plane = (size_t)(n * n);
    const int count = (int)shares.size();

    for (int d = 0; d < count; d++) {
        share &s = shares[(size_t)d];

        must(cudaSetDevice(d));
        for (int side = -1; side <= 1; side += 2) {
            int other = d + side;

            if (other < 0 || other >= count)
                continue;
            share &o = shares[(size_t)other];
            must(cudaStreamWaitEvent(s.stream, o.done, 0));
            must(cudaMemcpyPeerAsync(s.u[from] + (side < 0 ? 0 : (size_t)(s.planes + 1) * plane), d,
                                     o.u[from] + (side < 0 ? (size_t)o.planes * plane : plane), other,
                                     plane * sizeof(double), s.stream));
        }
    }
    for (int d = 0; d < count; d++) {
        share &s = shares[(size_t)d];
        double *own = s.u[from] + plane;

        must(cudaSetDevice(d));
        launch({s.u[!from] + plane, own, d ? s.u[from] : NULL, d < count - 1 ? own + s.planes * (int64_t)plane : NULL,
                n, s.planes, n, n * n, n, n * n, n, n}, s.stream);
        must(cudaEventRecord(s.done, s.stream));
    }
}

extern "C" double stencil3d_hand(int64_t n, int64_t warm, int64_t steps, int devices, const double *initial,
                                 double *result)
{
    const size_t plane = (size_t)(n * n);
    std::vector<share> shares((size_t)devices);
    int64_t share_of = (n + devices - 1) / devices;
    double since = 0;

    for (int d = 0; d < devices; d++) {
        share &s = shares[(size_t)d];

        s.first = d * share_of;
        s.planes = s.first + share_of < n ? share_of : n - s.first;
        must(cudaSetDevice(d));
        for (int p = 0; p < devices; p++)
            if (p != d)
                cudaDeviceEnablePeerAccess(p, 0); /* without it, copies go through the host */
        cudaGetLastError();
        must(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
        must(cudaEventCreateWithFlags(&s.done, cudaEventDisableTiming));
        for (int i = 0; i < 2; i++)
            must(cudaMalloc(&s.u[i], (size_t)(s.planes + 2) * plane * sizeof(double)));
        must(cudaMemcpy(s.u[0] + plane, initial + (size_t)s.first * plane, (size_t)s.planes * plane * sizeof(double),
                        cudaMemcpyHostToDevice));
    }
    for (int64_t i = 0; i < warm + steps; i++) {
        if (i == warm) {
            stencil3d_synchronize(devices);
            since = now();
        }
        hand_step(shares, n, (int)(i % 2));
    }
    stencil3d_synchronize(devices);
    since = now() - since;
    for (int d = 0; d < devices; d++) {
        share &s = shares[(size_t)d];

        must(cudaSetDevice(d));
        must(cudaMemcpy(result + (size_t)s.first * plane, s.u[(warm + steps) % 2] + plane,
                        (size_t)s.planes * plane * sizeof(double), cudaMemcpyDeviceToHost));
        for (int i = 0; i < 2; i++)
            must(cudaFree(s.u[i]));
        must(cudaEventDestroy(s.done));
        must(cudaStreamDestroy(s.stream));
    }
    must(cudaSetDevice(0));
    return since;
}
/* SPDX-License-Identifier: BSD-2-Clause */
