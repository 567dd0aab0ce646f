/* Declarations shared by the files of the CUDA module.  Rules in README.md. */
#ifndef SC_DEVICE_CUDA_INT_H
#define SC_DEVICE_CUDA_INT_H

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <pthread.h>

#include "device/device.h"

enum {
    SC_CUDA_RING = 1024,        /* events per stream; a power of two */
    SC_CUDA_SLOT_BYTES = 16,
    SC_CUDA_SCRATCH = 8 << 20,  /* bytes of scratch memory per stream */
};

struct sc_cuda_stream {
    cudaStream_t stream;
    cublasHandle_t blas;        /* created by the first launch on the stream */
    cusparseHandle_t sparse;    /* created by the first sparse launch */
    struct cusolverDnContext *solver; /* created by the first routine of LAPACK */
    struct cusolverDnParams *solver_params;
    void *workspace;            /* workspace of `blas` */
    /* Behind the workspace: SC_CUDA_SCRATCH bytes for the kernel in progress. */
    void *scratch;
    bool unmarked;              /* work was enqueued after the newest mark */
    uint64_t marked;            /* seq of the newest mark */
    uint64_t completed;         /* every seq up to this is known to be reached; atomic, only grows */
    uint64_t refused;           /* a seq that a query has found not to be reached, and */
    int64_t refused_ns;         /* when; both atomic, and a hint */
    cudaEvent_t events[SC_CUDA_RING]; /* slot s % SC_CUDA_RING holds the event of seq s or of a later one */
};

struct sc_cuda_pool;

struct sc_cuda_device {
    int index, ordinal;         /* number in this library; ordinal in the CUDA runtime */
    CUdevice driver_device;
    CUcontext context;          /* the primary context, retained */
    struct sc_cuda_stream streams[SC_STREAMS];
    struct sc_cuda_pool *pool;
    CUmodule exchange;          /* exchange.c; NULL: not available */
    CUfunction exchange_few, exchange_many;
    CUmodule conversion;        /* convert.c; NULL: not loaded yet */
    CUfunction converting[7];   /* kernels of `conversion` */
    CUmodule dsdot;             /* dsdot.c; NULL: not loaded yet */
    CUfunction dsdot_parts, dsdot_sum;
    CUmodule norm;              /* norm.c; NULL: not loaded yet */
    CUfunction norms[2][SC_TYPES]; /* kernels of `norm`: by columns, by rows */
    CUmodule triangle;          /* triangle.c; NULL: not loaded yet */
    CUfunction triangles[2][SC_TYPES]; /* kernels of `triangle`: solves, turns */
    CUmodule vector;            /* vector.c; NULL: not loaded yet */
    CUfunction vectors[2][SC_TYPES]; /* kernels of `vector`: sums, products */
    CUmodule rows;              /* rows.c; NULL: not loaded yet */
    CUfunction multiplying[4][SC_TYPES]; /* kernels of `rows`: 32 and 64 bits; with several columns */
    CUmodule thin;              /* thin.c; NULL: not loaded yet */
    CUfunction thins[3][SC_TYPES]; /* kernels of `thin`: wide results, sums, and their collection */
    bool reads_host;            /* kernels can read pinned host memory by its host address */
    char *slots;                /* SC_RESULT_SLOTS result slots, pinned */
    unsigned next_slot;         /* atomic */
    size_t max_pitch;           /* of 2-D copies, bytes */
    char address[32];           /* PCI address */
    struct sc_device_properties properties;
};

extern struct sc_cuda_device sc_cuda_devices[SC_DEVICES_MAX];
extern int sc_cuda_count;
extern const struct sc_device_host *sc_cuda_host;

static inline struct sc_cuda_device *sc_cuda_device(int device) { return &sc_cuda_devices[device]; }

/* driver.c: makes the device's context current in this thread for the enclosing block, then restores the previous
 * context.  A program that uses CUDA sees no change, and no unrequested context is created. */
int sc_cuda_enter(const struct sc_cuda_device *d);
void sc_cuda_leave(const int *pushed);
#define SC_CUDA_SCOPE(d) int scope_ __attribute__((cleanup(sc_cuda_leave), unused)) = sc_cuda_enter(d)

