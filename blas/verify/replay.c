#include "blas/verify/replay.h"

#include <dlfcn.h>
#include <string.h>

#include "blas/blas_int.h"

/* The CBLAS's enumeration values. */
static int code_order(char order) { return order == SC_BLAS_ROWS ? 101 : 102; }
static int code_trans(char trans) { return trans == 'N' ? 111 : trans == 'T' ? 112 : 113; }
static int code_uplo(char uplo) { return uplo == 'U' ? 121 : 122; }
static int code_diag(char diag) { return diag == 'N' ? 131 : 132; }
static int code_side(char side) { return side == 'L' ? 141 : 142; }

/* Parameters of rotm of the current call; struct sc_blas_call holds only a pointer. */
static __thread union {
    float s[5];
    double d[5];
} param;

struct routine {
    int id; /* row of sc_blas_rows */
    const char *fortran, *cblas;
    void (*again_fortran)(sc_blas_fn fn, struct sc_blas_call *call);
    void (*again_cblas)(sc_blas_fn fn, struct sc_blas_call *call);
};
#include "blas/veneers/replay_calls.h"

static const struct routine *find(const char *name)
{
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
        if (strcmp(sc_blas_rows[routines[i].id].name, name) == 0)
            return &routines[i];
    return NULL;
}

static void take_call(struct sc_blas_call *call, const struct sc_event *event)
{
    const struct sc_event_call *from = &event->call;

    call->order = from->letters.order;
    call->transa = from->letters.transa;
    call->transb = from->letters.transb;
    call->side = from->letters.side;
    call->uplo = from->letters.uplo;
    call->diag = from->letters.diag;
    call->m = from->m;
    call->n = from->n;
    call->k = from->k;
    call->kl = from->kl;
    call->ku = from->ku;
}

static void take_scalars(struct sc_blas_call *call, const struct sc_event *event)
{
    const union sc_event_scalars *from = &event->scalars;

    for (int i = 0; i < 5 && event->is_rotm; i++)
        if (call->type == SC_S)
            param.s[i] = (float)from->rotm[i];
        else
            param.d[i] = from->rotm[i];
    for (int i = 0; i < 2 && !event->is_rotm; i++) {
        call->alpha[i] = from->alpha[i];
        call->beta[i] = from->beta[i];
    }
}

static void take_operand(struct sc_blas_call *call, const struct sc_event *event, void *memory)
{
    int64_t step = event->operand.step;

    switch (event->operand.name) {
    case 'A':
    case 'P': call->a = memory, call->lda = step; break;
    case 'B': call->b = memory, call->ldb = step; break;
    case 'C': call->c = memory, call->ldc = step; break;
    case 'X': call->x = memory, call->incx = step; break;
    case 'Y': call->y = memory, call->incy = step; break;
    }
}

/* operands: addresses to use; NULL: the recorded addresses. */
static void take(struct sc_blas_call *call, const struct routine *routine, const struct sc_event *events, int count,
                 void *const *operands)
{
    *call = (struct sc_blas_call){.routine = routine->id, .type = sc_blas_rows[routine->id].type, .param = &param};
    take_call(call, &events[0]);
    for (int i = 1; i <= count; i++)
        if (events[i].kind == SC_EVENT_OPERAND) {
            take_operand(call, &events[i], operands ? *operands++ : (void *)(uintptr_t)events[i].operand.address);
        } else {
            take_scalars(call, &events[i]);
        }
}

/* True for sizes that memory can hold, so that shapes can be computed. */
static bool is_possible(const struct sc_blas_call *call)
{
    const int64_t sizes[] = {call->m, call->n, call->k, call->kl, call->ku},
                  steps[] = {call->lda, call->ldb, call->ldc, call->incx, call->incy};
    const int64_t most = INT64_C(1) << (strchr(sc_blas_letters(call->routine), 'P') ? 24 : 47);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] < 0 || sizes[i] > most || steps[i] < -most || steps[i] > most)
            return false;
    return call->order == SC_BLAS_FORTRAN || call->order == SC_BLAS_COLUMNS || call->order == SC_BLAS_ROWS;
}

/* Checks the column-major form, as the rules for arguments require. */
static bool is_valid(struct sc_blas_call call)
{
    if (call.order == SC_BLAS_ROWS && sc_blas_rows[call.routine].columns)
        sc_blas_rows[call.routine].columns(&call);
    return sc_blas_call_valid(&call);
}

static bool is_recorded(const struct sc_blas_named *named, const struct sc_event *event)
{
    return event->kind == SC_EVENT_OPERAND && event->operand.name == (uint64_t)named->letter &&
           event->operand.rows == named->shape.rows && event->operand.cols == named->shape.cols &&
           event->type == named->shape.type;
}

bool sc_blas_replayable(const char *name, const struct sc_event *events, int count)
{
    const struct routine *routine = find(name);
    struct sc_blas_named named[SC_VIEWS_MAX];
    struct sc_blas_call call;
    int operands;

    if (!routine || count < 1 || events[1].kind != SC_EVENT_SCALARS)
        return false;
    take(&call, routine, events, count, NULL);
    if (!is_possible(&call) || !is_valid(call))
        return false;
    operands = sc_blas_name_operands(&call, named);
    if (operands != count - 1)
        return false;
    for (int i = 0; i < operands; i++)
        if (!is_recorded(&named[i], &events[2 + i]))
            return false;
    return true;
}

bool sc_blas_again(struct sc_blas_call *call, sc_blas_fn fn)
{
    const struct routine *routine = find(sc_blas_rows[call->routine].name);

    if (!routine)
        return false;
    (call->order == SC_BLAS_FORTRAN ? routine->again_fortran : routine->again_cblas)(fn, call);
    return true;
}

bool sc_blas_replay(const char *name, const struct sc_event *events, int count, void *const *operands)
{
    const struct routine *routine = find(name);
    struct sc_blas_call call;
    sc_blas_fn fn;

    take(&call, routine, events, count, operands);
    fn = (sc_blas_fn)dlsym(RTLD_DEFAULT, call.order == SC_BLAS_FORTRAN ? routine->fortran : routine->cblas);
    return fn && sc_blas_again(&call, fn);
}
/* SPDX-License-Identifier: BSD-2-Clause */
