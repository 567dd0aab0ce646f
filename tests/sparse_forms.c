/* The whole of sparse/sparse.h against dense matrices: formats, types, integers of two widths counted from 0 and 1,
 * every kind of matrix, strided vectors, dense operands by columns and by rows. Runs on 1, 2 and 4 devices, with little
 * memory, and on the host. */
#include <complex.h>
#include <math.h>

#include "sparse/sparse.h"
#include "tests/coherence_env.h"

enum { MOST = 90 };

static uint64_t seed = 20261121;

static uint64_t draw(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* --- a matrix, as stored and dense ------------------------------------------------------------------------------- */

struct matrix {
    struct sc_sparse_arrays a;
    double complex stored[MOST][MOST]; /* sums of the entries at each place */
    int64_t entries, row[8 * MOST * 4], col[8 * MOST * 4];
    void *start, *index, *values;
};

static void *memory(size_t bytes)
{
    void *p = sc_host_alloc(bytes < 8192 ? 8192 : bytes);

    return p ? p : calloc(1, bytes);
}

static void release(void *p)
{
    if (!sc_host_in_arena(p)) {
        free(p);
        return;
    }
    sc_coherence_forget((uintptr_t)p, 1);
    sc_host_free(p);
}

static void set_integer(const struct sc_sparse_arrays *a, void *at, int64_t i, int64_t value)
{
    if (a->index_bytes == 4)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

static int64_t get_integer(const struct sc_sparse_arrays *a, const void *at, int64_t i)
{
    return a->index_bytes == 4 ? ((const int32_t *)at)[i] : ((const int64_t *)at)[i];
}

static void set_value(enum sc_type type, void *at, int64_t i, double complex v)
{
    switch (type) {
    case SC_S: ((float *)at)[i] = (float)creal(v); break;
    case SC_D: ((double *)at)[i] = creal(v); break;
    case SC_C: ((float complex *)at)[i] = (float complex)v; break;
    default: ((double complex *)at)[i] = v;
    }
}

static double complex get_value(enum sc_type type, const void *at, int64_t i)
{
    switch (type) {
    case SC_S: return (double)((const float *)at)[i];
    case SC_D: return ((const double *)at)[i];
    case SC_C: return ((const float complex *)at)[i];
    default: return ((const double complex *)at)[i];
    }
}

static double complex draw_value(enum sc_type type)
{
    double re = (double)draw(17) / 4 - 2, im = (double)draw(17) / 4 - 2;

    return sc_type_is_complex(type) ? CMPLX(re, im) : re;
}

/* Lines (rows or columns, possibly of blocks) of a few entries each, unsorted, with duplicates; the diagonal is
 * dominant. */
static void make_lines(struct matrix *m, int64_t lines, int64_t limit, int64_t block)
{
    struct sc_sparse_arrays *a = &m->a;
    int64_t n = 0;

    for (int64_t i = 0; i < lines; i++) {
        int64_t count = draw(4) ? 1 + (int64_t)draw(6) : 0;

        set_integer(a, m->start, i, n + a->base);
        for (int64_t k = 0; k <= count; k++) {
            int64_t j = k || i >= limit ? (int64_t)draw((uint64_t)limit) : i;

            set_integer(a, m->index, n, j + a->base);
            for (int64_t r = 0; r < block; r++)
                for (int64_t c = 0; c < block; c++) {
                    double complex v = draw_value(a->type) + (k == 0 && r == c ? 20 : 0);
                    int64_t x = i * block + (a->block_by_rows ? r : c), y = j * block + (a->block_by_rows ? c : r);

                    set_value(a->type, m->values, (n * block + r) * block + c, v);
                    *(a->format == SC_SPARSE_CSC ? &m->stored[y][x] : &m->stored[x][y]) += v;
                }
            n++;
        }
    }
    set_integer(a, m->start, lines, n + a->base);
}

static void make_coordinates(struct matrix *m)
{
    struct sc_sparse_arrays *a = &m->a;
    int64_t diagonal = a->rows < a->cols ? a->rows : a->cols;

    a->count = diagonal + (int64_t)draw(200);
    for (int64_t e = 0; e < a->count; e++) {
        int64_t i = e < diagonal ? e : (int64_t)draw((uint64_t)a->rows);
        int64_t j = e < diagonal ? e : (int64_t)draw((uint64_t)a->cols);
        double complex v = draw_value(a->type) + (e < diagonal ? 20 : 0);

        set_integer(a, m->start, e, i + a->base);
        set_integer(a, m->index, e, j + a->base);
        set_value(a->type, m->values, e, v);
        m->stored[i][j] += v;
    }
}

static void make_diagonals(struct matrix *m)
{
    struct sc_sparse_arrays *a = &m->a;

    a->count = 1 + (int64_t)draw(5);
    a->ld = a->rows + (int64_t)draw(3);
    for (int64_t d = 0; d < a->count; d++) {
        int64_t off = d ? (int64_t)draw((uint64_t)(a->rows + a->cols - 1)) - a->rows + 1 : 0;

        set_integer(a, m->index, d, off);
        for (int64_t i = 0; i < a->rows; i++) {
            double complex v = draw_value(a->type) + (d ? 0 : 20);

            set_value(a->type, m->values, i + d * a->ld, v);
            if (i + off >= 0 && i + off < a->cols)
                m->stored[i][i + off] += v;
        }
    }
}

static void make(struct matrix *m, bool square)
{
    struct sc_sparse_arrays *a = &m->a;

    memset(m, 0, sizeof *m);
    a->format = (enum sc_sparse_format)draw(5);
    a->type = (enum sc_type)draw(4);
    a->index_bytes = draw(2) ? 4 : 8;
    a->base = (int)draw(2);
    a->block = a->format == SC_SPARSE_BSR ? 1 + (int64_t)draw(3) : 1;
    a->block_by_rows = a->format != SC_SPARSE_BSR || draw(2);
    a->rows = a->block * (1 + (int64_t)draw(MOST / 3));
    a->cols = square ? a->rows : a->block * (1 + (int64_t)draw(MOST / 3));
    a->start = m->start = memory(8 * 8 * MOST * 4);
    a->index = m->index = memory(8 * 8 * MOST * 4);
    a->values = m->values = memory(16 * 9 * 8 * MOST);
    if (a->format == SC_SPARSE_COO)
        make_coordinates(m);
    else if (a->format == SC_SPARSE_DIA)
        make_diagonals(m);
    else if (a->format == SC_SPARSE_CSC)
        make_lines(m, a->cols, a->rows, 1);
    else
        make_lines(m, a->rows / a->block, a->cols / a->block, a->block);
}

/* The element (i, j) that a call with this descriptor uses. */
static double complex used(const struct matrix *m, char trans, const struct sc_sparse_descr *d, int64_t i, int64_t j)
{
    bool mirrored, swap = trans != 'N';
    int64_t r = swap ? j : i, c = swap ? i : j;
    double complex v = m->stored[r][c];

    mirrored = d->kind != SC_SPARSE_GENERAL && r != c && (c < r) != (d->uplo == 'L');
    if (d->kind == SC_SPARSE_DIAGONAL && r != c)
        v = 0;
    else if (mirrored && d->kind == SC_SPARSE_TRIANGULAR)
        v = 0;
    else if (mirrored && d->kind != SC_SPARSE_DIAGONAL)
        v = d->kind == SC_SPARSE_HERMITIAN ? conj(m->stored[c][r]) : m->stored[c][r];
    if (r == c && d->kind != SC_SPARSE_GENERAL && d->diag == 'U')
        v = 1;
    return trans == 'C' ? conj(v) : v;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static double tolerance(enum sc_type type)
{
    return type == SC_S || type == SC_C ? 2e-3 : 1e-10;
}

static struct sc_sparse_descr draw_descr(bool square, bool solve)
{
    struct sc_sparse_descr d = {.uplo = draw(2) ? 'L' : 'U', .diag = draw(3) ? 'N' : 'U'};

    d.kind = solve ? SC_SPARSE_TRIANGULAR + draw(2) : square ? draw(5) : SC_SPARSE_GENERAL;
    if (d.kind == SC_SPARSE_GENERAL)
        d.diag = 'N';
    return d;
}

/* Element (i, j) of a dense operand of n rows. */
struct dense {
    enum sc_type type;
    int64_t n, ld;
    bool by_rows, vector;
    void *at;
};

static int64_t place(const struct dense *d, int64_t i, int64_t j)
{
    if (d->vector)
        return d->ld > 0 ? i * d->ld : (d->n - 1 - i) * -d->ld;
    return d->by_rows ? i * d->ld + j : i + j * d->ld;
}

static void fill(struct dense *d, int64_t columns)
{
    d->at = memory(16 * MOST * 40);
    for (int64_t i = 0; i < d->n; i++)
        for (int64_t j = 0; j < columns; j++)
            set_value(d->type, d->at, place(d, i, j), draw_value(d->type));
}

/* y := alpha op(A) x + beta y for a vector or several columns, by the library and by loops. */
static double product(const struct matrix *m, struct sc_sparse_matrix *h, bool square)
{
    static double complex expected[MOST][8];
    struct sc_sparse_descr d = draw_descr(square, false);
    char trans = "NTC"[draw(3)];
    int64_t columns = draw(2) ? 1 : 1 + (int64_t)draw(5);
    bool vector = columns == 1, by_rows = draw(2);
    enum sc_type type = m->a.type;
    struct dense x = {.type = type, .n = trans == 'N' ? m->a.cols : m->a.rows, .by_rows = by_rows, .vector = vector};
    struct dense y = {.type = type, .n = trans == 'N' ? m->a.rows : m->a.cols, .by_rows = by_rows, .vector = vector};
    double complex alpha = draw_value(type), beta = draw(2) ? draw_value(type) : 0;
    double a[2] = {creal(alpha), cimag(alpha)}, b[2] = {creal(beta), cimag(beta)}, worst = 0;
    static const int64_t increments[] = {1, 1, 1, 2, -1, -3};
    enum sc_status status;

    x.ld = vector ? increments[draw(6)] : (by_rows ? columns : x.n) + (int64_t)draw(3);
    y.ld = vector ? increments[draw(6)] : (by_rows ? columns : y.n) + (int64_t)draw(3);
    fill(&x, columns);
    fill(&y, columns);
    for (int64_t i = 0; i < y.n; i++)
        for (int64_t j = 0; j < columns; j++) {
            expected[i][j] = beta * get_value(type, y.at, place(&y, i, j));
            for (int64_t k = 0; k < x.n; k++)
                expected[i][j] += alpha * used(m, trans, &d, i, k) * get_value(type, x.at, place(&x, k, j));
        }
    if (vector)
        status = sc_sparse_mv(h, trans, &d, a, x.at, x.ld, b, y.at, y.ld);
    else
        status = sc_sparse_mm(h, trans, &d, by_rows, columns, a, x.at, x.ld, b, y.at, y.ld);
    for (int64_t i = 0; i < y.n; i++)
        for (int64_t j = 0; j < columns; j++)
            worst = tap_worse(worst, cabs(expected[i][j] - get_value(type, y.at, place(&y, i, j))));
    if (status != SC_OK || !(worst <= tolerance(type)))
        tap_diag("product: status %d error %g format %d type %d kind %d %c%c%c %d columns, increments %d %d", status,
                 worst, m->a.format, type, d.kind, trans, d.uplo, d.diag, (int)columns, (int)x.ld, (int)y.ld);
    release(x.at);
    release(y.at);
    return status == SC_OK ? worst / tolerance(type) : INFINITY;
}

/* Entries of one place may add up to 0. */
static bool is_singular(const struct matrix *m)
{
    for (int64_t i = 0; i < m->a.rows; i++)
        if (m->stored[i][i] == 0)
            return true;
    return false;
}

/* T y = alpha x: multiplied out. */
static double solution(const struct matrix *m, struct sc_sparse_matrix *h)
{
    struct sc_sparse_descr d = draw_descr(true, true);
    char trans = "NTC"[draw(3)];
    int64_t columns = draw(2) ? 1 : 1 + (int64_t)draw(4), n = m->a.rows;
    bool vector = columns == 1, by_rows = draw(2);
    enum sc_type type = m->a.type;
    struct dense x = {.type = type, .n = n, .by_rows = by_rows, .vector = vector}, y = x;
    double complex alpha = 1 + draw_value(type);
    double a[2] = {creal(alpha), cimag(alpha)}, worst = 0, size = 1;
    enum sc_status status;
    void *in;

    d.diag = 'N';
    x.ld = vector ? 1 + (int64_t)draw(2) : (by_rows ? columns : n) + (int64_t)draw(3);
    y.ld = vector ? 1 : x.ld;
    fill(&x, columns);
    fill(&y, columns);
    in = x.at;
    if (draw(3) == 0) { /* in place */
        memcpy(y.at, x.at, 16 * MOST * 40);
        y.ld = x.ld;
        in = y.at;
    }
    if (vector)
        status = sc_sparse_sv(h, trans, &d, a, in, x.ld, y.at, y.ld);
    else
        status = sc_sparse_sm(h, trans, &d, by_rows, columns, a, in, x.ld, y.at, y.ld);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++) {
            double complex sum = -alpha * get_value(type, x.at, place(&x, i, j));

            for (int64_t k = 0; k < n; k++) {
                sum += used(m, trans, &d, i, k) * get_value(type, y.at, place(&y, k, j));
                size = fmax(size, cabs(get_value(type, y.at, place(&y, k, j))));
            }
            worst = tap_worse(worst, cabs(sum));
        }
    worst /= size * 20;
    if (status != SC_OK || !(worst <= tolerance(type)))
        tap_diag("solve: status %d error %g format %d type %d kind %d %c%c, %d columns", status, worst, m->a.format,
                 type,
                 d.kind, trans, d.uplo, (int)columns);
    release(x.at);
    release(y.at);
    return status == SC_OK ? worst / tolerance(type) : INFINITY;
}

/* A conversion, or the product of the matrix with itself, against the dense result. */
static double results(const struct matrix *m, struct sc_sparse_matrix *h, bool square)
{
    static double complex dense[MOST][MOST];
    struct sc_sparse_descr d = draw_descr(square, false);
    char trans = "NTC"[draw(3)];
    struct sc_sparse_matrix *out;
    bool multiplied = square && draw(2);
    enum sc_status status = multiplied ? sc_sparse_multiply(&out, trans, h, 'N', h)
                                       : sc_sparse_convert(&out, h, trans, &d);
    const struct sc_sparse_arrays *c;
    double worst = 0;
    int64_t last;

    if (status != SC_OK || sc_sparse_arrays(out)->index_bytes != m->a.index_bytes)
        return INFINITY;
    if (multiplied)
        d = (struct sc_sparse_descr){.kind = SC_SPARSE_GENERAL, .diag = 'N'};
    c = sc_sparse_arrays(out);
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) {
            dense[i][j] = multiplied ? 0 : -used(m, trans, &d, i, j);
            for (int64_t k = 0; multiplied && k < m->a.rows; k++)
                dense[i][j] -= used(m, trans, &d, i, k) * m->stored[k][j];
        }
    for (int64_t i = 0; i < c->rows; i++) {
        last = -1;
        for (int64_t e = get_integer(c, c->start, i); e < get_integer(c, c->start, i + 1); e++) {
            int64_t j = get_integer(c, c->index, e);

            worst = j > last && j < c->cols ? worst : INFINITY;
            last = j;
            dense[i][j] += get_value(c->type, c->values, e);
        }
    }
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++)
            worst = tap_worse(worst, cabs(dense[i][j]) / 100);
    if (!(worst <= tolerance(c->type)))
        tap_diag("result: error %g, %s", worst, multiplied ? "multiplied" : "converted");
    sc_sparse_destroy(out);
    return worst / tolerance(m->a.type);
}

