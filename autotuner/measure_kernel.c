/* Kernels and power, on devices and on the host BLAS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "autotuner/measure_int.h"

#define ALL_TYPES 15
#define BATCH_SECONDS 2e-4     /* shorter kernels are timed several at a time */
#define BATCH_MOST 64
#define DISTURBED 4            /* times what the device says of itself */
#define DISTURBED_OVERHEAD 5e-5 /* seconds */
#define ATTEMPTS 3
#define WATTS_SECONDS 0.25     /* meters of real devices change every 20 to 100 ms */
#define IDLE_SECONDS 0.3

/* Longer kernels are left out: the next smaller size tells enough. */
#define HOST_LIMIT 0.1
#define DEVICE_LIMIT 0.1
#define QUICK_LIMIT 0.02
#define SIZES 24 /* the last one is 0 */
#define QUICK_FILL ((size_t)64 << 20) /* bytes on the host; the rest is zero */

static const struct plan {
    enum sc_op op;
    unsigned types, quick; /* bits of enum sc_type in the full version and in the quick version */
} plan[] = {
    /* In the order of importance. */
    {SC_OP_GEMM, ALL_TYPES, 3},  {SC_OP_GEMV, ALL_TYPES, 2},  {SC_OP_DOT, ALL_TYPES, 2},
    {SC_OP_AXPY, ALL_TYPES, 2},  {SC_OP_SYRK, ALL_TYPES, 2},  {SC_OP_TRSM, ALL_TYPES, 2},
    {SC_OP_SYMM, ALL_TYPES, 0},  {SC_OP_SYR2K, ALL_TYPES, 0}, {SC_OP_TRMM, ALL_TYPES, 0},
    {SC_OP_GER, ALL_TYPES, 0},   {SC_OP_SYMV, 3, 0},          {SC_OP_HEMV, 12, 0},
    {SC_OP_TRMV, ALL_TYPES, 0},  {SC_OP_TRSV, ALL_TYPES, 0},  {SC_OP_SCAL, ALL_TYPES, 0},
    {SC_OP_COPY, ALL_TYPES, 0},  {SC_OP_NRM2, ALL_TYPES, 0},
};

/* On devices powers of two are the fastest sizes, and columns off 16 bytes the slowest. The sizes include both kinds
 * and sizes of programs in between. */
static const int64_t sizes[4][SIZES] = {
    {0},
    {1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26},
    {128, 256, 512, 1024, 2048, 4096, 8192},
    {64, 128, 131, 180, 256, 257, 363, 364, 512, 724, 725, 1024, 1448, 1449, 2048, 2896, 2897, 4096, 5793, 6144, 8192},
};
static const int64_t host_sizes[4][SIZES] = {
    {0},
    {1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26},
    {128, 256, 512, 1024, 2048, 4096, 8192},
    {64, 128, 256, 512, 1024, 2048, 4096, 6144, 8192},
};
static const int64_t quick_sizes[4][SIZES] = {
    {0}, {1 << 14, 1 << 20}, {512, 2048, 4096}, {128, 256, 363, 724, 1024, 1449, 2048, 4096},
};

/* Level 3 on devices with a thin operand: bound by memory, or with idle multiprocessors. Updates of blocked algorithms
 * have such shapes. Columns begin at multiples of 16 bytes. */
static const struct {
    enum sc_op op;
    unsigned types;
} thin_plan[] = {{SC_OP_GEMM, ALL_TYPES}, {SC_OP_SYRK, ALL_TYPES}, {SC_OP_TRSM, ALL_TYPES}, {SC_OP_TRMM, ALL_TYPES},
                 {SC_OP_SYMM, ALL_TYPES}, {SC_OP_SYR2K, 3}};
static const int64_t thin_sizes[] = {180, 364, 724, 1448, 2896, 5792, 0};
#define THIN 64

