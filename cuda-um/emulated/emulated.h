/* A CUDA runtime without a device, for the EMULATED way: handles, streams, events and descriptors that do what their
 * documentation says to a program that only calls.  Memory is semcache's; what computes is mapped (um.h), and never
 * comes here.  Streams run nothing, since all calls are over, or wait for themselves, when they return. */
#ifndef SC_UM_EMULATED_H
#define SC_UM_EMULATED_H

/* The function of this name, or NULL: names.tab. */
void *sc_um_emulated(const char *name);

/* Begins the definition of one, under its own type. */
#define SC_UM_EMULATED_NAME(name) sc_um_emulated_##name

#endif
