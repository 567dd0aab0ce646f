/* Declarations shared by the files of tasks/. */
#ifndef SC_TASKS_TASKS_INT_H
#define SC_TASKS_TASKS_INT_H

#include "coherence/task.h"
#include "ops/ops.h"
#include "tasks/tasks.h"

/* --- region.c: pure functions ------------------------------------------------------------------------------------- */

bool sc_region_empty(const struct semcache_region *region);
int64_t sc_region_elements(const struct semcache_region *region);

/* A valid region as boxes without gaps between planes: the ranges, the planes, or the region itself.  In the order of
 * the boxes, the elements of a region are contiguous in a compact copy. */
int64_t sc_region_boxes(const struct semcache_region *region);
struct semcache_region sc_region_box(const struct semcache_region *region, int64_t i);
/* The region in a compact copy at `memory`. */
struct semcache_view sc_region_compact(const struct semcache_region *region, enum semcache_mode mode, void *memory);
/* Two ranges of a valid irregular region have an element in common; also without memory for the answer. */
bool sc_region_repeats(const struct semcache_region *region);

/* The smallest view that contains a box, which is valid and not empty.  Planes a whole number of columns apart make
 * one matrix; other planes make a vector.  A region with gaps between its planes is a part of its view: a writer of
 * such a region leaves the rest, and therefore reads the view. */
struct sc_view sc_region_view(const struct semcache_region *region, enum semcache_mode mode);
/* The region for the function, in a copy of its view at `memory` with the leading dimension or increment ld. */
struct semcache_view sc_region_placed(const struct semcache_region *region, enum semcache_mode mode, void *memory,
                                      int64_t ld);
/* Whether two valid regions have an element in common.  Regions with different distances count as overlapping when
 * their extents do; so do written regions with gaps, because their copies contain the gaps. */
bool sc_regions_overlap(const struct semcache_operand *a, const struct semcache_operand *b);

/* --- decompose.c: pure functions of a valid decomposition and region ---------------------------------------------- */

/* Rows, columns or planes of a part; not for BLOCKS and OTHER. */
int64_t sc_decomposition_step(const struct semcache_decomposition *decomposition, const struct semcache_region *whole);

/* --- part.c: an operand of a call, and its pieces in tiles -------------------------------------------------------- */

struct sc_part {
    struct sc_operand whole; /* a vector of whole columns of a matrix counts as a matrix */
    struct sc_cuts rows, cols;
};
void sc_part_divide(struct sc_part *part, const struct sc_operand *operand);
/* The piece in row i and column j of the parts. */
struct sc_piece sc_part_piece(const struct sc_part *part, int i, int j, enum sc_access access);

/* --- run.c -------------------------------------------------------------------------------------------------------- */

bool sc_region_is_freed(const struct semcache_region *region); /* a part of it; of a valid region */
/* A task or a token with this `device` and function for emulated devices (`host`) and GPUs (`gpu`) runs on devices. */
bool sc_tasks_on_devices(int device, bool host, bool gpu);
/* `device`, or for SEMCACHE_ANY_DEVICE the device that holds most of the first written operand. */
int sc_tasks_device(const struct semcache_operand *operands, int count, int device);
/* A sum over the bytes of a view; every element becomes not-a-number first if `clear`.  For SEMCACHE_CHECK=1. */
uint64_t sc_view_sum(const struct semcache_view *view, bool clear);
void sc_view_report_write(const char *function, int operand);

/* --- copies.c ----------------------------------------------------------------------------------------------------- */

/* Copies a region to compact device memory (outwards) or back, box by box.  Without locks. */
enum sc_status sc_copy_region(int device, const struct semcache_region *region, void *memory, bool outwards);
/* The device that holds most of the first box of a region, or its home. */
int sc_copy_where(const struct semcache_region *region);
enum sc_status sc_copy_call(int device, struct sc_own_slot *slots, const struct sc_device_call *call);
/* Leases the region's memory on the device for reading, where the region is contiguous in one tile.  Without locks. */
enum sc_status sc_copy_lease(int device, const struct semcache_region *region, struct sc_lease **lease, void **memory);
void sc_copy_lease_end(struct sc_lease *lease);
/* The stream of a GPU behind whose work copies are complete; an emulated device is waited for, and has no stream. */
enum sc_status sc_copy_reach(int device, void **stream);
/* Device memory for `count` compact copies; sizes of 0 get no memory.  Without locks. */
enum sc_status sc_copy_memory(int device, const size_t *bytes, void **memory, int count);
/* Frees the memory behind all enqueued work; without devices, does nothing.  used: the program may have enqueued work
 * after the library's last work.  Without locks. */
void sc_copy_free(int device, void **memory, int count, bool used);

/* --- hold.c ------------------------------------------------------------------------------------------------------- */

/* Private compact copies of the operands of a token, or of a task with irregular regions.  On a device, a contiguous
 * region that is read is leased instead of copied.  On the host, boxes are in place and irregular regions are copied
 * to memory from malloc. */
struct sc_hold {
    int device, count;
    struct semcache_operand operand[SEMCACHE_OPERANDS_MAX]; /* with the regions below */
    struct semcache_region region[SEMCACHE_OPERANDS_MAX];   /* with ranges of the hold's own */
    struct semcache_view view[SEMCACHE_OPERANDS_MAX];
    void *memory[SEMCACHE_OPERANDS_MAX]; /* to be freed; NULL: none */
    struct sc_lease *lease[SEMCACHE_OPERANDS_MAX]; /* in place of a copy; NULL: none */
};

/* Copies valid operands to a device or to the host.  After an error nothing is held. */
enum sc_status sc_hold_take(struct sc_hold *hold, const struct semcache_operand *operands, int count, int device);
/* Writes back if `write`, and frees. */
enum sc_status sc_hold_give(struct sc_hold *hold, bool write);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
