/* Calls every cuBLAS function that libsemcache-cuda-um maps, with every combination of letters, in the two pointer
 * modes and with two pairs of increments. The call works on managed memory; the host BLAS's routine works on ordinary
 * memory, and the two results are compared. The calls are generated from blas/veneers/routines.tab
 * (cuda-um/generate.awk); this file has their operands.
 *
 *     um_blas [seed] */
#include <complex.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "base/types.h"
#include "tests/tap.h"
#include "tests/um.h"

/* WORDS: doubles reserved for a scalar. rotm has 5 parameters; complex scalars are aligned to 16 bytes. */
enum { LD = 64, COLUMNS = 48, SCALARS = 12, RESULT = 8, WORDS = 6 };

/* Sizes, all different; every matrix fits into LD x COLUMNS. */
static const int m = 37, n = 29, k = 23, kl = 3, ku = 2, lda = LD, ldb = LD, ldc = LD;
static int incx, incy;
static uint64_t state;

struct side {
    void *A, *B, *C, *X, *Y;
    double (*scalar)[WORDS]; /* 0: alpha, 1: beta, from 2: arguments by address, RESULT */
};
static struct side um, host;
static double host_scalars[SCALARS][WORDS] __attribute__((aligned(16)));
static double um_scalars[SCALARS][WORDS] __attribute__((aligned(16)));
static double (*managed_scalars)[WORDS];
static cublasHandle_t handle;
static enum sc_type type_now;
static char failure[256];
static const char *checked = ""; /* the function */
static int compared;

static const size_t elements = (size_t)LD * COLUMNS;

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static double number(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(int64_t)(state * UINT64_C(2685821657736338717)) * 0x1p-63;
}

static bool is_single(enum sc_type t) { return t == SC_S || t == SC_C; }
static size_t reals(enum sc_type t) { return sc_type_is_complex(t) ? 2 : 1; }

static void put(void *at, size_t i, double value)
{
    if (is_single(type_now))
        ((float *)at)[i] = (float)value;
    else
        ((double *)at)[i] = value;
}
static double get(const void *at, size_t i)
{
    return is_single(type_now) ? (double)((const float *)at)[i] : ((const double *)at)[i];
}

static void fill(void *ours, void *theirs)
{
    for (size_t i = 0; i < elements * reals(type_now); i++)
        put(ours, i, number());
    memcpy(theirs, ours, elements * sc_type_bytes(type_now));
}

/* A triangle of A gets a dominant diagonal, so that solves are well-conditioned. */
static size_t diagonal(char storage, int upper, int j)
{
    if (storage == 'B')
        return (size_t)(j * LD + (upper ? k : 0));
    if (storage == 'P')
        return (size_t)(upper ? j * (j + 1) / 2 + j : j * n - j * (j - 1) / 2);
    return (size_t)(j * LD + j);
}

static void dominate(char storage, int upper)
{
    for (int j = 0; j < (storage == 'F' ? COLUMNS : n); j++)
        put(host.A, diagonal(storage, upper, j) * reals(type_now), 40 + j);
    /* Scaled to keep the powers of A small. */
    for (size_t i = 0; i < elements * reals(type_now); i++)
        put(host.A, i, get(host.A, i) / 32);
    memcpy(um.A, host.A, elements * sc_type_bytes(type_now));
}

static void begin(enum sc_type type, char storage, int uplo)
{
    type_now = type;
    fill(host.A, um.A);
    dominate(storage, uplo == CUBLAS_FILL_MODE_UPPER);
    fill(host.B, um.B);
    fill(host.C, um.C);
    fill(host.X, um.X);
    fill(host.Y, um.Y);
    memset(host.scalar, 0, sizeof host_scalars);
    for (size_t i = 0; i < SCALARS; i++)
        for (size_t j = 0; j < WORDS; j++)
            put(host.scalar[i], j, number());
    if (strstr(checked, "rotm_"))
        put(host.scalar[2], 0, -1); /* rotm's flag: -2, -1, 0 or 1; libraries differ for other values */
    memcpy(um.scalar, host.scalar, sizeof host_scalars);
}

