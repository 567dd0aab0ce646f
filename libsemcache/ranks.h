/* Which of the ranks on this machine a process is: from what the launchers of parallel programs leave in the
 * environment, or from SEMCACHE_LOCAL_RANK. */
#ifndef SC_LIBSEMCACHE_RANKS_H
#define SC_LIBSEMCACHE_RANKS_H

#include <stdbool.h>

struct sc_ranks {
    int rank, ranks;    /* 0 <= rank < ranks */
    const char *source; /* the variable that said so; NULL: none did */
};

/* "auto", "none", "RANK/RANKS".  false: it is none of them. */
bool sc_ranks_parse(const char *text, struct sc_ranks *found);

/* By `setting` or, when that is "auto", by the environment. */
struct sc_ranks sc_ranks_find(const char *setting, char *const *environment);

#endif
