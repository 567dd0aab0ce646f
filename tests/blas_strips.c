/* Repeated products in virtual time. Asserts which widths of strips the autotuner tries, how long the calls take with
 * these widths, and when a call counts as complete for its observer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotuner/strips.h"
#include "autotuner/trials.h"
#include "base/config.h"
#include "bench/paper.h"
#include "coherence/protocol.h"
#include "tests/tap.h"

enum { ROUNDS = 12, N = 8192 };

/* Seconds of each round, up to the moment when C is at home. */
static void rounds_of(int64_t n, bool kept, bool read, double seconds[ROUNDS])
{
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n), c = paper_matrix(n, n);
    struct sc_kernel kernel = paper_gemm(&a, &b, &c);
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);

    kernel.beta[0] = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double start;

        if (!kept) {
            sc_coherence_acquire_host((uintptr_t)a.at, bytes, SC_RDWR);
            sc_coherence_acquire_host((uintptr_t)b.at, bytes, SC_RDWR);
        }
        paper_wait();
        start = sc_coherence_virtual_seconds();
        paper_call(&kernel);
        if (read)
            paper_move(&c, SC_HOST);
        paper_wait();
        seconds[i] = sc_coherence_virtual_seconds() - start;
    }
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
}

static void rounds(bool kept, bool read, double seconds[ROUNDS]) { rounds_of(N, kept, read, seconds); }

static bool near(double a, double b) { return fabs(a - b) < 1e-6 * b; }

/* The line of the trials about the product with resident operands. */
static char *known(void)
{
    char *text, *line;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    sc_trials_write(out);
    fclose(out);
    line = strstr(text, "# dgemm NN 8192 8192 8192 0:");
    line = line ? strndup(line, strcspn(line, "\n")) : strdup("");
    free(text);
    tap_diag("%s", line + (*line == '#'));
    return line;
}

static void test_kept(void)
{
    double seconds[ROUNDS], again[ROUNDS], least, most;
    bool same = true;
    char *line;

    sc_trials_reset();
    rounds(true, true, seconds);
    line = known();
    least = most = seconds[1];
    for (int i = 2; i < ROUNDS; i++) {
        least = seconds[i] < least ? seconds[i] : least;
        most = seconds[i] > most ? seconds[i] : most;
    }
    tap_ok(strstr(line, "(2: ") && strstr(line, ", chosen "), "a result that the program reads: widths were tried");
    tap_ok(most > 1.01 * least && most < 1.15 * least, "none of them much slower: %.4g to %.4g ms", 1e3 * least,
           1e3 * most);
    tap_ok(seconds[ROUNDS - 1] <= 1.005 * least && near(seconds[ROUNDS - 2], seconds[ROUNDS - 1]),
           "and the best kept");
    free(line);
    sc_trials_reset();
    rounds(true, true, again);
    for (int i = 1; i < ROUNDS; i++)
        same = same && near(seconds[i], again[i]);
    tap_ok(same, "the same each time");
    sc_trials_reset();
    rounds(true, false, seconds);
    line = known();
    tap_ok(!strstr(line, "(2: "), "nothing is tried where nobody reads the result");
    free(line);
}

static double of_width(int64_t width)
{
    double seconds[ROUNDS];

    sc_trials_reset();
    sc_strips_fixed = width;
    rounds(true, true, seconds);
    sc_strips_fixed = 0;
    return seconds[ROUNDS - 1];
}

static void test_widths(void)
{
    double seconds[ROUNDS], one = of_width(N), usual = of_width(1024), least = usual;

    for (int64_t width = 256; width < 1024; width *= 2)
        least = of_width(width) < least ? of_width(width) : least;
    sc_trials_reset();
    rounds(true, true, seconds);
    tap_ok(seconds[1] <= 1.02 * least, "the model's choice is within 2%% of the best width: %.4g, %.4g ms",
           1e3 * seconds[1], 1e3 * least);
    tap_ok(seconds[1] < 0.8 * usual && seconds[1] < 0.6 * one, "1024 takes %.4g, one strip %.4g ms", 1e3 * usual,
           1e3 * one);
}

/* Seconds of a product of order n on one device whose operands the program has just written. */
static double fresh(int64_t n)
{
    double seconds[ROUNDS];

    sc_trials_reset();
    rounds_of(n, false, true, seconds);
    return seconds[ROUNDS - 1];
}

