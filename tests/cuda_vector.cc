// The kernels of device/cuda/vector.cu on one thread of the host.  Compared with the definition, for all types, lengths
// around a block, and beta = 0 with a result that is not a number.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#define __device__
#define __global__
#define __launch_bounds__(threads)
struct index {
    unsigned x;
};
static index threadIdx, blockIdx;
#include "device/cuda/vector.cu"
#include "tests/cuda_number.cuh"

template <typename T, typename Kernel> static void blocks(int64_t n, Kernel kernel)
{
    for (blockIdx.x = 0; blockIdx.x * (int64_t)(THREADS * EACH) < n; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < THREADS; threadIdx.x++)
            kernel();
}

// Wrong elements, and elements behind the end that have changed.
template <typename T, typename Axpby, typename Multiply>
static int64_t wrong(Axpby axpby, Multiply multiply, int64_t n, bool with_diagonal, bool overwrites)
{
    const size_t all = (size_t)n + 3;
    std::vector<T> d(all), x(all), y(all), before;
    T alpha, beta;
    int64_t bad = 0;

    set(&alpha, value(2, 1));
    set(&beta, overwrites ? value(0, 0) : value(-3, 2));
    for (size_t i = 0; i < all; i++) {
        set(&d[i], small((int64_t)i));
        set(&x[i], small((int64_t)i + 3));
        set(&y[i], overwrites ? value(NAN, NAN) : small((int64_t)i + 5));
    }
    before = y;
    if (with_diagonal)
        blocks<T>(n, [&] { multiply(n, alpha, d.data(), x.data(), overwrites, beta, y.data()); });
    else
        blocks<T>(n, [&] { axpby(n, alpha, x.data(), overwrites, beta, y.data()); });
    for (size_t i = 0; i < all; i++) {
        value expected = value_of(alpha) * (with_diagonal ? value_of(d[i]) * value_of(x[i]) : value_of(x[i]));

        if (!overwrites)
            expected += value_of(beta) * value_of(before[i]);
        if ((int64_t)i >= n)
            bad += !overwrites && value_of(y[i]) != value_of(before[i]);
        else
            bad += value_of(y[i]) != expected;
    }
    return bad;
}

template <typename T, typename Axpby, typename Multiply>
static void check(int number, const char *type, Axpby axpby, Multiply multiply)
{
    const int64_t block = THREADS * EACH, lengths[] = {1, 5, THREADS, block - 1, block, block + 1, 3 * block + 77};
    int64_t bad = 0;

    for (int64_t n : lengths)
        for (int variant = 0; variant < 4; variant++)
            bad += wrong<T>(axpby, multiply, n, variant & 1, variant & 2);
    printf("%sok %d - %s: axpby and products of elements\n", bad ? "not " : "", number, type);
}

int main()
{
    printf("1..4\n");
    check<float>(1, "s", vector_axpby_s, vector_multiply_s);
    check<double>(2, "d", vector_axpby_d, vector_multiply_d);
    check<pair_of<float>>(3, "c", vector_axpby_c, vector_multiply_c);
    check<pair_of<double>>(4, "z", vector_axpby_z, vector_multiply_z);
    return 0;
}
// SPDX-License-Identifier: BSD-2-Clause
