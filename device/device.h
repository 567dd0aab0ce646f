/* The device side of the cache: a versioned table of operations.  Emulated devices (device/emu) are linked in; the
 * other back ends are modules opened at run time (device/backend.h).  device/null is a skeleton of a back end.
 *
 * Order.  A device has a few in-order streams.  A fence names a point of a stream; a later point of the same stream
 * implies every earlier point.  No operation knows of matrices, validity or policy. Threads.  Every operation may be
 * called from any thread; the caller orders calls on the same stream. */
#ifndef SC_DEVICE_DEVICE_H
#define SC_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "base/fence.h"
#include "base/status.h"
#include "ops/ops.h"

#define SC_DEVICE_ABI 19
/* Result slots of a device.  A reader may lose its processor between the wait for a result and the read.  Other threads
 * need about a second to run through the whole ring of slots. */
#define SC_RESULT_SLOTS 65536
#define SC_HOST (-1) /* the host as a location */
#define SC_PLACE_UNIT ((size_t)2 << 20) /* of ranges of one address */
/* A tile is at most this part of a device's memory: a task needs at most three tiles, and transfers run ahead. */
#define SC_TILES_A_DEVICE 8

/* Streams for copies from other devices: several streams, for overlap of copies over different links. */
#define SC_PEER_STREAMS 4
enum sc_stream {
    SC_STREAM_COMPUTE,
    SC_STREAM_H2D,
    SC_STREAM_D2H,
    SC_STREAM_PEER,
    SC_STREAM_EXCHANGE = SC_STREAM_PEER + SC_PEER_STREAMS, /* kernels that copy between devices (exchange) */
    SC_STREAM_MEMORY,
    SC_STREAMS
};
/* The stream for copies from device `from`.  In a hypercube of eight devices, neighbours have different streams. */
static inline enum sc_stream sc_stream_peer(int from)
{
    return (enum sc_stream)(SC_STREAM_PEER + from % SC_PEER_STREAMS);
}

/* A pitched copy of `height` pieces of `width` bytes.  A device is an index or SC_HOST; at least one end is on a
 * device. */
struct sc_copy2d {
    void *dst;
    const void *src;
    size_t dst_pitch, src_pitch; /* bytes; >= width unless height <= 1 */
    size_t width, height;
    int dst_device, src_device;
};

#define SC_SOLVE_ROWS 256
struct sc_device_properties {
    char name[128];
    uint64_t memory;        /* bytes usable for caching */
    double gemm_flops;      /* rough double-precision gemm rate, flop/s; a hint */
    double memory_bandwidth; /* bytes/s; a hint */
    double host_bandwidth;  /* bytes/s of the link from the host; a hint */
    double solve;           /* s of trsm for each SC_SOLVE_ROWS rows of the triangle, beside the products, for any
                             * number of right sides; a hint, 0: not known */
    double watts_busy, watts_idle; /* 0: not known */
    double host_watts_busy, host_watts_idle; /* of the machine without its devices; 0: not known */
    char identity[128];     /* other inputs of measurements: driver version, bus address */
    bool emulated;
    int ordinal;            /* number of the device in its maker's runtime */
    bool peer[SC_DEVICES_MAX]; /* direct copies from device i to this device */
    double peer_bandwidth[SC_DEVICES_MAX]; /* bytes/s of direct copies from device i; a hint, 0: not known */
    bool reach[SC_DEVICES_MAX]; /* kernels on this device can access the memory of device i (exchange) */
};

/* Services of the library for a device implementation.  Valid until close. */
struct sc_device_host {
    const struct sc_config *config;
    void *(*blas_symbol)(const char *name); /* a routine of the host BLAS by its Fortran name ("dgemm_"), or NULL */
    void (*log)(enum sc_log_level level, const char *format, ...);
    void (*thread_enter)(void); /* every thread of the implementation calls this first */
    bool (*unwanted)(void);     /* the process ends: an opening may fail, without a message; NULL: never */
};
static inline bool sc_device_is_unwanted(const struct sc_device_host *host)
{
    return host->unwanted && host->unwanted();
}

