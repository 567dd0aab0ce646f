/* Where a call runs.  Pure functions of the call, the residency of its operands and the machine; the one place where this
 * is decided.  (A simple rule now: doc/decisions.md; prediction over the LinkMap comes behind the same interface.) */
#ifndef SC_AUTOTUNER_AUTOTUNER_H
#define SC_AUTOTUNER_AUTOTUNER_H

#include <stdint.h>

#include "base/config.h"
#include "base/types.h"

struct sc_autotuner_call {
    enum sc_op op;
    enum sc_type type;
    int64_t m, n, k;       /* as in struct sc_kernel */
    uint64_t bytes;        /* of all operands */
    uint64_t device_bytes; /* of those: valid on some device */
    uint64_t device_only;  /* of those: not valid on the host */
    uint64_t untracked;    /* of those: in memory that cannot be tracked */
    int devices;           /* available */
    int emulated;
};

/* 1: run on the devices; 0: on the host. */
int sc_autotuner_offload(const struct sc_autotuner_call *call, enum sc_offload mode);

/* How many devices a matrix of this size is distributed over when it is first seen. */
int sc_autotuner_spread(uint64_t bytes, int devices, enum sc_offload mode);

/* Work (m n k products, or elements of A, or n) below which a call of this level goes to the host without any look-up. */
int64_t sc_autotuner_small(int level);

#endif
