// The kernels of device/cuda/thin.cu on threads of the host, with a barrier for __syncthreads.  Compared with the
// definition of gemm, for all types, small and largest sizes, gaps between columns, and several blocks.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/cuda_block.cuh"

#include "device/cuda/thin.cu"
#include "tests/cuda_number.cuh"

template <typename T> static std::vector<T> numbers(int64_t count, int64_t seed)
{
    std::vector<T> x((size_t)count);

    for (int64_t i = 0; i < count; i++)
        set(&x[(size_t)i], small(i + seed));
    return x;
}

static value element(char letter, value x) { return letter == 'C' ? std::conj(x) : x; }

struct shape {
    char transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
};

// Elements of C that differ from C := alpha op(A) op(B) + beta C, or that the kernel should have left alone.
template <typename T>
static int64_t wrong(const shape &s, const std::vector<T> &a, const std::vector<T> &b, T alpha, T beta,
                     const std::vector<T> &before, const std::vector<T> &c)
{
    int64_t bad = 0;

    for (int64_t j = 0; j < s.n; j++)
        for (int64_t i = 0; i < s.ldc; i++) {
            const size_t at = (size_t)(i + j * s.ldc);
            value total = 0;

            for (int64_t l = 0; l < s.k && i < s.m; l++)
                total += element(s.transa, value_of(a[(size_t)(s.transa == 'N' ? i + l * s.lda : l + i * s.lda)])) *
                         element(s.transb, value_of(b[(size_t)(s.transb == 'N' ? l + j * s.ldb : j + l * s.ldb)]));
            total *= value_of(alpha);
            if (value_of(beta) != value(0))
                total += value_of(beta) * value_of(before[at]);
            if (i < s.m)
                bad += value_of(c[at]) != total;
            else
                bad += value_of(c[at]) != value_of(before[at]);
        }
    return bad;
}

template <typename T> static std::vector<T> result_before(const shape &s, bool overwrites)
{
    std::vector<T> c = numbers<T>(s.ldc * s.n, 3);

    for (int64_t j = 0; j < s.n && overwrites; j++)
        for (int64_t i = 0; i < s.m; i++)
            set(&c[(size_t)(i + j * s.ldc)], value(NAN, NAN));
    return c;
}

template <typename T>
static int64_t wide_is_wrong(void (*kernel)(int, int64_t, int, const T *, int64_t, bool,
                                                                          bool, const T *, int64_t, T, bool, T, T *,
                                                                          int64_t),
                             const shape &s, double factor, unsigned blocks)
{
    const std::vector<T> a = numbers<T>(s.lda * (s.transa == 'N' ? s.k : s.m), 1), b = numbers<T>(s.ldb * s.n, 2);
    const std::vector<T> before = result_before<T>(s, factor == 0);
    std::vector<T> c = before;
    T alpha, beta;

    set(&alpha, value(2, -1));
    set(&beta, factor);
    launch_blocks(blocks, THREADS, [&] {
        kernel((int)s.m, s.n, (int)s.k, a.data(), s.lda, s.transa != 'N', s.transa == 'C', b.data(), s.ldb, alpha,
               factor == 0, beta, c.data(), s.ldc);
    });
    return wrong(s, a, b, alpha, beta, before, c);
}

template <typename T>
static int64_t sum_is_wrong(void (*sums)(int, int, int64_t, const T *, int64_t, const T *, int64_t, bool, T *),
                            void (*collect)(int, int, int, const T *, T, bool, T, T *, int64_t), const shape &s,
                            double factor, unsigned blocks)
{
    const std::vector<T> a = numbers<T>(s.lda * s.k, 1), b = numbers<T>(s.ldb * s.k, 2);
    const std::vector<T> before = result_before<T>(s, factor == 0);
    std::vector<T> c = before, part((size_t)(s.m * s.n * blocks));
    T alpha, beta;

    set(&alpha, value(2, -1));
    set(&beta, factor);
    launch_blocks(blocks, THREADS, [&] {
        sums((int)s.m, (int)s.n, s.k, a.data(), s.lda, b.data(), s.ldb, s.transb == 'C', part.data());
    });
    launch_blocks(1, THREADS, [&] {
        collect((int)s.m, (int)s.n, (int)blocks, part.data(), alpha, factor == 0, beta, c.data(), s.ldc);
    });
    return wrong(s, a, b, alpha, beta, before, c);
}

static const double factors[] = {0, 1, -3};

template <typename T, typename Wide, typename Sums, typename Collect>
static void check(int number, const char *type, Wide wide, Sums sums, Collect collect)
{
    static const int64_t sides[][2] = {{1, 1}, {4, 3}, {5, 16}, {16, 4}};
    static const int64_t results[][2] = {{1, 1}, {4, 4}, {16, 3}, {3, 16}};
    int64_t bad = 0;

    for (int i = 0; i < 4; i++) {
        const int64_t m = sides[i][0], k = sides[i][1];
        const char letter = "NTCN"[i];

        bad += wide_is_wrong<T>(wide, {letter, 'N', m, 300, k, (letter == 'N' ? m : k) + i % 2, k + i, m + i},
                                factors[i % 3], 1 + (unsigned)i);
    }
    printf("%sok %d - %s: a small matrix and a wide matrix\n", bad ? "not " : "", number, type);
    bad = 0;
    for (int i = 0; i < 4; i++) {
        const int64_t m = results[i][0], n = results[i][1];

        bad += sum_is_wrong<T>(sums, collect, {'N', "TCTC"[i], m, n, 700, m + i, n + i % 2, m + i % 3}, factors[i % 3],
                               1 + 2 * (unsigned)i);
    }
    printf("%sok %d - %s: two wide matrices\n", bad ? "not " : "", number + 1, type);
}

int main()
{
    printf("1..8\n");
    check<float>(1, "s", thin_wide_s, thin_sums_s, thin_collect_s);
    check<double>(3, "d", thin_wide_d, thin_sums_d, thin_collect_d);
    check<pair_of<float>>(5, "c", thin_wide_c, thin_sums_c, thin_collect_c);
    check<pair_of<double>>(7, "z", thin_wide_z, thin_sums_z, thin_collect_z);
    return 0;
}
// SPDX-License-Identifier: BSD-2-Clause
