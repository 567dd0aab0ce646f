/* Sparse operations on host addresses: plain loops, by element type and integer type. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/device_int.h"

/* A dense operand: element (i, j) is at[i * row + j * col]. */
struct dense {
    void *at;
    int64_t row, col;
};

/* A row of a product under construction.  seen[j]: the last row with column j, counted from 1. */
struct product_row {
    void *sum, *columns;
    int64_t *seen;
};

#define ELEMENT float
#define REAL float
#define INTEGER int32_t
#define CONJ(x) (x)
#define NAN_OF NAN
#define NAME(x) x##_s32
#include "device/csr_loops.inc"

#define ELEMENT float
#define REAL float
#define INTEGER int64_t
#define CONJ(x) (x)
#define NAN_OF NAN
#define NAME(x) x##_s64
#include "device/csr_loops.inc"

#define ELEMENT double
#define REAL double
#define INTEGER int32_t
#define CONJ(x) (x)
#define NAN_OF ((double)NAN)
#define NAME(x) x##_d32
#include "device/csr_loops.inc"

#define ELEMENT double
#define REAL double
#define INTEGER int64_t
#define CONJ(x) (x)
#define NAN_OF ((double)NAN)
#define NAME(x) x##_d64
#include "device/csr_loops.inc"

#define ELEMENT float complex
#define REAL float
#define COMPLEX
#define INTEGER int32_t
#define CONJ(x) conjf(x)
#define NAN_OF CMPLXF(NAN, NAN)
#define NAME(x) x##_c32
#include "device/csr_loops.inc"

#define ELEMENT float complex
#define REAL float
#define COMPLEX
#define INTEGER int64_t
#define CONJ(x) conjf(x)
#define NAN_OF CMPLXF(NAN, NAN)
#define NAME(x) x##_c64
#include "device/csr_loops.inc"

#define ELEMENT double complex
#define REAL double
#define COMPLEX
#define INTEGER int32_t
#define CONJ(x) conj(x)
#define NAN_OF CMPLX((double)NAN, (double)NAN)
#define NAME(x) x##_z32
#include "device/csr_loops.inc"

#define ELEMENT double complex
#define REAL double
#define COMPLEX
#define INTEGER int64_t
#define CONJ(x) conj(x)
#define NAN_OF CMPLX((double)NAN, (double)NAN)
#define NAME(x) x##_z64
#include "device/csr_loops.inc"

typedef enum sc_status run_fn(const struct sc_kernel *, const struct dense *x, const struct dense *y, int64_t cols);

static bool is_of_vectors(const struct sc_kernel *k) { return k->op == SC_OP_CSRMV || k->op == SC_OP_CSRSV; }

/* The strides of an operand.  For a vector, `ld` is the signed increment. */
static struct dense dense_of(const struct sc_kernel *k, void *at, int64_t n, int64_t ld)
{
    if (is_of_vectors(k))
        return (struct dense){(char *)at + (ld < 0 ? (1 - n) * ld * (int64_t)sc_type_bytes(k->type) : 0), ld, 0};
    return k->transb == 'T' ? (struct dense){at, ld, 1} : (struct dense){at, 1, ld};
}

enum sc_status sc_device_kernel_sparse_check(const struct sc_kernel *k)
{
    bool solves = k->op == SC_OP_CSRSV || k->op == SC_OP_CSRSM;

    if (!sc_op_is_sparse(k->op) || (unsigned)k->type >= SC_TYPES || (k->csr.index_bytes != 4 &&
                                                                     k->csr.index_bytes != 8) ||
        k->m < 0 || k->n < 0 || k->csr.nonzeros < 0 || (solves && k->m != k->n))
        return SC_ERR_INVALID;
    return solves && k->transa != 'N' ? SC_ERR_UNSUPPORTED : SC_OK;
}

enum sc_status sc_device_kernel_sparse(const struct sc_kernel *k)
{
    static run_fn *const run[SC_TYPES][2] = {{run_s32, run_s64}, {run_d32, run_d64}, {run_c32, run_c64}, {run_z32,
                                                                                                          run_z64}};
    enum sc_status status = sc_device_kernel_sparse_check(k);
    bool plain = k->transa == 'N';
    struct dense x = dense_of(k, k->b, plain ? k->n : k->m, k->ldb), y = dense_of(k, k->c, plain ? k->m : k->n, k->ldc);

    return status ? status : run[k->type][k->csr.index_bytes == 8](k, &x, &y, is_of_vectors(k) ? 1 : k->k);
}

/* --- products of two sparse matrices ------------------------------------------------------------------------------ */

typedef void product_fn(struct sc_csr_product *, struct product_row *, void *rows, void *columns, void *values);

static enum sc_status run_product(struct sc_csr_product *p, void *rows, void *columns, void *values)
{
    static product_fn *const run[SC_TYPES][2] = {{sparse_product_s32, sparse_product_s64},
                                                 {sparse_product_d32, sparse_product_d64},
                                                 {sparse_product_c32, sparse_product_c64},
                                                 {sparse_product_z32, sparse_product_z64}};
    size_t n = (size_t)p->n + 1;
    struct product_row r = {.columns = malloc(n * (size_t)p->a.index_bytes), .seen = calloc(n, sizeof *r.seen),
                            .sum = columns ? malloc(n * sc_type_bytes(p->type)) : NULL};
    bool good = r.columns && r.seen && (r.sum || !columns);

    if (good)
        run[p->type][p->a.index_bytes == 8](p, &r, rows, columns, values);
    free(r.columns);
    free(r.seen);
    free(r.sum);
    return good ? SC_OK : SC_ERR_MEMORY;
}

enum sc_status sc_device_product_count(struct sc_csr_product *p, void *rows)
{
    enum sc_status status;

    p->nonzeros = 0;
    status = run_product(p, rows, NULL, NULL);
    /* The row starts would overflow 32 bits. */
    return status == SC_OK && p->a.index_bytes == 4 && p->nonzeros > INT32_MAX ? SC_ERR_UNSUPPORTED : status;
}

enum sc_status sc_device_product_fill(const struct sc_csr_product *p, const void *rows, void *columns, void *values)
{
    struct sc_csr_product copy = *p;

    return p->nonzeros ? run_product(&copy, (void *)rows, columns, values) : SC_OK;
}
/* SPDX-License-Identifier: BSD-2-Clause */
