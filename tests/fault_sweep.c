/* Devices that fail at every operation in turn. A program of products, solves, calls of levels 1 and 2, and reads and
 * writes by the CPU runs on two emulated devices too small for its data. The n-th operation fails, n = 1, 2, ..., until
 * the program has no n-th operation:
 *
 *   fail   only this operation fails.              lost   this and every later operation fails.
 *   late   fails when executed, with every later.  quiet  fails when executed; only a wait for it reports the error.
 *
 * Asserts that nothing hangs, no invariant breaks, and every number is right. The exception is data of which a lost
 * device held the only copy: the loss is reported by address before the program sees a wrong value. Values are small
 * integers, so sums are exact. A run takes one n of many, in check-long more; SEMCACHE_TEST_STRIDE and
 * SEMCACHE_TEST_SEED (the first n) choose others. */
#include <config.h> /* GNU extensions: memfd_create */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "blas/blas.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

#define N 96
#define LIMIT 180000

enum name { A, B, C, D, L, X, Y, ARRAYS };

static struct array {
    double *data, *model;
    int64_t n;
    bool tainted; /* holds data reported as lost, or computed from lost data */
} arrays[ARRAYS];

static int log_fd, kept_stderr, wrong, scalars_wrong, losses;
static off_t log_seen;

/* --- what the library says ---------------------------------------------------------------------------------------- */

static void log_open(void)
{
    log_fd = memfd_create("log", 0);
    kept_stderr = dup(STDERR_FILENO);
    dup2(log_fd, STDERR_FILENO);
}

/* Marks the arrays that the log has reported as lost since the previous call. */
static void read_reports(void)
{
    static char text[65536];
    ssize_t n = pread(log_fd, text, sizeof text - 1, log_seen);

    if (n <= 0)
        return;
    log_seen += n;
    text[n] = '\0';
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *at = strstr(line, "what only it had of");

        losses += at != NULL;
        while (at && (at = strstr(at, "0x"))) {
            uintptr_t address = (uintptr_t)strtoull(at, &at, 16);

            for (int i = 0; i < ARRAYS; i++)
                if (address >= (uintptr_t)arrays[i].data && address < (uintptr_t)(arrays[i].data + arrays[i].n))
                    arrays[i].tainted = true;
        }
    }
}

