#include "autotuner/joules.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/libc_versions.h"

const char *sc_joules_folder = "/sys/class/powercap";

/* First line of a zone's file, without the newline. */
static bool line_of(const char *folder, const char *file, char *line, int size)
{
    char path[160];
    FILE *in;
    bool good;

    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path || !(in = fopen(path, "re")))
        return false;
    good = fgets(line, size, in) != NULL;
    fclose(in);
    if (good)
        line[strcspn(line, "\n")] = '\0';
    return good;
}

static bool number_of(const char *folder, const char *file, uint64_t *number)
{
    char line[32];

    return line_of(folder, file, line, sizeof line) && sscanf(line, "%" SCNu64, number) == 1;
}

/* True for packages and their memory. The figure of a package includes its cores and graphics; a platform zone (psys)
 * includes the packages and further parts. */
static bool is_counted(const char *folder)
{
    char name[32];

    if (!line_of(folder, "name", name, sizeof name))
        return false;
    return strncmp(name, "package", 7) == 0 || strcmp(name, "dram") == 0;
}

static void add(struct sc_joules *meter, const char *folder)
{
    struct sc_joules_zone zone;

    if (meter->zones == SC_JOULES_ZONES || strlen(folder) >= sizeof zone.path || !is_counted(folder) ||
        !number_of(folder, "energy_uj", &zone.last) || !number_of(folder, "max_energy_range_uj", &zone.range))
        return;
    snprintf(zone.path, sizeof zone.path, "%s", folder);
    meter->zone[meter->zones++] = zone;
}

/* Zones are named intel-rapl:P, and intel-rapl:P:N inside, for processors of every maker. */
static void find(struct sc_joules *meter)
{
    char pattern[160];
    glob_t found;

    if (snprintf(pattern, sizeof pattern, "%s/intel-rapl:*", sc_joules_folder) >= (int)sizeof pattern ||
        glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        add(meter, found.gl_pathv[i]);
    globfree(&found);
}

bool sc_joules_read(struct sc_joules *meter, double *joules)
{
    if (!meter->zones)
        find(meter);
    for (int i = 0; i < meter->zones; i++) {
        struct sc_joules_zone *zone = &meter->zone[i];
        uint64_t now;

        if (!number_of(zone->path, "energy_uj", &now))
            return false;
        meter->total += now >= zone->last ? now - zone->last : now + zone->range - zone->last;
        zone->last = now;
    }
    *joules = 1e-6 * (double)meter->total;
    return meter->zones > 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
