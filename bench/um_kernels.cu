/* CUDA programs with kernels of their own on managed memory (bench/um_kernels.sh compares).
 *
 *     um_kernels power N STEPS [hints]     y := A x and its norm by cuBLAS, own kernel that scales by a factor that the
 *                                          CPU writes; the CPU changes an element each 10 steps; A is n x n
 *     um_kernels stencil N STEPS [hints]   7-point stencil on n^3 points; the CPU writes a plane each 10 steps
 *     um_kernels sweep MIB STEPS [hints]   a kernel writes the array, the CPU reads it, and reads it again at home;
 *                                          with one thread, and with UM_KERNELS_THREADS (8) threads
 *     um_kernels launches N STEPS [hints]  kernels of n elements, one after another
 *
 *     um_kernels cg N STEPS [hints|device] conjugate gradients on n^3 points: own kernels for the product and vectors,
 *                                          dots by cuBLAS; device: memory of cudaMalloc
 *     um_kernels over MIB STEPS [hints]    kernels walk over blocks of 64 MiB in order; UM_KERNELS_LEFT: MiB that the
 *                                          device has left, the rest is taken by cudaMalloc before
 *     um_kernels beside MIB STEPS [hints]  a kernel of 30000 elements in each step. The CPU rewrites a managed array
 *                                          meanwhile, and no kernel uses the array
 *
 * hints: the program prefetches and advises, as far as CUDA's managed memory profits.  Prints one line:
 * name, seconds, checksum. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

static bool hints, by_hand;

static double now()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *managed(size_t n)
{
    double *p;

    if ((by_hand ? cudaMalloc(&p, n * sizeof *p) : cudaMallocManaged(&p, n * sizeof *p)) != cudaSuccess) {
        fprintf(stderr, "um_kernels: no memory\n");
        exit(1);
    }
    return p;
}

static void prefetch(const void *p, size_t bytes, bool to_device)
{
    cudaMemLocation where = {};

    where.type = to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    if (hints)
        cudaMemPrefetchAsync(p, bytes, where, 0, 0);
}

static void done(const char *name, double seconds, double checksum)
{
    cudaError_t error = cudaDeviceSynchronize();

    if (error != cudaSuccess)
        fprintf(stderr, "um_kernels: %s\n", cudaGetErrorString(error));
    printf("%s seconds=%.4f checksum=%.12e\n", name, seconds, checksum);
    exit(error != cudaSuccess);
}

static unsigned blocks(size_t n) { return (unsigned)((n + 255) / 256); }

__global__ void scale(double *x, const double *s, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= *s;
}

__global__ void add(double *x, double value, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < n)
        x[i] += value;
}

__global__ void smooth(double *to, const double *from, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)blockIdx.y, k = (int)blockIdx.z;
    size_t row = (size_t)n, plane = row * row, at = (size_t)k * plane + (size_t)j * row + (size_t)i;

    if (i >= n)
        return;
    if (i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1)
        to[at] = from[at];
    else
        to[at] = (2 * from[at] + from[at - 1] + from[at + 1] + from[at - row] + from[at + row] + from[at - plane] +
                  from[at + plane]) / 8;
}

/* Seconds since *t, which becomes now. */
static double lap(double *t)
{
    double before = *t;

    *t = now();
    return *t - before;
}

static void check(cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    fprintf(stderr, "um_kernels: %s: status %d of cuBLAS\n", what, (int)status);
    exit(1);
}