struct workplace {
    int place;
    char *memory;        /* NULL: not needed yet */
    size_t bytes;        /* of memory */
    enum sc_type filled; /* type of the numbers in the memory; SC_TYPES: none yet */
    enum sc_type fill;   /* type of the numbers wanted there */
    int batch;
    struct sc_kernel kernel;
    char result[16];
};

/* --- operands ----------------------------------------------------------------------------------------------------- */

static size_t operand_bytes(enum sc_op op, enum sc_type type, int64_t size)
{
    uint64_t elements = sc_op_level(op) == 1 ? (uint64_t)size : (uint64_t)size * (uint64_t)size;

    return (size_t)((elements * sc_type_bytes(type) + 255) / 256 * 256);
}

/* Fills memory with small numbers around zero. Repeated products neither overflow nor become denormal (triangles have
 * unit diagonals), and the power is realistic. */
static void fill(char *memory, size_t bytes, enum sc_type type)
{
    uint64_t state = 88172645463325252;

    for (size_t at = 0; at + 8 <= bytes; at += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if (type == SC_S || type == SC_C) {
            float pair[2] = {((float)(state & 0xffff) - 32767.5f) * 1e-8f, ((float)(state >> 48) - 32767.5f) * 1e-8f};
            memcpy(memory + at, pair, 8);
        } else {
            double one = ((double)(state >> 32) - 2147483647.5) * 1e-13;
            memcpy(memory + at, &one, 8);
        }
    }
}

static struct sc_kernel kernel_of(enum sc_op op, enum sc_type type, int64_t size, char *memory)
{
    size_t step = operand_bytes(op, type, size);
    struct sc_kernel k = {.op = op, .type = type, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'L', .diag = 'U',
                          .m = size, .n = size, .k = size, .alpha = {1e-3, 0}, .a = memory, .b = memory + step,
                          .c = memory + 2 * step, .lda = 1, .ldb = 1, .ldc = 1};

    switch (op) {
    case SC_OP_SCAL: k.alpha[0] = -1; break;
    case SC_OP_GER: k.ldc = size; break;
    case SC_OP_SYRK: k.lda = k.ldc = size; k.b = NULL; break;
    case SC_OP_TRMM:
    case SC_OP_TRSM: k.lda = k.ldb = size; k.alpha[0] = 1; break;
    default:
        if (sc_op_level(op) == 2)
            k.lda = size;
        if (sc_op_level(op) == 3)
            k.lda = k.ldb = k.ldc = size;
    }
    return k;
}

