/* MPI, as far as it uses memory of the program: rule M11.  Nothing of an MPI is needed to build this, and Open MPI's
 * and MPICH's families are told apart when the program runs.
 *
 * A handle (datatype, communicator, request...) is a pointer in the one family and an int in the other.  By value both
 * travel in one register, so here they are SC_MPI_H, of which the upper half may be garbage; in memory they are
 * sc_mpi_handle_bytes() long. */
#ifndef SC_HOST_MPI_H
#define SC_HOST_MPI_H

#include "host/touch.h"

typedef uintptr_t SC_MPI_H;

/* What one call reads ([0]) and what it may write ([1]): lo is 0 for nothing.  Begins as {0}. */
struct sc_mpi_transfer {
    struct {
        uintptr_t lo, hi;
        struct sc_host_use use;
    } side[2];
};
enum sc_mpi_side { SC_MPI_READS, SC_MPI_WRITES };

/* --- the program's MPI (mpi.c) ----------------------------------------------------------------------------------- */

/* Its function of that name, NULL when there is none.  Before the first interposed call of a process: nothing. */
void *sc_mpi_function(void **slot, const char *name);
size_t sc_mpi_handle_bytes(void);
SC_MPI_H sc_mpi_handle_at(const void *handles, int i);

/* --- what a call touches (mpi_touch.c) ---------------------------------------------------------------------------- */

/* Addresses of the arena, of watched memory (M12), and NULL: MPI_BOTTOM, behind which datatypes have absolute
 * addresses.  MPI_IN_PLACE is none of them.  Arguments that do not count are not looked at: they may be anything. */
static inline bool sc_mpi_matters(const void *buf)
{
    return __builtin_expect(sc_host_within(buf) || sc_host_within_watched(buf), 0) ||
           (!buf && __builtin_expect(sc_host_arena.bytes != 0, 0));
}

static inline bool sc_mpi_in_place(const void *buf) { return (intptr_t)buf == 1 || (intptr_t)buf == -1; }

/* `count` elements of a type. */
void sc_mpi_span(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, int64_t count, SC_MPI_H type);
/* A number of elements for each rank, and where they begin; each `bytes` long: int, or MPI_Count and MPI_Aint. */
struct sc_mpi_list {
    const void *counts, *displacements;
    size_t bytes;
};
/* Displacements in extents of the type; in bytes, with a type for each; the parts one after the other. */
void sc_mpi_span_v(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                   SC_MPI_H type, SC_MPI_H comm);
void sc_mpi_span_w(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                   const void *types, SC_MPI_H comm);
void sc_mpi_span_sum(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf, struct sc_mpi_list list,
                     SC_MPI_H type, SC_MPI_H comm);
/* The whole block, where only MPI knows how much of it: neighbourhoods. */
void sc_mpi_whole(struct sc_mpi_transfer *t, enum sc_mpi_side side, const void *buf);

/* Of the group that a collective exchanges data with, and this process in its own. */
int64_t sc_mpi_ranks(SC_MPI_H comm);
int64_t sc_mpi_rank(SC_MPI_H comm);
/* In a collective with a root: is this the root?  Does it exchange data with the root (perhaps with itself)? */
bool sc_mpi_is_root(int root, SC_MPI_H comm);
bool sc_mpi_is_leaf(int root);

/* Memory that other processes may read and write from now on: it comes home and stays there until it is freed. */
void sc_mpi_expose(const void *base, int64_t bytes);

/* Acquires all that the transfer touches and notes it as in use. */
void sc_mpi_begin(struct sc_mpi_transfer *t);
void sc_mpi_end(struct sc_mpi_transfer *t);

/* --- what goes on after the call (mpi_pending.c) ------------------------------------------------------------------ */

/* The transfer lasts until `handle`, a request, is complete. */
void sc_mpi_pend(const struct sc_mpi_transfer *t, SC_MPI_H handle);
/* It has not begun, and will each time the request is started. */
void sc_mpi_prepare(const struct sc_mpi_transfer *t, SC_MPI_H handle);
/* It lasts until sc_mpi_scope_end of a window or a file. */
void sc_mpi_scope(const struct sc_mpi_transfer *t, SC_MPI_H handle);
void sc_mpi_scope_end(SC_MPI_H handle);

void sc_mpi_start(int count, const void *requests);
void sc_mpi_drop(SC_MPI_H request); /* MPI_Request_free */

/* Requests that a call may complete, as they are before it. */
struct sc_mpi_watch {
    int count;
    const void *requests;
    SC_MPI_H few[32], *before;
};
void sc_mpi_watch(struct sc_mpi_watch *w, int count, const void *requests);
/* After it.  Those whose handles have changed are complete, and so are `done` others: all, or those in `indices`. */
void sc_mpi_settle(struct sc_mpi_watch *w, int done, const int *indices);

#endif
