/* Matrices that come out of others: conversions, and products of two sparse matrices.  On the host. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse_int.h"

/* A handle that owns the arrays of a CSR. */
static enum sc_status adopt(struct sc_sparse_matrix **out, struct sc_sparse_csr *csr)
{
    struct sc_sparse_arrays arrays = {.format = SC_SPARSE_CSR, .type = csr->type, .index_bytes = csr->index_bytes,
                                      .base = csr->base, .rows = csr->rows, .cols = csr->cols, .start = csr->start,
                                      .index = csr->index, .values = csr->values};
    enum sc_status status = sc_sparse_create(out, &arrays, false);

    if (status != SC_OK) {
        sc_sparse_free_csr(csr);
        return status;
    }
    (*out)->owned = true;
    return SC_OK;
}

/* With both locks: the matrix's arrays, looked at and at home, as a sorted CSR. */
static enum sc_status sorted_csr(struct sc_sparse_matrix *m, const struct sc_sparse_use *use, struct sc_sparse_csr *out)
{
    enum sc_status status;

    m->measured = false; /* looked at whosever they are */
    status = sc_sparse_measure(m);
    if (status != SC_OK)
        return status;
    sc_sparse_bring_home(m);
    return sc_sparse_make_csr(&m->arrays, use, out);
}

enum sc_status sc_sparse_convert(struct sc_sparse_matrix **out, struct sc_sparse_matrix *m, char trans,
                                 const struct sc_sparse_descr *descr)
{
    struct sc_sparse_use use;
    struct sc_sparse_csr csr;
    enum sc_status status = sc_sparse_make_use(&use, m, trans, descr, false);

    *out = NULL;
    if (status != SC_OK)
        return status;
    use.solve = true; /* sorted */
    sc_inside_enter();
    pthread_mutex_lock(&m->lock);
    status = sorted_csr(m, &use, &csr);
    pthread_mutex_unlock(&m->lock);
    if (status == SC_OK)
        status = adopt(out, &csr);
    sc_inside_leave();
    return status;
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static double complex value_at(const struct sc_sparse_csr *a, int64_t e)
{
    switch (a->type) {
    case SC_S: return (double)((const float *)a->values)[e];
    case SC_D: return ((const double *)a->values)[e];
    case SC_C: return ((const float complex *)a->values)[e];
    default: return ((const double complex *)a->values)[e];
    }
}

static void put_value(enum sc_type type, void *values, int64_t e, double complex value)
{
    switch (type) {
    case SC_S: ((float *)values)[e] = (float)creal(value); break;
    case SC_D: ((double *)values)[e] = creal(value); break;
    case SC_C: ((float complex *)values)[e] = (float complex)value; break;
    default: ((double complex *)values)[e] = value;
    }
}

/* One row of the product at a time, summed up in a row of its own: `seen` tells the row that a column was met in last.
 * */
struct row {
    double complex *sum;
    int64_t *seen, *columns;
    int64_t count;
};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void multiply_row(const struct sc_sparse_csr *a, const struct sc_sparse_csr *b, int64_t i, struct row *r)
{
    r->count = 0;
    for (int64_t e = sc_sparse_first(a, i); e < sc_sparse_first(a, i + 1); e++) {
        int64_t k = sc_sparse_at(a->index, a->index_bytes, e) - a->base;
        double complex factor = value_at(a, e);

        for (int64_t f = sc_sparse_first(b, k); f < sc_sparse_first(b, k + 1); f++) {
            int64_t j = sc_sparse_at(b->index, b->index_bytes, f) - b->base;

            if (r->seen[j] != i) {
                r->seen[j] = i;
                r->sum[j] = 0;
                r->columns[r->count++] = j;
            }
            r->sum[j] += factor * value_at(b, f);
        }
    }
    qsort(r->columns, (size_t)r->count, sizeof *r->columns, ascending);
}

/* The rows into coordinates that grow; positions in start. */
static enum sc_status multiply(const struct sc_sparse_csr *a, const struct sc_sparse_csr *b, struct row *r,
                               struct sc_sparse_csr *out)
{
    size_t elem = sc_type_bytes(a->type), capacity = 0;
    int64_t *start = (int64_t *)out->start, *index = NULL;
    char *values = NULL;

    start[0] = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        multiply_row(a, b, i, r);
        start[i + 1] = start[i] + r->count;
        if ((size_t)start[i + 1] > capacity) {
            void *more_index, *more_values;

            capacity = 2 * (size_t)start[i + 1];
            more_index = sc_sparse_grow(index, (size_t)start[i] * sizeof *index, capacity * sizeof *index);
            out->index = index = more_index ? more_index : index;
            more_values = sc_sparse_grow(values, (size_t)start[i] * elem, capacity * elem);
            out->values = values = more_values ? more_values : values;
            if (!more_index || !more_values)
                return SC_ERR_MEMORY;
        }
        for (int64_t k = 0; k < r->count; k++) {
            index[start[i] + k] = r->columns[k];
            put_value(a->type, values, start[i] + k, r->sum[r->columns[k]]);
        }
    }
    return SC_OK;
}