/* The same of a rank update of a triangle.  The program has written C, too, if beta is 1. */
static double fresh_rank(enum paper_routines routine, int64_t n, char uplo, char trans, double beta)
{
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n), c = paper_matrix(n, n);
    struct paper_matrix *written[] = {&a, &b, &c};
    struct sc_kernel kernel = paper_square(routine, &a, &b, &c);
    double start = 0;

    kernel.uplo = uplo;
    kernel.transa = trans;
    kernel.beta[0] = beta;
    for (int i = 0; i < 5; i++) {
        for (int w = 0; w < (beta == 0 ? 2 : 3); w++)
            sc_coherence_acquire_host((uintptr_t)written[w]->at, (size_t)n * (size_t)n * sizeof(double), SC_RDWR);
        paper_wait();
        start = sc_coherence_virtual_seconds();
        paper_call(&kernel);
        paper_move(&c, SC_HOST);
        paper_wait();
    }
    start = sc_coherence_virtual_seconds() - start;
    for (int w = 0; w < 3; w++)
        paper_free(written[w]);
    return start;
}

/* Bytes that go home of a matrix of order 2048 by syrk, after products have written the whole matrix. */
static double home_after_gemm(void)
{
    struct paper_matrix a = paper_matrix(2048, 2048), c = paper_matrix(2048, 2048);
    struct sc_kernel whole = paper_gemm(&a, &a, &c), half = paper_square(PAPER_SYRK, &a, &a, &c);
    uint64_t before = 0;

    whole.beta[0] = half.beta[0] = 0;
    for (int i = 0; i < 8; i++) {
        before = sc_stats.bytes[SC_D2H];
        paper_call(i < 4 ? &whole : &half);
        paper_move(&c, SC_HOST);
        paper_wait();
    }
    paper_free(&a);
    paper_free(&c);
    return (double)(sc_stats.bytes[SC_D2H] - before) / (2048. * 2048 * sizeof(double));
}

/* C comes in the order of the tasks.  It adds no more than its time on the devices' links, and no more than half of the
 * time without it. */
static void test_added_to(void)
{
    static const char *const machines[] = {"h200x8:1", "h200x8:2"};

    for (int i = 0; i < 2; i++) {
        double links = 0.5 * N * N * sizeof(double) / ((i + 1) * 55e9);

        paper_close();
        paper_open(machines[i]);
        for (int r = PAPER_SYRK; r <= PAPER_SYR2K; r++)
            for (int l = 0; l < 2; l++) {
                double without = fresh_rank((enum paper_routines)r, N, l ? 'L' : 'U', 'N', 0);
                double with = fresh_rank((enum paper_routines)r, N, l ? 'L' : 'U', 'N', 1);

                tap_ok(with < 1.1 * (without + links) && with < 1.5 * without,
                       "%s on %s: %.4g ms with beta = 1, %.4g ms with beta = 0",
                       paper_routine[r].name, machines[i], 1e3 * with, 1e3 * without);
            }
    }
}

static const struct sc_device_ops *behind; /* the table that a test's own table stands before */
static int kernels;

static enum sc_status count_kernel(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    kernels++;
    return behind->launch(device, stream, kernel);
}

/* Kernels of a call of order n on one device whose operands the program has just written. */
static int kernels_of(enum paper_routines routine, int64_t n)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n);
    struct sc_kernel kernel = paper_square(routine, &a, &b, &b);
    struct sc_device_ops counting = *ops;

    kernels = 0;
    behind = ops;
    counting.launch = count_kernel;
    sc_protocol.ops = &counting;
    paper_call(&kernel);
    paper_wait();
    sc_protocol.ops = ops;
    paper_free(&a);
    paper_free(&b);
    return kernels;
}

