/* The widths of a product's strips: the model's seconds for made-up rates, and the widths chosen. */
#include <math.h>

#include "autotuner/strips.h"
#include "tests/tap.h"

static bool is(double value, double expected) { return fabs(value - expected) < 1e-9 * (1 + fabs(expected)); }

/* A device computes 4096 columns in 10 ms; the transfer home takes 10 ms. */
static struct sc_strips result(void)
{
    return (struct sc_strips){.kernel = 10e-3, .out = 10e-3, .devices = 1, .sum = 8192, .columns = 4096,
                              .parts = {1, 1}, .blocks = 1, .tiles = 1, .rows = 8192};
}

static int64_t chosen(const struct sc_strips *s)
{
    struct sc_strips_choice choice;

    sc_strips_choose(s, &choice);
    return choice.width[choice.best];
}

static void test_results(void)
{
    struct sc_strips s = result();
    struct sc_strips_choice choice;

    tap_ok(is(sc_strips_seconds(&s, 4096, 1), 20e-3) && is(sc_strips_seconds(&s, 1024, 1), 12.5e-3),
           "a result in four strips: all but one go home under the kernels");
    s.out = 2e-3;
    tap_ok(is(sc_strips_seconds(&s, 1024, 1), 10.5e-3), "only the last one's transfer is left");
    s.out = 40e-3;
    tap_ok(is(sc_strips_seconds(&s, 1024, 1), 42.5e-3), "or the first one's kernel, where the link is slower");
    s.out = 10e-3;
    tap_ok(chosen(&s) == 256, "where strips cost nothing they are as narrow as they may be");
    s.task = 1e-3;
    tap_ok(is(sc_strips_seconds(&s, 256, 1), 16e-3 + 10e-3 / 16), "no kernel begins before the host has enqueued it");
    tap_ok(chosen(&s) == 512, "where tasks are dear there are fewer");
    s.devices = 4;
    tap_ok(chosen(&s) == 2048, "still fewer with more devices, as one host enqueues for all");
    s = result();
    s.latency[1] = 2e-3;
    tap_ok(chosen(&s) > 256, "and where transfers are");
    s = result();
    s.kernel = 1;
    tap_ok(chosen(&s) == 2048, "wider ones where it makes no difference of half a percent");
    s = result();
    s.rows = 2048;
    tap_ok(chosen(&s) == 1024, "never so narrow that a kernel does not occupy the device");
    s.rows = 100;
    sc_strips_choose(&s, &choice);
    tap_ok(choice.width[0] == 1024, "but of 1024 columns, however few rows there are");
    s = result();
    s.tiles = 8;
    tap_ok(is(sc_strips_seconds(&s, 4096, 1), 10e-3 + 10e-3 / 8), "tiles of a strip go home one after the other, too");
    s = result();
    s.parts[1] = 16;
    tap_ok(is(sc_strips_seconds(&s, 4096, 1), sc_strips_seconds(&s, 256, 1)) && chosen(&s) >= 4096,
           "what is in tiles anyway is not cut where that is enough");
}

/* 10 ms of kernels in two strips of 2048 columns; the transfer home takes 4 ms. */
static struct sc_strips halved(void)
{
    struct sc_strips s = result();

    s.out = 4e-3;
    s.half = 1;
    return s;
}

static int64_t last(const struct sc_strips *s) { return sc_strips_last(s, 2048, 1); }

