/* semcache info: the settings and devices of a program started now. */
#include <config.h>

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/inside.h"
#include "blas/blas.h"
#include "device/device.h"
#include "host/host.h"
#include "libsemcache/config.h"
#include "libsemcache/places.h"
#include "tools/tool.h"

#define GIB ((double)(1 << 30))

struct arguments {
    bool links;
    const char *svg;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;

    switch (key) {
    case 'd': sc_tool_set(state->name, "SEMCACHE_DEVICE", text); return 0;
    case 'l': a->links = true; return 0;
    case 's':
        a->links = true;
        a->svg = text;
        sc_tool_output(state->name, "--svg", SC_FILE_PICTURE, text);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

const struct sc_device_host sc_tool_device_host = {
    .config = &sc_config, .blas_symbol = sc_blas_host_symbol, .log = sc_log, .thread_enter = sc_inside_enter};

const struct sc_device_ops *sc_tool_open(int *devices)
{
    const struct sc_device_ops *ops = NULL;

    *devices = 0;
    return sc_device_open(&sc_tool_device_host, sc_config.device, &ops, devices) == SC_OK ? ops : NULL;
}

void sc_tool_load(void)
{
    sc_places_find(sc_tool_library());
    sc_config_load(&sc_config, environ, true);
}

static void print_device(const struct sc_device_ops *ops, int device)
{
    struct sc_device_properties about = {0};

    if (ops->properties(device, &about) != SC_OK)
        return;
    printf("  %d: %s, %.1f GiB, %.1f TFLOP/s dgemm, %.0f GB/s memory, %.0f GB/s from the host\n", device, about.name,
           (double)about.memory / GIB, about.gemm_flops * 1e-12, about.memory_bandwidth * 1e-9,
           about.host_bandwidth * 1e-9);
}

static void print_rank(void)
{
    if (sc_config.ranks > 1)
        printf("rank: %d of %d on this machine (%s), which share its devices\n", sc_config.rank, sc_config.ranks,
               sc_config.rank_source);
}

static void print_none(void)
{
    char why[4200];

    printf("  none: every call runs on the host\n");
    sc_device_why_none(&sc_config, why, sizeof why);
    if (strcmp(sc_config.device, "auto") == 0)
        printf("  because %s\n", why);
}

static int print_devices(void)
{
    const struct sc_device_ops *ops = NULL;
    int count = 0;
    bool good = sc_device_open(&sc_tool_device_host, sc_config.device, &ops, &count) == SC_OK;

    printf("devices (%s):\n", sc_config.device);
    if (!good || !ops || count == 0)
        print_none();
    if (!good || !ops)
        return good;
    for (int i = 0; i < count; i++)
        print_device(ops, i);
    ops->close();
    return 1;
}

static void print_settings(void)
{
    char value[4096];

    printf("settings (environment variables):\n");
    for (const struct sc_setting *s = sc_config_settings; s->name; s++) {
        sc_config_format(&sc_config, s, value, sizeof value);
        printf("  %s=%s\n      %s (%s)\n", s->name, value, s->help, s->values);
    }
}

int sc_tool_info(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"device", 'd', "DEVICE", 0, "look at these devices instead of SEMCACHE_DEVICE", 0},
        {"links", 'l', NULL, 0, "show the links between the devices and the host, and nothing else", 0},
        {"svg", 's', "FILE", 0, "and draw them there", 0},
        {0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .doc =
                                         "Shows the devices, the host BLAS and the settings that a program would get."};
    struct arguments a = {0};
    const char *library;
    bool good;

    sc_tool_parse(&argp, argc, argv, 0, &a);
    sc_tool_outputs_check(argv[0], NULL);
    sc_tool_load();
    library = sc_tool_library();
    if (a.links)
        return sc_blas_host_open(sc_config.host_blas) == SC_OK ? sc_tool_links(a.svg) : EXIT_FAILURE;
    printf("%s\n", PACKAGE_STRING);
    printf("library: %s%s\n", library, access(library, R_OK) == 0 ? "" : " (not there)");
    good = sc_blas_host_open(sc_config.host_blas) == SC_OK;
    printf("host BLAS: %s\n", good ? sc_blas_host_path() : "none");
    printf("fault engine: %s\n", sc_host_faults_front());
    print_rank();
    printf("writes outside malloc: %s\n", sc_host_watch_engine() ? sc_host_watch_engine()
                                                                 : "none, such arrays are copied in each call");
    fflush(stdout);
    good = print_devices() && good;
    print_settings();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
/* SPDX-License-Identifier: BSD-2-Clause */
