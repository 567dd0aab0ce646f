/* Products of two sparse matrices on one device.  Every factor is a single part; the result is in library memory with
 * its only valid copy on the device. */
#include "sparse/sparse_int.h"

#define ATTEMPTS 8 /* limit for parts that are evicted, or arrays that change, again and again */

/* A factor, with the operands of its arrays between begin and end. */
struct side {
    struct sc_sparse_matrix *m;
    struct sc_sparse_variant *v;
    struct sc_operand operand[4];
    int sources;
    bool written; /* the arrays were written after the part was made */
};

/* --- the factors -------------------------------------------------------------------------------------------------- */

/* With one device, products with vectors use the same variant, if the arrays count from 0. */
static enum sc_status find_variant(const struct sc_sparse_factor *f, struct side *s)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    struct sc_sparse_use use;
    enum sc_status status = sc_sparse_make_use(&use, f->matrix, f->trans, &general, false);

    if (status != SC_OK)
        return status;
    use.whole = sc_coherence_devices() > 1 || f->matrix->arrays.base;
    s->m = f->matrix;
    sc_sparse_small_update(f->matrix);
    s->v = sc_sparse_variant_for(f->matrix, &use);
    return SC_OK;
}

/* Analyses the matrix and makes the part, as far as possible without the protocol's lock. */
static enum sc_status make_ready(struct side *s)
{
    enum sc_status status = SC_OK;

    if (s->written || !s->v->analysed || !sc_sparse_same_offsets(s->m, s->v))
        status = sc_sparse_renew(s->m, s->v);
    s->written = s->written && status != SC_OK;
    if (status == SC_OK && s->v->parts != 1) /* no part, or too many for a device's memory */
        status = SC_ERR_UNSUPPORTED;
    if (status == SC_OK && !sc_sparse_is_made(&s->v->part[0]))
        status = sc_sparse_make_part(s->m, s->v, &s->v->part[0]);
    return status;
}

/* Between begin and end: *current tells whether the part matches the arrays.  If the arrays have changed, the part must
 * be renewed. */
static enum sc_status refresh(struct side *s, bool *current)
{
    if (!sc_sparse_is_current(s->m, s->v, s->operand, s->sources)) {
        s->written = true;
        *current = false;
        return SC_OK;
    }
    *current = *current && sc_sparse_is_made(&s->v->part[0]);
    return *current ? sc_sparse_refresh(s->m, s->v, &s->v->part[0], &s->operand[0]) : SC_OK;
}

/* --- the product -------------------------------------------------------------------------------------------------- */

static enum sc_status describe(const struct side s[2], struct sc_csr_product *p)
{
    struct sc_kernel k[2] = {{.op = SC_OP_CSRMV}, {.op = SC_OP_CSRMV}};

    for (int i = 0; i < 2; i++)
        sc_sparse_part_kernel(s[i].v, &s[i].v->part[0], &k[i]);
    *p = (struct sc_csr_product){.type = k[0].type, .m = k[0].m, .n = k[1].n, .k = k[0].n, .a = k[0].csr, .b = k[1].csr,
                                 .a_values = k[0].a, .b_values = k[1].a};
    return p->a.index_bytes == p->b.index_bytes ? SC_OK : SC_ERR_UNSUPPORTED;
}

/* One attempt, with all arrays between begin and end.  *current false: a factor must first be made ready. */
static enum sc_status attempt(struct side s[2], struct sc_csr_product *p, struct sc_product_arrays *out, bool *current)
{
    struct sc_view views[8];
    struct sc_operand operands[8];
    enum sc_status status;
    int count = 0;

    for (int i = 0; i < 2; i++)
        count += s[i].sources = sc_sparse_views(s[i].m, &views[count]);
    status = sc_coherence_begin(views, count, operands);
    if (status != SC_OK)
        return status;
    for (int i = 0; i < count; i++)
        s[i >= s[0].sources].operand[i >= s[0].sources ? i - s[0].sources : i] = operands[i];
    *current = true;
    for (int i = 0; i < 2 && status == SC_OK; i++)
        status = refresh(&s[i], current);
    if (status == SC_OK && *current)
        status = describe(s, p);
    if (status == SC_OK && *current)
        status = sc_coherence_derived_multiply(&s[0].v->part[0].form, &s[1].v->part[0].form, p, out);
    sc_coherence_end(operands, count);
    return status;
}

