/* Links between places, and the one router over them.  Places are numbered: devices from 0, the host SC_LINK_HOST.
 * Pure functions of the table. */
#ifndef SC_DEVICE_LINKS_H
#define SC_DEVICE_LINKS_H

#include "device/device.h"

#define SC_LINK_HOST SC_DEVICES_MAX
#define SC_LINK_ENDS (SC_DEVICES_MAX + 1)
#define SC_LINK_UNKNOWN 12e9 /* bytes/s assumed of a link to the host whose rate no device reports */

struct sc_links {
    int devices;
    double direct[SC_LINK_ENDS][SC_LINK_ENDS]; /* [from][to]; bytes/s of the link; 0: none; DBL_MAX: not known */
    double rate[SC_LINK_ENDS][SC_LINK_ENDS];   /* bytes/s of the route: of its slowest link */
    int8_t via[SC_LINK_ENDS][SC_LINK_ENDS];    /* last device before `to` on the route; -1: the route is the link */
    double peers; /* slowest link between two devices over the host's link to the receiver; 0: no link, or unknown */
};

/* Fills in `direct` by the properties of devices.  A link whose rate a device does not know is DBL_MAX. */
void sc_links_said(struct sc_links *links, const struct sc_device_properties *properties, int devices);

/* Fills in the routes by `direct`.  A route over at most `hops` other devices replaces a link between two devices where
 * the route is 1.2 times as fast: a route occupies two links and memory.  No route goes over the host. */
void sc_links_route(struct sc_links *links, int hops);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
