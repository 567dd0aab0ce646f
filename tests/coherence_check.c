/* SEMCACHE_CHECK=1. Asserts that a check's steps do not grow with unchanged matrices, and that damage behind the
 * protocol's back is found in turn, or at once where a matrix has changed. */
#include <inttypes.h>

#include "coherence/protocol.h"
#include "tests/coherence_env.h"
#include "tests/heard.h"

#define LENGTH 2048 /* four pages */
#define CALLS 200

/* A kernel scales x by 1, and the host reads x. */
static void round_trip(double *x, int64_t length)
{
    struct sc_view v = {.ptr = x, .type = SC_D, .vector = true, .rows = length, .cols = 1, .ld = 1, .access = SC_RDWR,
                        .spread = 1};
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .n = length, .alpha = {1}};
    struct sc_operand o;
    struct sc_piece piece[3] = {{.operand = &o, .rows = length, .cols = 1, .access = SC_RDWR}};

    if (sc_coherence_begin(&v, 1, &o) != SC_OK) {
        tap_ok(0, "a call begins");
        return;
    }
    if (sc_coherence_task(0, &k, piece, NULL, NULL) != SC_OK)
        tap_ok(0, "a task");
    sc_coherence_end(&o, 1);
    sc_coherence_acquire_host((uintptr_t)x, (size_t)length * sizeof *x, SC_READ);
}

static double **many(int count)
{
    double **x = malloc((size_t)count * sizeof *x);

    for (int i = 0; i < count; i++) {
        x[i] = env_memory(LENGTH * sizeof **x);
        memset(x[i], 0, LENGTH * sizeof **x);
        round_trip(x[i], LENGTH);
    }
    return x;
}

static void forget(double **x, int count)
{
    for (int i = 0; i < count; i++)
        sc_coherence_host_free(x[i]);
    free(x);
}

static uint64_t steps_among(int count)
{
    double **x = many(count);
    uint64_t before = sc_check_steps;

    for (int i = 0; i < CALLS; i++)
        round_trip(x[i % count], LENGTH);
    before = sc_check_steps - before;
    forget(x, count);
    return before;
}

/* A matrix of many sectors; calls use few of the sectors. */
static uint64_t steps_in(int64_t vectors)
{
    double *x = env_memory((size_t)vectors * LENGTH * sizeof *x);
    uint64_t before;

    memset(x, 0, (size_t)vectors * LENGTH * sizeof *x);
    for (int pass = 0; pass < 2; pass++) {
        struct sc_view v = {.ptr = x, .type = SC_D, .rows = LENGTH, .cols = vectors, .ld = LENGTH, .access = SC_READ,
                            .split = SC_SPLIT_COLS};
        struct sc_operand o;

        before = sc_check_steps;
        for (int i = 0; i < (pass ? CALLS : 1); i++)
            if (sc_coherence_begin(&v, 1, &o) == SC_OK) {
                sc_coherence_end(&o, 1);
                sc_coherence_acquire_host((uintptr_t)x, sizeof *x, SC_READ);
            }
    }
    before = sc_check_steps - before;
    sc_coherence_host_free(x);
    return before;
}

/* Round trips of vectors of one element, `gap` elements apart. */
static uint64_t steps_on_pages(int gap)
{
    double *x = env_memory(LENGTH * sizeof *x);
    uint64_t before;

    memset(x, 0, LENGTH * sizeof *x);
    for (int i = 0; i < LENGTH; i += gap)
        round_trip(x + i, 1);
    before = sc_check_steps;
    for (int i = 0; i < CALLS; i++)
        round_trip(x + i * gap % LENGTH, 1);
    before = sc_check_steps - before;
    sc_coherence_host_free(x);
    return before;
}

static void test_cost(void)
{
    uint64_t few_here = steps_on_pages(32), crowd = steps_on_pages(2);

    uint64_t few = steps_among(20), more = steps_among(2000), small = steps_in(100), large = steps_in(20000);

    tap_ok(few > CALLS && more < 2 * few, "%d round trips check %" PRIu64 " pages and copies among 20 vectors, %" PRIu64
           " among 2000", CALLS, few, more);
    tap_ok(crowd < 2 * few_here, "%" PRIu64 " with 16 vectors on a page, %" PRIu64 " with 256", few_here, crowd);
    tap_ok(large < 2 * small, "%" PRIu64 " beside a matrix of 100 columns, %" PRIu64 " beside 20000", small, large);
}

/* --- what is broken ----------------------------------------------------------------------------------------------- */

static struct sc_matrix *matrix_of(const double *x)
{
    return sc_directory_next((uintptr_t)x, (uintptr_t)(x + LENGTH));
}

static uint64_t on_host, on_device;

static void lose(double *x)
{
    struct sc_tile *t = matrix_of(x)->tiles;

    on_host = t->host_valid;
    on_device = t->copy[0].valid;
    t->host_valid = t->copy[0].valid = 0;
}

static void mend(double *x)
{
    matrix_of(x)->tiles->host_valid = on_host;
    matrix_of(x)->tiles->copy[0].valid = on_device;
}

static void pin(double *x) { matrix_of(x)->tiles->copy[0].lru.pins++; }
static void unpin(double *x) { matrix_of(x)->tiles->copy[0].lru.pins--; }
static void open_page(double *x) { sc_host_protect((uintptr_t)x, 1, (uint8_t[1]){SC_PROT_RW}); }
static void close_page(double *x) { sc_host_protect((uintptr_t)x, 1, (uint8_t[1]){SC_PROT_R}); }

static const struct {
    const char *what;
    void (*damage)(double *), (*repair)(double *);
} damages[] = {{"valid nowhere", lose, mend}, {"pinned", pin, unpin}, {"open for writing", open_page, close_page}};

/* Number of round trips of other vectors until the damage is found; 0: found in the call itself. */
static int found_after(double **x, int count, int which, bool touched)
{
    unsigned broken = sc_coherence_broken();
    int after = 0;

    damages[which].damage(x[count / 2]);
    if (touched) {
        sc_protocol_lock();
        sc_check_touched((uintptr_t)x[count / 2], (uintptr_t)(x[count / 2] + 1));
        sc_protocol_unlock();
    }
    for (; after < count && sc_coherence_broken() == broken; after++)
        round_trip(x[0], LENGTH);
    damages[which].repair(x[count / 2]);
    sc_protocol_lock();
    sc_check_all("the repair");
    broken = sc_coherence_broken();
    sc_check_all("the repair");
    sc_protocol_unlock();
    return sc_coherence_broken() == broken ? after : -1;
}

static void test_found(void)
{
    enum { COUNT = 300 };
    double **x = many(COUNT);

    tap_ok(sc_coherence_broken() == 0, "nothing is broken");
    for (int i = 0; i < 3; i++) {
        int later = found_after(x, COUNT, i, false), now = found_after(x, COUNT, i, true);

        tap_ok(later > 0 && later < COUNT / 2, "%s: found in turn, after %d round trips", damages[i].what, later);
        tap_ok(now == 1, "%s: found at once where something has changed", damages[i].what);
    }
    tap_ok(!sc_protocol.failed[0], "the device is good");
    forget(x, COUNT);
}

int main(void)
{
    env_init();
    env_start("emu:h200x8:1", 0);
    test_cost();
    heard_listen(); /* a damage found is reported on stderr */
    test_found();
    tap_ok(heard() > 6 && strstr(said, "C1 (valid nowhere)"), "each with a line on stderr");
    sc_coherence_stop();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
