/* Sparse matrices with arrays too small to be tracked (few rows, few entries): each product is the product by
 * definition, whatever the program has written to the arrays before.  Started by sparse_small.t; arguments: always, if
 * devices must do every product; auto, if devices must do products of vectors that are there. */
#include <stdint.h>
#include <string.h>

#include "semcache/semcache.h"
#include "tests/statistics.h"
#include "tests/tap.h"

enum { SHORT = 300, MOST = 3000 };

static int far = 60000; /* length of long vectors */
static const int step = 1;


void dscal_(const int *n, const double *alpha, double *x, const int *incx);

static bool always;
static const double zero[2], one[2] = {1, 0};

/* `lines` rows (CSR) or columns (CSC) with `each` entries.  Arrays of the heap or of the program's own data. */
struct matrix {
    struct semcache_sparse_arrays a;
    int lines, width, each;
    int32_t *start, *index;
    double *values;
};

static int32_t own_start[SHORT + 2], own_index[MOST];
static double own_values[MOST];

static void fill(struct matrix *m)
{
    for (int i = 0; i <= m->lines; i++)
        m->start[i] = i * m->each;
    for (int e = 0; e < m->lines * m->each; e++) {
        m->index[e] = (int32_t)((int64_t)e * 7919 % m->width);
        m->values[e] = e % 5 - 2;
    }
}

static struct matrix make(enum semcache_sparse_format format, int lines, int each, bool heap)
{
    struct matrix m = {.lines = lines, .width = far, .each = each};
    const int entries = lines * each;

    m.start = heap ? malloc((size_t)(lines + 1) * sizeof *m.start) : own_start;
    m.index = heap ? malloc((size_t)entries * sizeof *m.index) : own_index;
    m.values = heap ? malloc((size_t)entries * sizeof *m.values) : own_values;
    fill(&m);
    m.a = (struct semcache_sparse_arrays){.size = sizeof m.a, .format = format, .type = SEMCACHE_FLOAT64,
                                          .index_bytes = 4, .rows = format == SEMCACHE_SPARSE_CSR ? lines : far,
                                          .cols = format == SEMCACHE_SPARSE_CSR ? far : lines, .start = m.start,
                                          .index = m.index, .values = m.values};
    return m;
}

static void drop(struct matrix *m)
{
    if (m->start == own_start)
        return;
    free(m->start);
    free(m->index);
    free(m->values);
}

/* y := op(A) x by definition. */
static void define(const struct matrix *m, bool along, const double *x, double *y)
{
    memset(y, 0, (size_t)(along ? m->lines : m->width) * sizeof *y);
    for (int i = 0; i < m->lines; i++)
        for (int e = m->start[i]; e < m->start[i + 1]; e++)
            if (along)
                y[i] += m->values[e] * x[m->index[e]];
            else
                y[m->index[e]] += m->values[e] * x[i];
}

static double *x, *y, *known;

/* With long vectors on the devices.  Integers: every order of a sum gives the same bits. */
static bool is_right(const struct matrix *m, char op)
{
    const bool along = (m->a.format == SEMCACHE_SPARSE_CSR) == (op == 'N');
    const int inputs = along ? m->width : m->lines, outputs = along ? m->lines : m->width;
    const double minus = -1;
    long before, home;
    bool good, done;

    dscal_(&inputs, &minus, x, &step);
    before = statistic("sparse_mv", "offloaded");
    home = statistic("bytes", "d2h");
    done = semcache_try_sparse(&m->a, op, 1, one, x, 1, zero, y, 1);
    good = statistic("sparse_mv", "offloaded") == (before < 0 ? 0 : before) + 1;
    /* Half of a long vector x is not fetched.  The pager may fetch y ahead of its reader. */
    good = good == done && (!always || statistic("bytes", "d2h") - home < far * 4 + outputs * (int)sizeof *y);
    define(m, along, x, known);
    if (!done)
        return !always; /* the caller computes */
    return good && memcmp(y, known, (size_t)outputs * sizeof *y) == 0;
}

