/* Vectors that the program touches after every call.  The call leaves their pages open, waits for its own work, and
 * brings the vectors home before it returns.  The program then has no faults, and the call closes no pages.  A loop by
 * hand does the same: upload, kernel, copy back.
 *
 * During the call, the host's pages of such a vector are writable in all states.  C3 holds again when the last of these
 * calls ends.  Until then, a program that touches a result, or writes an operand, has a race with its own call.  Other
 * matrices on the same pages keep their protection (rule 5 of README.md).
 *
 * Earlier calls that closed the pages decide: did the faults after the call cost more than a call that waits?  A call
 * with a wait loses the time of the program's other work before its first touch of a result.  Some calls close
 * the pages again, to look. */
#include "coherence/protocol.h"

#define FAULT_LEAST 20e-6 /* seconds of a fault and of closing its pages again, at least */
#define FAULT_BYTES ((size_t)1 << 20) /* that a link carries in this time */
#define CALLS_LEAST 2     /* calls in a row that should have left the pages open */
#define LOOK_FIRST 16     /* calls that leave the pages open, before the first that closes them again */
#define LOOK_MOST 256

static bool is_vector(const struct sc_operand *o)
{
    return o->matrix && o->view.vector && !o->stage && sc_view_bytes(&o->view) == o->matrix->bytes;
}

/* After the calls before, the program touched the vector, and a call that waits would have cost less. */
static bool has_paid(const struct sc_operand *o)
{
    const struct sc_matrix *m = o->matrix;
    double other = m->wait.first - m->keep_open.ended; /* work before the first touch */
    double lost = other < m->wait.first_seconds ? other : m->wait.first_seconds;

    return m->wait.faults && m->bytes <= m->wait.faults * FAULT_BYTES &&
           (!(o->view.access & SC_WRITE) || m->wait.faults * FAULT_LEAST > 2 * lost);
}

static void look_back(const struct sc_operand *o)
{
    struct sc_keep_open *k = &o->matrix->keep_open;

    if (!k->closed || k->calls)
        return;
    if (!has_paid(o))
        k->paid = 0;
    else if (k->paid < CALLS_LEAST)
        k->paid++;
    k->closed = false;
}

/* The pages may stay open during this call. */
static bool may_stay_open(struct sc_operand *o)
{
    struct sc_keep_open *k = &o->matrix->keep_open;

    if (k->calls) /* another call has left them open */
        return true;
    if (k->paid < CALLS_LEAST) {
        k->since = k->until = 0;
        return false;
    }
    if (!k->until)
        k->until = LOOK_FIRST;
    return k->since < k->until && !o->matrix->lent && !o->matrix->lending &&
           !sc_host_is_united((const void *)o->matrix->base);
}

static void keep(struct sc_operand *o)
{
    sc_access_all(o->matrix); /* drops the lock if something is away */
    o->matrix->keep_open.calls++;
    o->matrix->keep_open.since++;
    o->kept_open = true;
}

void sc_keep_open_look_back(struct sc_operand *operands, int count)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++)
        if (operands[i].matrix)
            look_back(&operands[i]);
}

void sc_keep_open_begin(struct sc_operand *operands, int count)
{
    bool results = true; /* all of them may stay open */
    int written = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++)
        if (operands[i].view.access & SC_WRITE && !sc_view_empty(&operands[i].view)) {
            results &= is_vector(&operands[i]) && may_stay_open(&operands[i]);
            written++;
        }
    results &= written > 0;
    for (int i = 0; i < count; i++) {
        struct sc_operand *o = &operands[i];
        bool others = o->matrix && o->matrix->keep_open.calls; /* have left the pages open */

        if (others || (results && is_vector(o) && may_stay_open(o)))
            keep(o);
    }
}

/* A call that closes pages is over: the clock runs until the program's first touch. */
static void close(struct sc_matrix *m)
{
    struct sc_keep_open *k = &m->keep_open;

    if (k->since >= k->until) {
        k->until = 2 * k->until < LOOK_MOST ? 2 * k->until : LOOK_MOST;
        k->since = 0;
    }
    k->closed = true;
    k->ended = sc_wait_clock(SC_HOST_EVENT_NONE);
}

void sc_keep_open_end(struct sc_operand *operands, int count)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++) {
        struct sc_operand *o = &operands[i];

        if (!o->kept_open) {
            if (is_vector(o))
                close(o->matrix);
            continue;
        }
        sc_access_all(o->matrix);
        o->matrix->keep_open.calls--;
        o->kept_open = false;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