static void power(size_t n, int steps)
{
    double *a = managed(n * n), *x = managed(n), *y = managed(n), *factor = managed(8), one = 1, zero = 0, sum = 0;
    double size = 0, since, t = now(), fills, upload, first, second = 0, steady, u, part[4] = {0, 0, 0, 0};
    cublasHandle_t blas;

    for (size_t j = 0; j < n; j++) {
        unsigned state = (unsigned)j * 2654435761u + 1;

        for (size_t i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            a[j * n + i] = (state >> 8) * (1. / 16777216);
        }
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = 1;
        y[i] = 0;
    }
    fills = lap(&t);
    check(cublasCreate(&blas), "create");
    t = since = now();
    prefetch(a, n * n * sizeof *a, true);
    if (hints)
        cudaDeviceSynchronize();
    first = upload = lap(&t);
    for (int k = 0; k < steps; k++) {
        double *next = x;

        u = now();
        check(cublasDgemv(blas, CUBLAS_OP_N, (int)n, (int)n, &one, a, (int)n, x, 1, &zero, y, 1), "gemv");
        check(cublasDnrm2(blas, (int)n, y, 1, &size), "nrm2");
        cudaDeviceSynchronize();
        part[0] += lap(&u);
        *factor = 1 / size;
        part[1] += lap(&u);
        scale<<<blocks(n), 256>>>(y, factor, n);
        part[2] += lap(&u);
        x = y;
        y = next;
        if (k % 10 == 9) {
            cudaDeviceSynchronize();
            u = now();
            x[(size_t)k % n] += 1e-9;
            part[3] += lap(&u);
        }
        if (k < 2) { /* what is done once, as loading the kernels of a library, may come in either */
            memset(part, 0, sizeof part);
            cudaDeviceSynchronize();
            *(k ? &second : &first) = lap(&t);
        }
    }
    cudaDeviceSynchronize();
    steady = steps > 2 ? lap(&t) / (steps - 2) : 0;
    fprintf(stderr, "power: fill %.3f s, prefetch %.4f s, first step %.4f s, second %.4f s, then %.1f us each\n", fills,
            upload, first, second, 1e6 * steady);
    if (steps > 2)
        fprintf(stderr, "power: calls %.1f, the CPU's write %.1f, launch %.1f, an element %.1f us each\n",
                1e6 * part[0] / (steps - 2), 1e6 * part[1] / (steps - 2), 1e6 * part[2] / (steps - 2),
                1e7 * part[3] / steps);
    if (!(size > 0))
        fprintf(stderr, "um_kernels: the norm is %g\n", size);
    for (size_t i = 0; i < n; i++)
        sum += x[i] * (double)(i % 13);
    done("power", now() - since, sum);
}

static void stencil(int n, int steps)
{
    size_t plane = (size_t)n * (size_t)n, all = plane * (size_t)n;
    double *from = managed(all), *to = managed(all), sum = 0, since;
    dim3 grid((unsigned)(n + 255) / 256, (unsigned)n, (unsigned)n);

    for (size_t i = 0; i < all; i++)
        from[i] = to[i] = (double)(i % 1000);
    since = now();
    prefetch(from, all * sizeof *from, true);
    prefetch(to, all * sizeof *to, true);
    for (int k = 0; k < steps; k++) {
        double *next = from;

        smooth<<<grid, 256>>>(to, from, n);
        from = to;
        to = next;
        if (k % 10 == 9) {
            double *at = from + (size_t)(n / 2) * plane;

            cudaDeviceSynchronize();
            prefetch(at, plane * sizeof *at, false);
            cudaDeviceSynchronize();
            for (size_t i = 0; i < plane; i++)
                at[i] = at[i] / 2 + (double)k;
            prefetch(at, plane * sizeof *at, true);
        }
    }
    cudaDeviceSynchronize();
    prefetch(from, all * sizeof *from, false);
    cudaDeviceSynchronize();
    for (size_t i = 0; i < all; i += 97)
        sum += from[i];
    done("stencil", now() - since, sum);
}

