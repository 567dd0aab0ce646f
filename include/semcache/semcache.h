/* semcache keeps the matrices of BLAS programs on the GPUs between calls.
 *
 * A program does not need this header: the BLAS calls of a program linked against the library, or started with
 * `semcache run`, are offloaded, and its arrays stay ordinary arrays.  The functions below give a program more control.
 *
 * Every function is thread safe and works at any time: before devices are opened, without devices, after shutdown.
 * No function may be called from a signal handler.  Functions return SEMCACHE_OK or the kind of failure; the library
 * also reports a device failure by one line on stderr.  C99 and C++. */
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
    SEMCACHE_ERROR_TOO_LATE = 4,    /* devices have already been opened or closed */
    SEMCACHE_ERROR_UNSUPPORTED = 5, /* devices cannot cache this memory (stack, memory shared with other
                                     * processes...) */
    SEMCACHE_ERROR_DEVICE = 6,      /* a device failed */
    SEMCACHE_ERROR_IO = 7           /* writing failed; errno has the cause */
};

/* A constant string, never NULL. */
SEMCACHE_API const char *semcache_status_name(enum semcache_status status);

/* Version of the loaded library, for example "0.1.0".  SEMCACHE_VERSION_* is the version of this header. */
SEMCACHE_API const char *semcache_version(void);

/* --- start and end (optional) ------------------------------------------------------------------------------------- */

/* Chooses the devices, in the syntax of SEMCACHE_DEVICE and overriding the variable: "auto", "none", or a kind of
 * devices and which of them ("emu:h200x8:2"; doc/settings.md).  Must precede the first offloaded call, else
 * SEMCACHE_ERROR_TOO_LATE.  The string is copied.  Arrays allocated before the first choice other than "none" may
 * stay on the host. */
SEMCACHE_API enum semcache_status semcache_set_device(const char *device);

/* Opens the devices now instead of at the first large call, which may take a second.  Returns SEMCACHE_ERROR_NO_DEVICE
 * without devices.  A second call has no effect. */
SEMCACHE_API enum semcache_status semcache_init(void);

/* Copies all results to the host, closes the devices, writes statistics and trace.  Blocks.  Later calls run on the
 * host, and devices cannot be opened again.  Also runs at exit. */
SEMCACHE_API enum semcache_status semcache_shutdown(void);

/* Number of open devices; 0 before the first offload and after shutdown. */
SEMCACHE_API int semcache_device_count(void);

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Allocates page-aligned memory, not initialised, that devices can cache.  Any size is allowed; large blocks from
 * malloc are equivalent if the program is linked to semcache or preloads it.  Returns NULL without memory.  The caller
 * frees the memory with semcache_free, which waits for device work on the memory. */
SEMCACHE_API void *semcache_alloc(size_t bytes);
SEMCACHE_API void semcache_free(void *memory);

/* Allocates memory for kernels of the caller, page aligned and not initialised.  Where the devices' driver permits it,
 * the memory has one address on the CPU and on a device, and kernels take the host's pointer (semcache_lend).
 * Elsewhere the memory is that of semcache_alloc.  The call opens the devices, which may take a second.
 * Each block takes whole units of 2 MiB on the CPU and on the device: a program shares a block between small arrays.
 * Returns NULL without memory.  The caller frees the memory with semcache_free, and with no other function.  A forked
 * child shares memory of one address with its parent. */
SEMCACHE_API void *semcache_malloc(size_t bytes);

/* Prepares blocks of semcache_malloc for work that the caller starts on a device by itself: a kernel, a graph, a call
 * of a library.  memory: `count` addresses inside the blocks.  device: number of the device in its maker's runtime.
 * What the CPU and calls of semcache have written goes to the device, and the pages close.  Blocks until the data is
 * there.
 *
 * The work may then read and write all of these blocks, in any stream.  Later touches by the CPU and calls of semcache
 * wait for all work of the process on the device.  Each start of work needs a call, because a touch in between has
 * brought data home.  If nothing was touched the call moves nothing.
 *
 * Errors lend nothing, and the caller computes elsewhere.  SEMCACHE_ERROR_NO_DEVICE: there are no devices.
 * SEMCACHE_ERROR_UNSUPPORTED: a block has no address on a device.  SEMCACHE_ERROR_MEMORY: the blocks do not fit on the
 * device together, or the device cannot be used. */
