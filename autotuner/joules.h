/* The energy that the processors and their memory have taken: Linux's powercap counters (RAPL), which Intel's and AMD's
 * processors have, most virtual machines hide, and usually only root may read. */
#ifndef SC_AUTOTUNER_JOULES_H
#define SC_AUTOTUNER_JOULES_H

#include <stdbool.h>
#include <stdint.h>

#define SC_JOULES_ZONES 64
/* All zero: not read yet. */
struct sc_joules {
    int zones;
    struct sc_joules_zone {
        char path[96];    /* of its folder */
        uint64_t last, range; /* microjoules: as read last; it begins again at 0 after that */
    } zone[SC_JOULES_ZONES];
    uint64_t total;       /* microjoules since it was read first */
};

/* Joules since the first call with this meter; false: there are none to be had.  A counter begins again after some
 * minutes at full power, so a meter is to be read at least that often. */
bool sc_joules_read(struct sc_joules *meter, double *joules);

extern const char *sc_joules_folder; /* "/sys/class/powercap"; tests have another */

#endif
