/* The LinkMap of PARALiA (TACO 2023, section 3.2, table 1): places are nodes, and pairs of places are links.
 *
 * The system's part (latency, bandwidth) comes from the database. The problem's part (shared bandwidth, routes) is made
 * for the places of a call and its data. Pure functions. */
#ifndef SC_AUTOTUNER_LINKMAP_H
#define SC_AUTOTUNER_LINKMAP_H

#include "autotuner/database.h"
#include "device/links.h"

struct sc_linkmap {
    int devices;
    double latency[SC_PLACES][SC_PLACES];   /* [from][to]; s */
    double bandwidth[SC_PLACES][SC_PLACES]; /* bytes/s, alone; 0: no link */
    struct sc_links shared;                 /* rates during use of the problem's links, and routes by these rates */
};

/* A set of places: bit p for place p. */
typedef uint32_t sc_places;
static inline sc_places sc_place_bit(int place) { return (sc_places)1 << place; }

/* load_link_weights. Nothing is shared, and routes are links. */
void sc_linkmap_load(struct sc_linkmap *map, const struct sc_database *db);

/* estimate_problem_throughput: assumes constant use of the links from `sources` to `active` places and from `active`
 * places to `targets`. */
void sc_linkmap_share(struct sc_linkmap *map, const struct sc_database *db, sc_places active, sc_places sources,
                      sc_places targets);

/* optimize_problem_routes: over at most `hops` further devices, if a route is faster by the shared bandwidths. */
void sc_linkmap_route(struct sc_linkmap *map, int hops);

/* Seconds of a transfer on its route (eq. 2); infinite: no route. */
double sc_linkmap_seconds(const struct sc_linkmap *map, int from, int to, double bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
