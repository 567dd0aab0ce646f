/* The device side of the cache: a versioned table of operations, implemented by emulated devices (device/emu, linked
 * in) and by CUDA devices (device/cuda, a module opened at run time).  Adding a kind of device touches one folder.
 *
 * Order.  Each device has a few in-order streams.  A fence names a point of one stream; since streams are in-order, any
 * later point of the same stream implies the earlier one.  Nothing here knows of matrices, validity or policy.
 * Threads.  Every operation may be called from any thread; calls on one stream are ordered by the caller. */
#ifndef SC_DEVICE_DEVICE_H
#define SC_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "base/fence.h"
#include "base/status.h"
#include "base/types.h"

#define SC_DEVICE_ABI 9
/* Result slots of a device.  A reader may lose its processor between waiting for a result and reading it: so many more
 * reductions of other threads would take that processor's absence of a second. */
#define SC_RESULT_SLOTS 65536
#define SC_HOST (-1) /* the host as a location */

/* Copies from other devices have several streams, so that those over different links go on side by side. */
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
/* The one for copies from a device.  In a hypercube of eight, neighbours have different ones. */
static inline enum sc_stream sc_stream_peer(int from)
{
    return (enum sc_stream)(SC_STREAM_PEER + from % SC_PEER_STREAMS);
}

/* A pitched copy of `height` pieces of `width` bytes.  Devices are indices or SC_HOST; at least one is a device. */
struct sc_copy2d {
    void *dst;
    const void *src;
    size_t dst_pitch, src_pitch; /* bytes; >= width unless height <= 1 */
    size_t width, height;
    int dst_device, src_device;
};

struct sc_device_properties {
    char name[128];
    uint64_t memory;        /* bytes usable for caching */
    double gemm_flops;      /* rough double-precision gemm rate, flop/s; a hint */
    double memory_bandwidth; /* bytes/s; a hint */
    double host_bandwidth;  /* bytes/s of the link from the host; a hint */
    double watts_busy, watts_idle; /* 0: not known */
    double host_watts_busy, host_watts_idle; /* of the machine without its devices; 0: not known */
    char identity[128];     /* what else measurements depend on: the driver's version, the place of the device */
    bool emulated;
    bool peer[SC_DEVICES_MAX]; /* direct copies from that device */
    double peer_bandwidth[SC_DEVICES_MAX]; /* bytes/s of these; a hint, 0: not known */
    bool reach[SC_DEVICES_MAX]; /* kernels here can read and write that device's memory (exchange) */
};

/* What a device implementation gets from the library.  Stays valid until close. */
struct sc_device_host {
    const struct sc_config *config;
    void *(*blas_symbol)(const char *name); /* a routine of the host BLAS by its Fortran name ("dgemm_"), or NULL */
    void (*log)(enum sc_log_level level, const char *format, ...);
    void (*thread_enter)(void); /* to be called first on every thread the implementation starts */
};

/* What costs the host time though no device takes part. */
enum sc_host_event {
    SC_HOST_EVENT_NONE,
    SC_HOST_EVENT_FAULT /* a page fault: signal, pager, change of protection */
};

struct sc_device_ops {
    uint32_t abi;  /* SC_DEVICE_ABI */
    uint32_t size; /* sizeof (struct sc_device_ops) */
    const char *name; /* "emu", "cuda" */
    /* How the paths of the driver's files begin, NULL at the end: closefrom and close_range of the program leave them
     * open.  NULL: no such files. */
    const char *const *files;

    /* Opens the devices that `spec` selects ("k20x2:1", "0,2", "" for all); *count <= SC_DEVICES_MAX of them.
     * May be called again after close. */
    enum sc_status (*open)(const struct sc_device_host *host, const char *spec, int *count);
    void (*close)(void);
    enum sc_status (*properties)(int device, struct sc_device_properties *out);

    /* Device memory, at least 256-byte aligned.  Work on any stream that uses it waits for *ready first.  Fails with
     * SC_ERR_DEVICE_MEMORY when full. */
    enum sc_status (*alloc)(int device, size_t bytes, void **memory, struct sc_fence *ready);
    /* Frees once the `count` fences are reached; does not block. */
    void (*free)(int device, void *memory, const struct sc_fence *after, int count);

    /* Makes host memory fit for asynchronous copies that ignore page protection.  Called once for each range, before it
     * is ever protected; ranges do not overlap and no copy crosses two of them. */
    enum sc_status (*pin)(void *base, size_t bytes);
    void (*unpin)(void *base, size_t bytes);

