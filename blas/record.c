/* A call as events of the trace, from which blas/replay.c makes it again. */
#include <string.h>

#include "blas/blas_int.h"
#include "coherence/coherence.h"

static uint64_t bits(double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof word);
    return word;
}

static uint64_t letters(const struct sc_blas_call *call)
{
    struct sc_trace_letters these = {.order = call->order, .transa = call->transa, .transb = call->transb,
                                     .side = call->side, .uplo = call->uplo, .diag = call->diag};
    uint64_t word;

    memcpy(&word, &these, sizeof word);
    return word;
}

/* The operands by name; the row-major conversion exchanges some of them. */
enum name { A, B, C, X, Y, NAMES };

static struct sc_event operand(const struct sc_blas_call *asked, char letter, enum name which,
                               const struct sc_blas_operand *shape)
{
    const void *const address[NAMES] = {asked->a, asked->b, asked->c, asked->x, asked->y};
    const int64_t step[NAMES] = {asked->lda, asked->ldb, asked->ldc, asked->incx, asked->incy};
    struct sc_event event = {.kind = SC_EVENT_OPERAND, .a = (uintptr_t)address[which], .b = (uint64_t)shape->rows,
                             .c = (uint64_t)shape->cols, .sectors = (uint64_t)letter,
                             .bytes = letter == 'P' ? 1 : (uint64_t)step[which],
                             .old_state = (uint8_t)shape->access, .new_state = (uint8_t)shape->type};
    uintptr_t base;
    size_t bytes;

    if (sc_coherence_block(address[which], &base, &bytes)) {
        event.ip = base;
        event.matrix = (uint32_t)(bytes >> 12);
    }
    return event;
}

/* Shapes come from the call by columns, in which the addresses are replaced by numbers that tell which operand of the
 * program each one is. */
static int shapes(const struct sc_blas_call *asked, struct sc_blas_operand *shape)
{
    static char numbers[NAMES];
    const struct sc_blas_row *row = &sc_blas_rows[asked->routine];
    struct sc_blas_call call = *asked;

    call.a = &numbers[A];
    call.b = &numbers[B];
    call.c = &numbers[C];
    call.x = &numbers[X];
    call.y = &numbers[Y];
    if (call.order == SC_BLAS_ROWS && row->columns)
        row->columns(&call);
    int count = row->operands(&call, shape);
    for (int i = 0; i < count; i++)
        shape[i].ptr = (const void *)(uintptr_t)((const char *)shape[i].ptr - numbers);
    return count;
}

void sc_blas_record(const struct sc_blas_call *call)
{
    const char *names = sc_blas_rows[call->routine].letters;
    struct sc_blas_operand shape[SC_BLAS_OPERANDS_MAX];
    struct sc_event events[2 + SC_BLAS_OPERANDS_MAX];
    int count = shapes(call, shape);
    bool packed = strchr(names, 'P') != NULL;

    events[0] = (struct sc_event){.kind = SC_EVENT_CALL, .tile = (uint32_t)count + 1, .a = (uint64_t)(int64_t)call->m,
                                  .b = (uint64_t)(int64_t)call->n, .c = (uint64_t)(int64_t)call->k,
                                  .bytes = (uint64_t)(int64_t)call->kl, .ip = (uint64_t)(int64_t)call->ku,
                                  .sectors = letters(call)};
    events[1] = (struct sc_event){.kind = SC_EVENT_SCALARS, .a = bits(call->alpha[0]), .b = bits(call->alpha[1]),
                                  .c = bits(call->beta[0]), .bytes = bits(call->beta[1])};
    for (int i = 0; i < count; i++) {
        enum name which = (enum name)(uintptr_t)shape[i].ptr;

        events[2 + i] = operand(call, which == A && packed ? 'P' : "ABCXY"[which], which, &shape[i]);
    }
    sc_trace_emit_group(events, 2 + count);
}
