/* The bracket of a call: resolve the operands, hold the lock, keep the matrices. */
#define _GNU_SOURCE /* gettid */
#include "coherence/mirror.h"

#include <time.h>
#include <unistd.h>

#define OPERANDS_MAX 8

/* --- begin -------------------------------------------------------------------------------------------------------- */

static bool is_known(const struct sc_view *v)
{
    uintptr_t lo, hi;
    size_t first;

    sc_view_extent(v, &lo, &hi);
    return sc_directory_find(lo, hi, &first) > 0;
}

/* A new vector beside an operand that is a whole matrix in several tile rows (daxpy over n * n elements) uses the
 * matrix's lattice, so that both can be walked tile by tile. */
static void hint_from_others(const struct sc_view *v, const struct sc_operand *operands, int count,
                             struct sc_lattice *hint)
{
    struct sc_operand whole;

    for (int i = 0; i < count; i++) {
        const struct sc_matrix *m = operands[i].matrix;

        if (v->vector && (v->ld == 1 || v->ld == -1) && m && operands[i].view.rows == v->rows &&
            sc_coherence_as_matrix(&operands[i], &whole))
            *hint = (struct sc_lattice){.base = (uintptr_t)v->ptr, .bytes = (size_t)v->rows * m->elem, .elem = m->elem,
                                        .ld = m->ld, .rows = m->ld, .cols = v->rows / m->ld};
    }
}

/* Work of the program may run on lent memory that no call has yet: only lending goes on meanwhile. */
static void lock(bool lending)
{
    if (lending)
        sc_protocol_lock();
    else
        sc_lent_lock();
}

/* Resolves one operand.  Matrices in its way are released with the lock dropped, and *again is set: the released
 * matrices may belong to operands resolved before. */
static enum sc_status resolve_one(const struct sc_view *v, struct sc_lattice *hint, struct sc_operand *o, bool lending,
                                  bool *again)
{
    uintptr_t lo, hi;
    enum sc_status status = sc_resolve(v, hint, o, &lo, &hi);

    if (status != SC_ERR_CONFLICT || lo == hi)
        return status;
    sc_count(&sc_stats.reshapes, 1);
    sc_protocol_unlock();
    sc_coherence_release_range(lo, hi - lo);
    lock(lending);
    *again = true;
    return SC_OK;
}

/* Known matrices first, then new matrices.  Lock held before and after. */
static enum sc_status resolve_all(const struct sc_view *views, int count, struct sc_operand *operands, bool lending)
{
    struct sc_lattice hint = {0};
    enum sc_status status = SC_OK;

    for (int attempt = 0; attempt <= count; attempt++) {
        bool again = false;

        for (int i = 0; i < count; i++)
            operands[i] = (struct sc_operand){.view = views[i]};
        for (int pass = 0; pass < 2 && !again; pass++)
            for (int i = 0; i < count && !again; i++) {
                if (sc_view_empty(&views[i]) || operands[i].matrix || (pass == 0 && !is_known(&views[i])))
                    continue;
                if (pass == 1)
                    hint_from_others(&views[i], operands, count, &hint);
                status = resolve_one(&views[i], &hint, &operands[i], lending, &again);
                if (status != SC_OK)
                    return status;
            }
        if (!again)
            return SC_OK;
    }
    return SC_ERR_CONFLICT;
}

static void hold(struct sc_operand *operands, int count, int by)
{
    for (int i = 0; i < count; i++)
        if (operands[i].matrix) {
            sc_assert(by > 0 || operands[i].matrix->users > 0);
            operands[i].matrix->users += (uint32_t)by;
            sc_wait_used(operands[i].matrix, by > 0);
            operands[i].matrix->passed_on = by > 0 && (operands[i].matrix->passed_on || operands[i].view.passed_on);
        }
}

/* Notes the writer of each matrix, for the report of lost data. */
static void sign(struct sc_operand *operands, int count)
{
    __atomic_store_n(&sc_protocol.calls, sc_protocol.calls + 1, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++)
        if (operands[i].matrix)
            operands[i].matrix->lent = 0; /* the call's kernels may still be at work on a later loan */
    for (int i = 0; i < count; i++)
        if (operands[i].matrix && operands[i].view.access & SC_WRITE) {
            operands[i].matrix->writer.call = sc_protocol.calls;
            operands[i].matrix->writer.routine = sc_trace_routine;
            if (!operands[i].matrix->habit.call)
                operands[i].matrix->habit.call = sc_protocol.calls;
        }
}

/* A system call of another thread uses a part of the operand's sectors: their pages must stay open. */
static bool is_in_use(const struct sc_operand *o)
{
    uintptr_t lo, hi, none;
    int first, end;

    if (!o->matrix)
        return false;
    sc_view_extent(&o->view, &lo, &hi);
    if (!sc_matrix_sectors_at(o->matrix, lo, hi, &first, &end))
        return false;
    sc_matrix_sector_range(o->matrix, first, &lo, &none);
    sc_matrix_sector_range(o->matrix, end - 1, &none, &hi);
    return sc_host_in_use(sc_page_floor(lo), sc_page_ceil(hi), o->view.access);
}