/* Makes one extent thin, as in sc_database_kernel; the result is updated. */
static void make_thin(struct sc_kernel *k, int64_t thin)
{
    k->beta[0] = 1;
    if (k->op == SC_OP_SYMM || k->op == SC_OP_TRMM || k->op == SC_OP_TRSM)
        k->n = thin;
    else
        k->k = thin;
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

static bool launch(struct sc_bench *b, struct workplace *w)
{
    if (sc_op_is_reduction(w->kernel.op))
        w->kernel.result = w->place == SC_PLACE_HOST ? w->result : b->how->ops->result_slot(w->place);
    if (w->place == SC_PLACE_HOST)
        return sc_device_kernel_host(b->how->host->blas_symbol, &w->kernel) == SC_OK;
    return b->how->ops->launch(w->place, SC_STREAM_COMPUTE, &w->kernel) == SC_OK;
}

static double clock_of(struct sc_bench *b, const struct workplace *w)
{
    return w->place == SC_PLACE_HOST ? sc_bench_real_now() : sc_bench_now(b);
}

static double once(struct sc_bench *b, void *what)
{
    struct workplace *w = what;
    double start = clock_of(b, w), seconds;
    struct sc_fence fence;
    bool good = true;

    for (int i = 0; i < w->batch && good; i++)
        good = launch(b, w);
    if (w->place != SC_PLACE_HOST)
        good = good && b->how->ops->mark(w->place, SC_STREAM_COMPUTE, &fence) == SC_OK &&
               b->how->ops->sync(fence) == SC_OK;
    seconds = (clock_of(b, w) - start) / w->batch;
    return good ? seconds : 0;
}

/* Energy of a place so far; false: unknown. */
static bool joules_of(struct sc_bench *b, int place, double *joules)
{
    if (place == SC_PLACE_HOST)
        return sc_joules_read(&b->meter, joules);
    return b->how->ops->joules && b->how->ops->joules(place, joules) == SC_OK;
}

static bool is_virtual(const struct sc_bench *b, int place)
{
    return place != SC_PLACE_HOST && b->how->ops->virtual_seconds;
}

static double watts(struct sc_bench *b, struct workplace *w, double seconds)
{
    double start, before, after, until = is_virtual(b, w->place) ? 0 : WATTS_SECONDS;

    if (w->place == SC_PLACE_HOST && b->properties[0].host_watts_busy > 0)
        return b->properties[0].host_watts_busy;
    if (!joules_of(b, w->place, &before))
        return 0;
    w->batch = seconds < until ? (int)(until / seconds / 4) + 1 : 1;
    start = clock_of(b, w);
    do
        if (once(b, w) <= 0)
            return 0;
    while (clock_of(b, w) - start < until);
    if (!joules_of(b, w->place, &after) || after <= before)
        return 0;
    return (after - before) / (clock_of(b, w) - start);
}

static void upload(struct sc_bench *b, struct workplace *w, enum sc_type type)
{
    struct sc_fence fence;

    fill(b->pinned, SC_BENCH_CHUNK, type);
    for (size_t at = 0; at < w->bytes; at += SC_BENCH_CHUNK) {
        size_t bytes = w->bytes - at < SC_BENCH_CHUNK ? w->bytes - at : SC_BENCH_CHUNK;
        struct sc_copy2d copy = {w->memory + at, b->pinned, bytes, bytes, bytes, 1, w->place, SC_HOST};

        b->how->ops->copy(w->place, SC_STREAM_COMPUTE, &copy);
    }
    if (b->how->ops->mark(w->place, SC_STREAM_COMPUTE, &fence) == SC_OK)
        b->how->ops->sync(fence);
}

static bool open_place(struct sc_bench *b, struct workplace *w)
{
    struct sc_fence ready;
    void *memory;

    if (w->place == SC_PLACE_HOST) {
        memory = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        w->memory = memory == MAP_FAILED ? NULL : memory;
        return w->memory != NULL;
    }
    if (b->how->ops->alloc(w->place, w->bytes, &memory, &ready) != SC_OK)
        return false;
    w->memory = memory;
    return b->how->ops->sync(ready) == SC_OK;
}

/* Memory with numbers of the wanted type. Takes tens of milliseconds, so nothing is prepared for figures that are known
 * already. */
static bool prepare(struct sc_bench *b, struct workplace *w)
{
    if (!w->memory && !open_place(b, w))
        return false;
    if (w->filled != w->fill && w->place == SC_PLACE_HOST)
        fill(w->memory, b->how->quick && w->bytes > QUICK_FILL ? QUICK_FILL : w->bytes, w->fill);
    else if (w->filled != w->fill)
        upload(b, w, w->fill);
    w->filled = w->fill;
    return true;
}

/* A program used the device, or all processors, during the measurement. A figure that is too large would keep the
 * routine from the devices in all later programs. Known of routines whose time follows from bytes or operations. */
static bool is_disturbed(const struct sc_bench *b, const struct workplace *w, double seconds)
{
    const struct sc_device_properties *device = w->place == SC_PLACE_HOST ? NULL : &b->properties[w->place];
    enum sc_op op = w->kernel.op;
    double said;

    if (!device || !b->how->devices_only || (op != SC_OP_GEMM && sc_op_level(op) == 3) ||
        device->gemm_flops <= 0 || device->memory_bandwidth <= 0)
        return false;
    said = sc_kernel_flops(&w->kernel) / device->gemm_flops + sc_kernel_bytes(&w->kernel) / device->memory_bandwidth;
    return seconds > DISTURBED * said + DISTURBED_OVERHEAD;
}

static double series(struct sc_bench *b, struct workplace *w)
{
    double first, again;

    w->batch = 1;
    if (once(b, w) <= 0 || (first = once(b, w)) <= 0 || (again = once(b, w)) <= 0)
        return 0;
    first = again < first ? again : first;
    w->batch = first < BATCH_SECONDS ? (int)(BATCH_SECONDS / first) + 1 : 1;
    if (w->batch > BATCH_MOST)
        w->batch = BATCH_MOST;
    return sc_bench_mean(b, once, w, w->place == SC_PLACE_HOST);
}

/* Seconds of one kernel; 0: the kernel cannot run, or cannot be measured now. `kernel`: without its figures. */
static double measure(struct sc_bench *b, struct workplace *w, struct sc_database_kernel kernel, bool with_watts)
{
    if (!prepare(b, w))
        return 0;
    w->kernel = kernel_of((enum sc_op)kernel.op, (enum sc_type)kernel.type, kernel.size, w->memory);
    if (kernel.thin)
        make_thin(&w->kernel, kernel.thin);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        kernel.seconds = series(b, w);
        if (!is_disturbed(b, w, kernel.seconds))
            break;
        kernel.seconds = 0;
    }
    if (kernel.seconds <= 0)
        return 0;
    if (with_watts)
        kernel.watts = watts(b, w, kernel.seconds);
    return sc_database_add_kernel(b->db, &kernel) == SC_OK ? kernel.seconds : 0;
}

