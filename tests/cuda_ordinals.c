/* Which GPUs are opened (device/cuda/ordinals.h), for machines of any number of GPUs. Needs neither CUDA nor a GPU. */
#include <stdarg.h>
#include <string.h>

#include "device/cuda/ordinals.h"
#include "tests/tap.h"

static int lines;
static char said[512];

static void __attribute__((format(printf, 2, 3))) note(enum sc_log_level level, const char *format, ...)
{
    va_list args;

    (void)level;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    lines++;
}

static const struct sc_device_host host = {.log = note};
static int ordinals[SC_DEVICES_MAX], count;

static enum sc_status choose(const char *list, int present)
{
    lines = 0;
    *said = '\0';
    memset(ordinals, -1, sizeof ordinals);
    return sc_cuda_ordinals(&host, list, present, ordinals, &count);
}

static bool first(int expected)
{
    for (int i = 0; i < expected; i++)
        if (ordinals[i] != i)
            return false;
    return count == expected;
}

static void test_all(void)
{
    tap_ok(choose("", 1) == SC_OK && first(1) && !lines, "one GPU");
    tap_ok(choose("", 16) == SC_OK && first(16) && !lines, "sixteen");
    for (int present = 17; present <= 64; present += 47) {
        tap_ok(choose("", present) == SC_OK && first(16), "of %d the first sixteen", present);
        tap_ok(lines == 1 && strstr(said, present == 17 ? " 17 " : " 64 ") && strstr(said, " 16 "),
               "one line has both numbers");
    }
}

static void test_lists(void)
{
    static const char *const wrong[] = {"4", "-1", "0,0", "x", "0,", ",0", "0;1", "0, 1x", "99999999999999999999"};

    tap_ok(choose("3,1", 4) == SC_OK && count == 2 && ordinals[0] == 3 && ordinals[1] == 1 && !lines, "a list");
    tap_ok(choose("19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4", 20) == SC_OK && count == 16 && ordinals[0] == 19 &&
               ordinals[15] == 4 && !lines, "sixteen of twenty, without a line");
    tap_ok(choose("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", 20) == SC_ERR_INVALID && lines == 1 &&
               strstr(said, "at most 16"), "seventeen are refused by a line that says so");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tap_ok(choose(wrong[i], 4) == SC_ERR_INVALID && lines == 1 && strstr(said, "from 0 to 3"),
               "'%s' is refused by a line", wrong[i]);
}

int main(void)
{
    test_all();
    test_lists();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
