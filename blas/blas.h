/* The BLAS as the program sees it.  The veneers (generated from routines.tab) marshal a call into one struct sc_kernel
 * whose pointers are the program's own, and hand it to sc_blas_offload; all logic is ordinary C behind that. */
#ifndef SC_BLAS_BLAS_H
#define SC_BLAS_BLAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "ops/ops.h"

/* Finds the host BLAS (path or NULL for the default) and fills the table of host routines; never finds ourselves.  On
 * failure one line is logged.  Thread safe, idempotent; called from the library's constructor. */
enum sc_status sc_blas_host_open(const char *path);
/* Gives trace/ the names of the routines, before the host BLAS is open; again does no harm. */
void sc_blas_register_names(void);
const char *sc_blas_host_path(void);
/* "dgemm_", "cblas_dgemm".  Complex functions return by value; integers may have 64 bits. */
void *sc_blas_host_symbol(const char *name);

/* Work below which a routine of level 1, 2, 3 is passed to the host without any look-up: the product of its sizes,
 * about n, m * n, m * n * k (column "work" of routines.tab).  INT64_MAX while there are no devices (the start
 * value), set by libsemcache when devices are expected; 0: every call is looked at. */
extern int64_t sc_blas_small[4];

/* Set by libsemcache: the program passes complex functions (zdotu_, ...) a hidden first argument for the value, as g77
 * and Intel's compilers do, and not gfortran. */
extern bool sc_blas_g77;

/* What names without a 64 mean in this process: 64-bit integers when the BLAS that the program was linked with has them
 * under these names (Debian's libblas64).  Set by sc_blas_host_open.  The veneers pass on what they are given either
 * way, and look at the lower half when they ask whether a call is small: a size beyond may stay on the host. */
extern bool sc_blas_wide;

/* Set by libsemcache: opens the devices, now or meanwhile.  False: no devices, or not yet. */
extern bool (*sc_blas_start)(bool now);

/* Opens them if need be, and if this call makes it worth while (sc_autotuner_opens; op < 0: it does not). */
bool sc_blas_started(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k);
int sc_blas_host_cores(void);
/* After sc_coherence_start: transfers go by the links as they were measured, if they were. */
void sc_blas_links(void);

/* Runs a call on the devices.  routine: its row of routines.tab.  kernel: pointers, leading dimensions and
 * increments are the program's; letters upper case; reductions write *kernel->result before returning.  Returns
 * false when the call is to be run on the host (decided so, invalid arguments, operands that cannot be tracked):
 * nothing has been changed. */
bool sc_blas_offload(int routine, const struct sc_kernel *kernel);

/* For who compares predictions with the clock.  What would be decided on: false when the call would not be looked
 * at. */
struct sc_autotuner_call;
struct sc_autotuner_prediction;
bool sc_blas_predict(const struct sc_kernel *kernel, struct sc_autotuner_call *call,
                     struct sc_autotuner_prediction *prediction);
/* As sc_blas_offload, when the decision is for the devices. */
bool sc_blas_on_devices(const struct sc_kernel *kernel);

/* SEMCACHE_VERIFY: from now on every call that the devices do is done on the host too, and compared.  Set before the
 * first call.  sc_blas_verified, sc_blas_diverged: how many have been, and were further apart than rounding explains.
 */
void sc_blas_verify_start(void);
extern uint64_t sc_blas_verified, sc_blas_diverged;

/* Operand of a call that runs on the host. */
struct sc_blas_operand {
    const void *ptr;
    int64_t rows, cols, ld; /* column-major; a vector of increment i: rows = 1, cols = n, ld = |i| */
    enum sc_type type;
    enum sc_access access;
};
/* Is it in the address space, so that sums and products of its sizes do not overflow? */
bool sc_blas_operand_fits(const struct sc_blas_operand *operand);
/* Brings the operands home in one batch before the host routine touches them page by page; those that do not fit are
 * left to faults. */
void sc_blas_host_operands(const struct sc_blas_operand *operands, int count);

/* Adds the calls that the veneers have passed to the host since the last time to sc_stats.host: to be called before the
 * statistics are read.  Thread safe. */
void sc_blas_counts_collect(void);

#endif
