#include "bench/paper.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotuner/autotuner.h"
#include "autotuner/measure.h"
#include "autotuner/schedule.h"
#include "autotuner/start.h"
#include "autotuner/store.h"
#include "base/config.h"
#include "base/inside.h"
#include "blas/blas.h"
#include "coherence/access.h"
#include "coherence/devices.h"
#include "coherence/task.h"
#include "coherence/faults.h"
#include "device/emu/emu.h"
#include "host/host.h"

static int devices_;

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "paper: %s %s\n", what, which);
    exit(EXIT_FAILURE);
}

/* --- the machine -------------------------------------------------------------------------------------------------- */

static void *blas_symbol(const char *name)
{
    static void *blas;

    if (!blas)
        blas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!blas)
        blas = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
    return blas ? dlsym(blas, name) : NULL;
}

static const struct sc_device_host host = {.config = &sc_config, .blas_symbol = blas_symbol, .log = sc_log,
                                           .thread_enter = sc_inside_enter};

static const struct sc_host_callbacks callbacks = {
    .fault = sc_coherence_fault, .read_ahead = sc_coherence_read_ahead, .forget = sc_coherence_forget,
    .withdraw = sc_coherence_withdraw,
    .acquire = sc_coherence_acquire_host, .home = sc_coherence_fork_prepare, .child = sc_coherence_fork_child,
    .resume = sc_coherence_fork_parent};

static const struct sc_device_ops *open_devices(const char *machine)
{
    const struct sc_device_ops *ops = NULL;
    char setting[256];

    snprintf(setting, sizeof setting, "emu:%s", machine);
    if (sc_device_open(&host, setting, &ops, &devices_) != SC_OK || !ops)
        fail("cannot open", setting);
    return ops;
}

/* Measures as `semcache tune`, into an ordinary database file for the library. */
static void measure(const char *machine)
{
    char path[] = "/tmp/semcache-paper-XXXXXX";
    const struct sc_device_ops *ops = open_devices(machine);
    struct sc_measure how = {.ops = ops, .devices = devices_, .host = &host, .quick = true};
    struct sc_database *db;
    char key[4096];
    int file = mkstemp(path);

    sc_store_key(ops, devices_, &host, key, sizeof key);
    db = sc_database_new(key, devices_);
    if (file < 0 || !db || sc_measure(&how, db, NULL) != SC_OK || sc_store_write_file(path, db) != SC_OK)
        fail("cannot measure", machine);
    close(file);
    ops->close();
    sc_config.database = path;
    sc_autotuner_start(open_devices(machine), devices_, &host);
    sc_config.database = NULL;
    unlink(path);
    sc_database_free(db);
}

int paper_open(const char *machine)
{
    const char *source = getenv("top_srcdir");
    static char machines[4096];

    snprintf(machines, sizeof machines, "%s/device/emu/machines", source ? source : ".");
    sc_config.machine_path = machines;
    sc_config.emu_timing = 1;
    sc_config.max_hops = 1;
    sc_config.arena_bytes = UINT64_C(16) << 40;
    sc_config.arena_min = 8192;
    sc_config.window_min = 1 << 18;
    sc_config.window_max = 1 << 26;
    if (sc_host_arena_start() != SC_OK) /* the first time */
        fail("cannot reserve", "memory");
    measure(machine);
    if (sc_coherence_start(sc_device_emu(), devices_, &host) != SC_OK || sc_host_faults_start(&callbacks) != SC_OK)
        fail("cannot start on", machine);
    sc_blas_links();
    return devices_;
}

/* A copy of the machine file, with the replaced rates at the end. */
int paper_open_uneven(const char *machine)
{
    static const char rates[] = "device 0,1,4,6\n  gemm d 3.5T\ndevice 2,3\n  gemm d 5T\ndevice 5,7\n  gemm d 7T\n";
    char path[] = "/tmp/semcache-uneven-XXXXXX.machine", from[4096], line[512];
    const char *source = getenv("top_srcdir");
    int file = mkstemps(path, 8), devices;
    FILE *in, *out;

    snprintf(from, sizeof from, "%s/device/emu/machines/%s.machine", source ? source : ".", machine);
    in = fopen(from, "r");
    out = file < 0 ? NULL : fdopen(file, "w");
    if (!in || !out)
        fail("cannot copy", from);
    while (fgets(line, sizeof line, in))
        fputs(line, out);
    fputs(rates, out);
    fclose(in);
    fclose(out);
    devices = paper_open(path);
    unlink(path);
    return devices;
}

