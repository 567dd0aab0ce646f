/* Sums that several devices make parts of: each has a temporary, which whoever owns a part of the result adds up. */
#ifndef SC_BLAS_PARTIALS_H
#define SC_BLAS_PARTIALS_H

#include "blas/tasks.h"

struct sc_partials {
    int count;
    int device[SC_DEVICES_MAX];
    void *memory[SC_DEVICES_MAX];
};

/* The number of a device's temporary, or -1. */
int sc_partials_on(const struct sc_partials *p, int device);
/* Gives a device one; its number is p->count - 1 then. */
enum sc_status sc_partials_add(struct sc_partials *p, int device, size_t bytes);
void sc_partials_free(struct sc_partials *p);
/* Bytes [offset, offset + bytes) of number i on the owner; NULL: they cannot be had there.  *staging is to be freed
 * (sc_coherence_temporary_free) if it is not NULL. */
void *sc_partials_at(const struct sc_partials *p, int i, int owner, size_t offset, size_t bytes, void **staging);

#endif
