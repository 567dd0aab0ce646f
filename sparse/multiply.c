/* Products of two sparse matrices. */
#include <stdlib.h>

#include "sparse/sparse_int.h"

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
        double complex factor = sc_sparse_value(a, e);

        for (int64_t f = sc_sparse_first(b, k); f < sc_sparse_first(b, k + 1); f++) {
            int64_t j = sc_sparse_at(b->index, b->index_bytes, f) - b->base;

            if (r->seen[j] != i) {
                r->seen[j] = i;
                r->sum[j] = 0;
                r->columns[r->count++] = j;
            }
            r->sum[j] += factor * sc_sparse_value(b, f);
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
            sc_sparse_put_value(a->type, values, start[i] + k, r->sum[r->columns[k]]);
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
    return status;
}

enum sc_status sc_sparse_multiply(struct sc_sparse_matrix **out, char transa, struct sc_sparse_matrix *a, char transb,
                                  struct sc_sparse_matrix *b)
{
    struct sc_sparse_csr left = {.borrowed = true}, right = {.borrowed = true}, product;
    enum sc_status status;

    *out = NULL;
    if (a->arrays.type != b->arrays.type ||
        (transa == 'N' ? a->arrays.cols : a->arrays.rows) != (transb == 'N' ? b->arrays.rows : b->arrays.cols)) {
        sc_log(SC_LOG_ERROR, "sparse product: types or sizes of the two matrices do not fit");
        return SC_ERR_INVALID;
    }
    sc_inside_enter();
    status = sc_sparse_sorted_csr(a, transa, &left);
    if (status == SC_OK)
        status = sc_sparse_sorted_csr(b, transb, &right);
    if (status == SC_OK)
        status = multiply_csr(&left, &right, &product);
    sc_sparse_free_csr(&left);
    sc_sparse_free_csr(&right);
    if (status == SC_OK)
        status = sc_sparse_adopt(out, &product, sc_sparse_wider(a, b));
    sc_inside_leave();
    return status;
}
