/* The rank of a process among the ranks on this machine, from the launcher's environment variables or
 * SEMCACHE_LOCAL_RANK. */
#ifndef SC_LIBSEMCACHE_RANKS_H
#define SC_LIBSEMCACHE_RANKS_H

#include <stdbool.h>

struct sc_ranks {
    int rank, ranks;    /* 0 <= rank < ranks */
    const char *source; /* the variable with the rank, or NULL */
};

/* Parses "auto", "none" or "RANK/RANKS"; false for other text. */
bool sc_ranks_parse(const char *text, struct sc_ranks *found);

/* Finds the rank by `setting`, or by the environment if `setting` is "auto". */
struct sc_ranks sc_ranks_find(const char *setting, char *const *environment);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
