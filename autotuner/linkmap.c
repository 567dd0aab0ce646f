#include "autotuner/linkmap.h"

#include <math.h>
#include <string.h>

/* A way round has to be so much faster to be taken: measurements are good to a few percent. */
#define WORTH 1.05

static bool is_place(const struct sc_linkmap *map, int place) { return place < map->devices || place == SC_PLACE_HOST; }

static void direct(struct sc_linkmap *map, int from, int to)
{
    map->route[from][to] = (struct sc_route){.bandwidth = map->shared[from][to], .latency = map->latency[from][to]};
}

void sc_linkmap_load(struct sc_linkmap *map, const struct sc_database *db)
{
    memset(map, 0, sizeof *map);
    map->devices = db->devices;
    for (int i = 0; i < SC_PLACES; i++)
        for (int j = 0; j < SC_PLACES; j++) {
            map->latency[i][j] = db->link[i][j].latency;
            map->bandwidth[i][j] = map->shared[i][j] = db->link[i][j].bandwidth;
            direct(map, i, j);
        }
}

/* --- sharing ------------------------------------------------------------------------------------------------------ */

struct use {
    int count, link[SC_LINKS];
    int down, up; /* links from and to the host */
};

static void collect(const struct sc_linkmap *map, sc_places active, sc_places sources, sc_places targets,
                    struct use *use)
{
    use->count = use->down = use->up = 0;
    for (int i = 0; i < SC_PLACES; i++)
        for (int j = 0; j < SC_PLACES; j++) {
            bool in = (sources & sc_place_bit(i)) && (active & sc_place_bit(j));
            bool out = (active & sc_place_bit(i)) && (targets & sc_place_bit(j));

            if (i == j || map->bandwidth[i][j] <= 0 || !(in || out))
                continue;
            use->link[use->count++] = sc_link(i, j);
            use->down += i == SC_PLACE_HOST;
            use->up += j == SC_PLACE_HOST;
        }
}

/* Rate of a set of n, from the nearest smaller set when that of n was not measured; infinite: nothing is known. */
static double set_rate(const struct sc_database *db, enum sc_database_set set, int n)
{
    for (; n > 0; n--)
        if (db->set[set][n] > 0)
            return db->set[set][n];
    return HUGE_VAL;
}

/* What all links of one direction get of the host together, when those of the other direction are used too. */
static double host_rate(const struct sc_database *db, const struct use *use, bool down)
{
    int n = down ? use->down : use->up, other = down ? use->up : use->down;
    double rate = set_rate(db, down ? SC_SET_DOWN : SC_SET_UP, n);
    double back = set_rate(db, down ? SC_SET_UP : SC_SET_DOWN, other);
    double both = set_rate(db, SC_SET_BOTH, n > other ? n : other);

    if (!other || isinf(both))
        return rate;
    if (isinf(rate) || isinf(back))
        return both / 2 < rate ? both / 2 : rate;
    return both < rate + back ? both * rate / (rate + back) : rate;
}

/* The worst pair decides (pairs are not multiplied: two that share one thing with a third share it with each other),
 * and a link to the host gets no more than its part of what the host can do for all. */
static void share_one(struct sc_linkmap *map, const struct sc_database *db, const struct use *use, int link)
{
    int from = link / SC_PLACES, to = link % SC_PLACES;
    double slow = 1, shared, sum = 0, most;

    for (int i = 0; i < use->count; i++) {
        double s = use->link[i] == link ? 1 : sc_database_slow(db, link, use->link[i]);

        slow = s > slow ? s : slow;
    }
    shared = map->bandwidth[from][to] / slow;
    if (from == SC_PLACE_HOST || to == SC_PLACE_HOST) {
        for (int i = 0; i < use->count; i++) {
            int a = use->link[i] / SC_PLACES, z = use->link[i] % SC_PLACES;

            if ((from == SC_PLACE_HOST && a == SC_PLACE_HOST) || (to == SC_PLACE_HOST && z == SC_PLACE_HOST))
                sum += map->bandwidth[a][z];
        }
        most = host_rate(db, use, from == SC_PLACE_HOST) * map->bandwidth[from][to] / sum;
        shared = most < shared ? most : shared;
    }
    map->shared[from][to] = shared;
}

void sc_linkmap_share(struct sc_linkmap *map, const struct sc_database *db, sc_places active, sc_places sources,
                      sc_places targets)
{
    struct use use;

    memcpy(map->shared, map->bandwidth, sizeof map->shared);
    collect(map, active, sources, targets, &use);
    for (int i = 0; i < use.count; i++)
        share_one(map, db, &use, use.link[i]);
    for (int i = 0; i < SC_PLACES; i++)
        for (int j = 0; j < SC_PLACES; j++)
            direct(map, i, j);
}

/* --- routes ------------------------------------------------------------------------------------------------------- */

static double least(double a, double b) { return a < b ? a : b; }

static void offer(struct sc_route *best, const struct sc_route *route)
{
    if (route->bandwidth > best->bandwidth * WORTH)
        *best = *route;
}

static void route_one(struct sc_linkmap *map, int from, int to, int max_hops)
{
    struct sc_route *best = &map->route[from][to];

    for (int k = 0; k < SC_PLACES && max_hops > 0; k++) {
        if (k == from || k == to || !is_place(map, k))
            continue;
        offer(best, &(struct sc_route){.hops = 1, .via = {k}, .latency = map->latency[from][k] + map->latency[k][to],
                                       .bandwidth = least(map->shared[from][k], map->shared[k][to])});
    }
    for (int k = 0; k < SC_PLACES && max_hops > 1; k++)
        for (int l = 0; l < SC_PLACES; l++) {
            if (k == from || k == to || l == from || l == to || k == l || !is_place(map, k) || !is_place(map, l))
                continue;
            offer(best, &(struct sc_route){.hops = 2, .via = {k, l},
                                           .latency = map->latency[from][k] + map->latency[k][l] + map->latency[l][to],
                                           .bandwidth = least(least(map->shared[from][k], map->shared[k][l]),
                                                              map->shared[l][to])});
        }
}

void sc_linkmap_route(struct sc_linkmap *map, int max_hops)
{
    for (int i = 0; i < SC_PLACES; i++)
        for (int j = 0; j < SC_PLACES; j++)
            if (i != j && is_place(map, i) && is_place(map, j)) {
                direct(map, i, j);
                route_one(map, i, j, max_hops);
            }
}

double sc_linkmap_seconds(const struct sc_linkmap *map, int from, int to, double bytes)
{
    const struct sc_route *route = &map->route[from][to];

    if (from == to || bytes <= 0)
        return 0;
    return route->bandwidth > 0 ? route->latency + bytes / route->bandwidth : HUGE_VAL;
}
