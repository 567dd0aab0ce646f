/* The bracket of a call: operands are found in the directory, the protocol's lock is held from begin to end, residency
 * is asked before.  Errors leave nothing held: the call then runs on the host.  All functions are thread safe.
 * Used by: blas, sparse, tasks. */
#ifndef SC_COHERENCE_CALL_H
#define SC_COHERENCE_CALL_H

#include "base/fence.h"
#include "base/status.h"
#include "coherence/view.h"

struct sc_device_properties;
struct sc_matrix;

/* A triangle of a lattice: elements of rows [from, end) and of as many columns, on the diagonal row - column =
 * `diagonal` and below ('L') or above ('U').  uplo 0: no triangle. */
struct sc_triangle {
    char uplo;
    int64_t diagonal, from, end;
};

/* A view found in the directory, valid between sc_coherence_begin and sc_coherence_end.  Opaque except for `view`. */
struct sc_operand {
    struct sc_view view;
    struct sc_matrix *matrix;
    bool linear;           /* a vector on a contiguous lattice: elements [first, first + count) of the lattice */
    int64_t row, col;      /* not linear: position of the view's first element in the lattice */
    int64_t rows, cols;    /* not linear: extent in the lattice */
    int64_t first, count;  /* linear */
    struct sc_triangle triangle; /* the only elements that travel (sc_coherence_triangle) */
    struct sc_view staged; /* the program's view when `view` is a copy of memory outside of the arena (ptr) */
    bool kept_open;        /* the call leaves the pages of the matrix open (coherence/keep_open.c) */
    enum sc_stage { SC_IN_ARENA, SC_SHADOW, SC_MIRROR } stage; /* SHADOW: a copy for one call; MIRROR: a kept copy */
};

/* --- before a call ------------------------------------------------------------------------------------------------ */

/* The calling thread's stack has room for a call that goes to devices, and belongs to the thread (base/stack.h); and
 * its process has devices (sc_host_orphan). */
bool sc_coherence_stack_fits(void);

int sc_coherence_devices(void); /* 0: not started */
bool sc_coherence_runs(enum sc_op op, enum sc_type type); /* devices have the operation; false without devices */
const struct sc_device_properties *sc_coherence_device_properties(int device);

/* Where the bytes of a call's views are. */
struct sc_residency {
    uint64_t bytes;        /* of the views */
    uint64_t device_bytes; /* bytes valid on a device */
    uint64_t device_only;  /* bytes not valid on the host */
    uint64_t overwritten;  /* part of `bytes` that no device has, in views that are written and not read */
    uint64_t beside;       /* bytes in the pages of missing elements of strided vectors, which travel with the elements;
                            * not in `bytes` */
    uint64_t reshaped;     /* device-only bytes of matrices of another shape in the way: written back first */
    uint64_t untracked;    /* bytes copied in and out in each call (results outside of the arena count half) */
    uint64_t largest;      /* bytes of the largest view */
    int holders;           /* devices with a part of the largest view */
    bool chosen;           /* the largest view is memory of one address, which a program takes for devices */
    int arrivals;          /* views with bytes to be brought to the devices */
    int closings;          /* written views partly on the host: their pages are to be closed */
    uint64_t away, absent; /* bit i: the host lacks (devices lack) some bytes of view i */
};
/* Makes and moves nothing.  Takes the lock for a moment, and not at all where all views are at home. */
void sc_coherence_residency(const struct sc_view *views, int count, struct sc_residency *out);

/* Whether a call on the host has nothing to wait for: the bytes lie in one block of tracked memory, the pages are open
 * for the access, and nothing has been fetched since the last sc_coherence_fetched.  SC_SHARED: devices may have
 * copies, only for an access without SC_WRITE.  SC_OUTSIDE: memory outside of the arena of which there is no mirror.
 * Stores the block; for SC_OUTSIDE the address and 0.  Takes no lock; the bytes are not none. */
enum sc_at_home { SC_NOT_HOME, SC_SHARED, SC_AT_HOME, SC_OUTSIDE };
enum sc_at_home sc_coherence_at_home(const void *ptr, uint64_t bytes, enum sc_access access, uintptr_t *base,
                                     size_t *block_bytes);

/* True when no device has a copy of the bytes, which are not none, and no fetch waits to be counted: the host may read
 * and write them without a fault.  Takes no lock; false where only the lock would tell. */
bool sc_coherence_is_home(const void *ptr, uint64_t bytes);

/* The host's fetches from the matrices of some views since the last question about them; the counts start again from
 * 0. */
struct sc_fetched {
    uint64_t copies, bytes;
    double seconds; /* that the program has waited in faults and acquisitions of these matrices */
    double of_any;  /* that the program has waited in faults and acquisitions of any matrix */
};
void sc_coherence_fetched(const struct sc_view *views, int count, struct sc_fetched *out);

uint64_t sc_coherence_calls(void); /* calls begun so far; takes no lock */

/* --- begin and end ------------------------------------------------------------------------------------------------ */

/* Finds or makes the matrices of a call's operands and takes the protocol's lock until sc_coherence_end.  Views outside
 * of the arena are copied first, as far as the program has written them since the last call, and copied back by end.
 * Empty views are allowed.  SC_ERR_CONFLICT: operands overlap on different lattices; SC_ERR_MEMORY. */
