/* Conjugate gradients for the 7-point stencil on a cube, written as usual for one GPU with unified memory:
 * cudaMallocManaged, cuSPARSE, cuBLAS, and a CPU that reads and writes the same arrays. The program knows nothing of
 * semcache: examples/cg_um is linked with libsemcache-cuda-um, bench/cg_um_cuda with CUDA's libraries alone.
 *
 *     cg_um [-w] [n [iterations]]
 *
 * n: approximate number of points (default 30000); iterations: at most (200). -w: after the first solution the CPU
 * changes one value of the matrix, and the solver continues from the solution. */
#include <math.h>
#include <string.h>

#define DISABLE_CUSPARSE_DEPRECATED
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include "examples/stencil.h"

static void check(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "cg_um: %s: status %d\n", what, status);
        exit(1);
    }
}
#define CHECK(call) check((int)(call), #call)

static void *managed(size_t bytes)
{
    void *memory;

    CHECK(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal));
    return memory;
}

static void *managed_copy(void *from, size_t bytes)
{
    void *to = managed(bytes);

    memcpy(to, from, bytes);
    free(from);
    return to;
}

struct solver {
    cublasHandle_t blas;
    cusparseHandle_t sparse;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t p, q;
    void *buffer;
    double *b, *x, *r, *residual_p, *product_q;
    double *scalars; /* managed: dot products read by the CPU */
};

static const double unit = 1, minus_unit = -1, zero = 0;

static void open_solver(struct solver *s, struct stencil *m)
{
    size_t n = (size_t)m->n, bytes;

    m->start = managed_copy(m->start, (n + 1) * sizeof *m->start);
    m->columns = managed_copy(m->columns, (size_t)m->entries * sizeof *m->columns);
    m->values = managed_copy(m->values, (size_t)m->entries * sizeof *m->values);
    s->b = managed(n * sizeof(double));
    s->x = managed(n * sizeof(double));
    s->r = managed(n * sizeof(double));
    s->residual_p = managed(n * sizeof(double));
    s->product_q = managed(n * sizeof(double));
    s->scalars = managed(2 * sizeof(double));
    CHECK(cublasCreate(&s->blas));
    CHECK(cusparseCreate(&s->sparse));
    CHECK(cusparseCreateCsr(&s->a, m->n, m->n, m->entries, m->start, m->columns, m->values, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    CHECK(cusparseCreateDnVec(&s->p, m->n, s->residual_p, CUDA_R_64F));
    CHECK(cusparseCreateDnVec(&s->q, m->n, s->product_q, CUDA_R_64F));
    CHECK(cusparseSpMV_bufferSize(s->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, s->a, s->p, &zero, s->q,
                                  CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&s->buffer, bytes + 1));
}

static void close_solver(struct solver *s, struct stencil *m)
{
    void *arrays[] = {s->b, s->x, s->r, s->residual_p, s->product_q, s->scalars, s->buffer, m->start, m->columns,
                      m->values};

    CHECK(cusparseDestroySpMat(s->a));
    CHECK(cusparseDestroyDnVec(s->p));
    CHECK(cusparseDestroyDnVec(s->q));
    CHECK(cusparseDestroy(s->sparse));
    CHECK(cublasDestroy(s->blas));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        CHECK(cudaFree(arrays[i]));
}

/* q := A p */
static void product(const struct solver *s)
{
    CHECK(cusparseSpMV(s->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &unit, s->a, s->p, &zero, s->q, CUDA_R_64F,
                       CUSPARSE_SPMV_ALG_DEFAULT, s->buffer));
}

static double dot(const struct solver *s, int n, const double *x, const double *y)
{
    CHECK(cublasDdot(s->blas, n, x, 1, y, 1, &s->scalars[0]));
    CHECK(cudaDeviceSynchronize());
    return s->scalars[0];
}

/* From x on; returns the residual's norm. */
static double solve(struct solver *s, int n, int iterations, struct example_timer *timer)
{
    double rr;

    CHECK(cublasDcopy(s->blas, n, s->x, 1, s->residual_p, 1));
    product(s);
    CHECK(cublasDcopy(s->blas, n, s->b, 1, s->r, 1));
    CHECK(cublasDaxpy(s->blas, n, &minus_unit, s->product_q, 1, s->r, 1));
    CHECK(cublasDcopy(s->blas, n, s->r, 1, s->residual_p, 1));
    rr = dot(s, n, s->r, s->r);
    for (int k = 0; k < iterations && rr > 1e-24; k++) {
        double alpha, minus, beta, old = rr;

        product(s);
        alpha = rr / dot(s, n, s->residual_p, s->product_q);
        minus = -alpha;
        CHECK(cublasDaxpy(s->blas, n, &alpha, s->residual_p, 1, s->x, 1));
        CHECK(cublasDaxpy(s->blas, n, &minus, s->product_q, 1, s->r, 1));
        rr = dot(s, n, s->r, s->r);
        beta = rr / old;
        CHECK(cublasDscal(s->blas, n, &beta, s->residual_p, 1));
        CHECK(cublasDaxpy(s->blas, n, &unit, s->r, 1, s->residual_p, 1));
        example_lap(timer);
    }
    CHECK(cudaDeviceSynchronize());
    return sqrt(rr);
}

/* Changes the equation of a point in the middle. */
static void change(struct stencil *m)
{
    int row = m->n / 2;

    for (int e = m->start[row]; e < m->start[row + 1]; e++)
        if (m->columns[e] == row)
            m->values[e] += 1;
}

/* The largest component of b - A x, by a plain loop. */
static double error_of(const struct stencil *m, const double *b, const double *x)
{
    double worst = 0;

    for (int i = 0; i < m->n; i++) {
        double rest = b[i];

        for (int e = m->start[i]; e < m->start[i + 1]; e++)
            rest -= m->values[e] * x[m->columns[e]];
        worst = example_worse(worst, fabs(rest));
    }
    return worst;
}

int main(int argc, char **argv)
{
    int writes = argc > 1 && strcmp(argv[1], "-w") == 0;
    long asked = argc > 1 + writes ? atol(argv[1 + writes]) : 30000;
    int iterations = argc > 2 + writes ? atoi(argv[2 + writes]) : 200;
    struct example_timer timer = {0};
    struct cudaDeviceProp about;
    double residual, error;
    struct solver s;
    struct stencil m;

    if (asked < 1 || asked > 200000000 || iterations < 1) {
        fprintf(stderr, "usage: cg_um [-w] [n [iterations]], n from 1 to 200000000\n");
        return 2;
    }
    CHECK(cudaGetDeviceProperties(&about, 0));
    if (!about.managedMemory) {
        fprintf(stderr, "cg_um: %s has no managed memory\n", about.name);
        return 1;
    }
    stencil_make(&m, asked);
    open_solver(&s, &m);
    for (int i = 0; i < m.n; i++) {
        s.b[i] = 1 + i % 3;
        s.x[i] = 0;
    }
    timer.start = example_now();
    residual = solve(&s, m.n, iterations, &timer);
    if (writes) {
        change(&m);
        residual = solve(&s, m.n, iterations, &timer);
    }
    error = error_of(&m, s.b, s.x);
    printf("cg_um n=%d iterations=%d residual=%.3e error=%.3e seconds_per_iteration=%.9f %s\n", m.n, iterations,
           residual, error, example_seconds(&timer), error <= 1e-9 + 2 * residual ? "ok" : "WRONG");
    close_solver(&s, &m);
    return error <= 1e-9 + 2 * residual ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