static enum sc_status multiply_csr(const struct sc_sparse_csr *a, const struct sc_sparse_csr *b,
                                   struct sc_sparse_csr *out)
{
    struct row r = {.sum = malloc(((size_t)b->cols + 1) * sizeof *r.sum),
                    .seen = malloc(((size_t)b->cols + 1) * sizeof *r.seen),
                    .columns = malloc(((size_t)b->cols + 1) * sizeof *r.columns)};
    enum sc_status status = SC_ERR_MEMORY;

    *out = (struct sc_sparse_csr){.type = a->type, .index_bytes = 8, .rows = a->rows, .cols = b->cols,
                                  .start = sc_sparse_alloc(((size_t)a->rows + 1) * sizeof(int64_t))};
    if (r.sum && r.seen && r.columns && out->start) {
        for (int64_t j = 0; j < b->cols; j++)
            r.seen[j] = -1;
        status = multiply(a, b, &r, out);
    }
    free(r.sum);
    free(r.seen);
    free(r.columns);
    if (status != SC_OK)
        sc_sparse_free_csr(out);
    else
        sc_sparse_narrow(out);
    return status;
}

static enum sc_status csr_of(struct sc_sparse_matrix *m, char trans, struct sc_sparse_csr *out)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    struct sc_sparse_use use;
    enum sc_status status = sc_sparse_make_use(&use, m, trans, &general, false);

    if (status != SC_OK)
        return status;
    use.solve = true; /* its own arrays, so that no lock is needed */
    pthread_mutex_lock(&m->lock);
    status = sorted_csr(m, &use, out);
    pthread_mutex_unlock(&m->lock);
    return status;
}

enum sc_status sc_sparse_multiply(struct sc_sparse_matrix **out, char trans, struct sc_sparse_matrix *a,
                                  struct sc_sparse_matrix *b)
{
    struct sc_sparse_csr left = {.borrowed = true}, right = {.borrowed = true}, product;
    enum sc_status status;

    *out = NULL;
    if (a->arrays.type != b->arrays.type || (trans == 'N' ? a->arrays.cols : a->arrays.rows) != b->arrays.rows) {
        sc_log(SC_LOG_ERROR, "sparse product: types or sizes of the two matrices do not fit");
        return SC_ERR_INVALID;
    }
    sc_inside_enter();
    status = csr_of(a, trans, &left);
    if (status == SC_OK)
        status = csr_of(b, 'N', &right);
    if (status == SC_OK)
        status = multiply_csr(&left, &right, &product);
    sc_sparse_free_csr(&left);
    sc_sparse_free_csr(&right);
    if (status == SC_OK)
        status = adopt(out, &product);
    sc_inside_leave();
    return status;
}