/* The links run at 55 GB/s in one direction, 98 GB/s in both together: bounds the transfer time that is not hidden. */
static void test_fresh(void)
{
    double seconds, matrix = 4096.0 * 4096 * 8 / 55e9, part;

    paper_close();
    paper_open("h200x8:1");
    seconds = fresh(4096);
    tap_ok(seconds < 2.6 * matrix, "A and B arrive, and most of C goes home meanwhile: %.4g ms, a matrix takes %.4g ms",
           1e3 * seconds, 1e3 * matrix);
    for (int i = 0; i < 4; i++) {
        char uplo = i < 2 ? 'L' : 'U', trans = i % 2 ? 'T' : 'N';

        seconds = fresh_rank(PAPER_SYRK, 4096, uplo, trans, 0);
        tap_ok(seconds < (trans == 'T' ? 1.35 : 1.75) * matrix,
               "syrk %c%c: half of a matrix goes home, %s: %.4g ms", uplo, trans,
               trans == 'T' ? "most of it while A arrives" : "behind A", 1e3 * seconds);
    }
    part = home_after_gemm();
    tap_ok(part > 0.5 && part < 0.57, "syrk after gemm: the triangle goes home, %.3g of the matrix", part);
    for (int r = PAPER_TRMM; r <= PAPER_TRSM; r++) {
        int most = kernels_of((enum paper_routines)r, 16384);

        tap_ok(most && most < 320, "%s: strips of B behind A are few kernels: %d", paper_routine[r].name, most);
    }
    paper_close();
    paper_open("h200x8:4");
}

/* As on real devices: without a virtual clock, a call's end is observed by a waiting thread. */
static void test_without_clock(void)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct sc_device_ops real = *ops;
    double seconds[ROUNDS];
    char *line;

    real.virtual_seconds = NULL;
    sc_protocol.ops = &real;
    sc_trials_reset();
    rounds(true, true, seconds);
    line = known();
    tap_ok(strstr(line, "(2: ") && strstr(line, ", chosen "), "widths are tried where only waiting tells the time");
    free(line);
    sc_trials_reset();
    rounds(true, false, seconds);
    line = known();
    tap_ok(!strstr(line, "(1: "), "and not where nobody waits");
    free(line);
    sc_protocol.ops = ops;
}

/* --- other routines ----------------------------------------------------------------------------------------------- */

/* Seconds of a call after its widths have been tried; the program reads the result or not. */
static double of_routine(enum paper_routines routine, const char *letters, bool read)
{
    struct paper_matrix a = paper_matrix(N, N), b = paper_matrix(N, N), c = paper_matrix(N, N);
    struct sc_kernel kernel = paper_square(routine, &a, &b, &c);
    double start = 0;

    sc_trials_reset();
    kernel.side = letters[0];
    kernel.uplo = letters[1];
    kernel.transa = letters[2];
    for (int i = 0; i < ROUNDS; i++) {
        paper_wait();
        start = sc_coherence_virtual_seconds();
        paper_call(&kernel);
        if (read)
            paper_move(paper_routine[routine].in_place ? &b : &c, SC_HOST);
        paper_wait();
    }
    start = sc_coherence_virtual_seconds() - start;
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
    return start;
}

/* Every result but a last part goes home under the kernels, in the order of completion, whatever that order is. */
static void test_routines(void)
{
    static const struct {
        enum paper_routines routine;
        const char *letters;
        double most; /* bound, as a fraction of the time in one piece */
    } row[] = {{PAPER_SYMM, "LL", 0.7},  {PAPER_SYMM, "RU", 0.7},  {PAPER_SYRK, "LLN", 0.8},  {PAPER_SYRK, "LUT", 0.8},
               {PAPER_SYR2K, "LL", 0.8}, {PAPER_TRMM, "LL", 0.6},  {PAPER_TRMM, "RLN", 0.7},  {PAPER_TRMM, "RLT", 0.7},
               /* A solve takes a part of its time for each strip, and has wider strips. */
               {PAPER_TRSM, "LU", 0.84}, {PAPER_TRSM, "RLN", 0.64}, {PAPER_TRSM, "RLT", 0.64}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        enum paper_routines r = row[i].routine;
        char letters[4] = "LLN";
        double whole, strips, stays;

        memcpy(letters, row[i].letters, strlen(row[i].letters));
        strips = of_routine(r, letters, true);
        stays = of_routine(r, letters, false);
        sc_strips_fixed = N;
        whole = of_routine(r, letters, true);
        tap_ok(strips < row[i].most * whole, "%s %s goes home in strips: %.4g ms, in one piece %.4g",
               paper_routine[r].name, letters, 1e3 * strips, 1e3 * whole);
        tap_ok(near(stays, of_routine(r, letters, false)), "and is in one piece where nobody reads it");
        sc_strips_fixed = 0;
    }
}

/* --- the last strips ---------------------------------------------------------------------------------------------- */

enum { KERNELS = 1024 };