enum sc_status sc_cuda_driver_load(void);
/* Stores the address of a driver's function in the function pointer at `function`; false: there is none. */
bool sc_cuda_driver_find(void *function, const char *name);
void sc_cuda_device_name(const struct sc_cuda_device *d, char *name, size_t bytes);
enum sc_status sc_cuda_context_retain(struct sc_cuda_device *d);
void sc_cuda_context_release(struct sc_cuda_device *d);

/* Starts a thread of the module with all signals blocked; false: not started. */
bool sc_cuda_thread(pthread_t *thread, void *(*run)(void *), void *argument);

/* SEMCACHE_LOG=debug: logs the seconds since *since under the name `what`, then sets *since to now. */
void sc_cuda_step(double *since, int device, const char *what);
double sc_cuda_now(void);

/* Kernels built into the module; `image` is the output of nvcc -fatbin.  The device's context must be current. */
enum sc_status sc_cuda_module_load(CUmodule *module, const void *image, const char *name, CUfunction *function);
enum sc_status sc_cuda_module_find(CUmodule module, const char *name, CUfunction *function);
/* Loads a module with all its functions; a loaded module stays, and a refused module is not tried again.
 * SC_ERR_UNSUPPORTED: nothing was loaded. */
enum sc_status sc_cuda_module_load_all(CUmodule *module, const void *image, const char *const *names, int count,
                                       CUfunction *functions);
bool sc_cuda_module_is_loaded(CUmodule module);
void sc_cuda_module_unload(CUmodule module); /* has no effect if the module is not loaded */
enum sc_status sc_cuda_module_launch(CUfunction function, unsigned x, unsigned y, unsigned threads, cudaStream_t stream,
                                     void **arguments);

/* error.c: the status of a CUDA call.  Out of memory is silent, because the caller evicts and tries again.  Any other
 * error is logged once per cause, with the text of the call.  The runtime's last error is cleared. */
