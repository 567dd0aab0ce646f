/* Tasks with kernels of their own, for authors of libraries.
 *
 * A task is a function with regions of the program's memory and the access to each region.  semcache brings the
 * regions to a device, calls the function with addresses on the device, and notes what was written.  The program's
 * arrays stay ordinary arrays: the CPU sees the results at its first touch, and BLAS calls use the same copies.  The
 * interface follows the directives of SemCache++ (section 4.2): an operand with SEMCACHE_READ stands for readGPU
 * before the kernel, SEMCACHE_WRITE for writeGPU after the kernel, SEMCACHE_READWRITE for both.  doc/tasks.md has the
 * memory model and examples.
 *
 * Order.  Tasks, BLAS calls and accesses of the CPU behave as if they were executed one after another in the order of
 * the program, on every device.  Dependences follow from the regions.  No call waits for a kernel.  Tasks of several
 * threads with regions in common need the program's own synchronisation, as ordinary functions do.
 *
 * Errors.  Every function checks its arguments first.  SEMCACHE_ERROR_INVALID comes with a line on stderr that names
 * the argument and the reason, and nothing has changed.
 *
 * SEMCACHE_CHECK=1 refuses regions of freed memory, with a line.  On the host and on emulated devices it also reports
 * functions that write an operand with SEMCACHE_READ, and fills operands with SEMCACHE_WRITE with not-a-number first.
 * Tokens on emulated devices are checked likewise, and a line at the end counts tokens that were never released.
 *
 * Every function is thread safe and works at any time, as those of semcache.h.  No function may be called from a signal
 * handler or from the function of a task.  C99 and C++. */
#ifndef SEMCACHE_TASKS_H
#define SEMCACHE_TASKS_H

#include "semcache/semcache.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- regions ------------------------------------------------------------------------------------------------------ */

/* The host as the place of a task. */
#define SEMCACHE_HOST (-2)

/* Elements [first, first + count) of an array. */
struct semcache_range {
    int64_t first, count;
};

/* A part of an array: `planes` planes of `cols` columns of `rows` elements.  The element (i, j, k) is
 * memory[i + j * ld + k * plane].  A vector has cols = planes = 1, a matrix planes = 1.  A row-major array is described
 * with its last index first.
 *
 * Data on devices is not interpreted: integers of the same size go by the type of the element's size.  A region is a
 * value that the caller owns; the memory behind it must live until the region's last call has returned. */
struct semcache_region {
    size_t size; /* set by the caller: sizeof (struct semcache_region) */
    void *memory;
    enum semcache_type type;
    int64_t rows, cols, planes; /* extents, 0 or more; with an extent of 0 the region is empty */
    int64_t ld;                 /* distance of columns in elements, ld >= rows; unused if cols is 1 */
    int64_t plane;              /* distance of planes in elements, at least one plane; unused if planes is 1 */
    const struct semcache_range *ranges; /* of an irregular region; NULL: a box */
    int64_t range_count;
};

/* Fill *region, including `size`, with the region of n contiguous elements; of a matrix; of a box of an array with
 * three indices.  Nothing is checked before the region's use. */
SEMCACHE_API void semcache_region_1d(struct semcache_region *region, void *memory, enum semcache_type type, int64_t n);
SEMCACHE_API void semcache_region_2d(struct semcache_region *region, void *memory, enum semcache_type type,
                                     int64_t rows, int64_t cols, int64_t ld);
SEMCACHE_API void semcache_region_3d(struct semcache_region *region, void *memory, enum semcache_type type,
                                     int64_t rows, int64_t cols, int64_t planes, int64_t ld, int64_t plane);

/* An irregular region: the elements of `count` ranges of the array at `memory`, 0 to INT32_MAX ranges.  The function of
 * a task sees a vector of the ranges one after the other (rows: the sum of their lengths; the other extents are 1).  A
 * range costs a copy on the device.  Ranges of a written region have no element in common.  The region keeps the
 * pointer: the caller owns the ranges, which must live until the region's last call has returned.  A decomposition
 * takes no irregular region. */
