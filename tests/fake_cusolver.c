/* cuSOLVER and the parts of the CUDA module below device/cuda/solver.c, computed by the host's LAPACK, for
 * tests/cuda_solver.c.  The fake is as strict as cuSOLVER may be: it checks the sizes of workspaces, fills workspaces
 * and destroyed operands with not-a-number, destroys the other triangle where cuSOLVER promises nothing, and destroys
 * the operands if INFO is not zero.  All memory is host memory, and nothing is deferred. */
#include "fake_cusolver.h"

#include <math.h>

#include "device/cuda/solver.h"
#include "device_common.h"

struct fake_cusolver fake;
struct sc_cuda_device sc_cuda_devices[SC_DEVICES_MAX];
const struct sc_device_host *sc_cuda_host;

enum { WORK = 24, HOST_WORK = 40 }; /* bytes of every workspace */

/* --- the module --------------------------------------------------------------------------------------------------- */

cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    memset(at, value, bytes);
    return cudaSuccess;
}

enum sc_status sc_cuda_failed(cudaError_t error, const char *call)
{
    printf("# %s: %d\n", call, (int)error);
    return SC_ERR_DEVICE;
}
enum sc_status sc_cuda_blas_failed(cublasStatus_t error, const char *call)
{
    return sc_cuda_failed((cudaError_t)error, call);
}
enum sc_status sc_cuda_solver_failed(int error, const char *call) { return sc_cuda_failed((cudaError_t)error, call); }

/* Copies that nobody has waited for.  They are complete all the same: the fake has no streams. */
static bool is_busy;

enum sc_status sc_cuda_copy(int device, enum sc_stream stream, const struct sc_copy2d *copy)
{
    (void)device;
    (void)stream;
    is_busy = true;
    for (size_t i = 0; i < copy->height; i++)
        memcpy((char *)copy->dst + i * copy->dst_pitch, (const char *)copy->src + i * copy->src_pitch, copy->width);
    return SC_OK;
}

enum sc_status sc_cuda_work_alloc(int device, size_t bytes, void **memory)
{
    (void)device;
    *memory = fake.no_memory ? NULL : malloc(bytes);
    if (!*memory)
        return SC_ERR_DEVICE_MEMORY;
    memset(*memory, 0xFF, bytes);
    fake.blocks++;
    return SC_OK;
}

void sc_cuda_work_free(int device, void *const *memory, int count)
{
    (void)device;
    for (int i = 0; i < count; i++) {
        fake.blocks -= memory[i] != NULL;
        free(memory[i]);
    }
}

enum sc_status sc_cuda_mark_amid(int device, enum sc_stream stream, struct sc_fence *fence)
{
    (void)device;
    (void)stream;
    *fence = SC_FENCE_NONE;
    return SC_OK;
}
enum sc_status sc_cuda_sync(struct sc_fence fence)
{
    (void)fence;
    is_busy = false;
    return SC_OK;
}

enum sc_status sc_cuda_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    (void)device;
    (void)stream;
    return sc_device_kernel_host(host_blas_symbol, kernel);
}

static char *at(void *matrix, int64_t i, int64_t j, int64_t ld, enum sc_type type)
{
    return (char *)matrix + (size_t)(i + j * ld) * sc_type_bytes(type);
}

/* Copies the triangle to or from packed storage. */
static void pack(const struct sc_cuda_call *c, int64_t n, void *matrix, int64_t ld, char *packed, bool back)
{
    size_t bytes = sc_type_bytes(c->k->type);

    for (int64_t j = 0; j < n; j++)
        for (int64_t i = c->k->uplo == 'U' ? 0 : j; i < (c->k->uplo == 'U' ? j + 1 : n); i++, packed += bytes)
            memcpy(back ? at(matrix, i, j, ld, c->k->type) : packed, back ? packed : at(matrix, i, j, ld, c->k->type),
                   bytes);
}
enum sc_status sc_cuda_pack(const struct sc_cuda_call *c, int64_t n, const void *matrix, int64_t ld, void *packed)
{
    pack(c, n, (void *)(uintptr_t)matrix, ld, packed, false);
    return SC_OK;
}
enum sc_status sc_cuda_unpack(const struct sc_cuda_call *c, int64_t n, const void *packed, void *matrix, int64_t ld)
{
    pack(c, n, matrix, ld, (void *)(uintptr_t)packed, true);
    return SC_OK;
}

