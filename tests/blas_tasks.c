/* On the fake protocol. Asserts how many tasks a call becomes, where the tasks run, and which calls are left to the
 * host. Of a product whose operands are on their way, asserts an order in which the device waits for the first strips
 * only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotuner/strips.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "blas/blas.h"
#include "blas/run/product.h"
#include "device/device.h"
#include "tests/blas_random.h"
#include "tests/fake_coherence.h"
#include "tests/tap.h"
#include "trace/trace.h"

#define N 64
static double a[N * N], b[N * N], c[N * N], x[N], y[N];

static struct sc_kernel gemm(int64_t m, int64_t n, int64_t k, double beta)
{
    return (struct sc_kernel){.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = m, .n = n, .k = k,
                              .alpha = {1, 0}, .beta = {beta, 0}, .a = a, .b = b, .c = c, .lda = N, .ldb = N, .ldc = N};
}

static struct sc_kernel gemv(char trans)
{
    return (struct sc_kernel){.op = SC_OP_GEMV, .type = SC_D, .transa = trans, .m = N, .n = N, .alpha = {1, 0}, .a = a,
                              .b = x, .c = y, .lda = N, .ldb = 1, .ldc = 1};
}

static struct sc_kernel level2(enum sc_op op)
{
    struct sc_kernel k = gemv('N');

    k.op = op;
    k.uplo = 'U';
    k.diag = 'N';
    k.kl = k.ku = 3;
    return k;
}

static void plain(int devices, int64_t tile_rows, int64_t tile_cols, enum fake_homes homes)
{
    fake = (struct fake){.devices = devices, .tile_rows = tile_rows, .tile_cols = tile_cols, .tile_vector = 1 << 20,
                         .sector = 1, .homes = homes};
}

static int tasks_of(struct sc_kernel kernel)
{
    fake.tasks = 0;
    memset(fake.tasks_on, 0, sizeof fake.tasks_on);
    if (!sc_blas_offload(7, &kernel, false, NULL))
        return -1;
    return fake.tasks;
}

static void test_counts(void)
{
    double result[2];
    struct sc_kernel dot = {.op = SC_OP_DOT, .type = SC_D, .n = N, .a = x, .b = y, .lda = 1, .ldb = 1,
                            .result = result};
    uint64_t in = sc_stats.percall_in, out = sc_stats.percall_out, calls = sc_stats.offloaded[7];

    plain(1, 1 << 20, 1 << 20, FAKE_ONE);
    tap_ok(tasks_of(gemm(N, N, N, 0)) == 1, "a product of matrices in one tile each is one task");
    tap_ok(sc_stats.offloaded[7] == calls + 1 && sc_stats.percall_in - in == 2 * sizeof a &&
           sc_stats.percall_out - out == sizeof c,
           "and is counted, with what copying would have moved");
    tap_ok(tasks_of(gemv('N')) == 1 && tasks_of(gemv('T')) == 1, "a matrix times a vector likewise");
    tap_ok(tasks_of(dot) == 1, "a dot product likewise");
    tap_ok(tasks_of(level2(SC_OP_SYMV)) == 1 && tasks_of(level2(SC_OP_TRMV)) == 1 &&
               tasks_of(level2(SC_OP_GBMV)) == 1 && tasks_of(level2(SC_OP_SPMV)) == 1,
           "a symmetric, triangular, banded or packed one too");
    plain(2, N / 2, 1 << 20, FAKE_BY_ROWS);
    fake.phase = 0;
    tap_ok(tasks_of(gemv('N')) >= 2 && fake.tasks_on[0] && fake.tasks_on[1], "rows on two devices: both work");
    tap_ok(tasks_of(level2(SC_OP_SYMV)) >= 4 && fake.tasks_on[0] && fake.tasks_on[1], "of a symmetric matrix too");
    plain(2, 1 << 20, N / 2, FAKE_BY_COLS);
    tasks_of(gemm(N, N, N, 0));
    tap_ok(fake.tasks_on[0] && fake.tasks_on[1], "columns of C on two devices: both work");
}

static void test_refusals(void)
{
    struct sc_kernel k = gemm(N, N, N, 0);

    plain(1, 1 << 20, 1 << 20, FAKE_ONE);
    k.alpha[0] = 0;
    tap_ok(tasks_of(k) < 0, "alpha = 0 is for the host");
    tap_ok(tasks_of(gemm(0, N, N, 0)) < 0 && tasks_of(gemm(N, N, 0, 0)) < 0, "nothing to do is for the host");
    k = gemm(N, N, N, 0);
    k.ldc = N - 1;
    tap_ok(tasks_of(k) < 0, "a leading dimension that is too small is for the host");
    k = gemv('N');
    k.ldb = 0;
    tap_ok(tasks_of(k) < 0, "an increment of zero is for the host");
    fake.conflict = true;
    tap_ok(tasks_of(gemv('N')) < 0 && fake.tasks == 0,
           "operands that cannot be tracked: the host, and no task has run");
    plain(1, 1 << 20, N / 2, FAKE_ONE);
    tap_ok(tasks_of(level2(SC_OP_GBMV)) < 0 && fake.tasks == 0, "a banded matrix in several tiles is for the host");
    plain(0, 1 << 20, 1 << 20, FAKE_ONE);
    tap_ok(tasks_of(gemv('N')) < 0, "no devices: the host");
    plain(1, 1 << 20, 1 << 20, FAKE_ONE);
    sc_config.offload = SC_OFFLOAD_NEVER;
    tap_ok(tasks_of(gemv('N')) < 0, "never is never");
    sc_config.offload = SC_OFFLOAD_ALWAYS;
}

/* A product with operands on the host, large enough for several strips, against the host BLAS. */
static bool strips_right(char transa, char transb, double beta, int devices, int64_t tile, int *prefetches,
                         int *partial)
{
    int64_t m = transa == 'N' ? 24 : 4200, n = 2200, k = transa == 'N' ? 2300 : 40;
    struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = SC_D, .transa = transa, .transb = transb, .m = m, .n = n,
                               .k = k,
                               .alpha = {1, 0}, .beta = {beta, 0}, .lda = transa == 'N' ? m : k,
                               .ldb = transb == 'N' ? k : n, .ldc = m};
    double *p = malloc((size_t)(m * k) * sizeof *p), *q = malloc((size_t)(k * n) * sizeof *q);
    double *r = malloc((size_t)(m * n) * sizeof *r), *s = malloc((size_t)(m * n) * sizeof *s);
    double worst = 0;

    for (int64_t i = 0; i < m * k; i++)
        p[i] = (double)(i % 17) - 8;
    for (int64_t i = 0; i < k * n; i++)
        q[i] = (double)(i % 13) - 6;
    for (int64_t i = 0; i < m * n; i++)
        r[i] = s[i] = beta == 0 ? NAN : (double)(i % 7);
    plain(devices, 1 << 20, tile, FAKE_BY_COLS);
    fake.cold = true;
    fake.sector = 20;
    sc_strips_fixed = 1024; /* would not pay with so few rows */
    kernel.a = p, kernel.b = q, kernel.c = r;
    sc_blas_offload(7, &kernel, false, NULL);
    *prefetches = fake.prefetches;
    *partial = fake.partial_writes;
    kernel.c = s;
    sc_device_kernel_host(reference_symbol, &kernel);
    for (int64_t i = 0; i < m * n; i++) /* whole numbers: exact in any order */
        worst = fabs(r[i] - s[i]) <= worst ? worst : fabs(r[i] - s[i]) + (isnan(r[i]) ? 1 : 0);
    sc_strips_fixed = 0;
    free(p), free(q), free(r), free(s);
    return worst == 0;
}

