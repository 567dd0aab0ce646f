/* Copies between devices.  Moves are collected first; then copy engines do the moves in turn, or a kernel of a device
 * does the device's incoming moves (pull) or outgoing moves (push).  Small pieces cost the host more than the links: a
 * copy engine needs waits, a copy and a mark per piece, a kernel needs one launch and one mark for a group.
 *
 * Until moves are issued no state has changed: collected data is not valid at its destination and is no source. */
#include "base/config.h"
#include "coherence/protocol.h"
#include "device/exchange.h"
#include "trace/exchanges.h"

static const struct sc_exchange_rates *rates;

void sc_coherence_exchanges(const struct sc_exchange_rates *given)
{
    sc_protocol_lock();
    rates = given;
    sc_protocol_unlock();
}

int sc_moves_chunks(const struct sc_result *r)
{
    struct sc_result_choice out;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!rates)
        return 1;
    out = sc_exchange_chunks(rates, r);
    if (sc_config.explain)
        sc_exchanges_sent(r->readers, r->kernels, out.chunks, r->bytes, out.whole, out.seconds);
    return out.chunks;
}

/* --- order -------------------------------------------------------------------------------------------------------- */

/* A move waits for the users of the overwritten sectors, for the writer of the source, and for its predecessor as
 * `reader`, which may have been on another stream. */
static enum sc_status order(const struct sc_move *v, int on, enum sc_stream stream)
{
    const struct sc_copy *source = &v->t->copy[v->from];
    enum sc_status status = sc_order_overwriting(v->to, on, stream, v->t, v->s, v->e);

    for (int i = v->s; i < v->e && status == SC_OK; i++)
        status = sc_order(on, stream, source->ready[i]);
    return status == SC_OK ? sc_order(on, stream, source->reader[v->to]) : status;
}

static void enqueued(const struct sc_move *v, struct sc_fence f)
{
    struct sc_copy *c = &v->t->copy[v->to];

    sc_assert(c->memory);
    for (int i = v->s; i < v->e; i++)
        c->ready[i] = f;
    c->pending |= sc_sectors_range(v->s, v->e);
    v->t->copy[v->from].reader[v->to] = f;
}

/* --- by copy engines, by kernels ---------------------------------------------------------------------------------- */

static void begin(const struct sc_move *v)
{
    if (!v->part)
        sc_protocol_shared(v->m, v->t, v->to, sc_sectors_range(v->s, v->e));
    sc_transfer_count(v->m, v->t, v->sectors, v->from, v->to, v->copy.width * v->copy.height,
                      v->part ? SC_TRANSFER_PART : SC_TRANSFER_WHOLE);
}

static void failed(const struct sc_move *v)
{
    if (!v->part)
        sc_protocol_dropped(v->m, v->t, v->to, sc_sectors_range(v->s, v->e));
}

static enum sc_status copy_one(const struct sc_move *v)
{
    enum sc_stream stream = sc_stream_peer(v->from);
    enum sc_status status = order(v, v->to, stream);
    struct sc_fence f;

    if (status == SC_OK)
        status = sc_protocol.ops->copy(v->to, stream, &v->copy);
    if (status == SC_OK)
        status = sc_mark(v->to, stream, &f);
    if (status == SC_OK)
        enqueued(v, f);
    return status;
}

static int end_of(const struct sc_move *v, bool push) { return push ? v->from : v->to; }

/* The unfinished moves with the end `on`. */
static int group(struct sc_moves *all, int on, bool push, struct sc_move *which[SC_MOVES_MAX])
{
    int count = 0;

    for (int i = 0; i < all->count; i++)
        if (!all->move[i].done && end_of(&all->move[i], push) == on)
            which[count++] = &all->move[i];
    return count;
}

static enum sc_status launch(int on, struct sc_move *const which[], int count)
{
    struct sc_copy2d copies[SC_MOVES_MAX];
    enum sc_status status = SC_OK;

    for (int i = 0; i < count && status == SC_OK; i++) {
        copies[i] = which[i]->copy;
        status = order(which[i], on, SC_STREAM_EXCHANGE);
    }
    return status == SC_OK ? sc_protocol.ops->exchange(on, SC_STREAM_EXCHANGE, copies, count) : status;
}

