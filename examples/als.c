/* Alternating least squares: R = X^T Y from a part of the entries of R.  A half step solves a small positive definite
 * system for each user (column of X), then for each item (column of Y); a GPU solves all of them by batched routines of
 * cuSOLVER.  All arrays stay on the device between half steps.
 *
 *   als [USERS [ITEMS [RANK [STEPS]]]] */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "als.h"
#include "example.h"
#include "tasks_common.h"

#ifndef TASKS_GPU
#define als_solve_gpu NULL
static int als_prepare(int devices)
{
    (void)devices;
    return 1;
}
#endif

enum { RANK_MAX = 32 };

/* Cholesky's factorisation and two substitutions; the result replaces b. */
static void solve_one(int64_t k, double a[][RANK_MAX], double *b)
{
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = c; i < k; i++) {
            for (int64_t p = 0; p < c; p++)
                a[i][c] -= a[i][p] * a[c][p];
            a[i][c] = i == c ? sqrt(a[c][c]) : a[i][c] / a[c][c];
        }
        for (int64_t p = 0; p < c; p++)
            b[c] -= a[c][p] * b[p];
        b[c] /= a[c][c];
    }
    for (int64_t c = k - 1; c >= 0; c--) {
        for (int64_t p = c + 1; p < k; p++)
            b[c] -= a[p][c] * b[p];
        b[c] /= a[c][c];
    }
}

/* Operands: the result, ratings, the fixed factor, and room for a GPU: matrices, addresses, states. */
static void solve(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    const int transposed = *(const int *)arguments;
    const int64_t k = v[0].rows;

    (void)place, (void)count;
    for (int64_t i = 0; i < v[0].cols; i++) {
        double a[RANK_MAX][RANK_MAX], *x = (double *)v[0].memory + i * v[0].ld;

        for (int64_t c = 0; c < k; c++) {
            for (int64_t r = c; r < k; r++)
                a[r][c] = als_normal(&v[1], transposed, &v[2], i, r, c);
            x[c] = als_normal(&v[1], transposed, &v[2], i, c, k);
        }
        solve_one(k, a, x);
    }
}

struct problem {
    struct semcache_region ratings, x, y, matrices, addresses, states;
};

static int half_step(const struct problem *p, int transposed)
{
    const struct semcache_operand operands[6] = {
        {transposed ? &p->y : &p->x, SEMCACHE_WRITE}, {&p->ratings, SEMCACHE_READ},
        {transposed ? &p->x : &p->y, SEMCACHE_READ}, {&p->matrices, SEMCACHE_READWRITE},
        {&p->addresses, SEMCACHE_READWRITE}, {&p->states, SEMCACHE_READWRITE}};

    return tasks_run(transposed ? "als items" : "als users", als_solve_gpu, solve, 0, operands, 6, &transposed,
                     sizeof transposed);
}

/* A number in (0, 1) without a pattern. */
static double noise(uint64_t i, uint64_t seed)
{
    uint64_t z = i * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1b54a32d192ed03);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 12) + 0.5) * 0x1p-52;
}

static double *filled(int64_t count, uint64_t seed)
{
    double *a = semcache_alloc((size_t)count * sizeof *a);

    if (!a)
        exit(2);
    for (int64_t i = 0; i < count; i++)
        a[i] = seed ? noise((uint64_t)i, seed) : 0;
    return a;
}

/* The largest error of X^T Y in all entries, also in entries that were not given. */
static double error_of(const double *x, const double *y, const double *truth, int64_t users, int64_t items, int64_t k)
{
    double worst = 0;

    for (int64_t j = 0; j < items; j++)
        for (int64_t i = 0; i < users; i++) {
            double sum = 0;

            for (int64_t c = 0; c < k; c++)
                sum += x[c + i * k] * y[c + j * k];
            worst = example_worse(worst, fabs(sum - truth[i + j * users]));
        }
    return worst;
}

int main(int argc, char **argv)
{
    int64_t users = argc > 1 ? atoll(argv[1]) : 200, items = argc > 2 ? atoll(argv[2]) : 150;
    int64_t k = argc > 3 ? atoll(argv[3]) : 4, steps = argc > 4 ? atoll(argv[4]) : 20;
    int64_t most = users > items ? users : items;
    double *x = filled(k * users, 3), *y = filled(k * items, 5), *r = filled(users * items, 0), *truth, error, since;
    double *matrices = filled(k * k * most, 0), *addresses = filled(2 * most, 0), *states = filled(most, 0);
    struct semcache_statistics before;
    struct problem p;

    if (k < 1 || k > RANK_MAX)
        return 2;
    truth = example_doubles((size_t)(users * items));
    for (int64_t j = 0; j < items; j++) /* a matrix of rank k, of which 60 % are known */
        for (int64_t i = 0; i < users; i++) {
            double sum = 0;

            for (int64_t c = 0; c < k; c++)
                sum += noise((uint64_t)(i * k + c), 11) * noise((uint64_t)(j * k + c), 13);
            truth[i + j * users] = sum;
            r[i + j * users] = noise((uint64_t)(i + j * users), 17) < 0.6 ? sum : 0;
        }
    semcache_region_2d(&p.ratings, r, SEMCACHE_FLOAT64, users, items, users);
    semcache_region_2d(&p.x, x, SEMCACHE_FLOAT64, k, users, k);
    semcache_region_2d(&p.y, y, SEMCACHE_FLOAT64, k, items, k);
    semcache_region_1d(&p.matrices, matrices, SEMCACHE_FLOAT64, k * k * most);
    semcache_region_1d(&p.addresses, addresses, SEMCACHE_FLOAT64, 2 * most);
    semcache_region_1d(&p.states, states, SEMCACHE_FLOAT64, most);
    semcache_init();
    if (!als_prepare(semcache_device_count()) || !half_step(&p, 0) || !half_step(&p, 1))
        return 1;
    before = tasks_moved();
    since = example_now();
    for (int64_t s = 1; s < steps; s++)
        if (!half_step(&p, 0) || !half_step(&p, 1))
            return 1;
    tasks_print_moved("further steps", &before);
    semcache_region_wait(&p.x);
    semcache_region_wait(&p.y);
    since = example_now() - since;
    error = error_of(x, y, truth, users, items, k);
    printf("%lld users, %lld items, rank %lld, %lld steps: %.3f s\nerror: %.1e%s\n", (long long)users,
           (long long)items, (long long)k, (long long)steps, since, error, error < 1e-3 ? " ok" : "");
    return !(error < 1e-3);
}
/* SPDX-License-Identifier: BSD-2-Clause */
