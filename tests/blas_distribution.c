/* Routines one after the other on the same matrices, on several devices, in virtual time. The program writes the
 * operands and reads the result of every call. A dgemm leaves its matrices in columns. The next routine must take as
 * long as on new matrices. All links to the host must carry a part of an operand that every device needs. Transfers and
 * kernels must overlap. Results of such sequences are compared with the host's in tests/blas_triangles.c and by
 * bench/level3. */
#include <math.h>
#include <stdlib.h>

#include "autotuner/machine.h"
#include "base/config.h"
#include "bench/paper.h"
#include "coherence/protocol.h"
#include "tests/tap.h"

enum { N = 8192, ROUNDS = 5 };

static void call(enum paper_routines routine, const struct paper_matrix *a, const struct paper_matrix *b,
                 const struct paper_matrix *c)
{
    struct sc_kernel kernel = paper_square(routine, a, b, c);
    const struct paper_matrix *result = paper_routine[routine].in_place ? b : c;
    size_t bytes = (size_t)N * N * sizeof(double);

    kernel.beta[0] = 0;
    sc_coherence_acquire_host((uintptr_t)a->at, bytes, SC_RDWR);
    sc_coherence_acquire_host((uintptr_t)b->at, bytes, SC_RDWR);
    paper_wait();
    paper_call(&kernel);
    paper_move(result, SC_HOST);
    paper_wait();
}

/* Seconds of the last round; before >= 0: rounds of that routine go first. */
static double seconds_of(int before, enum paper_routines routine, uint64_t *reshapes, struct paper_figures *figures)
{
    struct paper_matrix a = paper_matrix(N, N), b = paper_matrix(N, N), c = paper_matrix(N, N);
    double start = 0;

    for (int i = 0; i < ROUNDS && before >= 0; i++)
        call((enum paper_routines)before, &a, &b, &c);
    *reshapes = sc_stats.reshapes;
    for (int i = 0; i < ROUNDS; i++) {
        paper_begin(figures);
        start = sc_coherence_virtual_seconds();
        call(routine, &a, &b, &c);
        start = sc_coherence_virtual_seconds() - start;
        paper_end(figures);
    }
    *reshapes = sc_stats.reshapes - *reshapes;
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
    return start;
}

static void test_after(enum paper_routines before, enum paper_routines routine)
{
    struct paper_figures figures;
    uint64_t none, reshapes;
    double alone = seconds_of(-1, routine, &none, &figures);
    double after = seconds_of((int)before, routine, &reshapes, &figures);

    tap_ok(after <= 1.05 * alone && none == 0 && reshapes <= 3, "%s: %.2f ms, after %s %.2f ms, %llu matrices anew",
           paper_routine[routine].name, 1e3 * alone, paper_routine[before].name, 1e3 * after,
           (unsigned long long)reshapes);
}

/* Bytes of the device with the most, times the number of devices, to the bytes of all. A triangle of A travels, and
 * its columns are unequal. */
static void test_links(enum paper_routines routine, int devices)
{
    struct paper_figures figures;
    uint64_t none, most = 0, all = 0;

    seconds_of(-1, routine, &none, &figures);
    for (int d = 0; d < devices; d++) {
        most = figures.bytes[PAPER_HOST][d] > most ? figures.bytes[PAPER_HOST][d] : most;
        all += figures.bytes[PAPER_HOST][d];
    }
    tap_ok(all && (double)most * devices <= 1.25 * (double)all,
           "%s on %d devices: the busiest link carries %.2f times its share", paper_routine[routine].name, devices,
           all ? (double)most * devices / (double)all : 0);
}

/* Uploads, kernels and copies home take place beside each other.  most: of the time one after the other, with all links
 * in use. */
static void test_overlap(enum paper_routines routine, int devices, double most)
{
    const struct sc_device_properties *device = sc_coherence_device_properties(0);
    double link = sc_machine_link(device, SC_HOST) * devices, seconds, sum;
    double products = paper_routine[routine].flops / 2 * N * N * N;
    struct paper_figures figures;
    uint64_t none, moved = 0;

    seconds = seconds_of(-1, routine, &none, &figures);
    for (int d = 0; d < devices; d++)
        moved += figures.bytes[PAPER_HOST][d] + figures.bytes[d][PAPER_HOST];
    sum = (double)moved / link + products / (sc_machine_products(device, SC_D) * devices);
    tap_ok(seconds <= most * sum, "%s on %d devices takes %.2f of its transfers and kernels one after the other",
           paper_routine[routine].name, devices, seconds / sum);
}

/* A is both operands, and each operand wants A distributed in its way: A stays as it is, and the call runs. */
static void test_square(void)
{
    struct paper_matrix a = paper_matrix(N, N), c = paper_matrix(N, N);
    uint64_t reshapes = sc_stats.reshapes, offloaded = sc_stats.bytes[SC_H2D];

    for (int i = 0; i < 3; i++)
        call(PAPER_GEMM, &a, &a, &c);
    tap_ok(sc_stats.reshapes == reshapes && sc_stats.bytes[SC_H2D] > offloaded, "a square: no matrix is made anew");
    paper_free(&a);
    paper_free(&c);
}

/* A is the upper half of an array: its rows go up, the other rows of the array do not. */
static void test_part(int devices)
{
    struct paper_matrix a = paper_matrix(N, N), c = paper_matrix(N / 2, N / 2);
    struct sc_kernel kernel = paper_square(PAPER_SYRK, &a, &a, &c);
    uint64_t before = sc_stats.bytes[SC_H2D], part = (uint64_t)N * N / 2 * sizeof(double);

    kernel.n = N / 2;
    kernel.k = N;
    kernel.lda = N;
    kernel.ldc = N / 2;
    kernel.beta[0] = 0;
    paper_call(&kernel);
    paper_wait();
    before = sc_stats.bytes[SC_H2D] - before;
    tap_ok(before >= part && before < part + part / 8, "a part of an array on %d devices: %.3g of its bytes go up",
           devices, (double)before / (double)part);
    paper_free(&a);
    paper_free(&c);
}

int main(void)
{
    static const enum paper_routines triangular[] = {PAPER_SYMM, PAPER_TRMM, PAPER_TRSM};

    if (!getenv("top_srcdir"))
        tap_skip_all("no top_srcdir");
    for (int devices = 2; devices <= 4; devices += 2) {
        char machine[32];

        snprintf(machine, sizeof machine, "h200x8:%d", devices);
        paper_open(machine);
        sc_config.push = 1;
        for (int r = PAPER_GEMM + 1; r < PAPER_ROUTINES; r++)
            test_after(PAPER_GEMM, (enum paper_routines)r);
        test_after(PAPER_SYRK, PAPER_GEMM);
        for (size_t i = 0; i < sizeof triangular / sizeof *triangular; i++)
            test_links(triangular[i], devices);
        test_overlap(devices == 2 ? PAPER_TRMM : PAPER_SYR2K, devices, 0.82);
        test_overlap(PAPER_SYRK, devices, 0.9); /* the strips of all devices go home behind the last part of the sum */
        test_overlap(PAPER_TRSM, devices, devices == 2 ? 0.9 : 1.2); /* the solves come beside the products */
        test_square();
        test_part(devices);
        paper_close();
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
