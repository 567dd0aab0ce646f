/* cuBLAS calls: routing, scalars, status. */
#include "cuda-um/blas.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* --- routing ------------------------------------------------------------------------------------------------------ */

static bool any_managed(const void *const *p, int n)
{
    for (int i = 0; i < n; i++)
        if (sc_um_is_managed(p[i]))
            return true;
    return false;
}

static bool all_managed(const void *const *p, int n)
{
    bool all = true;

    for (int i = 0; i < n; i++)
        all &= !p[i] || sc_um_is_managed(p[i]);
    return all;
}

/* Kernels have the operands, or are expected to use them soon. */
static bool are_kernels(const void *const *p, int n)
{
    return (sc_um_all_united(p, n) && sc_um_expects_kernels()) || sc_um_all_lent(p, n);
}

static size_t bytes_of(const void *p)
{
    struct sc_um_block block;

    return sc_um_block_of(p, &block) ? block.bytes : 0;
}

/* Whether a call belongs to CUDA for its operands.  If work names its blocks, an operand of the kernels' draws the
 * others along: all calls on them go to CUDA, and the data stays there.  With several devices small operands do not
 * draw large ones along: a matrix that no kernel uses stays on all devices. */
static bool kernels_have(const void *const *p, int n)
{
    size_t kernels = 0, rest = 0;

    if (!sc_um_by_name())
        return are_kernels(p, n);
    for (int i = 0; i < n; i++)
        if (p[i])
            *(are_kernels(&p[i], 1) ? &kernels : &rest) += bytes_of(p[i]);
    return kernels && (kernels >= rest || sc_um_one_device()) && all_managed(p, n);
}

static bool any_device_only(const void *const *p, int n)
{
    for (int i = 0; i < n; i++)
        if (p[i] && sc_um_is_device_only(p[i]))
            return true;
    return false;
}

