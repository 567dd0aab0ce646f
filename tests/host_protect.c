/* The arena's page table, and the budget of mappings. Asserts after random changes that table, kernel (/proc/self/maps)
 * and request agree, that mappings are counted exactly, and that closing stops at the budget. */
#include "config.h"

#include "host/fault_int.h"
#include "tests/host_stub.h"
#include "tests/tap.h"

#define PAGES 512

static enum sc_prot kernel_prot[PAGES];

/* Reads /proc/self/maps; returns the number of mappings the arena is made of. */
static int read_maps(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char flags[5], line[512];
    int n = 0;

    while (fgets(line, sizeof line, maps)) {
        unsigned long base = (unsigned long)stub_arena, end = base + PAGES * SC_PAGE;

        if (sscanf(line, "%lx-%lx %4s", &from, &to, flags) != 3 || to <= base || from >= end)
            continue;
        n++;
        for (unsigned long p = from < base ? base : from; p < to && p < end; p += SC_PAGE)
            kernel_prot[(p - base) / SC_PAGE] = flags[1] == 'w'   ? SC_PROT_RW
                                                : flags[0] == 'r' ? SC_PROT_R
                                                                  : SC_PROT_NONE;
    }
    fclose(maps);
    return n;
}

static int table_differs(const uint8_t *want)
{
    int wrong = 0;

    for (int i = 0; i < PAGES; i++)
        wrong += kernel_prot[i] != stub_prot((size_t)i) || (enum sc_prot)want[i] != kernel_prot[i];
    return wrong;
}

static uint64_t state = 88172645463325252u;
static unsigned random_below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % n);
}

/* Runs of open pages, page by page, from a random page and to a random limit. */
static int run_differs(enum sc_prot prot)
{
    size_t page = random_below(PAGES), limit = page + random_below(PAGES + 1 - (unsigned)page);
    size_t below = random_below((unsigned)page + 1), end = page, begin = page;
    uintptr_t base = (uintptr_t)stub_arena;

    while (end < limit && stub_prot(end) <= prot)
        end++;
    while (begin > below && stub_prot(begin - 1) <= prot)
        begin--;
    return (sc_host_open_end(base + page * SC_PAGE, base + limit * SC_PAGE, prot) != base + end * SC_PAGE) +
           (sc_host_open_begin(base + below * SC_PAGE, base + page * SC_PAGE, prot) != base + begin * SC_PAGE);
}

static void test_random(void)
{
    uint8_t want[PAGES] = {0};
    int wrong = 0, miscounted = 0, failed = 0, runs = 0;

    for (int round = 0; round < 300; round++) {
        unsigned first = random_below(PAGES), pages = 1 + random_below(PAGES - first);

        for (unsigned i = first, run; i < first + pages; i += run) {
            uint8_t prot = (uint8_t)random_below(3);

            run = 1 + random_below(20);
            for (unsigned j = i; j < i + run && j < first + pages; j++)
                want[j] = prot;
        }
        failed += sc_host_protect((uintptr_t)stub_arena + first * SC_PAGE, pages, &want[first]) != SC_OK;
        miscounted += read_maps() - 1 != (int)sc_host_mappings;
        wrong += table_differs(want) != 0;
        runs += run_differs(SC_PROT_R) + run_differs(SC_PROT_RW);
    }
    tap_ok(failed == 0, "every change is applied (%d failed)", failed);
    tap_ok(wrong == 0, "table, kernel and wish agree (%d times not)", wrong);
    tap_ok(miscounted == 0, "mappings are counted exactly (%d times not)", miscounted);
    tap_ok(runs == 0, "runs of open pages have the right ends (%d times not)", runs);
    stub_protect(0, PAGES, SC_PROT_RW);
    tap_ok(read_maps() == 1 && sc_host_mappings == 0, "all open: one mapping again");
}

static void test_calls(void)
{
    uint32_t before;

    for (size_t i = 0; i < PAGES; i += 2)
        stub_protect(i, 1, SC_PROT_NONE);
    before = sc_host_prot_changes;
    stub_protect(0, PAGES, SC_PROT_NONE);
    tap_ok(sc_host_prot_changes - before == 1, "a run is closed by one call although half of its pages are closed");
    before = sc_host_prot_changes;
    stub_protect(0, PAGES, SC_PROT_NONE);
    tap_ok(sc_host_prot_changes == before, "nothing to change: no call");
    stub_protect(0, PAGES, SC_PROT_RW);
}

static void test_budget(void)
{
    size_t page = 0, system = sc_host_mappings_budget;

    tap_ok(system > 1000, "the system's budget is known: %zu", system);
    sc_host_mappings_budget = 100;
    while (page < PAGES && stub_protect(page, 1, SC_PROT_NONE) == SC_OK)
        page += 2;
    tap_ok(page < PAGES && sc_host_mappings >= 100 && sc_host_mappings <= 102,
           "closing stops at the budget: %zu mappings", sc_host_mappings);
    tap_ok(stub_prot(page) == SC_PROT_RW, "the refused page stays open");
    tap_ok(stub_protect(0, PAGES, SC_PROT_RW) == SC_OK && read_maps() == 1, "opening is never refused");
    sc_host_mappings_budget = system;
}

int main(void)
{
    stub_arena_start(PAGES * SC_PAGE);
    tap_ok(sc_host_prot((uintptr_t)stub_arena) == SC_PROT_RW, "untouched pages are open");
    tap_ok(sc_host_prot(0) == SC_PROT_RW && sc_host_prot((uintptr_t)stub_arena + PAGES * SC_PAGE) == SC_PROT_RW,
           "addresses outside the arena are open");
    tap_ok(stub_protect(PAGES - 1, 2, SC_PROT_NONE) == SC_ERR_INVALID, "a range that leaves the arena is refused");
    test_random();
    test_calls();
    test_budget();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