static bool log_has(const char *words)
{
    static char text[65536];
    ssize_t n = pread(log_fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return strstr(text, words) != NULL;
}

static void log_clear(void)
{
    if (ftruncate(log_fd, 0) == 0)
        lseek(log_fd, 0, SEEK_SET);
    log_seen = 0;
}

/* --- the program -------------------------------------------------------------------------------------------------- */

static void on_host(struct sc_kernel k)
{
    sc_inside_enter();
    sc_device_kernel_host(env_symbol, &k);
    sc_inside_leave();
}

static void set(enum name a, int64_t i, double value) { arrays[a].data[i] = arrays[a].model[i] = value; }

static void make_arrays(void)
{
    for (int a = 0; a < ARRAYS; a++) {
        struct array *x = &arrays[a];

        x->n = a < X ? N * N : 1500;
        x->tainted = false;
        x->data = malloc((size_t)x->n * sizeof *x->data);
        sc_inside_enter();
        x->model = malloc((size_t)x->n * sizeof *x->model);
        sc_inside_leave();
        for (int64_t i = 0; i < x->n; i++) /* L: ones on the diagonal, and a first column */
            set((enum name)a, i, a == L ? (double)(i < N ? 1 + i % 2 : i / N == i % N) : (double)((i * 7 + a) % 5 - 2));
    }
}

static void free_arrays(void)
{
    for (int a = 0; a < ARRAYS; a++) {
        free(arrays[a].data);
        sc_inside_enter();
        free(arrays[a].model);
        sc_inside_leave();
    }
}

static void compare(enum name a, int64_t first, int64_t n)
{
    bool same = true;
    int64_t i = first;

    while (i < first + n && same) {
        same = ((volatile double *)arrays[a].data)[i] == arrays[a].model[i];
        i += same;
    }
    read_reports(); /* the read may have found the loss */
    if (!same && !arrays[a].tainted && wrong++ == 0)
        tap_diag("array %d, element %" PRId64 ": %g, not %g", a, i, arrays[a].data[i], arrays[a].model[i]);
}

static bool run(struct sc_kernel k)
{
    bool done = sc_blas_offload(1, &k, false, NULL);

    if (!done)
        on_host(k);
    return done;
}

/* Runs a kernel on the arrays and on the model. Names of operands a, b, c (< 0: none); the last operand is the
 * result. */
static void both(struct sc_kernel k, int a, int b, int c)
{
    const int name[3] = {a, b, c};
    struct sc_kernel model = k;
    bool tainted = false;

    for (int i = 0; i < 3; i++) {
        void *data = name[i] < 0 ? NULL : arrays[name[i]].data, *same = name[i] < 0 ? NULL : arrays[name[i]].model;

        *(i == 0 ? &k.a : i == 1 ? &k.b : &k.c) = data;
        *(i == 0 ? &model.a : i == 1 ? &model.b : &model.c) = same;
    }
    run(k);
    on_host(model);
    read_reports();
    for (int i = 0; i < 3; i++)
        tainted |= name[i] >= 0 && arrays[name[i]].tainted;
    if (!sc_op_is_reduction(k.op))
        arrays[c >= 0 ? c : b >= 0 ? b : a].tainted = tainted;
    if (k.op == SC_OP_SWAP)
        arrays[a].tainted = tainted;
}

static struct sc_kernel square(enum sc_op op, char transa, double beta)
{
    return (struct sc_kernel){.op = op, .type = SC_D, .transa = transa, .transb = 'N', .side = 'L', .uplo = 'L',
                              .diag = 'U',
                              .m = N, .n = N, .k = N, .alpha = {1}, .beta = {beta}, .lda = N, .ldb = N, .ldc = N};
}

static struct sc_kernel line(enum sc_op op, double alpha, int64_t n, void *result)
{
    return (struct sc_kernel){.op = op, .type = SC_D, .n = n, .alpha = {alpha}, .lda = 1, .ldb = 1, .result = result};
}

static void reduce(enum sc_op op, int a, int b)
{
    struct sc_kernel k = line(op, 0, arrays[a].n, NULL), model = k;
    double got[2] = {0}, want[2] = {0};

    k.a = arrays[a].data, k.b = b < 0 ? NULL : arrays[b].data, k.result = got;
    model.a = arrays[a].model, model.b = b < 0 ? NULL : arrays[b].model, model.result = want;
    run(k);
    on_host(model);
    read_reports();
    if (memcmp(got, want, 8) != 0 && !arrays[a].tainted && (b < 0 || !arrays[b].tainted) && scalars_wrong++ == 0)
        tap_diag("%s: %g, not %g", sc_op_name(op), got[0], want[0]);
}

static void tame(enum name a) /* the CPU overwrites an array: values stay small */
{
    for (int64_t i = 0; i < arrays[a].n; i++)
        set(a, i, (double)((i * 3 + a) % 5 - 2));
    arrays[a].tainted = false;
    read_reports(); /* of the other arrays */
}

static void program(void)
{
    struct sc_kernel mv = {.op = SC_OP_GEMV, .type = SC_D, .transa = 'T', .m = N, .n = N, .alpha = {1}, .beta = {1},
                           .lda = N, .ldb = 1, .ldc = 1};

    for (int round = 0; round < 2; round++) {
        both(square(SC_OP_GEMM, 'N', 0), A, B, C);
        compare(C, 5 * N, 1);
        both(square(SC_OP_SYRK, 'N', 1), A, -1, D);
        both(mv, C, X, Y);
        reduce(SC_OP_DOT, X, Y);
        set(A, 7, 3);
        both(square(SC_OP_TRSM, 'N', 0), L, B, -1);
        both(square(SC_OP_GEMM, 'T', 1), A, B, D);
        both(line(SC_OP_AXPY, 2, N * N, NULL), C, D, -1);
        both(line(SC_OP_SCAL, -1, N * N, NULL), B, -1, -1);
        reduce(SC_OP_ASUM, C, -1);
        reduce(SC_OP_IAMAX, D, -1);
        compare(B, 0, N * N);
        both(line(SC_OP_SWAP, 0, N * N, NULL), A, B, -1);
        mv.transa = 'N';
        both(mv, D, Y, X);
        compare(Y, 3, 1400);
        tame(Y);
        tame(A);
        tame(X);
        both(line(SC_OP_COPY, 0, N * N, NULL), A, D, -1);
    }
    for (int a = 0; a < ARRAYS; a++)
        compare((enum name)a, 0, arrays[a].n);
}

/* --- sweeps ------------------------------------------------------------------------------------------------------- */

static const struct mode {
    const char *name;
    bool lost, late, quiet;
} modes[] = {{"fail", false, false, false}, {"lost", true, false, false}, {"late", false, true, false},
             {"quiet", false, true, true}};

static struct total {
    int runs, fired, bad, losses;
} total;

/* Returns false if the program has no n-th operation of the kind. */
static bool one(const struct mode *mode, enum sc_emu_kind kind, int device, uint64_t nth)
{
    unsigned broken = sc_coherence_broken();
    bool fired;

    wrong = scalars_wrong = losses = 0;
    log_clear();
    alarm(60);
    sc_config.exchange = (enum sc_exchange_by)(nth % 4);
    env_start("emu:h200x8:2", LIMIT);
    sc_directory_limits.unit_bytes = 512;
    make_arrays();
    sc_emu_inject(device, (struct sc_emu_fault){.kind = kind, .nth = nth, .lost = mode->lost, .late = mode->late,
                                                .quiet = mode->quiet});
    program();
    free_arrays();
    sc_coherence_stop();
    fired = log_has("fails as asked");
    total.runs++;
    total.fired += fired;
    total.losses += losses;
    if (wrong || scalars_wrong || broken != sc_coherence_broken() || (losses && !mode->lost && !mode->late)) {
        total.bad++;
        tap_diag("%s %s %" PRIu64 " of device %d: %d arrays and %d scalars wrong, %u invariants broken, %d losses",
                 mode->name, sc_emu_kind_names[kind], nth, device, wrong, scalars_wrong,
                 sc_coherence_broken() - broken, losses);
    }
    return fired;
}

/* After a failure to pin memory the library does not try again for 100 requests: a run after such a fault may have
 * hardly any operation on devices. */
static bool fires(const struct mode *mode, enum sc_emu_kind kind, int device, uint64_t nth)
{
    for (int tries = 0; tries < 10; tries++)
        if (one(mode, kind, device, nth))
            return true;
    return false;
}

static void sweep(const struct mode *mode, enum sc_emu_kind kind, int device, uint64_t first, uint64_t stride)
{
    uint64_t n = first;

    total = (struct total){0};
    while (fires(mode, kind, device, n))
        n += stride;
    tap_ok(total.bad == 0 && total.fired > 0,
           "%s %s of device %d: %d runs, %d faults, %d of them lost data and said so", mode->name,
           sc_emu_kind_names[kind], device, total.runs, total.fired, total.losses);
}

int main(void)
{
    const char *seed = getenv("SEMCACHE_TEST_SEED");
    const char *step = getenv("SEMCACHE_TEST_STRIDE");
    uint64_t stride = step ? strtoull(step, NULL, 10) : getenv("SEMCACHE_TEST_LONG") ? 13 : 499;
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;

    if (!env_is_emulated()) {
        printf("1..0 # SKIP faults are injected into emulated devices\n");
        return 0;
    }
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    log_open();
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
        for (int device = 0; device < 2; device++)
            sweep(&modes[m], SC_EMU_ANY, device, first + (uint64_t)device, stride);
    for (size_t m = 1; m < sizeof modes / sizeof *modes; m++) /* copies home by eviction are looked at much later */
        sweep(&modes[m], SC_EMU_COPY, 0, first, stride / 16 + 1);
    for (int kind = SC_EMU_ALLOC; kind < SC_EMU_ANY; kind++)
        sweep(&modes[0], (enum sc_emu_kind)kind, kind == SC_EMU_PIN ? 0 : 1, first, stride / 4 + 1);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
