/* Ways between places: how fast a transfer from one to another is, and over which device where a way round is faster
 * than the direct link (PARALiA's LinkMap; GPUs of a DGX-1 without an NVLink between them).
 *
 * A way over a device is no state of its own: the device gets the sectors as if it was to use them, and they go on from
 * there, chunk by chunk, as any copy does that is on its way (rule 2). */
#include "coherence/protocol.h"

#include <float.h>

#include "base/config.h"

#define HOST  SC_DEVICES_MAX
#define ENDS  (SC_DEVICES_MAX + 1)
#define WORTH 1.2 /* a way round has to be so much faster: it uses two links and memory */

static struct {
    double link[ENDS][ENDS]; /* [from][to]; bytes/s of the direct link, 0: none, DBL_MAX: not known */
    double rate[ENDS][ENDS]; /* of the best way */
    int8_t via[ENDS][ENDS];  /* the last device before `to` on it; -1: the way is direct */
    double peers;            /* the slowest link between devices in that of a link to the host; 0: none, or not known */
} ways;

static int end_of(int place) { return place == SC_HOST ? HOST : place; }

static double least(double a, double b) { return a < b ? a : b; }

/* With one more device before `to` than the ways that are known so far. */
static void find_longer(void)
{
    double rate[ENDS][ENDS];

    for (int from = 0; from < ENDS; from++)
        for (int to = 0; to < ENDS; to++)
            rate[from][to] = ways.rate[from][to];
    for (int from = 0; from < sc_protocol.devices; from++)
        for (int to = 0; to < sc_protocol.devices; to++)
            for (int via = 0; via < sc_protocol.devices; via++) {
                double over = least(rate[from][via], ways.link[via][to]);

                if (from == to || via == from || via == to || over == DBL_MAX || over <= WORTH * ways.rate[from][to])
                    continue;
                ways.rate[from][to] = over;
                ways.via[from][to] = (int8_t)via;
            }
}

static void compare_peers(void)
{
    double ratio = DBL_MAX;

    for (int from = 0; from < sc_protocol.devices; from++)
        for (int to = 0; to < sc_protocol.devices; to++) {
            double link = ways.link[from][to], host = ways.link[HOST][to];

            if (from != to)
                ratio = least(ratio, link < DBL_MAX && host > 0 ? link / host : 0);
        }
    ways.peers = ratio < DBL_MAX ? ratio : 0;
}

static void find_ways(void)
{
    for (int from = 0; from < ENDS; from++)
        for (int to = 0; to < ENDS; to++) {
            ways.rate[from][to] = ways.link[from][to];
            ways.via[from][to] = -1;
        }
    for (int hop = 0; hop < sc_config.max_hops; hop++)
        find_longer();
    compare_peers();
}

/* By what the devices say; from a device that says nothing about it as fast as there may be, to spare the host. */
void sc_route_start(void)
{
    for (int to = 0; to < sc_protocol.devices; to++) {
        const struct sc_device_properties *p = &sc_protocol.properties[to];

        ways.link[HOST][to] = ways.link[to][HOST] = p->host_bandwidth;
        for (int from = 0; from < sc_protocol.devices; from++)
            ways.link[from][to] = from == to || !p->peer[from] ? 0
                                  : p->peer_bandwidth[from] > 0 ? p->peer_bandwidth[from] : DBL_MAX;
    }
    find_ways();
}

void sc_coherence_links(double (*rate)(const void *of, int from, int to), const void *of)
{
    sc_protocol_lock();
    for (int to = 0; to < sc_protocol.devices; to++)
        for (int from = SC_HOST; from < sc_protocol.devices; from++) {
            double *link = &ways.link[end_of(from)][to], measured = from == to ? 0 : rate(of, from, to);

            if (*link > 0 && measured > 0)
                *link = measured;
        }
    find_ways();
    sc_protocol_unlock();
}

double sc_route_rate(int from, int to)
{
    bool known = !(sc_config.without & SC_WITHOUT_TOPOLOGY);

    if (from == SC_HOST || known)
        return ways.rate[end_of(from)][to];
    return ways.link[from][to] > 0 ? DBL_MAX : 0;
}

double sc_route_direct_rate(int from, int to)
{
    return sc_route_via(from, to) < 0 ? sc_route_rate(from, to) : ways.link[end_of(from)][to];
}

int sc_route_via(int from, int to)
{
    int via = sc_config.without & SC_WITHOUT_TOPOLOGY || from == SC_HOST ? -1 : ways.via[from][to];

    return via >= 0 && !sc_protocol.failed[via] ? via : -1;
}

double sc_coherence_peer_ratio(void) { return ways.peers; }
