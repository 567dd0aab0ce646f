/* The measurements that this process decides by. */
#ifndef SC_AUTOTUNER_START_H
#define SC_AUTOTUNER_START_H

#include "autotuner/database.h"
#include "device/device.h"

/* When the devices have been opened and before anything else uses them: takes the database that sc_config.database
 * names. Where it is "auto" and the cache folder has none, real devices are measured by the quick version (unless
 * sc_config.tune says never, or another process is at it), which is kept there.  Without a database decisions go by
 * what the devices say of themselves. */
void sc_autotuner_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host);

/* Seconds that the first large call of a program waits for that, once on a machine; 2 (tests: more). */
extern double sc_autotuner_budget;

/* NULL: there is none.  Stays valid until the process ends. */
const struct sc_database *sc_autotuner_database(void);
void sc_autotuner_use(const struct sc_database *db); /* from now on; stays valid for ever */

#endif
