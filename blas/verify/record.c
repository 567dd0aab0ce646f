/* Writes a call as events of the trace; blas/verify/replay.c makes the call again from the events. */
#include <string.h>

#include "blas/blas_int.h"
#include "coherence/coherence.h"

static uint64_t bits(double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    return word;
}

static struct sc_event scalars(const struct sc_blas_call *call)
{
    double value[5] = {call->alpha[0], call->alpha[1], call->beta[0], call->beta[1]};

    for (int i = 0; call->param && i < 5; i++)
        value[i] = call->type == SC_S ? ((const float *)call->param)[i] : ((const double *)call->param)[i];
    return (struct sc_event){.kind = SC_EVENT_SCALARS, .a = bits(value[0]), .b = bits(value[1]), .c = bits(value[2]),
                             .bytes = bits(value[3]), .ip = bits(value[4]), .old_state = call->param != NULL};
}

static uint64_t letters(const struct sc_blas_call *call)
{
    struct sc_trace_letters these = {.order = call->order, .transa = call->transa, .transb = call->transb,
                                     .side = call->side, .uplo = call->uplo, .diag = call->diag};
    uint64_t word;

    memcpy(&word, &these, sizeof word);
    return word;
}

static struct sc_event operand(const struct sc_blas_named *named)
{
    const struct sc_blas_operand *shape = &named->shape;
    struct sc_event event = {.kind = SC_EVENT_OPERAND, .a = (uintptr_t)shape->ptr, .b = (uint64_t)shape->rows,
                             .c = (uint64_t)shape->cols, .sectors = (uint64_t)named->letter,
                             .bytes = (uint64_t)named->step,
                             .old_state = (uint8_t)shape->access, .new_state = (uint8_t)shape->type};
    uintptr_t base;
    size_t bytes;

    if (sc_coherence_block(shape->ptr, &base, &bytes)) {
        event.ip = base;
        event.matrix = (uint32_t)(bytes >> 12);
    }
    return event;
}

void sc_blas_record(const struct sc_blas_call *call)
{
    struct sc_blas_named named[SC_BLAS_OPERANDS_MAX];
    struct sc_event events[2 + SC_BLAS_OPERANDS_MAX];
    int count = sc_blas_name_operands(call, named);

    events[0] = (struct sc_event){.kind = SC_EVENT_CALL, .tile = (uint32_t)count + 1, .a = (uint64_t)(int64_t)call->m,
                                  .b = (uint64_t)(int64_t)call->n, .c = (uint64_t)(int64_t)call->k,
                                  .bytes = (uint64_t)(int64_t)call->kl, .ip = (uint64_t)(int64_t)call->ku,
                                  .sectors = letters(call)};
    events[1] = scalars(call);
    for (int i = 0; i < count; i++)
        events[2 + i] = operand(&named[i]);
    sc_trace_emit_group(events, 2 + count);
    sc_trace(.kind = SC_EVENT_SITE, .ip = sc_trace_site.caller, .a = sc_trace_site.program);
}
