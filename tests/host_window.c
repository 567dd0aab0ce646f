/* The pager's windows in a simulation without faults: requested pages are opened at once. */
#include "config.h"

#include "host/fault_int.h"
#include "tests/host_stub.h"
#include "tests/tap.h"

#define BYTES ((size_t)256 << 20)
#define PAGES (BYTES / SC_PAGE)

struct touch {
    size_t window, largest;
    bool ahead;
    uintptr_t next;
    size_t bytes;
};

/* Size of the malloc blocks that divide the arena. */
static size_t block_pages = PAGES;

static struct sc_host_bounds block_at(size_t page)
{
    uintptr_t first = (uintptr_t)stub_arena + page / block_pages * block_pages * SC_PAGE;

    return (struct sc_host_bounds){first, first + block_pages * SC_PAGE};
}

/* Touches a page. Returns 0 if the page was open, 1 if the page was fetched with its window. */
static int touch(size_t page, struct touch *t)
{
    uintptr_t addr = (uintptr_t)stub_arena + page * SC_PAGE + 8;
    size_t window, first, last;

    if (stub_prot(page) != SC_PROT_NONE)
        return 0;
    window = sc_host_window(addr, SC_READ, block_at(page));
    first = page / (window / SC_PAGE) * (window / SC_PAGE); /* aligned blocks, like sectors */
    last = first + window / SC_PAGE;
    stub_protect(first, (last < PAGES ? last : PAGES) - first, SC_PROT_R);
    t->ahead = sc_host_window_served(addr, SC_READ, &t->next, &t->bytes);
    t->window = window;
    t->largest = window > t->largest ? window : t->largest;
    return 1;
}

static void close_all(void)
{
    stub_protect(0, PAGES, SC_PROT_NONE);
    sc_host_window_reset();
}

static void test_upwards(void)
{
    struct touch t = {0};
    int faults = 0, wrong_next = 0, first_ahead = 0;
    size_t first = 0;

    close_all();
    for (size_t page = 0; page < PAGES; page++)
        if (touch(page, &t)) {
            if (faults++ == 0) {
                first = t.window;
                first_ahead = t.ahead;
            } else if (t.ahead) {
                size_t at = (t.next - (uintptr_t)stub_arena) / SC_PAGE;

                wrong_next += stub_prot(at) != SC_PROT_NONE || stub_prot(at - 1) == SC_PROT_NONE;
            }
        }
    tap_ok(first == sc_config.window_min && !first_ahead,
           "the first window is the smallest, and nothing is read ahead");
    tap_ok(t.largest == sc_config.window_max, "windows grow to the largest");
    tap_ok(faults <= 24, "a sweep up over 256 MiB takes %d faults", faults);
    tap_ok(wrong_next == 0, "reading ahead begins at the first closed page");
}

static void test_downwards(void)
{
    struct touch t = {0};
    int faults = 0, wrong_next = 0;

    close_all();
    for (size_t page = PAGES; page-- > 0;)
        if (touch(page, &t)) {
            faults++;
            if (t.ahead) {
                size_t end = (t.next + t.bytes - (uintptr_t)stub_arena) / SC_PAGE;

                wrong_next += stub_prot(end - 1) != SC_PROT_NONE || stub_prot(end) == SC_PROT_NONE;
            }
        }
    tap_ok(t.largest == sc_config.window_max && faults <= 24, "a sweep down takes %d faults", faults);
    tap_ok(wrong_next == 0, "reading ahead ends at the last closed page");
}

/* Eight threads take turns in separate parts. */
static void test_interleaved(void)
{
    struct touch t = {0};
    int faults = 0;

    close_all();
    for (size_t page = 0; page < PAGES / 8; page++)
        for (size_t part = 0; part < 8; part++)
            faults += touch(part * (PAGES / 8) + page, &t);
    tap_ok(t.largest == sc_config.window_max && faults <= 64, "eight streams at once are told apart: %d faults",
           faults);
}

static void test_scattered(void)
{
    struct touch t = {0};
    size_t last;
    int ahead = 0;

    close_all();
    for (size_t i = 0; i < 40; i++) {
        touch(i * 27 % 64 * (PAGES / 64) + i, &t); /* 4 MiB apart */
        ahead += t.ahead;
    }
    last = t.window;
    tap_ok(t.largest == sc_config.window_min, "scattered touching never grows the window (largest %zu)", t.largest);
    tap_ok(last < sc_config.window_min, "it shrinks it (last %zu)", last);
    tap_ok(ahead == 0, "and reads nothing ahead (%d times)", ahead);
}

/* Adjacent blocks, of which one is walked up or down: the neighbour blocks stay closed. */
static void test_blocks(bool down)
{
    struct touch t = {0};
    int outside = 0, ahead = 0;
    size_t n = block_pages = PAGES / 8;

    close_all();
    for (size_t i = 0; i < n; i++) {
        size_t page = 3 * n + (down ? n - 1 - i : i);

        if (!touch(page, &t) || !t.ahead)
            continue;
        ahead++;
        outside += t.next < block_at(page).first || t.next + t.bytes > block_at(page).end;
    }
    tap_ok(ahead > 0 && !outside, "a sweep %s reads %d times ahead, and never beyond its block (%d times)",
           down ? "down" : "up", ahead, outside);
    touch(down ? 3 * n - 1 : 4 * n, &t);
    tap_ok(t.window == sc_config.window_min && !t.ahead, "the first touch of the neighbour is nobody's continuation");
    block_pages = PAGES;
}

int main(void)
{
    stub_arena_start(BYTES);
    test_upwards();
    test_downwards();
    test_interleaved();
    test_scattered();
    test_blocks(false);
    test_blocks(true);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
