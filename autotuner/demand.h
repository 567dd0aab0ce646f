/* Who reads what a call writes (A14): for an operand and a routine is kept whether devices want what this routine
 * writes there, so that the next call knows that what it writes on the host will have to go up.  Most want calls that
 * devices do sooner than a host that has everything; what those read is written by other calls, which are there for
 * their sake, and want what they read by one less, and so on: a few calls that have nothing but each other do not keep
 * each other there. Operands are known by where they begin: two calls of one routine that write one vector share what
 * is known. Thread safe, no locks; racing updates lose some of it. */
#ifndef SC_AUTOTUNER_DEMAND_H
#define SC_AUTOTUNER_DEMAND_H

#include <stdint.h>

#include "ops/ops.h"


#define SC_READERS_MOST 6 /* how much devices may want something; 0: not at all */

/* What `op` writes at this address. */
int sc_demand_of_result(const void *at, enum sc_op op);
/* The account (struct sc_autotuner_call, key) of the call that made what is there now; 0: not known. */
uint64_t sc_demand_writer(const void *at);

/* A call on devices that wants it so much reads it; any call writes it, after what it reads (maker: its account if it
 * runs on devices and wants something, or 0). */
void sc_demand_read(const void *at, int want);
void sc_demand_written(const void *at, enum sc_op op, uint64_t maker);
/* The program has written there since a call did: devices will read that. */
void sc_demand_host_wrote(const void *at);

void sc_demand_reset(void); /* forgets it */

#endif