/* Writes a value between two products. */
static void change(struct matrix *m)
{
    struct sc_sparse_arrays *a = &m->a;
    double complex v = draw_value(a->type);

    if (a->format != SC_SPARSE_COO)
        return;
    m->stored[0][0] += v - get_value(a->type, m->values, 0);
    set_value(a->type, m->values, 0, v);
}

static double one_matrix(void)
{
    static struct matrix m;
    bool square = draw(3) > 0;
    struct sc_sparse_matrix *h;
    double worst = 0;

    make(&m, square);
    if (sc_sparse_create(&h, &m.a, draw(4) == 0) != SC_OK)
        return INFINITY;
    for (int k = 0; k < 4; k++) {
        worst = tap_worse(worst, product(&m, h, square));
        if (square && !is_singular(&m))
            worst = tap_worse(worst, solution(&m, h));
        worst = tap_worse(worst, results(&m, h, square));
        if (sc_sparse_arrays(h)->values == m.values)
            change(&m);
    }
    sc_sparse_destroy(h);
    release(m.start);
    release(m.index);
    release(m.values);
    return worst;
}

static void many(int matrices, const char *where)
{
    uint64_t began = seed;
    double worst = 0;

    for (int i = 0; i < matrices; i++)
        worst = tap_worse(worst, one_matrix());
    tap_ok(worst <= 1, "%d matrices %s: worst %.2g of the tolerance (seed %llu)", matrices, where, worst,
           (unsigned long long)began);
}

