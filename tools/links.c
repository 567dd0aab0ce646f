/* The LinkMap of a machine, as tables and as a picture. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotuner/linkmap.h"
#include "autotuner/measure.h"
#include "autotuner/store.h"
#include "base/config.h"
#include "tools/tool.h"

/* The measurements that a program would get. Unmeasured emulated devices are measured now, because measuring them
 * takes no time. */
static struct sc_database *load(const struct sc_device_ops *ops, int devices)
{
    struct sc_measure how = {.ops = ops, .devices = devices, .host = &sc_tool_device_host, .links_only = true};
    struct sc_database *db = NULL;
    char key[4096], name[64];
    int folder;

    sc_store_key(ops, devices, &sc_tool_device_host, key, sizeof key);
    if (strcmp(sc_config.database, "auto") == 0) {
        folder = sc_store_folder(sc_config.cache_path, true);
        sc_store_name(key, "database", name, sizeof name);
        if (folder >= 0) {
            db = sc_store_read(folder, name, key, false);
            close(folder);
        }
    } else if (strcmp(sc_config.database, "none") != 0) {
        return sc_store_read_file(sc_config.database, key);
    }
    if (db || !ops->virtual_seconds)
        return db;
    db = sc_database_new(key, devices);
    if (db && sc_measure(&how, db, NULL) == SC_OK)
        return db;
    sc_database_free(db);
    return NULL;
}

static int place_at(const struct sc_linkmap *map, int i) { return i < map->devices ? i : SC_PLACE_HOST; }

/* Rows: sources of transfers; columns: destinations. */
static void print_table(const struct sc_linkmap *map, const char *title, const double (*values)[SC_PLACES], double unit)
{
    printf("%s\n%8s", title, "from");
    for (int j = 0; j <= map->devices; j++)
        printf("%8s", sc_database_place_name(place_at(map, j)));
    printf("\n");
    for (int i = 0; i <= map->devices; i++) {
        printf("%8s", sc_database_place_name(place_at(map, i)));
        for (int j = 0; j <= map->devices; j++) {
            double value = values[place_at(map, i)][place_at(map, j)] / unit;

            if (value > 0)
                printf("%8.*f", value < 100 ? 1 : 0, value);
            else
                printf("%8s", i == j ? "." : "-");
        }
        printf("\n");
    }
}

static void print_routes(const struct sc_linkmap *map)
{
    int count = 0;

    for (int i = 0; i <= map->devices; i++)
        for (int j = 0; j <= map->devices; j++) {
            int from = place_at(map, i), to = place_at(map, j);
            int via = map->shared.via[from][to];

            if (i == j || via < 0)
                continue;
            if (!count++)
                printf("faster by another way, GB/s\n");
            printf("%8s -> %s -> %s: %.1f instead of %.1f\n", sc_database_place_name(from), sc_database_place_name(via),
                   sc_database_place_name(to), map->shared.rate[from][to] * 1e-9, map->shared.direct[from][to] * 1e-9);
        }
}

/* --- the picture -------------------------------------------------------------------------------------------------- */

#define CELL 56
#define MARGIN 64
#define TITLE 320 /* wide enough for the heading */

/* From white (slowest) to dark blue (fastest), by the logarithm. */
static void color(double value, double least, double most, int rgb[3])
{
    static const int light[3] = {247, 251, 255}, dark[3] = {8, 48, 107};
    double part = most > least ? log(value / least) / log(most / least) : 1;

    for (int i = 0; i < 3; i++)
        rgb[i] = (int)(light[i] + part * (dark[i] - light[i]));
}

static void svg_cell(FILE *out, int row, int column, double value, double least, double most)
{
    int rgb[3] = {224, 224, 224}, x = MARGIN + column * CELL, y = MARGIN + row * CELL;

    if (value > 0)
        color(value, least, most, rgb);
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"rgb(%d,%d,%d)\" stroke=\"white\"/>\n", x, y,
            CELL, CELL, rgb[0], rgb[1], rgb[2]);
    if (value > 0)
        fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%.*f</text>\n", x + CELL / 2, y + CELL / 2 + 5,
                rgb[0] < 128 ? "white" : "black", value < 100e9 ? 1 : 0, value * 1e-9);
}

static void write_svg(const struct sc_linkmap *map, FILE *out)
{
    int count = map->devices + 1, table = MARGIN + count * CELL + 16, width = table > TITLE ? table : TITLE;
    double least = HUGE_VAL, most = 0;

    for (int i = 0; i < SC_LINKS; i++) {
        double value = map->bandwidth[i / SC_PLACES][i % SC_PLACES];

        if (value > 0) {
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
    }
    fputs(SC_FILE_PICTURE_BEGIN, out);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                 "font-size=\"14\" text-anchor=\"middle\">\n<title>Bandwidth of each link alone, GB/s</title>\n"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                 "<text x=\"%d\" y=\"20\">GB/s, from the row's place to the column's</text>\n",
            width, table, width / 2);
    for (int i = 0; i < count; i++) {
        const char *name = sc_database_place_name(place_at(map, i));
        int at = MARGIN + i * CELL + CELL / 2;

        fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n<text x=\"%d\" y=\"%d\">%s</text>\n", at, MARGIN - 8, name,
                MARGIN / 2, at + 5, name);
        for (int j = 0; j < count; j++)
            svg_cell(out, i, j, i == j ? 0 : map->bandwidth[place_at(map, i)][place_at(map, j)], least, most);
    }
    fprintf(out, "</svg>\n");
}

static int save_svg(const struct sc_linkmap *map, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    bool good;

    if (!out)
        return EXIT_FAILURE;
    write_svg(map, out);
    good = fclose(out) == 0 && sc_trace_write_file(path, 0666, SC_FILE_PICTURE, text, bytes);
    free(text);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

int sc_tool_links(const char *svg)
{
    int devices, result = EXIT_SUCCESS;
    const struct sc_device_ops *ops;
    struct sc_database *db;
    static struct sc_linkmap map;
    sc_places all, host = sc_place_bit(SC_PLACE_HOST);

    sc_config.emu_timing = 1;
    ops = sc_tool_open(&devices);
    db = ops ? load(ops, devices) : NULL;
    if (!db) {
        fprintf(stderr, "semcache info: %s\n",
                ops ? "there are no measurements of these devices: semcache tune makes them"
                    : "there are no devices, and so no links");
        if (ops)
            ops->close();
        return EXIT_FAILURE;
    }
    all = sc_place_bit(devices) - 1;
    sc_linkmap_load(&map, db);
    print_table(&map, "latency, us", map.latency, 1e-6);
    print_table(&map, "bandwidth alone, GB/s", map.bandwidth, 1e9);
    sc_linkmap_share(&map, db, all, all | host, host);
    sc_linkmap_route(&map, 1);
    print_table(&map, "bandwidth while all are used, GB/s", map.shared.direct, 1e9);
    print_routes(&map);
    if (svg)
        result = save_svg(&map, svg);
    sc_database_free(db);
    ops->close();
    return result;
}
/* SPDX-License-Identifier: BSD-2-Clause */
