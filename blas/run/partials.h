/* Sums of which several devices compute parts.  Each device has a temporary, and the owner of a part of the result
 * adds the temporaries up. */
#ifndef SC_BLAS_PARTIALS_H
#define SC_BLAS_PARTIALS_H

#include "blas/run/tasks.h"

struct sc_partials {
    int count;
    int device[SC_DEVICES_MAX];
    void *memory[SC_DEVICES_MAX];
    struct sc_fence sent[SC_DEVICES_MAX][SC_DEVICES_MAX]; /* last copy of a temporary to each device */
};

/* The index of a device's temporary, or -1. */
int sc_partials_on(const struct sc_partials *p, int device);
/* Allocates a temporary on a device; its index is p->count - 1 afterwards. */
enum sc_status sc_partials_add(struct sc_partials *p, int device, size_t bytes);
/* Frees the temporaries after the copies from them. No fetched part may be used afterwards. */
void sc_partials_free(struct sc_partials *p);

/* A part of a temporary, on the owner of the matching part of the result. */
struct sc_partial {
    void *memory; /* NULL: unavailable on the owner */
    void *staging; /* memory to free on the owner, or NULL */
    struct sc_fence sent;
};
/* Bytes [offset, offset + bytes) of temporary i, in transit to the owner.  Fetch many parts before using the first,
 * because a kernel that waits for a copy delays later copies. */
struct sc_partial sc_partials_fetch(struct sc_partials *p, int i, int owner, size_t offset, size_t bytes);
/* Runs a kernel on the owner with the part as its `a`.  SC_ERR_DEVICE: the part was unavailable and nothing was
 * done. */
enum sc_status sc_partials_task(int owner, const struct sc_partial *part, const struct sc_kernel *kernel,
                                struct sc_piece result);
void sc_partials_drop(int owner, struct sc_partial *part);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
