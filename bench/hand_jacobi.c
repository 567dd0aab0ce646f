/* examples/jacobi written by hand for GPUs with cuBLAS: all data resident, the same calls per iteration.
 *
 *     hand_jacobi [-o [-g GPUS]] [n [iterations]]
 *
 * -o  as examples/jacobi -o: own loops on the host update x. Vectors are copied to and from the device in each
 *     iteration.
 * -g  the rows of A are divided among so many GPUs (default: one). */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "bench/hand.h"

enum { MOST = 8 };

/* Rows [first, first + rows) of A on a GPU, and the images of x and of these rows of r. */
struct part {
    cublasHandle_t blas;
    int first, rows;
    double *a, *x, *r;
};

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

/* Enqueues r := b - A x for the rows of a part, with x, b and r in pinned memory of the host. */
static void enqueue(const struct part *p, int n, const double *b, const double *x, double *r)
{
    const double unit = 1, minus = -1;
    size_t bytes = (size_t)p->rows * sizeof *r;

    HAND_CUDA(cudaMemcpyAsync(p->x, x, (size_t)n * sizeof *x, cudaMemcpyHostToDevice, NULL));
    HAND_CUDA(cudaMemcpyAsync(p->r, b + p->first, bytes, cudaMemcpyHostToDevice, NULL));
    HAND_CUBLAS(cublasDgemv(p->blas, CUBLAS_OP_N, p->rows, n, &minus, p->a, p->rows, p->x, 1, &unit, p->r, 1));
    HAND_CUDA(cudaMemcpyAsync(r + p->first, p->r, bytes, cudaMemcpyDeviceToHost, NULL));
}

/* One iteration with x, b and r in pinned memory of the host. */
static double own_loops(const struct part *parts, int gpus, int n, const double *b, double *x, double *r)
{
    double sum = 0;

    for (int g = 0; g < gpus; g++) {
        HAND_CUDA(cudaSetDevice(g));
        enqueue(&parts[g], n, b, x, r);
    }
    for (int g = 0; g < gpus; g++) {
        HAND_CUDA(cudaSetDevice(g));
        HAND_CUDA(cudaStreamSynchronize(NULL));
    }
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

    HAND_CUDA(cudaHostAlloc(&p, (size_t)n * sizeof(double), cudaHostAllocPortable));
    for (int i = 0; i < n; i++)
        ((double *)p)[i] = from ? from[i] : 0;
    return p;
}

/* A part on the GPU that is current. */
static struct part upload(int n, int first, int rows, const double *a)
{
    size_t pitch = (size_t)rows * sizeof *a, from = (size_t)n * sizeof *a;
    struct part p = {.first = first, .rows = rows, .a = hand_device((size_t)n * (size_t)rows, NULL),
                     .x = hand_device((size_t)n, NULL), .r = hand_device((size_t)n, NULL)};

    HAND_CUBLAS(cublasCreate(&p.blas));
    HAND_CUDA(cudaMemcpy2D(p.a, pitch, a + first, from, pitch, (size_t)n, cudaMemcpyHostToDevice));
    HAND_CUDA(cudaMemset(p.x, 0, (size_t)n * sizeof *a));
    return p;
}

int main(int argc, char **argv)
{
    struct part parts[MOST] = {{0}};
    bool own = false;
    int gpus = 1, n, iterations, option;
    double *host_a, *host_b, *b, *x, *r, norm = 0;
    struct example_timer timer = {0};

    while ((option = getopt(argc, argv, "og:")) != -1)
        if (option == 'o')
            own = true;
        else if (option == 'g')
            gpus = atoi(optarg);
    n = optind < argc ? atoi(argv[optind]) : 2000;
    iterations = optind + 1 < argc ? atoi(argv[optind + 1]) : 100;
    if (gpus < 1 || gpus > (own ? MOST : 1) || n < gpus || iterations < 1) {
        fprintf(stderr, "usage: hand_jacobi [-o [-g GPUS]] [n [iterations]], with 1 to %d GPUs\n", MOST);
        return 2;
    }
    host_a = example_doubles((size_t)n * (size_t)n);
    host_b = example_doubles((size_t)n);
    example_jacobi((size_t)n, 0, host_a, host_b);
    for (int g = 0; g < gpus; g++) {
        int first = (int)((long)n * g / gpus);

        HAND_CUDA(cudaSetDevice(g));
        parts[g] = upload(n, first, (int)((long)n * (g + 1) / gpus) - first, host_a);
        HAND_CUDA(cudaDeviceSynchronize());
    }
    HAND_CUDA(cudaSetDevice(0));
    b = own ? NULL : hand_device((size_t)n, host_b);
    host_b = pinned(n, host_b);
    x = pinned(n, NULL);
    r = pinned(n, NULL);

    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        norm = own ? own_loops(parts, gpus, n, host_b, x, r)
                   : resident(parts[0].blas, n, parts[0].a, b, parts[0].x, parts[0].r);
        example_lap(&timer);
    }
    HAND_CUDA(cudaDeviceSynchronize());
    printf("hand_jacobi gpus=%d n=%d iterations=%d residual=%.3e seconds_per_iteration=%.6f\n", gpus, n, iterations,
           norm, example_seconds(&timer));
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
