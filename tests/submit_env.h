/* SEMCACHE_TEST_SUBMIT=threads: tests submit to their devices by threads, emulated devices included. */
#ifndef SC_TESTS_SUBMIT_ENV_H
#define SC_TESTS_SUBMIT_ENV_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"

static inline void submit_as_tested(void)
{
    const char *by = getenv("SEMCACHE_TEST_SUBMIT");

    if (by)
        sc_config.submit = strcmp(by, "threads") == 0 ? SC_SUBMIT_THREADS : SC_SUBMIT_CALLER;
}

static inline bool env_is_emulated(void)
{
    const char *device = getenv("SEMCACHE_TEST_DEVICE");

    return !device || strncmp(device, "emu", 3) == 0;
}

/* A submission thread reports a failure after the call, and the results count as lost.  Several real devices have
 * submission threads by default. */
static inline bool failures_come_late(void)
{
    return sc_config.submit == SC_SUBMIT_THREADS || (sc_config.submit == SC_SUBMIT_AUTO && !env_is_emulated());
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
