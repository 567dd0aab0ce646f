/* The calls of cuSOLVER that bench/lapack_rates measures. */
#ifndef BENCH_LAPACK_HAND_H
#define BENCH_LAPACK_HAND_H

#include "bench/hand.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <cusolverDn.h>
#pragma GCC diagnostic pop
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define HAND_CUSOLVER(call)                                                                          \
    do {                                                                                             \
        cusolverStatus_t status_ = (call);                                                           \
        if (status_ != CUSOLVER_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s: cuSOLVER status %d\n", #call, (int)status_);                        \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

enum type { S, D, C, Z, TYPES };
enum { BUFFERS = 7 };

/* Square matrices of order n with the leading dimension n, and vectors of n elements, on the device. */
struct problem {
    enum type type;
    int64_t n, columns; /* columns of the right-hand sides */
    size_t element;     /* bytes */
    char *a, *b, *u, *v; /* operands of the call */
    char *start, *right; /* contents of a and b before every call */
    char *matrix;        /* the matrix of the check */
    char *tau, *w, *x, *y, *z;
    int64_t *pivots;
    int *info;
    double sigma; /* Xgesvdp's perturbation */
    bool planned; /* workspaces are allocated; the routine runs */
};

static const char letters[] = "sdcz";
static const size_t bytes_of[] = {4, 8, 8, 16};
static const cudaDataType data_of[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
static const cudaDataType real_of[] = {CUDA_R_32F, CUDA_R_64F, CUDA_R_32F, CUDA_R_64F};
static const cublasComputeType_t compute_of[] = {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_32F,
                                                 CUBLAS_COMPUTE_64F};
static const double precision_of[] = {0x1p-23, 0x1p-52, 0x1p-23, 0x1p-52};

static const union scalar {
    float s[2];
    _Alignas(16) double d[2];
} ones[] = {{.s = {1, 0}}, {.d = {1, 0}}, {.s = {1, 0}}, {.d = {1, 0}}}, zeros[TYPES];

static cudaStream_t stream;
static cublasHandle_t blas;
static cusolverDnHandle_t solver;
static cusolverDnParams_t params;
static char *host_seed, *host_a, *host_b; /* random elements; pinned memory of transfers */
static int failures;
static double deadline;

static const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;

/* --- workspaces --------------------------------------------------------------------------------------------------- */

static struct {
    void *memory;
    size_t bytes;
} on_device, on_host;

/* Makes room, and remembers that the problem's routine can run. */
static bool room(struct problem *p, size_t device, size_t host)
{
    bool planned = p->planned;

    if (device > on_device.bytes) {
        HAND_CUDA(cudaFree(on_device.memory));
        HAND_CUDA(cudaMalloc(&on_device.memory, device));
        on_device.bytes = device;
    }
    if (host > on_host.bytes) {
        free(on_host.memory);
        on_host.memory = example_doubles(host / sizeof(double) + 1);
        on_host.bytes = host;
    }
    p->planned = true;
    return planned;
}

/* --- routines: the first call of a problem plans, later calls run ------------------------------------------------- */

#define TYPE data_of[p->type]
#define REAL real_of[p->type]
#define SPACE on_device.memory, device, on_host.memory, host

static void potrf(struct problem *p)
{
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXpotrf_bufferSize(solver, params, lower, p->n, TYPE, p->a, p->n, TYPE, &device, &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXpotrf(solver, params, lower, p->n, TYPE, p->a, p->n, TYPE, SPACE, p->info));
}

static void potrs(struct problem *p)
{
    if (room(p, 0, 0))
        HAND_CUSOLVER(cusolverDnXpotrs(solver, params, lower, p->n, p->columns, TYPE, p->a, p->n, TYPE, p->b, p->n,
                                       p->info));
}

static void getrf(struct problem *p)
{
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXgetrf_bufferSize(solver, params, p->n, p->n, TYPE, p->a, p->n, TYPE, &device, &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXgetrf(solver, params, p->n, p->n, TYPE, p->a, p->n, p->pivots, TYPE, SPACE, p->info));
}

static void getrs(struct problem *p)
{
    if (room(p, 0, 0))
        HAND_CUSOLVER(cusolverDnXgetrs(solver, params, CUBLAS_OP_N, p->n, p->columns, TYPE, p->a, p->n, p->pivots, TYPE,
                                       p->b, p->n, p->info));
}

static void trtri(struct problem *p)
{
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXtrtri_bufferSize(solver, lower, CUBLAS_DIAG_NON_UNIT, p->n, TYPE, p->a, p->n, &device,
                                              &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXtrtri(solver, lower, CUBLAS_DIAG_NON_UNIT, p->n, TYPE, p->a, p->n, SPACE, p->info));
}

static void geqrf(struct problem *p)
{
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXgeqrf_bufferSize(solver, params, p->n, p->n, TYPE, p->a, p->n, TYPE, p->tau, TYPE, &device,
                                              &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXgeqrf(solver, params, p->n, p->n, TYPE, p->a, p->n, TYPE, p->tau, TYPE, SPACE,
                                       p->info));
}

static void syevd_of(struct problem *p, cusolverEigMode_t job)
{
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXsyevd_bufferSize(solver, params, job, lower, p->n, TYPE, p->a, p->n, REAL, p->w, TYPE,
                                              &device, &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXsyevd(solver, params, job, lower, p->n, TYPE, p->a, p->n, REAL, p->w, TYPE, SPACE,
                                       p->info));
}
static void syevd(struct problem *p) { syevd_of(p, CUSOLVER_EIG_MODE_VECTOR); }
static void syevd_values(struct problem *p) { syevd_of(p, CUSOLVER_EIG_MODE_NOVECTOR); }

/* The lowest tenth of the eigenvalues, and their vectors. */
static int64_t tenth(const struct problem *p) { return (p->n + 9) / 10; }
static void syevdx(struct problem *p)
{
    size_t device, host;
    int64_t found;
    double none = 0;

    HAND_CUSOLVER(cusolverDnXsyevdx_bufferSize(solver, params, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, lower,
                                               p->n, TYPE, p->a, p->n, &none, &none, 1, tenth(p), &found, REAL, p->w,
                                               TYPE, &device, &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXsyevdx(solver, params, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, lower, p->n,
                                        TYPE, p->a, p->n, &none, &none, 1, tenth(p), &found, REAL, p->w, TYPE, SPACE,
                                        p->info));
}

static void gesvd_of(struct problem *p, signed char job)
{
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXgesvd_bufferSize(solver, params, job, job, p->n, p->n, TYPE, p->a, p->n, REAL, p->w, TYPE,
                                              p->u, p->n, TYPE, p->v, p->n, TYPE, &device, &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXgesvd(solver, params, job, job, p->n, p->n, TYPE, p->a, p->n, REAL, p->w, TYPE, p->u,
                                       p->n, TYPE, p->v, p->n, TYPE, SPACE, p->info));
}
static void gesvd(struct problem *p) { gesvd_of(p, 'S'); }
static void gesvd_values(struct problem *p) { gesvd_of(p, 'N'); }

static void gesvdp_of(struct problem *p, cusolverEigMode_t job)
{
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXgesvdp_bufferSize(solver, params, job, 1, p->n, p->n, TYPE, p->a, p->n, REAL, p->w, TYPE,
                                               p->u, p->n, TYPE, p->v, p->n, TYPE, &device, &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXgesvdp(solver, params, job, 1, p->n, p->n, TYPE, p->a, p->n, REAL, p->w, TYPE, p->u,
                                        p->n, TYPE, p->v, p->n, TYPE, SPACE, p->info, &p->sigma));
}
static void gesvdp(struct problem *p) { gesvdp_of(p, CUSOLVER_EIG_MODE_VECTOR); }
static void gesvdp_values(struct problem *p) { gesvdp_of(p, CUSOLVER_EIG_MODE_NOVECTOR); }

/* Real types: w holds the real parts, then the imaginary parts. */
static void geev_of(struct problem *p, cusolverEigMode_t right)
{
    const cusolverEigMode_t left = CUSOLVER_EIG_MODE_NOVECTOR;
    size_t device, host;

    HAND_CUSOLVER(cusolverDnXgeev_bufferSize(solver, params, left, right, p->n, TYPE, p->a, p->n, TYPE, p->w, TYPE,
                                             NULL, p->n, TYPE, p->v, p->n, TYPE, &device, &host));
    if (room(p, device, host))
        HAND_CUSOLVER(cusolverDnXgeev(solver, params, left, right, p->n, TYPE, p->a, p->n, TYPE, p->w, TYPE, NULL, p->n,
                                      TYPE, p->v, p->n, TYPE, SPACE, p->info));
}
static void geev(struct problem *p) { geev_of(p, CUSOLVER_EIG_MODE_VECTOR); }
static void geev_values(struct problem *p) { geev_of(p, CUSOLVER_EIG_MODE_NOVECTOR); }

/* The older interface has a name for each type, and counts workspaces in elements. */
#define FOUR(fn, s, d, c, z) {(fn *)cusolverDn##s, (fn *)cusolverDn##d, (fn *)cusolverDn##c, (fn *)cusolverDn##z}

typedef cusolverStatus_t orgqr_size_fn(cusolverDnHandle_t, int m, int n, int k, const void *a, int, const void *tau,
                                       int *);
typedef cusolverStatus_t orgqr_fn(cusolverDnHandle_t, int m, int n, int k, void *a, int, const void *tau, void *work,
                                  int, int *info);
typedef cusolverStatus_t ormqr_size_fn(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int m, int n, int k,
                                       const void *a, int, const void *tau, const void *c, int, int *);
typedef cusolverStatus_t ormqr_fn(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int m, int n, int k,
                                  const void *a, int, const void *tau, void *c, int, void *work, int, int *info);
typedef cusolverStatus_t potri_size_fn(cusolverDnHandle_t, cublasFillMode_t, int n, void *a, int, int *);
typedef cusolverStatus_t potri_fn(cusolverDnHandle_t, cublasFillMode_t, int n, void *a, int, void *work, int,
                                  int *info);
typedef cusolverStatus_t sygvd_size_fn(cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t,
                                       int n, const void *a, int, const void *b, int, const void *w, int *);
typedef cusolverStatus_t sygvd_fn(cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t, int n,
                                  void *a, int, void *b, int, void *w, void *work, int, int *info);

static orgqr_size_fn *const orgqr_sizes[] =
    FOUR(orgqr_size_fn, Sorgqr_bufferSize, Dorgqr_bufferSize, Cungqr_bufferSize, Zungqr_bufferSize);
static orgqr_fn *const orgqrs[] = FOUR(orgqr_fn, Sorgqr, Dorgqr, Cungqr, Zungqr);
static ormqr_size_fn *const ormqr_sizes[] =
    FOUR(ormqr_size_fn, Sormqr_bufferSize, Dormqr_bufferSize, Cunmqr_bufferSize, Zunmqr_bufferSize);
static ormqr_fn *const ormqrs[] = FOUR(ormqr_fn, Sormqr, Dormqr, Cunmqr, Zunmqr);
static potri_size_fn *const potri_sizes[] =
    FOUR(potri_size_fn, Spotri_bufferSize, Dpotri_bufferSize, Cpotri_bufferSize, Zpotri_bufferSize);
static potri_fn *const potris[] = FOUR(potri_fn, Spotri, Dpotri, Cpotri, Zpotri);
static sygvd_size_fn *const sygvd_sizes[] =
    FOUR(sygvd_size_fn, Ssygvd_bufferSize, Dsygvd_bufferSize, Chegvd_bufferSize, Zhegvd_bufferSize);
static sygvd_fn *const sygvds[] = FOUR(sygvd_fn, Ssygvd, Dsygvd, Chegvd, Zhegvd);

static cublasOperation_t adjoint(const struct problem *p) { return p->type < C ? CUBLAS_OP_T : CUBLAS_OP_C; }

static void orgqr(struct problem *p)
{
    int n = (int)p->n, size;

    HAND_CUSOLVER(orgqr_sizes[p->type](solver, n, n, n, p->a, n, p->tau, &size));
    if (room(p, (size_t)size * p->element, 0))
        HAND_CUSOLVER(orgqrs[p->type](solver, n, n, n, p->a, n, p->tau, on_device.memory, size, p->info));
}

static void ormqr(struct problem *p)
{
    int n = (int)p->n, size;

    HAND_CUSOLVER(ormqr_sizes[p->type](solver, CUBLAS_SIDE_LEFT, adjoint(p), n, n, n, p->a, n, p->tau, p->b, n, &size));
    if (room(p, (size_t)size * p->element, 0))
        HAND_CUSOLVER(ormqrs[p->type](solver, CUBLAS_SIDE_LEFT, adjoint(p), n, n, n, p->a, n, p->tau, p->b, n,
                                      on_device.memory, size, p->info));
}

static void potri(struct problem *p)
{
    int n = (int)p->n, size;

    HAND_CUSOLVER(potri_sizes[p->type](solver, lower, n, p->a, n, &size));
    if (room(p, (size_t)size * p->element, 0))
        HAND_CUSOLVER(potris[p->type](solver, lower, n, p->a, n, on_device.memory, size, p->info));
}

static void sygvd(struct problem *p)
{
    const cusolverEigType_t kind = CUSOLVER_EIG_TYPE_1;
    const cusolverEigMode_t job = CUSOLVER_EIG_MODE_VECTOR;
    int n = (int)p->n, size;

    HAND_CUSOLVER(sygvd_sizes[p->type](solver, kind, job, lower, n, p->a, n, p->b, n, p->w, &size));
    if (room(p, (size_t)size * p->element, 0))
        HAND_CUSOLVER(sygvds[p->type](solver, kind, job, lower, n, p->a, n, p->b, n, p->w, on_device.memory, size,
                                      p->info));
}
/* Routines of two steps, with the workspace of the larger. */
static void gesv(struct problem *p)
{
    bool planned = p->planned;

    getrf(p);
    if (planned)
        getrs(p);
}

static void qr(struct problem *p)
{
    bool planned = p->planned;

    geqrf(p);
    p->planned = planned;
    orgqr(p);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