SEMCACHE_API void semcache_region_ranges(struct semcache_region *region, void *memory, enum semcache_type type,
                                         const struct semcache_range *ranges, int64_t count);

/* --- movement ----------------------------------------------------------------------------------------------------- */

/* Starts bringing a region to a device, or with SEMCACHE_HOST to the host, and returns without waiting.  Later tasks,
 * calls and accesses find the data there or on the way; no wait is needed.  The paper's readGPU and PROACT's early
 * transfers are this call.  SEMCACHE_ANY_DEVICE: every tile goes to the device that the distribution gives it to.
 *
 * SEMCACHE_ERROR_NO_DEVICE: there are no devices; not for SEMCACHE_HOST.  SEMCACHE_ERROR_UNSUPPORTED: devices cannot
 * keep this memory.  SEMCACHE_ERROR_MEMORY: the device is full.  After an error the data is where it was. */
SEMCACHE_API enum semcache_status semcache_region_prefetch(const struct semcache_region *region, int place);

/* Waits for the tasks that write the region, and makes the region valid and readable on the host, without the memory
 * between its columns.  Copies on devices stay. */
SEMCACHE_API enum semcache_status semcache_region_wait(const struct semcache_region *region);

/* *bytes: the part of the region that is valid at a place (a device or SEMCACHE_HOST), in bytes; data in transit
 * counts as arrived.  The gaps of a region's copies count as parts of the region. */
SEMCACHE_API enum semcache_status semcache_region_resident(const struct semcache_region *region, int place,
                                                           uint64_t *bytes);

enum semcache_advice {
    SEMCACHE_NORMAL = 0,
    SEMCACHE_READ_MOSTLY = 1, /* starts bringing copies to every device, as if each device read the region */
    SEMCACHE_WRITE_ONCE = 2,  /* the results of tasks and calls are read by the host: each is sent home when done */
    SEMCACHE_KEEP = 3,        /* copies on devices are evicted after all others */
    SEMCACHE_DROP = 4         /* gives up the copies on devices now; results come home first, which waits */
};

/* Advice changes speed, never results.  WRITE_ONCE and KEEP hold for the whole array that the region is a part of,
 * until the next advice other than READ_MOSTLY and DROP, or until the array is freed or used with another shape.
 * NORMAL ends both.  Errors as of semcache_region_prefetch. */
SEMCACHE_API enum semcache_status semcache_advise(const struct semcache_region *region, enum semcache_advice advice);

/* --- decompositions ----------------------------------------------------------------------------------------------- */

enum semcache_cut {
    SEMCACHE_ROWS = 0,    /* ranges of rows */
    SEMCACHE_COLUMNS = 1, /* ranges of columns; of a region of one plane */
    SEMCACHE_PLANES = 2,  /* ranges of planes */
    SEMCACHE_BLOCKS = 3,  /* rectangles of a region of one plane, block-cyclic (ScaLAPACK, XKBLAS) */
    SEMCACHE_OTHER = 4    /* as the function `part` says */
};

/* A rule that divides a region into parts and gives each part to a device.  Parts are numbered from 0.
 *
 * ROWS, COLUMNS, PLANES: `parts` parts of equal extent, rounded up; the last parts may be shorter or empty.  Part p
 * goes to device p modulo `devices`.
 * BLOCKS: parts of block_rows x block_cols, shorter at the ends, numbered down the columns.  The block in row i and
 * column j of blocks goes to device (i modulo grid_rows) * grid_cols + j modulo grid_cols.
 * OTHER: `parts` parts; part(context, whole, p, out, device) fills *out, a part of `whole` with the same distances,
 * and *device. */
struct semcache_decomposition {
    size_t size; /* set by the caller: sizeof (struct semcache_decomposition) */
    enum semcache_cut cut;
    int64_t parts;
    int devices; /* ROWS, COLUMNS, PLANES: number of devices; 0: all open devices */
    int64_t block_rows, block_cols;
    int grid_rows, grid_cols;
    void (*part)(void *context, const struct semcache_region *whole, int64_t p, struct semcache_region *out,
                 int *device);
    void *context;
};

