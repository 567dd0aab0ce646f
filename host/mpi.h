/* MPI's use of the program's memory (rule M11).  The build needs no MPI: the families of Open MPI and MPICH are told
 * apart when the program runs.
 *
 * A handle (datatype, communicator, request...) is a pointer in Open MPI's family and an int in MPICH's.  By value a
 * handle travels in one register, so the type SC_MPI_H serves for both; the upper half may be garbage.  In memory a
 * handle has sc_mpi_handle_bytes() bytes. */
#ifndef SC_HOST_MPI_H
#define SC_HOST_MPI_H

#include <limits.h>

#include "host/touch.h"

typedef uintptr_t SC_MPI_H;

/* The ranges that a call reads ([0]) and may write ([1]).  lo is 0 for no range.  Initialise with {0}. */
struct sc_mpi_transfer {
    struct {
        uintptr_t lo, hi;
        struct sc_host_use use;
    } side[2];
};
enum sc_mpi_side { SC_MPI_READS, SC_MPI_WRITES };

/* --- the program's MPI (mpi.c) ------------------------------------------------------------------------------------ */

/* Looks up a function of the program's MPI; NULL when there is none.  Before the first interposed call of a process
 * the MPI is unknown. */
void *sc_mpi_function(void **slot, const char *name);
size_t sc_mpi_handle_bytes(void);
SC_MPI_H sc_mpi_handle_at(const void *handles, int i);

/* --- the memory that a call touches (mpi_touch.c) ----------------------------------------------------------------- */

static inline bool sc_mpi_in_place(const void *buf) { return (intptr_t)buf == 1 || (intptr_t)buf == -1; }

/* True for addresses of the arena, for every address while memory is watched (M12), and for NULL. NULL is MPI_BOTTOM,
 * with absolute addresses in the datatype. False for MPI_IN_PLACE. Insignificant arguments are not tested, because they
 * may have any value. */
static inline bool sc_mpi_matters(const void *buf)
{
    if (!buf)
        return __builtin_expect(sc_host_arena.bytes != 0, 0);
    return __builtin_expect(sc_host_within(buf) || (sc_host_watched.bytes && !sc_mpi_in_place(buf)), 0);
}

/* Adds the range of `count` elements of a type. */
void sc_mpi_span(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, int64_t count, SC_MPI_H type);
/* Counts and displacements for each rank; an entry has `bytes` bytes: int, or MPI_Count and MPI_Aint. */
struct sc_mpi_list {
    const void *counts, *displacements;
    size_t bytes;
};
/* Add the ranges of all ranks.  v: displacements in extents of the type.  w: displacements in bytes, and a type for
 * each rank.  sum: the ranges follow each other. */
void sc_mpi_span_v(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                   SC_MPI_H type, SC_MPI_H comm);
void sc_mpi_span_w(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                   const void *types, SC_MPI_H comm);
void sc_mpi_span_sum(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                     SC_MPI_H type, SC_MPI_H comm);
/* Adds the whole block or watched range.  For neighbourhood collectives only MPI knows the number of parts. */
void sc_mpi_whole(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf);

/* Number of ranks that a collective exchanges data with (the remote group of an intercommunicator); this process's
 * rank in its own group. */
int64_t sc_mpi_ranks(SC_MPI_H comm);
int64_t sc_mpi_rank(SC_MPI_H comm);
/* For a collective with a root: is this process the root, and does this process exchange data with the root (perhaps
 * itself)? */
bool sc_mpi_is_root(int root, SC_MPI_H comm);
bool sc_mpi_is_leaf(int root);

/* For memory that other processes may access from now on: makes the host copy valid and ends tracking until the
 * free. */
void sc_mpi_expose(const void *base, int64_t bytes);

/* Acquires the ranges of the transfer and notes them as in use. */
void sc_mpi_begin(struct sc_mpi_transfer *t);
void sc_mpi_end(struct sc_mpi_transfer *t);
/* The ranges of t, near those of an older transfer, become a part of the older one, and t ends.  False: the ranges are
 * not near, or the older transfer has no note. */
bool sc_mpi_join(struct sc_mpi_transfer *older, const struct sc_mpi_transfer *t);

/* --- transfers that go on after the call (mpi_pending.c) ---------------------------------------------------------- */

/* The transfer lasts until the request `handle` is complete. */
void sc_mpi_pend(const struct sc_mpi_transfer *t, SC_MPI_H handle);
/* The transfer has not begun; it begins anew each time the persistent request `handle` is started. */
void sc_mpi_prepare(const struct sc_mpi_transfer *t, SC_MPI_H handle);
/* The transfer, with rank `rank` of a window or with a file, lasts until sc_mpi_scope_end of the handle and of the rank
 * or of all ranks. */
enum { SC_MPI_ALL_RANKS = INT_MIN };
void sc_mpi_scope(const struct sc_mpi_transfer *t, SC_MPI_H handle, int rank);
void sc_mpi_scope_end(SC_MPI_H handle, int rank);

void sc_mpi_start(int count, const void *requests);
void sc_mpi_drop(SC_MPI_H request); /* MPI_Request_free */

/* Requests that a call may complete, and their handles before the call. */
struct sc_mpi_watch {
    int count;
    const void *requests;
    SC_MPI_H few[32], *before;
};
void sc_mpi_watch(struct sc_mpi_watch *w, int count, const void *requests);
/* After the call.  Requests whose handles have changed are complete.  So are `done` further requests: the first
 * ones, or those given by `indices`. */
void sc_mpi_settle(struct sc_mpi_watch *w, int done, const int *indices);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
