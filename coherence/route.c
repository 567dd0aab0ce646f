/* Routes between places for the protocol: the table of device/links.h, without failed devices.  A route over a
 * device needs no state of its own: the device receives the sectors like any user, and a copy in transit is a source
 * for the next hop, chunk by chunk (rule 2). */
#include "coherence/protocol.h"

#include <float.h>

#include "base/config.h"
#include "device/links.h"

static struct sc_links links;

static int end_of(int place) { return place == SC_HOST ? SC_LINK_HOST : place; }

void sc_route_start(void)
{
    sc_links_said(&links, sc_protocol.properties, sc_protocol.devices);
    sc_links_route(&links, sc_config.max_hops);
}

void sc_coherence_links(const struct sc_links *measured)
{
    sc_protocol_lock();
    for (int to = 0; to < sc_protocol.devices; to++)
        for (int from = 0; from < SC_LINK_ENDS; from++)
            if (links.direct[from][to] > 0 && measured->direct[from][to] > 0)
                links.direct[from][to] = measured->direct[from][to];
    sc_links_route(&links, sc_config.max_hops);
    sc_protocol_unlock();
}

double sc_route_rate(int from, int to)
{
    bool known = !(sc_config.without & SC_WITHOUT_TOPOLOGY);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(to);
    sc_assert(from == SC_HOST || (from >= 0 && from < sc_protocol.devices));
    if (from == SC_HOST || known)
        return links.rate[end_of(from)][to];
    return links.direct[from][to] > 0 ? DBL_MAX : 0;
}

double sc_route_direct_rate(int from, int to)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return sc_route_via(from, to) < 0 ? sc_route_rate(from, to) : links.direct[end_of(from)][to];
}

int sc_route_via(int from, int to)
{
    int via = sc_config.without & SC_WITHOUT_TOPOLOGY || from == SC_HOST ? -1 : links.via[from][to];

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(to);
    return via >= 0 && !sc_protocol.failed[via] ? via : -1;
}

double sc_coherence_peer_ratio(void) { return links.peers; }
/* SPDX-License-Identifier: BSD-2-Clause */
