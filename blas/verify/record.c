/* Writes a call as events of the trace; blas/verify/replay.c makes the call again from the events. */
#include "blas/blas_int.h"
#include "coherence/access.h"

static struct sc_event scalars(const struct sc_blas_call *call)
{
    struct sc_event event = {.kind = SC_EVENT_SCALARS, .is_rotm = call->param != NULL};

    for (int i = 0; i < 5 && call->param; i++)
        event.scalars.rotm[i] = call->type == SC_S ? ((const float *)call->param)[i]
                                                   : ((const double *)call->param)[i];
    for (int i = 0; i < 2 && !call->param; i++) {
        event.scalars.alpha[i] = call->alpha[i];
        event.scalars.beta[i] = call->beta[i];
    }
    return event;
}

static struct sc_event operand(const struct sc_view *shape, int64_t step, char letter)
{
    struct sc_event event = {.kind = SC_EVENT_OPERAND, .access = (uint8_t)shape->access, .type = (uint8_t)shape->type,
                             .operand = {.address = (uintptr_t)shape->ptr, .rows = shape->rows, .cols = shape->cols,
                                         .step = step, .name = (uint64_t)letter}};
    uintptr_t base;
    size_t bytes;

    if (sc_coherence_block(shape->ptr, &base, &bytes)) {
        event.operand.block = base;
        event.block_pages = (uint32_t)(bytes >> 12);
    }
    return event;
}

void sc_blas_record(const struct sc_blas_call *call)
{
    struct sc_blas_named named[SC_VIEWS_MAX];
    struct sc_event events[2 + SC_VIEWS_MAX];
    int count = sc_blas_name_operands(call, named);

    events[0] = (struct sc_event){.kind = SC_EVENT_CALL, .following = (uint32_t)count + 1,
                                  .call = {.m = call->m, .n = call->n, .k = call->k, .kl = call->kl, .ku = call->ku,
                                           .letters = {.order = call->order, .transa = call->transa,
                                                       .transb = call->transb, .side = call->side, .uplo = call->uplo,
                                                       .diag = call->diag}}};
    events[1] = scalars(call);
    for (int i = 0; i < count; i++)
        events[2 + i] = operand(&named[i].shape, named[i].step, named[i].letter);
    sc_trace_emit_group(events, 2 + count);
    sc_trace_put_site();
}

/* No SCALARS follow, and empty operands are left out. */
void sc_blas_record_lapack(const struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];
    struct sc_event events[1 + SC_VIEWS_MAX];
    int count = sc_kernel_views(k, view), used = 0;

    for (int i = 0; i < count; i++)
        if (view[i].rows > 0 && view[i].cols > 0)
            events[1 + used++] = operand(&view[i], view[i].ld, (char)(sc_ops[k->op].slots[i] - 'a' + 'A'));
    events[0] = (struct sc_event){.kind = SC_EVENT_CALL, .following = (uint32_t)used,
                                  .call = {.m = k->m, .n = k->n, .k = k->k,
                                           .letters = {.order = SC_BLAS_FORTRAN, .transa = k->transa, .side = k->side,
                                                       .uplo = k->uplo, .diag = k->diag}}};
    sc_trace_emit_group(events, 1 + used);
    sc_trace_put_site();
}
/* SPDX-License-Identifier: BSD-2-Clause */