enum sc_status sc_coherence_begin(const struct sc_view *views, int count, struct sc_operand *operands);
/* May wait for the call's own work, and drop the lock meanwhile (keep_open.c). */
void sc_coherence_end(struct sc_operand *operands, int count);

/* Computation of a call: `devices` devices, each with its part, take so many seconds; 0: unknown. */
struct sc_producer {
    double seconds;
    int devices;
};
/* Between begin and end, after the last task: sends results to their expected readers, the host or devices (push.c).
 * producer: of the call; NULL: unknown. */
void sc_coherence_push(const struct sc_operand *operands, int count, const struct sc_producer *producer);
/* Between begin and end: the program's advice on the operand's matrix, until the matrix ends or the next advice.  kept:
 * evicted after all others.  sent: every result goes home. */
void sc_coherence_advise(const struct sc_operand *operand, bool kept, bool sent);
bool sc_coherence_is_sent(const struct sc_operand *operand);
/* Whether push will send a result home, provided that the call writes all of the result. */
bool sc_coherence_goes_home(const struct sc_operand *result);
/* Sends home what the call's tasks have written so far of a result that goes home.  Later tasks write other sectors. */
void sc_coherence_send_home(const struct sc_operand *result);

/* Between begin and end, after the last task: calls done(of) at the end of the wait, of any thread, during which the
 * last work of the call ended (computation and transfers home).  Without such a wait `done` is never called.  One call
 * is watched at a time: a new watch ends the previous watch; done NULL only ends it.  `done` runs with locks held and
 * calls nothing of coherence/. */
void sc_coherence_on_completion(void (*done)(void *of), void *of);

/* --- operands, between begin and end ------------------------------------------------------------------------------ */

/* Cut positions along one dimension: at[0] = 0 < at[1] < ... < at[n] = extent; n parts.  (extent 0: n = 0.) */
#define SC_CUTS_MAX 1024
struct sc_cuts {
    int n;
    int64_t at[SC_CUTS_MAX + 1];
};
/* Tile boundaries inside the operand, relative to its first element.  Vectors have row cuts only (elements counted from
 * the lowest address). */
void sc_coherence_row_cuts(const struct sc_operand *operand, struct sc_cuts *cuts);
void sc_coherence_col_cuts(const struct sc_operand *operand, struct sc_cuts *cuts);
/* The column cuts. A matrix in the memory of a known vector has the first columns of the devices' segments instead, and
 * a piece may cross them. */
void sc_coherence_home_cuts(const struct sc_operand *operand, struct sc_cuts *cuts);
/* Copies the cuts that exist. */
static inline void sc_cuts_copy(struct sc_cuts *to, const struct sc_cuts *from)
{
    to->n = from->n;
    for (int i = 0; i <= from->n; i++)
        to->at[i] = from->at[i];
}
/* Adds the positions of `with` to `into`. */
void sc_cuts_merge(struct sc_cuts *into, const struct sc_cuts *with);

/* A vector over a contiguous lattice with several tile rows (a large matrix used as one long vector): the same memory
 * as a rectangle of whole columns, to be walked tile by tile.  False: increment not 1, no whole number of columns, or a
 * single row of tiles. */
bool sc_coherence_as_matrix(const struct sc_operand *vector, struct sc_operand *matrix);
/* rows x cols elements at (r, c) of an operand that is a matrix, as an operand of the same call. */
void sc_coherence_part(const struct sc_operand *operand, int64_t r, int64_t c, int64_t rows, int64_t cols,
                       struct sc_operand *part);
/* The call's tasks touch only one triangle (uplo 'L' or 'U'; diagonal included) of a square operand and of its parts.
 * On a machine with one device only the triangle then travels, in both directions, widened to sectors at the diagonal.
 * Sets `triangle` where that is so. */
void sc_coherence_triangle(struct sc_operand *operand, char uplo);
/* Whether the host has a part of an operand wholly: the host's reads and writes then move no data.  False for
 * operands outside of the arena, of which the call has a copy. */
bool sc_coherence_on_host(const struct sc_operand *operand, const struct sc_view *part);
/* Finds an operand beside those of the call, without making or moving anything.  False: the operand has no matrix, or
 * devices lack a part of the operand.  The host is not read by tasks that read the operand.  Valid while the lock is
 * held. */
bool sc_coherence_find(const struct sc_view *view, struct sc_operand *operand);
/* First column >= c (relative) at which a sector of the operand's tile starts; `cols` when no sector starts there. */
int64_t sc_coherence_next_sector(const struct sc_operand *operand, int64_t c);
/* Elements of a sector of a contiguous vector of n elements: parts of y that a device computes are whole sectors. */
int64_t sc_coherence_segment(int64_t n, enum sc_type type);
/* For a vector: length of the run of elements from `r` on (at most `limit`) whose newest copies are on one device;
 * *device: this device, or SC_HOST when only the host has the run. */
int64_t sc_coherence_run(const struct sc_operand *vector, int64_t r, int64_t limit, int *device);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
