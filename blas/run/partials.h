/* Sums that several devices make parts of: each has a temporary, which whoever owns a part of the result adds up. */
#ifndef SC_BLAS_PARTIALS_H
#define SC_BLAS_PARTIALS_H

#include "blas/run/tasks.h"

struct sc_partials {
    int count;
    int device[SC_DEVICES_MAX];
    void *memory[SC_DEVICES_MAX];
    struct sc_fence sent[SC_DEVICES_MAX][SC_DEVICES_MAX]; /* the last of a temporary's copies to each device */
};

/* The number of a device's temporary, or -1. */
int sc_partials_on(const struct sc_partials *p, int device);
/* Gives a device one; its number is p->count - 1 then. */
enum sc_status sc_partials_add(struct sc_partials *p, int device, size_t bytes);
/* Nothing that has been fetched is used any more, or will not be. */
void sc_partials_free(struct sc_partials *p);

/* A part of a temporary on the owner of that part of the result. */
struct sc_partial {
    void *memory; /* NULL: it cannot be had there */
    void *staging; /* what of it is to be freed */
    struct sc_fence sent;
};
/* Bytes [offset, offset + bytes) of number i; on their way.  Ask for many before the first is used: kernels that wait
 * for one copy hold up the copies of what is made after them. */
struct sc_partial sc_partials_fetch(struct sc_partials *p, int i, int owner, size_t offset, size_t bytes);
/* Runs a kernel on the owner that reads it as its `a`.  SC_ERR_DEVICE: it could not be had, and nothing was done. */
enum sc_status sc_partials_task(int owner, const struct sc_partial *part, const struct sc_kernel *kernel,
                                struct sc_piece result);
void sc_partials_drop(int owner, struct sc_partial *part);

#endif
