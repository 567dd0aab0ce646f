/* Ranges of NVTX around kernels and copies, with a profiler that is linked into this program and counts. Needs CUDA's
 * headers and no GPU. */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#undef NVTX_NO_IMPL

#include <string.h>

#include "device/cuda/cuda_int.h"
#include "device/cuda/ranges.h"
#include "tests/tap.h"

/* --- the profiler ------------------------------------------------------------------------------------------------- */

static int depth, pushed, popped, created;
static char last[64];
static uint64_t payload;

static nvtxDomainHandle_t create(const char *name)
{
    created++;
    return strcmp(name, "semcache") == 0 ? (nvtxDomainHandle_t)&created : NULL;
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range)
{
    pushed += domain == (nvtxDomainHandle_t)&created;
    snprintf(last, sizeof last, "%s", range->message.ascii);
    payload = range->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 ? range->payload.ullValue : 0;
    return depth++;
}

static int pop(nvtxDomainHandle_t domain)
{
    popped += domain == (nvtxDomainHandle_t)&created;
    return --depth;
}

static int inject(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size = 0;

    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
        size <= NVTX_CBID_CORE2_DomainRangePop)
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
    return 1;
}

NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = inject;

/* --- the device --------------------------------------------------------------------------------------------------- */

static int launches, copies, within;

enum sc_status sc_cuda_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    (void)device, (void)stream, (void)kernel;
    launches++;
    within = depth;
    return SC_ERR_UNSUPPORTED;
}

enum sc_status sc_cuda_copy(int device, enum sc_stream stream, const struct sc_copy2d *copy)
{
    (void)device, (void)stream, (void)copy;
    copies++;
    within = depth;
    return SC_OK;
}

static bool copied(int from, int to, const char *name)
{
    struct sc_copy2d copy = {.width = 80, .height = 3, .src_device = from, .dst_device = to};

    return sc_cuda_ranged_copy(0, SC_STREAM_COMPUTE, &copy) == SC_OK && within == 1 && payload == 240 &&
           strcmp(last, name) == 0;
}

int main(void)
{
    struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = SC_D};

    sc_cuda_ranged_launch(0, SC_STREAM_COMPUTE, &kernel);
    tap_ok(launches == 1 && !pushed && !created, "without a profiler a kernel is launched, and nothing else happens");
    sc_cuda_ranges_open();
    sc_cuda_ranges_open();
    tap_ok(created == 1, "one domain");
    tap_ok(sc_cuda_ranged_launch(0, SC_STREAM_COMPUTE, &kernel) == SC_ERR_UNSUPPORTED && launches == 2 && within == 1,
           "a kernel is launched within a range, and its status is kept");
    tap_ok(strcmp(last, sc_op_name(SC_OP_GEMM)) == 0, "the range is named by the operation");
    tap_ok(copied(-1, 0, "upload") && copied(0, -1, "fetch") && copied(0, 1, "between devices") && copies == 3,
           "copies have their direction and bytes");
    tap_ok(depth == 0 && pushed == popped && pushed == 4, "every range ends");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