/* The blocks of the last call on each device: their columns, in order. */
static struct launched {
    int count;
    int64_t columns[KERNELS];
    enum sc_op op[KERNELS];
    const void *at; /* of the last block; a part of the sum launches one kernel */
} launched[4];

static enum sc_status note(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    struct launched *l = &launched[device];

    if (l->count < KERNELS && (kernel->op != SC_OP_GEMM || (kernel->k && kernel->c != l->at))) {
        l->at = kernel->c;
        l->op[l->count] = kernel->op;
        l->columns[l->count++] = kernel->n;
    }
    return behind->launch(device, stream, kernel);
}

/* Seconds of the last of several calls on matrices of order n. letters: routine, and transpositions. */
static double noted(const char *letters, int64_t n, bool kept, bool read)
{
    static const enum paper_routines routine[] = {['M'] = PAPER_GEMM, ['Y'] = PAPER_SYMM, ['S'] = PAPER_TRSM,
                                                  ['T'] = PAPER_TRMM};
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n), c = paper_matrix(n, n);
    struct sc_kernel kernel = paper_square(routine[(int)letters[0]], &a, &b, &c);
    struct sc_device_ops noting = *ops;
    double start = 0;

    sc_trials_reset();
    kernel.beta[0] = 0;
    kernel.transa = letters[1];
    kernel.transb = letters[2];
    kernel.side = 'R';
    kernel.uplo = 'L';
    behind = ops;
    noting.launch = note;
    sc_protocol.ops = &noting;
    for (int i = 0; i < ROUNDS; i++) {
        if (!kept) {
            sc_coherence_acquire_host((uintptr_t)a.at, (size_t)(n * n) * sizeof(double), SC_RDWR);
            sc_coherence_acquire_host((uintptr_t)b.at, (size_t)(n * n) * sizeof(double), SC_RDWR);
        }
        paper_wait();
        memset(launched, 0, sizeof launched);
        start = sc_coherence_virtual_seconds();
        paper_call(&kernel);
        if (read)
            paper_move(strchr("ST", letters[0]) ? &b : &c, SC_HOST);
        paper_wait();
    }
    sc_protocol.ops = ops;
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
    return sc_coherence_virtual_seconds() - start;
}

/* Whether the last blocks of a device are halves: ... 4w 2w w w. */
static bool ends_in_halves(const struct launched *l, int64_t width, int halves)
{
    int at = l->count;
    bool all = at > halves && l->columns[--at] == width;

    for (int i = 0; i < halves && all; i++)
        all = l->columns[--at] == width << i;
    return all;
}

static int64_t columns_of(const struct launched *l)
{
    int64_t columns = 0;

    for (int i = 0; i < l->count; i++)
        columns += l->columns[i];
    return columns;
}

static bool all_end_in_halves(int64_t width, int halves)
{
    bool all = true;

    for (int d = 0; d < 4; d++)
        all = all && ends_in_halves(&launched[d], width, halves);
    return all;
}

static void say(const char *what)
{
    char text[600] = "";

    for (int i = 0; i < launched[0].count && strlen(text) < 580; i++)
        sprintf(text + strlen(text), " %lld", (long long)launched[0].columns[i]);
    tap_diag("%s:%s", what, text);
}

/* n = 32768: strips of a resident result are 512 wide (64 strips), strips of operands 1024. */
static void test_halves(void)
{
    double home = noted("MNN", 32768, true, true), stays, strip = 4 * 512 * 32768.0 * 8 / 149e9;
    int64_t columns = 0;
    bool even = true;

    say("kept");
    for (int d = 0; d < 4; d++)
        even = even && columns_of(&launched[d]) == 8192 && launched[d].columns[0] == 512;
    tap_ok(even && all_end_in_halves(256, 1), "of a result that goes home each device's last strip is halved");
    stays = noted("MNN", 32768, true, false);
    tap_ok(home - stays < 0.6 * strip, "about a half of it is left when all is computed: %.4g of %.4g ms",
           1e3 * (home - stays), 1e3 * strip);
    noted("MNN", 32768, false, true);
    say("N N, written by the host");
    tap_ok(all_end_in_halves(256, 2) && launched[0].columns[0] == 1024, "of operands on their way, too");
    noted("MNT", 32768, false, true);
    say("N T, written by the host");
    tap_ok(all_end_in_halves(256, 5), "B transposed: what was one strip for each device goes home in halves");
    sc_strips_fixed = 1024;
    noted("MNN", 32768, true, true);
    tap_ok(all_end_in_halves(1024, 1) && launched[0].count == 8, "where the width is given all have it");
    sc_strips_fixed = 0;
    noted("MNN", 20000, true, true);
    say("kept, n = 20000");
    for (int d = 0; d < 4; d++)
        columns += columns_of(&launched[d]);
    tap_ok(columns == 20000 && launched[0].columns[7] == 560 && launched[0].columns[8] == 320,
           "what is too narrow to be a strip is halved together with the one before it, at a sector's end");
}