/* trmm out of place. */
static void copy_b_to_c(enum sc_type type)
{
    size_t element = sc_type_bytes(type);

    for (size_t j = 0; j < (size_t)n; j++)
        memcpy((char *)host.C + j * LD * element, (char *)host.B + j * LD * element, (size_t)m * element);
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static void complain(const char *name, const char *what, double got, double wanted)
{
    if (!failure[0])
        snprintf(failure, sizeof failure, "%s, increments %d and %d: %s is %g, and should be %g", name, incx, incy,
                 what, got, wanted);
}

static void compare(const char *name, const char *what, const void *got, const void *wanted, size_t count)
{
    double most = 1;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(get(wanted, i)));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(get(got, i) - get(wanted, i)) <= 1000 * (is_single(type_now) ? FLT_EPSILON : DBL_EPSILON) * most)) {
            complain(name, what, get(got, i), get(wanted, i));
            return;
        }
}

/* index_bytes: size of an integer result; 0: the result is a number. */
static void end(const char *name, cublasStatus_t status, int index_bytes)
{
    size_t count = elements * reals(type_now), real_bytes = sc_type_bytes(type_now) / reals(type_now);

    compared++;
    if (status != CUBLAS_STATUS_SUCCESS)
        complain(name, "the status", status, 0);
    if (cudaDeviceSynchronize() != cudaSuccess)
        complain(name, "the synchronization's status", 1, 0);
    compare(name, "an element of A", um.A, host.A, count);
    compare(name, "an element of B", um.B, host.B, count);
    compare(name, "an element of C", um.C, host.C, count);
    compare(name, "an element of x", um.X, host.X, count);
    compare(name, "an element of y", um.Y, host.Y, count);
    compare(name, "a scalar", um.scalar, host.scalar, sizeof host_scalars / SCALARS * RESULT / real_bytes);
    if (index_bytes) {
        if (memcmp(um.scalar[RESULT], host.scalar[RESULT], (size_t)index_bytes) != 0)
            complain(name, "the index", *(int *)um.scalar[RESULT], *(int *)host.scalar[RESULT]);
    } else {
        compare(name, "the result", um.scalar[RESULT], host.scalar[RESULT], reals(type_now));
    }
}

/* rotg by its definition: OpenBLAS 0.3.26 leaves the imaginary part of r undefined. */
static void define_rotg(double complex *a, double complex b, double *c, double complex *s)
{
    double size = cabs(*a), norm = hypot(size, cabs(b));
    double complex phase = *a / size;

    *c = size / norm;
    *s = phase * conj(b) / norm;
    *a = phase * norm;
}
static void define_crotg(float complex *a, const float complex *b, float *c, float complex *s)
{
    double complex wide_a = *a, wide_s;
    double wide_c;

    define_rotg(&wide_a, *b, &wide_c, &wide_s);
    *a = (float complex)wide_a;
    *c = (float)wide_c;
    *s = (float complex)wide_s;
}
static void define_zrotg(double complex *a, const double complex *b, double *c, double complex *s)
{
    define_rotg(a, *b, c, s);
}

