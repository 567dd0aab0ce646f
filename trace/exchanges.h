/* What went between devices, added up by kind with what was predicted, for the report of decisions (SEMCACHE_EXPLAIN).
 * Thread safe. */
#ifndef SC_TRACE_EXCHANGES_H
#define SC_TRACE_EXCHANGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Pieces of an exchange, by copy engines or by one kernel; predicted seconds of both. */
void sc_exchanges_moved(bool push, bool by_kernel, int pieces, uint64_t bytes, double copies, double kernel);
/* A part of a result for other devices; predicted seconds as a whole and in chunks. */
void sc_exchanges_sent(int readers, int kernels, int chunks, uint64_t bytes, double whole, double in_chunks);
/* Empty without transfers between devices. */
void sc_exchanges_write(FILE *out);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
