/* Inside the CUDA module: cuSOLVER, opened at run time, and one call of a LAPACK routine.
 *
 * libcusolver is large, and few programs call LAPACK.  Therefore the module is not linked with the library.  The header
 * gives the types of the functions. */
#ifndef SC_DEVICE_CUDA_SOLVER_H
#define SC_DEVICE_CUDA_SOLVER_H

#include "device/cuda/kernel.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <cusolverDn.h>
#pragma GCC diagnostic pop

/* Functions of the 64-bit interface, whose types are arguments. */
#define SC_CUDA_SOLVER_FUNCTIONS(F)                                                                                 \
    F(Create) F(Destroy) F(SetStream) F(CreateParams) F(DestroyParams)                                              \
    F(Xpotrf_bufferSize) F(Xpotrf) F(Xpotrs) F(Xgetrf_bufferSize) F(Xgetrf) F(Xgetrs)                               \
    F(Xtrtri_bufferSize) F(Xtrtri) F(Xgeqrf_bufferSize) F(Xgeqrf) F(Xsyevd_bufferSize) F(Xsyevd)                    \
    F(Xsyevdx_bufferSize) F(Xsyevdx)                                                                                \
    F(Xgesvd_bufferSize) F(Xgesvd) F(Xgesvdp_bufferSize) F(Xgesvdp) F(Xgeev_bufferSize) F(Xgeev)                    \
    F(Xsytrs_bufferSize) F(Xsytrs)

/* Functions of the older interface: a name for each type, 32-bit sizes, workspaces counted in elements. */
typedef cusolverStatus_t sc_cuda_orgqr_size_fn(cusolverDnHandle_t, int m, int n, int k, const void *a, int,
                                               const void *tau, int *size);
typedef cusolverStatus_t sc_cuda_orgqr_fn(cusolverDnHandle_t, int m, int n, int k, void *a, int, const void *tau,
                                          void *work, int size, int *info);
typedef cusolverStatus_t sc_cuda_ormqr_size_fn(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int m, int n,
                                               int k, const void *a, int, const void *tau, const void *c, int,
                                               int *size);
typedef cusolverStatus_t sc_cuda_ormqr_fn(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int m, int n, int k,
                                          const void *a, int, const void *tau, void *c, int, void *work, int size,
                                          int *info);
typedef cusolverStatus_t sc_cuda_potri_size_fn(cusolverDnHandle_t, cublasFillMode_t, int n, void *a, int, int *size);
typedef cusolverStatus_t sc_cuda_potri_fn(cusolverDnHandle_t, cublasFillMode_t, int n, void *a, int, void *work,
                                          int size, int *info);
typedef cusolverStatus_t sc_cuda_sygvd_size_fn(cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t,
                                               cublasFillMode_t, int n, const void *a, int, const void *b, int,
                                               const void *w, int *size);
typedef cusolverStatus_t sc_cuda_sygvd_fn(cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t,
                                          int n, void *a, int, void *b, int, void *w, void *work, int size, int *info);

typedef cusolverStatus_t sc_cuda_sytrf_size_fn(cusolverDnHandle_t, int n, void *a, int, int *size);
typedef cusolverStatus_t sc_cuda_sytrf_fn(cusolverDnHandle_t, cublasFillMode_t, int n, void *a, int, int *pivots,
                                          void *work, int size, int *info);

typedef cusolverStatus_t sc_cuda_laswp_fn(cusolverDnHandle_t, int n, void *a, int, int first, int last,
                                          const int *pivots, int step);

