/* Conversions of sparse matrices on a device (sc_device_ops.convert), from one derived copy to another. */
#include "coherence/protocol.h"

#include <string.h>

bool sc_coherence_converts(void)
{
    const struct sc_device_ops *ops = sc_protocol_ops();

    return ops && ops->convert;
}

/* Both are pinned.  *f: the end of the copy. */
static enum sc_status convert(const struct sc_derived *form, const struct sc_derived *source,
                              const struct sc_csr_conversion *c, struct sc_fence *f)
{
    int device = form->device;
    enum sc_status status = sc_order(device, SC_STREAM_COMPUTE, form->ready);

    if (status == SC_OK)
        status = sc_order(device, SC_STREAM_COMPUTE, source->ready);
    if (status != SC_OK)
        return status;
    do /* the device may need memory of its own */
        status = sc_protocol.ops->convert(device, c);
    while (status == SC_ERR_DEVICE_MEMORY && sc_memory_evict(device) == SC_OK);
    if (status != SC_OK)
        return status;
    status = sc_mark(device, SC_STREAM_COMPUTE, f);
    if (status != SC_OK)
        sc_device_lost(device, "a conversion cannot be waited for");
    return status;
}

enum sc_status sc_coherence_derived_convert(struct sc_derived *form, struct sc_derived *source,
                                            const struct sc_csr_conversion *c)
{
    struct sc_fence f;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!form->memory || !source->memory)
        return SC_ERR_DEVICE_MEMORY;
    if (sc_protocol.failed[form->device])
        return SC_ERR_DEVICE;
    if (form->device != source->device || !sc_protocol.ops->convert)
        return SC_ERR_UNSUPPORTED;
    sc_assert(form != source);
    form->lru.pins++;
    source->lru.pins++;
    status = convert(form, source, c, &f);
    form->lru.pins--;
    source->lru.pins--;
    if (status == SC_OK) {
        form->ready = source->used = f;
        sc_derived_touch(form);
    } else if (status == SC_ERR_DEVICE) {
        sc_device_gave_up(form->device, "converting a sparse matrix");
    }
    return status;
}

/* Enqueues it, with the lock; *slot: where it comes to. */
static enum sc_status fetch(struct sc_derived *f, size_t at, size_t bytes, void **slot, struct sc_fence *fence)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct sc_copy2d copy = {.src = (char *)f->memory + at, .dst_pitch = bytes, .src_pitch = bytes, .width = bytes,
                             .height = 1, .dst_device = SC_HOST, .src_device = f->device};
    enum sc_status status = sc_order(f->device, SC_STREAM_D2H, f->ready);

    copy.dst = *slot = ops->result_slot(f->device);
    if (!copy.dst)
        status = SC_ERR_DEVICE;
    if (status == SC_OK)
        status = ops->copy(f->device, SC_STREAM_D2H, &copy);
    if (status == SC_OK)
        status = sc_mark(f->device, SC_STREAM_D2H, fence);
    if (status == SC_ERR_DEVICE)
        sc_device_gave_up(f->device, "reading from a part of a sparse matrix");
    if (status == SC_OK)
        f->ready = *fence; /* it goes no sooner */
    return status;
}

enum sc_status sc_coherence_derived_read(struct sc_derived *f, size_t at, void *to, size_t bytes)
{
    enum sc_status status = SC_ERR_DEVICE_MEMORY;
    struct sc_fence fence;
    void *slot;

    sc_inside_enter();
    sc_protocol_lock();
    if (!sc_protocol.ops || sc_protocol.stopping)
        status = SC_ERR_DEVICE;
    else if (f->memory)
        status = fetch(f, at, bytes, &slot, &fence);
    sc_protocol_unlock();
    if (status == SC_OK)
        status = sc_coherence_wait(fence);
    if (status == SC_OK)
        memcpy(to, slot, bytes);
    sc_inside_leave();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
