/* Histories of results in new memory.  NumPy takes new memory for the result of each expression, and the call makes a
 * new matrix.  The program probably treats the result like the last one: it reads all of the result, a part, or
 * nothing.  The matrix takes over the history of the last result of a call with equal shapes, for push.c, keep_open.c
 * and wait.c.  When its memory goes, the matrix leaves its own history. */
#include <limits.h>
#include <string.h>

#include "coherence/protocol.h"

#define HABITS 512 /* one for a shape; a newer shape takes the place of an older shape; 9 bits of the key */

static struct habit {
    uint64_t shape;
    int looks;           /* push.c: latest results in a row that the program opened */
    bool read_whole, wrote_whole; /* wait.c: the last result */
    unsigned paid;       /* keep_open.c: latest results in a row with more seconds of faults than a wait */
    unsigned since, until;
    bool doubted, tried; /* the next result is closed, to look; that was done */
} habits[HABITS];

static uint64_t mixed(uint64_t key, uint64_t value)
{
    return (key ^ value) * UINT64_C(0x9e3779b97f4a7c15) >> 1 | 1; /* never 0 */
}

/* The shapes of a call's operands, and which of them is the result. */
static uint64_t shape_of(const struct sc_operand *operands, int count, int result)
{
    uint64_t key = (uint64_t)result;

    for (int i = 0; i < count; i++) {
        const struct sc_view *v = &operands[i].view;

        key = mixed(key, (uint64_t)v->rows);
        key = mixed(key, (uint64_t)v->cols);
        key = mixed(key, (uint64_t)v->type << 8 | (uint64_t)v->access << 1 | v->vector);
    }
    return key;
}

static struct habit *habit_of(uint64_t shape) { return &habits[shape * UINT64_C(0x9e3779b97f4a7c15) >> 55]; }

static void take_over(struct sc_matrix *m, uint64_t shape)
{
    struct habit *h = habit_of(shape);

    m->habit.shape = shape;
    m->habit.call = sc_protocol.calls + 1;
    if (h->shape != shape)
        return;
    if (h->looks) { /* the call then looks back at the last result */
        m->push.looks = h->looks - 1;
        m->push.opened = INT_MAX / 2;
    }
    m->wait.read_whole = h->read_whole;
    m->wait.wrote_whole = h->wrote_whole;
    m->keep_open = (struct sc_keep_open){.paid = h->paid, .since = h->doubted ? h->until : h->since, .until = h->until};
    h->doubted = false;
}

/* A device reads a result that the last call brought home.  Perhaps the program had not asked for it. */
static void doubt(const struct sc_matrix *m)
{
    struct habit *h = habit_of(m->habit.shape);

    if (m->writer.call != m->habit.call || m->keep_open.was_closed || h->shape != m->habit.shape || h->tried)
        return;
    h->doubted = h->tried = true;
}

void sc_habit_take_over(const struct sc_operand *operands, int count)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++) {
        struct sc_matrix *m = operands[i].matrix;

        if (m && !m->habit.known && operands[i].view.access == SC_WRITE)
            take_over(m, shape_of(operands, count, i));
    }
    for (int i = 0; i < count; i++) {
        struct sc_matrix *m = operands[i].matrix;

        if (m && m->habit.shape && operands[i].view.access == SC_READ)
            doubt(m);
        if (m)
            m->habit.known = true;
    }
}

/* Two results of one shape may live side by side, one for the program and one for devices.  The counts go by the order
 * in which results leave. */
void sc_habit_leave(struct sc_matrix *m)
{
    struct habit *h = habit_of(m->habit.shape);

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!m->habit.shape || m->writer.call != m->habit.call) /* a later call wrote the matrix */
        return;
    if (h->shape != m->habit.shape)
        *h = (struct habit){.shape = m->habit.shape};
    h->looks = m->push.opened < m->push.written / 4 * 3 + 1 ? 0 : h->looks < 2 ? h->looks + 1 : 2;
    sc_wait_look_back(m);
    h->read_whole = m->wait.read_whole;
    h->wrote_whole = m->wait.wrote_whole;
    sc_keep_open_look_back_at(m);
    if (m->keep_open.was_closed)
        h->paid = m->keep_open.paid ? h->paid + 1 : 0;
    h->tried = h->tried && h->paid;
    h->since = m->keep_open.since;
    h->until = m->keep_open.until;
}

void sc_habit_reset(void)
{
    memset(habits, 0, sizeof habits);
}
/* SPDX-License-Identifier: BSD-2-Clause */
