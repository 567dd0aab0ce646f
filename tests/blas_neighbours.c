/* The vectors of an iterative solver, next to a matrix on devices. The host would be faster for a vector call alone,
 * but the host's results would have to be uploaded, and the devices' results fetched. Asserts where the calls run, and
 * the bytes moved. Values are small integers, so results are exact. */
#include <math.h>

#include "autotuner/autotuner.h"
#include "autotuner/demand.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "blas/blas.h"
#include "tests/offloaded.h"

enum { N = 3000, SETTLED = 20, ITERATIONS = 30 };

/* Kernels and overheads of an H200 and 32 cores, as measured in seconds when the devices were first opened. */
static struct sc_database *measured(int devices)
{
    static const struct sc_database_kernel kernels[] = {
        {.place = 0, .op = SC_OP_AXPY, .type = SC_D, .size = 1 << 14, .seconds = 4e-6},
        {.place = 0, .op = SC_OP_AXPY, .type = SC_D, .size = 1 << 20, .seconds = 6e-6},
        {.place = 0, .op = SC_OP_DOT, .type = SC_D, .size = 1 << 14, .seconds = 9e-6},
        {.place = 0, .op = SC_OP_DOT, .type = SC_D, .size = 1 << 20, .seconds = 12e-6},
        {.place = 0, .op = SC_OP_GEMV, .type = SC_D, .size = 2048, .seconds = 13e-6},
        {.place = 0, .op = SC_OP_GEMV, .type = SC_D, .size = 4096, .seconds = 38e-6},
        {.place = SC_PLACE_HOST, .op = SC_OP_AXPY, .type = SC_D, .size = 1 << 14, .seconds = 7e-6},
        {.place = SC_PLACE_HOST, .op = SC_OP_AXPY, .type = SC_D, .size = 1 << 20, .seconds = 20e-6},
        {.place = SC_PLACE_HOST, .op = SC_OP_DOT, .type = SC_D, .size = 1 << 14, .seconds = 7e-6},
        {.place = SC_PLACE_HOST, .op = SC_OP_DOT, .type = SC_D, .size = 1 << 20, .seconds = 15e-6},
        {.place = SC_PLACE_HOST, .op = SC_OP_GEMV, .type = SC_D, .size = 2048, .seconds = 130e-6},
        {.place = SC_PLACE_HOST, .op = SC_OP_GEMV, .type = SC_D, .size = 4096, .seconds = 300e-6},
    };
    struct sc_database *db = sc_database_new("test", devices);

    db->calls = (struct sc_database_calls){true, 12e-6, 12e-6, 10e-6, 20e-6, {0.7, 0.4}, 0.9};
    db->enqueue = 6e-6;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (int place = 0; place < (kernels[i].place == 0 ? devices : 1); place++) {
            struct sc_database_kernel kernel = kernels[i];

            kernel.place = kernel.place == 0 ? (uint8_t)place : kernel.place;
            sc_database_add_kernel(db, &kernel);
        }
    for (int d = 0; d < devices; d++)
        db->link[d][SC_PLACE_HOST] = db->link[SC_PLACE_HOST][d] = (struct sc_database_link){8e-6, 55e9};
    sc_database_index(db);
    return db;
}

/* --- a solver ----------------------------------------------------------------------------------------------------- */

struct solver {
    double *a, *b, *x, *r, norm;
    int on_devices; /* calls */
};

/* I - A maps even elements to odd elements, and odd elements to 0: two iterations solve the system. */
static void make(struct solver *s)
{
    *s = (struct solver){.a = malloc(sizeof(double) * N * N), .b = malloc(sizeof(double) * N),
                         .x = calloc(N, sizeof(double)), .r = calloc(N, sizeof(double))};
    for (int j = 0; j < N; j++) {
        s->b[j] = j % 5 - 2;
        for (int i = 0; i < N; i++)
            s->a[i + (size_t)j * N] = i == j ? 1 : i % 2 && j % 2 == 0 && (3 * i + j) % 7 == 0 ? -1 : 0;
    }
}

static double solution(int i)
{
    double sum = i % 5 - 2;

    for (int j = 0; i % 2 && j < N; j += 2)
        sum += (3 * i + j) % 7 == 0 ? j % 5 - 2 : 0;
    return sum;
}