/* --- all values of a place ---------------------------------------------------------------------------------------- */

static const int64_t *sizes_of(const struct sc_bench *b, int place, enum sc_op op)
{
    return (b->how->quick ? quick_sizes : place == SC_PLACE_HOST ? host_sizes : sizes)[sc_op_level(op)];
}

static double limit_of(const struct sc_bench *b, int place)
{
    return b->how->quick ? QUICK_LIMIT : place == SC_PLACE_HOST ? HOST_LIMIT : DEVICE_LIMIT;
}

static bool announce(struct sc_bench *b, const struct sc_database_kernel *k)
{
    return sc_bench_step(b, k->thin ? "%s: thin %c%s %lld" : "%s: %c%s %lld",
                         k->place == SC_PLACE_HOST ? "host" : b->properties[k->place].name,
                         sc_type_letter((enum sc_type)k->type), sc_op_name((enum sc_op)k->op), (long long)k->size);
}

static void routine(struct sc_bench *b, struct workplace *w, const struct plan *p, enum sc_type type)
{
    const int64_t *size = sizes_of(b, w->place, p->op);
    double seconds = 0, work = 0;
    bool watched = !b->how->quick;

    for (int i = 0; size[i]; i++) {
        double n = (double)size[i], next = sc_op_work(p->op, 'L', n, n, n);
        const struct sc_database_kernel *known = sc_database_find_kernel(b->db, w->place, p->op, type, size[i], 0);
        struct sc_database_kernel kernel = {.place = (uint8_t)w->place, .op = (uint8_t)p->op, .type = (uint8_t)type,
                                            .size = size[i]};
        bool large = !size[i + 1] || (p->op == SC_OP_GEMM && size[i] >= 1024);

        if (known)
            seconds = known->seconds;
        else if (!b->counting && (3 * operand_bytes(p->op, type, size[i]) > w->bytes ||
                                  (work > 0 && seconds * next / work > limit_of(b, w->place))))
            return; /* later sizes are larger */
        else if (announce(b, &kernel))
            seconds = measure(b, w, kernel, watched && large);
        if (seconds <= 0 && !b->counting)
            return;
        work = next;
    }
}

