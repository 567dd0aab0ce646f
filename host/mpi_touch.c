/* The ranges that an MPI call touches.  The program's MPI gives extents of datatypes and sizes of communicators. */
#define _GNU_SOURCE
#include "host/mpi.h"
#include "host/watch.h"

/* Call a function of the program's MPI.  The result of a failed call is ignored: MPI itself will report the bad
 * argument. */
static int ask(void **slot, const char *name, SC_MPI_H what, void *answer)
{
    int (*function)(SC_MPI_H, void *) = sc_mpi_function(slot, name);

    return function ? function(what, answer) : -1;
}
static int ask_two(void **slot, const char *name, SC_MPI_H what, long *first, long *second)
{
    int (*function)(SC_MPI_H, long *, long *) = sc_mpi_function(slot, name);

    return function ? function(what, first, second) : -1;
}

static void widen(struct sc_mpi_transfer *t, enum sc_mpi_side side, uintptr_t lo, uintptr_t hi)
{
    if (!lo) /* lo 0 stands for no range; page 0 is never tracked */
        lo = 1;
    if (lo >= hi)
        return;
    if (!t->side[side].lo || lo < t->side[side].lo)
        t->side[side].lo = lo;
    if (hi > t->side[side].hi)
        t->side[side].hi = hi;
}

static bool is_inter(SC_MPI_H comm)
{
    static void *slot;
    int inter = 0;

    return ask(&slot, "PMPI_Comm_test_inter", comm, &inter) == 0 && inter;
}

static int64_t own_ranks(SC_MPI_H comm)
{
    static void *slot;
    int ranks = 0;

    ask(&slot, "PMPI_Comm_size", comm, &ranks);
    return ranks;
}

int64_t sc_mpi_ranks(SC_MPI_H comm)
{
    static void *slot;
    int ranks = 0;

    if (!is_inter(comm))
        return own_ranks(comm);
    ask(&slot, "PMPI_Comm_remote_size", comm, &ranks);
    return ranks;
}

int64_t sc_mpi_rank(SC_MPI_H comm)
{
    static void *slot;
    int rank = -1;

    ask(&slot, "PMPI_Comm_rank", comm, &rank);
    return rank;
}

/* Adds the range from the first byte of the first element to the last byte of the last, without holes.  The first
 * element lies `at` extents plus `bytes` bytes behind buf. */
static void span(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, int64_t bytes, int64_t at,
                 int64_t count, SC_MPI_H type)
{
    static void *extent_of, *true_extent_of;
    long lower, extent, true_lower, true_extent, first, last;

    if (count <= 0 || ask_two(&extent_of, "PMPI_Type_get_extent", type, &lower, &extent) ||
        ask_two(&true_extent_of, "PMPI_Type_get_true_extent", type, &true_lower, &true_extent))
        return;
    first = bytes + at * extent;
    last = first + (count - 1) * extent;
    widen(t, side, (uintptr_t)buf + (uintptr_t)((first < last ? first : last) + true_lower),
          (uintptr_t)buf + (uintptr_t)((first < last ? last : first) + true_lower + true_extent));
}

void sc_mpi_span(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, int64_t count, SC_MPI_H type)
{
    if (sc_mpi_matters(buf))
        span(t, side, buf, 0, 0, count, type);
}

static int64_t number(const void *numbers, size_t bytes, int64_t i)
{
    return bytes == sizeof(int) ? ((const int *)numbers)[i] : ((const int64_t *)numbers)[i];
}

void sc_mpi_span_v(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                   SC_MPI_H type, SC_MPI_H comm)
{
    if (!sc_mpi_matters(buf))
        return;
    for (int64_t i = 0, ranks = sc_mpi_ranks(comm); i < ranks; i++)
        span(t, side, buf, 0, number(list.displacements, list.bytes, i), number(list.counts, list.bytes, i), type);
}

void sc_mpi_span_w(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                   const void *types, SC_MPI_H comm)
{
    if (!sc_mpi_matters(buf))
        return;
    for (int64_t i = 0, ranks = sc_mpi_ranks(comm); i < ranks; i++)
        span(t, side, buf, number(list.displacements, list.bytes, i), 0, number(list.counts, list.bytes, i),
             sc_mpi_handle_at(types, (int)i));
}

void sc_mpi_span_sum(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                     SC_MPI_H type, SC_MPI_H comm)
{
    int64_t sum = 0;

    if (!sc_mpi_matters(buf))
        return;
    for (int64_t i = 0, ranks = own_ranks(comm); i < ranks; i++)
        sum += number(list.counts, list.bytes, i);
    span(t, side, buf, 0, 0, sum, type);
}

void sc_mpi_whole(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf)
{
    const struct sc_watch_range *watched;
    struct sc_host_block block;

    if (!sc_mpi_matters(buf))
        return;
    if (!buf)
        widen(t, side, sc_host_hull.base, sc_host_hull.base + sc_host_hull.bytes);
    else if (sc_host_block_of(buf, &block))
        widen(t, side, block.base, block.base + block.bytes);
    else if ((watched = sc_watch_find((uintptr_t)buf, (uintptr_t)buf + 1)))
        widen(t, side, watched->lo, watched->hi);
}

/* In an intercommunicator the root passes MPI_ROOT (-3 or -4), the rest of the root's group MPI_PROC_NULL (-1 or
 * -2), and the other group the root's rank. */
bool sc_mpi_is_root(int root, SC_MPI_H comm)
{
    return root < 0 ? root <= -3 : !is_inter(comm) && sc_mpi_rank(comm) == root;
}
bool sc_mpi_is_leaf(int root) { return root >= 0; }

void sc_mpi_expose(const void *base, int64_t bytes)
{
    if (bytes <= 0)
        return;
    if (sc_host_within(base))
        sc_host_arena_abandon((uintptr_t)base, (size_t)bytes, false);
    else
        sc_watch_exclude((uintptr_t)base, (size_t)bytes);
}

void sc_mpi_begin(struct sc_mpi_transfer *t)
{
    static const enum sc_access access[] = {SC_READ, SC_RDWR};

    for (int i = 0; i < 2; i++)
        if (__builtin_expect(t->side[i].lo != 0, 0))
            sc_host_touch_range(&t->side[i].use, t->side[i].lo, t->side[i].hi, access[i]);
}

#define NEAR 4096 /* bytes between two ranges that become one */

bool sc_mpi_join(struct sc_mpi_transfer *older, const struct sc_mpi_transfer *t)
{
    struct sc_mpi_transfer mine = *t;

    for (int i = 0; i < 2; i++) {
        uintptr_t lo = mine.side[i].lo, hi = mine.side[i].hi;

        if (lo && (!older->side[i].lo || lo > older->side[i].hi + NEAR || older->side[i].lo > hi + NEAR ||
                   !sc_host_use_extend(&older->side[i].use, lo, hi, i == SC_MPI_READS ? SC_READ : SC_RDWR)))
            return false;
        if (lo)
            widen(older, i, lo, hi);
    }
    sc_mpi_end(&mine);
    return true;
}

void sc_mpi_end(struct sc_mpi_transfer *t)
{
    for (int i = 0; i < 2; i++)
        sc_host_use_end(&t->side[i].use);
}
/* SPDX-License-Identifier: BSD-2-Clause */
