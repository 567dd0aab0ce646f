/* What a call on the host leaves behind for the next call of the same shape (blas rule 33). */
#ifndef SC_BLAS_HOME_H
#define SC_BLAS_HOME_H

#include "autotuner/plan.h"
#include "coherence/call.h"

struct sc_blas_home {
    int count;   /* operands; 0: nothing is known */
    int largest; /* the operand whose array has the account */
    enum sc_op op;
    bool shared; /* devices have copies of operands that the call reads: `residency` holds, too */
    unsigned outside; /* bit i: operand i is in memory outside of the arena */
    struct sc_view operand[SC_VIEWS_MAX];
    uint64_t span[SC_VIEWS_MAX]; /* bytes from the first element to the end of the last */
    struct sc_residency residency;
    struct sc_plan_home plan;
};
/* The key of an array: the account of its calls. */
static inline uint64_t sc_blas_array_key(uintptr_t base, size_t bytes)
{
    return ((uint64_t)base ^ (uint64_t)bytes << 20) * UINT64_C(0x9e3779b97f4a7c15) >> 8 | 1;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
