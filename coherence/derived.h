/* Derived copies: device memory whose contents are made of host arrays in a layout of the caller's (a part of a
 * sparse matrix).  The arrays are not changed; a derived copy is good until somebody writes its sources (invariant
 * C9).  All functions are called between begin and end (of no operands, if need be), except send, read, discard and
 * converts.  Used by: blas (derive, changed), sparse. */
#ifndef SC_COHERENCE_DERIVED_H
#define SC_COHERENCE_DERIVED_H

#include "base/lru.h"
#include "coherence/task.h"

/* The struct is the caller's, zeroed at first; callers read its fields, and change the pins only.  `memory` turns NULL
 * when the derived copy is evicted: the caller makes it again. */
struct sc_derived {
    void *memory;
    int device;
    size_t bytes;
    void *plan; /* the device's, for struct sc_csr */
    struct sc_fence ready, used; /* last upload; last kernel that read the copy */
    struct sc_lru lru; /* while there is memory: place among the derived copies of the device; pins */
};

/* --- sources ------------------------------------------------------------------------------------------------------ */

/* From now on a write to the vector (increment 1) by the CPU or a device is noted.  CPU writes to a vector that is
 * staged in a mirror are noted when the next call stages it.  Returns the time now; 0 when pages cannot be closed, or
 * when the vector is staged for this call only. */
uint64_t sc_coherence_derive(const struct sc_operand *vector);
/* Whether elements [first, first + n) may have been written since that time.  In the steady state: two comparisons. */
bool sc_coherence_changed(const struct sc_operand *vector, int64_t first, int64_t n, uint64_t since);
/* The same for elements [*first, *end); true: the range becomes the first run of elements that may be new. */
bool sc_coherence_changed_run(const struct sc_operand *vector, uint64_t since, int64_t *first, int64_t *end);

/* --- memory ------------------------------------------------------------------------------------------------------- */

enum sc_status sc_coherence_derived_make(struct sc_derived *copy, int device, size_t bytes);
/* Frees the memory; of a derived copy without memory the earlier eviction is forgotten. */
void sc_coherence_derived_drop(struct sc_derived *copy);
/* The same without the lock, also while devices are closed. */
void sc_coherence_derived_discard(struct sc_derived *copy);
/* Until its next use the derived copy is evicted before everything else. */
void sc_coherence_derived_spare(struct sc_derived *copy);
/* Frees the plan: values that a solve was analysed with change. */
void sc_coherence_derived_forget(struct sc_derived *copy);

/* --- contents ----------------------------------------------------------------------------------------------------- */

/* Bytes [at, ...) of the derived copy := elements [first, first + n) of a linked vector, from the host or from the
 * device that has them. */
enum sc_status sc_coherence_derived_upload(struct sc_derived *copy, size_t at, const struct sc_operand *vector,
                                           int64_t first, int64_t n);
/* Without the lock: [at, at + bytes) of the derived copy := what fill writes, part by part, into buffers of the
 * library's.  fill may touch user memory.  SC_ERR_DEVICE_MEMORY: evicted meanwhile. */
enum sc_status sc_coherence_derived_send(struct sc_derived *copy, size_t at, size_t bytes,
                                         void (*fill)(void *context, size_t from, size_t bytes,
                                                      void *buffer), void *context);
/* Without the lock: *to := at most 16 bytes of the derived copy, once written.  SC_ERR_DEVICE_MEMORY: evicted. */
enum sc_status sc_coherence_derived_read(struct sc_derived *copy, size_t at, void *to, size_t bytes);

bool sc_coherence_converts(void); /* devices can convert at all */
/* The derived copy's contents := the CSR that its device makes of `source`, which may be dropped afterwards.  The
 * conversion's addresses lie in these two.  Anything but SC_OK: the derived copy has no contents. */
enum sc_status sc_coherence_derived_convert(struct sc_derived *copy, struct sc_derived *source,
                                            const struct sc_csr_conversion *conversion);

/* --- kernels ------------------------------------------------------------------------------------------------------ */

/* Runs a sparse kernel on the derived copy's device; the kernel's a and csr are addresses in the derived copy. x:
 * parts of one operand in one tile, read by the kernel; kernel->b becomes the address of the operand's element 0.  A
 * part on another device alone is copied without the rest of its sectors. y: a piece, which for a vector may be a
 * piece of a matrix's column. x and y may be temporaries (parts = 1).  SC_ERR_DEVICE, SC_ERR_DEVICE_MEMORY: nothing
 * has been written; the kernel is not run on the host. */
enum sc_status sc_coherence_derived_task(struct sc_derived *copy, struct sc_kernel *kernel, const struct sc_piece *x,
                                         int parts, const struct sc_piece *y);

/* A product of two sparse matrices whose derived copies are on one device, in temporaries there; columns and values are
 * NULL when the product has no entries. */
struct sc_product_arrays {
    void *rows, *columns, *values;
};
/* The product's addresses lie in the derived copies; its nonzeros are set.  The caller frees the arrays.  Waits for the
 * device with the lock held: only the device can say how large the product is.  Anything but SC_OK: there are no
 * arrays. */
enum sc_status sc_coherence_derived_multiply(struct sc_derived *a, struct sc_derived *b, struct sc_csr_product *product,
                                             struct sc_product_arrays *out);
void sc_coherence_product_free(int device, const struct sc_product_arrays *arrays); /* as temporary_free */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
