/* The demand for results (rule A14): a number for an operand and the routine that writes the operand. A positive demand
 * tells the next call that a result written on the host will be uploaded. The demand is the most for operands of device
 * calls that beat a host with all operands. Otherwise the demand is one less than the highest demand for the results of
 * the call that reads the operand. So a cycle of calls without a strong reader falls to 0 and moves to the host.
 *
 * An operand is known by its address: two calls of one routine that write the same vector share the entry. Thread safe,
 * without locks; racing updates lose some entries. */
#ifndef SC_AUTOTUNER_DEMAND_H
#define SC_AUTOTUNER_DEMAND_H

#include <stdint.h>

#include "ops/ops.h"


#define SC_READERS_MOST 6 /* largest demand; 0: no demand */

/* Demand for the result that `op` writes at this address. */
int sc_demand_of_result(const void *at, enum sc_op op);
/* Key (struct sc_autotuner_call) of the call that wrote the present version; 0: unknown. */
uint64_t sc_demand_writer(const void *at);

/* sc_demand_read: a call on devices with this demand reads the operand. sc_demand_written: a call writes the operand,
 * after its reads. maker: the key of a device call with a demand, else 0. */
void sc_demand_read(const void *at, int want);
void sc_demand_written(const void *at, enum sc_op op, uint64_t maker);
/* Enters a write by the program after the last call: devices will read the new values. */
void sc_demand_host_wrote(const void *at);

void sc_demand_reset(void); /* forgets all entries */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
