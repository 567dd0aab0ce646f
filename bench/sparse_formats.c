/* Time until a matrix in a format other than CSR can be used: products of the 7-point stencil's matrix as rows, columns
 * and coordinates.  Before a product the program writes a value, and the parts with the value are made again; with
 * `index` the program writes an index, and all parts are made again.  For comparison: the conversion by the host alone
 * (mkl_sparse_convert_csr).
 *
 *     sparse_formats [n [rounds [index]]]
 *
 * Seconds of the first product (which pins the memory), of a product after a write, of a product without a write, of
 * the host's conversion. */
#include <math.h>

#include "examples/mkl_sparse.h"
#include "examples/stencil.h"

int mkl_sparse_d_create_csc(sparse_matrix_t *matrix, int base, int rows, int columns, int *start, int *end, int *index,
                            double *values);
int mkl_sparse_d_create_coo(sparse_matrix_t *matrix, int base, int rows, int columns, int entries, int *row,
                            int *column, double *values);
int mkl_sparse_convert_csr(sparse_matrix_t from, int operation, sparse_matrix_t *to);

static const struct matrix_descr general = {SPARSE_MATRIX_TYPE_GENERAL, 0, 0};

struct bench {
    struct stencil s;
    int rounds, of_index;
    double *x, *y, *expected;
};

/* Until the host has read the result. */
static double product(const struct bench *b, sparse_matrix_t matrix, int operation)
{
    double start = example_now(), sum = 0;

    if (mkl_sparse_d_mv(operation, 1, matrix, general, b->x, 0, b->y))
        exit(1);
    for (int i = 0; i < b->s.n; i += 512)
        sum += b->y[i];
    return sum == sum ? example_now() - start : NAN;
}

/* The matrix as CSR by the host, from arrays at home. */
static double host_conversion(sparse_matrix_t matrix)
{
    double start = example_now();
    sparse_matrix_t csr;

    if (mkl_sparse_convert_csr(matrix, SPARSE_OPERATION_NON_TRANSPOSE, &csr))
        exit(1);
    mkl_sparse_destroy(csr);
    return example_now() - start;
}

/* Writes the same value. */
static void write_one(const struct bench *b, double *values, int *index, int at)
{
    if (b->of_index)
        *(volatile int *)&index[at] = index[at];
    else
        *(volatile double *)&values[at] = values[at];
}

static int measure(struct bench *b, const char *name, sparse_matrix_t matrix, int operation, double *values, int *index)
{
    double first = product(b, matrix, operation), written = INFINITY, again = INFINITY, worst = 0;

    for (int k = 0; k < b->rounds; k++) {
        write_one(b, values, index, k);
        written = fmin(written, product(b, matrix, operation));
        again = fmin(again, product(b, matrix, operation));
    }
    for (int i = 0; i < b->s.n; i++)
        worst = example_worse(worst, fabs(b->y[i] - b->expected[i]));
    printf("%-12s n=%d entries=%d first=%.4f written=%.4f again=%.5f host_conversion=%.4f %s\n", name, b->s.n,
           b->s.entries, first, written, again, host_conversion(matrix), worst < 1e-9 ? "ok" : "wrong");
    mkl_sparse_destroy(matrix);
    return !(worst < 1e-9);
}

static void expect(struct bench *b)
{
    for (int i = 0; i < b->s.n; i++) {
        b->x[i] = 1 + i % 3;
        b->expected[i] = 0;
    }
    for (int i = 0; i < b->s.n; i++)
        for (int e = b->s.start[i]; e < b->s.start[i + 1]; e++)
            b->expected[i] += b->s.values[e] * b->x[b->s.columns[e]];
}

/* Entry e at place e; unsorted: at e times a prime. */
static sparse_matrix_t coordinates(const struct stencil *s, int in_order, double **values, int **index)
{
    int *row = stencil_alloc((size_t)s->entries * sizeof *row);
    int *column = *index = stencil_alloc((size_t)s->entries * sizeof *column);
    long step = in_order ? 1 : 1000003;
    sparse_matrix_t matrix;

    *values = example_doubles((size_t)s->entries);
    for (int i = 0; i < s->n; i++)
        for (int e = s->start[i]; e < s->start[i + 1]; e++) {
            long at = s->entries % step ? e * step % s->entries : e;

            row[at] = i;
            column[at] = s->columns[e];
            (*values)[at] = s->values[e];
        }
    if (mkl_sparse_d_create_coo(&matrix, SPARSE_INDEX_BASE_ZERO, s->n, s->n, s->entries, row, column, *values))
        exit(1);
    return matrix;
}

int main(int argc, char **argv)
{
    const int plain = SPARSE_OPERATION_NON_TRANSPOSE;
    struct bench b = {.rounds = argc > 2 ? atoi(argv[2]) : 3, .of_index = argc > 3};
    sparse_matrix_t rows, columns, matrix;
    double *values;
    int *index, wrong;

    stencil_make(&b.s, argc > 1 ? atol(argv[1]) : 1000000);
    b.x = example_doubles((size_t)b.s.n);
    b.y = example_doubles((size_t)b.s.n);
    b.expected = example_doubles((size_t)b.s.n);
    expect(&b);
    if (mkl_sparse_d_create_csr(&rows, 0, b.s.n, b.s.n, b.s.start, b.s.start + 1, b.s.columns, b.s.values) ||
        mkl_sparse_d_create_csc(&columns, 0, b.s.n, b.s.n, b.s.start, b.s.start + 1, b.s.columns, b.s.values))
        return 1; /* symmetric */
    wrong = measure(&b, "rows", rows, plain, b.s.values, b.s.columns);
    wrong += measure(&b, "columns", columns, plain, b.s.values, b.s.columns);
    for (int in_order = 1; in_order >= 0; in_order--) {
        matrix = coordinates(&b.s, in_order, &values, &index);
        wrong += measure(&b, in_order ? "coordinates" : "no_order", matrix, plain, values, index);
    }
    return wrong;
}
/* SPDX-License-Identifier: BSD-2-Clause */