/* F(field, name in real types, name in complex types, type) */
#define SC_CUDA_SOLVER_FOURS(F)                                                                                     \
    F(orgqr_size, "orgqr_bufferSize", "ungqr_bufferSize", sc_cuda_orgqr_size_fn)                                    \
    F(orgqr, "orgqr", "ungqr", sc_cuda_orgqr_fn)                                                                    \
    F(ormqr_size, "ormqr_bufferSize", "unmqr_bufferSize", sc_cuda_ormqr_size_fn)                                    \
    F(ormqr, "ormqr", "unmqr", sc_cuda_ormqr_fn)                                                                    \
    F(potri_size, "potri_bufferSize", "potri_bufferSize", sc_cuda_potri_size_fn)                                    \
    F(potri, "potri", "potri", sc_cuda_potri_fn)                                                                    \
    F(sygvd_size, "sygvd_bufferSize", "hegvd_bufferSize", sc_cuda_sygvd_size_fn)                                    \
    F(sygvd, "sygvd", "hegvd", sc_cuda_sygvd_fn)                                                                    \
    F(sytrf_size, "sytrf_bufferSize", "sytrf_bufferSize", sc_cuda_sytrf_size_fn)                                    \
    F(sytrf, "sytrf", "sytrf", sc_cuda_sytrf_fn)                                                                    \
    F(laswp, "laswp", "laswp", sc_cuda_laswp_fn)

struct sc_cuda_solver {
#define SC_CUDA_SOLVER_FIELD(name) __typeof__(cusolverDn##name) *name;
#define SC_CUDA_SOLVER_FIELDS(name, real, complex, type) type *name[SC_TYPES];
    SC_CUDA_SOLVER_FUNCTIONS(SC_CUDA_SOLVER_FIELD)
    SC_CUDA_SOLVER_FOURS(SC_CUDA_SOLVER_FIELDS)
#undef SC_CUDA_SOLVER_FIELD
#undef SC_CUDA_SOLVER_FIELDS
};

/* The functions of cuSOLVER, or NULL before sc_cuda_solver_open has succeeded. */
const struct sc_cuda_solver *sc_cuda_solver(void);
/* Opens the library; false: it cannot be loaded.  Takes the loader's lock: no lock of the library may be held. */
bool sc_cuda_solver_open(void);

/* Parts of a call's device memory, in addition to cuSOLVER's workspace. */
enum sc_cuda_part {
    SC_CUDA_INFO,   /* an int64_t, of which cuSOLVER writes the low half */
    SC_CUDA_SMALL,  /* tau, pivots, eigenvalues or singular values */
    SC_CUDA_COPY,   /* a copy of A, or of its transpose */
    SC_CUDA_SECOND, /* a copy of B, or singular vectors */
    SC_CUDA_THIRD,  /* singular vectors */
    SC_CUDA_PACKED, /* a triangle in packed storage */
    SC_CUDA_WORK,   /* cuSOLVER's workspace */
    SC_CUDA_PARTS
};

/* A call of a routine.  `bytes` is set before sc_cuda_solve_reserve, which sets `at`. */
struct sc_cuda_solve {
    const struct sc_cuda_call *c;
    const struct sc_kernel *k;
    const struct sc_cuda_solver *f;
    cusolverDnHandle_t handle;
    cusolverDnParams_t params;
    cudaDataType type, real;
    cublasFillMode_t fill;
    size_t element, real_bytes; /* bytes of a number, and of a real number */
    size_t bytes[SC_CUDA_PARTS];
    char *at[SC_CUDA_PARTS];
    size_t host_bytes;
    void *host;  /* cuSOLVER's workspace in host memory */
    void *block; /* the memory of all parts */
    bool waited; /* all work of the call is done */
};

/* Arguments of a function of the 64-bit interface: its workspaces, and where it writes their sizes. */
#define SC_CUDA_WORKSPACE(s) (s)->at[SC_CUDA_WORK], (s)->bytes[SC_CUDA_WORK], (s)->host, (s)->host_bytes
#define SC_CUDA_SIZES(s) &(s)->bytes[SC_CUDA_WORK], &(s)->host_bytes
static inline int *sc_cuda_solve_info(const struct sc_cuda_solve *s) { return (int *)(void *)s->at[SC_CUDA_INFO]; }

