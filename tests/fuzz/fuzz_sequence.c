/* Sequences of operations against flat arrays: views of every shape in two arrays, kernels on two devices with little
 * memory, reads and writes by the CPU, frees. The input chooses the operations and the order in which the devices'
 * streams work (tests/explore/device.c). Invariants are checked after each operation, values at the end. */
#include <config.h>

#include <string.h>

#include "base/config.h"
#include "coherence/faults.h"
#include "coherence/protocol.h"
#include "tests/explore/device.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_corpus[] = {"tests/fuzz/corpus/sequence", NULL};

#define ARRAYS 2
#define ROOM   (8 * 512) /* elements of a block: 8 pages, more than one allocation of a device holds */
#define STEPS  200       /* of an input */

static double *data[ARRAYS], model[ARRAYS][ROOM];
static double next_value;

/* --- the input ---------------------------------------------------------------------------------------------------- */

static const uint8_t *input;
static size_t left;

/* The next byte of the input; 0 after its end. */
static unsigned byte(void)
{
    if (!left)
        return 0;
    left--;
    return *input++;
}

static int64_t below(int64_t n)
{
    unsigned value = byte();

    if (n > 256)
        value = value << 8 | byte();
    return n > 0 ? (int64_t)value % n : 0;
}

/* --- the devices' work -------------------------------------------------------------------------------------------- */

static void some_stream_step(void)
{
    int enabled[DEVICES * SC_STREAMS], n = explore_streams_enabled(enabled);

    if (n)
        explore_stream_step(enabled[below(n)]);
}

void explore_await(struct sc_fence fence)
{
    (void)fence;
    some_stream_step();
}

/* The CPU's access: opened by the pager if need be. */
static double *touch(double *p, enum sc_access access)
{
    enum sc_prot most = access & SC_WRITE ? SC_PROT_RW : SC_PROT_R;

    if (sc_host_in_arena(p))
        while (sc_host_prot((uintptr_t)p) > most)
            FUZZ_MUST(sc_coherence_fault((uintptr_t)p, access, (struct sc_host_code){0},
                                         (size_t)(1 + below(3)) * SC_PAGE) == SC_FAULT_DONE);
    return p;
}

/* The BLAS of the two sides: on a device's memory, and on the program's memory for tasks on the host. */
static void scal(const int64_t *n, const double *alpha, double *x, const int64_t *incx)
{
    for (int64_t i = 0; i < *n; i++)
        *touch(x + i * *incx, SC_WRITE) *= *alpha;
}

static double *first(double *x, int64_t n, int64_t inc) { return inc < 0 ? x - (n - 1) * inc : x; }

static void axpy(const int64_t *n, const double *alpha, double *x, const int64_t *incx, double *y, const int64_t *incy)
{
    x = first(x, *n, *incx), y = first(y, *n, *incy);
    for (int64_t i = 0; i < *n; i++) {
        double value = *alpha * *touch(x + i * *incx, SC_READ);

        *touch(y + i * *incy, SC_WRITE) += value;
    }
}

static void copy(const int64_t *n, double *x, const int64_t *incx, double *y, const int64_t *incy)
{
    x = first(x, *n, *incx), y = first(y, *n, *incy);
    for (int64_t i = 0; i < *n; i++) {
        double value = *touch(x + i * *incx, SC_READ);

        *touch(y + i * *incy, SC_WRITE) = value;
    }
}

/* A := x y^T + A, with a constant y: each column of A gains x. */
static void ger(const int64_t *m, const int64_t *n, const double *alpha, double *x, const int64_t *incx, double *y,
                const int64_t *incy, double *a, const int64_t *lda)
{
    for (int64_t j = 0; j < *n; j++)
        for (int64_t i = 0; i < *m; i++) {
            double value = *alpha * *touch(first(x, *m, *incx) + i * *incx, SC_READ) *
                           *touch(first(y, *n, *incy) + j * *incy, SC_READ);

            *touch(a + i + j * *lda, SC_WRITE) += value;
        }
}

static void *blas_symbol(const char *name)
{
    static const struct {
        const char *name;
        void (*routine)(void);
    } all[] = {{"dscal_", (void (*)(void))scal},
               {"daxpy_", (void (*)(void))axpy},
               {"dcopy_", (void (*)(void))copy},
               {"dger_", (void (*)(void))ger}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name))
            return (void *)(uintptr_t)all[i].routine;
    return NULL;
}

void explore_kernel(const struct sc_kernel *k) { FUZZ_MUST(sc_device_kernel_host(blas_symbol, k) == SC_OK); }

/* --- operations --------------------------------------------------------------------------------------------------- */

static struct sc_view vector_view(int array, int64_t at, int64_t n, int64_t step, enum sc_access access)
{
    return (struct sc_view){.ptr = data[array] + at, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = step,
                            .access = access, .split = (enum sc_split)below(2), .spread = 1 + (int)below(DEVICES)};
}