    /* Enqueue.  Copies with the host side in pinned memory work whatever the protection of its pages is. */
    enum sc_status (*copy)(int device, enum sc_stream stream, const struct sc_copy2d *copy);
    enum sc_status (*fill)(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                           size_t height);
    /* Several copies by one kernel on `device`, which reads other devices' memory or the host's (pull) or writes other
     * devices' (push): one end of each copy is on the device, the other is one that it reaches, or its source is in
     * pinned host memory.  No order among the copies.  Nothing has been enqueued after SC_ERR_UNSUPPORTED: one is out
     * of reach.  NULL: no device has such kernels. */
    enum sc_status (*exchange)(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count);
    enum sc_status (*launch)(int device, enum sc_stream stream, const struct sc_kernel *kernel);

    /* Drops what kernels have left in *csr.plan; kernels that use it may still be queued.  NULL: none ever leave
     * anything. */
    void (*forget)(int device, void *plan);

    /* A product of two sparse matrices in device memory.  How many entries it has nobody knows before most of the
     * work is done: hence two steps.  multiply: after everything on COMPUTE; returns when product->nonzeros is known.
     * store: enqueues C's m + 1 positions, its columns, ascending in each row, and its values on COMPUTE, and ends the
     * product, also when it fails; rows NULL: only that.  A and B stay until then.  Both NULL, or SC_ERR_UNSUPPORTED
     * by multiply: not on this device. */
    enum sc_status (*multiply)(int device, struct sc_csr_product *product);
    enum sc_status (*store)(int device, struct sc_csr_product *product, void *rows, void *columns, void *values);

    /* Enqueues a conversion to CSR on COMPUTE.  The source may be freed after that, the CSR has all of it then.
     * SC_ERR_DEVICE_MEMORY: no room for what it needs meanwhile.  NULL, or SC_ERR_UNSUPPORTED: not on this device. */
    enum sc_status (*convert)(int device, const struct sc_csr_conversion *conversion);

    /* The next of a ring of 16-byte slots in pinned host memory, for kernel results and small copies; valid for the
     * next SC_RESULT_SLOTS calls on the device.  NULL on failure. */
    void *(*result_slot)(int device);

    enum sc_status (*mark)(int device, enum sc_stream stream, struct sc_fence *fence); /* everything enqueued so far */
    enum sc_status (*wait)(int device, enum sc_stream stream, struct sc_fence fence);  /* stream waits */
    enum sc_status (*sync)(struct sc_fence fence);                                     /* caller waits; gives errors */
    bool (*done)(struct sc_fence fence);

    double (*virtual_seconds)(void); /* emulated only, else NULL */
    /* Emulated only, else NULL: the virtual time that the host has reached, after one more event on the host. */
    double (*host_clock)(enum sc_host_event event);
    /* Energy that a device has used since some moment.  SC_ERR_UNSUPPORTED: it has no meter.  Meters of real devices
     * move every 20 to 100 ms. */
    enum sc_status (*joules)(int device, double *joules);
};

/* The module's entry point, by this name: returns the table, static. */
typedef const struct sc_device_ops *sc_device_module_entry(void);
#define SC_DEVICE_MODULE_ENTRY "semcache_device_module"

const struct sc_device_ops *sc_device_emu(void);

/* Loads device implementations by setting: "auto", "none", "cuda[:LIST]", "emu:MACHINE[:COUNT]".  On SC_OK *ops may be
 * NULL (none).  Logs the cause and the remedy on failure. */
enum sc_status sc_device_open(const struct sc_device_host *host, const char *setting, const struct sc_device_ops **ops,
                              int *count);

/* True when `setting` could give devices; cheap, starts no driver (for "auto": looks for the driver's files). */
bool sc_device_expected(const char *setting);
/* Why the setting auto finds no device, in words. */
void sc_device_why_none(const struct sc_config *config, char *text, size_t bytes);

/* Looks all routines up, so that kernels take no lock of the loader (base/loader.h).  While nothing else runs here. */
void sc_device_kernel_prepare(void *(*blas_symbol)(const char *name));

/* Runs a kernel record on host addresses with the host BLAS, in the calling thread (device/kernel_host.c; sparse ones
 * with own loops, kernel_sparse.c).  Used by the emulated device and to finish a task whose device failed. */
enum sc_status sc_device_kernel_host(void *(*blas_symbol)(const char *name), const struct sc_kernel *kernel);

/* The same for a product of sparse matrices: first the positions in C (m + 1) and product->nonzeros, then its columns
 * and values.  SC_ERR_MEMORY: none for a row. */
enum sc_status sc_device_product_count(struct sc_csr_product *product, void *rows);
enum sc_status sc_device_product_fill(const struct sc_csr_product *product, const void *rows, void *columns,
                                      void *values);

/* The same for a conversion.  SC_ERR_MEMORY: none for the counts of the rows. */
enum sc_status sc_device_convert(const struct sc_csr_conversion *conversion);

#endif