void paper_close(void) { sc_coherence_stop(); }

double paper_link(int from, int to) { return sc_coherence_device_properties(to)->peer_bandwidth[from]; }

/* --- matrices ----------------------------------------------------------------------------------------------------- */

struct paper_matrix paper_matrix(int64_t rows, int64_t cols)
{
    struct paper_matrix m = {.at = sc_host_alloc((size_t)(rows * cols) * sizeof(double)), .rows = rows, .cols = cols,
                             .place = SC_HOST};

    if (!m.at)
        fail("no addresses for", "a matrix");
    return m;
}

void paper_free(struct paper_matrix *m)
{
    sc_coherence_host_free(m->at);
    m->at = NULL;
}

#define THIN 4096

static struct sc_view view_of(const struct paper_matrix *m)
{
    struct sc_view view = {.ptr = m->at, .type = SC_D, .rows = m->rows, .cols = m->cols, .ld = m->rows,
                           .access = SC_READ, .split = SC_SPLIT_COLS};

    sc_schedule_grid(sc_config.schedule, devices_, sc_coherence_peer_ratio(), m->rows, m->cols, false, &view.tile_rows,
                     &view.tile_cols);
    if ((m->rows < THIN) != (m->cols < THIN)) /* thin: as in the call that made the matrix */
        sc_schedule_grid(SC_STRATEGY_CYCLIC, devices_, sc_coherence_peer_ratio(), m->rows, m->cols, false,
                         &view.tile_rows, &view.tile_cols);
    return view;
}

/* Makes the device's copy the only valid copy, as after a result: C := C + an empty product. */
static void write_there(int place, const struct sc_piece *piece)
{
    struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = piece->rows,
                               .n = piece->cols, .beta = {1, 0}, .lda = piece->rows, .ldb = 1};
    struct sc_piece pieces[3] = {{0}, {0}, *piece};

    pieces[2].access = SC_RDWR;
    sc_coherence_task(place, &kernel, pieces, NULL, NULL);
}

#define EVERYWHERE (-2) /* every tile to its home */

static void move_to_device(const struct paper_matrix *m, int place)
{
    struct sc_view view = view_of(m);
    struct sc_operand operand;
    struct sc_cuts rows, cols;

    sc_inside_enter();
    if (sc_coherence_begin(&view, 1, &operand) != SC_OK)
        fail("no", "operand");
    sc_coherence_row_cuts(&operand, &rows);
    sc_coherence_col_cuts(&operand, &cols);
    for (int j = 0; j < cols.n; j++)
        for (int i = 0; i < rows.n; i++) {
            struct sc_piece piece = {.operand = &operand, .r = rows.at[i], .c = cols.at[j], .access = SC_READ,
                                     .rows = rows.at[i + 1] - rows.at[i], .cols = cols.at[j + 1] - cols.at[j]};

            int to = place == EVERYWHERE ? sc_coherence_home(&piece) : place;

            sc_coherence_prefetch(to, &piece);
            write_there(to, &piece);
        }
    sc_coherence_end(&operand, 1);
    sc_inside_leave();
}

void paper_move(const struct paper_matrix *m, int place)
{
    struct sc_view view = view_of(m);

    if (place != SC_HOST)
        move_to_device(m, place);
    else
        sc_coherence_acquire_view(&view);
}

void paper_spread(const struct paper_matrix *m) { move_to_device(m, EVERYWHERE); }

