/* Copies between devices. Asserts which pieces travel together, who chooses between copy engines and kernels, and the
 * number of device operations. Four devices write a quarter of x each; several devices read the whole of x. Numbers are
 * exact. */
#include "device/exchange.h"
#include "tests/coherence_env.h"

enum { N = 1 << 15, DEVICES = 4 }; /* elements: 256 KiB, a part has 64 */

static struct sc_device_ops counting;
static const struct sc_device_ops *real_ops;
static int copies, exchanges, pieces_exchanged, marks_exchanged; /* of copies between devices */
static uint64_t kernels_awaited[DEVICES]; /* by exchange i: fence number of the last kernel of device 0 */
static uint64_t awaited;

static enum sc_status count_copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    copies += c->src_device != SC_HOST && c->dst_device != SC_HOST;
    return real_ops->copy(device, stream, c);
}

static enum sc_status count_exchange(int device, enum sc_stream stream, const struct sc_copy2d *c, int count)
{
    kernels_awaited[exchanges % DEVICES] = awaited;
    exchanges++;
    pieces_exchanged += count;
    return real_ops->exchange(device, stream, c, count);
}

static enum sc_status count_mark(int device, enum sc_stream stream, struct sc_fence *fence)
{
    marks_exchanged += stream == SC_STREAM_EXCHANGE;
    return real_ops->mark(device, stream, fence);
}

static enum sc_status count_wait(int device, enum sc_stream stream, struct sc_fence fence)
{
    if (stream == SC_STREAM_EXCHANGE && fence.device == 0 && fence.stream == SC_STREAM_COMPUTE)
        awaited = fence.seq;
    return real_ops->wait(device, stream, fence);
}

/* --- who decides: in the place of device/exchange.c, by the linker ------------------------------------------------ */

static struct sc_exchange asked;
static int questions;
static bool answer;

struct sc_exchange_choice __wrap_sc_exchange_choose(const struct sc_exchange_rates *rates, const struct sc_exchange *x);
struct sc_exchange_choice __wrap_sc_exchange_choose(const struct sc_exchange_rates *rates, const struct sc_exchange *x)
{
    (void)rates;
    asked = *x;
    questions++;
    return (struct sc_exchange_choice){.by_kernel = answer};
}

static struct sc_result result;
static int chunks = 1;

struct sc_result_choice __wrap_sc_exchange_chunks(const struct sc_exchange_rates *rates, const struct sc_result *r);
struct sc_result_choice __wrap_sc_exchange_chunks(const struct sc_exchange_rates *rates, const struct sc_result *r)
{
    (void)rates;
    result = *r;
    return (struct sc_result_choice){.chunks = chunks};
}

static const struct sc_exchange_rates rates;

/* --- calls -------------------------------------------------------------------------------------------------------- */

static double *x, factor = 1;

static struct sc_view view(enum sc_access access)
{
    return (struct sc_view){.ptr = x, .type = SC_D, .vector = true, .rows = N, .cols = 1, .ld = 1, .access = access,
                            .spread = 1};
}

/* x := 2 x; part i on device (i + first) % devices. */
static void write_parts(int devices, int first)
{
    const struct sc_producer producer = {.seconds = 0.25, .devices = 4};
    struct sc_view v = view(SC_RDWR);
    struct sc_operand o;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        exit(99);
    for (int i = 0; i < DEVICES; i++) {
        struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .alpha = {2}, .m = N / DEVICES, .n = N / DEVICES};
        struct sc_piece piece = {.operand = &o, .r = i * (N / DEVICES), .rows = N / DEVICES, .cols = 1,
                                 .access = SC_RDWR};

        sc_coherence_task((i + first) % devices, &k, (struct sc_piece[3]){piece}, NULL, NULL);
    }
    factor *= 2;
    sc_coherence_push(&o, 1, &producer);
    sc_coherence_end(&o, 1);
}

static bool reads_right(int device) { return env_reads(device, view(SC_READ), factor * factor * N); }

static void count_anew(void) { copies = exchanges = pieces_exchanged = marks_exchanged = questions = 0; }

static void test_pull(void)
{
    bool right;

    for (int i = 0; i < 2; i++) {
        answer = i;
        write_parts(DEVICES, 0);
        count_anew();
        right = reads_right(0);
        tap_ok(right && questions == 1 && asked.on == 0 && !asked.push && asked.pieces == 3 &&
                   asked.bytes == N / 4 * 3 * sizeof *x && asked.largest == N / 4 * sizeof *x && asked.other > 0,
               "parts of three devices for one kernel: asked once, about three pieces to pull");
        if (!i)
            tap_ok(copies == 3 && exchanges == 0, "no: three copies");
        else
            tap_ok(copies == 0 && exchanges == 1 && pieces_exchanged == 3 && marks_exchanged == 1,
                   "yes: one kernel and one mark");
    }
    answer = true;
    write_parts(DEVICES, 0);
    count_anew();
    right = reads_right(1) && reads_right(2) && reads_right(3) && reads_right(0);
    tap_ok(right && copies == 0 && exchanges == 4 && pieces_exchanged == 12,
           "four devices: four kernels, twelve pieces");
}

