/* A call of a routine of LAPACK through cuSOLVER: memory, copies, status and INFO. */
#include "device/cuda/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- status ------------------------------------------------------------------------------------------------------- */

enum sc_status sc_cuda_solve_refused(const struct sc_cuda_solve *s, cusolverStatus_t error)
{
    if (error == CUSOLVER_STATUS_SUCCESS)
        return SC_OK;
    cudaGetLastError();
    sc_cuda_host->log(SC_LOG_DEBUG, "cuSOLVER %s: status %d: the host computes", sc_op_name(s->k->op), (int)error);
    return error == CUSOLVER_STATUS_ALLOC_FAILED ? SC_ERR_DEVICE_MEMORY : SC_ERR_UNSUPPORTED;
}

enum sc_status sc_cuda_solve_elements(struct sc_cuda_solve *s, cusolverStatus_t error, int size)
{
    if (error == CUSOLVER_STATUS_SUCCESS && size < 0)
        return SC_ERR_UNSUPPORTED;
    s->bytes[SC_CUDA_WORK] = (size_t)size * s->element;
    return sc_cuda_solve_refused(s, error);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

enum sc_status sc_cuda_solve_reserve(struct sc_cuda_solve *s)
{
    size_t total = 0;
    enum sc_status status;

    s->bytes[SC_CUDA_INFO] = sizeof(int64_t);
    for (int i = 0; i < SC_CUDA_PARTS; i++)
        total += rounded(s->bytes[i]);
    if (s->host_bytes && !(s->host = malloc(s->host_bytes)))
        return SC_ERR_UNSUPPORTED;
    status = sc_cuda_work_alloc(s->c->device, total, &s->block);
    if (status != SC_OK)
        return status;
    total = 0;
    for (int i = 0; i < SC_CUDA_PARTS; i++) {
        s->at[i] = (char *)s->block + total;
        total += rounded(s->bytes[i]);
    }
    return SC_CUDA(cudaMemsetAsync(s->at[SC_CUDA_INFO], 0, sizeof(int64_t), s->c->queue->stream));
}

enum sc_status sc_cuda_solve_on_copy(struct sc_cuda_solve *s, int64_t rows, int64_t cols)
{
    enum sc_status status;

    s->bytes[SC_CUDA_COPY] = (size_t)rows * (size_t)cols * s->element;
    status = sc_cuda_solve_reserve(s);
    return status == SC_OK ? sc_cuda_solve_copy(s, s->at[SC_CUDA_COPY], rows, s->k->a, s->k->lda, rows, cols) : status;
}

static enum sc_status copy_of(const struct sc_cuda_solve *s, const struct sc_copy2d *copy)
{
    return copy->width && copy->height ? sc_cuda_copy(s->c->device, s->c->stream, copy) : SC_OK;
}

enum sc_status sc_cuda_solve_up(const struct sc_cuda_solve *s, void *device, const void *host, size_t bytes)
{
    return copy_of(s, &(struct sc_copy2d){.dst = device, .src = host, .dst_pitch = bytes, .src_pitch = bytes,
                                          .width = bytes, .height = 1, .dst_device = s->c->device,
                                          .src_device = SC_HOST});
}

enum sc_status sc_cuda_solve_down(const struct sc_cuda_solve *s, void *host, const void *device, size_t bytes)
{
    return copy_of(s, &(struct sc_copy2d){.dst = host, .src = device, .dst_pitch = bytes, .src_pitch = bytes,
                                          .width = bytes, .height = 1, .dst_device = SC_HOST,
                                          .src_device = s->c->device});
}

enum sc_status sc_cuda_solve_copy(const struct sc_cuda_solve *s, void *to, int64_t to_ld, const void *from,
                                  int64_t from_ld, int64_t rows, int64_t cols)
{
    return copy_of(s, &(struct sc_copy2d){.dst = to, .src = from, .dst_pitch = (size_t)to_ld * s->element,
                                          .src_pitch = (size_t)from_ld * s->element,
                                          .width = (size_t)rows * s->element, .height = (size_t)cols,
                                          .dst_device = s->c->device, .src_device = s->c->device});
}

enum sc_status sc_cuda_solve_values(const struct sc_cuda_solve *s, void *to, int64_t first, int64_t count)
{
    return sc_cuda_solve_down(s, to, s->at[SC_CUDA_SMALL] + (size_t)first * s->real_bytes,
                              (size_t)count * s->real_bytes);
}

/* --- the end of a call -------------------------------------------------------------------------------------------- */

enum sc_status sc_cuda_solve_tell(const struct sc_cuda_solve *s)
{
    return sc_cuda_solve_down(s, s->k->result, s->at[SC_CUDA_INFO], sizeof(int64_t));
}

enum sc_status sc_cuda_solve_wait(struct sc_cuda_solve *s)
{
    struct sc_fence end;
    enum sc_status status = sc_cuda_mark_amid(s->c->device, s->c->stream, &end);

    s->waited = true;
    return status == SC_OK ? sc_cuda_sync(end) : status;
}

bool sc_cuda_solve_are_finite(const struct sc_cuda_solve *s, const void *values, int64_t count)
{
    bool finite = true;

    for (int64_t i = 0; i < count; i++)
        finite = finite && isfinite(sc_cuda_solve_real(s, values, i));
    return finite;
}

enum sc_status sc_cuda_solve_check(struct sc_cuda_solve *s, const void *values, int64_t count)
{
    enum sc_status status = sc_cuda_solve_tell(s);
    int64_t info;

    if (status == SC_OK)
        status = sc_cuda_solve_wait(s);
    if (status != SC_OK)
        return status;
    memcpy(&info, s->k->result, sizeof info);
    return info == 0 && sc_cuda_solve_are_finite(s, values, count) ? SC_OK : SC_ERR_UNSUPPORTED;
}
/* SPDX-License-Identifier: BSD-2-Clause */