SEMCACHE_API enum semcache_status semcache_lend(int device, const void *const *memory, int count);

enum semcache_mode { SEMCACHE_READ = 1, SEMCACHE_WRITE = 2, SEMCACHE_READWRITE = 3 };

/* Makes [memory, memory + bytes) accessible to the CPU: waits for calls that write the range, fetches the data from the
 * devices, opens the pages.  Blocks.
 *
 * Ordinary access needs no acquire, because the first touch has the same effect; a single acquire is cheaper than many
 * faults.  An acquire is required before memory is passed to the kernel or to another device in a way unseen by
 * semcache. SEMCACHE_READ keeps the copies on the devices; the other modes drop them.  The effect lasts until the next
 * offloaded call with this memory.  For memory unknown to semcache the function has no effect. */
SEMCACHE_API enum semcache_status semcache_acquire(const void *memory, size_t bytes, enum semcache_mode mode);

/* Waits for calls that write [memory, memory + bytes) and makes the range valid on the host, as semcache_acquire does
 * for reading.  NULL: all memory. */
SEMCACHE_API enum semcache_status semcache_sync(const void *memory, size_t bytes);

/* Announces a write to host memory unseen by semcache, before or after the write: by another device, through a second
 * mapping, by another process.  Results present only on a device are first copied to the host; then the devices' copies
 * are dropped.  Call the function before the write if a device may hold a newer result. */
SEMCACHE_API enum semcache_status semcache_invalidate(const void *memory, size_t bytes);

enum semcache_type {
    SEMCACHE_FLOAT32 = 0,
    SEMCACHE_FLOAT64 = 1,
    SEMCACHE_COMPLEX64 = 2, /* pairs of float */
    SEMCACHE_COMPLEX128 = 3
};

#define SEMCACHE_ANY_DEVICE (-1)

/* Starts the upload of a column-major rows x cols matrix with leading dimension ld (in elements, ld >= rows) to a
 * device. SEMCACHE_ANY_DEVICE distributes the matrix as a call would.  A row-major matrix is passed as its transpose.
 * Opens the devices if necessary.  Returns when the upload is enqueued; the matrix may be used at once. */
SEMCACHE_API enum semcache_status semcache_prefetch(const void *memory, int64_t rows, int64_t cols, int64_t ld,
                                                    enum semcache_type type, int device);

/* --- sparse matrices ---------------------------------------------------------------------------------------------- */

/* A handle on a sparse matrix in the caller's CSR arrays.  The devices keep parts of the matrix.  After a write to the
 * arrays, the next product uploads the written data again; no announcement is needed.  Vectors are ordinary arrays, and
 * stay on the devices between these calls and BLAS calls. */
struct semcache_sparse;

/* Creates a handle on a rows x cols matrix.  Row i has entries start[i] - base to start[i + 1] - base - 1 of `columns`
 * and `values`, in any order; entries at the same position are summed.  `start` has rows + 1 integers; `start` and
 * `columns` have integers of index_bytes (4 or 8) counted from `base` (0 or 1).
 *
 * The arrays stay the caller's and must live as long as the handle; a product checks and reads the contents.  Devices
 * cache only large arrays, from semcache_alloc, malloc, or private memory with write detection ("writes outside malloc"
 * in semcache info). */
SEMCACHE_API enum semcache_status semcache_sparse_csr(struct semcache_sparse **matrix, int64_t rows, int64_t cols,
                                                      const void *start, const void *columns, const void *values,
                                                      enum semcache_type type, int index_bytes, int base);

