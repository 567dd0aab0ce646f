/* Norms of matrices by kernels of the module (norm.cu), compiled by nvcc and built in as data.  The kernels leave a
 * number for each column, or a few for each row; the host takes the largest, or adds them up.
 *
 * Without nvcc, or if the driver refuses a kernel, the host computes.  The host also computes when the result is not
 * finite, or when squares may have been lost by underflow: LAPACK's routine defines these results. */
#include <math.h>
#include <string.h>

#include "device/cuda/norm_kernel.h"
#include "device/cuda/solver.h"

#ifdef SC_CUDA_NORM

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/norm_image.inc"
};

enum { COLUMN_BLOCKS_MOST = 4096, CHUNKS_MOST = 16, CHUNK_LEAST = 64 };

/* Squares below the least number of the type are nothing beside such a sum. */
#define SQUARES_LEAST 0x1p-900

static const char *const names[2][SC_TYPES] = {
    {"norm_columns_s", "norm_columns_d", "norm_columns_c", "norm_columns_z"},
    {"norm_rows_s", "norm_rows_d", "norm_rows_c", "norm_rows_z"}};

/* Loads the kernels at the first use. */
static enum sc_status load(struct sc_cuda_device *d)
{
    return sc_cuda_module_load_all(&d->norm, image, names[0], 2 * SC_TYPES, d->norms[0]);
}

/* What the kernels compute for a call: numbers of columns, of rows, or both for a sum over a symmetric matrix. */
struct shape {
    struct sc_cuda_norm matrix;
    bool symmetric, columns, rows;
    int64_t chunks, width; /* of rows */
};

static struct shape shape_of(const struct sc_kernel *k)
{
    bool symmetric = k->op == SC_OP_LANSY || k->op == SC_OP_LANHE, sums = k->job[0] == '1' || k->job[0] == 'I';
    struct shape s = {.symmetric = symmetric, .columns = k->job[0] != 'I' || symmetric,
                      .rows = k->job[0] == 'I' || (symmetric && sums)};

    s.matrix = (struct sc_cuda_norm){.m = k->m, .n = k->n, .ld = k->lda, .kind = k->job[0],
                                     .part = k->op == SC_OP_LANGE ? 'G' : k->uplo,
                                     .unit = k->op == SC_OP_LANTR && k->diag == 'U',
                                     .real_diagonal = k->op == SC_OP_LANHE, .twice = symmetric};
    s.chunks = k->n / CHUNK_LEAST < 1 ? 1 : k->n / CHUNK_LEAST < CHUNKS_MOST ? k->n / CHUNK_LEAST : CHUNKS_MOST;
    s.width = (k->n + s.chunks - 1) / s.chunks;
    return s;
}

static enum sc_status launch(const struct sc_cuda_solve *s, struct shape *shape)
{
    struct sc_cuda_device *d = sc_cuda_device(s->c->device);
    const struct sc_kernel *k = s->k;
    cudaStream_t stream = s->c->queue->stream;
    double *columns = (double *)(void *)s->at[SC_CUDA_SMALL], *rows = columns + (shape->columns ? k->n : 0);
    void *by_columns[] = {&shape->matrix, (void *)&k->a, &columns};
    void *by_rows[] = {&shape->matrix, (void *)&k->a, &shape->width, &rows};
    unsigned blocks = (unsigned)((k->m + SC_CUDA_NORM_THREADS - 1) / SC_CUDA_NORM_THREADS);
    enum sc_status status = SC_OK;

    if (shape->columns)
        status = sc_cuda_module_launch(d->norms[0][k->type],
                                       (unsigned)(k->n < COLUMN_BLOCKS_MOST ? k->n : COLUMN_BLOCKS_MOST), 1,
                                       SC_CUDA_NORM_THREADS, stream, by_columns);
    shape->matrix.strict = shape->columns; /* the diagonal has been counted */
    if (status == SC_OK && shape->rows)
        status = sc_cuda_module_launch(d->norms[1][k->type], blocks, (unsigned)shape->chunks, SC_CUDA_NORM_THREADS,
                                       stream, by_rows);
    return status;
}

/* A number that is not one stays. */
static double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

static double result_of(const struct sc_kernel *k, const struct shape *shape, const double *columns)
{
    const double *rows = columns + (shape->columns ? k->n : 0);
    double found = 0;

    if (k->job[0] == 'F') {
        for (int64_t j = 0; j < k->n; j++)
            found += columns[j];
        return found < SQUARES_LEAST ? NAN : sqrt(found);
    }
    for (int64_t i = 0; i < (shape->rows ? k->m : k->n); i++) {
        double sum = shape->columns ? columns[i] : 0;

        for (int64_t chunk = 0; shape->rows && chunk < shape->chunks; chunk++)
            sum += rows[i + k->m * chunk];
        found = larger(found, sum);
    }
    return found;
}

static bool give(const struct sc_kernel *k, double value)
{
    float single = (float)value;

    if (k->type == SC_S || k->type == SC_C) {
        memcpy(k->small[0], &single, sizeof single);
        return isfinite(single);
    }
    memcpy(k->small[0], &value, sizeof value);
    return isfinite(value);
}

enum sc_status sc_cuda_norm(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    struct shape shape = shape_of(k);
    enum sc_status status = load(sc_cuda_device(s->c->device));

    s->bytes[SC_CUDA_SMALL] = s->host_bytes =
        (size_t)((shape.columns ? k->n : 0) + (shape.rows ? k->m * shape.chunks : 0)) * sizeof(double);
    if (status == SC_OK)
        status = sc_cuda_solve_reserve(s);
    if (status == SC_OK)
        status = launch(s, &shape);
    if (status == SC_OK)
        status = sc_cuda_solve_down(s, s->host, s->at[SC_CUDA_SMALL], s->host_bytes);
    if (status == SC_OK)
        status = sc_cuda_solve_check(s, NULL, 0);
    return status == SC_OK && !give(k, result_of(k, &shape, s->host)) ? SC_ERR_UNSUPPORTED : status;
}

#else

enum sc_status sc_cuda_norm(struct sc_cuda_solve *s)
{
    (void)s;
    return SC_ERR_UNSUPPORTED;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
