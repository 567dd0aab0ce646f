/* The host's seconds that decide when devices open, by calls of a program whose devices stay closed. Asserts that the
 * sum is at most the time on the clock, for calls one after the other, side by side, and of LAPACK. */
#include <pthread.h>
#include <stdlib.h>

#include "autotuner/explain.h"
#include "autotuner/opening.h"
#include "autotuner/plan.h"
#include "base/config.h"
#include "blas/veneers/prototypes.h"
#include "tests/tap.h"

enum { N = 400, THREADS = 4, CALLS = 10 };

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
             int *info);

void dgemm_batch_strided_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                          const double *alpha, const double *a, const int *lda, const int *stridea, const double *b,
                          const int *ldb, const int *strideb, const double *beta, double *c, const int *ldc,
                          const int *stridec, const int *count);

static const int n = N, lwork = 64 * N;
static const double one = 1, zero = 0;
static double a[N * N], b[N * N];

static bool stays_closed(bool now) { return (void)now, false; }

static void *multiply(void *c)
{
    for (int i = 0; i < CALLS; i++)
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
    return NULL;
}

static void one_after_the_other(void)
{
    static double c[N * N];

    multiply(c);
}

static void side_by_side(void)
{
    static double c[THREADS][N * N];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, multiply, c[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void factorize(void)
{
    static double c[N * N], work[64 * N], tau[N];
    static int ipiv[N], info;

    for (int i = 0; i < N * N; i++)
        c[i] = a[i];
    dgetrf_(&n, &n, c, &n, ipiv, &info);
    dgeqrf_(&n, &n, c, &n, tau, work, &lwork, &info);
}

/* Products below the limit of large calls, above it in all. */
static void batch(void)
{
    static double c[N * N];
    static const int order = 20, step = 400, count = N;

    dgemm_batch_strided_("N", "N", &order, &order, &order, &one, a, &order, &step, b, &order, &step, &zero, c, &order,
                         &step, &count);
}

/* A product without work is announced, too. */
static void nothing(void)
{
    static double c[N * N];

    dgemm_("N", "N", &n, &n, &n, &zero, a, &n, b, &n, &zero, c, &n);
}

static void check(const char *what, void (*run)(void), bool counts)
{
    double began, took;

    sc_autotuner_reset();
    began = sc_explain_clock(-1);
    run();
    took = sc_explain_clock(-1) - began;
    tap_ok(sc_autotuner_spent() >= 0 && sc_autotuner_spent() <= took, "%s: %g of %g s", what, sc_autotuner_spent(),
           took);
    if (counts)
        tap_ok(sc_autotuner_spent() > 0, "%s: measured", what);
}

/* The sum after a call on an empty sum. */
static double after(double seconds, bool is_lapack)
{
    sc_autotuner_reset();
    sc_opening_ran(0, seconds, is_lapack);
    return sc_autotuner_spent();
}

int main(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    if (sc_blas_host_open(NULL) != SC_OK)
        tap_skip_all("no host BLAS");
    sc_config.device = "cuda:0"; /* emulated devices would open at once */
    sc_blas_start = stays_closed;
    sc_blas_small[3] = 0;
    for (int i = 0; i < N * N; i++) {
        a[i] = (double)(i * 7919 % 1000) / 1000 + (i % (N + 1) ? 0 : N);
        b[i] = 1;
    }
    check("products", one_after_the_other, true);
    check("products side by side", side_by_side, true);
    check("a product without work", nothing, false);
    sc_blas_small[3] = 131072;
    check("a batch", batch, true);
    if (sc_blas_host_symbol("dgetrf_"))
        check("factorizations", factorize, true);
    tap_ok(after(1e-3, false) == 1e-3 && after(0.1, true) == 0.1, "calls that devices may serve faster count");
    tap_ok(after(1e-4, false) < 2e-5 && after(1e-3, true) < 2e-4, "shorter ones count a tenth");
    sc_config.open = SC_OPEN_BACKGROUND;
    check("products, devices opening", one_after_the_other, true);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