/* A vector in an array: contiguous or strided, with 1 to `most` elements. */
static struct sc_view some_vector(int array, int64_t most, enum sc_access access)
{
    static const int64_t steps[] = {1, 1, 1, 2, 5, 16, 64, 100, 512};
    int64_t step = steps[below(sizeof steps / sizeof *steps)], at = below(ROOM);
    int64_t n = (ROOM - 1 - at) / step + 1;

    return vector_view(array, at, 1 + below(n < most ? n : most), step, access);
}

static double *model_of(const struct sc_view *v)
{
    int array = (const double *)v->ptr >= data[1] && (const double *)v->ptr < data[1] + ROOM;

    return model[array] + ((const double *)v->ptr - data[array]);
}

static struct sc_piece piece(const struct sc_operand *o, int64_t r, int64_t rows, int64_t c, int64_t cols)
{
    return (struct sc_piece){.operand = o, .r = r, .rows = rows, .c = c, .cols = cols, .access = o->view.access};
}

static void run_task(struct sc_kernel *k, const struct sc_piece pieces[3])
{
    FUZZ_MUST(sc_coherence_task((int)below(DEVICES), k, pieces, NULL, NULL) == SC_OK);
}

/* The kernel on operands, piece by piece; false: the call is the host's. */
static bool level_one(struct sc_kernel *k, const struct sc_view *views, int count)
{
    struct sc_operand o[2], whole;
    struct sc_cuts cuts, other;

    if (sc_coherence_begin(views, count, o) != SC_OK)
        return false;
    for (int i = 0; i < count; i++)
        if (sc_coherence_as_matrix(&o[i], &whole)) { /* a large matrix used as a vector: not walked here */
            sc_coherence_end(o, count);
            return false;
        }
    sc_coherence_row_cuts(&o[0], &cuts);
    if (count == 2) {
        sc_coherence_row_cuts(&o[1], &other);
        sc_cuts_merge(&cuts, &other);
    }
    for (int i = 0; i < cuts.n; i++) {
        int64_t r = cuts.at[i], n = cuts.at[i + 1] - r;
        struct sc_piece pieces[3] = {piece(&o[0], r, n, 0, 1), {.operand = NULL}, {.operand = NULL}};

        if (count == 2)
            pieces[1] = piece(&o[1], r, n, 0, 1);
        k->m = k->n = n;
        run_task(k, pieces);
    }
    sc_coherence_end(o, count);
    return true;
}

static void in_place(struct sc_kernel k, const struct sc_view *a, const struct sc_view *b, double *pa, double *pb)
{
    k.a = pa;
    k.lda = a->ld;
    if (b) {
        k.b = pb;
        k.ldb = b->ld;
    }
    explore_kernel(&k);
}

static void vector_step(enum sc_op op)
{
    int array = (int)below(ARRAYS);
    struct sc_view y = some_vector(array, ROOM, op == SC_OP_COPY ? SC_WRITE : SC_RDWR);
    struct sc_view x = op == SC_OP_SCAL ? y : some_vector(!array, y.rows, SC_READ), views[2];
    struct sc_kernel k = {.op = op, .type = SC_D, .alpha = {op == SC_OP_SCAL ? -1 : 2}};
    int64_t n = y.rows = x.rows;

    views[0] = x;
    views[1] = y;
    if (!level_one(&k, views, op == SC_OP_SCAL ? 1 : 2)) {
        k.m = k.n = n;
        in_place(k, &x, op == SC_OP_SCAL ? NULL : &y, (double *)x.ptr, (double *)y.ptr);
    }
    k.m = k.n = n;
    in_place(k, &x, op == SC_OP_SCAL ? NULL : &y, model_of(&x), model_of(&y));
}

static bool rank_one(struct sc_kernel k, const struct sc_view v[3])
{
    struct sc_operand o[3], whole;
    struct sc_cuts rows, cols, other;

    if (sc_coherence_begin(v, 3, o) != SC_OK)
        return false;
    if (sc_coherence_as_matrix(&o[0], &whole) || sc_coherence_as_matrix(&o[1], &whole)) {
        sc_coherence_end(o, 3);
        return false;
    }
    sc_coherence_row_cuts(&o[2], &rows);
    sc_coherence_row_cuts(&o[0], &other);
    sc_cuts_merge(&rows, &other);
    sc_coherence_col_cuts(&o[2], &cols);
    sc_coherence_row_cuts(&o[1], &other);
    sc_cuts_merge(&cols, &other);
    for (int i = 0; i < rows.n; i++)
        for (int j = 0; j < cols.n; j++) {
            int64_t r = rows.at[i], c = cols.at[j];
            struct sc_piece pieces[3];

            k.m = rows.at[i + 1] - r;
            k.n = cols.at[j + 1] - c;
            pieces[0] = piece(&o[0], r, k.m, 0, 1);
            pieces[1] = piece(&o[1], c, k.n, 0, 1);
            pieces[2] = piece(&o[2], r, k.m, c, k.n);
            run_task(&k, pieces);
        }
    sc_coherence_end(o, 3);
    return true;
}

