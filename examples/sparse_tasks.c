/* A sparse matrix in a library's own hands, as in SemCache++ (section 4.3): the rows are divided among the devices, a
 * part has row starts of its own, and the arrays of a part are operands of a task.  The program repeats y := A x / 8
 * with a 7-point stencil; the matrix stays on its devices.
 *
 *   sparse_tasks [POINTS [STEPS]] */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/stencil.h"
#include "sparse_tasks.h"
#include "tasks_common.h"

#ifndef TASKS_GPU
#define sparse_product_gpu NULL
#endif

static void product(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    (void)place, (void)count;
    for (int64_t i = 0; i < v[0].rows; i++)
        ((double *)v[0].memory)[i] = sparse_row(v, i, *(const double *)arguments);
}

enum { PARTS_MAX = 16 };

/* Rows [first, first + rows) of the matrix, with row starts that count from the part's first entry. */
struct part {
    int64_t first, rows;
    int *own_start;
    struct semcache_region start, columns, values;
};

static int divide(const struct stencil *a, int parts, struct part *part)
{
    int64_t step = (a->n + parts - 1) / parts;

    for (int p = 0; p < parts; p++) {
        struct part *own = &part[p];
        int64_t first = p * step < a->n ? p * step : a->n, entry = a->start[first], entries;

        own->first = first;
        own->rows = first + step < a->n ? step : a->n - first;
        own->own_start = semcache_alloc((size_t)(own->rows + 1) * sizeof *own->own_start);
        if (!own->own_start)
            return 0;
        for (int64_t i = 0; i <= own->rows; i++)
            own->own_start[i] = a->start[first + i] - (int)entry;
        entries = own->own_start[own->rows];
        semcache_region_1d(&own->start, own->own_start, SEMCACHE_FLOAT32, own->rows + 1);
        semcache_region_1d(&own->columns, a->columns + entry, SEMCACHE_FLOAT32, entries);
        semcache_region_1d(&own->values, a->values + entry, SEMCACHE_FLOAT64, entries);
    }
    return 1;
}

/* y := factor A x. */
static int multiply(const struct part *part, int parts, double factor, double *x, double *y, int64_t n)
{
    int devices = semcache_device_count(), good = 1;
    struct semcache_region all, own;

    semcache_region_1d(&all, x, SEMCACHE_FLOAT64, n);
    for (int p = 0; p < parts; p++) {
        const struct semcache_operand operands[5] = {{&own, SEMCACHE_WRITE}, {&part[p].start, SEMCACHE_READ},
                                                     {&part[p].columns, SEMCACHE_READ},
                                                     {&part[p].values, SEMCACHE_READ}, {&all, SEMCACHE_READ}};

        semcache_region_1d(&own, y + part[p].first, SEMCACHE_FLOAT64, part[p].rows);
        good = good && tasks_run("sparse product", sparse_product_gpu, product,
                                 devices ? p % devices : SEMCACHE_HOST, operands, 5, &factor, sizeof factor);
    }
    return good;
}

/* The same by a plain loop. */
static void plain(const struct stencil *a, double factor, const double *x, double *y)
{
    for (int i = 0; i < a->n; i++) {
        double sum = 0;

        for (int e = a->start[i]; e < a->start[i + 1]; e++)
            sum += a->values[e] * x[a->columns[e]];
        y[i] = factor * sum;
    }
}

int main(int argc, char **argv)
{
    long points = argc > 1 ? atol(argv[1]) : 50000;
    int64_t steps = argc > 2 ? atoll(argv[2]) : 10, wrong = 0;
    const double factor = 0.125;
    struct part part[PARTS_MAX];
    struct semcache_statistics before;
    struct semcache_region result;
    struct stencil a;
    double *x[2], *check[2], since;
    int parts;

    stencil_grid(&a, 7, 0, points);
    for (int i = 0; i < 2; i++) {
        x[i] = semcache_alloc((size_t)a.n * sizeof *x[i]);
        check[i] = example_doubles((size_t)a.n);
        for (int k = 0; k < a.n && x[i]; k++)
            x[i][k] = check[i][k] = example_element((uint32_t)k, 3);
    }
    semcache_init();
    parts = semcache_device_count() > 1 ? semcache_device_count() : 1;
    if (!x[0] || !x[1] || parts > PARTS_MAX || !divide(&a, parts, part) ||
        !multiply(part, parts, factor, x[0], x[1], a.n))
        return 1;
    before = tasks_moved();
    since = example_now();
    for (int64_t s = 1; s < steps; s++)
        if (!multiply(part, parts, factor, x[s % 2], x[(s + 1) % 2], a.n))
            return 1;
    tasks_print_moved("further steps", &before);
    semcache_region_1d(&result, x[steps % 2], SEMCACHE_FLOAT64, a.n);
    semcache_region_wait(&result);
    printf("%d rows, %lld steps, %d parts: %.3f s\n", a.n, (long long)steps, parts, example_now() - since);
    for (int64_t s = 0; s < steps; s++)
        plain(&a, factor, check[s % 2], check[(s + 1) % 2]);
    for (int k = 0; k < a.n; k++)
        wrong += x[steps % 2][k] != check[steps % 2][k];
    printf("wrong: %lld%s\n", (long long)wrong, wrong ? "" : " ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
