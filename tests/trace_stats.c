/* The statistics as JSON: every key, exact counts, strings that need escapes. */
#include <string.h>

#include "tests/tap.h"
#include "trace/trace.h"

static char json[1 << 16];

static void write_statistics(const struct sc_stats_extra *extra)
{
    FILE *out = fmemopen(json, sizeof json, "w");

    if (sc_stats_write(out, extra) != SC_OK)
        *json = '\0';
    fclose(out);
}

static void test_has(const char *text)
{
    if (!tap_ok(strstr(json, text) != NULL, "%s", text))
        tap_diag("in: %s", json);
}

int main(void)
{
    static const char *const names[] = {NULL, "dgemm", "ddot"};
    const char *const devices[] = {"Plain", "quote \" backslash \\ tab \t euro \xe2\x82\xac bad \xff"};
    struct sc_stats_extra none = {.virtual_seconds = -1, .wall_seconds = 0.5};
    struct sc_stats_extra two = {
        .devices = 2, .device_names = devices, .virtual_seconds = 1.25, .wall_seconds = 3.000000001};

    write_statistics(&none);
    test_has("\"calls\": {}");
    test_has("\"devices\": []");
    test_has("\"wall_seconds\": 0.500000000");
    tap_ok(strstr(json, "virtual_seconds") == NULL, "no virtual time without emulation");

    sc_trace_name_routines(names, 3);
    sc_count(&sc_stats.offloaded[1], 7);
    sc_count(&sc_stats.host[2], UINT64_MAX);
    sc_count(&sc_stats.host[300], 1);
    sc_count(&sc_stats.bytes[SC_H2D], (uint64_t)1 << 40);
    sc_count(&sc_stats.transfers[SC_D2D], 3);
    sc_count(&sc_stats.faults_write, 5);
    sc_count(&sc_stats.reshapes, 2);
    sc_count(&sc_stats.percall_in, 11);
    write_statistics(&two);
    test_has("\"dgemm\": {\"offloaded\": 7, \"host\": 0}");
    test_has("\"ddot\": {\"offloaded\": 0, \"host\": 18446744073709551615}");
    test_has("\"routine300\": {\"offloaded\": 0, \"host\": 1}");
    test_has("\"bytes\": {\"h2d\": 1099511627776, \"d2h\": 0, \"d2d\": 0}");
    test_has("\"transfers\": {\"h2d\": 0, \"d2h\": 0, \"d2d\": 3}");
    test_has("\"percall_in\": 11,");
    test_has("\"percall_out\": 0,");
    test_has("\"together\": 0,");
    test_has("\"faults\": {\"read\": 0, \"write\": 5}");
    test_has("\"hits\": 0,");
    test_has("\"misses\": 0,");
    test_has("\"evictions\": 0,");
    test_has("\"reshapes\": 2,");
    test_has("\"devices\": [\"Plain\", \"quote \\\" backslash \\\\ tab \\u0009 euro \xe2\x82\xac bad \\ufffd\"]");
    test_has("\"virtual_seconds\": 1.250000000,");
    test_has("\"wall_seconds\": 3.000000001");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
