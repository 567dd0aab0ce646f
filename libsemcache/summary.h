/* A summary of the process for people: one line, or a table of at most 80 columns (SEMCACHE_SUMMARY). */
#ifndef SC_LIBSEMCACHE_SUMMARY_H
#define SC_LIBSEMCACHE_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/trace.h"

/* Write the summary of sc_stats; `extra` has the data absent from the counters. */
void sc_summary_line(FILE *out, const struct sc_stats_extra *extra);
void sc_summary_table(FILE *out, const struct sc_stats_extra *extra);

/* Writes why no call ran on a device. */
void sc_summary_reason(FILE *out);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
