#include "autotuner/linkmap.h"

#include <math.h>
#include <string.h>

void sc_linkmap_load(struct sc_linkmap *map, const struct sc_database *db)
{
    memset(map, 0, sizeof *map);
    map->devices = map->shared.devices = db->devices;
    for (int i = 0; i < SC_PLACES; i++)
        for (int j = 0; j < SC_PLACES; j++) {
            map->latency[i][j] = db->link[i][j].latency;
            map->bandwidth[i][j] = map->shared.direct[i][j] = db->link[i][j].bandwidth;
        }
    sc_links_route(&map->shared, 0);
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

/* Rate of a set of n links; without a measurement, of the nearest smaller set; infinite: unknown. */
static double set_rate(const struct sc_database *db, enum sc_database_set set, int n)
{
    for (; n > 0; n--)
        if (db->set[set][n] > 0)
            return db->set[set][n];
    return HUGE_VAL;
}

/* Rate of the host's links in one direction together, during use of the opposite direction. */
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

/* Shared rate of a link. The worst pair decides: factors of pairs are not multiplied, because two links with a common
 * bottleneck share it with a third one. A link to the host gets at most its part of the host's total rate. */
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
    map->shared.direct[from][to] = shared;
}

void sc_linkmap_share(struct sc_linkmap *map, const struct sc_database *db, sc_places active, sc_places sources,
                      sc_places targets)
{
    struct use use;

    memcpy(map->shared.direct, map->bandwidth, sizeof map->bandwidth);
    collect(map, active, sources, targets, &use);
    for (int i = 0; i < use.count; i++)
        share_one(map, db, &use, use.link[i]);
    sc_links_route(&map->shared, 0);
}

/* --- routes ------------------------------------------------------------------------------------------------------- */

void sc_linkmap_route(struct sc_linkmap *map, int hops) { sc_links_route(&map->shared, hops); }

static double latency_of(const struct sc_linkmap *map, int from, int to)
{
    double sum = 0;
    int via;

    for (; (via = map->shared.via[from][to]) >= 0; to = via)
        sum += map->latency[via][to];
    return sum + map->latency[from][to];
}

double sc_linkmap_seconds(const struct sc_linkmap *map, int from, int to, double bytes)
{
    double rate = map->shared.rate[from][to];

    if (from == to || bytes <= 0)
        return 0;
    return rate > 0 ? latency_of(map, from, to) + bytes / rate : HUGE_VAL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
