#include "libsemcache/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Launchers, the innermost first: mpirun may have been started by srun.  Slurm gives the number of tasks on every node
 * ("4(x2),3") and the number of this node. */
static const struct launcher {
    const char *rank, *ranks;
} launchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}, /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"}, /* Cray */
    {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};

static const char *value_of(char *const *environment, const char *name)
{
    size_t length = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* Parses a number up to a million; *rest is the following text.  -1: no number. */
static int number(const char *text, const char **rest)
{
    int n = 0;

    *rest = text;
    for (; **rest >= '0' && **rest <= '9' && n < 1000000; ++*rest)
        n = 10 * n + (**rest - '0');
    return *rest == text ? -1 : n;
}

/* The number of tasks of a node in "4(x2),3"; 0 if absent. */
static int tasks_of(const char *list, int node)
{
    for (;;) {
        int tasks = number(list, &list), times = 1;

        if (tasks > 0 && strncmp(list, "(x", 2) == 0) {
            times = number(list + 2, &list);
            list += *list == ')';
        }
        if (tasks <= 0 || times <= 0)
            return 0;
        if (*list && *list != ',')
            return 0;
        if ((node -= times) < 0)
            return tasks;
        if (!*list++)
            return 0;
    }
}

static bool make(int rank, int ranks, const char *source, struct sc_ranks *found)
{
    if (rank < 0 || rank >= ranks)
        return false;
    *found = (struct sc_ranks){rank, ranks, source};
    return true;
}

bool sc_ranks_parse(const char *text, struct sc_ranks *found)
{
    const char *slash, *end;
    int rank, ranks;

    *found = (struct sc_ranks){0, 1, NULL};
    if (strcmp(text, "auto") == 0 || strcmp(text, "none") == 0)
        return true;
    rank = number(text, &slash);
    if (*slash != '/')
        return false;
    ranks = number(slash + 1, &end);
    return !*end && make(rank, ranks, "SEMCACHE_LOCAL_RANK", found);
}

struct sc_ranks sc_ranks_find(const char *setting, char *const *environment)
{
    struct sc_ranks found = {0, 1, NULL};

    if (strcmp(setting, "auto") != 0) {
        sc_ranks_parse(setting, &found);
        return found;
    }
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = value_of(environment, launchers[i].rank);
        const char *ranks = value_of(environment, launchers[i].ranks);
        const char *node = value_of(environment, "SLURM_NODEID"), *rest;

        if (rank && ranks && make(number(rank, &rest), tasks_of(ranks, strstr(launchers[i].rank, "SLURM") && node
                                                                           ? number(node, &rest)
                                                                           : 0),
                                  launchers[i].rank, &found))
            break;
    }
    return found;
}
/* SPDX-License-Identifier: BSD-2-Clause */