static bool any_in_use(const struct sc_operand *operands, int count)
{
    for (int i = 0; i < count && sc_host_in_use(0, UINTPTR_MAX, SC_RDWR); i++)
        if (is_in_use(&operands[i]))
            return true;
    return false;
}

/* New memory, or a result in such memory that devices read. */
static bool has_habits(const struct sc_operand *operands, int count)
{
    for (int i = 0; i < count; i++) {
        const struct sc_matrix *m = operands[i].matrix;

        if (m && (!m->habit.known || (m->habit.shape && operands[i].view.access == SC_READ)))
            return true;
    }
    return false;
}

/* Holds the operands.  While vectors come home, without the lock, system calls may begin to use operands: the look for
 * such uses comes last. */
static enum sc_status take(struct sc_operand *operands, int count, bool lending)
{
    if (!lending && has_habits(operands, count))
        sc_habit_take_over(operands, count);
    if (!lending)
        sc_keep_open_look_back(operands, count);
    hold(operands, count, 1);
    if (!lending)
        sc_keep_open_begin(operands, count);
    if (any_in_use(operands, count)) {
        sc_keep_open_end(operands, count);
        hold(operands, count, -1);
        return SC_ERR_CONFLICT;
    }
    if (!lending)
        sign(operands, count);
    return SC_OK;
}

/* A matrix of two operands keeps its distribution: the operands may want two ways. */
static void keep_shared(struct sc_view *views, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j && views[i].recut != SC_RECUT_NEVER && !sc_view_empty(&views[i]) && !sc_view_empty(&views[j]) &&
                sc_view_overlap(&views[i], &views[j]))
                views[i].recut = SC_RECUT_NEVER;
}

/* Before a call that would run on the host while another thread ends the process: destructors of a host BLAS free what
 * its routines use.  The first such call of a thread waits until the process has probably ended.  The wait is short,
 * because a handler of exit may join the thread. */
static void let_process_end(void)
{
    static __thread bool waited __attribute__((tls_model("initial-exec")));

    if (waited)
        return;
    waited = true;
    for (int i = 0; i < 500 && sc_protocol_ops(); i++)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    if (!sc_protocol_ops())
        nanosleep(&(struct timespec){0, 50000000}, NULL);
}

static enum sc_status begin(const struct sc_view *views, int count, struct sc_operand *operands, bool lending)
{
    struct sc_view own[OPERANDS_MAX];
    enum sc_stage stage[OPERANDS_MAX];
    enum sc_status status;
    pid_t leaver;

    sc_host_strict_thread(); /* asks the loader: the copies of operands may hold a lock */
    status = count > OPERANDS_MAX ? SC_ERR_INVALID : sc_untracked_stage(views, count, own, stage);
    if (status != SC_OK)
        return status;
    keep_shared(own, count);
    lock(lending);
    while (sc_protocol_await_admission() && !lending && sc_lent_any()) {
        sc_protocol_unlock();
        lock(lending);
    }
    sc_devices_look();
    sc_protocol_call_begins();
    leaver = lending ? 0 : sc_protocol.leaver;
    status = sc_protocol.ops && !sc_protocol.stopping && !leaver ? resolve_all(own, count, operands, lending)
                                                                 : SC_ERR_CONFLICT;
    for (int i = 0; i < count && status == SC_OK; i++)
        if ((operands[i].stage = stage[i]) != SC_IN_ARENA)
            operands[i].staged = views[i];
    if (status == SC_OK)
        status = take(operands, count, lending);
    if (status != SC_OK) {
        sc_protocol_call_over();
        sc_protocol_unlock();
        sc_untracked_drop(own, stage, count);
        if (leaver && leaver != gettid())
            let_process_end();
        return status == SC_ERR_UNSUPPORTED ? SC_ERR_CONFLICT : status;
    }
    return SC_OK;
}

enum sc_status sc_coherence_begin(const struct sc_view *views, int count, struct sc_operand *operands)
{
    return begin(views, count, operands, false);
}

enum sc_status sc_coherence_begin_lending(const struct sc_view *view, struct sc_operand *operand)
{
    return begin(view, 1, operand, true);
}

void sc_coherence_end(struct sc_operand *operands, int count)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_keep_open_end(operands, count);
    hold(operands, count, -1);
    sc_protocol_call_over();
    for (int i = 0; i < count && sc_protocol.check; i++)
        sc_check_operand(&operands[i], "a call");
    sc_protocol_mend();
    if (sc_protocol.check)
        sc_check_changed("a call");
    sc_protocol_unlock();
    sc_untracked_finish(operands, count);
}
/* SPDX-License-Identifier: BSD-2-Clause */