void paper_drop(const struct paper_matrix *m)
{
    sc_coherence_release_range((uintptr_t)m->at, (size_t)(m->rows * m->cols) * sizeof(double));
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

void paper_call(const struct sc_kernel *kernel)
{
    if (!sc_blas_offload(1, kernel, false, NULL))
        fail("a call was not offloaded:", sc_op_name(kernel->op));
}

void paper_wait(void) { sc_coherence_drain(); }

static void read_figures(struct paper_figures *f)
{
    f->seconds = sc_coherence_virtual_seconds();
    f->joules = sc_emu_joules();
    for (int i = 0; i <= PAPER_HOST; i++)
        for (int j = 0; j <= PAPER_HOST; j++)
            f->bytes[i][j] = sc_emu_link_bytes(i == PAPER_HOST ? SC_HOST : i, j == PAPER_HOST ? SC_HOST : j);
}

void paper_begin(struct paper_figures *f)
{
    sc_autotuner_reset(); /* each problem on its own */
    paper_wait();
    read_figures(f);
}

void paper_end(struct paper_figures *f)
{
    struct paper_figures before = *f;

    paper_wait();
    read_figures(f);
    f->seconds -= before.seconds;
    f->joules -= before.joules;
    for (int i = 0; i <= PAPER_HOST; i++)
        for (int j = 0; j <= PAPER_HOST; j++)
            f->bytes[i][j] -= before.bytes[i][j];
}

double paper_gain(const double *than, const double *ours, int from, int to)
{
    double sum = 0;
    int count = 0;

    for (int i = from; i < to; i++)
        if (than[i] > 0 && ours[i] > 0) {
            sum += log(than[i] / ours[i]);
            count++;
        }
    return count ? exp(sum / count) : 0;
}

static struct sc_kernel kernel_of(enum sc_op op, const struct paper_matrix *a, const struct paper_matrix *b,
                                  const struct paper_matrix *c)
{
    struct sc_kernel k = {.op = op, .type = SC_D, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'L', .diag = 'N',
                          .alpha = {1.5, 0}, .beta = {0.5, 0}};

    k.a = a->at;
    k.lda = a->rows;
    k.b = b ? b->at : NULL;
    k.ldb = b ? b->rows : 0;
    k.c = c ? c->at : NULL;
    k.ldc = c ? c->rows : 0;
    return k;
}

struct sc_kernel paper_gemm(const struct paper_matrix *a, const struct paper_matrix *b, const struct paper_matrix *c)
{
    struct sc_kernel k = kernel_of(SC_OP_GEMM, a, b, c);

    k.m = c->rows;
    k.n = c->cols;
    k.k = a->cols;
    return k;
}

const struct paper_routine paper_routine[PAPER_ROUTINES] = {
    [PAPER_GEMM] = {"DGEMM", SC_OP_GEMM, false, true, 2},    [PAPER_SYRK] = {"DSYRK", SC_OP_SYRK, false, false, 1},
    [PAPER_SYR2K] = {"DSYR2K", SC_OP_SYR2K, false, true, 2}, [PAPER_SYMM] = {"DSYMM", SC_OP_SYMM, false, true, 2},
    [PAPER_TRMM] = {"DTRMM", SC_OP_TRMM, true, true, 1},     [PAPER_TRSM] = {"DTRSM", SC_OP_TRSM, true, true, 1},
};

struct sc_kernel paper_square(enum paper_routines routine, const struct paper_matrix *a, const struct paper_matrix *b,
                              const struct paper_matrix *c)
{
    const struct paper_routine *r = &paper_routine[routine];
    struct sc_kernel k = kernel_of(r->op, a, r->has_b ? b : NULL, r->in_place ? NULL : c);

    k.m = k.n = k.k = a->rows;
    return k;
}

void paper_square_run(enum paper_routines routine, int64_t n, struct paper_figures *figures)
{
    struct paper_matrix a = paper_matrix(n, n), b = paper_matrix(n, n), c = paper_matrix(n, n);
    struct sc_kernel kernel = paper_square(routine, &a, &b, &c);

    paper_begin(figures);
    paper_call(&kernel);
    paper_move(paper_routine[routine].in_place ? &b : &c, SC_HOST);
    paper_end(figures);
    paper_free(&a);
    paper_free(&b);
    paper_free(&c);
}
/* SPDX-License-Identifier: BSD-2-Clause */