static void test_halves(void)
{
    struct sc_strips s = halved();
    struct sc_strips_choice choice;

    tap_ok(last(&s) == 256, "the last strip halved three times: an eighth of it is left");
    tap_ok(sc_strips_last(&s, 256, 1) == 0 && sc_strips_last(&s, 512, 1) == 256, "not if it is as narrow already");
    s.half = 0;
    tap_ok(last(&s) == 0, "nor if the caller does not");
    s.half = 600;
    tap_ok(last(&s) == 1024, "as narrow as the caller can");
    s = halved();
    s.rows = 2048;
    tap_ok(last(&s) == 1024, "and as still occupies a device");
    s = halved();
    s.launch = 0.3e-3;
    tap_ok(last(&s) == 512, "and as is worth a kernel: the second saves 0.5 ms, the third would save 0.25");
    s.blocks = 2;
    tap_ok(last(&s) == 1024, "or one for each block");
    s = halved();
    s.task = 2.4e-3;
    tap_ok(last(&s) == 512, "no more than the host can enqueue");
    s = halved();
    s.out = 8e-3;
    tap_ok(last(&s) == 1024, "what goes home slowly is not hidden by halves of what comes after it");
    s.out = 40e-3;
    tap_ok(last(&s) == 0, "where the link is slower they are good for nothing");
    s = halved();
    sc_strips_choose(&s, &choice);
    tap_ok(choice.width[choice.best] == 256 && is(choice.seconds[3], 12e-3), "strips are no wider for that");
    s.in = 1e-3;
    tap_ok(last(&s) == 256, "of operands on their way it is the same");
    s.out = 0;
    tap_ok(last(&s) == 0, "a result that stays has no halves");
    s = halved();
    sc_strips_fixed = 2048;
    tap_ok(last(&s) == 0, "and where widths are given there are no others");
    sc_strips_fixed = 0;
}

/* The operands of 10 ms of kernels take 10 ms to upload. */
static void test_operands(void)
{
    struct sc_strips s = result();
    struct sc_strips_choice choice;

    s.in = 10e-3;
    s.out = 0;
    tap_ok(is(sc_strips_seconds(&s, 8192, 1), 20e-3), "operands in one piece: nothing is hidden");
    tap_ok(is(sc_strips_seconds(&s, 2048, 1), 10e-3 + 10e-3 * (1 / 4. + 1 / 2. - 1 / 8.)),
           "in strips: what the last of them were needed for is left");
    s.out = 10e-3;
    tap_ok(is(sc_strips_computed(&s, 2048, 1), 10e-3 + 10e-3 * 0.625), "computed, wherever the result goes");
    s.out = 0;
    s.again = 1e-3;
    tap_ok(is(sc_strips_seconds(&s, 2048, 1), 11.5e-3 + 10e-3 - 10e-3 * (1 - 0.625)),
           "kernels of parts of the sum read and write the result again, half of them joined with others");
    s.again = 0;
    sc_strips_choose(&s, &choice);
    tap_ok(choice.width[0] == 512, "parts of a sum are not as narrow as those of a result");
    s.least = 600;
    sc_strips_choose(&s, &choice);
    tap_ok(choice.width[0] == 1024, "the caller may not be able to cut narrow ones");
    s.parts[0] = 4;
    tap_ok(is(sc_strips_seconds(&s, 8192, 1), sc_strips_seconds(&s, 4096, 1)), "or may have cut them already");
    s.parts[0] = 1;
    s.launch = 1e-3;
    tap_ok(sc_strips_seconds(&s, 256, 1) > sc_strips_seconds(&s, 1024, 1), "each has more kernels");
    sc_strips_choose(&s, &choice);
    for (int i = 0; i < choice.count; i++)
        if (choice.seconds[i] < choice.seconds[choice.best])
            tap_ok(choice.seconds[i] > 0.99 * choice.seconds[choice.best], "the best one is near the least");
    tap_ok(choice.count == 4 && choice.width[3] == 8192, "nothing wider than the operands is thought of");
}

/* A and B take 10 ms each, the result 10 ms; kernels take hardly any time. */
static void test_order(void)
{
    struct sc_strips s = result();
    struct sc_strips_choice choice;

    s.kernel = 1e-6;
    s.in = 20e-3;
    s.in_all = 10e-3;
    tap_ok(fabs(sc_strips_seconds(&s, 1024, 1) - 30e-3) < 1e-5, "all of B along with A: no column is done early");
    tap_ok(fabs(sc_strips_seconds(&s, 1024, 0) - 30e-3) < 1e-5, "one that cannot come alone changes nothing");
    s.apart = true;
    tap_ok(fabs(sc_strips_seconds(&s, 1024, 0) - 22.5e-3) < 1e-5,
           "a quarter of B along with A: the result goes home while the rest arrives, but for the last quarter");
    sc_strips_choose(&s, &choice);
    tap_ok(choice.first[choice.best] < 0.25, "where links take longest, A first");
    s.kernel = 200e-3;
    sc_strips_choose(&s, &choice);
    tap_ok(choice.first[choice.best] >= 0.5, "where kernels do, they are to have work early: %g",
           choice.first[choice.best]);
    s.kernel = 1e-6;
    s.in_all = 20e-3;
    sc_strips_choose(&s, &choice);
    tap_ok(choice.first[choice.best] == 1, "where B is there already, it is all the same");
    s.in_all = 10e-3;
    s.in = 0;
    sc_strips_choose(&s, &choice);
    tap_ok(choice.first[choice.best] == 1, "where all is there, too");
}

