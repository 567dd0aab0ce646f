/* Strategies: the devices chosen for the blocks of a result. Asserts that every block gets exactly one device. Loads
 * follow the shares and the speeds of devices, and blocks run near their operands. */
#include <math.h>
#include <string.h>

#include "autotuner/schedule.h"
#include "tests/tap.h"

#define ROWS 12
#define COLS 10
#define BLOCKS (ROWS * COLS)

static double work[BLOCKS], bytes[BLOCKS], row_bytes[ROWS], col_bytes[COLS];
static int owner[BLOCKS], home[BLOCKS], device[BLOCKS];

/* A product of equal blocks on `devices` devices; device 3 owns every block. */
static struct sc_schedule product(enum sc_strategy strategy, int devices)
{
    for (int b = 0; b < BLOCKS; b++) {
        work[b] = 1;
        owner[b] = 3;
        home[b] = b / ROWS % devices;
        device[b] = -2;
    }
    for (int i = 0; i < ROWS; i++)
        row_bytes[i] = 1;
    for (int j = 0; j < COLS; j++)
        col_bytes[j] = 1;
    return (struct sc_schedule){.strategy = strategy, .devices = devices, .rows = ROWS, .cols = COLS, .work = work,
                                .owner = owner, .home = home, .row_bytes = row_bytes, .col_bytes = col_bytes,
                                .device = device};
}

static double load(int d)
{
    double sum = 0;

    for (int b = 0; b < BLOCKS; b++)
        sum += device[b] == d ? work[b] : 0;
    return sum;
}

static bool is_balanced(const struct sc_schedule *s, double within)
{
    double total = 0, shares = 0;

    for (int d = 0; d < s->devices; d++) {
        total += load(d);
        shares += s->share[d];
    }
    for (int d = 0; d < s->devices; d++) {
        double wanted = shares > 0 ? s->share[d] / shares : 1.0 / s->devices;

        if (fabs(load(d) / total - wanted) > within)
            return false;
    }
    return true;
}

static bool all_assigned(const struct sc_schedule *s)
{
    for (int b = 0; b < BLOCKS; b++)
        if (work[b] > 0 ? device[b] < 0 || device[b] >= s->devices : device[b] != -1)
            return false;
    return true;
}

static int at(int i, int j) { return device[i + j * ROWS]; }

static void test_every_strategy(void)
{
    for (int strategy = 0; strategy < SC_STRATEGIES; strategy++)
        for (int devices = 4; devices <= 16; devices += 6) {
            struct sc_schedule s = product((enum sc_strategy)strategy, devices);

            for (int b = 0; b < BLOCKS; b++) /* a triangle */
                work[b] = b % ROWS >= b / ROWS;
            sc_schedule_assign(&s);
            tap_ok(all_assigned(&s), "strategy %d, %d devices: every block of a triangle, and no other", strategy,
                   devices);
        }
}

static void test_static(void)
{
    struct sc_schedule s = product(SC_STRATEGY_CYCLIC, 8);

    sc_schedule_assign(&s);
    tap_ok(at(0, 0) == 0 && at(0, 1) == 1 && at(1, 0) == 4 && at(2, 4) == 0 && is_balanced(&s, 0.03),
           "cyclic: two by four devices");
    s = product(SC_STRATEGY_ROUND_ROBIN, 8);
    sc_schedule_assign(&s);
    tap_ok(at(0, 0) == 0 && at(7, 0) == 7 && at(8, 0) == 0 && at(0, 1) == 4, "round-robin: one after the other");
    s = product(SC_STRATEGY_ROWS, 4);
    sc_schedule_assign(&s);
    tap_ok(at(0, 0) == 0 && at(2, 9) == 0 && at(3, 0) == 1 && at(11, 0) == 3 && is_balanced(&s, 0.01), "rows");
    s = product(SC_STRATEGY_COLUMNS, 5);
    sc_schedule_assign(&s);
    tap_ok(at(0, 0) == 0 && at(11, 1) == 0 && at(0, 2) == 1 && at(5, 9) == 4 && is_balanced(&s, 0.01), "columns");
    s = product(SC_STRATEGY_OWNER, 8);
    sc_schedule_assign(&s);
    tap_ok(load(3) == BLOCKS, "owner: where they are");
}

static void test_shares(void)
{
    static const double share[4] = {1, 1, 2, 4};
    static const enum sc_strategy strategies[] = {SC_STRATEGY_CYCLIC, SC_STRATEGY_ROWS, SC_STRATEGY_COLUMNS};

    for (int i = 0; i < 3; i++) {
        struct sc_schedule s = product(strategies[i], 4);

        memcpy(s.share, share, sizeof share);
        sc_schedule_assign(&s);
        tap_ok(is_balanced(&s, strategies[i] == SC_STRATEGY_CYCLIC ? 0.02 : 0.06),
               "shares 1 1 2 4, strategy %d: %g %g %g %g", strategies[i], load(0), load(1), load(2), load(3));
    }
}