bool sc_um_is_capturing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

    return SC_UM_BEHIND(cudaStreamIsCapturing)(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

static void home_for(const void *const *memory, int memories, const void *const *scalars, int count,
                     cudaStream_t stream)
{
    struct sc_um_named named = {.count = 0};

    for (int i = 0; i < memories; i++)
        sc_um_name(&named, memory[i]);
    for (int i = 0; i < count; i++)
        sc_um_name(&named, scalars[i]);
    sc_um_home_named(&named, &stream);
}

bool sc_um_takes(cudaStream_t stream, const void *const *memory, int memories, bool on_device,
                 const void *const *scalars, int count, bool may_pass, bool alone)
{
    bool managed;

    if (sc_um_way() == SC_UM_EMULATED)
        return true;
    managed = any_managed(memory, memories);
    if (managed && !(may_pass && kernels_have(memory, memories)) && !any_device_only(memory, memories) &&
        !sc_um_is_capturing(stream)) {
        sc_um_settle();
        return true;
    }
    if (!managed && !(on_device && any_managed(scalars, count)))
        return false;
    if (alone)
        home_for(memory, memories, scalars, on_device || all_managed(scalars, count) ? count : 0, stream);
    else
        sc_um_home(&stream);
    return false;
}

bool sc_um_begin(struct sc_um_call *call, const void *caller, cublasHandle_t handle, const void *const *memory,
                 int memories, const void *const *scalars, int count)
{
    cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
    cudaStream_t stream = NULL;

    *call = (struct sc_um_call){.handle = handle, .status = CUBLAS_STATUS_SUCCESS};
    if (sc_um_passes(caller))
        return false;
    if (!handle)
        call->status = CUBLAS_STATUS_NOT_INITIALIZED;
    else {
        SC_UM_BEHIND(cublasGetPointerMode_v2)(handle, &mode);
        SC_UM_BEHIND(cublasGetStream_v2)(handle, &stream);
    }
    call->device_scalars = mode == CUBLAS_POINTER_MODE_DEVICE;
    if (sc_um_takes(stream, memory, memories, call->device_scalars, scalars, count, true,
                    true))
        return true;
    /* CUDA's address of lent memory is the device's: the function reads and writes scalars there. */
    if (!call->device_scalars && sc_um_way() == SC_UM_MAPPED && sc_um_all_lent(scalars, count))
        call->switched = SC_UM_BEHIND(cublasSetPointerMode_v2)(handle, CUBLAS_POINTER_MODE_DEVICE) ==
                         CUBLAS_STATUS_SUCCESS;
    return false;
}

cublasStatus_t sc_um_passed(const struct sc_um_call *call, cublasStatus_t status)
{
    if (call->switched)
        SC_UM_BEHIND(cublasSetPointerMode_v2)(call->handle, CUBLAS_POINTER_MODE_HOST);
    return status;
}

/* rotg by the definition of the reference BLAS: OpenBLAS 0.3.26 leaves part of r uninitialised. */
static void complex_rotation(double complex *a, double complex b, double *c, double complex *s)
{
    double size = cabs(*a), norm = hypot(size, cabs(b)); /* sums of squares could overflow */

    *c = size > 0 ? size / norm : 0;
    *s = size > 0 ? *a / size * (conj(b) / norm) : 1;
    *a = size > 0 ? *a / size * norm : b;
}

static void crotg(float complex *a, const float complex *b, float *c, float complex *s)
{
    double complex wide_a = *a, wide_s;
    double wide_c;

    complex_rotation(&wide_a, *b, &wide_c, &wide_s);
    *a = (float complex)wide_a;
    *c = (float)wide_c;
    *s = (float complex)wide_s;
}

static void zrotg(double complex *a, const double complex *b, double *c, double complex *s)
{
    complex_rotation(a, *b, c, s);
}

void *sc_um_need(struct sc_um_call *call, void **found, const char *name)
{
    void *routine = __atomic_load_n(found, __ATOMIC_ACQUIRE);

    if (!routine && strcmp(name, "crotg_64_") == 0)
        __atomic_store_n(found, routine = (void *)crotg, __ATOMIC_RELEASE);
    if (!routine && strcmp(name, "zrotg_64_") == 0)
        __atomic_store_n(found, routine = (void *)zrotg, __ATOMIC_RELEASE);
    if (!routine && sc_um_inner->computes())
        __atomic_store_n(found, routine = sc_um_routine(name), __ATOMIC_RELEASE);
    if (!routine && call->status == CUBLAS_STATUS_SUCCESS)
        call->status = CUBLAS_STATUS_NOT_SUPPORTED;
    return routine;
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

static char letter(struct sc_um_call *call, unsigned value, const char *letters)
{
    sc_um_require(call, value < strlen(letters));
    return value < strlen(letters) ? letters[value] : '?';
}

char sc_um_trans(struct sc_um_call *call, cublasOperation_t trans) { return letter(call, trans, "NTC"); }
char sc_um_side(struct sc_um_call *call, cublasSideMode_t side) { return letter(call, side, "LR"); }
char sc_um_uplo(struct sc_um_call *call, cublasFillMode_t uplo) { return letter(call, uplo, "LU"); }
char sc_um_diag(struct sc_um_call *call, cublasDiagType_t diag) { return letter(call, diag, "NU"); }

static void failed(struct sc_um_call *call, cudaError_t error)
{
    if (error != cudaSuccess && call->status == CUBLAS_STATUS_SUCCESS)
        call->status = CUBLAS_STATUS_EXECUTION_FAILED;
}

const void *sc_um_scalar(struct sc_um_call *call, int slot, const void *at, size_t bytes)
{
    cudaStream_t stream = NULL;

    sc_um_require(call, at != NULL);
    if (call->status != CUBLAS_STATUS_SUCCESS || !call->device_scalars || !sc_um_is_device_only(at))
        return at;
    SC_UM_BEHIND(cublasGetStream_v2)(call->handle, &stream);
    failed(call, sc_um_copy(call->scalar[slot].c, at, bytes, stream));
    return call->scalar[slot].c;
}

void sc_um_result(struct sc_um_call *call, void *at, const void *value, size_t bytes)
{
    cudaStream_t stream = NULL;

    if (!call->device_scalars || !sc_um_is_device_only(at)) {
        memcpy(at, value, bytes);
        return;
    }
    SC_UM_BEHIND(cublasGetStream_v2)(call->handle, &stream);
    failed(call, sc_um_copy(at, value, bytes, stream));
}

void sc_um_copy_matrix(struct sc_um_call *call, sc_um_copy_routine *copy, int64_t m, int64_t n, const void *b,
                       int64_t ldb, void *c, int64_t ldc, size_t element)
{
    const int64_t one = 1, all = m * n;

    if (call->status != CUBLAS_STATUS_SUCCESS || !m || !n || b == c)
        return;
    if (ldb == m && ldc == m) {
        copy(&all, b, &one, c, &one);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        copy(&m, (const char *)b + (size_t)(j * ldb) * element, &one, (char *)c + (size_t)(j * ldc) * element, &one);
}
/* SPDX-License-Identifier: BSD-2-Clause */
