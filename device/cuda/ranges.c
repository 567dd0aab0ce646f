#include "device/cuda/ranges.h"

#include <nvtx3/nvToolsExt.h>

#include "device/cuda/cuda_int.h"

static nvtxDomainHandle_t domain; /* NULL: no profiler */

void sc_cuda_ranges_open(void)
{
    if (!domain)
        domain = nvtxDomainCreateA("semcache");
}

/* `bytes`: payload of a copy; 0: none. */
static void push(const char *name, uint64_t bytes)
{
    nvtxEventAttributes_t range = {.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                   .message.ascii = name};

    if (bytes) {
        range.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
        range.payload.ullValue = bytes;
    }
    nvtxDomainRangePushEx(domain, &range);
}

static const char *name_of(const struct sc_copy2d *copy)
{
    return copy->src_device < 0 ? "upload" : copy->dst_device < 0 ? "fetch" : "between devices";
}

enum sc_status sc_cuda_ranged_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    enum sc_status status;

    if (!domain)
        return sc_cuda_launch(device, stream, kernel);
    push(sc_op_name(kernel->op), 0);
    status = sc_cuda_launch(device, stream, kernel);
    nvtxDomainRangePop(domain);
    return status;
}

enum sc_status sc_cuda_ranged_copy(int device, enum sc_stream stream, const struct sc_copy2d *copy)
{
    enum sc_status status;

    if (!domain)
        return sc_cuda_copy(device, stream, copy);
    push(name_of(copy), copy->width * copy->height);
    status = sc_cuda_copy(device, stream, copy);
    nvtxDomainRangePop(domain);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
