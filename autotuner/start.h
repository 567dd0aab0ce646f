/* The database of this process. */
#ifndef SC_AUTOTUNER_START_H
#define SC_AUTOTUNER_START_H

#include "autotuner/machine.h"
#include "device/device.h"

/* Called after the devices have opened and before their first use, by the thread that opens the devices in the
 * background. If sc_config.database is "auto" and the cache folder has no database, real devices are measured by the
 * quick version, and the result is kept in the folder. Exceptions: sc_config.tune says never, or another process
 * measures. A process measures for sc_autotuner_share; later processes continue. `stop` is asked between measurements;
 * after true the function returns without a result. */
void sc_autotuner_prepare(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host,
                          bool (*stop)(void *));

/* Called at the same moment by the thread whose call needs the devices. Takes the database of sc_config.database, and
 * measures the host's rate if the database lacks it. Without a database, decisions use the rates that devices report.
 */
void sc_autotuner_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host);

/* Time of the measurements in one process, s: 0.15, more in tests. The last measurement begins within it. */
extern double sc_autotuner_share;

void sc_autotuner_use(const struct sc_database *db); /* sets the database, which stays valid for ever */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
