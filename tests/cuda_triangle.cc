// The kernel of device/cuda/triangle.cu on threads of the host: a thread for each thread of a block, and a barrier in
// the place of __syncthreads.  Compared with substitution from the definition, for all types, strides and directions.
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include "tests/cuda_block.cuh"

#include "device/cuda/triangle.cu"

typedef std::complex<double> value;

static unsigned long state = 88172645463325252;

static double random_unit()
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static value value_of(float x) { return x; }
static value value_of(double x) { return x; }
template <typename Real> static value value_of(complex_of<Real> x) { return value(x.re, x.im); }

template <typename T> struct launch {
    void (*kernel)(sc_cuda_triangle, const T *, T *);
    sc_cuda_triangle solve;
    const T *l;
    T *b;
    unsigned thread;
};

template <typename T> static void *run(void *argument)
{
    launch<T> *of = (launch<T> *)argument;

    threadIdx.x = of->thread;
    of->kernel(of->solve, of->l, of->b);
    return nullptr;
}

template <typename T> static void run_blocks(const launch<T> &of, unsigned x, unsigned y)
{
    std::vector<launch<T>> each(ROWS, of);
    std::vector<pthread_t> threads(ROWS);

    for (unsigned block = 0; block < x * y; block++) {
        blockIdx.x = block % x;
        blockIdx.y = block / x;
        pthread_barrier_init(&barrier, nullptr, ROWS);
        for (unsigned i = 0; i < ROWS; i++) {
            each[i].thread = i;
            pthread_create(&threads[i], nullptr, run<T>, &each[i]);
        }
        for (unsigned i = 0; i < ROWS; i++)
            pthread_join(threads[i], nullptr);
        pthread_barrier_destroy(&barrier);
    }
}

// A random solve; the bits of `variant` choose strides, direction, conjugation, the diagonal, and a very small element
// of the diagonal.  Returns the largest error, also of elements beside B, which must stay.
template <typename T>
static double error_of(void (*kernel)(sc_cuda_triangle, const T *, T *), bool is_complex, int n, int columns,
                       int variant)
{
    const int ld = n + 2, ldb = (n > columns ? n : columns) + 1;
    const bool backward = variant & 4, conjugates = variant & 8, unit = variant & 16, tiny = variant & 32;
    std::vector<T> a((size_t)(ld * ld)), b((size_t)(ldb * ldb));
    std::vector<value> x;
    sc_cuda_triangle s = {};
    T *l = a.data(), *first = b.data();
    double worst = 0;

    for (size_t i = 0; i < a.size(); i++) {
        bool diagonal = i % (size_t)ld == i / (size_t)ld;
        double re = diagonal ? 2 + random_unit() : random_unit() / 16, im = is_complex ? random_unit() / 16 : 0;
        double small = tiny && diagonal && i ? 1e-13 : 1;

        set(&a[i], re * small, im * small);
    }
    for (T &e : b)
        set(&e, random_unit(), is_complex ? random_unit() : 0);
    for (T e : b)
        x.push_back(value_of(e));
    s.row = variant & 1 ? ld : 1;
    s.column = variant & 1 ? 1 : ld;
    s.b_row = variant & 2 ? ldb : 1;
    s.b_column = variant & 2 ? 1 : ldb;
    s.rows = n;
    s.columns = columns;
    s.unit = unit;
    s.conjugate = conjugates;
    s.alpha[0] = 1.5;
    s.alpha[1] = is_complex ? -0.5 : 0;
    if (backward) {
        l += (n - 1) * (s.row + s.column);
        first += (n - 1) * s.b_row;
        s.row = -s.row;
        s.column = -s.column;
        s.b_row = -s.b_row;
    }
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < n; i++) {
            value *at = &x[(size_t)(first - b.data() + i * s.b_row + j * s.b_column)];
            value d = value_of(l[i * (s.row + s.column)]);

            *at *= value(s.alpha[0], s.alpha[1]);
            for (int c = 0; c < i; c++) {
                value e = value_of(l[i * s.row + c * s.column]);

                *at -= (conjugates ? std::conj(e) : e) * at[(c - i) * s.b_row];
            }
            *at /= unit ? value(1) : conjugates ? std::conj(d) : d;
        }
    run_blocks(launch<T>{kernel, s, l, first, 0}, (unsigned)((columns - 1) / sides<T>::columns + 1), 1);
    for (size_t i = 0; i < b.size(); i++)
        worst = std::fmax(worst, std::abs(value_of(b[i]) - x[i]) / (1 + std::abs(x[i])));
    return worst;
}

// A triangle whose rows are contiguous, copied to columns of ROWS elements; the other triangle is neither read nor
// written.
template <typename T> static bool turns(void (*kernel)(sc_cuda_triangle, const T *, T *), int n, bool backward)
{
    std::vector<T> l((size_t)(n * n)), to((size_t)(ROWS * n));
    sc_cuda_triangle s = {};
    bool good = true;

    s.row = backward ? -n : n;
    s.column = backward ? -1 : 1;
    s.rows = n;
    for (size_t i = 0; i < l.size(); i++)
        set(&l[i], (double)i, (double)(i % 7));
    for (T &e : to)
        set(&e, -1, -1);
    const T *first = backward ? &l.back() : l.data();
    run_blocks(launch<T>{kernel, s, first, to.data(), 0}, (unsigned)((n - 1) / 32 + 1), (unsigned)((n - 1) / 32 + 1));
    for (int c = 0; c < n; c++)
        for (int r = 0; r < n; r++) {
            value got = value_of(to[(size_t)(r + c * ROWS)]), inside = value_of(first[r * s.row + c * s.column]);

            good = good && (c <= r ? got == inside : got.real() == -1);
        }
    return good;
}

static int tests;

template <typename T>
static void all(void (*kernel)(sc_cuda_triangle, const T *, T *), void (*turn)(sc_cuda_triangle, const T *, T *),
                bool is_complex, double limit, char letter)
{
    static const int rows[] = {256, 77, 32, 1}, columns[] = {3, 19};

    for (int i = 0; i < 4; i++) {
        double worst = 0;

        // Barriers take long: of many rows not every variant.  A tiny diagonal only with two rows, below: solutions
        // would overflow behind more of such elements.
        for (int variant = 0; variant < 32; variant += rows[i] > 32 ? 7 : 3)
            worst = std::fmax(worst, error_of(kernel, is_complex, rows[i], columns[variant % 2], variant));
        std::printf("%sok %d - type %c, %d rows: largest error %.1e\n", worst <= limit ? "" : "not ", ++tests, letter,
                    rows[i], worst);
    }
    double worst = std::fmax(error_of(kernel, is_complex, 2, 5, 32), error_of(kernel, is_complex, 2, 5, 32 + 4 + 8));
    std::printf("%sok %d - type %c, a tiny diagonal: largest error %.1e\n", worst <= limit ? "" : "not ", ++tests,
                letter, worst);
    std::printf("%sok %d - type %c, a triangle turned\n", turns(turn, 77, false) && turns(turn, 64, true) ? "" : "not ",
                ++tests, letter);
}

int main()
{
    all<float>(triangle_s, triangle_turn_s, false, 2e-5, 's');
    all<double>(triangle_d, triangle_turn_d, false, 1e-14, 'd');
    all<complex_of<float>>(triangle_c, triangle_turn_c, true, 2e-5, 'c');
    all<complex_of<double>>(triangle_z, triangle_turn_z, true, 1e-13, 'z');
    std::printf("1..%d\n", tests);
    return 0;
}
// SPDX-License-Identifier: BSD-2-Clause