static void values(struct matrix *m) { m->values[m->lines] = 7, m->values[0] = -9; }
static void column(struct matrix *m) { m->index[m->lines] = 17, m->index[1] = far - 1; }
static void line(struct matrix *m) /* the first line gets an entry of the second */
{
    m->start[1]++;
}
static void less(struct matrix *m) /* a shorter last line */
{
    m->start[m->lines]--;
}
static void half(struct matrix *m) /* half of the entries: what was behind them may be no memory of the matrix */
{
    m->each /= 2;
    if (m->start != own_start) {
        m->index = realloc(m->index, (size_t)(m->lines * m->each) * sizeof *m->index);
        m->values = realloc(m->values, (size_t)(m->lines * m->each) * sizeof *m->values);
        m->a.index = m->index;
        m->a.values = m->values;
    }
    fill(m);
}
static void nothing(struct matrix *m) { (void)m; }

static const struct change {
    const char *name;
    void (*make)(struct matrix *m);
} changes[] = {{"no change", nothing}, {"values", values},     {"columns", column},    {"rows", line},
               {"fewer", less},        {"half of all", half}, {"values again", values}};
enum { CHANGES = sizeof changes / sizeof *changes };

static void check(enum semcache_sparse_format format, int lines, int each, bool heap)
{
    struct matrix m = make(format, lines, each, heap);
    const char *name = format == SEMCACHE_SPARSE_CSR ? "CSR" : "CSC";

    for (int i = 0; i < CHANGES; i++) {
        bool good = true;

        changes[i].make(&m);
        for (int k = 0; k < 2; k++)
            good &= is_right(&m, 'N') && is_right(&m, 'T');
        tap_ok(good, "%s, %d lines of %d, %s: %s", name, lines, each, heap ? "heap" : "own data", changes[i].name);
    }
    drop(&m);
}

/* Where the devices do long updates of x, a small product reads x there, whatever the program does to the matrix. */
static void check_away(void)
{
    enum { ROUNDS = 20 };
    struct matrix m = make(SEMCACHE_SPARSE_CSR, 3, 20, true);
    const double minus = -1;
    double *same = malloc((size_t)far * sizeof *same), *short_y = malloc(3 * sizeof *short_y), is[3];
    bool good = true;
    long home = 0;
    int there = 0;

    memcpy(same, x, (size_t)far * sizeof *same);
    for (int i = 0; i < ROUNDS; i++) {
        bool done;

        dscal_(&far, &minus, x, &step);
        for (int j = 0; j < far; j++)
            same[j] *= -1;
        m.values[5] = i;
        if (i == 1)
            home = statistic("bytes", "d2h");
        done = semcache_try_sparse(&m.a, 'N', 1, one, x, 1, zero, short_y, 1);
        define(&m, true, same, is);
        good &= !done || memcmp(short_y, is, sizeof is) == 0;
        there += done;
    }
    tap_ok(good, "small products of a vector on a device are right");
    tap_ok(there >= ROUNDS - 2, "devices did %d of %d", there, ROUNDS);
    tap_ok(statistic("bytes", "d2h") - home < 100000, "and the vector stayed");
    tap_ok(x[far - 1] == same[far - 1], "with its values");
    drop(&m);
}

int main(int argc, char **argv)
{
    always = argc > 1 && strcmp(argv[1], "always") == 0;
    if (argc > 1 && strcmp(argv[1], "auto") == 0)
        far = 1000000; /* long enough for a gain on devices */
    x = malloc((size_t)far * sizeof *x);
    y = malloc((size_t)far * sizeof *y);
    known = malloc((size_t)far * sizeof *known);
    for (int i = 0; i < far; i++)
        x[i] = i % 9 - 4;
    if (far == 1000000) {
        check_away();
        return tap_done();
    }
    for (int heap = 0; heap < 2; heap++)
        for (int f = 0; f < 2; f++) {
            check(f ? SEMCACHE_SPARSE_CSC : SEMCACHE_SPARSE_CSR, 3, 20, heap);
            check(f ? SEMCACHE_SPARSE_CSC : SEMCACHE_SPARSE_CSR, SHORT, 10, heap);
        }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
