/* Vectors and results with open pages during a call.  The program touches such a result after each call.  The call
 * closes no page, waits for its own work, and brings the result home before it returns: the program has no faults.  A
 * loop by hand does the same: upload, kernel, copy back.
 *
 * During the call, the pages are writable in all states.  C3 holds again at the end of the last of these
 * calls.  Until then, a touch of a result, or a write to an operand, is a race of the program with its own call.  Other
 * matrices on the same pages keep their protection (rule 5 of README.md).
 *
 * The decision compares the seconds of the faults after earlier calls with the loss by a wait: the program's other work
 * between the call and its first touch of a result.  Now and then a call closes the pages, to look. */
#include "coherence/protocol.h"

#include "base/config.h"

#define FAULT_LEAST 20e-6 /* seconds of a fault beside the wait, and of closing its pages again, at least */
#define FAULT_BYTES ((size_t)1 << 20) /* carried by a link in this time */
#define CALLS_LEAST 2     /* calls in a row with such faults */
#define LOOK_FIRST 16     /* calls with open pages before the first look */
#define LOOK_MOST 256

/* A vector, or a matrix that the call overwrites, as a whole. */
static bool is_candidate(const struct sc_operand *o)
{
    return o->matrix && (o->view.vector || o->view.access == SC_WRITE) && !o->stage &&
           sc_view_bytes(&o->view) == o->matrix->bytes;
}

/* The faults after the last call took longer than a wait would have.  Vectors with open pages go up whole: an operand
 * of the call must have been written.  A product may have computed all through the program's other work, and a wait
 * would have taken as long. */
static bool has_paid(const struct sc_matrix *m, enum sc_access access)
{
    double other = m->wait.first - m->keep_open.ended; /* work before the first touch */
    double lost = other < m->wait.first_seconds || (m->wait.first_late && !m->folded) ? other : m->wait.first_seconds;
    double faults = m->wait.faulted - m->wait.first_seconds + m->wait.faults * FAULT_LEAST;

    return m->wait.faults && m->bytes <= m->wait.faults * FAULT_BYTES &&
           (!(access & SC_READ) || sc_wait_rewritten(m)) && (!(access & SC_WRITE) || faults > lost);
}

static void look_back(struct sc_matrix *m, enum sc_access access)
{
    struct sc_keep_open *k = &m->keep_open;

    if (!k->closed || k->calls)
        return;
    if (!has_paid(m, access))
        k->paid = 0;
    else if (k->paid < CALLS_LEAST)
        k->paid++;
    k->closed = false;
}

/* Derived copies have sources here.  Open pages would end the links of all sectors, and not of written sectors only. */
static bool is_linked(const struct sc_matrix *m)
{
    for (int i = 0; i < m->row_parts * m->col_parts; i++)
        if (m->tiles[i].linked)
            return true;
    return false;
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
           (o->view.access & SC_WRITE || !is_linked(o->matrix)) && !sc_host_is_united((const void *)o->matrix->base);
}

static void trace(const struct sc_matrix *m, bool open)
{
    sc_trace(.kind = SC_EVENT_KEEP, .matrix = m->id, .peer = open);
}

static void keep(struct sc_operand *o)
{
    sc_access_all(o->matrix); /* drops the lock if something is away */
    if (!o->matrix->keep_open.calls++)
        trace(o->matrix, true);
    o->matrix->keep_open.since++;
    o->matrix->keep_open.was_closed = false;
    o->kept_open = true;
}

void sc_keep_open_look_back(struct sc_operand *operands, int count)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++)
        if (operands[i].matrix)
            look_back(operands[i].matrix, operands[i].view.access);
}

void sc_keep_open_look_back_at(struct sc_matrix *result)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    look_back(result, SC_WRITE);
}

void sc_keep_open_begin(struct sc_operand *operands, int count)
{
    bool results = sc_config.push; /* all of them may stay open */
    int written = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++)
        if (operands[i].view.access & SC_WRITE && !sc_view_empty(&operands[i].view)) {
            results &= is_candidate(&operands[i]) && may_stay_open(&operands[i]);
            written++;
        }
    results &= written > 0;
    for (int i = 0; i < count; i++) {
        struct sc_operand *o = &operands[i];
        bool others = o->matrix && o->matrix->keep_open.calls; /* have left the pages open */

        if (others || (results && is_candidate(o) && may_stay_open(o)))
            keep(o);
    }
}

/* The end of a call with closed pages: the clock runs until the program's first touch. */
static void close(struct sc_matrix *m)
{
    struct sc_keep_open *k = &m->keep_open;

    if (k->since >= k->until) {
        k->until = 2 * k->until < LOOK_MOST ? 2 * k->until : LOOK_MOST;
        k->since = 0;
    }
    k->closed = k->was_closed = true;
    k->ended = sc_wait_clock(SC_HOST_EVENT_NONE);
}

void sc_keep_open_end(struct sc_operand *operands, int count)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++) {
        struct sc_operand *o = &operands[i];

        if (!o->kept_open) {
            if (is_candidate(o))
                close(o->matrix);
            continue;
        }
        sc_access_all(o->matrix);
        if (!--o->matrix->keep_open.calls)
            trace(o->matrix, false);
        o->kept_open = false;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