/* to := op(from), the only use of geam */
static cublasStatus_t transpose(enum sc_type type, cublasOperation_t op, int64_t m, int64_t n, const void *from,
                                int64_t lda, void *to, int64_t ldc)
{
    size_t real = type == SC_S || type == SC_C ? sizeof(float) : sizeof(double);

    if ((op != CUBLAS_OP_T && op != CUBLAS_OP_C) || lda < n || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            char *entry = at(to, i, j, ldc, type);

            memcpy(entry, at((void *)(uintptr_t)from, j, i, lda, type), sc_type_bytes(type));
            if (op == CUBLAS_OP_C && real == sizeof(float))
                *(float *)(void *)(entry + real) *= -1;
            else if (op == CUBLAS_OP_C)
                *(double *)(void *)(entry + real) *= -1;
        }
    return CUBLAS_STATUS_SUCCESS;
}
#define GEAM(letter, type, number)                                                                                 \
    cublasStatus_t cublas##letter##geam_64(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,    \
                                           int64_t m, int64_t n, const number *alpha, const number *a, int64_t lda, \
                                           const number *beta, const number *b, int64_t ldb, number *c, int64_t ldc) \
    {                                                                                                              \
        (void)handle, (void)opb, (void)alpha, (void)beta, (void)b, (void)ldb;                                      \
        return transpose(type, opa, m, n, a, lda, c, ldc);                                                         \
    }
GEAM(S, SC_S, float)
GEAM(D, SC_D, double)
GEAM(C, SC_C, cuComplex)
GEAM(Z, SC_Z, cuDoubleComplex)

/* --- help for the routines ---------------------------------------------------------------------------------------- */

static enum sc_type type_of(cudaDataType type)
{
    return type == CUDA_R_32F ? SC_S : type == CUDA_R_64F ? SC_D : type == CUDA_C_32F ? SC_C : SC_Z;
}

static struct sc_kernel record(enum sc_op op, enum sc_type type, int64_t m, int64_t n)
{
    return (struct sc_kernel){.op = op, .type = type, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'U',
                              .diag = 'N', .m = m, .n = n};
}
static char fill_letter(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L'; }

static void spoil(void *matrix, enum sc_type type, int64_t rows, int64_t cols, int64_t ld)
{
    for (int64_t j = 0; j < cols; j++)
        memset(at(matrix, 0, j, ld, type), 0xFF, (size_t)rows * sc_type_bytes(type));
}

static void spoil_other(void *matrix, enum sc_type type, char uplo, int64_t n, int64_t ld)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            if (uplo == 'U' ? i > j : i < j)
                memset(at(matrix, i, j, ld, type), 0xFF, sc_type_bytes(type));
}

static void scale(void *vector, enum sc_type type, int64_t n, double factor)
{
    int64_t reals = n * (type == SC_S || type == SC_D ? 1 : 2);

    for (int64_t i = 0; i < reals; i++) {
        if (type == SC_S || type == SC_C)
            ((float *)vector)[i] *= (float)factor;
        else
            ((double *)vector)[i] *= factor;
    }
}

/* The status asked for by the test, or of wrong workspaces. */
static cusolverStatus_t enter(void *work, size_t bytes, void *host, size_t host_bytes)
{
    fake.calls++;
    if (work && (bytes < WORK || host_bytes < (host ? HOST_WORK : 0)))
        return CUSOLVER_STATUS_INVALID_WORKSPACE;
    if (work)
        memset(work, 0xFF, bytes);
    if (host)
        memset(host, 0xFF, host_bytes);
    return fake.error;
}

