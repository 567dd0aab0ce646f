/* The measurements that this process decides by. */
#ifndef SC_AUTOTUNER_START_H
#define SC_AUTOTUNER_START_H

#include "autotuner/database.h"
#include "device/device.h"

/* When the devices have been opened and before anything else uses them, by the thread that opens them while the
 * program's calls run on the host.  Where sc_config.database is "auto" and the cache folder has no database, real
 * devices are measured by the quick version, and the result is kept there; unless sc_config.tune says never, or another
 * process is at it.  `stop` is asked between measurements; once it is true the function returns and keeps nothing. */
void sc_autotuner_prepare(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host,
                          bool (*stop)(void *));

/* The same moment, by the thread whose call needs the devices: takes the database that sc_config.database names;
 * nothing is measured but the host's rate, where the database lacks it.  Without a database decisions go by what the
 * devices say of themselves. */
void sc_autotuner_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host);

/* Seconds that measuring takes at most, once on a machine; 2 (tests: more). */
extern double sc_autotuner_budget;

/* NULL: there is none.  Stays valid until the process ends. */
const struct sc_database *sc_autotuner_database(void);
void sc_autotuner_use(const struct sc_database *db); /* from now on; stays valid for ever */

#endif
