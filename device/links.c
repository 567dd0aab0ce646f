#include "device/links.h"

#include <float.h>
#include <string.h>

#define WORTH 1.2 /* rate of a route over a device, in that of the route without the device */

static double least(double a, double b) { return a < b ? a : b; }

void sc_links_said(struct sc_links *links, const struct sc_device_properties *properties, int devices)
{
    links->devices = devices;
    for (int to = 0; to < devices; to++) {
        const struct sc_device_properties *p = &properties[to];

        links->direct[SC_LINK_HOST][to] = links->direct[to][SC_LINK_HOST] = p->host_bandwidth;
        for (int from = 0; from < devices; from++)
            links->direct[from][to] = from == to || !p->peer[from] ? 0
                                      : p->peer_bandwidth[from] > 0 ? p->peer_bandwidth[from] : DBL_MAX;
    }
}

/* Routes with one more device before `to` than the routes so far. */
static void lengthen(struct sc_links *links)
{
    double before[SC_LINK_ENDS][SC_LINK_ENDS];

    memcpy(before, links->rate, sizeof before);
    for (int from = 0; from < links->devices; from++)
        for (int to = 0; to < links->devices; to++)
            for (int via = 0; via < links->devices && from != to; via++) {
                double over = least(before[from][via], links->direct[via][to]);

                if (via == from || via == to || over == DBL_MAX || over <= WORTH * links->rate[from][to])
                    continue;
                links->rate[from][to] = over;
                links->via[from][to] = (int8_t)via;
            }
}

static double peers_of(const struct sc_links *links)
{
    double ratio = DBL_MAX;

    for (int from = 0; from < links->devices; from++)
        for (int to = 0; to < links->devices; to++) {
            double link = links->direct[from][to], host = links->direct[SC_LINK_HOST][to];

            if (from != to)
                ratio = least(ratio, link < DBL_MAX && host > 0 ? link / host : 0);
        }
    return ratio < DBL_MAX ? ratio : 0;
}

void sc_links_route(struct sc_links *links, int hops)
{
    memcpy(links->rate, links->direct, sizeof links->rate);
    memset(links->via, -1, sizeof links->via);
    for (int hop = 0; hop < hops; hop++)
        lengthen(links);
    links->peers = peers_of(links);
}
/* SPDX-License-Identifier: BSD-2-Clause */