/* A value of each line of the CPU's caches, in four chains of sums. */
static double read_part(const double *x, size_t n)
{
    double sum[4] = {0};

    for (size_t i = 0; i + 32 <= n; i += 32)
        for (size_t c = 0; c < 4; c++)
            sum[c] += x[i + 8 * c];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Each thread reads a part of its own.  n: a multiple of 32 times the number of threads. */
static double read_all(const double *x, size_t n, int threads, double *seconds)
{
    std::vector<double> sums((size_t)threads);
    std::vector<std::thread> others;
    double sum = 0, since;
    size_t part = n / (size_t)threads;

    asm volatile("" ::: "memory"); /* the compiler must not take the sum of an earlier call */
    since = now();
    for (int t = 1; t < threads; t++)
        others.emplace_back([&, t] { sums[(size_t)t] = read_part(x + (size_t)t * part, part); });
    sums[0] = read_part(x, part);
    for (std::thread &other : others)
        other.join();
    *seconds += now() - since;
    for (double s : sums)
        sum += s;
    return sum;
}

/* STEPS sweeps; returns their sum. */
static double sweeps(double *x, size_t n, int steps, int threads, double *seconds)
{
    double sum = 0, read = 0, first = 0, again = 0, since, gb = 1e-9 * (double)(n * sizeof *x);

    for (int k = 0; k < steps; k++) {
        prefetch(x, n * sizeof *x, true);
        add<<<blocks(n), 256>>>(x, 1, n);
        cudaDeviceSynchronize();
        since = now();
        prefetch(x, n * sizeof *x, false);
        cudaDeviceSynchronize();
        read += now() - since;
        sum += read_all(x, n, threads, &read);
        first = k ? first : read;
        if (read_all(x, n, threads, &again) < 0)
            fprintf(stderr, "um_kernels: a negative sum\n");
    }
    fprintf(stderr, "sweep: %d threads %.1f GB/s (first %.1f GB/s), again %.1f GB/s\n", threads, gb * steps / read,
            gb / first, gb * steps / again);
    *seconds += read;
    return sum;
}

static void sweep(size_t mib, int steps)
{
    const char *text = getenv("UM_KERNELS_THREADS");
    int threads = text ? atoi(text) : 8;
    size_t n = (mib << 20) / sizeof(double);
    double *x = managed(n), sum = 0, seconds = 0, since = now();

    threads = threads < 1 ? 1 : threads > 256 ? 256 : threads;
    memset(x, 0, n * sizeof *x);
    fprintf(stderr, "sweep: first writes %.1f GB/s\n", 1e-9 * (double)(n * sizeof *x) / (now() - since));
    sum = sweeps(x, n, steps, 1, &seconds);
    if (threads > 1)
        sum += sweeps(x, n, steps, threads, &seconds);
    done("sweep", seconds, sum);
}

/* q := A p, the 7-point Laplacian. */
__global__ void laplace(double *q, const double *p, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)blockIdx.y, k = (int)blockIdx.z;
    size_t row = (size_t)n, plane = row * row, at = (size_t)k * plane + (size_t)j * row + (size_t)i;
    double sum;

    if (i >= n)
        return;
    sum = 6 * p[at];
    sum -= i > 0 ? p[at - 1] : 0;
    sum -= i < n - 1 ? p[at + 1] : 0;
    sum -= j > 0 ? p[at - row] : 0;
    sum -= j < n - 1 ? p[at + row] : 0;
    sum -= k > 0 ? p[at - plane] : 0;
    sum -= k < n - 1 ? p[at + plane] : 0;
    q[at] = sum;
}

/* x += alpha p; r -= alpha q */
__global__ void forward(double *x, double *r, const double *p, const double *q, double alpha, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < n) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
    }
}

/* p := r + beta p */
__global__ void turn(double *p, const double *r, double beta, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < n)
        p[i] = r[i] + beta * p[i];
}

__global__ void fill(double *x, double value, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < n)
        x[i] = value;
}

static void cg(int n, int steps)
{
    size_t all = (size_t)n * (size_t)n * (size_t)n;
    double *x = managed(all), *r = managed(all), *p = managed(all), *q = managed(all), rr, next, pq, since = now();
    dim3 grid((unsigned)(n + 255) / 256, (unsigned)n, (unsigned)n);
    cublasHandle_t blas;

    check(cublasCreate(&blas), "create");
    fill<<<blocks(all), 256>>>(x, 0, all);
    fill<<<blocks(all), 256>>>(r, 1, all);
    fill<<<blocks(all), 256>>>(p, 1, all);
    check(cublasDdot(blas, (int)all, r, 1, r, 1, &rr), "dot");
    for (int k = 0; k <= steps; k++) {
        laplace<<<grid, 256>>>(q, p, n);
        check(cublasDdot(blas, (int)all, p, 1, q, 1, &pq), "dot");
        forward<<<blocks(all), 256>>>(x, r, p, q, rr / pq, all);
        check(cublasDdot(blas, (int)all, r, 1, r, 1, &next), "dot");
        turn<<<blocks(all), 256>>>(p, r, next / rr, all);
        rr = next;
        if (k == 0) { /* the data has come to the device */
            cudaDeviceSynchronize();
            since = now();
        }
    }
    cudaDeviceSynchronize();
    since = now() - since;
    fprintf(stderr, "cg: %.1f us each\n", 1e6 * since / steps);
    done("cg", since, rr);
}

