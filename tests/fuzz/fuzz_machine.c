/* Machine files: an accepted file reads the same a second time, and its figures are usable. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "device/emu/machine.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_corpus[] = {"tests/fuzz/corpus/machine", "device/emu/machines", NULL};

static void look(const struct sc_emu_machine *machine)
{
    FUZZ_MUST(machine->devices >= 1 && machine->devices <= SC_DEVICES_MAX);
    for (int i = 0; i < machine->devices; i++) {
        const struct sc_emu_device *device = &machine->device[i];

        FUZZ_MUST(device->memory > 0 && isfinite(device->bandwidth) && device->bandwidth > 0);
        FUZZ_MUST(memchr(device->name, '\0', sizeof device->name));
        for (int t = 0; t < SC_TYPES; t++)
            FUZZ_MUST(isfinite(device->gemm[t]) && device->gemm[t] > 0);
        FUZZ_MUST(isfinite(machine->link[SC_EMU_HOST][i].bandwidth) && machine->link[SC_EMU_HOST][i].bandwidth > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sc_emu_machine machine, again;
    const char *path = fuzz_file(data, size);

    if (sc_emu_machine_read(path, &machine) != SC_OK)
        return 0;
    look(&machine);
    FUZZ_MUST(sc_emu_machine_read(path, &again) == SC_OK);
    FUZZ_MUST(machine.digest == again.digest && machine.devices == again.devices && machine.groups == again.groups);
    for (int i = 0; i < machine.devices; i++)
        FUZZ_MUST(machine.device[i].memory == again.device[i].memory &&
                  machine.device[i].bandwidth == again.device[i].bandwidth);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
