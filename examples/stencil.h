/* Generated sparse matrices in CSR counted from 0: the stencils of partial differential equations on regular grids, and
 * a tridiagonal matrix. Programs that are compared use the same numbers. */
#ifndef EXAMPLES_STENCIL_H
#define EXAMPLES_STENCIL_H

#include <limits.h>

#include "examples/example.h"

struct stencil {
    int n, side, entries; /* side: points along one direction of the grid */
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

static inline void stencil_room(struct stencil *s, long n, long entries)
{
    if (entries > INT_MAX) {
        fprintf(stderr, "%ld entries are too many for 32-bit integers\n", entries);
        exit(2);
    }
    s->n = (int)n;
    s->start = stencil_alloc(((size_t)n + 1) * sizeof *s->start);
    s->columns = stencil_alloc((size_t)entries * sizeof *s->columns);
    s->values = stencil_alloc((size_t)entries * sizeof *s->values);
}

/* A point's neighbours by ascending column, with the point itself in the middle. */
struct stencil_neighbour {
    int x, y, z;
};

static inline int stencil_neighbours(int points, struct stencil_neighbour *out)
{
    int count = 0, planes = points == 5 ? 0 : 1;

    for (int z = -planes; z <= planes; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (points == 27 || abs(x) + abs(y) + abs(z) <= 1)
                    out[count++] = (struct stencil_neighbour){x, y, z};
    return count;
}

/* points: 5 on a square, 7 or 27 on a cube of about n points. The diagonal is slightly larger than the sum of the
 * remaining entries: positive definite. wind: convection along x, which makes the matrix unsymmetric. */
static inline void stencil_grid(struct stencil *s, int points, double wind, long n)
{
    struct stencil_neighbour to[27];
    int count = stencil_neighbours(points, to), side = 1, at = 0;
    long plane, total;

    while ((points == 5 ? (long)side * side : (long)side * side * side) < n)
        side++;
    plane = (long)side * side;
    total = points == 5 ? plane : plane * side;
    stencil_room(s, total, total * count);
    s->side = side;
    for (int i = 0; i < s->n; i++) {
        const int x = i % side, y = i / side % side, z = i / (int)plane, planes = points == 5 ? 1 : side;

        s->start[i] = at;
        for (int k = 0; k < count; k++) {
            const struct stencil_neighbour *d = &to[k];

            if ((unsigned)(x + d->x) >= (unsigned)side || (unsigned)(y + d->y) >= (unsigned)side ||
                (unsigned)(z + d->z) >= (unsigned)planes)
                continue;
            s->columns[at] = i + d->x + d->y * side + d->z * (int)plane;
            s->values[at++] = k == count / 2 ? count - 1 + 0.01 : wind * d->x - 1;
        }
    }
    s->start[s->n] = s->entries = at;
}

/* The cube with about n points. */
static inline void stencil_make(struct stencil *s, long n)
{
    stencil_grid(s, 7, 0, n);
}

/* Symmetric, tridiagonal and positive definite, n rows; off-diagonal entries by example_element. */
static inline void stencil_tridiagonal(struct stencil *s, long n)
{
    int at = 0;

    stencil_room(s, n, 3 * n);
    s->side = s->n;
    for (int i = 0; i < s->n; i++) {
        s->start[i] = at;
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < s->n; j++) {
            s->columns[at] = j;
            s->values[at++] = example_element((uint32_t)(i < j ? i : j), 0) + (i == j ? 10 : 0);
        }
    }
    s->start[s->n] = s->entries = at;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
