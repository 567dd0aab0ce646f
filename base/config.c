#include "base/config.h"

struct sc_config sc_config = {
    .device = "none",
    .offload = SC_OFFLOAD_AUTO,
    .log = SC_LOG_WARN,
    .arena_bytes = (uint64_t)1 << 42,
    .arena_min = 8192,
    .window_min = (uint64_t)1 << 18,
    .window_max = (uint64_t)64 << 20,
};
/* SPDX-License-Identifier: BSD-2-Clause */