/* 12 ms of kernels, 8 and 4 ms to bring A and the rest. */
static void test_in_turn(void)
{
    tap_ok(is(sc_strips_in_turn(12e-3, 8e-3, 4e-3, 1, 1), 24e-3), "strips in turn: in one piece nothing is hidden");
    tap_ok(is(sc_strips_in_turn(12e-3, 8e-3, 4e-3, 4, 1), 4e-3 + 2e-3 + 12e-3),
           "strips of A: kernels wait for the first of them, and for all of the rest");
    tap_ok(is(sc_strips_in_turn(12e-3, 8e-3, 4e-3, 4, 4), 1e-3 + 8e-3 + 0.75e-3 + 9e-3),
           "the first strip of B is worked on while A comes, the others after it");
    tap_ok(is(sc_strips_in_turn(1e-3, 8e-3, 4e-3, 4, 4), 12e-3 + 0.25e-3),
           "where links take longest, what needs the last strip is left");
    tap_ok(is(sc_strips_in_turn(12e-3, 0, 4e-3, 4, 4), 1e-3 + 12e-3), "what is there is not waited for");
}

/* Order 8192: 16 ms of kernels.  The operands arrive in 8 ms, in 8 strips, and the result goes home in 4 ms. */
static void test_rank(void)
{
    struct sc_strips_rank r = {.kernel = 16e-3, .in = 8e-3, .out = 4e-3, .order = 8192, .sum = 8192};
    struct sc_strips_along way;

    tap_ok(is(sc_strips_across_seconds(&r, 8192), 8e-3 + 16e-3 + 4e-3), "across the sum: one strip overlaps nothing");
    tap_ok(is(sc_strips_across_seconds(&r, 4096), 4e-3 + 4e-3 + 12e-3 + 3e-3),
           "half of the columns, a quarter of the products, under the second half's transfer");
    r.kernel = 1e-3;
    tap_ok(is(sc_strips_across_seconds(&r, 2048), 8e-3 + 7e-3 / 16 + 7. / 4 * 1e-3),
           "where the link takes longest, the longest columns are left");
    tap_ok(is(sc_strips_across_seconds(&r, 1024), 8e-3 + 1e-3 * (14. / 64 + 2. / 64) + 15. / 16 * 1e-3),
           "a diagonal block of half the width takes half the time, not a quarter");
    tap_ok(sc_strips_across_width(&r, 512) == 512, "narrow strips there");
    r.kernel = 200e-3;
    tap_ok(sc_strips_across_width(&r, 512) == 2048, "no narrow diagonal blocks where kernels take longest");
    r.kernel = 16e-3;
    way = sc_strips_along_choose(&r, 1024);
    tap_ok(way.width == 2048 && is(way.share, 0.5), "along the sum: a half while it arrives");
    tap_ok(is(sc_strips_along_seconds(&r, 0.75, 8192), 1e-3 + 12e-3 + 4e-3 + 1e-3), "the others, and their transfer");
    r.result_in = 4e-3;
    tap_ok(is(sc_strips_along_seconds(&r, 0.75, 8192), 3e-3 + 1e-3 + 12e-3 + 4e-3 + 1e-3),
           "a result that is added to: three quarters arrive first");
    r.result_in = 40e-3;
    tap_ok(is(sc_strips_along_seconds(&r, 0.75, 8192), 30e-3 + 8e-3 + 10e-3 + 4e-3 + 1e-3),
           "the others wait for the last quarter");
    way = sc_strips_along_choose(&r, 1024);
    tap_ok(way.share < 0.5, "fewer columns while the operands arrive, if the result takes long");
    r.result_in = 0;
    r.kernel = 1e-3;
    tap_ok(is(sc_strips_along_choose(&r, 1024).share, 0.75), "a quarter is left for results that go home");
    tap_ok(sc_strips_along_choose(&r, 4096).width == 4096 && sc_strips_across_width(&r, 4096) == 4096,
           "the least width of a very large result");
}

