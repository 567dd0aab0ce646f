/* The LinkMap: routes and shared links, with the example of PARALiA's section 3.2, and as measured on emulated
 * machines. Asserts the fastest route, and the rates while several links are in use. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "autotuner/linkmap.h"
#include "autotuner/measure.h"
#include "tests/device_common.h"

static struct sc_linkmap map;

static bool near(double a, double b, double part) { return fabs(a - b) <= part * fabs(b); }

static void link_is(struct sc_database *db, int from, int to, double bandwidth)
{
    db->link[from][to] = (struct sc_database_link){1e-5, bandwidth};
}

/* --- numbers made up ---------------------------------------------------------------------------------------------- */

static void test_paper(void)
{
    struct sc_database *db = sc_database_new("paper", 3);

    link_is(db, 0, 1, 1e9);
    link_is(db, 0, 2, 3e9);
    link_is(db, 2, 1, 4e9);
    sc_linkmap_load(&map, db);
    sc_linkmap_route(&map, 0);
    tap_ok(map.shared.via[0][1] < 0 && map.shared.rate[0][1] == 1e9, "no hops: 0 -> 1 at 1 Gb/s");
    sc_linkmap_route(&map, 1);
    tap_ok(map.shared.via[0][1] == 2 && map.shared.rate[0][1] == 3e9,
           "one hop: 0 -> 2 -> 1 at 3 Gb/s");
    tap_ok(map.shared.via[0][2] < 0 && map.shared.via[2][1] < 0, "the fast links stay");
    tap_ok(near(sc_linkmap_seconds(&map, 0, 1, 3e9), 1 + 2e-5, 1e-9), "and a transfer takes as long as the way");
    tap_ok(isinf(sc_linkmap_seconds(&map, 1, 0, 1)), "where there is no way, for ever");
    sc_database_free(db);
}

static void test_two_hops(void)
{
    struct sc_database *db = sc_database_new("chain", 4);

    link_is(db, 0, 3, 1e9);
    link_is(db, 0, 1, 9e9);
    link_is(db, 1, 2, 9e9);
    link_is(db, 2, 3, 8e9);
    sc_linkmap_load(&map, db);
    sc_linkmap_route(&map, 1);
    tap_ok(map.shared.via[0][3] < 0, "no way with one place between");
    sc_linkmap_route(&map, 2);
    tap_ok(map.shared.via[0][3] == 2 && map.shared.via[0][2] == 1 && map.shared.rate[0][3] == 8e9, "but one with two");
    sc_database_free(db);
}

static void test_sharing(void)
{
    struct sc_database *db = sc_database_new("shared", 4);
    sc_places all = 15, host = sc_place_bit(SC_PLACE_HOST);

    for (int d = 0; d < 4; d++) {
        link_is(db, SC_PLACE_HOST, d, 10e9);
        link_is(db, d, SC_PLACE_HOST, 10e9);
    }
    db->slow[sc_link(SC_PLACE_HOST, 0)][sc_link(SC_PLACE_HOST, 1)] = 1.6f;
    db->slow[sc_link(SC_PLACE_HOST, 1)][sc_link(SC_PLACE_HOST, 0)] = 1.6f;
    db->set[SC_SET_DOWN][2] = 20e9;
    db->set[SC_SET_DOWN][4] = 22e9;
    sc_linkmap_load(&map, db);
    sc_linkmap_share(&map, db, 1, host, 0);
    tap_ok(map.shared.direct[SC_PLACE_HOST][0] == 10e9 && map.shared.direct[SC_PLACE_HOST][1] == 10e9,
           "one link alone shares nothing");
    sc_linkmap_share(&map, db, 3, host, 0);
    tap_ok(near(map.shared.direct[SC_PLACE_HOST][0], 10e9 / 1.6, 1e-6), "a pair slows each other down");
    sc_linkmap_share(&map, db, 5, host, 0);
    tap_ok(near(map.shared.direct[SC_PLACE_HOST][0], 10e9, 1e-6), "another pair does not");
    sc_linkmap_share(&map, db, all, host, 0);
    tap_ok(near(map.shared.direct[SC_PLACE_HOST][3], 5.5e9, 1e-6), "four get what the host has for four");
    tap_ok(map.shared.direct[2][SC_PLACE_HOST] == 10e9, "a link that is not used keeps its own");
    sc_database_free(db);
}

/* --- measured ----------------------------------------------------------------------------------------------------- */

/* In timing mode: virtual time needs no data.  NULL: the machine cannot be opened. */
static const struct sc_device_ops *open_machine(const char *setting, int *count)
{
    const struct sc_device_host *host = device_host();
    const struct sc_device_ops *ops = NULL;

    sc_config.emu_timing = 1;
    sc_config.submit = SC_SUBMIT_CALLER; /* the emulated clock does not know submission threads */
    if (sc_device_open(host, setting, &ops, count) != SC_OK)
        return NULL;
    return ops;
}

static struct sc_database *measure_links(const struct sc_device_ops *ops, int devices)
{
    struct sc_measure how = {.ops = ops, .devices = devices, .host = device_host(), .links_only = true};
    struct sc_database *db = sc_database_new("measured", devices);
    bool complete = false;

    tap_ok(sc_measure(&how, db, &complete) == SC_OK && complete, "the links are measured");
    return db;
}