/* y := alpha op(A) x + beta y, with op 'N', 'T' or 'C' (conjugate transpose).  alpha and beta point to scalars of the
 * matrix's type; y is not read if beta is 0.  Returns SEMCACHE_ERROR_INVALID, with a line on stderr and y unchanged, if
 * a column index is out of range or a row ends before its start.  Calls on the same matrix run one after another. */
SEMCACHE_API enum semcache_status semcache_sparse_mv(struct semcache_sparse *matrix, char op, const void *alpha,
                                                     const void *x,
                                                     const void *beta, void *y);

/* Frees the handle and its copies on devices; the caller's arrays stay.  NULL has no effect. */
SEMCACHE_API void semcache_sparse_destroy(struct semcache_sparse *matrix);

/* --- for libraries with loops of their own ------------------------------------------------------------------------ */

/* A library with vector operations or sparse products of its own may try each of them here first.  The functions decide
 * as for a BLAS call.  They return 1 if the devices compute.  Otherwise they return 0: the inputs are unchanged, the
 * operands are at home, and the caller computes.
 *
 * The functions wait for no device and print no line, except for invalid arrays of a matrix.  A scalar is a pair of
 * real and imaginary part, in all types.  Operands that overlap must be the same. */

/* w := alpha x + beta y for contiguous vectors of n elements; y of NULL: w := alpha x.  w may be x or y.  With a scalar
 * of 0 the vector is not read: a device clears w with alpha of 0 and y of NULL. */
SEMCACHE_API int semcache_try_axpby(int64_t n, enum semcache_type type, const double alpha[2], const void *x,
                                    const double beta[2], const void *y, void *w);

/* *result := x^T y, or x^H y if `conjugate`, for contiguous vectors.  The caller waits for the result. */
SEMCACHE_API int semcache_try_dot(int64_t n, enum semcache_type type, int conjugate, const void *x, const void *y,
                                  double result[2]);

/* result[i] := x[i]^T y[i], or x[i]^H y[i] if `conjugate`, for `count` pairs of contiguous vectors of n elements.  The
 * caller waits once for all results.  0: the results are undefined. */
SEMCACHE_API int semcache_try_dots(int64_t n, enum semcache_type type, int conjugate, int count, const void *const x[],
                                   const void *const y[], double result[][2]);

/* *result := the largest absolute value of a contiguous vector of real numbers.  The caller waits for the result. */
SEMCACHE_API int semcache_try_largest(int64_t n, enum semcache_type type, const void *x, double *result);

/* C := alpha op(A) op(B) + beta C, with dense matrices stored by rows; op is 'N', 'T' or 'C'.  With beta of 0 the
 * matrix C is not read. */
struct semcache_product {
    size_t size; /* set by the caller: sizeof (struct semcache_product) */
    enum semcache_type type;
    char op_a, op_b;
    int64_t m, n, k; /* C is m x n, op(A) is m x k */
    double alpha[2], beta[2];
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc; /* distances between rows */
};

SEMCACHE_API int semcache_try_product(const struct semcache_product *product);

/* w := diagonal .* x, element by element, for contiguous vectors.  w must not be an input.  Devices keep a copy of the
 * diagonal, which serves later calls until the diagonal is written. */
SEMCACHE_API int semcache_try_multiply(int64_t n, enum semcache_type type, const void *diagonal, const void *x,
                                       void *w);

/* w := x ./ diagonal + beta w, under the same conditions.  Where the diagonal is 0, the quotient counts as 0. */
SEMCACHE_API int semcache_try_divide(int64_t n, enum semcache_type type, const void *diagonal, const void *x,
                                     const double beta[2], void *w);

enum semcache_sparse_format {
    SEMCACHE_SPARSE_CSR = 0, /* start: rows + 1 positions; index: columns */
    SEMCACHE_SPARSE_CSC = 1, /* start: cols + 1 positions; index: rows */
    SEMCACHE_SPARSE_BSR = 2, /* start: rows / block + 1 positions; index: columns of blocks, each stored by rows */
    SEMCACHE_SPARSE_DIA = 3, /* index: `diagonals` offsets; element (i, i + index[d]) is values[i + d * ld] */
    SEMCACHE_SPARSE_BSR_COLUMNS = 4 /* as BSR, but each block is stored by columns */
};