/* Events that take host time without a device. */
enum sc_host_event {
    SC_HOST_EVENT_NONE,
    SC_HOST_EVENT_FAULT, /* a page fault: signal, pager, change of protection */
    SC_HOST_EVENT_LOOK   /* a sleep between two looks at fences */
};

/* A function of the program that enqueues kernels of its own. */
struct sc_device_call {
    void (*run)(int device, void *stream, void *record);
    void *record;     /* argument of `run`, for devices that call at once; others call with a copy */
    size_t bytes;     /* of the record, which contains no pointer to itself */
    uint64_t traffic; /* between device memory and processors, for the clocks of emulated devices */
};

struct sc_device_ops {
    uint32_t abi;  /* SC_DEVICE_ABI */
    uint32_t size; /* sizeof (struct sc_device_ops) */
    const char *name; /* of the back end: "emu" */
    /* Path prefixes of the driver's files, ended by NULL: the program's closefrom and close_range leave these files
     * open.  NULL: no prefixes. */
    const char *const *files;

    /* Opens the devices selected by `spec` ("k20x2:1", "0,2", "" for all) and sets *count <= SC_DEVICES_MAX.  May be
     * called again after close. */
    enum sc_status (*open)(const struct sc_device_host *host, const char *spec, int *count);
    void (*close)(void);
    enum sc_status (*properties)(int device, struct sc_device_properties *out);

    /* Allocates device memory, aligned to at least 256 bytes.  Work on the memory, on any stream, must wait for *ready
     * first. SC_ERR_DEVICE_MEMORY: the device is full. */
    enum sc_status (*alloc)(int device, size_t bytes, void **memory, struct sc_fence *ready);
    /* Frees the memory once the `count` fences are reached; does not block. */
    void (*free)(int device, void *memory, const struct sc_fence *after, int count);

    /* Makes host memory fit for asynchronous copies that ignore page protection.  Called once for a range, before the
     * range is ever protected.  Ranges do not overlap, and no copy crosses a border between two ranges. */
    enum sc_status (*pin)(void *base, size_t bytes);
    void (*unpin)(void *base, size_t bytes);

    /* One address for the host's memory and a device's.  All seven are NULL, or none.
     *
     * zone: chooses and reserves addresses for memory of devices, for ever; *base is a multiple of SC_PLACE_UNIT.  The
     * caller maps memory of the host over parts of the zone; the host's memory stays unknown to the devices.
     * SC_ERR_UNSUPPORTED: the driver refuses; it may accept fewer bytes.  Not called again after a success.
     * reserve: makes a part of the zone a range, in multiples of SC_PLACE_UNIT.
     * unreserve: ends a range, or the last part of one, and frees the device's memory in the whole range.
     * spare: frees memory without users for other users of the device, at least `bytes` bytes if there are as many.
     * room: bytes for ranges on the device, once all other memory of the library there is free.
     * place: as alloc, at an address of a range; free frees the memory.  SC_ERR_UNSUPPORTED: the address lies in no
     * range, or another device has memory in the range.
     * idle: waits for all work on the device, the work of the program included; called without locks.
     * behind: the program's later work on a stream of its own (in the maker's runtime) waits for the fence; NULL, or
     * SC_ERR_UNSUPPORTED: not on this stream. */
    enum sc_status (*zone)(size_t bytes, void **base);
    enum sc_status (*reserve)(void *base, size_t bytes);
    void (*unreserve)(void *base, size_t bytes);
    enum sc_status (*place)(int device, void *memory, size_t bytes, struct sc_fence *ready);
    void (*spare)(int device, uint64_t bytes);
    enum sc_status (*room)(int device, uint64_t *bytes);
    enum sc_status (*idle)(int device);
    enum sc_status (*behind)(int device, void *stream, struct sc_fence fence);

