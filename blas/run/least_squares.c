/* Least squares by singular values (?gelsd, ?gelss): A = U S V^H, x = V S^-1 U^H b.  The vectors are matrices of their
 * own, written on the device and never brought to the host; the host scales the small matrix U^H b. */
#include <math.h>
#include <stdlib.h>

#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

struct problem {
    const struct sc_kernel *k;
    int64_t least, rank;
    void *u, *vt, *t; /* t = U^H B, then S^-1 t */
};

static void *array(const struct problem *p, int64_t rows, int64_t cols)
{
    return sc_coherence_host_alloc((size_t)(rows * cols) * sc_type_bytes(p->k->type));
}

static void drop(void *memory)
{
    if (memory)
        sc_coherence_host_free(memory);
}

static double singular_value(const struct problem *p, int64_t i)
{
    const void *s = p->k->small[0];

    return p->k->type == SC_S || p->k->type == SC_C ? ((const float *)s)[i] : ((const double *)s)[i];
}

/* Singular values above rcond times the largest count; rcond < 0: above the roundoff. */
static int64_t rank_of(const struct problem *p)
{
    double unit = p->k->type == SC_S || p->k->type == SC_C ? 0x1p-24 : 0x1p-53;
    double limit = (p->k->alpha[0] < 0 ? unit : p->k->alpha[0]) * singular_value(p, 0);
    int64_t rank = 0;

    while (rank < p->least && singular_value(p, rank) > limit)
        rank++;
    return rank;
}

static struct sc_view view_of(const struct problem *p, const void *at, int64_t rows, int64_t ld, enum sc_access access)
{
    return (struct sc_view){.ptr = at, .type = p->k->type, .rows = rows, .cols = p->k->k, .ld = ld, .access = access};
}

static void multiply(const struct problem *p, struct sc_kernel gemm)
{
    gemm.op = SC_OP_GEMM;
    gemm.type = p->k->type;
    gemm.transb = 'N';
    gemm.n = p->k->k;
    sc_blas_lapack_step(&gemm);
}

static double *number_at(const struct problem *p, void *matrix, int64_t i, int64_t j, int64_t ld, float **single)
{
    char *at = (char *)matrix + (size_t)(i + j * ld) * sc_type_bytes(p->k->type);

    *single = p->k->type == SC_S || p->k->type == SC_C ? (float *)at : NULL;
    return (double *)at;
}

/* Element := factor * element, and returns the square of its absolute value before. */
static double scale(const struct problem *p, void *matrix, int64_t i, int64_t j, int64_t ld, double factor)
{
    int parts = sc_type_is_complex(p->k->type) ? 2 : 1;
    double sum = 0, *value;
    float *single;

    value = number_at(p, matrix, i, j, ld, &single);
    for (int part = 0; part < parts; part++) {
        double x = single ? single[part] : value[part], y = factor == 0 ? 0 : factor * x;

        sum += x * x;
        if (single)
            single[part] = (float)y;
        else
            value[part] = y;
    }
    return sum;
}

static void divide(const struct problem *p)
{
    struct sc_view t = view_of(p, p->t, p->least, p->least, SC_RDWR);

    sc_blas_host_operands(&t, 1);
    for (int64_t j = 0; j < p->k->k; j++)
        for (int64_t i = 0; i < p->least; i++)
            scale(p, p->t, i, j, p->least, i < p->rank ? 1 / singular_value(p, i) : 0);
}

/* LAPACK's rows below x: their sum of squares is the residual's.  B is the residual here, and element n of a column
 * becomes its norm. */
static void leave_norms(const struct problem *p, double *norm)
{
    const struct sc_kernel *k = p->k;
    struct sc_view rows = view_of(p, k->b, k->m, k->ldb, SC_RDWR);

    sc_blas_host_operands(&rows, 1);
    for (int64_t j = 0; j < k->k; j++) {
        norm[j] = 0;
        for (int64_t i = 0; i < k->m; i++)
            norm[j] += scale(p, k->b, i, j, k->ldb, i < k->n ? 1 : 0);
        norm[j] = sqrt(norm[j]);
    }
    for (int64_t j = 0; j < k->k; j++) {
        float *single;
        double *value = number_at(p, k->b, k->n, j, k->ldb, &single);

        if (single)
            *single = (float)norm[j];
        else
            *value = norm[j];
    }
}

static void solve(struct problem *p)
{
    const struct sc_kernel *k = p->k;
    char adjoint = sc_type_is_complex(k->type) ? 'C' : 'T';
    double *norm = k->m > k->n && p->rank == k->n ? malloc((size_t)k->k * sizeof *norm) : NULL;

    multiply(p, (struct sc_kernel){.transa = adjoint, .m = p->least, .k = k->m, .alpha = {1}, .a = p->u, .lda = k->m,
                                   .b = k->b, .ldb = k->ldb, .c = p->t, .ldc = p->least});
    if (norm) {
        multiply(p, (struct sc_kernel){.transa = 'N', .m = k->m, .k = p->least, .alpha = {-1}, .beta = {1}, .a = p->u,
                                       .lda = k->m, .b = p->t, .ldb = p->least, .c = k->b, .ldc = k->ldb});
        leave_norms(p, norm);
    }
    divide(p);
    multiply(p, (struct sc_kernel){.transa = adjoint, .m = k->n, .k = p->least, .alpha = {1}, .a = p->vt,
                                   .lda = p->least, .b = p->t, .ldb = p->least, .c = k->b, .ldc = k->ldb});
    free(norm);
}

enum sc_status sc_blas_least_squares(const struct sc_kernel *k, int64_t *info)
{
    struct problem p = {.k = k, .least = k->m < k->n ? k->m : k->n};
    struct sc_kernel vectors = *k;
    enum sc_status status = SC_ERR_MEMORY;

    p.u = array(&p, k->m, p.least);
    p.vt = array(&p, p.least, k->n);
    p.t = array(&p, p.least, k->k);
    vectors.op = SC_OP_GESVD;
    vectors.job[0] = vectors.job[1] = 'S';
    vectors.b = p.u, vectors.ldb = k->m;
    vectors.c = p.vt, vectors.ldc = p.least;
    if (p.u && p.vt && p.t)
        status = sc_blas_lapack_run(&vectors, false, info);
    if (status == SC_OK && *info == 0) {
        k->pivots[0] = p.rank = rank_of(&p);
        solve(&p);
    }
    drop(p.u);
    drop(p.vt);
    drop(p.t);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