enum sc_status sc_cuda_failed(cudaError_t error, const char *call);
enum sc_status sc_cuda_blas_failed(cublasStatus_t error, const char *call);
enum sc_status sc_cuda_sparse_failed(cusparseStatus_t error, const char *call);
enum sc_status sc_cuda_solver_failed(int error, const char *call);
#define SC_CUDA(call)                                                                                         \
    ({                                                                                                        \
        cudaError_t error_ = (call);                                                                          \
        error_ == cudaSuccess ? SC_OK : sc_cuda_failed(error_, #call);                                        \
    })

/* fence.c */
enum sc_status sc_cuda_mark(int device, enum sc_stream stream, struct sc_fence *fence);
enum sc_status sc_cuda_mark_locked(struct sc_cuda_device *d, enum sc_stream stream, struct sc_fence *fence);
/* A mark in the middle of an operation, for memory freed by the operation.  The operation continues to enqueue, so the
 * next mark is a new point. */
enum sc_status sc_cuda_mark_amid(int device, enum sc_stream stream, struct sc_fence *fence);
enum sc_status sc_cuda_wait(int device, enum sc_stream stream, struct sc_fence fence);
enum sc_status sc_cuda_sync(struct sc_fence fence);
bool sc_cuda_done(struct sc_fence fence);
bool sc_cuda_known_done(struct sc_fence fence); /* from cached state: does not ask the driver */
void sc_cuda_fences_close(struct sc_cuda_device *d);

/* Call before every enqueue. */
static inline cudaStream_t sc_cuda_enqueue(struct sc_cuda_device *d, enum sc_stream stream)
{
    __atomic_store_n(&d->streams[stream].unmarked, true, __ATOMIC_RELAXED);
    return d->streams[stream].stream;
}

/* memory.c */
enum sc_status sc_cuda_pool_open(struct sc_cuda_device *d, uint64_t limit);
void sc_cuda_pool_close(struct sc_cuda_device *d);
pthread_mutex_t *sc_cuda_pool_lock(struct sc_cuda_device *d); /* also protects marks on SC_STREAM_MEMORY */
enum sc_status sc_cuda_alloc(int device, size_t bytes, void **memory, struct sc_fence *ready);
void sc_cuda_free(int device, void *memory, const struct sc_fence *after, int count);
/* Counts bytes of memory outside of the pool against the limit on the device's memory. */
enum sc_status sc_cuda_pool_claim(struct sc_cuda_device *d, size_t bytes);
uint64_t sc_cuda_pool_held(struct sc_cuda_device *d); /* bytes taken from the driver */
void sc_cuda_pool_unclaim(struct sc_cuda_device *d, size_t bytes);
/* Returns free blocks to the driver until `need` bytes are back; false if no block was returned. */
bool sc_cuda_pool_trim(struct sc_cuda_device *d, uint64_t need);

/* place.c: memory at the host's addresses */
enum sc_status sc_cuda_zone(size_t bytes, void **base);
enum sc_status sc_cuda_reserve(void *base, size_t bytes);
void sc_cuda_unreserve(void *base, size_t bytes);
void sc_cuda_spare(int device, uint64_t bytes);
enum sc_status sc_cuda_room(int device, uint64_t *bytes);
enum sc_status sc_cuda_place(int device, void *memory, size_t bytes, struct sc_fence *ready);
bool sc_cuda_place_free(void *memory, const struct sc_fence *after, int fences); /* false: not in a reserved range */
bool sc_cuda_places_trim(int device); /* returns memory without users to the driver; false: there was none */
enum sc_status sc_cuda_idle(int device);
enum sc_status sc_cuda_behind(int device, void *stream, struct sc_fence fence);

/* Temporary memory for an operation on COMPUTE.  Freed memory becomes reusable after all work enqueued so far.
 * memory[i] may be NULL. */
enum sc_status sc_cuda_work_alloc(int device, size_t bytes, void **memory);
void sc_cuda_work_free(int device, void *const *memory, int count);

/* copy.c */
enum sc_status sc_cuda_slots_open(struct sc_cuda_device *d);
void sc_cuda_slots_close(struct sc_cuda_device *d);
void *sc_cuda_result_slot(int device);
enum sc_status sc_cuda_pin(void *base, size_t bytes);
/* Gives untouched memory its pages, with several threads; changes no byte. */
void sc_cuda_populate(void *base, size_t bytes);
void sc_cuda_unpin(void *base, size_t bytes);
enum sc_status sc_cuda_copy(int device, enum sc_stream stream, const struct sc_copy2d *copy);
enum sc_status sc_cuda_fill(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                            size_t height);

/* exchange.c; open only after the device's peers are enabled. */
void sc_cuda_exchange_open(struct sc_cuda_device *d);
void sc_cuda_exchange_close(struct sc_cuda_device *d);
enum sc_status sc_cuda_exchange(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count);

/* identity.c: the identity of a device (sc_device_properties.identity), and its power meter if present. */
void sc_cuda_identify(struct sc_cuda_device *d);
enum sc_status sc_cuda_joules(int device, double *joules);

/* kernel.c */
enum sc_status sc_cuda_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel);
bool sc_cuda_certain(int device, enum sc_stream stream, const struct sc_kernel *kernel);
enum sc_status sc_cuda_call(int device, enum sc_stream stream, const struct sc_device_call *call);
/* Prepares kernels on SC_STREAM_COMPUTE. */
enum sc_status sc_cuda_kernels_open(struct sc_cuda_device *d);
void sc_cuda_kernels_close(struct sc_cuda_device *d);

/* sparse.c */
enum sc_status sc_cuda_sparse_handle(struct sc_cuda_stream *queue, cusparseHandle_t *handle); /* created if necessary */
void sc_cuda_forget(int device, void *plan);

/* solver.c: LAPACK; requires cuSOLVER's header at build time (SC_CUDA_SOLVER_FILE) and the library at run time. */
bool sc_cuda_runs(enum sc_op op, enum sc_type type);
/* solver_library.c: the handle of a stream, created if necessary.  SC_ERR_UNSUPPORTED: no cuSOLVER. */
enum sc_status sc_cuda_solver_handle(struct sc_cuda_stream *queue);
void sc_cuda_solver_close(struct sc_cuda_stream *queue);

/* multiply.c */
enum sc_status sc_cuda_multiply(int device, struct sc_csr_product *product);
enum sc_status sc_cuda_store(int device, struct sc_csr_product *product, void *rows, void *columns, void *values);

/* convert.c; requires nvcc at build time (SC_CUDA_CONVERT). */
enum sc_status sc_cuda_convert(int device, const struct sc_csr_conversion *conversion);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