static void test_strips(void)
{
    for (int devices = 1; devices <= 3; devices += 2)
        for (int i = 0; i < 8; i++) {
            char transa = i & 1 ? 'T' : 'N', transb = i & 2 ? 'T' : 'N';
            int prefetches, partial;
            bool good = strips_right(transa, transb, i & 4 ? 1 : 0, devices, devices == 1 ? 1 << 20 : 700,
                                     &prefetches, &partial);

            tap_ok(good && prefetches >= 3 && !partial && !fake.errors,
                   "first use, trans %c%c, beta %d, %d devices: right, %d strips asked for, no tile of C written in "
                   "part before it is cleared", transa, transb, i >> 2, devices, prefetches);
        }
}

/* Tiles of 30 columns make more than SC_PRODUCT_PARTS_MAX parts of n and of k: blocks in order, without a schedule. */
static void test_many_parts(void)
{
    enum { TILE = 30 };

    for (int beta = 0; beta < 2; beta++) {
        int prefetches, partial;
        bool good = strips_right('N', 'N', beta, 3, TILE, &prefetches, &partial);

        tap_ok(good && !prefetches && !partial && !fake.errors && fake.tasks > 4000 && fake.tasks_on[2],
               "more parts than a schedule has, beta %d: right, in %d tasks without a request", beta, fake.tasks);
    }
}

