/* The description of the null back end.  auto never takes it. */
#include "device/backend.h"

static bool fits(const char *spec) { return !*spec || sc_device_is_count(spec); }

const struct sc_device_backend sc_device_backend_null = {
    .name = "null",
    .title = "null",
    .fits = fits,
    .unbuilt = "is SEMCACHE_MODULE_PATH the folder of semcache's modules?",
    .unusable = "they are counted from 1",
    .no_memory = "no memory for their result slots",
};
/* SPDX-License-Identifier: BSD-2-Clause */
