/* axpy, axpby, scal, copy, swap, rot, rotm: a task for each segment. */
#include "blas/run/tasks.h"

static enum sc_status visit(void *context, const struct sc_segment *segment)
{
    struct sc_kernel kernel = *(const struct sc_kernel *)context;

    kernel.n = segment->n;
    return sc_blas_task(segment->device, &kernel, segment->piece[0], segment->piece[1], sc_blas_none());
}

enum sc_status sc_blas_level1(struct sc_blas_job *call)
{
    struct sc_kernel kernel = *call->kernel;
    enum sc_access access[2] = {call->view[0].access, call->operands == 2 ? call->view[1].access : SC_READ};

    return sc_blas_segments(call, access, call->operands - 1, visit, &kernel);
}
/* SPDX-License-Identifier: BSD-2-Clause */