/* --- the other operations of level 3 on operands that arrive in strips --- */

enum { ROOM = 4300 * 4300 };
static double *arriving[4]; /* a, b, c, and c as computed by the host */

/* Small numbers, and a diagonal that makes solves easy. */
static void fill(double *p, const struct slot_shape *s)
{
    for (int64_t i = 0; i < s->rows * s->cols; i++)
        p[i] = i % (s->rows + 1) == 0 ? 2 : (double)(i % 13 - 6) / 8192;
}

/* As the host, in at least `least` tasks. */
static void arrive_at(bool home, struct sc_kernel k, int devices, int least)
{
    struct slot_shape s[3];
    int output = 0;
    double worst = 0;

    plain(devices, 1 << 20, devices == 1 ? 1 << 20 : 700, FAKE_BY_COLS);
    fake.cold = true;
    fake.sector = 20;
    fake.goes_home = home;
    k.type = SC_D;
    k.alpha[0] = 0.5;
    k.beta[0] = 0.25;
    for (int i = 0; i < 3; i++) {
        if (!slot_shape(&k, i, &s[i]))
            continue;
        fill(arriving[i], &s[i]);
        *slot_pointer(&k, i) = arriving[i];
        *slot_ld(&k, i) = s[i].rows;
        output = i;
    }
    fill(arriving[3], &s[output]);
    sc_blas_offload(7, &k, false, NULL);
    *slot_pointer(&k, output) = arriving[3];
    sc_device_kernel_host(reference_symbol, &k);
    for (int64_t i = 0; i < s[output].rows * s[output].cols; i++)
        if (!(fabs(arriving[output][i] - arriving[3][i]) <= worst))
            worst = fabs(arriving[output][i] - arriving[3][i]);
    tap_ok(worst < 1e-12 && fake.tasks >= least && !fake.errors,
           "first use of %s %c%c%c%c, %d devices: %d tasks, error %g", sc_op_name(k.op), k.side ? k.side : '-', k.uplo,
           k.transa ? k.transa : '-', k.transb ? k.transb : '-', devices, fake.tasks, worst);
}

static void arrive(struct sc_kernel k, int devices, int least) { arrive_at(false, k, devices, least); }