static void release(struct solver *s)
{
    free(s->a), free(s->b), free(s->x), free(s->r);
}

static struct sc_view operand(const double *at, bool vector, enum sc_access access)
{
    return (struct sc_view){.ptr = at, .rows = N, .cols = vector ? 1 : N, .ld = vector ? 1 : N, .type = SC_D,
                            .vector = vector, .access = access};
}

/* Makes the call as a veneer does. */
static void call(struct solver *s, struct sc_kernel k, enum sc_access last)
{
    bool matrix = k.op == SC_OP_GEMV;
    struct sc_view operands[] = {operand(k.a, !matrix, SC_READ), operand(k.b, true, matrix ? SC_READ : last),
                                 operand(k.c, true, SC_RDWR)};

    k.type = SC_D, k.m = k.n = N, k.result = &s->norm;
    if (!matrix)
        k.lda = k.ldb = 1;
    if (sc_blas_offload(1, &k, false, NULL)) {
        s->on_devices++;
        return;
    }
    sc_blas_host_operands(operands, matrix ? 3 : k.b ? 2 : 1);
    sc_inside_enter();
    sc_device_kernel_host(env_symbol, &k);
    sc_inside_leave();
}

static void copy(struct solver *s) { call(s, (struct sc_kernel){.op = SC_OP_COPY, .a = s->b, .b = s->r}, SC_WRITE); }
static void add(struct solver *s)
{
    call(s, (struct sc_kernel){.op = SC_OP_AXPY, .a = s->r, .b = s->x, .alpha = {1, 0}}, SC_RDWR);
}
static void norm(struct solver *s) { call(s, (struct sc_kernel){.op = SC_OP_NRM2, .a = s->r}, SC_READ); }
static void residual(struct solver *s)
{
    call(s, (struct sc_kernel){.op = SC_OP_GEMV, .transa = 'N', .a = s->a, .b = s->x, .c = s->r, .lda = N, .ldb = 1,
                               .ldc = 1, .alpha = {-1, 0}, .beta = {1, 0}}, SC_READ);
}

static void iterate(struct solver *s)
{
    copy(s);
    residual(s);
    norm(s);
    add(s);
}

static bool is_solved(const struct solver *s)
{
    int wrong = 0;

    for (int i = 0; i < N; i++)
        wrong += s->x[i] != solution(i);
    return !wrong && s->norm == 0;
}

/* --- what happens to it ------------------------------------------------------------------------------------------- */

static uint64_t moved(void)
{
    return sc_stats.bytes[SC_H2D] + sc_stats.bytes[SC_D2H];
}

static void test_solver(int devices)
{
    struct solver s;
    uint64_t before = 0;

    sc_autotuner_reset();
    make(&s);
    for (int i = 0; i < ITERATIONS; i++) {
        if (i == SETTLED)
            s.on_devices = 0, before = moved();
        iterate(&s);
    }
    tap_ok(s.on_devices == 4 * (ITERATIONS - SETTLED),
           "%d devices: where the matrix is all vectors are (%d of %d calls)", devices, s.on_devices,
           4 * (ITERATIONS - SETTLED));
    tap_ok(moved() == before, "and nothing goes to and fro: %d bytes", (int)(moved() - before));
    tap_ok(is_solved(&s), "solved");
    release(&s);
}

/* Vectors without a matrix: the host is faster. */
static void test_vectors(void)
{
    struct solver s;

    sc_autotuner_reset();
    make(&s);
    for (int i = 0; i < ITERATIONS; i++) {
        copy(&s);
        norm(&s);
        add(&s);
    }
    tap_ok(s.on_devices == 0, "vectors alone stay on the host (%d calls on devices)", s.on_devices);
    tap_ok(s.x[3] == ITERATIONS * s.b[3], "with their values");
    release(&s);
}

