/* The description of the emulated back end. */
#include <string.h>

#include "device/backend.h"

/* MACHINE or MACHINE:COUNT. */
static bool fits(const char *spec)
{
    const char *colon = strchr(spec, ':');

    return *spec && (!colon || (colon > spec && sc_device_is_count(colon + 1)));
}

const struct sc_device_backend sc_device_backend_emu = {
    .name = "emu", .title = "emulated", .fits = fits, .linked = sc_device_emu,
};
/* SPDX-License-Identifier: BSD-2-Clause */