static void over(size_t mib, int steps)
{
    const size_t n = ((size_t)64 << 20) / sizeof(double), count = mib / 64;
    const char *text = getenv("UM_KERNELS_LEFT");
    size_t left = text ? (size_t)strtoull(text, NULL, 10) << 20 : 0, available, total;
    double **x = (double **)malloc(count * sizeof *x), sum = 0, since, seconds = 0, fills, launched = 0;
    void *ballast = NULL;

    cudaMemGetInfo(&available, &total);
    if (left && left < available && cudaMalloc(&ballast, available - left) != cudaSuccess)
        fprintf(stderr, "um_kernels: the memory cannot be limited\n");
    since = now();
    for (size_t b = 0; b < count; b++) {
        x[b] = managed(n);
        memset(x[b], 0, n * sizeof(double));
    }
    fills = lap(&since);
    for (int k = 0; k < steps; k++) {
        for (size_t b = 0; b < count; b++) {
            prefetch(x[b], n * sizeof(double), true);
            add<<<blocks(n), 256>>>(x[b], 1, n);
            if (k == 0 && b == 0)
                launched = now() - since;
        }
        if (k == 0) {
            cudaDeviceSynchronize();
            since = now() - since;
            fprintf(stderr, "over: fill %.3f s, first launch %.4f s, first sweep %.4f s\n", fills, launched, since);
            since = now();
        }
    }
    cudaDeviceSynchronize();
    seconds = now() - since;
    for (size_t b = 0; b < count; b++)
        sum += x[b][b % n];
    cudaFree(ballast);
    done("over", seconds, sum);
}

static void beside(size_t mib, int steps)
{
    const size_t n = 30000, all = (mib << 20) / sizeof(double);
    double *x = managed(n), *own = managed(all), sum = 0, since;

    memset(x, 0, n * sizeof *x);
    memset(own, 0, all * sizeof *own);
    prefetch(x, n * sizeof *x, true);
    add<<<blocks(n), 256>>>(x, 1, n);
    cudaDeviceSynchronize();
    since = now();
    for (int k = 0; k < steps; k++) {
        add<<<blocks(n), 256>>>(x, 1, n);
        for (size_t i = 0; i < all; i++)
            own[i] += k;
    }
    cudaDeviceSynchronize();
    since = now() - since;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    for (size_t i = 0; i < all; i++)
        sum += own[i];
    fprintf(stderr, "beside: %.1f us each\n", 1e6 * since / steps);
    done("beside", since, sum);
}

static void launches(size_t n, int steps)
{
    double *x = managed(n), sum = 0, since;

    memset(x, 0, n * sizeof *x);
    prefetch(x, n * sizeof *x, true);
    add<<<blocks(n), 256>>>(x, 1, n);
    cudaDeviceSynchronize();
    since = now();
    for (int k = 0; k < steps; k++)
        add<<<blocks(n), 256>>>(x, 1, n);
    cudaDeviceSynchronize();
    since = now() - since;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    fprintf(stderr, "launches: %.2f us each\n", 1e6 * since / steps);
    done("launches", since, sum);
}

int main(int argc, char **argv)
{
    size_t n = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
    int steps = argc > 3 ? atoi(argv[3]) : 0;

    hints = argc > 4 && strcmp(argv[4], "hints") == 0;
    by_hand = argc > 4 && strcmp(argv[4], "device") == 0;
    cudaFree(0);
    if (n && steps > 0 && strcmp(argv[1], "power") == 0)
        power(n, steps);
    if (n && steps > 0 && strcmp(argv[1], "stencil") == 0)
        stencil((int)n, steps);
    if (n && steps > 0 && strcmp(argv[1], "sweep") == 0)
        sweep(n, steps);
    if (n && steps > 0 && strcmp(argv[1], "launches") == 0)
        launches(n, steps);
    if (n && steps > 0 && strcmp(argv[1], "cg") == 0)
        cg((int)n, steps);
    if (n && steps > 1 && strcmp(argv[1], "over") == 0)
        over(n, steps);
    if (n && steps > 0 && strcmp(argv[1], "beside") == 0)
        beside(n, steps);
    fprintf(stderr, "usage: um_kernels power|stencil|sweep|launches|cg|over|beside N STEPS [hints|device]\n");
    return 2;
}
/* SPDX-License-Identifier: BSD-2-Clause */