/* Moves a group by one kernel.  False: no work was enqueued. */
static bool by_kernel(int on, struct sc_move *const which[], int count, enum sc_status *status)
{
    struct sc_fence f;

    if (launch(on, which, count) != SC_OK)
        return false;
    for (int i = 0; i < count; i++)
        begin(which[i]);
    *status = sc_mark(on, SC_STREAM_EXCHANGE, &f);
    for (int i = 0; i < count; i++) {
        which[i]->done = true;
        if (*status == SC_OK)
            enqueued(which[i], f);
        else
            failed(which[i]);
    }
    if (*status != SC_OK) /* the kernel runs, and no thread can wait for it */
        sc_device_lost(on, "a copy cannot be waited for");
    return true;
}

/* Not when the source has been lost since. */
static bool is_there(const struct sc_move *v)
{
    return !(sc_sectors_range(v->s, v->e) & ~v->t->copy[v->from].valid);
}

/* Copies the remaining moves in the order of collection; after a failure no further move to the same device. */
static enum sc_status by_copies(struct sc_moves *all)
{
    enum sc_status status[SC_DEVICES_MAX] = {SC_OK}, first = SC_OK;

    for (int i = 0; i < all->count; i++) {
        struct sc_move *v = &all->move[i];
        enum sc_status *here = &status[v->to];

        if (v->done)
            continue;
        v->done = true;
        if (*here == SC_OK && !is_there(v)) {
            *here = SC_ERR_DEVICE;
        } else if (*here == SC_OK) {
            begin(v);
            *here = copy_one(v);
            if (*here != SC_OK)
                failed(v);
        }
        first = first == SC_OK ? *here : first;
    }
    return first;
}

/* --- which -------------------------------------------------------------------------------------------------------- */

static bool can_reach(int on, struct sc_move *const which[], int count, bool push)
{
    bool can = sc_protocol.ops->exchange && !sc_protocol.failed[on];

    for (int i = 0; i < count && can; i++)
        can = sc_protocol.properties[on].reach[end_of(which[i], !push)] && is_there(which[i]);
    return can;
}

static bool is_sooner(const struct sc_exchange *x)
{
    struct sc_exchange_choice out = sc_exchange_choose(rates, x);

    if (sc_config.explain)
        sc_exchanges_moved(x->push, out.by_kernel, x->pieces, x->bytes, out.copies, out.kernel);
    return out.by_kernel;
}

static bool is_worth_a_kernel(int on, struct sc_move *const which[], int count, bool push)
{
    struct sc_exchange x = {.on = on, .push = push, .pieces = count};

    if (!can_reach(on, which, count, push) || sc_config.exchange == SC_EXCHANGE_COPY)
        return false;
    if (sc_config.exchange != SC_EXCHANGE_AUTO)
        return true;
    for (int i = 0; i < count; i++) {
        uint64_t bytes = which[i]->copy.width * which[i]->copy.height;

        x.bytes += bytes;
        if (bytes > x.largest || !i) {
            x.largest = bytes;
            x.other = end_of(which[i], !push);
        }
    }
    return rates && is_sooner(&x);
}

/* Number of different devices at this end of the moves. */
static int ends(const struct sc_moves *all, bool push)
{
    uint32_t set = 0;

    for (int i = 0; i < all->count; i++)
        set |= UINT32_C(1) << end_of(&all->move[i], push);
    return __builtin_popcount(set);
}

/* The direction with fewer kernels; pull if equal. */
static bool pushes(const struct sc_moves *all)
{
    if (sc_config.exchange == SC_EXCHANGE_PULL || sc_config.exchange == SC_EXCHANGE_PUSH)
        return sc_config.exchange == SC_EXCHANGE_PUSH;
    return ends(all, true) < ends(all, false);
}

enum sc_status sc_moves_issue(struct sc_moves *all)
{
    bool push = pushes(all), asked[SC_DEVICES_MAX] = {false};
    enum sc_status status = SC_OK, each;
    struct sc_move *which[SC_MOVES_MAX];

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(all->count >= 0 && all->count <= SC_MOVES_MAX);
    for (int i = 0; i < all->count; i++) {
        int on = end_of(&all->move[i], push), count;

        if (asked[on])
            continue;
        asked[on] = true;
        count = group(all, on, push, which);
        if (is_worth_a_kernel(on, which, count, push) && by_kernel(on, which, count, &each))
            status = status == SC_OK ? each : status;
    }
    each = by_copies(all);
    all->count = 0;
    return status == SC_OK ? each : status;
}

enum sc_status sc_moves_add(struct sc_moves *all, const struct sc_move *move)
{
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(move->from);
    sc_assert_device(move->to);
    sc_assert_run(move->t, move->s, move->e);
    sc_assert(move->from != move->to && move->copy.width > 0 && move->copy.height > 0);
    status = all->count == SC_MOVES_MAX ? sc_moves_issue(all) : SC_OK;
    all->move[all->count++] = *move;
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