static void thin_routine(struct sc_bench *b, struct workplace *w, enum sc_op op, enum sc_type type)
{
    for (const int64_t *size = thin_sizes; *size; size++) {
        struct sc_database_kernel kernel = {.place = (uint8_t)w->place, .op = (uint8_t)op, .type = (uint8_t)type,
                                            .size = *size, .thin = THIN};

        if (!sc_database_find_kernel(b->db, w->place, op, type, *size, THIN) && announce(b, &kernel) &&
            3 * operand_bytes(op, type, *size) <= w->bytes && measure(b, w, kernel, false) <= 0)
            return;
    }
}

/* Bytes for the operands of every planned size, or as much as there is. */
static size_t wanted_bytes(const struct sc_bench *b, int place)
{
    size_t most = 0, room;

    for (size_t i = 0; i < sizeof plan / sizeof *plan; i++)
        for (int s = 0; sizes_of(b, place, plan[i].op)[s]; s++) {
            size_t bytes = 3 * operand_bytes(plan[i].op, SC_D, sizes_of(b, place, plan[i].op)[s]);

            most = bytes > most ? bytes : most;
        }
    room = place == SC_PLACE_HOST ? (size_t)512 << 20 : (size_t)(b->properties[place].memory / 4);
    if (b->how->quick && room > (size_t)400 << 20)
        room = (size_t)400 << 20;
    return most < room ? most : room;
}

static void close_place(struct sc_bench *b, struct workplace *w)
{
    if (w->memory && w->place == SC_PLACE_HOST)
        munmap(w->memory, w->bytes);
    else if (w->memory)
        b->how->ops->free(w->place, w->memory, NULL, 0);
}

/* Single precision comes before double: the memory's contents fit the type. */
void sc_bench_kernels(struct sc_bench *b, int place)
{
    static const unsigned groups[] = {1u << SC_D | 1u << SC_Z, 1u << SC_S | 1u << SC_C};
    struct workplace w = {.place = place, .bytes = wanted_bytes(b, place), .filled = SC_TYPES};

    for (int g = 0; g < 2; g++) {
        w.fill = g ? SC_S : SC_D;
        for (size_t i = 0; i < sizeof plan / sizeof *plan; i++)
            for (int type = 0; type < SC_TYPES; type++)
                if ((b->how->quick ? plan[i].quick : plan[i].types) & groups[g] & 1u << type)
                    routine(b, &w, &plan[i], (enum sc_type)type);
        for (size_t i = 0; i < sizeof thin_plan / sizeof *thin_plan && place != SC_PLACE_HOST && !b->how->quick; i++)
            for (int type = 0; type < SC_TYPES; type++)
                if (thin_plan[i].types & groups[g] & 1u << type)
                    thin_routine(b, &w, thin_plan[i].op, (enum sc_type)type);
    }
    close_place(b, &w);
}

/* --- at rest ------------------------------------------------------------------------------------------------------ */

/* known: as reported by the devices. */
static double idle_of(struct sc_bench *b, int place, double known)
{
    const struct timespec pause = {0, (long)(IDLE_SECONDS * 1e9)};
    double before, after, start;

    if (known > 0 || is_virtual(b, place) || !joules_of(b, place, &before))
        return known;
    start = sc_bench_real_now();
    nanosleep(&pause, NULL);
    if (!joules_of(b, place, &after) || after <= before)
        return 0;
    return (after - before) / (sc_bench_real_now() - start);
}

static void rest(struct sc_bench *b, int place, double known, const char *name)
{
    if (b->db->idle_watts[place] <= 0 && sc_bench_step(b, "%s at rest", name))
        b->db->idle_watts[place] = idle_of(b, place, known);
}

void sc_bench_idle(struct sc_bench *b)
{
    char name[32];

    for (int d = 0; !b->how->quick && d < b->how->devices; d++) {
        snprintf(name, sizeof name, "device %d", d);
        rest(b, d, b->properties[d].watts_idle, name);
    }
    if (b->how->quick)
        b->db->idle_watts[SC_PLACE_HOST] = b->properties[0].host_watts_idle;
    else
        rest(b, SC_PLACE_HOST, b->properties[0].host_watts_idle, "host");
}
/* SPDX-License-Identifier: BSD-2-Clause */