    /* Enqueues the operation.  A copy from or to pinned host memory works under any page protection. */
    enum sc_status (*copy)(int device, enum sc_stream stream, const struct sc_copy2d *copy);
    enum sc_status (*fill)(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                           size_t height);
    /* Enqueues several copies as one kernel on `device`.  Pull: the kernel reads memory of reachable devices or pinned
     * host memory and writes its own.  Push: the kernel reads its own memory and writes memory of reachable devices.
     * The copies have no order.  SC_ERR_UNSUPPORTED: an end is out of reach, and nothing was enqueued.  NULL: no device
     * has exchange kernels. */
    enum sc_status (*exchange)(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count);
    /* Whether the devices have an operation in a type; calls of all others run on the host, and move nothing.  NULL:
     * they have all operations. */
    bool (*runs)(enum sc_op op, enum sc_type type);
    /* SC_ERR_UNSUPPORTED: not this kernel; the host fetches its operands and does it.  Items of a batch are copied. */
    enum sc_status (*launch)(int device, enum sc_stream stream, const struct sc_kernel *kernel);
    /* Whether a launch of the kernel is one step that only a failing device refuses, and that may be tried again when
     * memory was short.  Such a launch may be submitted later, by another thread (device/submit.h).  NULL: no kernel
     * is. */
    bool (*certain)(int device, enum sc_stream stream, const struct sc_kernel *kernel);
    /* Calls call->run in the order of the stream.  A real device calls at once, with the device's context current and
     * the driver's stream: the function enqueues kernels there.  An emulated device calls with stream NULL when the
     * stream gets there: the function is the kernel.  SC_ERR_INVALID: the function has enqueued a kernel that the
     * driver refused.  NULL: not on these devices. */
    enum sc_status (*call)(int device, enum sc_stream stream, const struct sc_device_call *call);

    /* Drops the analysis left by kernels in *csr.plan; kernels that use the analysis may still be queued.  NULL:
     * kernels never leave an analysis. */
    void (*forget)(int device, void *plan);

    /* A product of two sparse matrices in device memory, in two steps, because the number of entries of C is known only
     * after most of the work.
     *
     * multiply: runs after all work on COMPUTE, and returns when product->nonzeros is known. store: enqueues the m + 1
     * row starts of C, its columns (ascending within a row) and its values on COMPUTE, then ends the product, also on
     * failure.  With rows NULL, store only ends the product.  A and B must live until store. Both NULL, or
     * SC_ERR_UNSUPPORTED by multiply: not on this device. */
    enum sc_status (*multiply)(int device, struct sc_csr_product *product);
    enum sc_status (*store)(int device, struct sc_csr_product *product, void *rows, void *columns, void *values);

    /* Enqueues a conversion to CSR on COMPUTE.  The source may be freed after the conversion.  SC_ERR_DEVICE_MEMORY: no
     * room for temporary data.  NULL, or SC_ERR_UNSUPPORTED: not on this device. */
    enum sc_status (*convert)(int device, const struct sc_csr_conversion *conversion);

    /* The next slot, 16 bytes of pinned host memory, in a ring for kernel results and small copies.  Valid during the
     * next SC_RESULT_SLOTS calls on the device.  NULL on failure. */
    void *(*result_slot)(int device);

    enum sc_status (*mark)(int device, enum sc_stream stream, struct sc_fence *fence); /* all work so far */
    enum sc_status (*wait)(int device, enum sc_stream stream, struct sc_fence fence);  /* by the stream */
    enum sc_status (*sync)(struct sc_fence fence);                                     /* by the caller; gives errors */
    bool (*done)(struct sc_fence fence);

    double (*virtual_seconds)(void); /* emulated devices only, else NULL */
    /* Adds an event on the host and returns the host's virtual time.  NULL except for emulated devices. */
    double (*host_clock)(enum sc_host_event event);
    /* Energy used by the device since an arbitrary origin.  SC_ERR_UNSUPPORTED: no meter.  The meters of real devices
     * advance every 20 to 100 ms. */
    enum sc_status (*joules)(int device, double *joules);
};

/* The entry point of the module, found by name; returns a static table. */
typedef const struct sc_device_ops *sc_device_module_entry(void);
#define SC_DEVICE_MODULE_ENTRY "semcache_device_module"

