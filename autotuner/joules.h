/* Energy of the processors and their memory by Linux's powercap counters (RAPL). Intel's and AMD's processors have the
 * counters, most virtual machines hide them, and usually only root may read them. */
#ifndef SC_AUTOTUNER_JOULES_H
#define SC_AUTOTUNER_JOULES_H

#include <stdbool.h>
#include <stdint.h>

#define SC_JOULES_ZONES 64
/* All zero: not read yet. */
struct sc_joules {
    int zones;
    struct sc_joules_zone {
        char path[96];    /* of the zone's folder */
        uint64_t last, range; /* microjoules: the last value; the counter restarts at 0 after `range` */
    } zone[SC_JOULES_ZONES];
    uint64_t total;       /* microjoules since the first reading */
};

/* Joules since the first call with this meter; false: no counters. A counter wraps around after some minutes at full
 * power, so the meter must be read at least as often. */
bool sc_joules_read(struct sc_joules *meter, double *joules);

extern const char *sc_joules_folder; /* "/sys/class/powercap"; different in tests */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
