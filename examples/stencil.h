/* The 7-point stencil on a cube as a CSR matrix: positive definite, the same numbers in all programs that compare. */
#ifndef EXAMPLES_STENCIL_H
#define EXAMPLES_STENCIL_H

#include "examples/example.h"

struct stencil {
    int n, side, entries;
    int *start, *columns;
    double *values;
};

static inline void *stencil_alloc(size_t bytes)
{
    void *p = malloc(bytes);

    if (!p) {
        fprintf(stderr, "not enough memory for %zu bytes\n", bytes);
        exit(2);
    }
    return p;
}

/* The cube with about n points. */
static inline void stencil_make(struct stencil *s, long n)
{
    int side = 1, at = 0;

    while ((long)side * side * side < n)
        side++;
    s->side = side;
    s->n = side * side * side;
    s->start = stencil_alloc(((size_t)s->n + 1) * sizeof *s->start);
    s->columns = stencil_alloc(7 * (size_t)s->n * sizeof *s->columns);
    s->values = stencil_alloc(7 * (size_t)s->n * sizeof *s->values);
    for (int i = 0; i < s->n; i++) {
        const int step[7] = {-side * side, -side, -1, 0, 1, side, side * side};
        const int place[3] = {i % side, i / side % side, i / side / side};

        s->start[i] = at;
        for (int k = 0; k < 7; k++) {
            int along = k < 3 ? 2 - k : k - 4; /* 0: x, 1: y, 2: z */

            if (k != 3 && place[along] == (k < 3 ? 0 : side - 1))
                continue;
            s->columns[at] = i + step[k];
            s->values[at++] = k == 3 ? 6.01 : -1;
        }
    }
    s->start[s->n] = s->entries = at;
}

#endif
