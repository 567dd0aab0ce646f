/* Runs of numbers that adapters fetch.  Asserts that there are at most SC_ADAPTER_MOST_RUNS runs, and that each number
 * is in a run.  The runs have several lengths and distances, both directions, and both sizes of integers. */
#include <stdbool.h>

#include "adapters/borders.h"
#include "tests/tap.h"

enum { MOST = 4000 };

static int32_t narrow[MOST];
static int64_t wide[MOST];

static void put(int64_t i, int64_t number)
{
    narrow[i] = (int32_t)number;
    wide[i] = number;
}

/* `runs` runs of `length` numbers, `step` apart. */
static int64_t fill(int runs, int length, int64_t step, bool descending)
{
    int64_t count = 0;

    for (int r = 0; r < runs; r++)
        for (int k = 0; k < length; k++)
            put(count++, (descending ? runs - 1 - r : r) * step + k);
    return count;
}

static bool contains(int64_t count, int runs, const int64_t *first, const int64_t *end)
{
    for (int64_t i = 0; i < count; i++) {
        bool found = false;

        for (int r = 0; r < runs && !found; r++)
            found = wide[i] >= first[r] && wide[i] < end[r];
        if (!found)
            return false;
    }
    return true;
}

static void check(int runs, int length, int64_t step, bool descending)
{
    const int64_t count = fill(runs, length, step, descending);
    const int least = step <= SC_ADAPTER_GAP / 8 ? 1 : runs < SC_ADAPTER_MOST_RUNS ? runs : 1;

    for (size_t bytes = sizeof *narrow; bytes <= sizeof *wide; bytes += sizeof *narrow) {
        const void *numbers = bytes == sizeof *narrow ? (const void *)narrow : wide;
        int64_t first[SC_ADAPTER_MOST_RUNS], end[SC_ADAPTER_MOST_RUNS];
        const int found = sc_adapter_runs(numbers, bytes, count, sizeof(double), first, end);

        tap_ok(found >= least && found <= SC_ADAPTER_MOST_RUNS && contains(count, found, first, end),
               "%d runs of %d, %ld apart, %s, %zu bytes: %d", runs, length, (long)step, descending ? "down" : "up",
               bytes, found);
    }
}

int main(void)
{
    static const int runs[] = {1, 2, 64, 65, 100, 1000}, lengths[] = {1, 4};
    static const int64_t steps[] = {5, 100, 1000, 40000, 2000000};

    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
                for (int descending = 0; descending < 2; descending++)
                    check(runs[r], lengths[l], steps[s], descending);
    tap_ok(sc_adapter_runs(wide, sizeof *wide, 0, sizeof(double), NULL, NULL) == 0, "no numbers, no runs");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
