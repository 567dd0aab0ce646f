/* semcache: keeps the matrices of BLAS programs on the GPUs between calls.
 *
 * A program needs nothing of this: linked against the library, or started with `semcache run`, its BLAS calls are
 * offloaded and its arrays stay ordinary arrays.  These functions are for programs that want to say more.
 *
 * All functions may be called from any thread, and at any time: before devices are opened, without devices, after
 * shutdown.  None may be called from a signal handler.  Each returns SEMCACHE_OK or what was wrong; a failure of a
 * device has been reported by one line on stderr.  C99 and C++. */
#ifndef SEMCACHE_SEMCACHE_H
#define SEMCACHE_SEMCACHE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SEMCACHE_VERSION_MAJOR 0
#define SEMCACHE_VERSION_MINOR 1
#define SEMCACHE_VERSION_PATCH 0

#if defined(__GNUC__)
#define SEMCACHE_API __attribute__((visibility("default")))
#else
#define SEMCACHE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum semcache_status {
    SEMCACHE_OK = 0,
    SEMCACHE_ERROR_INVALID = 1,     /* an argument is wrong */
    SEMCACHE_ERROR_MEMORY = 2,      /* no host or device memory */
    SEMCACHE_ERROR_NO_DEVICE = 3,   /* there are no devices: calls run on the host */
    SEMCACHE_ERROR_TOO_LATE = 4,    /* devices have been opened, or closed, already */
    SEMCACHE_ERROR_UNSUPPORTED = 5, /* this memory cannot be kept on devices (stack, shared with others...) */
    SEMCACHE_ERROR_DEVICE = 6,      /* a device failed */
    SEMCACHE_ERROR_IO = 7           /* writing failed; errno says why */
};

/* A constant string, never NULL. */
SEMCACHE_API const char *semcache_status_name(enum semcache_status status);

/* "0.1.0": of the library that is loaded, where SEMCACHE_VERSION_* are those of this header. */
SEMCACHE_API const char *semcache_version(void);

/* --- start and end (optional) ------------------------------------------------------------------------------------- */

/* Chooses the devices, as SEMCACHE_DEVICE does and instead of it: "auto", "none", "cuda", "cuda:0,2", "emu:h200x8:2".
 * Only before the first call that is offloaded (SEMCACHE_ERROR_TOO_LATE).  The string is copied.  Arrays allocated
 * before the first choice other than "none" may stay on the host. */
SEMCACHE_API enum semcache_status semcache_set_device(const char *device);

/* Opens the devices now instead of at the first large call.  May take a second.  SEMCACHE_ERROR_NO_DEVICE when there
 * are none.  Calling it again does nothing. */
SEMCACHE_API enum semcache_status semcache_init(void);

/* Brings everything home, closes the devices, writes statistics and trace.  Blocks.  From then on calls run on the
 * host; devices cannot be opened again.  Done at exit in any case. */
SEMCACHE_API enum semcache_status semcache_shutdown(void);

/* Number of open devices; 0 before the first offload and after shutdown. */
SEMCACHE_API int semcache_device_count(void);

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Page-aligned memory that can be kept on devices, whatever its size (malloc gives such memory for large sizes where
 * semcache is linked to the program itself or preloaded).  NULL when there is none.  Not initialised.  To be freed by
 * semcache_free, which waits for the work that uses it. */
SEMCACHE_API void *semcache_alloc(size_t bytes);
SEMCACHE_API void semcache_free(void *memory);

enum semcache_mode { SEMCACHE_READ = 1, SEMCACHE_WRITE = 2, SEMCACHE_READWRITE = 3 };

/* Makes [memory, memory + bytes) ready for access by the CPU: waits for the calls that write it, brings it home, opens
 * its pages.  Not needed for correctness (the first touch does it), but one acquire is cheaper than many faults, and
 * memory handed to the kernel or to another device in ways that semcache does not see must be acquired first.
 * SEMCACHE_READ keeps the copies on the devices; the others drop them.  Holds until the next offloaded call that uses
 * the memory.  Blocks.  Memory that semcache does not know needs nothing. */
SEMCACHE_API enum semcache_status semcache_acquire(const void *memory, size_t bytes, enum semcache_mode mode);

/* Waits for the calls that write [memory, memory + bytes) and makes it valid on the host (as semcache_acquire for
 * reading); with memory NULL: everything. */
