/* Products of two sparse matrices on a device (sc_device_ops.multiply). */
#include "coherence/protocol.h"

void sc_coherence_product_free(int device, const struct sc_product_arrays *a)
{
    void *const memory[] = {a->rows, a->columns, a->values};

    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < 3; i++)
        if (memory[i])
            sc_coherence_temporary_free(device, memory[i]);
}

static enum sc_status make_room(int device, const struct sc_csr_product *p, struct sc_product_arrays *out)
{
    size_t integer = (size_t)p->a.index_bytes, n = (size_t)p->nonzeros;
    enum sc_status status = sc_coherence_temporary(device, ((size_t)p->m + 1) * integer, &out->rows);

    if (status == SC_OK && n)
        status = sc_coherence_temporary(device, n * integer, &out->columns);
    if (status == SC_OK && n)
        status = sc_coherence_temporary(device, n * sc_type_bytes(p->type), &out->values);
    return status;
}

/* The forms stay until what has been enqueued now is done. */
static enum sc_status use_forms(struct sc_derived *a, struct sc_derived *b)
{
    struct sc_fence f;
    enum sc_status status = sc_mark(a->device, SC_STREAM_COMPUTE, &f);

    if (status != SC_OK) {
        sc_device_lost(a->device, "a product cannot be waited for");
        return status;
    }
    a->used = b->used = f;
    sc_derived_touch(a);
    sc_derived_touch(b);
    return SC_OK;
}

/* Both are pinned. */
static enum sc_status multiply(struct sc_derived *a, struct sc_derived *b, struct sc_csr_product *p,
                               struct sc_product_arrays *out)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    int device = a->device;
    enum sc_status status = sc_order(device, SC_STREAM_COMPUTE, a->ready), stored;

    if (status == SC_OK)
        status = sc_order(device, SC_STREAM_COMPUTE, b->ready);
    if (status != SC_OK)
        return status;
    do /* the device needs memory of its own */
        status = ops->multiply(device, p);
    while (status == SC_ERR_DEVICE_MEMORY && sc_memory_evict(device) == SC_OK);
    if (status != SC_OK)
        return status;
    status = make_room(device, p, out);
    stored = ops->store(device, p, status == SC_OK ? out->rows : NULL, out->columns, out->values);
    if (status == SC_OK)
        status = stored;
    if (status == SC_OK)
        status = use_forms(a, b);
    return status;
}

enum sc_status sc_coherence_derived_multiply(struct sc_derived *a, struct sc_derived *b, struct sc_csr_product *p,
                                             struct sc_product_arrays *out)
{
    int device = a->device;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    *out = (struct sc_product_arrays){NULL};
    if (!a->memory || !b->memory)
        return SC_ERR_DEVICE_MEMORY;
    if (sc_protocol.failed[device])
        return SC_ERR_DEVICE;
    if (a->device != b->device || !sc_protocol.ops->multiply)
        return SC_ERR_UNSUPPORTED;
    a->lru.pins++;
    b->lru.pins++;
    status = multiply(a, b, p, out);
    a->lru.pins--;
    b->lru.pins--;
    if (status == SC_OK) {
        sc_trace(.kind = SC_EVENT_KERNEL, .device = (int16_t)device, .op = SC_OP_CSRMM, .type = (uint8_t)p->type,
                 .kernel = {p->m, p->n, p->k});
        return SC_OK;
    }
    sc_coherence_product_free(device, out);
    if (status == SC_ERR_DEVICE)
        sc_device_gave_up(device, "multiplying sparse matrices");
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