/* The entries that the arrays store.  Other entries in the arrays of a symmetric matrix are ignored. */
enum semcache_sparse_stored {
    SEMCACHE_SPARSE_ALL = 0,
    SEMCACHE_SPARSE_SYMMETRIC_LOWER = 1, /* one triangle with the diagonal stands for both triangles */
    SEMCACHE_SPARSE_SYMMETRIC_UPPER = 2,
    SEMCACHE_SPARSE_HERMITIAN_LOWER = 3,
    SEMCACHE_SPARSE_HERMITIAN_UPPER = 4
};

/* A sparse matrix in the caller's arrays.  A matrix is known again by the addresses of the arrays. */
struct semcache_sparse_arrays {
    size_t size; /* set by the caller: sizeof (struct semcache_sparse_arrays) */
    enum semcache_sparse_format format;
    enum semcache_type type;
    int index_bytes, base; /* of the integers: 4 or 8 bytes, counted from 0 or 1 */
    int64_t rows, cols;    /* in elements */
    const void *start, *index, *values;
    int64_t block;         /* BSR: rows and columns of a block */
    int64_t diagonals, ld; /* DIA */
    enum semcache_sparse_stored stored;
};

/* C := alpha op(A) B + beta C, with op 'N', 'T' or 'C'.  B and C have `columns` columns, stored by rows with distances
 * ldb and ldc between rows.  With one column they are vectors with increments ldb and ldc. */
SEMCACHE_API int semcache_try_sparse(const struct semcache_sparse_arrays *matrix, char op, int64_t columns,
                                     const double alpha[2], const void *b, int64_t ldb, const double beta[2],
                                     void *c, int64_t ldc);

/* The same with B and C stored by columns, with distances ldb and ldc between columns. */
SEMCACHE_API int semcache_try_sparse_columns(const struct semcache_sparse_arrays *matrix, char op, int64_t columns,
                                             const double alpha[2], const void *b, int64_t ldb, const double beta[2],
                                             void *c, int64_t ldc);

/* y := alpha op(T)^-1 x for contiguous vectors, which may be the same.  T is a triangle of the matrix, uplo 'L' or 'U',
 * with ones on the diagonal if `unit`.  The matrix stores all entries; entries of the other triangle are ignored.  The
 * first offer of a matrix counts the rows that wait for each other, in the time of about one solve: offer a matrix that
 * is used often. */
SEMCACHE_API int semcache_try_solve(const struct semcache_sparse_arrays *matrix, char op, char uplo, int unit,
                                    const double alpha[2], const void *x, void *y);

/* --- statistics --------------------------------------------------------------------------------------------------- */

/* Totals since the start of the process.  h2d: host to devices.  d2h: devices to host.  d2d: between devices. */
struct semcache_statistics {
    size_t size; /* set by the caller: sizeof (struct semcache_statistics) */
    uint64_t calls_offloaded, calls_host;
    uint64_t bytes_h2d, bytes_d2h, bytes_d2d;
    uint64_t transfers_h2d, transfers_d2h, transfers_d2d;
    uint64_t faults_read, faults_write; /* first touches by the CPU of data on a device */
    uint64_t hits, misses;              /* parts of operands found, or not found, on the device that used them */
    uint64_t evictions, reshapes;
    /* Bytes that would move if every offloaded call copied all its operands in and out. */
    uint64_t percall_in, percall_out;
    uint64_t bytes_pushed; /* part of bytes_d2h: copied to the host before the CPU asked */
};

/* Fills the first statistics->size bytes of *statistics, except `size`. */
SEMCACHE_API enum semcache_status semcache_statistics(struct semcache_statistics *statistics);

/* Writes the statistics as JSON, by routine (doc/statistics.md). */
SEMCACHE_API enum semcache_status semcache_statistics_write(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
