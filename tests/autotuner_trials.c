/* Repeated calls try the widths that the model hardly tells apart, and keep the fastest width. Asserts the sequence of
 * widths for made-up times, also when times arrive late, and when calls of further shapes take the slot. */
#include <stdlib.h>
#include <string.h>

#include "autotuner/trials.h"
#include "tests/tap.h"

static const struct sc_trial_shape product = {.op = SC_OP_GEMM, .type = SC_D, .letters = "NN",
                                              .devices = 2, .m = 5000, .n = 6000, .k = 7000, .missing = 1 << 30};
/* Index 1 is the model's best; indices 0 and 2 are within a tenth of the best, index 3 is not. */
static const struct sc_strips_choice choice = {.count = 4, .width = {256, 512, 1024, 2048}, .first = {1, 1, 1, 1},
                                               .seconds = {1.05, 1.0, 1.09, 1.2}, .best = 1};

static int64_t call(const struct sc_trial_shape *shape, const double took[4], bool home)
{
    struct sc_trial_turn trial;
    int i = 0;

    sc_trial_begin(shape, &choice, &trial);
    while (choice.width[i] != trial.width)
        i++;
    if (took)
        sc_trial_took(&trial, took[i], home);
    return trial.width;
}

/* The widths of `calls` calls, in powers of two of 256: "1021" */
static const char *widths(const struct sc_trial_shape *shape, int calls, const double took[4], bool home)
{
    static char text[64];

    for (int i = 0; i < calls; i++)
        text[i] = (char)('0' + __builtin_ctzll((uint64_t)call(shape, took, home) / 256));
    text[calls] = '\0';
    return text;
}

static void is(const char *got, const char *expected, const char *what)
{
    tap_ok(strcmp(got, expected) == 0, "%s: %s", what, got);
}

static void test_turns(void)
{
    static const double as_predicted[4] = {1.05, 1.0, 1.09, 1.2}, otherwise[4] = {0.9, 1.1, 1.3, 0.1},
                        nearly[4] = {0.998, 1.0, 1.0, 1.0};
    struct sc_trial_shape other = product;

    is(widths(&product, 12, as_predicted, true), "110210211111", "the first is not counted; each two turns; the best");
    sc_trials_reset();
    is(widths(&product, 12, otherwise, true), "110210200000", "where the model errs: the one that was faster");
    is(widths(&product, 3, as_predicted, true), "000", "decided once");
    other.missing = 0;
    is(widths(&other, 9, nearly, true), "110210211", "another call when nothing is missing");
    is(widths(&product, 2, nearly, true), "00", "the first is remembered meanwhile");
}

static void test_blind(void)
{
    static const double took[4] = {0.5, 1, 1, 1};
    struct sc_trial_turn trial, late;

    sc_trials_reset();
    is(widths(&product, 20, NULL, true), "11111111111111111111", "what cannot be measured is not tried");
    is(widths(&product, 9, took, true), "111111111", "not later either");
    sc_trials_reset();
    widths(&product, 2, took, true);
    is(widths(&product, 12, NULL, true), "000000001111", "nor when that ends in the midst of it, for long");
    sc_trials_reset();
    call(&product, took, true);
    sc_trial_begin(&product, &choice, &trial);
    for (int64_t n = 1; n < 2000; n++) { /* calls of further shapes take the slot */
        struct sc_trial_shape shape = product;

        shape.n = n;
        call(&shape, took, true);
    }
    sc_trial_took(&trial, 1, true);
    call(&product, took, true);
    sc_trial_begin(&product, &choice, &late);
    tap_ok(late.width == 512 && late.number != trial.number, "what comes too late is nobody's");
}

static void test_home(void)
{
    static const double took[4] = {0.5, 1, 1, 1};

    sc_trials_reset();
    is(widths(&product, 3, took, false), "110", "results that stay");
    is(widths(&product, 8, took, true), "21010200", "once they go home that is another time: from the beginning");
    sc_trials_reset();
    call(&product, took, false);
    for (int i = 0; i < 6; i++)
        call(&product, took, i % 2);
    is(widths(&product, 4, took, false), "1111", "a program that does now this, now that: the model's best");
}

static void test_one(void)
{
    static const struct sc_strips_choice clear = {.count = 4, .width = {256, 512, 1024, 2048}, .first = {1, 1, 1, 1},
                                                  .seconds = {2, 1, 1, 1.2},
                                                  .best = 1};
    struct sc_trial_turn trial;
    char *text;
    size_t length;
    FILE *out;

    sc_trials_reset();
    for (int i = 0; i < 3; i++)
        sc_trial_begin(&product, &clear, &trial);
    tap_ok(trial.width == 512 && trial.slot < 0, "nothing is tried where the model tells them apart");
    out = open_memstream(&text, &length);
    sc_trials_write(out);
    fclose(out);
    tap_ok(strstr(text, "\n# dgemm NN 5000 6000 7000 1073741824: 512: 1000000.0, chosen 512\n") != NULL, "explained");
    free(text);
}

static void test_share(void)
{
    struct sc_strips_choice some = choice;
    struct sc_trial_turn turn;
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    some.first[choice.best] = 0.25;
    sc_trials_reset();
    sc_trial_begin(&product, &some, &turn);
    sc_trials_write(out);
    fclose(out);
    tap_ok(turn.first == 0.25 && strstr(text, "/0.25: "), "columns that come first belong to a width, explained");
    free(text);
}

static void test_explained(void)
{
    static const double took[4] = {0.9, 1.1, 1.3, 1};
    char *text;
    size_t length;
    FILE *out;

    sc_trials_reset();
    widths(&product, 4, took, true);
    out = open_memstream(&text, &length);
    sc_trials_write(out);
    fclose(out);
    tap_ok(strstr(text, ": 512: 1000000.0 (1: 1100000.0) 256: 1050000.0 (1: 900000.0) 1024: 1090000.0 (1: 1300000.0), "
                        "so far 512\n") != NULL, "what has been tried is explained");
    free(text);
}

int main(void)
{
    test_turns();
    test_blind();
    test_home();
    test_one();
    test_explained();
    test_share();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
