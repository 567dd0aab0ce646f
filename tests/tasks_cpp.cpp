/* The C++ header semcache/tasks.hpp: arrays, regions, tasks, errors.  Started by tasks_run.t. */
#include <cstdio>
#include <utility>
#include <vector>

#include "semcache/tasks.hpp"

namespace {

int count, failed;

void ok(bool good, const char *title)
{
    std::printf("%sok %d - %s\n", good ? "" : "not ", ++count, title);
    failed += !good;
}

struct scale {
    double alpha;
    int shift;
};

/* views[1](i, j) += alpha * views[0](i, j) + shift */
void add(const semcache_place *, const semcache_view *views, int, void *arguments)
{
    const scale s = *static_cast<const scale *>(arguments);
    semcache::accessor<const double> x(views[0]);
    semcache::accessor<double> y(views[1]);

    for (int64_t j = 0; j < y.cols(); j++)
        for (int64_t i = 0; i < y.rows(); i++)
            y(i, j) += s.alpha * x(i, j) + s.shift;
}

void test_vectors(int place)
{
    semcache::array<double> x(20000), y(20000);
    bool good = true;

    for (std::size_t i = 0; i < x.size(); i++) {
        x[i] = static_cast<double>(i);
        y[i] = 1;
    }
    int ran = semcache::run(add, add, scale{2, 3}, place, semcache::read(x.region()), semcache::readwrite(y.region()));
    for (std::size_t i = 0; i < y.size(); i++)
        good = good && y[i] == 2.0 * static_cast<double>(i) + 4;
    ok(good && ran == place, "a task on vectors");
    semcache::array<double> moved(std::move(y));
    ok(moved.size() == 20000 && y.size() == 0 && moved[1] == 6, "an array moves");
}

void test_blocks(int place)
{
    const int64_t n = 200;
    semcache::array<double> a(n * n);
    bool good = true;

    for (double &element : a)
        element = 1;
    semcache::run(add, add, scale{1, 1}, place, semcache::read(semcache::region(a.data(), 50, 60, n)),
                  semcache::readwrite(semcache::region(a.data() + 100, 50, 60, n)));
    for (int64_t i = 0; i < n * n; i++)
        good = good && a[i] == (i % n >= 100 && i % n < 150 && i / n < 60 ? 3 : 1);
    ok(good, "a task on blocks of a matrix");
}

void test_tokens(int place)
{
    semcache::array<double> a(30000);
    bool good = true;

    for (double &element : a)
        element = 1;
    {
        semcache::token first(place, semcache::readwrite(a.region()));
        semcache::token held(std::move(first));

        static_cast<double *>(held[0].memory)[7] = 5;
        good = held.device() == place && held[0].rows == 30000;
    }
    ok(good && a[7] == 5 && a[8] == 1, "a token ends with its object");
    semcache::token token(place, semcache::read(a.region()));
    token.release();
    try {
        token.release();
        good = false;
    } catch (const semcache::error &) {
    }
    ok(good, "and is released once");
}

void test_allocator()
{
    std::vector<double, semcache::allocator<double>> x(1000, 1.0);
    bool thrown = false;

    x.push_back(2);
    ok(x[999] == 1 && x[1000] == 2, "a vector in memory for kernels");
    ok(!semcache::lend(0, x.data(), &x[5]), "which no device of this test has");
    try {
        semcache::lend(-1, x.data());
    } catch (const semcache::error &e) {
        thrown = e.status() == SEMCACHE_ERROR_INVALID;
    }
    ok(thrown, "a wrong device is an error");
}

void test_errors()
{
    semcache::array<float> a(100);
    bool thrown = false;

    try {
        semcache::run(add, add, 1.0, -7, semcache::read(a.region()));
    } catch (const semcache::error &e) {
        thrown = e.status() == SEMCACHE_ERROR_INVALID;
    }
    ok(thrown, "an error is an exception");
}

} // namespace

int main()
{
    int place = semcache_init() == SEMCACHE_OK ? 0 : SEMCACHE_HOST;

    test_vectors(place);
    test_blocks(place);
    test_tokens(place);
    test_allocator();
    test_errors();
    std::printf("1..%d\n", count);
    return failed != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
