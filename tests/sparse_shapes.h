/* Matrices with random entries in formats besides CSR, and products that are compared with the host's products. */
#ifndef SC_TESTS_SPARSE_SHAPES_H
#define SC_TESTS_SPARSE_SHAPES_H

#include <math.h>

#include "sparse/sparse.h"
#include "sparse/sparse_int.h"
#include "tests/coherence_env.h"

enum { N = 6000, EACH = 5, BLOCK = 3, MOST = N * EACH };

static uint64_t seed = 20261121;

static int64_t draw(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % n;
}

enum shape { SORTED, SHUFFLED, COLUMNS, BLOCKS, DIAGONALS, ROWS, SHAPES };

static const char *const names[SHAPES] = {"coordinates by rows", "coordinates in any order", "columns", "blocks",
                                          "diagonals", "rows"};

struct matrix {
    struct sc_sparse_arrays a;
    struct sc_sparse_matrix *handle;
    void *start, *index, *end; /* end: NULL, or apart from start */
    double *values, *x, *y, *expected;
    bool solve; /* solves instead of products */
    size_t start_bytes, index_bytes, value_bytes; /* bytes of the arrays that are sent to one device */
};

static void put(const struct matrix *m, void *at, int64_t i, int64_t value)
{
    if (m->a.index_bytes == 4)
        ((int32_t *)at)[i] = (int32_t)(value + m->a.base);
    else
        ((int64_t *)at)[i] = value + m->a.base;
}

/* Columns near the diagonal; some places occur twice. */
static int64_t near(int64_t i, int64_t limit)
{
    int64_t j = i + draw(41) - 20;

    return j < 0 ? 0 : j < limit ? j : limit - 1;
}

static void make_coordinates(struct matrix *m, bool sorted)
{
    m->a.count = MOST;
    for (int64_t e = 0; e < MOST; e++) {
        int64_t i = sorted ? e / EACH : draw(N);

        put(m, m->start, e, i);
        put(m, m->index, e, near(i, N));
    }
    m->start_bytes = m->index_bytes = (size_t)(MOST * m->a.index_bytes);
    m->value_bytes = MOST * sizeof(double);
}

static void make_lines(struct matrix *m, int64_t block)
{
    int64_t lines = N / block, at = 0;

    for (int64_t i = 0; i < lines; i++) {
        put(m, m->start, i, at);
        for (int64_t k = i % (EACH + 1); k > 0 && at < MOST / (block * block); k--)
            put(m, m->index, at++, near(i, lines));
    }
    put(m, m->start, lines, at);
    m->start_bytes = (size_t)((lines + 1) * m->a.index_bytes);
    m->index_bytes = (size_t)(at * m->a.index_bytes);
    m->value_bytes = (size_t)(at * block * block) * sizeof(double);
}

static void make_diagonals(struct matrix *m)
{
    m->a.count = EACH;
    m->a.ld = N;
    m->a.base = 0;
    for (int64_t d = 0; d < EACH; d++)
        put(m, m->index, d, (d - 2) * 7);
    m->start_bytes = 0;
    m->index_bytes = (size_t)(EACH * m->a.index_bytes);
    m->value_bytes = MOST * sizeof(double);
}

static void make(struct matrix *m, enum shape shape)
{
    static const enum sc_sparse_format formats[SHAPES] = {SC_SPARSE_COO, SC_SPARSE_COO, SC_SPARSE_CSC, SC_SPARSE_BSR,
                                                          SC_SPARSE_DIA, SC_SPARSE_CSR};

    *m = (struct matrix){.a = {.format = formats[shape], .type = SC_D, .index_bytes = draw(2) ? 4 : 8,
                               .base = (int)draw(2), .rows = N, .cols = N, .block = BLOCK, .block_by_rows = draw(2)}};
    m->a.start = m->start = env_memory((MOST + 1) * sizeof(int64_t));
    m->a.index = m->index = env_memory(MOST * sizeof(int64_t));
    m->a.values = m->values = env_memory(MOST * sizeof *m->values);
    m->x = env_memory(N * sizeof *m->x);
    m->y = env_memory(N * sizeof *m->y);
    m->expected = malloc(N * sizeof *m->expected);
    if (shape == SORTED || shape == SHUFFLED)
        make_coordinates(m, shape == SORTED);
    else if (shape == DIAGONALS)
        make_diagonals(m);
    else
        make_lines(m, shape == BLOCKS ? BLOCK : 1);
    for (int64_t e = 0; e < MOST; e++)
        m->values[e] = (double)draw(9) / 8 - 0.5;
    for (int64_t i = 0; i < N; i++)
        m->x[i] = (double)draw(1000) / 999; /* values whose rounding depends on the order of a sum */
    if (sc_sparse_create(&m->handle, &m->a, false) != SC_OK)
        tap_ok(0, "a matrix");
}

static void drop(struct matrix *m)
{
    void *const memory[] = {m->start, m->index, m->values, m->x, m->y};

    sc_sparse_destroy(m->handle);
    for (int i = 0; i < 5; i++) {
        sc_coherence_forget((uintptr_t)memory[i], 1);
        sc_host_free(memory[i]);
    }
    free(m->expected);
}

/* For solves with a unit diagonal: small values keep solutions from growing. */
static void to_solve(struct matrix *m)
{
    m->solve = true;
    for (int64_t e = 0; e < MOST; e++)
        m->values[e] /= 64;
}

static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};

/* y := op(A) x, or op(A)^-1 x with the triangle named by d. */
static bool multiply(struct matrix *m, char trans, const struct sc_sparse_descr *d, enum sc_offload offload)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    enum sc_offload before = sc_config.offload;
    enum sc_status status;

    sc_config.offload = offload;
    status = m->solve ? sc_sparse_sv(m->handle, trans, d, one, m->x, 1, m->y, 1)
                      : sc_sparse_mv(m->handle, trans, d, one, m->x, 1, zero, m->y, 1);
    sc_config.offload = before;
    return status == SC_OK;
}

/* Returns whether the host's product equals the devices' product. GPUs add in a different order. */
static bool is_right(struct matrix *m, char trans, const struct sc_sparse_descr *d)
{
    double worst = 0;

    if (!multiply(m, trans, d, SC_OFFLOAD_NEVER))
        return false;
    memcpy(m->expected, m->y, N * sizeof *m->y);
    for (int64_t i = 0; i < N; i++)
        m->y[i] = NAN;
    if (!multiply(m, trans, d, SC_OFFLOAD_ALWAYS))
        return false;
    for (int64_t i = 0; i < N; i++)
        worst = tap_worse(worst, fabs(m->y[i] - m->expected[i]));
    return env_is_emulated() ? worst == 0 : worst < 1e-12;
}

/* Number of variants that devices have converted and keep. */
static int __attribute__((unused)) converted(const struct matrix *m)
{
    int n = 0;

    for (int i = 0; i < m->handle->variants; i++)
        n += m->handle->variant[i].analysed && m->handle->variant[i].converted;
    return n;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
