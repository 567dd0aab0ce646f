/* Products of sparse matrices on emulated devices.  The first step computes the whole product with the host's loops, in
 * memory of its own; the second step copies the product to its destination. */
#include <stdlib.h>
#include <string.h>

#include "device/emu/emu_int.h"

static bool holds(int device, const struct sc_csr *a, const void *values, int64_t rows, enum sc_type type)
{
    uint64_t integer = (uint64_t)a->index_bytes, n = (uint64_t)a->nonzeros;

    return sc_emu_memory_holds(device, a->rows, (uint64_t)(rows + 1) * integer) &&
           (!n || (sc_emu_memory_holds(device, a->columns, n * integer) &&
                   sc_emu_memory_holds(device, values, n * sc_type_bytes(type))));
}

bool sc_emu_product_valid(int device, const struct sc_csr_product *p)
{
    bool good = holds(device, &p->a, p->a_values, p->m, p->type) && holds(device, &p->b, p->b_values, p->k, p->type);

    if (!good)
        sc_log(SC_LOG_ERROR, "emulated device %d: an operand of a sparse product is not in one block of its memory",
               device);
    return good;
}

void sc_emu_product_free(struct sc_emu_product *w)
{
    if (!w)
        return;
    free(w->rows);
    free(w->columns);
    free(w->values);
    free(w);
}

static bool make_room(struct sc_emu_product *w, const struct sc_csr_product *p)
{
    w->column_bytes = (size_t)p->nonzeros * (size_t)p->a.index_bytes;
    w->value_bytes = (size_t)p->nonzeros * sc_type_bytes(p->type);
    w->columns = malloc(w->column_bytes + 1);
    w->values = malloc(w->value_bytes + 1);
    return w->columns && w->values;
}

enum sc_status sc_emu_product_make(struct sc_csr_product *p)
{
    struct sc_emu_product *w = calloc(1, sizeof *w);
    enum sc_status status = SC_ERR_MEMORY;

    if (!w)
        return status;
    w->row_bytes = (size_t)(p->m + 1) * (size_t)p->a.index_bytes;
    w->rows = malloc(w->row_bytes);
    if (w->rows)
        status = sc_device_product_count(p, w->rows);
    if (status == SC_OK && !make_room(w, p))
        status = SC_ERR_MEMORY;
    if (status == SC_OK)
        status = sc_device_product_fill(p, w->rows, w->columns, w->values);
    if (status == SC_OK)
        p->work = w;
    else
        sc_emu_product_free(w);
    return status;
}

uint64_t sc_emu_product_bytes(const struct sc_emu_product *w)
{
    return w->row_bytes + w->column_bytes + w->value_bytes;
}

void sc_emu_product_store(const struct sc_emu_store *s)
{
    const struct sc_emu_product *w = s->product;

    memcpy(s->rows, w->rows, w->row_bytes);
    if (w->column_bytes)
        memcpy(s->columns, w->columns, w->column_bytes);
    if (w->value_bytes)
        memcpy(s->values, w->values, w->value_bytes);
    sc_emu_product_free(s->product);
}
/* SPDX-License-Identifier: BSD-2-Clause */