static void test_arrivals(void)
{
    enum { LONG = 4200, WIDE = 2200, SHORT = 24, HALF = 1000 };

    for (int i = 0; i < 4; i++)
        arriving[i] = malloc(ROOM * sizeof **arriving);
    for (int i = 0; i < 8; i++) {
        char side = i & 1 ? 'R' : 'L', trans = i & 2 ? 'T' : 'N', uplo = (i & 1) == (i >> 2) ? 'U' : 'L';
        struct sc_kernel k = {.op = i & 4 ? SC_OP_TRMM : SC_OP_TRSM, .side = side, .uplo = uplo, .transa = trans,
                              .diag = 'N', .m = i & 1 ? SHORT : LONG, .n = i & 1 ? LONG : SHORT};

        arrive(k, 1, 3);
    }
    for (int devices = 1; devices <= 3; devices += 2) {
        arrive((struct sc_kernel){.op = SC_OP_TRSM, .side = 'L', .uplo = 'L', .transa = 'N', .diag = 'U', .m = HALF,
                                  .n = WIDE}, devices, 2);
        arrive((struct sc_kernel){.op = SC_OP_SYMM, .side = 'L', .uplo = 'U', .m = HALF, .n = WIDE}, devices, 2);
        arrive((struct sc_kernel){.op = SC_OP_SYMM, .side = 'R', .uplo = 'L', .m = SHORT, .n = LONG}, devices, 4);
        arrive((struct sc_kernel){.op = SC_OP_SYRK, .uplo = 'U', .transa = 'N', .n = HALF, .k = WIDE}, devices, 2);
        arrive((struct sc_kernel){.op = SC_OP_SYR2K, .uplo = 'L', .transa = 'T', .n = LONG, .k = SHORT}, devices, 4);
        arrive((struct sc_kernel){.op = SC_OP_GEMMT, .uplo = 'U', .transa = 'T', .transb = 'N', .n = LONG, .k = SHORT},
               devices, 3);
    }
    for (int i = 0; i < 4; i++) { /* the first columns add strips as they arrive, the others go home one by one */
        struct sc_kernel k = {.op = i & 2 ? SC_OP_SYR2K : SC_OP_SYRK, .uplo = i & 1 ? 'U' : 'L', .transa = 'N',
                              .n = LONG, .k = WIDE};

        arrive_at(true, k, 1, 4);
    }
    for (int i = 0; i < 4; i++)
        free(arriving[i]);
}

/* n strips of A (along k) and of B (along n) arrive in turn, one per unit of time. */
static void test_schedule(void)
{
    enum { STRIPS = 8 };
    struct sc_cuts one = {.n = 1, .at = {0, STRIPS}}, many = {.n = STRIPS};
    struct sc_pipeline p;
    struct sc_pipeline_task t;
    int next[STRIPS] = {0}, last_done = -1, tasks = 0, in_order = 1, covered = 0, joined = 0, early = 0;
    double idle_end;

    for (int i = 0; i <= STRIPS; i++)
        many.at[i] = i;
    sc_pipeline_init(&p, sc_product_parts(&one), sc_product_parts(&many), sc_product_parts(&many), 1);
    sc_pipeline_expect_nothing(&p, false);
    early += sc_pipeline_next(&p, 100, &t);
    p.rate = STRIPS / 4.0 * 1; /* a block of 8 x 1 x 1 takes four units: the devices soon become the bottleneck */
    for (int s = 0; s < STRIPS; s++) {
        p.b[s * STRIPS] = 2 * s + 1;
        for (int l = 1; l < STRIPS; l++)
            p.b[l + s * STRIPS] = p.b[s * STRIPS];
        p.a[s] = 2 * s + 2;
        early += s == 0 && sc_pipeline_next(&p, 1.5, &t);
    }
    tap_ok(!early, "no block begins before what it needs is known to come, nor after the horizon");
    while (sc_pipeline_next(&p, INFINITY, &t)) {
        tasks++;
        in_order &= t.l == next[t.j] && t.l_end > t.l;
        next[t.j] = t.l_end;
        covered += t.l_end - t.l;
        joined += t.l_end - t.l > 1;
        if (t.l_end == STRIPS) {
            in_order &= t.j > last_done;
            last_done = t.j;
        }
    }
    idle_end = p.load[0].run - STRIPS * STRIPS * 4;
    tap_ok(covered == STRIPS * STRIPS && in_order,
           "every block once, parts of the sum ascending, columns finished in order");
    tap_ok(joined > 0 && tasks < STRIPS * STRIPS, "neighbouring parts are joined: %d tasks", tasks);
    tap_ok(idle_end <= 3, "the device waits for the first strips and for nothing else: %g units", idle_end);
    sc_pipeline_free(&p);
}

/* The operands of the second column arrive after the whole of A. The column's parts of the sum become one task in
 * ascending order, even if the device's order is different. */