SEMCACHE_API enum semcache_status semcache_sync(const void *memory, size_t bytes);

/* Says that the host's bytes are about to be changed, or were, in a way that semcache does not see (by another device,
 * through a second mapping, by another process).  Results that only a device has come home first; then the devices'
 * copies are dropped.  So call it before the foreign write if a result may still be on a device. */
SEMCACHE_API enum semcache_status semcache_invalidate(const void *memory, size_t bytes);

enum semcache_type {
    SEMCACHE_FLOAT32 = 0,
    SEMCACHE_FLOAT64 = 1,
    SEMCACHE_COMPLEX64 = 2, /* pairs of float */
    SEMCACHE_COMPLEX128 = 3
};

#define SEMCACHE_ANY_DEVICE (-1)

/* Starts moving a column-major rows x cols matrix with leading dimension ld (in elements, ld >= rows) to a device, or
 * with SEMCACHE_ANY_DEVICE spreads it as a call would; a row-major one is its transpose.  Opens the devices if need be.
 * Returns when enqueued; the matrix may be used at once. */
SEMCACHE_API enum semcache_status semcache_prefetch(const void *memory, int64_t rows, int64_t cols, int64_t ld,
                                                    enum semcache_type type, int device);

/* --- sparse matrices ---------------------------------------------------------------------------------------------- */

/* A handle on a sparse matrix in arrays of the caller's: compressed rows (CSR).  The devices keep parts of it and find
 * out by themselves when the arrays are written: then what was written is uploaded again.  Vectors are ordinary arrays,
 * and stay on the devices between these calls and those of the BLAS. */
struct semcache_sparse;

/* Row i has entries start[i] - base to start[i + 1] - base - 1 of `columns` and `values`, in any order; those of one
 * place are summed.  The integers of start (rows + 1) and columns have index_bytes (4 or 8) and count from `base` (0 or
 * 1).  The arrays have to live as long as the handle; to be kept on devices they have to be large, and of
 * semcache_alloc, malloc, or private memory where writes can be noticed ("writes outside malloc" in semcache info).
 * They are looked at when they are used. */
SEMCACHE_API enum semcache_status semcache_sparse_csr(struct semcache_sparse **matrix, int64_t rows, int64_t cols,
                                                      const void *start, const void *columns, const void *values,
                                                      enum semcache_type type, int index_bytes, int base);

/* y := alpha op(A) x + beta y.  op: 'N', 'T' or 'C' (conjugate transpose).  alpha, beta: scalars of the matrix's type;
 * y is not read when beta is 0.  SEMCACHE_ERROR_INVALID, with a line on stderr, when there is a column that the matrix
 * has not, or a row that ends before it starts; y is then as it was.  Calls on one matrix run one after the other. */
SEMCACHE_API enum semcache_status semcache_sparse_mv(struct semcache_sparse *matrix, char op, const void *alpha,
                                                     const void *x,
                                                     const void *beta, void *y);

/* Frees the handle and what devices have of it, not the arrays.  NULL: nothing. */
SEMCACHE_API void semcache_sparse_destroy(struct semcache_sparse *matrix);

/* --- statistics --------------------------------------------------------------------------------------------------- */

/* Since the start of the process.  h2d: host to devices, d2h: back, d2d: between devices. */
struct semcache_statistics {
    size_t size; /* set by the caller: sizeof (struct semcache_statistics) */
    uint64_t calls_offloaded, calls_host;
    uint64_t bytes_h2d, bytes_d2h, bytes_d2d;
    uint64_t transfers_h2d, transfers_d2h, transfers_d2d;
    uint64_t faults_read, faults_write; /* first touches by the CPU of what was on a device */
    uint64_t hits, misses;              /* pieces of operands that were, or were not, on the device that used them */
    uint64_t evictions, reshapes;
    uint64_t percall_in, percall_out; /* bytes that copying all operands in and out in each offloaded call would move */
    uint64_t bytes_pushed; /* of bytes_d2h: sent home before the CPU asked */
};

/* Fills the first statistics->size bytes of *statistics, but for `size` itself. */
SEMCACHE_API enum semcache_status semcache_statistics(struct semcache_statistics *statistics);

/* Writes them as JSON, by routine (doc/statistics.md). */
SEMCACHE_API enum semcache_status semcache_statistics_write(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
