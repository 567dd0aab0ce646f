/* Kernels on pieces of operands, between begin and end (call.h) with the protocol's lock held, unless noted.
 * Used by: blas, sparse, tasks. */
#ifndef SC_COHERENCE_TASK_H
#define SC_COHERENCE_TASK_H

#include <stddef.h>

#include "coherence/call.h"
#include "device/device.h"

/* A part of an operand that crosses no cut.  Matrix: rows [r, r+rows) x cols [c, c+cols) of the view.  Vector: elements
 * [r, r+rows) counted from the LOWEST ADDRESS (whatever the sign of the increment), c = 0, cols = 1. */
struct sc_piece {
    const struct sc_operand *operand; /* NULL: the temporary below, whose rows are contiguous */
    int64_t r, c, rows, cols;
    enum sc_access access;
    void *temporary;
    int64_t temporary_ld; /* leading dimension or increment */
};

/* --- where a piece is --------------------------------------------------------------------------------------------- */

/* The device to run a kernel on that writes (or mostly reads) this piece: the device with most valid sectors, else the
 * home of the tile. */
int sc_coherence_where(const struct sc_piece *piece);
/* The home device of a piece by distribution alone. */
int sc_coherence_home(const struct sc_piece *piece);
/* Bytes of the piece that are not valid on the device. */
uint64_t sc_coherence_missing(int device, const struct sc_piece *piece);
/* All sectors of the piece are valid on the device, and no kernel waits for their transfer. */
bool sc_coherence_ready(int device, const struct sc_piece *piece);
/* The piece is one contiguous range in a device's memory: its rows * cols elements are a vector of increment 1. */
bool sc_coherence_contiguous(int device, const struct sc_piece *piece);

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* Starts bringing a piece to a device without using it. */
enum sc_status sc_coherence_prefetch(int device, const struct sc_piece *piece);

/* The call's next tasks on the device overwrite a part of the piece without reading it.  The part lies in one triangle
 * of the operand (uplo 'L' or 'U'; diagonal included), or is all of the piece ('A').  Brings the rest of the sectors
 * that the part does not fill.  Tasks that each write some rows of a sector then find valid sectors. */
enum sc_status sc_coherence_claim(int device, const struct sc_piece *piece, char uplo);

/* Of sectors of an announced triangle that the host has, too, the device keeps only the rows of the triangle: if a task
 * then writes the triangle, its rows go home without the others. */
void sc_coherence_keep_triangle(int device, const struct sc_piece *piece);

/* Runs one kernel on a device: acquires the pieces (slots a, b, c of the kernel; operand and temporary NULL: an unused
 * slot), fills in their addresses and leading dimensions, launches, releases; returns when all is enqueued.  The sign
 * of a vector's increment is kept.  A matrix piece in the place of a vector (sc_coherence_as_matrix) must be contiguous
 * and has increment 1.  If the device fails or is full, the kernel runs on the host, which fails only with temporaries:
 * SC_ERR_DEVICE.  A routine of LAPACK never runs on the host here: after a status other than SC_OK nothing has changed.
 * Reductions: *result is the slot to read after sc_coherence_wait(*fence). */
enum sc_status sc_coherence_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[3],
                                 struct sc_fence *fence, void **result);
/* The same without the host: fails when the device fails.  The lock stays held.  fence, result: not NULL. */
enum sc_status sc_coherence_device_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[3],
                                        struct sc_fence *fence, void **result);

/* Runs a kernel on the program's own memory with the host BLAS once its views are home; drops the lock meanwhile. */
enum sc_status sc_coherence_host_task(const struct sc_kernel *kernel, const struct sc_view *views, int count);
/* Runs a kernel on host memory with the host BLAS.  Without the lock. */
enum sc_status sc_coherence_kernel_on_host(const struct sc_kernel *kernel);
/* Waits until the fence is reached.  Without the lock. */
enum sc_status sc_coherence_wait(struct sc_fence fence);
/* Around tasks of several calls and the reading of their results: if another thread stops the devices meanwhile, the
 * results stay until the end.  Without the lock. */
void sc_coherence_results_begin(void);
void sc_coherence_results_end(void);
/* True when the fence is reached, or the device is lost. */
bool sc_coherence_reached(struct sc_fence fence);
/* Waits until a fence of `count` is reached, or a device of theirs is lost; drops the lock meanwhile. */
void sc_coherence_wait_any(const struct sc_fence *fences, int count);

