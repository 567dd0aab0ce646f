/* A CUDA runtime without a device, for the EMULATED way.  Handles, streams, events and descriptors behave as
 * documented.  Memory belongs to semcache; functions that compute are mapped (um.h) and never reach this folder.
 * Streams run no work, because every call either is finished when it returns or waits by itself. */
#ifndef SC_UM_EMULATED_H
#define SC_UM_EMULATED_H

/* The emulated function of this name, or NULL: names.tab. */
void *sc_um_emulated(const char *name);

/* Begins the definition of an emulated function, with the type of the original. */
#define SC_UM_EMULATED_NAME(name) sc_um_emulated_##name

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
