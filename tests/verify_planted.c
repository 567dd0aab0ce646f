/* Verification mode finds bugs. The n-th transfer or the n-th invalidation is left out, for n = 1, 2, ... until the
 * program has no n-th. Asserts that verification reports each bug that changes a result, and that the program still
 * sees right values, since verification hands out the host's result. (This program compiles its own
 * coherence/protocol.c with the place to plant a bug.) */
#include <config.h> /* GNU extensions: memfd_create */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "blas/blas.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

#define N 80

int sc_test_plant;
struct sc_tile *sc_test_planted_tile;

static double *a, *b, *c, *x, *y;
static int log_fd;

static double *array(int64_t n, int seed)
{
    double *p = malloc((size_t)n * sizeof *p);

    for (int64_t i = 0; i < n; i++)
        p[i] = (double)((i * 7 + seed) % 11 - 5) + (double)(i % 100) / 128;
    return p;
}

static void run(struct sc_kernel k)
{
    if (!sc_blas_offload(1, &k, false, NULL))
        sc_coherence_kernel_on_host(&k);
}

static struct sc_kernel product(double *p, double *q, double *r, double beta)
{
    return (struct sc_kernel){.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = N, .n = N, .k = N,
                              .alpha = {1}, .beta = {beta}, .a = p, .b = q, .c = r, .lda = N, .ldb = N, .ldc = N};
}

static struct sc_kernel vectors(enum sc_op op, double *v, double *w, int64_t n, double alpha, double *result)
{
    return (struct sc_kernel){.op = op, .type = SC_D, .n = n, .alpha = {alpha}, .a = v, .b = w, .lda = 1, .ldb = 1,
                              .result = result};
}

/* Every byte moved matters for the values computed. */
static double program(void)
{
    double dot = 0, sum = 0;

    a = array(N * N, 1), b = array(N * N, 2), c = array(N * N, 3), x = array(N * N, 4), y = array(N * N, 5);
    for (int round = 0; round < 3; round++) {
        run(product(a, b, c, 0));
        run(vectors(SC_OP_AXPY, c, x, N * N, 0.5, NULL));
        run(vectors(SC_OP_DOT, x, y, N * N, 0, &dot));
        for (int64_t i = 0; i < N * N; i++)
            a[i] += 0.25 + (double)i / 1024; /* the CPU writes an input, */
        sum += dot + c[5];
        run(vectors(SC_OP_SCAL, y, NULL, N * N, -1.5, NULL));
        for (int64_t i = 0; i < N * N; i += 2)
            c[i] += 1; /* and a result */
        run(product(c, a, b, 1));
        for (int64_t i = 0; i < N * N; i++)
            b[i] *= 0.001;
    }
    for (int64_t i = 0; i < N * N; i++)
        sum += a[i] + b[i] + c[i] + x[i] + y[i];
    free(a), free(b), free(c), free(x), free(y);
    return sum;
}

static bool log_has(const char *words)
{
    static char text[262144];
    ssize_t n = pread(log_fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return strstr(text, words) != NULL;
}

/* Opens and closes the devices, so that every run starts from the same state. */
static double run_with(bool verify, int invalidation, uint64_t transfer)
{
    double sum;

    if (ftruncate(log_fd, 0) == 0)
        lseek(log_fd, 0, SEEK_SET);
    sc_blas_diverged = sc_blas_verified = 0;
    env_start("emu:h200x8:1", 0);
    sc_directory_limits.unit_bytes = 512;
    if (verify)
        sc_blas_verify_start();
    sc_test_plant = invalidation;
    sc_test_planted_tile = NULL;
    sc_emu_inject(0, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = transfer, .skip = true});
    sum = program();
    sc_coherence_stop();
    return sum;
}

static bool same(double p, double q) { return p - q < 1e-9 * q && q - p < 1e-9 * q; } /* false for NaN */

static void sweep(const char *what, bool transfers, double want)
{
    int planted = 0, found = 0, wrong = 0, silent = 0;

    for (int n = 1; n < 1000; n++, planted++) {
        double sum = run_with(true, transfers ? 0 : n, transfers ? (uint64_t)n : 0);

        if (transfers ? !log_has("is left out as asked") : sc_test_plant > 0)
            break;
        found += sc_blas_diverged > 0;
        silent += sc_blas_diverged == 0 && !same(sum, want);
        wrong += !same(sum, want);
        if (sc_blas_diverged && n == 1)
            tap_ok(log_has("verify: call ") && log_has("gemm (m 80, n 80, k 80, transa N") && log_has("off by") &&
                   log_has("operand: matrix ") && log_has(", tile 0 (rows 0 to ") && log_has("verify:   ") &&
                   log_has("transfer"),
                   "the report says call, arguments, element, tile and the tile's last events");
    }
    tap_ok(planted > 10 && found > planted / 2, "of %d %s left out one at a time, %d were found", planted, what, found);
    tap_ok(silent == 0 && wrong == 0, "what was not found did no harm (%d did), and what was found neither (%d)",
           silent, wrong);
}

int main(void)
{
    int kept = dup(STDERR_FILENO);
    double want, found_none;

    if (!env_is_emulated()) {
        printf("1..0 # SKIP bugs are planted into emulated devices\n");
        return 0;
    }
    env_init();
    log_fd = memfd_create("log", 0);
    dup2(log_fd, STDERR_FILENO);
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_config.check = 0; /* the checks would find some of the bugs */
    sc_trace_keep();
    want = run_with(false, 0, 0);
    tap_ok(!same(run_with(false, 0, 3), want), "a transfer that is left out changes the result");
    tap_ok(!same(run_with(false, 6, 0), want), "an invalidation that is left out changes the result");
    found_none = run_with(true, 0, 0);
    tap_ok(same(found_none, want) && sc_blas_diverged == 0 && sc_blas_verified == 15,
           "no bug, no report: %d calls verified", (int)sc_blas_verified);
    sweep("transfers", true, want);
    sweep("invalidations", false, want);
    dup2(kept, STDERR_FILENO);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
