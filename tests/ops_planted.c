/* Compiled by tests/ops_planted.t with operations that the library does not have (SC_OP_XPBY, SC_OP_GEADD, SC_OP_POSX).
 * Calls on emulated devices must give the results of loops. Values are small integers: results are exact. */
#include "base/config.h"
#include "blas/blas.h"
#include "tests/coherence_env.h"

enum { N = 50000, ROWS = 90, COLS = 70, ROUTINE = 1 };

/* What a library of the host would have. */
static void dxpby(const int64_t *n, const double *x, const int64_t *incx, const double *beta, double *y,
                  const int64_t *incy)
{
    for (int64_t i = 0; i < *n; i++)
        y[i * *incy] = x[i * *incx] + *beta * y[i * *incy];
}
static void dgeadd(const int64_t *m, const int64_t *n, const double *alpha, const double *a, const int64_t *lda,
                   const double *beta, double *c, const int64_t *ldc)
{
    for (int64_t j = 0; j < *n; j++)
        for (int64_t i = 0; i < *m; i++)
            c[i + j * *ldc] = *alpha * a[i + j * *lda] + *beta * c[i + j * *ldc];
}
static void *symbol(const char *name)
{
    if (strcmp(name, "dxpby_") == 0)
        return (void *)dxpby;
    return strcmp(name, "dgeadd_") == 0 ? (void *)dgeadd : env_symbol(name);
}

static const struct sc_device_ops *real;
static unsigned launched[SC_DEVICES_MAX];

static enum sc_status count_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    __atomic_fetch_add(&launched[device], 1, __ATOMIC_RELAXED);
    return real->launch(device, stream, kernel);
}

static int start(const char *devices)
{
    static struct sc_device_ops counted;
    static struct sc_device_host host;
    int count = 0;

    host = env_host;
    host.blas_symbol = symbol;
    if (sc_device_open(&host, devices, &real, &count) != SC_OK || !real)
        return 0;
    counted = *real;
    counted.launch = count_launch;
    if (sc_coherence_start(&counted, count, &host) != SC_OK || sc_host_faults_start(&env_callbacks) != SC_OK)
        return 0;
    sc_directory_limits.unit_bytes = 64;
    return count;
}

static bool planted_xpby(int devices)
{
    double *x = env_memory(N * sizeof *x), *y = env_memory(N * sizeof *y);
    struct sc_kernel k = {.op = SC_OP_XPBY, .type = SC_D, .n = N, .beta = {3}, .a = x, .b = y, .lda = 1, .ldb = 1};
    bool right = true;

    for (int i = 0; i < N; i++)
        x[i] = i % 7, y[i] = i % 5;
    if (!sc_blas_offload(ROUTINE, &k, false, NULL) || !sc_blas_offload(ROUTINE, &k, false, NULL))
        return false;
    for (int d = 0; d < devices; d++)
        right = right && launched[d] >= 2;
    if (!right)
        printf("a device did nothing\n");
    for (int i = 0; i < N; i++)
        right = right && y[i] == i % 7 + 3 * (i % 7 + 3 * (i % 5));
    return right && sc_kernel_flops(&k) == 2.0 * N;
}

static bool planted_geadd(int devices)
{
    double *a = env_memory(ROWS * COLS * sizeof *a), *c = env_memory(2 * ROWS * COLS * sizeof *c);
    struct sc_kernel k = {.op = SC_OP_GEADD, .type = SC_D, .m = ROWS, .n = COLS, .alpha = {2}, .beta = {-1}, .a = a,
                          .c = c, .lda = ROWS, .ldc = 2 * ROWS};
    bool right = true, done;

    for (int i = 0; i < ROWS * COLS; i++)
        a[i] = i % 9;
    for (int i = 0; i < 2 * ROWS * COLS; i++)
        c[i] = i % 4;
    done = sc_blas_offload(ROUTINE, &k, false, NULL);
    if (!done && devices == 1)
        return false;
    for (int j = 0; j < COLS; j++)
        for (int i = 0; i < 2 * ROWS; i++) {
            int before = (i + j * 2 * ROWS) % 4;

            right = right && c[i + j * 2 * ROWS] == (done && i < ROWS ? 2 * ((i + j * ROWS) % 9) - before : before);
        }
    k.lda = ROWS - 1; /* no longer a valid call */
    return right && !sc_blas_offload(ROUTINE, &k, false, NULL) && strcmp(sc_op_name(k.op), "geadd") == 0;
}

/* A = L L^T for an L of ones, so that A(i, j) = min(i, j) + 1 and A is its own factor's product in integers. */
static bool planted_posx(void)
{
    double *a = env_memory(ROWS * ROWS * sizeof *a), *b = env_memory(ROWS * sizeof *b);
    int64_t info = -1;
    struct sc_kernel k = {.op = SC_OP_POSX, .type = SC_D, .uplo = 'L', .n = ROWS, .k = 1, .a = a, .b = b, .lda = ROWS,
                          .ldb = ROWS, .result = &info};
    bool right = sc_op_parts(k.op) && sc_op_parts(k.op)[1] == SC_OP_POTRS && !sc_op_parts(SC_OP_POTRF);

    for (int j = 0; j < ROWS; j++) {
        b[j] = 0;
        for (int i = 0; i < ROWS; i++) {
            a[i + j * ROWS] = (i < j ? i : j) + 1;
            b[j] += a[i + j * ROWS] * (i % 3);
        }
    }
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        launched[d] = 0;
    if (!sc_blas_offload(ROUTINE, &k, false, NULL) || info || launched[0] < 2)
        return false;
    for (int i = 0; i < ROWS; i++)
        right = right && b[i] == i % 3 && a[i] == 1;
    return right;
}

int main(int argc, char **argv)
{
    int devices;

    sc_config.offload = SC_OFFLOAD_ALWAYS;
    env_init();
    devices = argc > 1 ? start(argv[1]) : 0;
    if (!devices)
        return 1;
    return planted_xpby(devices) && planted_geadd(devices) && planted_posx() ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