static void test_dgx1(void)
{
    sc_places all = 255, host = sc_place_bit(SC_PLACE_HOST);
    const struct sc_device_ops *ops;
    struct sc_database *db;
    int devices, same, ways = 0, slow = 0;

    ops = open_machine("emu:dgx1", &devices);
    if (!tap_ok(ops && devices == 8, "the DGX-1 opens"))
        return;
    db = measure_links(ops, devices);
    tap_ok(near(db->link[SC_PLACE_HOST][3].bandwidth, 12e9, 0.02) && near(db->link[0][3].bandwidth, 48.2e9, 0.02) &&
               near(db->link[0][1].bandwidth, 24.2e9, 0.02) && near(db->link[0][5].bandwidth, 8.7e9, 0.02),
           "bandwidths are those of the machine file");
    tap_ok(db->link[0][1].latency > 8e-6 && db->link[0][1].latency < 16e-6,
           "so is latency, with the host's part of it");
    tap_ok(db->slow[sc_link(SC_PLACE_HOST, 0)][sc_link(SC_PLACE_HOST, 1)] > 1.9 &&
               db->slow[sc_link(SC_PLACE_HOST, 0)][sc_link(SC_PLACE_HOST, 2)] < 1.05,
           "GPUs 0 and 1 share a PCIe link, 0 and 2 do not");
    tap_ok(near(db->set[SC_SET_DOWN][8], 48e9, 0.05), "all eight together have four PCIe links");
    sc_linkmap_load(&map, db);
    sc_linkmap_share(&map, db, all, all | host, host);
    sc_linkmap_route(&map, 1);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            slow += i != j && map.bandwidth[i][j] < 10e9;
            ways += map.bandwidth[i][j] < 10e9 && map.shared.via[i][j] >= 0 && map.shared.rate[i][j] > 20e9;
        }
    tap_ok(slow > 0 && ways == slow, "every PCIe path between GPUs is left for two NVLinks (%d of %d)", ways, slow);
    same = sc_database_index(db);
    tap_ok(same, "and nothing is there twice");
    ops->close();
    sc_database_free(db);
}

/* The section's numbers as a machine. */
static void test_paper_machine(void)
{
    static const char text[] = "semcache-machine 1\ndevice 0-2\nmemory 1G\nbandwidth 500G\ngemm s 2T\ngemm d 1T\n"
                               "link host <-> 0-2\nlatency 5u\nbandwidth 1G\nlink 0 -> 1\nlatency 5u\nbandwidth 1G\n"
                               "link 0 -> 2\nlatency 5u\nbandwidth 3G\nlink 2 -> 1\nlatency 5u\nbandwidth 4G\n";
    char path[] = "/tmp/semcache-test-XXXXXX", setting[64];
    const struct sc_device_ops *ops;
    struct sc_database *db;
    int fd = mkstemp(path), devices;

    if (fd < 0 || write(fd, text, sizeof text - 1) != (ssize_t)sizeof text - 1)
        return;
    close(fd);
    snprintf(setting, sizeof setting, "emu:%s", path);
    ops = open_machine(setting, &devices);
    unlink(path);
    if (!tap_ok(ops != NULL, "a machine with links of 1, 3 and 4 Gb/s"))
        return;
    db = measure_links(ops, devices);
    sc_linkmap_load(&map, db);
    sc_linkmap_route(&map, 1);
    tap_ok(map.shared.via[0][1] == 2 && near(map.shared.rate[0][1], 3e9, 0.03),
           "0 -> 1 goes by 2, as measured");
    ops->close();
    sc_database_free(db);
}

/* Kernels and power by the machine file's figures; figures present in a database are not measured again. */
static void test_kernels(void)
{
    struct sc_database *db = sc_database_new("quick", 2);
    struct sc_measure how = {.devices = 2, .host = device_host(), .quick = true};
    const struct sc_database_kernel *k;
    int before;

    how.ops = open_machine("emu:dgx1:2", &how.devices);
    if (!tap_ok(how.ops && sc_measure(&how, db, NULL) == SC_OK, "the quick version runs"))
        return;
    k = sc_database_find_kernel(db, 0, SC_OP_GEMM, SC_D, 2048, 0);
    tap_ok(k && near(k->seconds, 2 * 2048.0 * 2048 * 2048 / 7.1e12, 0.05), "dgemm is as fast as the file says");
    tap_ok(sc_database_find_kernel(db, 1, SC_OP_GEMM, SC_D, 2048, 0) != NULL, "one device stands for its kind");
    tap_ok(sc_database_seconds(db, SC_PLACE_HOST, SC_OP_GEMM, SC_D, 1e6) > 0, "the host BLAS has been measured");
    before = db->kernels;
    tap_ok(sc_measure(&how, db, NULL) == SC_OK && db->kernels == before, "a second time adds nothing");
    how.ops->close();
    sc_database_free(db);
}

static bool stop_at_once(void *arg) { return ++*(int *)arg > 3; }

static void test_stopped(void)
{
    struct sc_database *db = sc_database_new("stopped", 2);
    int asked = 0;
    struct sc_measure how = {.devices = 2, .host = device_host(), .links_only = true, .stop = stop_at_once,
                             .arg = &asked};
    bool complete = true;

    how.ops = open_machine("emu:dgx1:2", &how.devices);
    if (!how.ops)
        return;
    tap_ok(sc_measure(&how, db, &complete) == SC_OK && !complete, "measuring can be stopped");
    how.stop = NULL;
    tap_ok(sc_measure(&how, db, &complete) == SC_OK && complete && db->link[1][0].bandwidth > 0, "and gone on with");
    how.ops->close();
    sc_database_free(db);
}

int main(void)
{
    test_paper();
    test_two_hops();
    test_sharing();
    if (!host_blas_symbol("dgemm_"))
        return tap_done();
    test_dgx1();
    test_paper_machine();
    test_kernels();
    test_stopped();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