/* Computes on the host; a matrix is destroyed if INFO is not zero. */
static cusolverStatus_t compute(struct sc_kernel *k, int *info)
{
    int64_t result = 0;

    k->result = &result;
    if (sc_device_kernel_host(host_blas_symbol, k) != SC_OK)
        return CUSOLVER_STATUS_INTERNAL_ERROR;
    *info = (int)result;
    if (result && k->op != SC_OP_POTRF)
        spoil(k->a, k->type, k->m, k->n, k->lda);
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t sizes(size_t *device, size_t *host)
{
    *device = WORK;
    *host = HOST_WORK;
    return CUSOLVER_STATUS_SUCCESS;
}

#define H cusolverDnHandle_t handle
#define P cusolverDnParams_t params
#define SPACE void *work, size_t bytes, void *host, size_t host_bytes, int *info
#define ENTER                                                                                                      \
    cusolverStatus_t error = enter(work, bytes, host, host_bytes);                                                 \
                                                                                                                   \
    (void)handle;                                                                                                  \
    if (error != CUSOLVER_STATUS_SUCCESS)                                                                          \
        return error

/* --- the 64-bit interface ----------------------------------------------------------------------------------------- */

static cusolverStatus_t potrf_size(H, P, cublasFillMode_t uplo, int64_t n, cudaDataType type, const void *a,
                                   int64_t lda, cudaDataType arithmetic, size_t *device, size_t *host)
{
    (void)handle, (void)params, (void)uplo, (void)n, (void)type, (void)a, (void)lda, (void)arithmetic;
    return sizes(device, host);
}
static cusolverStatus_t potrf(H, P, cublasFillMode_t uplo, int64_t n, cudaDataType type, void *a, int64_t lda,
                              cudaDataType arithmetic, SPACE)
{
    struct sc_kernel k = record(SC_OP_POTRF, type_of(type), n, n);

    ENTER;
    (void)params, (void)arithmetic;
    k.uplo = fill_letter(uplo), k.a = a, k.lda = lda;
    return compute(&k, info);
}
static cusolverStatus_t potrs(H, P, cublasFillMode_t uplo, int64_t n, int64_t sides, cudaDataType type, const void *a,
                              int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
    struct sc_kernel k = record(SC_OP_POTRS, type_of(type), n, n);

    (void)handle, (void)params, (void)type_b;
    if (enter(NULL, 0, NULL, 0) != CUSOLVER_STATUS_SUCCESS)
        return fake.error;
    k.uplo = fill_letter(uplo), k.k = sides, k.a = (void *)(uintptr_t)a, k.lda = lda, k.b = b, k.ldb = ldb;
    return compute(&k, info);
}

static cusolverStatus_t getrf_size(H, P, int64_t m, int64_t n, cudaDataType type, const void *a, int64_t lda,
                                   cudaDataType arithmetic, size_t *device, size_t *host)
{
    (void)handle, (void)params, (void)n, (void)type, (void)a, (void)arithmetic;
    return lda < m ? CUSOLVER_STATUS_INVALID_VALUE : sizes(device, host);
}
static cusolverStatus_t getrf(H, P, int64_t m, int64_t n, cudaDataType type, void *a, int64_t lda, int64_t *pivots,
                              cudaDataType arithmetic, SPACE)
{
    struct sc_kernel k = record(SC_OP_GETRF, type_of(type), m, n);

    ENTER;
    (void)params, (void)arithmetic;
    k.a = a, k.lda = lda, k.pivots = pivots;
    return compute(&k, info);
}
static cusolverStatus_t getrs(H, P, cublasOperation_t trans, int64_t n, int64_t sides, cudaDataType type, const void *a,
                              int64_t lda, const int64_t *pivots, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
    struct sc_kernel k = record(SC_OP_GETRS, type_of(type), n, n);

    (void)handle, (void)params, (void)type_b;
    if (enter(NULL, 0, NULL, 0) != CUSOLVER_STATUS_SUCCESS)
        return fake.error;
    k.transa = "NTC"[trans], k.k = sides, k.a = (void *)(uintptr_t)a, k.lda = lda, k.b = b, k.ldb = ldb;
    k.pivots = (int64_t *)(uintptr_t)pivots;
    return compute(&k, info);
}

static cusolverStatus_t trtri_size(H, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n, cudaDataType type,
                                   void *a, int64_t lda, size_t *device, size_t *host)
{
    (void)handle, (void)uplo, (void)diag, (void)n, (void)type, (void)a, (void)lda;
    return sizes(device, host);
}
static cusolverStatus_t trtri(H, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n, cudaDataType type, void *a,
                              int64_t lda, SPACE)
{
    struct sc_kernel k = record(SC_OP_TRTRI, type_of(type), n, n);

    ENTER;
    k.uplo = fill_letter(uplo), k.diag = diag == CUBLAS_DIAG_UNIT ? 'U' : 'N', k.a = a, k.lda = lda;
    spoil_other(a, k.type, k.uplo, n, lda);
    if (k.diag == 'U')
        spoil(a, k.type, 1, n, lda + 1); /* the diagonal; Xtrtri writes ones */
    return compute(&k, info);
}

static cusolverStatus_t geqrf_size(H, P, int64_t m, int64_t n, cudaDataType type, const void *a, int64_t lda,
                                   cudaDataType type_tau, const void *tau, cudaDataType arithmetic, size_t *device,
                                   size_t *host)
{
    (void)handle, (void)params, (void)m, (void)n, (void)type, (void)a, (void)lda, (void)type_tau, (void)arithmetic;
    return tau ? sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}
static cusolverStatus_t geqrf(H, P, int64_t m, int64_t n, cudaDataType type, void *a, int64_t lda,
                              cudaDataType type_tau, void *tau, cudaDataType arithmetic, SPACE)
{
    struct sc_kernel k = record(SC_OP_GEQRF, type_of(type), m, n);

    ENTER;
    (void)params, (void)type_tau, (void)arithmetic;
    k.a = a, k.lda = lda, k.small[0] = tau;
    return compute(&k, info);
}

static cusolverStatus_t syevd_size(H, P, cusolverEigMode_t job, cublasFillMode_t uplo, int64_t n, cudaDataType type,
                                   const void *a, int64_t lda, cudaDataType type_w, const void *w,
                                   cudaDataType arithmetic, size_t *device, size_t *host)
{
    (void)handle, (void)params, (void)job, (void)uplo, (void)n, (void)type, (void)a, (void)lda, (void)type_w;
    (void)arithmetic;
    return w ? sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}
static cusolverStatus_t syevd(H, P, cusolverEigMode_t job, cublasFillMode_t uplo, int64_t n, cudaDataType type, void *a,
                              int64_t lda, cudaDataType type_w, void *w, cudaDataType arithmetic, SPACE)
{
    struct sc_kernel k = record(SC_OP_SYEVD, type_of(type), n, n);

    ENTER;
    (void)params, (void)type_w, (void)arithmetic;
    k.uplo = fill_letter(uplo), k.a = a, k.lda = lda, k.small[0] = w;
    k.job[0] = job == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
    spoil_other(a, k.type, k.uplo, n, lda);
    error = compute(&k, info);
    if (k.job[0] == 'N')
        spoil(a, k.type, n, n, lda);
    return error;
}

static cusolverStatus_t syevdx_size(H, P, cusolverEigMode_t job, cusolverEigRange_t range, cublasFillMode_t uplo,
                                    int64_t n, cudaDataType type, const void *a, int64_t lda, void *above, void *most,
                                    int64_t first, int64_t last, int64_t *found, cudaDataType type_w, const void *w,
                                    cudaDataType arithmetic, size_t *device, size_t *host)
{
    (void)handle, (void)params, (void)job, (void)uplo, (void)n, (void)type, (void)a, (void)lda, (void)type_w;
    (void)arithmetic;
    if (!w || !found || (range == CUSOLVER_EIG_RANGE_V && (!above || !most)) ||
        (range == CUSOLVER_EIG_RANGE_I && (first < 1 || last < first || last > n)))
        return CUSOLVER_STATUS_INVALID_VALUE;
    return sizes(device, host);
}
static cusolverStatus_t syevdx(H, P, cusolverEigMode_t job, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n,
                               cudaDataType type, void *a, int64_t lda, void *above, void *most, int64_t first,
                               int64_t last, int64_t *found, cudaDataType type_w, void *w, cudaDataType arithmetic,
                               SPACE)
{
    struct sc_kernel k = record(SC_OP_SYEVD, type_of(type), n, n);
    bool single = k.type == SC_S || k.type == SC_C;

    ENTER;
    (void)params, (void)type_w, (void)arithmetic;
    k.uplo = fill_letter(uplo), k.a = a, k.lda = lda, k.small[0] = w, k.pivots = found;
    k.job[0] = job == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
    k.range = range == CUSOLVER_EIG_RANGE_I ? 'I' : 'V', k.first = first, k.k = last - first + 1;
    k.alpha[0] = single ? (double)*(float *)above : *(double *)above;
    k.alpha[1] = single ? (double)*(float *)most : *(double *)most;
    spoil_other(a, k.type, k.uplo, n, lda);
    error = compute(&k, info);
    if (error == CUSOLVER_STATUS_SUCCESS && *found < n) /* columns behind the vectors */
        spoil((char *)a + (size_t)(*found * lda) * sc_type_bytes(k.type), k.type, n, n - *found, lda);
    return error;
}

static cusolverStatus_t gesvd_size(H, P, signed char jobu, signed char jobvt, int64_t m, int64_t n, cudaDataType type,
                                   const void *a, int64_t lda, cudaDataType type_s, const void *s, cudaDataType type_u,
                                   const void *u, int64_t ldu, cudaDataType type_v, const void *v, int64_t ldv,
                                   cudaDataType arithmetic, size_t *device, size_t *host)
{
    (void)handle, (void)params, (void)type, (void)a, (void)lda, (void)type_s, (void)s, (void)type_u, (void)u;
    (void)type_v, (void)v, (void)arithmetic, (void)jobu, (void)jobvt;
    return m < n || ldu < m || ldv < n ? CUSOLVER_STATUS_INVALID_VALUE : sizes(device, host);
}
static cusolverStatus_t gesvd(H, P, signed char jobu, signed char jobvt, int64_t m, int64_t n, cudaDataType type,
                              void *a, int64_t lda, cudaDataType type_s, void *s, cudaDataType type_u, void *u,
                              int64_t ldu, cudaDataType type_v, void *v, int64_t ldv, cudaDataType arithmetic, SPACE)
{
    struct sc_kernel k = record(SC_OP_GESVD, type_of(type), m, n);

    ENTER;
    (void)params, (void)type_s, (void)type_u, (void)type_v, (void)arithmetic;
    if (m < n || ldu < m || ldv < n || (jobu != 'N' && !u) || (jobvt != 'N' && !v))
        return CUSOLVER_STATUS_INVALID_VALUE;
    k.a = a, k.lda = lda, k.b = u, k.ldb = ldu, k.c = v, k.ldc = ldv, k.small[0] = s;
    k.job[0] = (char)jobu, k.job[1] = (char)jobvt;
    error = compute(&k, info);
    spoil(a, k.type, m, n, lda);
    fake.qr++;
    return error;
}

static cusolverStatus_t gesvdp_size(H, P, cusolverEigMode_t job, int econ, int64_t m, int64_t n, cudaDataType type,
                                    const void *a, int64_t lda, cudaDataType type_s, const void *s, cudaDataType type_u,
                                    const void *u, int64_t ldu, cudaDataType type_v, const void *v, int64_t ldv,
                                    cudaDataType arithmetic, size_t *device, size_t *host)
{
    (void)handle, (void)params, (void)job, (void)econ, (void)type, (void)a, (void)lda, (void)type_s, (void)s;
    (void)type_u, (void)u, (void)type_v, (void)v, (void)arithmetic;
    return m < n || ldu < m || ldv < n ? CUSOLVER_STATUS_INVALID_VALUE : sizes(device, host);
}
static cusolverStatus_t gesvdp(H, P, cusolverEigMode_t job, int econ, int64_t m, int64_t n, cudaDataType type, void *a,
                               int64_t lda, cudaDataType type_s, void *s, cudaDataType type_u, void *u, int64_t ldu,
                               cudaDataType type_v, void *v, int64_t ldv, cudaDataType arithmetic, void *work,
                               size_t bytes, void *host, size_t host_bytes, int *info, double *shift)
{
    struct sc_kernel k = record(SC_OP_GESVD, type_of(type), m, n);
    void *rows = malloc((size_t)(n * n) * sc_type_bytes(k.type));

    ENTER;
    (void)params, (void)type_s, (void)type_u, (void)type_v, (void)arithmetic, (void)econ;
    if (m < n || ldu < m || ldv < n || job != CUSOLVER_EIG_MODE_VECTOR || !u || !v)
        return CUSOLVER_STATUS_INVALID_VALUE;
    k.a = a, k.lda = lda, k.b = u, k.ldb = ldu, k.c = rows, k.ldc = n, k.small[0] = s;
    k.job[0] = k.job[1] = 'S';
    error = compute(&k, info);
    spoil(a, k.type, m, n, lda);
    transpose(k.type, k.type == SC_S || k.type == SC_D ? CUBLAS_OP_T : CUBLAS_OP_C, n, n, rows, n, v, ldv);
    free(rows);
    spoil((char *)u + m * (int64_t)sc_type_bytes(k.type), k.type, ldu - m, n - 1, ldu); /* as Xgesvdp does */
    spoil((char *)v + n * (int64_t)sc_type_bytes(k.type), k.type, ldv - n, n - 1, ldv);
    *shift = fake.shift;
    if (fake.shift > 0)
        spoil(u, k.type, m, n, ldu);
    if (fake.wrong == 1)
        scale(u, k.type, m, -1);
    if (fake.wrong == 2)
        scale(s, k.type == SC_S || k.type == SC_C ? SC_S : SC_D, 1, 1.5);
    if (fake.wrong == 3)
        scale(v, k.type, n, 1 + 1e-3);
    fake.polar++;
    return error;
}

static cusolverStatus_t geev_size(H, P, cusolverEigMode_t left, cusolverEigMode_t right, int64_t n, cudaDataType type,
                                  const void *a, int64_t lda, cudaDataType type_w, const void *w, cudaDataType type_l,
                                  const void *l, int64_t ldl, cudaDataType type_r, const void *r, int64_t ldr,
                                  cudaDataType arithmetic, size_t *device, size_t *host)
{
    (void)handle, (void)params, (void)type, (void)a, (void)lda, (void)type_w, (void)w, (void)type_l, (void)l;
    (void)ldl, (void)type_r, (void)r, (void)arithmetic;
    return left == CUSOLVER_EIG_MODE_VECTOR || (right == CUSOLVER_EIG_MODE_VECTOR && ldr < n)
               ? CUSOLVER_STATUS_INVALID_VALUE : sizes(device, host);
}
static cusolverStatus_t geev(H, P, cusolverEigMode_t left, cusolverEigMode_t right, int64_t n, cudaDataType type,
                             void *a, int64_t lda, cudaDataType type_w, void *w, cudaDataType type_l, void *l,
                             int64_t ldl, cudaDataType type_r, void *r, int64_t ldr, cudaDataType arithmetic, SPACE)
{
    struct sc_kernel k = record(SC_OP_GEEV, type_of(type), n, n);

    ENTER;
    (void)params, (void)type_w, (void)type_l, (void)type_r, (void)arithmetic, (void)l, (void)ldl;
    if (left == CUSOLVER_EIG_MODE_VECTOR)
        return CUSOLVER_STATUS_INVALID_VALUE;
    k.a = a, k.lda = lda, k.c = r, k.ldc = ldr, k.small[0] = w, k.job[0] = 'N';
    k.job[1] = right == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
    k.small[1] = (char *)w + (size_t)n * sc_type_bytes(k.type);
    error = compute(&k, info);
    spoil(a, k.type, n, n, lda);
    return error;
}

static cusolverStatus_t sytrs_size(H, cublasFillMode_t uplo, int64_t n, int64_t sides, cudaDataType type, const void *a,
                                   int64_t lda, const int64_t *pivots, cudaDataType type_b, void *b, int64_t ldb,
                                   size_t *device, size_t *host)
{
    (void)handle, (void)uplo, (void)type, (void)type_b, (void)sides;
    sizes(device, host);
    *device = pivots ? *device : *device / 2; /* as cuSOLVER: without pivots there are no interchanges */
    return !a || !b || lda < n || ldb < n ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_SUCCESS;
}
static cusolverStatus_t sytrs(H, cublasFillMode_t uplo, int64_t n, int64_t sides, cudaDataType type, const void *a,
                              int64_t lda, const int64_t *pivots, cudaDataType type_b, void *b, int64_t ldb, SPACE)
{
    struct sc_kernel k = record(SC_OP_SYTRS, type_of(type), n, n);

    ENTER;
    (void)type_b;
    if (is_busy) /* as cuSOLVER, which reads the pivots before the copies of its stream */
        return CUSOLVER_STATUS_INTERNAL_ERROR;
    k.uplo = fill_letter(uplo), k.k = sides, k.a = (void *)(uintptr_t)a, k.lda = lda, k.b = b, k.ldb = ldb;
    k.pivots = (int64_t *)(uintptr_t)pivots;
    return compute(&k, info);
}

/* --- the older interface ------------------------------------------------------------------------------------------ */

enum { ELEMENTS = 24 };

static cusolverStatus_t enter_older(void *work, int size)
{
    return size < ELEMENTS || !work ? CUSOLVER_STATUS_INVALID_VALUE : enter(NULL, 0, NULL, 0);
}

static cusolverStatus_t orgqr_of(enum sc_type type, int m, int n, int k, void *a, int lda, const void *tau, int *info)
{
    struct sc_kernel r = record(SC_OP_ORGQR, type, m, n);

    r.k = k, r.a = a, r.lda = lda, r.small[0] = (void *)(uintptr_t)tau;
    return compute(&r, info);
}

static cusolverStatus_t ormqr_of(enum sc_type type, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k,
                                 const void *a, int lda, const void *tau, void *c, int ldc, int *info)
{
    struct sc_kernel r = record(SC_OP_ORMQR, type, m, n);

    r.k = k, r.a = (void *)(uintptr_t)a, r.lda = lda, r.small[0] = (void *)(uintptr_t)tau, r.c = c, r.ldc = ldc;
    r.side = side == CUBLAS_SIDE_LEFT ? 'L' : 'R', r.transa = "NTC"[op];
    return compute(&r, info);
}

static cusolverStatus_t potri_of(enum sc_type type, cublasFillMode_t uplo, int n, void *a, int lda, int *info)
{
    struct sc_kernel r = record(SC_OP_POTRI, type, n, n);

    r.uplo = fill_letter(uplo), r.a = a, r.lda = lda;
    spoil_other(a, type, r.uplo, n, lda);
    return compute(&r, info);
}

static cusolverStatus_t sygvd_of(enum sc_type type, cusolverEigType_t kind, cusolverEigMode_t job,
                                 cublasFillMode_t uplo, int n, void *a, int lda, void *b, int ldb, void *w, int *info)
{
    struct sc_kernel r = record(SC_OP_SYGVD, type, n, n);
    cusolverStatus_t error;

    r.uplo = fill_letter(uplo), r.a = a, r.lda = lda, r.b = b, r.ldb = ldb, r.kl = kind, r.small[0] = w;
    r.job[0] = job == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
    error = compute(&r, info);
    spoil_other(b, type, r.uplo, n, ldb);
    return error;
}

enum { PIVOTS = 4096 };

static cusolverStatus_t sytrf_of(enum sc_type type, cublasFillMode_t uplo, int n, void *a, int lda, int *pivots,
                                 int *info)
{
    struct sc_kernel r = record(SC_OP_SYTRF, type, n, n);
    int64_t wide[PIVOTS];
    cusolverStatus_t error;

    r.uplo = fill_letter(uplo), r.a = a, r.lda = lda, r.pivots = wide;
    spoil_other(a, type, r.uplo, n, lda);
    error = compute(&r, info);
    *info = n == 1 ? 0 : *info; /* as cuSOLVER */
    for (int i = 0; i < n; i++)
        pivots[i] = (int)wide[i];
    return error;
}

/* Rows that are not interchanged are not read: the matrix has as many rows as the pivots say. */
static cusolverStatus_t laswp_of(enum sc_type type, int n, void *a, int lda, int first, int last, const int *pivots,
                                 int step)
{
    struct sc_kernel r = record(SC_OP_LASWP, type, lda, n);
    cusolverStatus_t error = enter(NULL, 0, NULL, 0);
    int64_t wide[PIVOTS];
    int info;

    if (error != CUSOLVER_STATUS_SUCCESS || step != 1 || last > PIVOTS)
        return error != CUSOLVER_STATUS_SUCCESS ? error : CUSOLVER_STATUS_INVALID_VALUE;
    for (int i = 0; i < last; i++)
        wide[i] = pivots[i];
    r.c = a, r.ldc = lda, r.kl = first, r.k = last, r.pivots = wide;
    return compute(&r, &info);
}

#define OLDER(letter, type)                                                                                         \
    static cusolverStatus_t orgqr_size_##letter(H, int m, int n, int k, const void *a, int lda, const void *tau,    \
                                                int *size)                                                          \
    {                                                                                                               \
        (void)handle, (void)m, (void)n, (void)k, (void)a, (void)lda;                                                \
        *size = ELEMENTS;                                                                                           \
        return tau ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;                                       \
    }                                                                                                               \
    static cusolverStatus_t orgqr_##letter(H, int m, int n, int k, void *a, int lda, const void *tau, void *work,   \
                                           int size, int *info)                                                     \
    {                                                                                                               \
        (void)handle;                                                                                               \
        return enter_older(work, size) ? enter_older(work, size) : orgqr_of(type, m, n, k, a, lda, tau, info);      \
    }                                                                                                               \
    static cusolverStatus_t ormqr_size_##letter(H, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, \
                                                const void *a, int lda, const void *tau, const void *c, int ldc,    \
                                                int *size)                                                          \
    {                                                                                                               \
        (void)side, (void)op, (void)c, (void)ldc;                                                                   \
        return orgqr_size_##letter(handle, m, n, k, a, lda, tau, size);                                             \
    }                                                                                                               \
    static cusolverStatus_t ormqr_##letter(H, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k,     \
                                           const void *a, int lda, const void *tau, void *c, int ldc, void *work,   \
                                           int size, int *info)                                                     \
    {                                                                                                               \
        (void)handle;                                                                                               \
        return enter_older(work, size) ? enter_older(work, size)                                                    \
                                       : ormqr_of(type, side, op, m, n, k, a, lda, tau, c, ldc, info);              \
    }                                                                                                               \
    static cusolverStatus_t potri_size_##letter(H, cublasFillMode_t uplo, int n, void *a, int lda, int *size)       \
    {                                                                                                               \
        (void)uplo;                                                                                                 \
        return orgqr_size_##letter(handle, n, n, n, a, lda, a, size);                                               \
    }                                                                                                               \
    static cusolverStatus_t potri_##letter(H, cublasFillMode_t uplo, int n, void *a, int lda, void *work, int size, \
                                           int *info)                                                               \
    {                                                                                                               \
        (void)handle;                                                                                               \
        return enter_older(work, size) ? enter_older(work, size) : potri_of(type, uplo, n, a, lda, info);           \
    }                                                                                                               \
    static cusolverStatus_t sygvd_size_##letter(H, cusolverEigType_t kind, cusolverEigMode_t job,                   \
                                                cublasFillMode_t uplo, int n, const void *a, int lda, const void *b, \
                                                int ldb, const void *w, int *size)                                  \
    {                                                                                                               \
        (void)kind, (void)job, (void)uplo, (void)b, (void)ldb;                                                      \
        return orgqr_size_##letter(handle, n, n, n, a, lda, w, size);                                               \
    }                                                                                                               \
    static cusolverStatus_t sygvd_##letter(H, cusolverEigType_t kind, cusolverEigMode_t job, cublasFillMode_t uplo, \
                                           int n, void *a, int lda, void *b, int ldb, void *w, void *work, int size, \
                                           int *info)                                                               \
    {                                                                                                               \
        (void)handle;                                                                                               \
        return enter_older(work, size) ? enter_older(work, size)                                                    \
                                       : sygvd_of(type, kind, job, uplo, n, a, lda, b, ldb, w, info);               \
    }                                                                                                               \
    static cusolverStatus_t sytrf_size_##letter(H, int n, void *a, int lda, int *size)                              \
    {                                                                                                               \
        return orgqr_size_##letter(handle, n, n, n, a, lda, a, size);                                               \
    }                                                                                                               \
    static cusolverStatus_t sytrf_##letter(H, cublasFillMode_t uplo, int n, void *a, int lda, int *pivots,          \
                                           void *work, int size, int *info)                                         \
    {                                                                                                               \
        (void)handle;                                                                                               \
        return enter_older(work, size) ? enter_older(work, size) : sytrf_of(type, uplo, n, a, lda, pivots, info);   \
    }                                                                                                               \
    static cusolverStatus_t laswp_##letter(H, int n, void *a, int lda, int first, int last, const int *pivots,      \
                                           int step)                                                                \
    {                                                                                                               \
        (void)handle;                                                                                               \
        return laswp_of(type, n, a, lda, first, last, pivots, step);                                                \
    }