/* The host BLAS's routine, although other libraries of this program define the same name. */
static void *reference(const char *name)
{
    static void *library;

    if (strcmp(name, "crotg_") == 0)
        return (void *)define_crotg;
    if (strcmp(name, "zrotg_") == 0)
        return (void *)define_zrotg;
    if (!library)
        library = dlopen(REFERENCE_BLAS, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

#include "cuda-um/checks.h"

/* --- the program -------------------------------------------------------------------------------------------------- */

static void allocate(void)
{
    void **const ours[] = {&um.A, &um.B, &um.C, &um.X, &um.Y};
    void **const theirs[] = {&host.A, &host.B, &host.C, &host.X, &host.Y};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        *ours[i] = um_managed(elements * 16);
        *theirs[i] = malloc(elements * 16);
    }
    managed_scalars = um_managed(sizeof um_scalars);
    host.scalar = host_scalars;
}

static void test_function(size_t i)
{
    failure[0] = '\0';
    compared = 0;
    checked = checks[i].name;
    for (int device = 0; device < 2; device++) {
        cublasSetPointerMode(handle, device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
        um.scalar = device ? managed_scalars : um_scalars;
        incx = device ? 2 : 1;
        incy = device ? -1 : 1;
        checks[i].check();
    }
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    if (!tap_ok(!failure[0] && compared, "%s: %d calls", checks[i].name, compared))
        tap_diag("%s", failure);
}

typedef void gemm_routine(const char *, const char *, const int *, const int *, const int *, const void *,
                          const void *, const int *, const void *, const int *, const void *, void *, const int *);

/* The products of gemm, called as cublasGemmEx. */
static void test_gemm_ex(void)
{
    static const cublasComputeType_t computes[SC_TYPES] = {CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F,
                                                           CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_64F};
    static const cudaDataType types[SC_TYPES] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};

    failure[0] = '\0';
    compared = 0;
    um.scalar = um_scalars;
    for (int t = 0; t < SC_TYPES; t++) {
        char name[] = "?gemm_";
        cublasComputeType_t compute = t == SC_S && um_is_cuda_alone() ? CUBLAS_COMPUTE_32F : computes[t];
        cublasStatus_t status;

        name[0] = sc_type_letter((enum sc_type)t);
        begin((enum sc_type)t, 'F', 0);
        status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, um.scalar[0], um.A, types[t], lda, um.B,
                              types[t], ldb, um.scalar[1], um.C, types[t], ldc, compute, CUBLAS_GEMM_DEFAULT);
        ((gemm_routine *)reference(name))("N", "T", &m, &n, &k, host.scalar[0], host.A, &lda, host.B, &ldb,
                                          host.scalar[1], host.C, &ldc);
        end("cublasGemmEx", status, 0);
    }
    if (!tap_ok(!failure[0], "cublasGemmEx: %d calls", compared))
        tap_diag("%s", failure);
}

/* Invalid arguments: the call returns an error, prints no line and writes no element. */
static void test_invalid(void)
{
    double *a = um.A, *c = um.C, one = 1, before;
    cublasOperation_t no = CUBLAS_OP_N;

    type_now = SC_D;
    begin(SC_D, 'F', 0);
    before = c[0];
    tap_ok(cublasDgemm(NULL, no, no, 4, 4, 4, &one, a, 4, a, 4, &one, c, 4) == CUBLAS_STATUS_NOT_INITIALIZED,
           "a call without a handle");
    tap_ok(cublasDgemm(handle, no, no, -1, 4, 4, &one, a, 4, a, 4, &one, c, 4) == CUBLAS_STATUS_INVALID_VALUE,
           "a negative size");
    tap_ok(cublasDgemm(handle, no, no, 4, 4, 4, &one, a, 3, a, 4, &one, c, 4) == CUBLAS_STATUS_INVALID_VALUE,
           "a leading dimension that is too small");
    tap_ok(cublasDgemm(handle, (cublasOperation_t)7, no, 4, 4, 4, &one, a, 4, a, 4, &one, c, 4) ==
               CUBLAS_STATUS_INVALID_VALUE, "an operation that there is not");
    tap_ok(cublasDgemm(handle, no, no, 4, 4, 4, NULL, a, 4, a, 4, &one, c, 4) == CUBLAS_STATUS_INVALID_VALUE,
           "no alpha");
    tap_ok(cublasDgemv(handle, no, 4, 4, &one, a, 4, a, 0, &one, c, 1) == CUBLAS_STATUS_INVALID_VALUE,
           "an increment of zero");
    tap_ok(cublasDgemm(handle, no, no, 0, 4, 4, &one, a, 4, a, 4, &one, c, 4) == CUBLAS_STATUS_SUCCESS,
           "no rows: nothing to do");
    tap_ok(cudaDeviceSynchronize() == cudaSuccess && c[0] == before, "none has written anything");
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261121;
    state |= 1;
    tap_diag("seed %llu", (unsigned long long)state);
    if (!reference("dgemm_")) {
        printf("1..0 # SKIP %s is not there\n", REFERENCE_BLAS);
        return 0;
    }
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        printf("Bail out! no handle\n");
        return 99;
    }
    allocate();
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        test_function(i);
    test_gemm_ex();
    if (!um_is_cuda_alone()) /* CUDA prints lines of its own */
        test_invalid();
    cublasDestroy(handle);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