const struct sc_device_ops *sc_device_emu(void);

/* Opens the devices of a setting: "auto", "none", or a back end (SC_DEVICE_VALUES in device/backend.h).  On SC_OK,
 * *ops is NULL if there are no devices.  Logs cause and remedy on failure. */
enum sc_status sc_device_open(const struct sc_device_host *host, const char *setting, const struct sc_device_ops **ops,
                              int *count);

/* Whether the form of `setting` is allowed.  Opening the devices shows whether they exist. */
bool sc_device_setting_fits(const char *setting);
/* Bytes of address space (ulimit -v) with which every back end can be opened. */
uint64_t sc_device_least_space(void);
/* The back end that "auto" tries first on this machine, as a setting; NULL: none. */
const char *sc_device_of_auto(void);
/* Whether `setting` could give devices.  Cheap: starts no driver; "auto" only looks for drivers' files. */
bool sc_device_expected(const char *setting);
/* What is missing for the setting "auto": a machine with such devices, the module, or a usable device. */
enum sc_device_lack { SC_LACK_MACHINE, SC_LACK_MODULE, SC_LACK_DEVICE };
/* Writes to `text` why the setting "auto" finds no device.  Starts no driver. */
enum sc_device_lack sc_device_why_none(const struct sc_config *config, char *text, size_t bytes);

/* Looks up all routines, so that kernels never take the loader's lock (base/loader.h).  Call while no kernel runs on
 * the host. */
void sc_device_kernel_prepare(void *(*blas_symbol)(const char *name));

/* Whether sc_device_kernel_host can run an operation.  Looks up a routine of LAPACK the first time; the kernel finds it
 * without the loader's lock.  Called without locks. */
bool sc_device_kernel_has(void *(*blas_symbol)(const char *name), enum sc_op op, enum sc_type type);

/* Runs a kernel record on host addresses in the calling thread: dense operations with the host BLAS (kernel_host.c),
 * sparse operations with loops (kernel_sparse.c), routines of LAPACK with the host's LAPACK (kernel_lapack.c).  Used by
 * emulated devices, and to finish a task after a device failure. */
enum sc_status sc_device_kernel_host(void *(*blas_symbol)(const char *name), const struct sc_kernel *kernel);

/* Rows of the square operand A of symm, trmm and trsm. */
static inline int64_t sc_side_order(char side, int64_t m, int64_t n) { return side == 'R' ? n : m; }

/* Seconds of the solves along the triangle of trsm, the same for any number of right sides; 0 for other operations.
 * solve: of the device's properties. */
static inline double sc_solve_seconds(enum sc_op op, char side, int64_t m, int64_t n, double solve)
{
    return op == SC_OP_TRSM ? (double)sc_side_order(side, m, n) / SC_SOLVE_ROWS * solve : 0;
}

/* Seconds of a row of the chain of a sparse triangular solve: a device waits for the row before.  2.6e-6 on an H200
 * with short rows (ILU of a 5-point Laplacian, chain of 1399), 5e-6 to 9e-6 with thousands of rows at a time. */
#define SC_CHAIN_SECONDS 3e-6

/* Seconds of a LAPACK routine with resident operands on a device, by the real operations of the call and the rate of
 * the device's matrix products in the type. */
double sc_device_lapack_seconds(enum sc_op op, double flops, double gemm_flops);

/* A product of sparse matrices on host addresses.  count: computes the m + 1 row starts of C and product->nonzeros.
 * fill: computes columns and values.  SC_ERR_MEMORY: no memory for a row. */
enum sc_status sc_device_product_count(struct sc_csr_product *product, void *rows);
enum sc_status sc_device_product_fill(const struct sc_csr_product *product, const void *rows, void *columns,
                                      void *values);

/* A conversion to CSR on host addresses.  SC_ERR_MEMORY: no memory for the counts of the rows. */
enum sc_status sc_device_convert(const struct sc_csr_conversion *conversion);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