/* Halved strips of symm, which launches one kernel per strip. */
static void test_halves_of_symm(void)
{
    const struct launched *l = &launched[0];
    int64_t last = 0;

    noted("YNN", 16384, true, true);
    for (int i = 0; i < l->count; i++)
        last = l->op[i] == SC_OP_SYMM ? l->columns[i] : last;
    tap_ok(last == 256, "symm from the right: the last strip is %lld wide", (long long)last);
}

/* Columns of a triangle take different times. Either little is left to hide, or the last columns of the matrix are
 * computed first. The strips are therefore not halved. */
static void test_triangles(void)
{
    static const char *const letters[] = {"SNN", "TNN"};

    for (int i = 0; i < 2; i++) {
        bool all = true;

        noted(letters[i], 65536, true, true);
        for (int e = 0; e < launched[0].count; e++)
            all = all && launched[0].columns[e] == launched[0].columns[0] && launched[0].columns[e] < 65536;
        tap_ok(all && launched[0].count, "%s has no halves", letters[i][0] == 'S' ? "trsm" : "trmm");
    }
}

/* --- who waits ---------------------------------------------------------------------------------------------------- */

static int ended;
static double when;

static void count(void *of)
{
    ended += *(int *)of;
    when = sc_coherence_virtual_seconds();
}

static int one = 1;

/* A call on `c` whose completion is watched. */
static void watched_call(const struct paper_matrix *c)
{
    struct sc_view view = {.ptr = c->at, .type = SC_D, .rows = N, .cols = N, .ld = N, .access = SC_RDWR};
    struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = N, .n = N,
                               .beta = {1, 0}, .lda = N, .ldb = 1};
    struct sc_piece pieces[3] = {{0}, {0}, {.rows = N, .cols = N, .access = SC_RDWR}};
    struct sc_operand operand;

    view.spread = 1;
    if (sc_coherence_begin(&view, 1, &operand) != SC_OK)
        exit(99);
    pieces[2].operand = &operand;
    sc_coherence_task(sc_coherence_where(&pieces[2]), &kernel, pieces, NULL, NULL);
    sc_coherence_on_completion(count, &one);
    sc_coherence_end(&operand, 1);
}

static void test_watch(void)
{
    struct paper_matrix c = paper_matrix(N, N);
    double start;

    watched_call(&c);
    tap_ok(ended == 0, "nobody has waited");
    start = sc_coherence_virtual_seconds();
    sc_coherence_acquire_host((uintptr_t)c.at, 8, SC_READ);
    tap_ok(ended == 1 && when >= start, "the program reads a result: then it is known");
    sc_coherence_acquire_host((uintptr_t)c.at, (size_t)N * N * 8, SC_READ);
    paper_wait();
    tap_ok(ended == 1, "once");
    watched_call(&c);
    watched_call(&c);
    paper_wait();
    tap_ok(ended == 2, "of two calls the later one is watched");
    watched_call(&c);
    sc_coherence_on_completion(NULL, NULL);
    paper_wait();
    tap_ok(ended == 2, "or none");
    watched_call(&c);
    paper_close();
    paper_open("h200x8:4");
    ended = 0;
    paper_wait();
    tap_ok(ended == 0, "nothing is left when devices are closed");
    paper_free(&c);
}

int main(void)
{
    const char *source = getenv("top_srcdir");

    if (!source)
        tap_skip_all("no top_srcdir");
    paper_open("h200x8:4");
    sc_config.push = 1;
    test_kept();
    test_widths();
    test_fresh();
    test_added_to();
    paper_close();
    paper_open("h200x8:4");
    test_without_clock();
    test_watch();
    test_halves();
    paper_close();
    paper_open("h200x8:1");
    test_routines();
    test_halves_of_symm();
    test_triangles();
    paper_close();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
