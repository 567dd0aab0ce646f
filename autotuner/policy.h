/* The settings of a decision, as one number, beside the call and the machine. Keys of remembered answers contain the
 * number, so an answer under other settings is not found (rule A15). Pure, thread safe. */
#ifndef SC_AUTOTUNER_POLICY_H
#define SC_AUTOTUNER_POLICY_H

#include <stdint.h>

#include "base/config.h"

_Static_assert(SC_STRATEGIES <= 8, "a strategy has three bits below");

/* A number of 16 bits. metric: of the question (SEMCACHE_METRIC, or a caller's choice). */
static inline uint16_t sc_autotuner_policy(enum sc_metric metric)
{
    unsigned policy = metric;

    policy = policy << 3 | sc_config.schedule;
    policy = policy << 2 | sc_config.offload;
    policy = policy << 2 | sc_config.exchange;
    policy = policy << 2 | ((unsigned)sc_config.max_hops & 3);
    policy = policy << 1 | (sc_config.push != 0);
    return (uint16_t)(policy << 3 | (sc_config.without & 7));
}

/* A key, or an address of 48 bits, under a metric and the present settings. The key 0 (no array) stays 0. */
static inline uint64_t sc_autotuner_keyed(uint64_t key, enum sc_metric metric)
{
    return key ? key ^ (uint64_t)sc_autotuner_policy(metric) << 48 : 0;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
