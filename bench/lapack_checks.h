/* Residuals of the results of bench/lapack_rates, computed on the device by cuBLAS. */
#ifndef BENCH_LAPACK_CHECKS_H
#define BENCH_LAPACK_CHECKS_H

#include "bench/lapack_hand.h"

/* --- arithmetic of the checks ------------------------------------------------------------------------------------- */

typedef cublasStatus_t trmv_fn(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int n,
                               const void *a, int, void *x, int);
typedef cublasStatus_t symv_fn(cublasHandle_t, cublasFillMode_t, int n, const void *alpha, const void *a, int,
                               const void *x, int, const void *beta, void *y, int);
typedef cublasStatus_t geam_fn(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, const void *alpha,
                               const void *a, int, const void *beta, const void *b, int, void *c, int);
static trmv_fn *const trmvs[] = {(trmv_fn *)cublasStrmv_v2, (trmv_fn *)cublasDtrmv_v2, (trmv_fn *)cublasCtrmv_v2,
                                 (trmv_fn *)cublasZtrmv_v2};
static symv_fn *const symvs[] = {(symv_fn *)cublasSsymv_v2, (symv_fn *)cublasDsymv_v2, (symv_fn *)cublasChemv_v2,
                                 (symv_fn *)cublasZhemv_v2};
static geam_fn *const geams[] = {(geam_fn *)cublasSgeam, (geam_fn *)cublasDgeam, (geam_fn *)cublasCgeam,
                                 (geam_fn *)cublasZgeam};

static size_t matrix_bytes(const struct problem *p) { return (size_t)p->n * (size_t)p->n * p->element; }
static size_t vector_bytes(const struct problem *p) { return (size_t)p->n * p->element; }