/* Device 0 writes the whole of x; devices 1 to 3 have read x the last two times. */
static void test_push(void)
{
    bool right = true;

    answer = true;
    for (int i = 0; i < 3; i++) {
        write_parts(1, 0);
        right = reads_right(1) && reads_right(2) && reads_right(3) && right;
    }
    count_anew();
    write_parts(1, 0);
    tap_ok(right && questions == 1 && asked.push && asked.on == 0 && asked.pieces == 3 &&
               asked.bytes == 3 * N * sizeof *x, "a result that three will read: asked once, about pushing to them");
    tap_ok(copies == 0 && exchanges == 1 && marks_exchanged == 1, "one kernel and one mark");
    right = reads_right(1) && reads_right(2) && reads_right(3);
    tap_ok(right && exchanges == 1 && copies == 0, "they have it, and nothing moves when they read it");
}

/* Device 0 makes x by four kernels. The chunks are sent as soon as their kernels are done. */
static void test_chunks(void)
{
    static const int cases[] = {1, 2, 4};
    bool right;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t pushed = sc_stats.pushed_d2d;
        bool in_order = true;

        chunks = cases[i];
        count_anew();
        write_parts(1, 0);
        tap_ok(result.from == 0 && result.to > 0 && result.makers == 1 && result.readers == 3 && result.kernels == 4 &&
                   result.bytes == N * sizeof *x && result.seconds == 1, "asked about a result of four kernels");
        tap_ok(exchanges == cases[i] && pieces_exchanged == 3 * exchanges && copies == 0 &&
                   sc_stats.pushed_d2d - pushed == 3 * N * sizeof *x,
               "%d chunks wanted: %d, each to three devices", chunks, exchanges);
        for (int c = 1; c < cases[i]; c++)
            in_order = in_order && kernels_awaited[c] - kernels_awaited[c - 1] == (uint64_t)(4 / cases[i]);
        tap_ok(in_order, "the next waits for the next kernels");
        right = reads_right(1) && reads_right(2) && reads_right(3);
        tap_ok(right && exchanges == cases[i], "they have it");
    }
    chunks = 1;
}

/* Written in turn by one device and by four, like a solver's residual: each writer reads the previous writers'
 * parts. */
static void test_turns(void)
{
    uint64_t pushed;

    for (int i = 0; i < 3; i++) {
        write_parts(1, 0);
        write_parts(DEVICES, 0);
    }
    pushed = sc_stats.pushed_d2d;
    count_anew();
    write_parts(1, 0);
    tap_ok(exchanges == 1 && sc_stats.pushed_d2d - pushed == N / 4 * 3 * sizeof *x && copies == 0,
           "the one's result goes to the four, each part where it will be written, by one kernel");
    pushed = sc_stats.pushed_d2d;
    count_anew();
    write_parts(DEVICES, 0);
    tap_ok(exchanges == 1 && sc_stats.pushed_d2d - pushed == N / 4 * 3 * sizeof *x && asked.on == 0 && !asked.push,
           "theirs come back together, by one kernel");
    tap_ok(reads_right(0) && reads_right(2), "and are right");
}

static void test_setting(void)
{
    static const struct { enum sc_exchange_by by; int copies, exchanges; } settings[] = {
        {SC_EXCHANGE_COPY, 3, 0}, {SC_EXCHANGE_PULL, 0, 1}, {SC_EXCHANGE_PUSH, 0, 3}};

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        sc_config.push = 0;
        write_parts(DEVICES, 0);
        sc_config.exchange = settings[i].by;
        count_anew();
        tap_ok(reads_right(0) && questions == 0 && copies == settings[i].copies &&
                   exchanges == settings[i].exchanges, "setting %d: nobody is asked", (int)settings[i].by);
        sc_config.exchange = SC_EXCHANGE_AUTO;
    }
    sc_coherence_exchanges(NULL);
    write_parts(DEVICES, 0);
    count_anew();
    tap_ok(reads_right(0) && copies == 3 && exchanges == 0, "nobody to ask: copies");
}

int main(void)
{
    int count = 0;

    if (!env_is_emulated()) {
        printf("1..0 # SKIP counts what four emulated devices are asked for\n");
        return 0;
    }
    env_init();
    if (sc_device_open(&env_host, "emu:h200x8:4", &real_ops, &count) != SC_OK || count != DEVICES)
        tap_skip_all("no host BLAS");
    counting = *real_ops;
    counting.copy = count_copy;
    counting.exchange = count_exchange;
    counting.mark = count_mark;
    counting.wait = count_wait;
    if (sc_coherence_start(&counting, count, &env_host) != SC_OK || sc_host_faults_start(&env_callbacks) != SC_OK)
        tap_ok(0, "start");
    sc_coherence_exchanges(&rates);
    x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = 1;
    test_pull();
    sc_config.push = 1;
    test_push();
    test_chunks();
    test_turns();
    test_setting();
    free(x);
    sc_coherence_stop();
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