static enum sc_status multiply(struct side s[2], struct sc_csr_product *p, struct sc_product_arrays *out)
{
    enum sc_status status = SC_OK;
    bool current = false;

    for (int i = 0; i < ATTEMPTS && status == SC_OK; i++) {
        status = make_ready(&s[0]);
        if (status == SC_OK)
            status = make_ready(&s[1]);
        if (status == SC_OK)
            status = attempt(s, p, out, &current);
        if (status == SC_OK && current)
            return SC_OK;
    }
    return status == SC_OK ? SC_ERR_DEVICE : status;
}

/* --- the result --------------------------------------------------------------------------------------------------- */

static struct sc_view result_view(const void *array, enum sc_type type, int64_t n)
{
    return (struct sc_view){.ptr = array, .type = type, .vector = true, .rows = n, .cols = 1, .ld = 1,
                            .access = SC_WRITE, .spread = 1};
}

/* Copies the product from the device's temporaries to the device copy of the result's arrays. */
static enum sc_status store(const struct sc_csr_product *p, int device, const struct sc_product_arrays *from,
                            const struct sc_sparse_csr *to)
{
    static const double nothing[2];
    enum sc_type integer = to->index_bytes == 4 ? SC_S : SC_D;
    const struct sc_view views[3] = {result_view(to->start, integer, p->m + 1),
                                     result_view(to->index, integer, p->nonzeros),
                                     result_view(to->values, p->type, p->nonzeros)};
    void *const memory[3] = {from->rows, from->columns, from->values};
    struct sc_operand operands[3];
    enum sc_status status = sc_coherence_begin(views, 3, operands);
    int64_t done;

    if (status != SC_OK)
        return status;
    for (int i = 0; i < 3 && status == SC_OK; i++)
        if (views[i].rows > 0)
            status = sc_sparse_put(&operands[i], 0, views[i].rows, device, device, memory[i], nothing, &done);
    sc_coherence_end(operands, 3);
    return status;
}

static enum sc_status keep(const struct sc_csr_product *p, int device, const struct sc_product_arrays *from,
                           struct sc_sparse_csr *out)
{
    size_t integer = (size_t)p->a.index_bytes;
    enum sc_status status = SC_ERR_MEMORY;

    *out = (struct sc_sparse_csr){.type = p->type, .index_bytes = p->a.index_bytes, .rows = p->m, .cols = p->n,
                                  .start = sc_sparse_alloc(((size_t)p->m + 1) * integer),
                                  .index = sc_sparse_alloc((size_t)p->nonzeros * integer),
                                  .values = sc_sparse_alloc((size_t)p->nonzeros * sc_type_bytes(p->type))};
    if (out->start && out->index && out->values)
        status = store(p, device, from, out);
    if (status != SC_OK)
        sc_sparse_free_csr(out);
    return status;
}

enum sc_status sc_sparse_multiply_on_device(const struct sc_sparse_factor factor[2], struct sc_sparse_csr *out)
{
    struct side s[2] = {{.m = NULL}, {.m = NULL}};
    struct sc_product_arrays arrays;
    struct sc_csr_product p;
    enum sc_status status = SC_OK;
    int device;

    for (int i = 0; i < 2 && status == SC_OK; i++)
        status = find_variant(&factor[i], &s[i]);
    if (status == SC_OK)
        status = multiply(s, &p, &arrays);
    if (status != SC_OK)
        return status;
    device = s[0].v->part[0].device;
    status = keep(&p, device, &arrays, out);
    if (sc_coherence_begin(NULL, 0, NULL) == SC_OK) { /* else the devices are being closed */
        sc_coherence_product_free(device, &arrays);
        sc_coherence_end(NULL, 0);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
