/* The BLAS as the program sees it.  The veneers (generated from routines.tab) marshal a call into a struct sc_kernel
 * whose pointers are the program's own, and pass it to sc_blas_offload.  Everything behind sc_blas_offload is
 * ordinary C. */
#ifndef SC_BLAS_BLAS_H
#define SC_BLAS_BLAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "ops/ops.h"
#include "trace/trace.h"

/* Finds the host BLAS (path, or NULL for the default) and fills the table of host routines.  Never takes this
 * library itself for the host BLAS.  Logs a line on failure.  Thread safe, idempotent.  Called from the library's
 * constructor. */
enum sc_status sc_blas_host_open(const char *path);
/* Sets sc_blas_wide.  Opens no library beside the program's own BLAS.  Thread safe, idempotent. */
void sc_blas_know_width(void);
/* Gives trace/ the names of the routines, before the host BLAS is open.  Idempotent. */
void sc_blas_register_names(void);
const char *sc_blas_host_path(void);
/* Whether the open host BLAS is known as an optimised BLAS.  False for the reference BLAS and unknown libraries. */
bool sc_blas_host_is_optimised(void);
/* Address of "dgemm_", "cblas_dgemm", ...  in the host BLAS.  Complex functions return by value; integers may have
 * 64 bits. */
void *sc_blas_host_symbol(const char *name);
/* OpenBLAS uses one thread less, if it has a thread on each processor; and all threads again (may be called again).
 * For a thread of the library that works beside the program's calls. */
void sc_blas_host_threads_fewer(void);
void sc_blas_host_threads_all(void);

/* Threshold for small calls, by level (1, 2, 3; 4: LAPACK).  A call whose product of sizes (about n, m * n, m * n * k;
 * column "work" of routines.tab) is below the threshold goes to the host without any look-up.  INT64_MAX, the start
 * value, while there are no devices.  Set by libsemcache when devices are expected.  0: every call is looked up. */
extern int64_t sc_blas_small[5];

/* Set by libsemcache: the program passes complex functions (zdotu_, ...) a hidden first argument for the value, as
 * with g77 and Intel's compilers, and not as with gfortran. */
extern bool sc_blas_g77;

/* Width of integers in names without a 64.  True when the BLAS that the program was linked with has 64-bit integers
 * under these names (Debian's libblas64).  Set by sc_blas_know_width.  The veneers pass all bits on in either case.
 * The gates test the lower half only, so a call with a size beyond 32 bits may count as small and run on the host. */
extern bool sc_blas_wide;

/* Set by libsemcache: opens the devices, now or in the background.  False: there are no devices, or not yet. */
extern bool (*sc_blas_start)(bool now);

/* Opens the devices if they are closed and this call makes opening worthwhile (sc_autotuner_opens).  op < 0: the
 * call does not. */
bool sc_blas_started(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k);
/* The same for a routine of LAPACK, and whether the loading of a library for LAPACK is worthwhile.  A device that is
 * not asked for LAPACK loads nothing. */
bool sc_blas_lapack_started(const struct sc_kernel *kernel);
int sc_blas_host_cores(void);
/* After sc_coherence_start: uses the measured rates of the links for transfers, if there are any. */
void sc_blas_links(void);

/* Runs a call on the devices.  routine: the row of routines.tab.  kernel: pointers, leading dimensions and
 * increments of the program; letters in upper case.  A reduction writes *kernel->result before the return.  Returns
 * false, with nothing changed, when the call must run on the host: by decision, or for invalid or untrackable
 * operands.
 * once: a LAPACK routine makes the call between two steps on the host, and the host uses the operands next.  The call
 * then runs on the devices only if the time of the kernel and of all transfers is less than the time on the host, and
 * the operands are at home and writable after the call.
 * home: NULL; or filled in when the decision for the host holds for later calls of the same shape (home.h),
 * else home->count stays as it was. */
struct sc_blas_home;
bool sc_blas_offload(int routine, const struct sc_kernel *kernel, bool once, struct sc_blas_home *home);

/* The record of products at any places, for sc_blas_offload: the places of the items are addresses, and become
 * distances.  Products have work, and operands that fit the address space.  False: the operands do not lie in three
 * ranges, or results overlap; the items are as before.  The record refers to the items. */
struct sc_batch_items;
bool sc_blas_items_record(struct sc_batch_items *items, enum sc_type type, struct sc_kernel *kernel);

/* Runs a copy of many vectors as one transposition (kernel: OMATCOPY), before the program has asked for all of it:
 * sc_coherence_speculate, with its by_rows, done and number.  0, with nothing changed: the program's own copies go
 * on. */