/* Vectors that stop meeting a matrix go home. */
static void test_afterwards(int devices)
{
    enum { LEAVING = 1000 };
    struct solver s;
    uint64_t before = 0;

    sc_autotuner_reset();
    make(&s);
    for (int i = 0; i < ITERATIONS; i++)
        iterate(&s);
    for (int i = 0; i < LEAVING + ITERATIONS; i++) {
        if (i == LEAVING)
            s.on_devices = 0, before = moved();
        copy(&s);
        norm(&s);
        add(&s);
    }
    tap_ok(s.on_devices == 0 && moved() == before, "%d devices: without the matrix they are on the host (%d calls not)",
           devices, s.on_devices);
    tap_ok(s.x[3] == solution(3) + (LEAVING + ITERATIONS) * s.b[3], "with their values");
    release(&s);
}

/* The program writes x in each iteration: a later read by devices creates no demand for axpy's result. */
static void test_writing(int devices)
{
    struct solver s;
    bool wanted;

    sc_autotuner_reset();
    make(&s);
    for (int i = 0; i < ITERATIONS; i++) {
        iterate(&s);
        for (int j = 0; j < N; j++)
            s.x[j] += s.b[j] - solution(j);
    }
    wanted = sc_demand_of_result(s.r, SC_OP_COPY) && !sc_demand_of_result(s.x, SC_OP_AXPY);
    tap_ok(wanted, "%d devices: what the program writes each time is not expected there", devices);
    for (int i = 0; i < 3; i++)
        iterate(&s);
    tap_ok(is_solved(&s), "solved all the same");
    release(&s);
}

/* The program looks at every vector in each iteration. */
static void test_looking(void)
{
    struct solver s;
    double sum = 0;
    uint64_t before = sc_stats.bytes[SC_D2H];

    sc_autotuner_reset();
    make(&s);
    for (int i = 0; i < ITERATIONS; i++) {
        iterate(&s);
        for (int j = 0; j < N; j++)
            sum += s.r[j] + s.x[j];
    }
    tap_ok(sc_stats.bytes[SC_D2H] - before <= 2 * ITERATIONS * N * sizeof(double), "which come home at most once each");
    tap_ok(is_solved(&s) && isfinite(sum), "a program that looks at its vectors finds the right ones");
    release(&s);
}

/* to's row or column j := from's column or row j, as a veneer does. */
static bool copies_on_devices(const double *from, int64_t from_step, double *to, int64_t to_step)
{
    const struct sc_kernel k = {.op = SC_OP_COPY, .type = SC_D, .n = N, .a = (void *)(uintptr_t)from, .b = to,
                                .lda = from_step, .ldb = to_step};

    return offloaded(k);
}

/* The program transposes a matrix by a copy for each row, the devices use the result, and the columns become the rows
 * of another matrix: so NumPy calls LAPACK.  Each row is in every sector of its matrix, which would go to devices. */
static void test_rows(int devices)
{
    double *in = calloc((size_t)N * N, sizeof *in), *out = malloc(sizeof(double) * N * N);
    int into = 0, from = 0, wrong = 0;
    struct solver s;

    sc_autotuner_reset();
    make(&s);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            in[j + (size_t)i * N] = s.a[i + (size_t)j * N];
    for (int round = 0; round < 3; round++) {
        for (int j = 0; j < N; j++)
            into += copies_on_devices(in + j, N, s.a + (size_t)j * N, 1);
        for (int i = 0; i < N; i++)
            s.x[i] = 0;
        for (int i = 0; i < ITERATIONS; i++)
            iterate(&s);
        wrong += !is_solved(&s);
        for (int j = 0; j < N; j++)
            from += copies_on_devices(s.a + (size_t)j * N, 1, out + j, N);
        for (size_t i = 0; i < (size_t)N * N; i++)
            wrong += out[i] != in[i];
    }
    tap_ok(into == 0 && from == 0, "%d devices: copies from rows and to rows are the host's (%d and %d are not)",
           devices, into, from);
    tap_ok(!wrong, "with the right values");
    free(in);
    free(out);
    release(&s);
}

int main(void)
{
    env_init();
    sc_config.offload = SC_OFFLOAD_AUTO;
    env_timeless = true;
    for (int devices = 1; devices <= 2; devices++) {
        char name[32];

        snprintf(name, sizeof name, "emu:h200x8:%d", devices);
        sc_autotuner_use(measured(env_start(name, 0)));
        test_solver(sc_coherence_devices());
        test_vectors();
        test_afterwards(devices);
        test_writing(devices);
        test_looking();
        test_rows(devices);
        sc_coherence_stop();
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
