// The kernels of device/cuda/rows.cu on threads of the host, with a barrier for __syncthreads.  Compared with the
// definition, for all types, both widths and bases of integers, empty rows, blocks with several chunks, and several
// columns.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/cuda_block.cuh"

#include "device/cuda/rows.cu"
#include "tests/cuda_number.cuh"

// Entries of a row: most rows are empty, or few are, or one is long.
static int64_t length(int64_t row, int shape)
{
    return shape == 0 ? (row % 9 == 0) * 2 : shape == 1 ? row % 17 : row == 3 ? 64 : 16;
}

template <typename T, typename Integer> struct launch {
    void (*kernel)(int64_t, const Integer *, const Integer *, const T *, int, T, const T *, bool, bool, T, T *);
    int64_t rows;
    const Integer *start, *column;
    const T *values, *x;
    int base;
    T alpha, beta, *y;
    bool overwrites, adds;

    void run() const
    {
        kernel(rows, start, column, values, base, alpha, x, overwrites, adds, beta, y);
    }
};

// Several columns, stored by rows with a gap: the kernel of one column is the reference, column by column.
template <typename T, typename Integer>
static int64_t columns_differ(void (*kernel)(int64_t, int, const Integer *, const Integer *, const T *, int, T,
                                             const T *, int64_t, bool, bool, T, T *, int64_t),
                              const launch<T, Integer> &one, int64_t cols, const std::vector<T> &before)
{
    const int columns = 3 + (int)(one.rows % 3);
    const int64_t ldx = columns + 2, ldy = columns + 1, each = THREADS / columns;
    std::vector<T> x((size_t)(cols * ldx)), y((size_t)(one.rows * ldy));
    int64_t bad = 0;

    for (int64_t i = 0; i < cols; i++)
        for (int64_t c = 0; c < ldx; c++)
            set(&x[(size_t)(c + i * ldx)], c == 1 ? value_of(one.x[i]) : value(NAN, 0));
    for (int64_t i = 0; i < one.rows; i++)
        for (int64_t c = 0; c < ldy; c++)
            set(&y[(size_t)(c + i * ldy)], value_of(before[(size_t)i]));
    for (blockIdx.x = 0; blockIdx.x * each < one.rows; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < (unsigned)THREADS; threadIdx.x++)
            kernel(one.rows, columns, one.start, one.column, one.values, one.base, one.alpha, x.data(), ldx,
                   one.overwrites, one.adds, one.beta, y.data(), ldy);
    for (int64_t i = 0; i < one.rows; i++) {
        const T found = y[(size_t)(1 + i * ldy)], gap = y[(size_t)(columns + i * ldy)], old = before[(size_t)i];

        bad += value_of(found) != value_of(one.y[i]);
        bad += !one.overwrites && value_of(gap) != value_of(old);
    }
    return bad;
}

template <typename T, typename Integer>
static int64_t wrong(decltype(launch<T, Integer>::kernel) kernel,
                     void (*several)(int64_t, int, const Integer *, const Integer *, const T *, int, T, const T *,
                                     int64_t, bool, bool, T, T *, int64_t),
                     int64_t rows, int base, int shape, double beta)
{
    const int64_t cols = 97;
    std::vector<Integer> start(1, base), column;
    std::vector<T> values, x(cols), y((size_t)rows + 2), before;
    launch<T, Integer> l = {kernel, rows, 0, 0, 0, 0, base, {}, {}, 0, beta == 0, beta == 1};
    int64_t bad = 0;

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < length(i, shape); k++) {
            T v;

            set(&v, small(i + 3 * k));
            values.push_back(v);
            column.push_back((Integer)((i * 5 + k * 11) % cols + base));
        }
        start.push_back((Integer)((int64_t)column.size() + base));
    }
    for (int64_t j = 0; j < cols; j++)
        set(&x[(size_t)j], small(j + 1));
    for (size_t i = 0; i < y.size(); i++)
        set(&y[i], beta == 0 ? value(NAN, NAN) : small((int64_t)i + 2));
    set(&l.alpha, value(2, -1));
    set(&l.beta, beta);
    before = y;
    l.start = start.data(), l.column = column.data(), l.values = values.data(), l.x = x.data(), l.y = y.data();
    launch_blocks((unsigned)((rows + THREADS - 1) / THREADS), THREADS, [&] { l.run(); });
    for (int64_t i = 0; i < rows; i++) {
        value total = 0;

        for (int64_t k = start[(size_t)i] - base; k < start[(size_t)i + 1] - base; k++)
            total += value_of(values[(size_t)k]) * value_of(x[(size_t)(column[(size_t)k] - base)]);
        total *= value_of(l.alpha);
        bad += value_of(y[(size_t)i]) != (beta == 0 ? total : total + beta * value_of(before[(size_t)i]));
    }
    bad += columns_differ(several, l, cols, before);
    for (size_t i = (size_t)rows; i < y.size(); i++)
        bad += beta != 0 && value_of(y[i]) != value_of(before[i]);
    return bad;
}

template <typename T>
static void check(int number, const char *type, decltype(launch<T, int32_t>::kernel) narrow,
                  decltype(launch<T, int64_t>::kernel) wide,
                  void (*narrows)(int64_t, int, const int32_t *, const int32_t *, const T *, int, T, const T *, int64_t,
                                  bool, bool, T, T *, int64_t),
                  void (*wides)(int64_t, int, const int64_t *, const int64_t *, const T *, int, T, const T *, int64_t,
                                bool, bool, T, T *, int64_t))
{
    int64_t bad = 0;

    for (int shape = 0; shape < 3; shape++)
        for (int variant = 0; variant < 3; variant++) {
            const double beta = variant == 2 ? -3 : variant;

            bad += wrong<T, int32_t>(narrow, narrows, THREADS + 37, variant % 2, shape, beta);
            bad += wrong<T, int64_t>(wide, wides, shape ? THREADS : 5, 1 - variant % 2, shape, beta);
        }
    printf("%sok %d - %s: products with short rows\n", bad ? "not " : "", number, type);
}

int main()
{
    printf("1..4\n");
    check<float>(1, "s", rows_s32, rows_s64, columns_s32, columns_s64);
    check<double>(2, "d", rows_d32, rows_d64, columns_d32, columns_d64);
    check<pair_of<float>>(3, "c", rows_c32, rows_c64, columns_c32, columns_c64);
    check<pair_of<double>>(4, "z", rows_z32, rows_z64, columns_z32, columns_z64);
    return 0;
}
// SPDX-License-Identifier: BSD-2-Clause
