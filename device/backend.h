/* The back ends: the kinds of devices that the setting SEMCACHE_DEVICE can name.
 *
 * A back end is a folder device/NAME with a table of operations (struct sc_device_ops), a description (struct
 * sc_device_backend, in device/NAME/backend.c) and a local.mk, and a row of SC_DEVICE_BACKENDS.  The table of
 * operations is in a module, semcache-NAME.so, or linked into the library.  The description is always linked into the
 * library, so backend.c needs no header and no library of the device's maker.  doc/extending.md has the steps. */
#ifndef SC_DEVICE_BACKEND_H
#define SC_DEVICE_BACKEND_H

#include "device/device.h"

/* One row for each back end: its name, and how the setting is written.  The setting auto takes the first back end that
 * is present and opens. */
#define SC_DEVICE_BACKENDS(ROW)       \
    ROW(cuda, "cuda[:0,1,...]")       \
    ROW(emu, "emu:MACHINE[:COUNT]")   \
    ROW(null, "null[:COUNT]")

/* All values of the setting, for messages and help. */
#define SC_DEVICE_VALUE_(name, text) ", " text
#define SC_DEVICE_VALUES "auto, none" SC_DEVICE_BACKENDS(SC_DEVICE_VALUE_)

struct sc_device_backend {
    const char *name;  /* as in the setting and in semcache-NAME.so */
    const char *title; /* as in messages: "no TITLE devices: ..." */
    bool (*fits)(const char *spec); /* the form of SPEC in "NAME:SPEC"; "" stands for the name alone */
    const struct sc_device_ops *(*linked)(void); /* NULL: the table of operations is in the module */

    /* For auto: the machine may have such devices.  Starts no driver, no thread and no module.  NULL: auto never takes
     * the back end. */
    bool (*present)(void);

    /* wake starts work beside the loading of the module (a driver, the context of a device).  wake_join waits for the
     * end of the work before the devices are opened, and wake_end releases the context afterwards.  One thread at a
     * time calls these functions.  NULL: there is no such work. */
    void (*wake)(const struct sc_device_host *host, const char *spec);
    void (*wake_join)(void);
    void (*wake_end)(void);

    uint64_t least_space; /* bytes of address space (ulimit -v) without which the module is not loaded; 0: any */
    int least_files; /* descriptors (ulimit -n) without which the driver may find no device; 0: any */

    /* Clauses for messages: cause and remedy. */
    const char *absent;    /* `present` finds nothing */
    const char *unbuilt;   /* the module cannot be loaded; a question */
    const char *unusable;  /* there is a module, and it opens no device */
    const char *no_memory; /* opening ended with SC_ERR_DEVICE_MEMORY */
};

#define SC_DEVICE_BACKEND_(name, text) extern const struct sc_device_backend sc_device_backend_##name;
SC_DEVICE_BACKENDS(SC_DEVICE_BACKEND_)
#undef SC_DEVICE_BACKEND_

/* Forms of SPEC.  List: "0", "0,1,5": numbers of at most four digits with single commas between them.  Count: a number
 * from 1.  Both refuse "". */
bool sc_device_is_list(const char *text);
bool sc_device_is_count(const char *text);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
