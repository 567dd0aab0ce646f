/* Who reads what a call writes: of an operand is kept whether devices have read it after the last call of this routine
 * that wrote it, so that the next one knows that what it writes on the host will have to go there (A14).  Thread safe,
 * no locks; racing updates lose some of it. */
#ifndef SC_AUTOTUNER_READERS_H
#define SC_AUTOTUNER_READERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/types.h"

/* Devices have read what the last call of `op` wrote at this address, before it was written again. */
bool sc_readers_on_devices(const void *at, enum sc_op op);

/* The account (struct sc_autotuner_call, key) of the call on devices that wrote what is there now; 0: not known, or it
 * ran on the host. */
uint64_t sc_readers_maker(const void *at);

/* A call is about to run, on devices or the host: for each of its operands, those that are read first.  maker: its
 * account, 0 on the host. */
void sc_readers_read(const void *at, bool on_devices);
void sc_readers_written(const void *at, enum sc_op op, uint64_t maker);

void sc_readers_reset(void); /* forgets it */

#endif