/* --- speculation (speculate.c) ------------------------------------------------------------------------------------ */

/* A program that writes a matrix in steps, a row or a column each, by calls of the BLAS, can be overtaken: a task
 * overwrites the whole matrix with what all steps will have written, and the later steps only count.  Whoever takes the
 * protocol's lock (a fault, another call, a system call on the memory) ends the speculation first: what the program has
 * not yet written gets the host's bytes back, on the device.  One speculation is in progress at a time. */

/* Between begin and end, before the task: whether the operand suits.  The host has all of it, and keeps its bytes. */
bool sc_coherence_may_speculate(const struct sc_operand *operand);
/* After the task that has overwritten the operand: the program itself has written steps 0 ... done - 1.  by_rows: a
 * step is a row of the operand, otherwise a column.  Returns the number of the speculation; 0: there is none, and the
 * operand has the bytes that it had before the task. */
uint64_t sc_coherence_speculate(const struct sc_operand *operand, bool by_rows, int64_t done);
/* The program does step `step`, the next.  False: the speculation has ended, and the step is still to be done.  Without
 * the lock; one thread advances a speculation. */
bool sc_coherence_advance(uint64_t speculation, int64_t step);

/* --- tasks of the program (own_task.c) ---------------------------------------------------------------------------- */

#define SC_OWN_PIECES 8
struct sc_own_slot {
    void *memory;
    int64_t ld; /* leading dimension, or increment of a vector */
};
/* Runs call->run on a device: acquires the pieces, fills in their slots (a part of call->record), calls, releases.  A
 * piece without operand leaves its slot as the caller has set it.  SC_ERR_INVALID: the function's kernel was refused,
 * and the written pieces have undefined contents.  After another failure nothing has changed, and the caller runs the
 * host's function. */
enum sc_status sc_coherence_own_task(int device, const struct sc_piece *pieces, int count, struct sc_own_slot *slots,
                                     const struct sc_device_call *call);
/* The compute stream of a GPU.  Work that the program enqueues there without the library is behind the marks that the
 * library makes after its next question for the stream. */
enum sc_status sc_coherence_own_stream(int device, void **stream);
/* A fence behind all work that is enqueued on the device's compute stream. */
enum sc_status sc_coherence_own_mark(int device, struct sc_fence *fence);
/* Copies a piece to a temporary of the device (outwards; access SC_READ) or back (SC_WRITE).  Columns of the
 * temporary, or elements of a vector, are piece->temporary_ld elements apart. */
enum sc_status sc_coherence_own_copy(int device, const struct sc_piece *piece, void *temporary, bool outwards);
/* Copies the diagonal of a square piece (access SC_READ) to piece->rows contiguous elements of pinned host memory of
 * the library, which are there after the fence. */
enum sc_status sc_coherence_diagonal(int device, const struct sc_piece *piece, void *diagonal, struct sc_fence *fence);

/* The memory of a piece (access SC_READ) on a device, for work of the program behind the compute stream: the piece's
 * elements are contiguous from *memory on, and keep their present values until the lease ends.  Writers of the piece
 * write elsewhere meanwhile.  SC_ERR_UNSUPPORTED: the piece is not contiguous there, or has one address. */
struct sc_lease;
enum sc_status sc_coherence_lease(int device, const struct sc_piece *piece, struct sc_lease **lease, void **memory);
/* Ends a lease behind the program's enqueued work.  Without the lock; also after the devices were closed. */
void sc_coherence_lease_end(struct sc_lease *lease);

/* --- temporaries -------------------------------------------------------------------------------------------------- */

/* Device memory for partial results; evicts where memory is short.  *memory is NULL after a failure. */
enum sc_status sc_coherence_temporary(int device, size_t bytes, void **memory);
/* Frees a temporary once everything enqueued on the device is done. */
void sc_coherence_temporary_free(int device, void *memory);
/* Copies `bytes` between temporaries of two devices, after the source's and before the destination's kernels. */
enum sc_status sc_coherence_temporary_copy(int to, void *dst, int from, const void *src, size_t bytes);
/* The same copy without the destination's wait: temporary_wait follows on the destination before it reads, and on the
 * source before it writes or frees what is sent. */
enum sc_status sc_coherence_temporary_send(int to, void *dst, int from, const void *src, size_t bytes,
                                           struct sc_fence *sent);
/* Kernels that the device enqueues from now on wait for the copy. */
enum sc_status sc_coherence_temporary_wait(int device, struct sc_fence sent);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