OLDER(s, SC_S)
OLDER(d, SC_D)
OLDER(c, SC_C)
OLDER(z, SC_Z)

#define ALL(name) {name##_s, name##_d, name##_c, name##_z}

const struct sc_cuda_solver *sc_cuda_solver(void)
{
    static const struct sc_cuda_solver functions = {
        .Xpotrf_bufferSize = potrf_size, .Xpotrf = potrf, .Xpotrs = potrs, .Xgetrf_bufferSize = getrf_size,
        .Xgetrf = getrf, .Xgetrs = getrs, .Xtrtri_bufferSize = trtri_size, .Xtrtri = trtri,
        .Xgeqrf_bufferSize = geqrf_size, .Xgeqrf = geqrf, .Xsyevd_bufferSize = syevd_size, .Xsyevd = syevd,
        .Xsyevdx_bufferSize = syevdx_size, .Xsyevdx = syevdx,
        .Xgesvd_bufferSize = gesvd_size, .Xgesvd = gesvd, .Xgesvdp_bufferSize = gesvdp_size, .Xgesvdp = gesvdp,
        .Xgeev_bufferSize = geev_size, .Xgeev = geev, .orgqr_size = ALL(orgqr_size), .orgqr = ALL(orgqr),
        .ormqr_size = ALL(ormqr_size), .ormqr = ALL(ormqr), .potri_size = ALL(potri_size), .potri = ALL(potri),
        .sygvd_size = ALL(sygvd_size), .sygvd = ALL(sygvd), .sytrf_size = ALL(sytrf_size), .sytrf = ALL(sytrf),
        .Xsytrs_bufferSize = sytrs_size, .Xsytrs = sytrs, .laswp = ALL(laswp)};

    return &functions;
}
bool sc_cuda_solver_open(void) { return true; }
enum sc_status sc_cuda_solver_handle(struct sc_cuda_stream *queue)
{
    (void)queue;
    return SC_OK;
}

