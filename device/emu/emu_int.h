/* What the files of device/emu share.  Order of locks: emu.c's, then a stream's; memory.c's is taken alone or after
 * emu.c's. */
#ifndef SC_DEVICE_EMU_EMU_INT_H
#define SC_DEVICE_EMU_EMU_INT_H

#include <signal.h>

#include "device/device.h"
#include "device/emu/machine.h"

/* --- streams.c: queues, workers, fences ------------------------------------------------------------------------- */

enum sc_emu_action {
    SC_EMU_DO_COPY, SC_EMU_DO_EXCHANGE, SC_EMU_DO_FILL, SC_EMU_DO_KERNEL, SC_EMU_DO_STORE, SC_EMU_DO_CONVERT,
    SC_EMU_DO_WAIT, SC_EMU_DO_UNMAP, SC_EMU_DO_STOP
};

/* The pieces belong to who enqueues; a queue has its own. */
struct sc_emu_exchange { const struct sc_copy2d *pieces; int count; };
struct sc_emu_fill { void *memory; size_t pitch, width, height; int byte; };
struct sc_emu_unmap { void *memory; size_t bytes; };
struct sc_emu_store {
    struct sc_emu_product *product; /* freed when it has been stored, perhaps before the enqueuer goes on: */
    void *rows, *columns, *values;
    uint64_t bytes; /* so its size is here */
};

struct sc_emu_op {
    enum sc_emu_action action;
    bool fails; /* instead of being done (an injected late fault) */
    bool skips; /* is not done, and nobody tells */
    union {
        struct sc_copy2d copy;
        struct sc_emu_exchange exchange;
        struct sc_emu_fill fill;
        struct sc_kernel kernel;
        struct sc_fence fence;
        struct sc_emu_unmap unmap;
        struct sc_emu_store store;
        struct sc_csr_conversion conversion;
    };
    uint64_t seq;
    struct sc_emu_op *next;
};

/* Workers start when their stream gets its first operation.  `run` does everything but waits, on the worker thread.
 * inline_only (timing mode): no threads, every operation is done at once by not doing it. */
void sc_emu_streams_start(int devices, enum sc_status (*run)(const struct sc_emu_op *op), void (*thread_enter)(void),
                          bool inline_only);
void sc_emu_streams_stop(bool forked); /* drains the queues and joins; in a forked child there are no threads to join */
void sc_emu_streams_jitter(uint64_t seed, unsigned microseconds);

/* Appends a copy of the operation; *seq gets its number in the stream. */
enum sc_status sc_emu_stream_push(int device, int stream, const struct sc_emu_op *op, uint64_t *seq);
uint64_t sc_emu_stream_last(int device, int stream); /* number of the newest operation, 0 before the first */
bool sc_emu_stream_done(struct sc_fence fence);
/* SC_ERR_DEVICE when the operation or one before it in its stream (or one that it waited for) failed. */
enum sc_status sc_emu_stream_wait(struct sc_fence fence);

/* --- memory.c: device memory, pinned ranges, result slots ------------------------------------------------------- */

enum sc_status sc_emu_memory_start(int devices, const uint64_t *limits, bool virtual_only);
void sc_emu_memory_stop(void);

/* A block is real memory of its own, or reserved addresses in timing mode.  *fresh: it has to be filled with garbage
 * (a recycled one was filled when it was freed). */
enum sc_status sc_emu_memory_take(int device, size_t bytes, void **memory, size_t *whole, bool *fresh);
/* Gives a block back for the next take: its users must be kept apart by the memory stream.  False when it is none.
 * *evicted gets an idle block to unmap after everything enqueued so far, or bytes = 0. */
bool sc_emu_memory_give(int device, void *memory, size_t *whole, struct sc_emu_unmap *evicted);
void sc_emu_memory_unmap(const struct sc_emu_unmap *block);
bool sc_emu_memory_holds(int device, const void *memory, uint64_t bytes); /* [memory, +bytes) lies in one live block */
uint64_t sc_emu_memory_in_use(int device);

enum sc_status sc_emu_pin(void *base, size_t bytes);
void sc_emu_unpin(void *base, size_t bytes);
bool sc_emu_pinned(const void *base, uint64_t bytes); /* in one pinned range or in the result slots */
void *sc_emu_slot(int device);
bool sc_emu_is_slot(const void *base, uint64_t bytes);

/* --- blas.c: the host BLAS, in an instance of its own ------------------------------------------------------------- */

/* All but those that a thread raises itself: the program's handlers run on the program's threads. */
void sc_emu_block_signals(sigset_t *before);
void sc_emu_blas_start(void *(*host_blas)(const char *name), bool computing);
void *sc_emu_blas_symbol(const char *name);

/* --- product.c: products of sparse matrices ----------------------------------------------------------------------- */

/* A product as its first step leaves it (sc_csr_product.work). */
struct sc_emu_product {
    size_t row_bytes, column_bytes, value_bytes;
    char *rows, *columns, *values;
};
/* Each array lies in one block of the device. */
bool sc_emu_product_valid(int device, const struct sc_csr_product *product);
enum sc_status sc_emu_product_make(struct sc_csr_product *product);
uint64_t sc_emu_product_bytes(const struct sc_emu_product *product);
void sc_emu_product_store(const struct sc_emu_store *store); /* to where it belongs, and frees it */
void sc_emu_product_free(struct sc_emu_product *product);

/* --- convert.c: conversions to CSR -------------------------------------------------------------------------------- */

/* Each array lies in one block of the device. */
bool sc_emu_conversion_valid(int device, const struct sc_csr_conversion *conversion);
uint64_t sc_emu_conversion_bytes(const struct sc_csr_conversion *conversion); /* that a GPU moves in its memory */

/* --- plan.c: what solves leave in csr.plan ------------------------------------------------------------------------ */

/* Of a solve's record that is about to be queued: the plan, a new one if need be, is put in the place of the caller's
 * pointer to it.  Of other kernels: nothing. */
void sc_emu_plan_queued(struct sc_kernel *kernel);
/* Before it runs: if the plan was made for other values the result will be not-a-number. */
void sc_emu_plan_apply(struct sc_kernel *kernel);
void sc_emu_plan_forget(int device, void *plan);
void sc_emu_plans_free(void); /* all of them, when nothing is queued any more */

/* --- hostmem.c: host memory whatever its protection ------------------------------------------------------------- */

enum sc_status sc_emu_hostmem_start(void);
/* Pitched copies between host memory and plain memory. */
enum sc_status sc_emu_hostmem_read(const struct sc_copy2d *copy);
enum sc_status sc_emu_hostmem_write(const struct sc_copy2d *copy);

#endif