static void test_straight(void)
{
    enum { STRIPS = 4 };
    struct sc_cuts one = {.n = 1, .at = {0, 1}}, two = {.n = 2, .at = {0, 1, 2}}, many = {.n = STRIPS};
    struct sc_pipeline p;
    struct sc_pipeline_task t;
    int tasks[2] = {0}, l[2] = {-1, -1}, l_end = 0;

    for (int i = 0; i <= STRIPS; i++)
        many.at[i] = i;
    sc_pipeline_init(&p, sc_product_parts(&one), sc_product_parts(&two), sc_product_parts(&many), 1);
    p.rate = 1;
    for (int i = 0; i < STRIPS; i++) {
        p.order[i] = STRIPS - 1 - i;
        p.a[i] = STRIPS - i;
        p.b[i + STRIPS] = STRIPS + 1;
    }
    while (sc_pipeline_next(&p, INFINITY, &t)) {
        l[t.j] = tasks[t.j]++ ? l[t.j] : t.l;
        l_end = t.l_end;
    }
    tap_ok(tasks[0] == STRIPS && l[0] == STRIPS - 1, "a block whose parts come in turn: in the device's order");
    tap_ok(tasks[1] == 1 && l[1] == 0 && l_end == STRIPS, "one for which all is there: at once");
    sc_pipeline_free(&p);
}

/* A host of 100 Gflop/s beside a device of `flops` flop/s. */
static void measured(double flops)
{
    struct sc_database *db = sc_database_new("test", 1);

    for (int64_t n = 256; n <= 2048; n *= 2)
        for (int host = 0; host < 2; host++)
            sc_database_add_kernel(db, &(struct sc_database_kernel){
                                           .place = host ? SC_PLACE_HOST : 0, .op = SC_OP_GEMM, .type = SC_D, .size = n,
                                           .seconds = 2 * pow((double)n, 3) / (host ? 1e11 : flops)});
    db->link[SC_PLACE_HOST][0] = db->link[0][SC_PLACE_HOST] = (struct sc_database_link){1e-5, 50e9};
    sc_database_index(db);
    sc_autotuner_use(db);
}

/* Offload auto: a host not much slower than the device takes a share of large products. */
static void test_together(void)
{
    enum { LARGE = 1024 };
    double *x_ = calloc((size_t)LARGE * LARGE, sizeof *x_), *y_ = calloc((size_t)LARGE * LARGE, sizeof *y_);
    struct sc_kernel kernel = gemm(LARGE, LARGE, LARGE, 0);
    int tasks;

    kernel.a = kernel.b = x_, kernel.c = y_;
    kernel.lda = kernel.ldb = kernel.ldc = LARGE;
    plain(1, 1 << 20, 1 << 20, FAKE_ONE);
    fake.host_has = true;
    sc_config.offload = SC_OFFLOAD_AUTO;
    sc_config.host_share = -1;
    measured(4e11);
    tasks = tasks_of(kernel);
    tap_ok(tasks == 1 && fake.host_columns > 0 && fake.host_columns < LARGE / 3,
           "the host does %d of %d columns beside a slow device", (int)fake.host_columns, LARGE);
    fake.host_columns = 0;
    fake.host_has = false;
    tap_ok(tasks_of(kernel) == 1 && fake.host_columns == 0, "not where it lacks something");
    fake.host_has = true;
    measured(5e13);
    tap_ok(tasks_of(kernel) == 1 && fake.host_columns == 0, "nor beside a fast one");
    fake.host_has = false;
    sc_config.host_share = 0;
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_autotuner_use(NULL);
    free(x_);
    free(y_);
}

int main(void)
{
    target_start();
    for (int i = 0; i < N * N; i++)
        a[i] = b[i] = i % 5;
    test_counts();
    test_refusals();
    test_strips();
    test_many_parts();
    test_arrivals();
    test_schedule();
    test_straight();
    test_together();
    tap_ok(fake.errors == 0, "no piece crossed a cut, no temporary was lost");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
