/* The settings that an answer of the autotuner depends on, beside the call and the machine, as one number.  Each key
 * of something remembered has the number in it: an answer given under other settings is not found (rule A15).  Pure,
 * thread safe. */
#ifndef SC_AUTOTUNER_POLICY_H
#define SC_AUTOTUNER_POLICY_H

#include <stdint.h>

#include "base/config.h"

_Static_assert(SC_STRATEGIES <= 8, "a strategy has three bits below");

/* Of 16 bits. */
static inline uint16_t sc_autotuner_policy(void)
{
    unsigned policy = sc_config.metric;

    policy = policy << 3 | sc_config.schedule;
    policy = policy << 2 | sc_config.offload;
    policy = policy << 2 | sc_config.exchange;
    policy = policy << 2 | ((unsigned)sc_config.max_hops & 3);
    policy = policy << 1 | (sc_config.push != 0);
    return (uint16_t)(policy << 3 | (sc_config.without & 7));
}

/* A key, or an address, under these settings.  0, which names nothing, stays 0.  Addresses have 48 bits. */
static inline uint64_t sc_autotuner_keyed(uint64_t key)
{
    return key ? key ^ (uint64_t)sc_autotuner_policy() << 48 : 0;
}

#endif