static void copy(void *to, const void *from, size_t bytes)
{
    HAND_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

/* y := op(M) x */
static void multiply(const struct problem *p, cublasOperation_t op, const void *matrix, const void *x, void *y)
{
    int n = (int)p->n;

    HAND_CUBLAS(cublasGemmEx(blas, op, CUBLAS_OP_N, n, 1, n, &ones[p->type], matrix, TYPE, n, x, TYPE, n,
                             &zeros[p->type], y, TYPE, n, compute_of[p->type], CUBLAS_GEMM_DEFAULT));
}

/* x := op(T) x */
static void triangle(const struct problem *p, cublasFillMode_t half, cublasOperation_t op, const void *t, void *x)
{
    HAND_CUBLAS(trmvs[p->type](blas, half, op, CUBLAS_DIAG_NON_UNIT, (int)p->n, t, (int)p->n, x, 1));
}

/* Real numbers of a vector on the host; complex numbers are pairs.  One of four results, in turn. */
static double *numbers(const struct problem *p, const void *vector, enum type type, int64_t count)
{
    static double *kept[4];
    static unsigned next;
    double **at = &kept[next++ % 4];
    size_t reals = (size_t)count * (type < C ? 1 : 2);
    char *raw = (char *)example_doubles(reals);

    (void)p;
    free(*at);
    *at = example_doubles(reals);
    copy(raw, vector, (size_t)count * bytes_of[type]);
    HAND_CUDA(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < reals; i++)
        (*at)[i] = type == S || type == C ? (double)((float *)raw)[i] : ((double *)raw)[i];
    free(raw);
    return *at;
}

/* Overwrites a vector of the problem's type. */
static void set_numbers(const struct problem *p, void *vector, const double *from, int64_t count)
{
    size_t reals = (size_t)count * (p->type < C ? 1 : 2);
    double *raw = example_doubles(reals);

    for (size_t i = 0; i < reals; i++) {
        if (p->type == S || p->type == C)
            ((float *)raw)[i] = (float)from[i];
        else
            raw[i] = from[i];
    }
    copy(vector, raw, (size_t)count * p->element);
    HAND_CUDA(cudaStreamSynchronize(stream));
    free(raw);
}

/* Largest difference of two vectors, relative to the larger of the second and `scale`, in units of the precision. */
static double difference(const struct problem *p, const void *left, const void *right, double scale)
{
    const double *x = numbers(p, left, p->type, p->n), *y = numbers(p, right, p->type, p->n);
    double most = 0;

    for (int64_t i = 0; i < p->n * (p->type < C ? 1 : 2); i++) {
        most = example_worse(most, fabs(x[i] - y[i]));
        scale = fmax(scale, fabs(y[i]));
    }
    return most / scale / precision_of[p->type];
}

/* Multiplies the elements of a vector by the real numbers w. */
static void scale_by(const struct problem *p, void *vector, const void *w)
{
    const double *factors = numbers(p, w, p->type == S || p->type == C ? S : D, p->n);
    double *x = numbers(p, vector, p->type, p->n);
    int parts = p->type < C ? 1 : 2;

    for (int64_t i = 0; i < p->n * parts; i++)
        x[i] *= factors[i / parts];
    set_numbers(p, vector, x, p->n);
}

/* --- checks: residuals of vectors --------------------------------------------------------------------------------- */

static double check_none(struct problem *p)
{
    (void)p;
    return 0;
}

/* L L^H x = A x */
static double check_potrf(struct problem *p)
{
    multiply(p, CUBLAS_OP_N, p->matrix, p->x, p->y);
    triangle(p, lower, adjoint(p), p->a, p->x);
    triangle(p, lower, CUBLAS_OP_N, p->a, p->x);
    return difference(p, p->x, p->y, 0);
}

/* A times the first column of the solution is the first right-hand side. */
static double check_solution(struct problem *p)
{
    double largest = 0;
    const double *x;

    multiply(p, CUBLAS_OP_N, p->matrix, p->b, p->y);
    x = numbers(p, p->b, p->type, p->n);
    for (int64_t i = 0; i < p->n; i++)
        largest = fmax(largest, fabs(x[i]));
    return difference(p, p->y, p->right, largest);
}

/* Rows exchanged, L U x = A x. */
static double check_getrf(struct problem *p)
{
    int64_t *pivots = (int64_t *)example_doubles((size_t)p->n);
    int parts = p->type < C ? 1 : 2;
    double *x;

    multiply(p, CUBLAS_OP_N, p->matrix, p->x, p->y);
    triangle(p, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, p->a, p->x);
    HAND_CUBLAS(trmvs[p->type](blas, lower, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, (int)p->n, p->a, (int)p->n, p->x, 1));
    copy(pivots, p->pivots, (size_t)p->n * sizeof *pivots);
    x = numbers(p, p->x, p->type, p->n);
    for (int64_t i = p->n - 1; i >= 0; i--)
        for (int part = 0; part < parts; part++) {
            int64_t other = pivots[i] - 1;
            double value = x[i * parts + part];

            if (other < i || other >= p->n)
                return NAN;
            x[i * parts + part] = x[other * parts + part];
            x[other * parts + part] = value;
        }
    set_numbers(p, p->x, x, p->n);
    free(pivots);
    return difference(p, p->x, p->y, 0);
}

/* T T^-1 x = x */
static double check_trtri(struct problem *p)
{
    copy(p->y, p->x, vector_bytes(p));
    triangle(p, lower, CUBLAS_OP_N, p->a, p->x);
    triangle(p, lower, CUBLAS_OP_N, p->start, p->x);
    return difference(p, p->x, p->y, 0);
}

/* A A^-1 x = x */
static double check_potri(struct problem *p)
{
    HAND_CUBLAS(symvs[p->type](blas, lower, (int)p->n, &ones[p->type], p->a, (int)p->n, p->x, 1, &zeros[p->type], p->z,
                               1));
    multiply(p, CUBLAS_OP_N, p->matrix, p->z, p->y);
    return difference(p, p->y, p->x, 0);
}

/* The norm of R x equals the norm of A x; check_orgqr and check_ormqr test the reflectors. */
static double check_geqrf(struct problem *p)
{
    const double *x, *y;
    double square_x = 0, square_y = 0;

    multiply(p, CUBLAS_OP_N, p->matrix, p->x, p->y);
    triangle(p, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, p->a, p->x);
    x = numbers(p, p->x, p->type, p->n);
    y = numbers(p, p->y, p->type, p->n);
    for (int64_t i = 0; i < p->n * (p->type < C ? 1 : 2); i++)
        square_x += x[i] * x[i], square_y += y[i] * y[i];
    return fabs(sqrt(square_x / square_y) - 1) / precision_of[p->type];
}

/* Q R x = A x */
static double check_orgqr(struct problem *p)
{
    multiply(p, CUBLAS_OP_N, p->matrix, p->x, p->y);
    triangle(p, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, p->start, p->x);
    multiply(p, CUBLAS_OP_N, p->a, p->x, p->z);
    return difference(p, p->z, p->y, 0);
}

/* Q^H A x = R x, with A as the right-hand sides */
static double check_ormqr(struct problem *p)
{
    multiply(p, CUBLAS_OP_N, p->b, p->x, p->y);
    triangle(p, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, p->a, p->x);
    return difference(p, p->y, p->x, 0);
}

/* V W V^H x = A x */
static double check_syevd(struct problem *p)
{
    multiply(p, CUBLAS_OP_N, p->matrix, p->x, p->y);
    multiply(p, adjoint(p), p->a, p->x, p->z);
    scale_by(p, p->z, p->w);
    multiply(p, CUBLAS_OP_N, p->a, p->z, p->x);
    return difference(p, p->x, p->y, 0);
}

/* A V x = V W x for the vectors of a range */
static double check_syevdx(struct problem *p)
{
    double *x = numbers(p, p->x, p->type, p->n);

    for (int64_t i = tenth(p) * (p->type < C ? 1 : 2); i < p->n * (p->type < C ? 1 : 2); i++)
        x[i] = 0;
    set_numbers(p, p->x, x, p->n);
    multiply(p, CUBLAS_OP_N, p->a, p->x, p->z);
    multiply(p, CUBLAS_OP_N, p->matrix, p->z, p->y);
    scale_by(p, p->x, p->w);
    multiply(p, CUBLAS_OP_N, p->a, p->x, p->z);
    return difference(p, p->z, p->y, 0);
}

/* U S V^H x = A x */
static double check_svd(struct problem *p, cublasOperation_t op)
{
    multiply(p, CUBLAS_OP_N, p->matrix, p->x, p->y);
    multiply(p, op, p->v, p->x, p->z);
    scale_by(p, p->z, p->w);
    multiply(p, CUBLAS_OP_N, p->u, p->z, p->x);
    return difference(p, p->x, p->y, 0);
}
static double check_gesvd(struct problem *p) { return check_svd(p, CUBLAS_OP_N); }
static double check_gesvdp(struct problem *p) { return check_svd(p, adjoint(p)); }

/* A V x = V W x, with LAPACK's pairs of columns in the real types */
static double check_geev(struct problem *p)
{
    bool real = p->type < C;
    double *x, *y;
    const double *w;

    multiply(p, CUBLAS_OP_N, p->v, p->x, p->z);
    multiply(p, CUBLAS_OP_N, p->matrix, p->z, p->y);
    x = numbers(p, p->x, p->type, p->n);
    y = numbers(p, p->x, p->type, p->n);
    w = numbers(p, p->w, p->type, real ? 2 * p->n : p->n);
    for (int64_t i = 0; i < p->n; i++) {
        double re = real ? w[i] : w[2 * i], im = real ? w[p->n + i] : w[2 * i + 1];

        if (!real) {
            y[2 * i] = re * x[2 * i] - im * x[2 * i + 1];
            y[2 * i + 1] = re * x[2 * i + 1] + im * x[2 * i];
        } else { /* the other column of a pair is the next one where the imaginary part is positive */
            int64_t other = im > 0 && i + 1 < p->n ? i + 1 : im < 0 && i ? i - 1 : i;

            y[i] = re * x[i] + (other != i ? im * x[other] : 0);
        }
    }
    set_numbers(p, p->x, y, p->n);
    multiply(p, CUBLAS_OP_N, p->v, p->x, p->z);
    return difference(p, p->z, p->y, 0);
}

/* A Z x = B Z W x */
static double check_sygvd(struct problem *p)
{
    multiply(p, CUBLAS_OP_N, p->a, p->x, p->z);
    multiply(p, CUBLAS_OP_N, p->matrix, p->z, p->y);
    scale_by(p, p->x, p->w);
    multiply(p, CUBLAS_OP_N, p->a, p->x, p->z);
    multiply(p, CUBLAS_OP_N, p->right, p->z, p->x);
    return difference(p, p->x, p->y, 0);
}
/* A A^-1 x = x, with the inverse in b */
static double check_inverse(struct problem *p)
{
    multiply(p, CUBLAS_OP_N, p->b, p->x, p->z);
    multiply(p, CUBLAS_OP_N, p->matrix, p->z, p->y);
    return difference(p, p->y, p->x, 0) / (double)p->n; /* for matrices of condition n, about */
}

/* The norm of Q x is the norm of x. */
static double check_qr(struct problem *p)
{
    const double *x, *y;
    double square_x = 0, square_y = 0;

    multiply(p, CUBLAS_OP_N, p->a, p->x, p->y);
    x = numbers(p, p->x, p->type, p->n);
    y = numbers(p, p->y, p->type, p->n);
    for (int64_t i = 0; i < p->n * (p->type < C ? 1 : 2); i++)
        square_x += x[i] * x[i], square_y += y[i] * y[i];
    return fabs(sqrt(square_y / square_x) - 1) / precision_of[p->type];
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