/* Number of parts; 0 for an invalid decomposition or region. */
SEMCACHE_API int64_t semcache_part_count(const struct semcache_decomposition *decomposition,
                                         const struct semcache_region *whole);

/* Part p of a region: *part, and the device of the part, which may be NULL.  halo: the part is extended by so many
 * rows, columns or planes in both directions of the cut (BLOCKS: rows and columns), as far as `whole` reaches.  OTHER
 * takes no halo.  Moves nothing, and opens no device: without devices *device is SEMCACHE_HOST. */
SEMCACHE_API enum semcache_status semcache_part(const struct semcache_decomposition *decomposition,
                                                const struct semcache_region *whole, int64_t p, int64_t halo,
                                                struct semcache_region *part, int *device);

/* Distributes an array: cuts its tiles at the parts, so that tasks on parts and BLAS calls on the array work in place,
 * and starts bringing each part to its device.  XKBLAS has xkblas_distribute_2Dblock_cyclic_async, SemCache++ the
 * aggregate readGPU.  Returns without waiting for transfers to devices.  Tiles of another shape first come home, which
 * waits.  Tiles of a vector are cut at multiples of some thousand elements only.  OTHER does not cut tiles.
 *
 * semcache_region_resident tells what is where afterwards.  Errors as of semcache_region_prefetch. */
SEMCACHE_API enum semcache_status semcache_distribute(const struct semcache_decomposition *decomposition,
                                                      const struct semcache_region *whole);

/* --- functions and operands --------------------------------------------------------------------------------------- */

/* An operand as the function of a task sees it.  Extents and type are those of the region, in the order of the task's
 * operands; memory and distances are those of the copy at the place of the task.  The copy of a region may contain
 * further elements between columns and planes: the function must not write there. */
struct semcache_view {
    void *memory;
    int64_t rows, cols, planes; /* in elements */
    int64_t ld, plane;          /* distances of columns and of planes, in elements */
    enum semcache_type type;
    enum semcache_mode mode;
};

/* Where the function of a task runs. */
struct semcache_place {
    size_t size; /* set by the library */
    int device;  /* 0 to semcache_device_count() - 1, or SEMCACHE_HOST */
    void *stream; /* of a GPU, as its driver names streams (doc/tasks.md); else NULL */
};

/* The function of a task.  `arguments` is a copy of the task's arguments.
 *
 * On a GPU the function is called before semcache_run returns, with the device's primary context current.  The function
 * enqueues kernels and library calls on place->stream, and returns without waiting.  A lock of semcache is held
 * meanwhile: the function must not touch memory that semcache tracks (arrays from malloc and semcache_alloc), and must
 * not call semcache.
 *
 * On the host, and for an emulated device, the function computes.  For an emulated device the call comes later and from
 * another thread: the function uses nothing but its views and its arguments. */
typedef void semcache_function(const struct semcache_place *place, const struct semcache_view *views, int count,
                               void *arguments);

#define SEMCACHE_OPERANDS_MAX 8    /* operands of a task */
#define SEMCACHE_ARGUMENTS_MAX 256 /* bytes of the arguments */

struct semcache_operand {
    const struct semcache_region *region;
    enum semcache_mode mode; /* SEMCACHE_WRITE: the function writes every element and reads none */
};

/* Regions that are written have no element in common with other regions of the task. */
struct semcache_task {
    size_t size; /* set by the caller: sizeof (struct semcache_task) */
    semcache_function *kernel; /* for GPUs; NULL: the task does not run on GPUs */
    semcache_function *host;   /* for the host and emulated devices; NULL: the task runs on GPUs only */
    const struct semcache_operand *operands;
    int count;                 /* of operands: 1 to SEMCACHE_OPERANDS_MAX */
    const void *arguments;     /* copied by semcache_run */
    size_t bytes;              /* of the arguments: 0 to SEMCACHE_ARGUMENTS_MAX */
    int device; /* a device; SEMCACHE_ANY_DEVICE: the device that holds most of the first written region, or of the
                 * first region; SEMCACHE_HOST */
    const char *name; /* in statistics and traces, which know 62 names of up to 31 bytes; NULL: "semcache_run" */
    double host_seconds, device_seconds; /* time of the function; 0: unknown */
};

