/* Measures a machine through the table of its devices (device.h): real time on real devices, virtual time on emulated
 * ones.  Nothing else may use the devices meanwhile. */
#ifndef SC_AUTOTUNER_MEASURE_H
#define SC_AUTOTUNER_MEASURE_H

#include "autotuner/database.h"
#include "device/device.h"

struct sc_measure {
    const struct sc_device_ops *ops;
    int devices;
    const struct sc_device_host *host;
    bool quick;    /* a second or two: few sizes, no pairs of links, one device of a kind */
    bool links_only; /* no kernels */
    bool devices_only; /* no kernels of the host */
    double budget; /* s of real time after which the rest is left out; 0: none */
    bool (*stop)(void *arg);                                             /* NULL, or asked between measurements */
    void (*progress)(void *arg, const char *what, int done, int total);  /* NULL, or told before each measurement */
    void (*keep)(void *arg, const struct sc_database *db);               /* NULL, or called every few seconds */
    void *arg;
};

/* Adds to `db` what it does not have yet, and indexes it.  What a device cannot do is left out.  *complete (may be
 * NULL) tells whether nothing was left out for want of time, or stopped. */
enum sc_status sc_measure(const struct sc_measure *how, struct sc_database *db, bool *complete);

#endif