/* The size of a workspace that a function of the older interface has answered, in elements. */
enum sc_status sc_cuda_solve_elements(struct sc_cuda_solve *s, cusolverStatus_t error, int size);
static inline int sc_cuda_solve_size(const struct sc_cuda_solve *s)
{
    return (int)(s->bytes[SC_CUDA_WORK] / s->element);
}

/* The status of a function of cuSOLVER that has changed nothing of the caller's: SC_ERR_UNSUPPORTED on any refusal,
 * SC_ERR_DEVICE_MEMORY without memory. */
enum sc_status sc_cuda_solve_refused(const struct sc_cuda_solve *s, cusolverStatus_t error);

/* Allocates all parts, and sets INFO to zero. */
enum sc_status sc_cuda_solve_reserve(struct sc_cuda_solve *s);
/* Does so, and copies the rows x cols matrix A to COPY, with `rows` as leading dimension. */
enum sc_status sc_cuda_solve_on_copy(struct sc_cuda_solve *s, int64_t rows, int64_t cols);

/* Enqueues a copy between memory of the device and host memory, or within the device. */
enum sc_status sc_cuda_solve_up(const struct sc_cuda_solve *s, void *device, const void *host, size_t bytes);
enum sc_status sc_cuda_solve_down(const struct sc_cuda_solve *s, void *host, const void *device, size_t bytes);
enum sc_status sc_cuda_solve_copy(const struct sc_cuda_solve *s, void *to, int64_t to_ld, const void *from,
                                  int64_t from_ld, int64_t rows, int64_t cols);
/* to := conj(from)^T, a rows x cols matrix `to` */
enum sc_status sc_cuda_solve_adjoint(const struct sc_cuda_solve *s, void *to, int64_t to_ld, const void *from,
                                     int64_t from_ld, int64_t rows, int64_t cols);
/* Copies the named triangle of order n, with the part PACKED as space. */
enum sc_status sc_cuda_solve_triangle(const struct sc_cuda_solve *s, void *to, int64_t to_ld, const void *from,
                                      int64_t from_ld, int64_t n);

/* Downloads `count` real numbers of the part SMALL, from number `first` on. */
enum sc_status sc_cuda_solve_values(const struct sc_cuda_solve *s, void *to, int64_t first, int64_t count);

/* Enqueues the copy of INFO to the call's result. */
enum sc_status sc_cuda_solve_tell(const struct sc_cuda_solve *s);
/* Waits for all work of the call. */
enum sc_status sc_cuda_solve_wait(struct sc_cuda_solve *s);
/* As sc_cuda_solve_tell, and waits.  SC_ERR_UNSUPPORTED: INFO is not zero, or one of the `count` values in host memory
 * is not finite.  The host then computes, with the results that LAPACK defines for such a case. */
enum sc_status sc_cuda_solve_check(struct sc_cuda_solve *s, const void *values, int64_t count);

/* Real number i of the call's precision, in host memory. */
static inline double sc_cuda_solve_real(const struct sc_cuda_solve *s, const void *numbers, int64_t i)
{
    return s->real_bytes == sizeof(float) ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}
/* True if all `count` real numbers at `values`, in host memory, are finite. */
bool sc_cuda_solve_are_finite(const struct sc_cuda_solve *s, const void *values, int64_t count);
/* Waits for the part COPY, of `count` numbers.  SC_ERR_UNSUPPORTED: a number or the sum of all is not finite. */
enum sc_status sc_cuda_solve_finite(struct sc_cuda_solve *s, int64_t count);

/* solver_eigen.c */
enum sc_status sc_cuda_syevd(struct sc_cuda_solve *s);
enum sc_status sc_cuda_sygvd(struct sc_cuda_solve *s);
enum sc_status sc_cuda_geev(struct sc_cuda_solve *s);
/* solver_svd.c */
enum sc_status sc_cuda_gesvd(struct sc_cuda_solve *s);
/* norm.c */
enum sc_status sc_cuda_norm(struct sc_cuda_solve *s);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