/* Runs a task.  With SEMCACHE_ANY_DEVICE, both functions and both times, the place is chosen: host_seconds and the
 * fetches of what the host lacks, against device_seconds and the uploads of what the devices lack, at the rate of the
 * host's link.  SEMCACHE_OFFLOAD=always always chooses a device.
 *
 * On a device, returns when the task is enqueued; on the host, when the function has returned.  Opens the
 * devices if necessary.  `ran` receives the place (a device or SEMCACHE_HOST); NULL: not needed.
 *
 * Without devices, when the device has failed or is full, and for regions in memory that devices cannot use, the task
 * runs on the host.  A region in memory that semcache cannot track (stack, small blocks of malloc) is copied to the
 * device and back within the call.  A region that no single tile contains is copied together on the device.
 *
 * SEMCACHE_ERROR_NO_DEVICE: the task must run on the host and has no function for the host.  SEMCACHE_ERROR_DEVICE: a
 * device failed after the function was enqueued; the written regions are undefined.  SEMCACHE_ERROR_INVALID, beyond
 * wrong arguments: the driver refused a kernel of the function, and the written regions are undefined. */
SEMCACHE_API enum semcache_status semcache_run(const struct semcache_task *task, int *ran);

/* --- tokens ------------------------------------------------------------------------------------------------------- */

/* Regions on a device for code that no function of a task can contain, for example Python or a library with streams of
 * its own.  A token has each region contiguous in the device's memory, with the values of the acquire: a private copy,
 * or for SEMCACHE_READ, where possible, the cached memory.  The holder must not write to a region of SEMCACHE_READ.
 *
 * semcache_token_acquire is a step that reads the regions; semcache_token_release is a step that writes them.  Between
 * the two steps semcache holds no lock, and other accesses to the regions see the contents before the release and never
 * wait.  The program must not let another step write an element of the regions in between: the release would
 * overwrite that step's value.  Elements beside the regions may change at any time.  Any code may run in between, also
 * the CPU's accesses and other calls of semcache.
 *
 * A token belongs to the caller.  The same thread or another thread may release it, once. */
struct semcache_token {
    size_t size; /* set by the caller: sizeof (struct semcache_token) */
    uint64_t id; /* set by acquire; 0 after release */
    struct semcache_place place;
    int count; /* of views */
    struct semcache_view views[SEMCACHE_OPERANDS_MAX];
};

/* Takes regions to a place (as `device` of a task).  On a GPU, returns when the copies are enqueued: work on
 * place.stream, or behind an event of place.stream, sees the data.  On the host and on emulated devices, returns when
 * views[i].memory can be read and written by the caller.  Copies of regions with SEMCACHE_WRITE have no defined
 * contents.
 *
 * Without devices, and in all cases in which a task would run on the host, place.device is SEMCACHE_HOST.  There the
 * views of boxes are the regions themselves, and the views of irregular regions are copies.
 * SEMCACHE_ERROR_MEMORY: more than 1024 tokens are held, or there is no host memory. */
SEMCACHE_API enum semcache_status semcache_token_acquire(const struct semcache_operand *operands, int count, int device,
                                                         struct semcache_token *token);

/* Writes the views with SEMCACHE_WRITE or SEMCACHE_READWRITE back to their regions, and ends the token.  On a GPU the
 * release is behind all work enqueued on place.stream; work on other streams must be waited for by place.stream, or be
 * done.  Returns without waiting.
 *
 * SEMCACHE_ERROR_INVALID: the token is not held (released twice), or a region has been freed; nothing was written.
 * SEMCACHE_ERROR_DEVICE: the device failed, or the devices have been closed; written regions are undefined.  The token
 * has ended in every case. */
SEMCACHE_API enum semcache_status semcache_token_release(struct semcache_token *token);

/* Ends a token without writing.  On the host, writes to the views of boxes are in the regions already.  Errors as of
 * release. */
SEMCACHE_API enum semcache_status semcache_token_cancel(struct semcache_token *token);

#ifdef __cplusplus
}
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
