/* The LinkMap of PARALiA (TACO 2023, section 3.2, table 1): every place is a node, every pair of places a link.
 *
 * The system's part (latency, bandwidth) comes from the database; the problem's part (shared bandwidth, routes) is
 * made for the places that compute in one call and those where its data is.  Pure functions. */
#ifndef SC_AUTOTUNER_LINKMAP_H
#define SC_AUTOTUNER_LINKMAP_H

#include "autotuner/database.h"

#define SC_HOPS_MAX 2

struct sc_route {
    int hops;              /* places between the ends; 0: the direct link */
    int via[SC_HOPS_MAX];
    double bandwidth;      /* of the slowest link: chunks follow each other; 0: no way */
    double latency;        /* sum */
};

struct sc_linkmap {
    int devices;
    double latency[SC_PLACES][SC_PLACES];   /* [from][to]; s */
    double bandwidth[SC_PLACES][SC_PLACES]; /* bytes/s, alone; 0: no link */
    double shared[SC_PLACES][SC_PLACES];    /* while all links of the problem are used */
    struct sc_route route[SC_PLACES][SC_PLACES];
};

/* A set of places: bit p for place p. */
typedef uint32_t sc_places;
static inline sc_places sc_place_bit(int place) { return (sc_places)1 << place; }

/* load_link_weights.  Nothing is shared, all routes are direct. */
void sc_linkmap_load(struct sc_linkmap *map, const struct sc_database *db);

/* estimate_problem_throughput: links from `sources` to `active` places and from these to `targets` are taken to be used
 * all the time. */
void sc_linkmap_share(struct sc_linkmap *map, const struct sc_database *db, sc_places active, sc_places sources,
                      sc_places targets);

/* optimize_problem_routes: over at most `max_hops` (0 to SC_HOPS_MAX) other places where that is faster by the shared
 * bandwidths. */
void sc_linkmap_route(struct sc_linkmap *map, int max_hops);

/* Seconds of a transfer on its route (eq. 2); infinite when there is none. */
double sc_linkmap_seconds(const struct sc_linkmap *map, int from, int to, double bytes);

#endif
