/* Measures a machine through the table of operations of its devices (device/device.h): real time on real devices,
 * virtual time on emulated devices. The caller must not use the devices meanwhile. */
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
    bool (*stop)(void *arg);                                             /* asked between measurements; may be NULL */
    void (*progress)(void *arg, const char *what, int done, int total);  /* called before each measurement; may be NULL
                                                                          */
    void (*keep)(void *arg, const struct sc_database *db);               /* called twice a second; may be NULL */
    void *arg;
};

/* Adds missing measurements to `db`, and indexes it. Leaves out operations that a device cannot do. *complete (may be
 * NULL) is false if `stop` ended the series. */
enum sc_status sc_measure(const struct sc_measure *how, struct sc_database *db, bool *complete);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
