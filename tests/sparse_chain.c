/* Triangular solves that a library offers: matrices with a short chain of rows go to a device, matrices with a chain
 * through all rows stay on the host.  Each solution is right.  Prints the number of solves on devices: chain, both. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

enum { ROWS = 100000, EACH = 8, SOLVES = 80 };

static const double one[2] = {1, 0};

struct matrix {
    struct semcache_sparse_arrays a;
    int32_t *start, *index;
    double *values;
    bool upper;
};

/* Rows with EACH entries and a diagonal.  chained: each row needs its neighbour; else the second half of the rows needs
 * the first half. */
static struct matrix make(bool chained, bool upper)
{
    struct matrix m = {.upper = upper, .start = semcache_alloc((ROWS + 1) * sizeof *m.start),
                       .index = semcache_alloc(ROWS * (EACH + 1) * sizeof *m.index),
                       .values = semcache_alloc(ROWS * (EACH + 1) * sizeof *m.values)};
    int32_t entries = 0;

    for (int i = 0; i < ROWS; i++) {
        int place = upper ? ROWS - 1 - i : i; /* in the order of the solve */

        m.start[i] = entries;
        for (int k = 1; k <= EACH; k++) {
            int needs = chained ? place - k : place < ROWS / 2 ? -1 : (place * 7 + k * 1009) % (ROWS / 2);

            if (needs < 0)
                continue;
            m.index[entries] = upper ? ROWS - 1 - needs : needs;
            m.values[entries++] = 0.01 * k;
        }
        m.index[entries] = i;
        m.values[entries++] = 2;
    }
    m.start[ROWS] = entries;
    m.a = (struct semcache_sparse_arrays){.size = sizeof m.a, .format = SEMCACHE_SPARSE_CSR,
                                          .type = SEMCACHE_FLOAT64, .index_bytes = 4, .rows = ROWS, .cols = ROWS,
                                          .start = m.start, .index = m.index, .values = m.values};
    return m;
}

static void drop(struct matrix *m)
{
    semcache_free(m->start);
    semcache_free(m->index);
    semcache_free(m->values);
}

static void solve(const struct matrix *m, const double *x, double *y)
{
    for (int i = 0; i < ROWS; i++) {
        int row = m->upper ? ROWS - 1 - i : i;
        double sum = x[row], diagonal = 1;

        for (int32_t e = m->start[row]; e < m->start[row + 1]; e++)
            if (m->index[e] == row)
                diagonal = m->values[e];
            else
                sum -= m->values[e] * y[m->index[e]];
        y[row] = sum / diagonal;
    }
}

/* Returns the number of solves on devices. */
static int solves(bool chained, bool upper)
{
    struct matrix m = make(chained, upper);
    double *x = semcache_alloc(ROWS * sizeof *x), *y = semcache_alloc(ROWS * sizeof *y);
    double *known = malloc(ROWS * sizeof *known), worst = 0;
    int done = 0;

    for (int i = 0; i < ROWS; i++)
        x[i] = i % 11 - 5;
    solve(&m, x, known);
    for (int i = 0; i < SOLVES; i++) {
        int here = semcache_try_solve(&m.a, 'N', upper ? 'U' : 'L', 0, one, x, y);

        done += here;
        if (!here)
            solve(&m, x, y);
    }
    for (int i = 0; i < ROWS; i++)
        worst = fmax(worst, fabs(y[i] - known[i]));
    tap_ok(worst < 1e-12, "%s rows, %s triangle: right", chained ? "chained" : "free", upper ? "upper" : "lower");
    drop(&m);
    semcache_free(x);
    semcache_free(y);
    free(known);
    return done;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "host";

    for (int upper = 0; upper < 2; upper++)
        for (int chained = 0; chained < 2; chained++) {
            int done = solves(chained, upper);
            bool good = strcmp(mode, "always") == 0 ? done == SOLVES
                        : strcmp(mode, "auto") == 0 ? (chained ? done == 0 : done > SOLVES / 2)
                                                    : done == 0;

            tap_ok(good, "%s: %d of %d on devices", mode, done, SOLVES);
        }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
