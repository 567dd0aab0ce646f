/* The LinkMap of PARALiA (TACO 2023, section 3.2, table 1): every place is a node, every pair of places a link.
 *
 * The system's part (latency, bandwidth) comes from the database; the problem's part (shared bandwidth, routes) is
 * made for the places that compute in one call and those where its data is.  Pure functions. */
#ifndef SC_AUTOTUNER_LINKMAP_H
#define SC_AUTOTUNER_LINKMAP_H

#include "autotuner/database.h"
#include "device/links.h"

struct sc_linkmap {
    int devices;
    double latency[SC_PLACES][SC_PLACES];   /* [from][to]; s */
    double bandwidth[SC_PLACES][SC_PLACES]; /* bytes/s, alone; 0: no link */
    struct sc_links shared;                 /* while all links of the problem are used, and the routes over these */
};

/* A set of places: bit p for place p. */
typedef uint32_t sc_places;
static inline sc_places sc_place_bit(int place) { return (sc_places)1 << place; }

/* load_link_weights.  Nothing is shared, all routes are links. */
void sc_linkmap_load(struct sc_linkmap *map, const struct sc_database *db);

/* estimate_problem_throughput: links from `sources` to `active` places and from these to `targets` are taken to be used
 * all the time. */
void sc_linkmap_share(struct sc_linkmap *map, const struct sc_database *db, sc_places active, sc_places sources,
                      sc_places targets);

/* optimize_problem_routes: over at most `hops` other devices where that is faster by the shared bandwidths. */
void sc_linkmap_route(struct sc_linkmap *map, int hops);

/* Seconds of a transfer on its route (eq. 2); infinite when there is none. */
double sc_linkmap_seconds(const struct sc_linkmap *map, int from, int to, double bytes);

#endif