/* 8 columns of thousands: 8 ms of kernels; A and B arrive in 4 ms each, and the result goes home in 4 ms. */
static void test_turns(void)
{
    struct sc_strips_turns t = {.kernel = 8e-3, .a = 4e-3, .b = 4e-3, .out = 4e-3, .parts = 4, .columns = 8192};
    int64_t first, width;

    tap_ok(is(sc_strips_turns_seconds(&t, 8192, 8192), 4e-3 + 1e-3 + 8e-3 + 4e-3),
           "in turn: a single strip waits for B and a part of A, and goes home behind the kernels");
    tap_ok(is(sc_strips_turns_seconds(&t, 2048, 2048), 6e-3 + 6e-3 + 1e-3),
           "from the second strip on kernels run without a pause, and the last strip's way home is left");
    t.arrival = -1;
    tap_ok(is(sc_strips_turns_seconds(&t, 8192, 8192), 4e-3 + 1.75e-3 + 8e-3 + 4e-3),
           "the kernels wait for a larger part of A, if A is a triangle that begins with its longest columns");
    t.arrival = 1;
    tap_ok(is(sc_strips_turns_seconds(&t, 8192, 8192), 4e-3 + 0.25e-3 + 8e-3 + 4e-3),
           "and for a smaller part, if A begins with its shortest columns");
    t.arrival = 0;
    t.strip = 1e-3;
    tap_ok(is(sc_strips_turns_seconds(&t, 8192, 8192), 4e-3 + 1e-3 + 9e-3 + 4e-3),
           "a strip's solves take their time once for each strip");
    t.strip = 0;
    sc_strips_turns_choose(&t, &first, &width);
    tap_ok(width == 1024, "without solves, strips are narrow");
    t.growth = 1;
    tap_ok(sc_strips_turns_seconds(&t, 4096, 1024) > 10e-3, "work that grows comes late");
    t.growth = -1;
    tap_ok(sc_strips_turns_seconds(&t, 4096, 1024) < sc_strips_turns_seconds(&t, 8192, 1024),
           "and work that shrinks, early");
    t.strip = 2e-3;
    sc_strips_turns_choose(&t, &first, &width);
    tap_ok(first + width >= 8192, "with long solves, one strip or two (%ld, %ld)", (long)first, (long)width);
}

/* Eight links that share 4 GB/s to the host. */
static void test_machine(void)
{
    struct sc_database *db = sc_database_new("made up", 2);
    struct sc_machine machine = {.devices = 2, .host_bandwidth = 10e9};
    struct sc_strips s = result();

    s.devices = 2;
    sc_strips_machine(&s, &machine, 40e9, 0, 20e9);
    tap_ok(is(s.in, 2) && is(s.out, 1) && s.task > 0 && s.latency[0] > 0, "by what devices say of their links");
    for (int d = 0; d < 2; d++) {
        db->link[SC_PLACE_HOST][d] = (struct sc_database_link){3e-6, 20e9};
        db->link[d][SC_PLACE_HOST] = (struct sc_database_link){4e-6, 10e9};
    }
    db->set[SC_SET_UP][2] = 5e9;
    db->enqueue = 7e-6;
    machine.database = db;
    sc_strips_machine(&s, &machine, 40e9, 0, 20e9);
    tap_ok(is(s.in, 1) && is(s.out, 4), "by measured links, and what they carry together");
    tap_ok(is(s.task, 7e-6) && is(s.latency[0], 3e-6) && is(s.latency[1], 4e-6), "and what else was measured");
    tap_ok(is(sc_database_host_rate(db, SC_SET_DOWN, 2), 40e9) && is(sc_database_host_rate(db, SC_SET_UP, 1), 10e9),
           "one link alone, or two of which nothing is known together");
    sc_database_free(db);
}

int main(void)
{
    test_results();
    test_halves();
    test_operands();
    test_order();
    test_in_turn();
    test_rank();
    test_turns();
    test_machine();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