static void test_dynamic(void)
{
    struct sc_schedule s = product(SC_STRATEGY_DYNAMIC, 4);
    uint32_t none[ROWS] = {0}, there[ROWS] = {0};
    double scattered;

    sc_schedule_assign(&s);
    tap_ok(is_balanced(&s, 0.01), "dynamic: equal devices, equal parts");
    s.rate[0] = 1, s.rate[1] = 1, s.rate[2] = 2, s.rate[3] = 4;
    sc_schedule_assign(&s);
    tap_ok(fabs(load(3) / BLOCKS - 0.5) < 0.03 && fabs(load(0) / BLOCKS - 0.125) < 0.03,
           "devices of 1 1 2 4 times the speed: %g %g %g %g", load(0), load(1), load(2), load(3));
    /* Rows resident on a device stay there as far as the load allows. */
    s = product(SC_STRATEGY_DYNAMIC, 4);
    s.link = 1;
    s.col_bytes = NULL;
    s.row_at = none;
    for (int i = 0; i < ROWS; i++) {
        there[i] = UINT32_C(1) << i % 4;
        row_bytes[i] = 10;
    }
    s.row_at = there;
    sc_schedule_assign(&s);
    scattered = 0;
    for (int b = 0; b < BLOCKS; b++)
        scattered += device[b] != b % ROWS % 4;
    tap_ok(scattered < BLOCKS / 5, "locality: %g of %d blocks away from what they read", scattered, BLOCKS);
}

/* Blocks that idle devices take: devices have two at a time, and a device is late by what it has finished. */
static void test_taking(void)
{
    struct sc_schedule_progress p = {.devices = 3, .waiting = {1, 1, 1}, .finished = {4, 4, 4}};

    tap_ok(sc_schedule_certain(16) == 5, "a third of the blocks is certain");
    tap_ok(sc_schedule_take(&p, 2) == 2, "devices of equal progress: the block stays");
    p.finished[2] = 3;
    tap_ok(sc_schedule_take(&p, 2) == 0, "a device that is behind loses the block to the first of the best");
    p.failed[0] = true;
    tap_ok(sc_schedule_take(&p, 2) == 1, "never to a device that has failed");
    p.waiting[1] = p.waiting[2] = 2;
    tap_ok(sc_schedule_take(&p, 2) < 0, "devices with two blocks are waited for");
    p.waiting[2] = 0;
    tap_ok(sc_schedule_take(&p, 1) == 2, "the first with room takes the block of a busy device");
}

static void test_auto(void)
{
    struct sc_schedule s = product(SC_STRATEGY_AUTO, 8);

    s.link = 1e9;
    sc_schedule_assign(&s);
    tap_ok(load(3) < BLOCKS / 4 && is_balanced(&s, 0.1), "auto: not all on the device that happens to have the result");
    s = product(SC_STRATEGY_AUTO, 8);
    s.link = 0.1;
    s.row_at = (uint32_t[ROWS]){8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8};
    s.col_at = s.row_at;
    sc_schedule_assign(&s);
    tap_ok(load(3) == BLOCKS, "unless bringing the inputs elsewhere takes longer");
    s = product(SC_STRATEGY_AUTO, 8);
    s.link = 1e9;
    for (int b = 0; b < BLOCKS; b++)
        bytes[b] = 2e10;
    s.block_bytes = s.result_bytes = bytes;
    sc_schedule_assign(&s);
    tap_ok(load(3) == BLOCKS, "or moving the result there and back");
}

/* PARALiA's uneven machine (section 4.4): Tflop/s of the devices. */
static void test_uneven(void)
{
    static const double speed[8] = {3.5, 3.5, 5, 5, 3.5, 7, 3.5, 7};
    struct sc_schedule s = product(SC_STRATEGY_AUTO, 8);
    double sum = 0, slowest = 0, fastest = 1e9;

    for (int b = 0; b < BLOCKS; b++)
        owner[b] = home[b];
    for (int d = 0; d < 8; d++) {
        s.rate[d] = speed[d];
        sum += speed[d];
    }
    sc_schedule_assign(&s);
    for (int d = 0; d < 8; d++) {
        slowest = fmax(slowest, load(d) / speed[d]);
        fastest = fmin(fastest, load(d) / speed[d]);
    }
    tap_ok(slowest < 1.05 * BLOCKS / sum, "uneven devices: the last is done at %.3f of the ideal, the first at %.3f",
           slowest * sum / BLOCKS, fastest * sum / BLOCKS);
}

static void test_grid(void)
{
    int rows, cols;

    sc_schedule_grid(SC_STRATEGY_AUTO, 8, 1, 3000, 3000, false, &rows, &cols);
    tap_ok(!rows && !cols, "auto, small: strips");
    sc_schedule_grid(SC_STRATEGY_AUTO, 8, 1, 20480, 2048, false, &rows, &cols);
    tap_ok(!rows && !cols, "auto, thin: strips");
    sc_schedule_grid(SC_STRATEGY_AUTO, 8, 1, 20480, 6000, false, &rows, &cols);
    tap_ok(rows == 16 && cols == 4, "auto, large: tiles, the same number for each device of a row of the grid");
    sc_schedule_grid(SC_STRATEGY_AUTO, 8, 7.1, 20480, 6000, false, &rows, &cols);
    tap_ok(!rows && !cols, "but strips where devices are near each other");
    sc_schedule_grid(SC_STRATEGY_CYCLIC, 3, 1, 2000, 100000, false, &rows, &cols);
    tap_ok(rows == 1 && cols == 30, "at most so many");
    sc_schedule_grid(SC_STRATEGY_ROWS, 8, 1, 20480, 20480, false, &rows, &cols);
    tap_ok(rows == 8 && cols == 1, "rows");
    sc_schedule_grid(SC_STRATEGY_DYNAMIC, 8, 1, 50, 50, true, &rows, &cols);
    tap_ok(rows > 1 && cols > 4, "tiny tiles where any size is offloaded");
}

int main(void)
{
    test_every_strategy();
    test_static();
    test_shares();
    test_dynamic();
    test_taking();
    test_auto();
    test_uneven();
    test_grid();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
