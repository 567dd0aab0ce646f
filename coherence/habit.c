/* Histories of results in new memory.  NumPy takes new memory for the result of each expression, and the call makes a
 * new matrix.  The program probably treats the result like the last one: it reads all of the result, a part, or
 * nothing.  The matrix takes over the history of the last result of a call with equal shapes, for push.c, keep_open.c
 * and wait.c.  When its memory goes, the matrix leaves its own history. */
#include <limits.h>
#include <string.h>

#include "coherence/protocol.h"

#define HABITS 512 /* one for a shape; a newer shape takes the place of an older shape; 9 bits of the key */
#define NEEDED_FIRST 2
#define NEEDED_MOST  64
#define OPENED (INT_MAX / 2) /* sectors: all, whatever their number */

static struct habit {
    uint64_t shape;
    unsigned looks;  /* push.c: latest results in a row that the program opened */
    bool read_whole; /* wait.c: the last result */
    unsigned wrote_whole;
    unsigned paid;   /* keep_open.c: latest results in a row with more seconds of faults than a wait */
    unsigned needed; /* so many of them, and the next result is pushed, or stays open */
    unsigned since, until;
    bool changed; /* the program changed the last result that a device read */
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
    const struct habit *h = habit_of(shape);

    m->habit.shape = shape;
    if (h->shape != shape)
        return;
    if (h->looks) { /* the call then looks back at the last result, and counts it */
        m->push.looks = h->looks >= h->needed;
        m->push.opened = OPENED;
    }
    m->wait.read_whole = h->read_whole;
    m->wait.wrote_whole = h->wrote_whole;
    m->keep_open = (struct sc_keep_open){.paid = h->paid >= h->needed ? h->paid : h->paid > 0, .since = h->since,
                                         .until = h->until};
}

/* A device reads the result.  If the program has changed it, its values had to come home, and go up again.  Otherwise
 * it had better stayed on the device.  If it has come home, the next results of the shape stay, for twice as long as
 * before. */
static void give(struct sc_matrix *m)
{
    struct habit *h = habit_of(m->habit.shape);
    bool known = h->shape == m->habit.shape, closed = m->keep_open.was_closed;
    bool changed = closed ? m->wait.write_faults > 0 : known && h->changed, sent = !closed || m->push.looks >= 2;

    if (m->writer.call != m->habit.call || m->habit.given)
        return;
    m->habit.given = !changed;
    if (known && closed)
        h->changed = changed;
    if (known && !changed && sent) {
        h->paid = h->looks = 0;
        h->needed = h->needed < NEEDED_MOST ? 2 * h->needed : NEEDED_MOST;
    }
}

/* The result is the whole of its new matrix. */
static bool is_new_result(const struct sc_operand *o)
{
    return !o->matrix->habit.known && o->view.access == SC_WRITE && sc_view_bytes(&o->view) == o->matrix->bytes;
}

void sc_habit_take_over(const struct sc_operand *operands, int count)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count; i++)
        if (operands[i].matrix && is_new_result(&operands[i]))
            take_over(operands[i].matrix, shape_of(operands, count, i));
    for (int i = 0; i < count; i++) {
        struct sc_matrix *m = operands[i].matrix;

        if (m && m->habit.known && m->habit.shape && operands[i].view.access == SC_READ)
            give(m);
        if (m)
            m->habit.known = true;
    }
}

static bool was_opened(const struct sc_push_state *push)
{
    return push->opened >= push->written / 4 * 3 + 1;
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
        *h = (struct habit){.shape = m->habit.shape, .needed = NEEDED_FIRST};
    sc_wait_look_back(m);
    h->read_whole = m->wait.read_whole;
    h->wrote_whole = m->wait.wrote_whole;
    h->since = m->keep_open.since;
    h->until = m->keep_open.until;
    if (!m->keep_open.was_closed)
        return;
    if (m->push.opened < OPENED) /* else the call has not looked back: a small result */
        h->looks = was_opened(&m->push) && !m->habit.given ? h->looks + 1 : 0;
    sc_keep_open_look_back_at(m);
    h->paid = m->keep_open.paid && !m->habit.given ? h->paid + 1 : 0;
}

void sc_habit_reset(void)
{
    memset(habits, 0, sizeof habits);
}
/* SPDX-License-Identifier: BSD-2-Clause */
