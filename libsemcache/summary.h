/* What a process has done, for people: one line, or a table of at most 80 columns (SEMCACHE_SUMMARY). */
#ifndef SC_LIBSEMCACHE_SUMMARY_H
#define SC_LIBSEMCACHE_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/trace.h"

/* Both of the counters in sc_stats, with what they do not know. */
void sc_summary_line(FILE *out, const struct sc_stats_extra *extra);
void sc_summary_table(FILE *out, const struct sc_stats_extra *extra);

/* Why no call ran on a device, in words. */
void sc_summary_reason(FILE *out);

#endif
