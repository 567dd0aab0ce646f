/* The target of the random BLAS test: the fake protocol (blas_fake.c) or the real protocol (blas_real.c). */
#ifndef SC_TESTS_BLAS_RANDOM_H
#define SC_TESTS_BLAS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/ops.h"


/* Deterministic numbers: xorshift64*. */
struct random {
    uint64_t state;
};
static inline uint64_t random_next(struct random *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * UINT64_C(2685821657736338717);
}
static inline int64_t random_below(struct random *r, int64_t n)
{
    return (int64_t)((random_next(r) >> 33) % (uint64_t)n);
}

/* The extent of slot 0, 1, 2 (a, b, c) of a kernel as stored: rows x cols, or a vector of `rows` elements; false when
 * the slot is not used. */
struct slot_shape {
    int64_t rows, cols;
    bool vector;
};
static inline struct slot_shape level2_shape(const struct sc_kernel *k)
{
    if (sc_op_is_packed(k->op))
        return (struct slot_shape){k->n * (k->n + 1) / 2, 1, true};
    if (sc_op_is_banded(k->op))
        return (struct slot_shape){(k->op == SC_OP_GBMV ? k->kl + k->ku : k->k) + 1, k->n, false};
    return (struct slot_shape){k->op == SC_OP_GEMV ? k->m : k->n, k->n, false};
}
/* Whether the slot is a packed matrix, which has no increment. */
static inline bool slot_is_packed(const struct sc_kernel *k, int slot)
{
    bool updates = k->op == SC_OP_SPR || k->op == SC_OP_HPR || k->op == SC_OP_SPR2 || k->op == SC_OP_HPR2;

    return sc_op_is_packed(k->op) && slot == (updates ? 2 : 0);
}
static inline bool slot_shape(const struct sc_kernel *k, int slot, struct slot_shape *s)
{
    bool n = k->transa == 'N', right = k->side == 'R';

    *s = (struct slot_shape){k->n, 1, true};
    switch (k->op) {
    case SC_OP_AXPY: case SC_OP_COPY: case SC_OP_SWAP: case SC_OP_DOT: case SC_OP_DOTC: case SC_OP_DSDOT:
    case SC_OP_AXPBY: case SC_OP_ROT: case SC_OP_ROTM:
        return slot < 2;
    case SC_OP_SCAL: case SC_OP_NRM2: case SC_OP_ASUM: case SC_OP_IAMAX: case SC_OP_IAMIN:
        return slot < 1;
    case SC_OP_GEMV: case SC_OP_GBMV:
        if (slot == 0)
            *s = level2_shape(k);
        else
            s->rows = (slot == 1) == n ? k->n : k->m;
        return true;
    case SC_OP_GER: case SC_OP_GERC:
        *s = slot == 2 ? (struct slot_shape){k->m, k->n, false} : (struct slot_shape){slot ? k->n : k->m, 1, true};
        return true;
    case SC_OP_TRMV: case SC_OP_TRSV: case SC_OP_TBMV: case SC_OP_TBSV: case SC_OP_TPMV: case SC_OP_TPSV:
        if (slot == 0)
            *s = level2_shape(k);
        return slot < 2;
    case SC_OP_SYMV: case SC_OP_HEMV: case SC_OP_SBMV: case SC_OP_HBMV: case SC_OP_SPMV: case SC_OP_HPMV:
        if (slot == 0)
            *s = level2_shape(k);
        return true;
    case SC_OP_SYR: case SC_OP_HER: case SC_OP_SPR: case SC_OP_HPR:
    case SC_OP_SYR2: case SC_OP_HER2: case SC_OP_SPR2: case SC_OP_HPR2:
        if (slot == 2)
            *s = level2_shape(k);
        return slot != 1 || k->op == SC_OP_SYR2 || k->op == SC_OP_HER2 || k->op == SC_OP_SPR2 || k->op == SC_OP_HPR2;
    case SC_OP_GEMM:
        if (slot == 0)
            *s = (struct slot_shape){n ? k->m : k->k, n ? k->k : k->m, false};
        else if (slot == 1)
            *s = (struct slot_shape){k->transb == 'N' ? k->k : k->n, k->transb == 'N' ? k->n : k->k, false};
        else
            *s = (struct slot_shape){k->m, k->n, false};
        return true;
    case SC_OP_SYMM: case SC_OP_HEMM: case SC_OP_TRMM: case SC_OP_TRSM:
        *s = (struct slot_shape){k->m, k->n, false};
        if (slot == 0)
            s->rows = s->cols = right ? k->n : k->m;
        return slot < 2 || (k->op != SC_OP_TRMM && k->op != SC_OP_TRSM);
    case SC_OP_SYRK: case SC_OP_HERK:
        *s = (struct slot_shape){slot == 0 ? (n ? k->n : k->k) : k->n, slot == 0 ? (n ? k->k : k->n) : k->n, false};
        return slot != 1;
    case SC_OP_SYR2K: case SC_OP_HER2K: case SC_OP_GEMMT:
        if (slot == 1 && k->op == SC_OP_GEMMT)
            n = k->transb != 'N'; /* stored as n x k */
        *s = (struct slot_shape){slot == 2 || n ? k->n : k->k, slot == 2 || !n ? k->n : k->k, false};
        return true;
    default:
        return false;
    }
}
static inline void **slot_pointer(struct sc_kernel *k, int slot)
{
    return slot == 0 ? &k->a : slot == 1 ? &k->b : &k->c;
}
static inline int64_t *slot_ld(struct sc_kernel *k, int slot)
{
    return slot == 0 ? &k->lda : slot == 1 ? &k->ldb : &k->ldc;
}

/* A routine of the host BLAS, the reference. */
void *reference_symbol(const char *name);

/* The target. */
void target_start(void);
void target_vary(struct random *r);                /* new tiles, devices... before a call */
void *target_alloc(size_t bytes, struct random *r);
void target_free(void *memory);
bool target_run(const struct sc_kernel *kernel);   /* false: the call was refused without any effect */
int target_errors(void);                           /* number of errors in the target's use so far */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
