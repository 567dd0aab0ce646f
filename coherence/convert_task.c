/* Conversions of sparse matrices on a device (sc_device_ops.convert), from one form to another. */
#include "coherence/protocol.h"

bool sc_coherence_converts(void)
{
    const struct sc_device_ops *ops = sc_protocol_ops();

    return ops && ops->convert;
}

/* Both are pinned.  *f: when it is done. */
static enum sc_status convert(const struct sc_form *form, const struct sc_form *source,
                              const struct sc_csr_conversion *c, struct sc_fence *f)
{
    int device = form->device;
    enum sc_status status = sc_order(device, SC_STREAM_COMPUTE, form->ready);

    if (status == SC_OK)
        status = sc_order(device, SC_STREAM_COMPUTE, source->ready);
    if (status != SC_OK)
        return status;
    do /* the device needs memory of its own */
        status = sc_protocol.ops->convert(device, c);
    while (status == SC_ERR_DEVICE_MEMORY && sc_memory_evict(device) == SC_OK);
    if (status != SC_OK)
        return status;
    status = sc_mark(device, SC_STREAM_COMPUTE, f);
    if (status != SC_OK)
        sc_device_lost(device, "a conversion cannot be waited for");
    return status;
}

enum sc_status sc_coherence_form_convert(struct sc_form *form, struct sc_form *source,
                                         const struct sc_csr_conversion *c)
{
    struct sc_fence f;
    enum sc_status status;

    if (!form->memory || !source->memory)
        return SC_ERR_DEVICE_MEMORY;
    if (sc_protocol.failed[form->device])
        return SC_ERR_DEVICE;
    if (form->device != source->device || !sc_protocol.ops->convert)
        return SC_ERR_UNSUPPORTED;
    form->pins++;
    source->pins++;
    status = convert(form, source, c, &f);
    form->pins--;
    source->pins--;
    if (status == SC_OK) {
        form->ready = source->used = f;
        form->last_use = ++sc_protocol.tick;
    } else if (status == SC_ERR_DEVICE) {
        sc_device_gave_up(form->device, "converting a sparse matrix");
    }
    return status;
}