/* --- a device ----------------------------------------------------------------------------------------------------- */

static enum sc_status fake_alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    (void)device;
    *ready = SC_FENCE_NONE;
    *memory = malloc(bytes);
    return *memory ? SC_OK : SC_ERR_DEVICE_MEMORY;
}
static void fake_free(int device, void *memory, const struct sc_fence *after, int count)
{
    (void)device, (void)after, (void)count;
    free(memory);
}
static enum sc_status fake_pin(void *base, size_t bytes)
{
    (void)base, (void)bytes;
    return SC_OK;
}
static void fake_unpin(void *base, size_t bytes) { (void)base, (void)bytes; }
static void *fake_slot(int device)
{
    static int64_t slot[2];

    (void)device;
    return memset(slot, 0xFF, sizeof slot);
}
static enum sc_status fake_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    struct sc_cuda_stream queue = {.stream = NULL};
    struct sc_cuda_call call = {.queue = &queue, .device = device, .stream = stream, .k = kernel};

    return sc_cuda_lapack(&call);
}
static void fake_close(void) {}

const struct sc_device_ops *fake_open(int *count)
{
    static const struct sc_device_ops table = {
        .name = "fake", .close = fake_close, .alloc = fake_alloc, .free = fake_free, .pin = fake_pin,
        .unpin = fake_unpin, .copy = sc_cuda_copy, .runs = sc_cuda_runs, .launch = fake_launch,
        .result_slot = fake_slot, .mark = sc_cuda_mark_amid, .sync = sc_cuda_sync};

    sc_cuda_host = device_host();
    *count = 1;
    return &table;
}
/* SPDX-License-Identifier: BSD-2-Clause */
