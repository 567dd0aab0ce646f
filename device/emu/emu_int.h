/* Declarations shared by the files of device/emu.  Order of locks: first emu.c's, then a stream's.  The lock of
 * memory.c is taken alone or after emu.c's. */
#ifndef SC_DEVICE_EMU_EMU_INT_H
#define SC_DEVICE_EMU_EMU_INT_H

#include <signal.h>

#include "device/device.h"
#include "device/emu/machine.h"

/* --- streams.c: queues, workers, fences ------------------------------------------------------------------------- */

enum sc_emu_action {
    SC_EMU_DO_COPY, SC_EMU_DO_EXCHANGE, SC_EMU_DO_FILL, SC_EMU_DO_KERNEL, SC_EMU_DO_CALL, SC_EMU_DO_STORE,
    SC_EMU_DO_CONVERT,
    SC_EMU_DO_WAIT, SC_EMU_DO_UNMAP, SC_EMU_DO_STOP
};

/* `pieces` and `call.record` belong to the caller; the queue keeps a copy. */
struct sc_emu_exchange { const struct sc_copy2d *pieces; int count; };
struct sc_emu_fill { void *memory; size_t pitch, width, height; int byte; };
struct sc_emu_unmap { void *memory; size_t bytes; };
struct sc_emu_store {
    /* Freed after the store, perhaps before the push returns. */
    struct sc_emu_product *product;
    void *rows, *columns, *values;
    /* Size of the product, for use after the push. */
    uint64_t bytes;
};

struct sc_emu_op {
    enum sc_emu_action action;
    bool fails; /* fails instead of running (an injected late fault) */
    bool skips; /* is dropped silently */
    int device; /* SC_EMU_DO_CALL */
    union {
        struct sc_copy2d copy;
        struct sc_emu_exchange exchange;
        struct sc_emu_fill fill;
        struct sc_kernel kernel;
        struct sc_fence fence;
        struct sc_emu_unmap unmap;
        struct sc_emu_store store;
        struct sc_csr_conversion conversion;
        struct sc_device_call call;
    };
    uint64_t seq;
    struct sc_emu_op *next;
};

/* A worker starts with the first operation of its stream.  `run` executes every operation except waits, on the worker
 * or on a waiting thread.  inline_only (timing mode): no threads; operations complete at once without execution. */
void sc_emu_streams_start(int devices, enum sc_status (*run)(const struct sc_emu_op *op), void (*thread_enter)(void),
                          bool inline_only);
/* Drains the queues and joins the threads; a forked child has no threads to join. */
void sc_emu_streams_stop(bool forked);
void sc_emu_streams_jitter(uint64_t seed, unsigned microseconds);

/* Appends a copy of the operation; *seq is set to its number in the stream. */
enum sc_status sc_emu_stream_push(int device, int stream, const struct sc_emu_op *op, uint64_t *seq);
uint64_t sc_emu_stream_last(int device, int stream); /* number of the newest operation, 0 before the first */
bool sc_emu_stream_done(struct sc_fence fence);
/* SC_ERR_DEVICE if the operation, an earlier one in its stream, or one waited for by the stream failed. */
enum sc_status sc_emu_stream_wait(struct sc_fence fence);

/* --- memory.c: device memory, pinned ranges, result slots ------------------------------------------------------- */

enum sc_status sc_emu_memory_start(int devices, const uint64_t *limits, bool virtual_only);
void sc_emu_memory_stop(void);

/* Allocates a block: memory of its own, or reserved addresses in timing mode.  *fresh: the caller fills the block with
 * garbage (a reused block was filled when freed). */
enum sc_status sc_emu_memory_take(int device, size_t bytes, void **memory, size_t *whole, bool *fresh);
/* Frees a block for reuse; the memory stream must separate its old and new users.  False if `memory` is no block.
 * *evicted is an idle block to unmap after all operations enqueued so far, or has bytes = 0. */
bool sc_emu_memory_give(int device, void *memory, size_t *whole, struct sc_emu_unmap *evicted);
void sc_emu_memory_unmap(const struct sc_emu_unmap *block);
bool sc_emu_memory_holds(int device, const void *memory, uint64_t bytes); /* [memory, memory + bytes) lies in one live
                                                                           * block */
uint64_t sc_emu_memory_in_use(int device);

enum sc_status sc_emu_pin(void *base, size_t bytes);
void sc_emu_unpin(void *base, size_t bytes);
bool sc_emu_pinned(const void *base, uint64_t bytes); /* in one pinned range or in the result slots */
void *sc_emu_slot(int device);
bool sc_emu_is_slot(const void *base, uint64_t bytes);

/* --- blas.c: the host BLAS, in an instance of its own ------------------------------------------------------------- */

/* Blocks all asynchronous signals: the program's handlers run on the program's threads only. */
void sc_emu_block_signals(sigset_t *before);
void sc_emu_blas_start(void *(*host_blas)(const char *name), bool computing);
void *sc_emu_blas_symbol(const char *name);

/* --- multiply.c: products of sparse matrices ---------------------------------------------------------------------- */

/* Result of a product's first step (sc_csr_product.work). */
struct sc_emu_product {
    size_t row_bytes, column_bytes, value_bytes;
    char *rows, *columns, *values;
};
/* Every array lies in one block of the device. */
bool sc_emu_product_valid(int device, const struct sc_csr_product *product);
enum sc_status sc_emu_product_make(struct sc_csr_product *product);
uint64_t sc_emu_product_bytes(const struct sc_emu_product *product);
void sc_emu_product_store(const struct sc_emu_store *store); /* copies the product to its destination and frees it */
void sc_emu_product_free(struct sc_emu_product *product);

/* --- convert.c: conversions to CSR -------------------------------------------------------------------------------- */

/* Every array lies in one block of the device. */
bool sc_emu_conversion_valid(int device, const struct sc_csr_conversion *conversion);
uint64_t sc_emu_conversion_bytes(const struct sc_csr_conversion *conversion); /* traffic of a GPU's memory */

/* --- analysis.c: analyses of solves (csr.plan) -------------------------------------------------------------------- */

/* For a solve about to be queued, replaces the record's pointer to the plan by the plan, and creates the plan if
 * necessary. Other kernels are unchanged. */
void sc_emu_plan_queued(struct sc_kernel *kernel);
/* Called before the kernel runs: makes the result not-a-number if the plan was made for other values. */
void sc_emu_plan_apply(struct sc_kernel *kernel);
void sc_emu_plan_forget(int device, void *plan);
void sc_emu_plans_free(void); /* frees all plans; the queues must be empty */

/* --- hostmem.c: host memory under any protection ---------------------------------------------------------------- */

enum sc_status sc_emu_hostmem_start(void);
/* Pitched copies between protected host memory and accessible memory. */
enum sc_status sc_emu_hostmem_read(const struct sc_copy2d *copy);
enum sc_status sc_emu_hostmem_write(const struct sc_copy2d *copy);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