/* A block of one array gains the product of two vectors of the second array. */
static void matrix_step(void)
{
    static const int64_t lds[] = {7, 32, 64, 100, 512, 600};
    int array = (int)below(ARRAYS);
    int64_t ld = lds[below(sizeof lds / sizeof *lds)], at = below(ROOM), m = 1 + below(ld), n;
    struct sc_view v[3];
    struct sc_kernel k = {.op = SC_OP_GER, .type = SC_D, .alpha = {1}};

    if (at + m > ROOM)
        at = ROOM - m;
    n = 1 + below((ROOM - at - m) / ld + 1);
    v[2] = (struct sc_view){.ptr = data[array] + at, .type = SC_D, .rows = m, .cols = n, .ld = ld, .access = SC_RDWR,
                            .split = (enum sc_split)below(2), .spread = 1 + (int)below(DEVICES)};
    v[0] = vector_view(!array, below(ROOM - m + 1), m, 1, SC_READ);
    v[1] = vector_view(!array, below(ROOM - n + 1), n, 1, SC_READ);
    if (!rank_one(k, v)) {
        k.m = m, k.n = n;
        k.a = (double *)v[0].ptr, k.b = (double *)v[1].ptr, k.c = (double *)v[2].ptr;
        k.lda = k.ldb = 1, k.ldc = ld;
        explore_kernel(&k);
    }
    k.m = m, k.n = n;
    k.a = model_of(&v[0]), k.b = model_of(&v[1]), k.c = model_of(&v[2]);
    k.lda = k.ldb = 1, k.ldc = ld;
    explore_kernel(&k);
}

static void compare(int array, int64_t at, int64_t n)
{
    for (int64_t i = at; i < at + n; i++)
        FUZZ_MUST(memcmp(touch(&data[array][i], SC_READ), &model[array][i], sizeof(double)) == 0);
}

static void store(int array, int64_t at, int64_t n)
{
    for (int64_t i = at; i < at + n; i++)
        *touch(&data[array][i], SC_WRITE) = model[array][i] = next_value++;
}

static void acquire(int array, int64_t at, int64_t n, enum sc_access access)
{
    sc_coherence_acquire_host((uintptr_t)&data[array][at], (size_t)n * sizeof(double), access);
    if (access == SC_WRITE) /* promised */
        store(array, at, n);
}

/* Fills the array with new numbers, small enough to be exact and all different. */
static void anew(int array)
{
    sc_coherence_forget((uintptr_t)data[array], ROOM * sizeof(double));
    for (int i = 0; i < ROOM; i++)
        data[array][i] = model[array][i] = next_value++;
}

static void step(void)
{
    int array = (int)below(ARRAYS);
    int64_t at, n;

    switch (below(12)) {
    case 0: vector_step(SC_OP_SCAL); return;
    case 1: vector_step(SC_OP_AXPY); return;
    case 2: vector_step(SC_OP_COPY); return;
    case 3: matrix_step(); return;
    case 4: sc_coherence_release_range((uintptr_t)data[array], ROOM * sizeof(double)); return;
    case 5: sc_coherence_home_all(); return;
    case 6: anew(array); return;
    case 7: sc_coherence_read_ahead((uintptr_t)&data[array][below(ROOM)], 2 * SC_PAGE); return;
    case 8: some_stream_step(); return;
    default: break;
    }
    at = below(ROOM);
    n = 1 + below(ROOM - at);
    switch (below(4)) {
    case 0: compare(array, at, n < 64 ? n : 64); return;
    case 1: store(array, at, n < 16 ? n : 16); return;
    case 2: acquire(array, at, n, SC_WRITE); return;
    default: acquire(array, at, n, below(2) ? SC_READ : SC_RDWR);
    }
}

/* --- the target --------------------------------------------------------------------------------------------------- */

static void quiet_log(enum sc_log_level level, const char *format, ...) { (void)level, (void)format; }

static void set_up(void)
{
    static const struct sc_device_host host = {.config = &sc_config, .blas_symbol = blas_symbol, .log = quiet_log};

    sc_config.arena_bytes = UINT64_C(1) << 30;
    sc_directory_limits.unit_bytes = SC_PAGE;
    FUZZ_MUST(sc_host_arena_start() == SC_OK);
    FUZZ_MUST(sc_coherence_start(&explore_device, DEVICES, &host) == SC_OK);
    for (int a = 0; a < ARRAYS; a++)
        FUZZ_MUST((data[a] = sc_host_alloc(ROOM * sizeof(double))));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned broken = sc_coherence_broken();

    if (!data[0])
        set_up();
    input = bytes;
    left = size;
    next_value = 1;
    for (int a = 0; a < ARRAYS; a++)
        anew(a);
    explore_device_reset(3 + (int)below(2)); /* a task has three operands */
    for (int i = 0; i < STEPS && left; i++) {
        step();
        sc_protocol_lock();
        sc_check_all("an operation");
        sc_protocol_unlock();
        FUZZ_MUST(sc_coherence_broken() == broken);
        for (unsigned k = byte() % 4; k; k--)
            some_stream_step();
    }
    for (int a = 0; a < ARRAYS; a++)
        compare(a, 0, ROOM);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