uint64_t sc_blas_copy_ahead(const struct sc_kernel *kernel, bool by_rows, int64_t done);

/* Whether a call on contiguous vectors belongs on the host by the number of elements alone: no device is faster, and
 * x and y (NULL: none) are at home. */
bool sc_blas_try_stays(enum sc_type type, int64_t n, const void *x, const void *y);

/* For a library with loops of its own: runs SCAL (x only), COPY, AXPY, AXPBY, DOT or DOTC on contiguous vectors, on
 * the devices or not at all.  result: of DOT (x^T y) and DOTC (x^H y), else NULL.  x and y must be different memory,
 * except of a dot product.  caller: an address in the calling library.  Returns false, with nothing written and the
 * operands at home, when the call belongs on the host. */
bool sc_blas_try(enum sc_op op, enum sc_type type, int64_t n, const double alpha[2], const void *x,
                 const double beta[2], void *y, double result[2], const void *caller);

/* result[i] := x[i]^T y[i], or x[i]^H y[i] (SC_OP_DOTC), for `count` pairs of vectors.  The caller waits once for all
 * results.  False: some result is missing. */
bool sc_blas_try_dots(enum sc_op op, enum sc_type type, int64_t n, int count, const void *const x[],
                      const void *const y[], double result[][2], const void *caller);

/* The same for the largest absolute value of a vector of real numbers.  NAN if no element is a number. */
bool sc_blas_try_largest(enum sc_type type, int64_t n, const void *x, double *result, const void *caller);

/* C := alpha op(A) op(B) + beta C, with all matrices stored by rows; op: 'N', 'T' or 'C'. */
struct sc_blas_product {
    char op_a, op_b;
    int64_t m, n, k; /* C is m x n, op(A) m x k */
    double alpha[2], beta[2];
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
};

/* The same for a product of matrices. */
bool sc_blas_try_product(enum sc_type type, const struct sc_blas_product *product, const void *caller);

/* Whether devices have the operation, or those that a routine of LAPACK is made of. */
bool sc_blas_serves(enum sc_op op, enum sc_type type);

/* For comparisons of predictions with measured times: the call and its prediction.  False when the call would not be
 * considered. */
struct sc_autotuner_call;
struct sc_autotuner_prediction;
bool sc_blas_predict(const struct sc_kernel *kernel, struct sc_autotuner_call *call,
                     struct sc_autotuner_prediction *prediction);
/* sc_blas_offload for a call that is already decided for the devices. */
bool sc_blas_on_devices(const struct sc_kernel *kernel);
/* From here on at most `most` sums and norms of the calling thread are enqueued and not awaited.  The addresses of
 * their results stay valid until sc_blas_gathered, which waits and writes the results.  sc_blas_gathered is false if a
 * result is missing.  sc_blas_gather is false, with nothing changed, without memory. */
bool sc_blas_gather(int most);
bool sc_blas_gathered(void);
/* Whether results of this thread are to be collected.  A stop of the devices waits for them: the thread must not wait
 * for the stop. */
bool sc_blas_has_gathered(void);
bool sc_blas_one_by_one(void); /* each call is verified or explained, and ends before the next */
/* The calling thread's next reduction is computed, also when the last one had the same operands. */
void sc_blas_recall_forget(void);

/* SEMCACHE_VERIFY: from now on each call that the devices run also runs on the host, and the results are compared.
 * Called before the first call.  sc_blas_verified counts the compared calls, sc_blas_diverged the calls that differ
 * by more than rounding explains. */
void sc_blas_verify_start(void);
extern uint64_t sc_blas_verified, sc_blas_diverged;

/* Brings the operands home in one batch, before the host routine would touch them page by page.  Operands that do
 * not fit the address space are left to faults. */
void sc_blas_host_operands(const struct sc_view *operands, int count);

/* Counts of the calls that threads made on the host, and the part of their sums that sc_stats.host includes. */
struct sc_blas_count_block {
    uint64_t counts[SC_TRACE_ROUTINES_MAX]; /* first: a thread finds its block by the address of the counts */
    struct sc_blas_count_block *next;       /* set once */
    int used;                               /* by a live thread; atomic */
    void *known;                            /* shapes of calls that the thread has made (veneers/call.c) */
};
extern struct sc_blas_count_block *sc_blas_count_blocks;
extern uint64_t sc_blas_counts_collected[SC_TRACE_ROUTINES_MAX];

/* Adds the veneers' counts of calls on the host since the last collection to sc_stats.host.  Called before the
 * statistics are read.  Thread safe. */
void sc_blas_counts_collect(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