/* --- bad input ---------------------------------------------------------------------------------------------------- */

static void refused(struct sc_sparse_arrays *a, const char *title)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    const double one[2] = {1, 0};
    double *x = memory(8192), *y = memory(8192);
    struct sc_sparse_matrix *h = NULL;
    enum sc_status status = sc_sparse_create(&h, a, false);

    y[0] = 42;
    if (status == SC_OK)
        status = sc_sparse_mv(h, 'N', &general, one, x, 1, one, y, 1);
    tap_ok(status == SC_ERR_INVALID && y[0] == 42, "refused, nothing written: %s", title);
    sc_sparse_destroy(h);
    release(x);
    release(y);
}

static void test_refusals(void)
{
    int32_t *start = memory(8192), *index = memory(8192);
    double *values = memory(8192);
    struct sc_sparse_arrays good = {.format = SC_SPARSE_CSR, .type = SC_D, .index_bytes = 4, .rows = 3, .cols = 3,
                                    .start = start, .index = index, .values = values}, a;

    memcpy(start, (int32_t[]){0, 1, 2, 3}, 16);
    memcpy(index, (int32_t[]){0, 1, 2}, 12);
    values[0] = values[1] = values[2] = 1;
    index[1] = 3;
    refused(&good, "a column past the last");
    index[1] = -1;
    refused(&good, "a negative column");
    index[1] = 1;
    start[2] = 0;
    refused(&good, "a row that ends before it starts");
    start[2] = -2147483647;
    refused(&good, "a position that has passed 2^31");
    start[2] = 2;
    start[0] = -1;
    refused(&good, "a negative position");
    start[0] = 0;
    a = good;
    a.base = 1;
    refused(&a, "positions from 0 where they count from 1");
    a = good;
    a.rows = -1;
    refused(&a, "a negative size");
    a = good;
    a.index_bytes = 3;
    refused(&a, "integers of 3 bytes");
    a = good;
    a.start = NULL;
    refused(&a, "no positions");
    a = good;
    a.format = SC_SPARSE_BSR;
    a.block = 2;
    refused(&a, "blocks that do not fit");
    a = good;
    a.format = SC_SPARSE_CSC;
    a.cols = 4; /* the last position is not looked at for three columns */
    start[4] = 1;
    refused(&a, "a column of CSC that ends before it starts");
    start[4] = 3;
    index[2] = 3;
    refused(&a, "a row of CSC past the last");
    index[2] = 2;
    a = good;
    a.format = SC_SPARSE_COO;
    a.count = 3;
    start[2] = 3;
    refused(&a, "a row of coordinates past the last");
    start[2] = -1;
    refused(&a, "a negative row of coordinates");
    start[2] = 2;
    index[0] = 3;
    refused(&a, "a column of coordinates past the last");
    index[0] = 0;
    a.count = -1;
    refused(&a, "a negative number of entries");
    a = good;
    a.format = SC_SPARSE_BSR;
    a.block = 3;
    start[1] = 1;
    index[0] = 1;
    refused(&a, "a block past the last");
    index[0] = 0;
    a = good;
    a.format = SC_SPARSE_DIA;
    a.count = 1;
    a.ld = 3;
    index[0] = 3;
    refused(&a, "a diagonal above the matrix");
    index[0] = -3;
    refused(&a, "a diagonal below the matrix");
    index[0] = 0;
    a.ld = 2;
    refused(&a, "diagonals that overlap");
    release(start);
    release(index);
    release(values);
}

int main(void)
{
    static const char *const devices[] = {"emu:h200x8:1", "emu:h200x8:2", "emu:h200x8:4"};
    uint64_t before;

    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    tap_diag("seed %llu", (unsigned long long)seed);
    many(60, "on the host");
    test_refusals();
    for (int i = 0; i < (env_is_emulated() ? 3 : 1); i++) {
        env_start(devices[i], 0);
        before = sc_stats.bytes[SC_H2D];
        many(40, devices[i]);
        tap_ok(sc_stats.bytes[SC_H2D] > before, "devices were used");
        test_refusals();
        sc_coherence_stop();
        sc_host_faults_stop();
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
