/* Start and stop of the protocol on a set of devices, measured rates, clocks.
 * Used by: libsemcache, blas, sparse. */
#ifndef SC_COHERENCE_DEVICES_H
#define SC_COHERENCE_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "device/device.h"

/* Takes over devices that the caller has opened.  `ops` and `host` stay valid until stop.  Called by one thread while
 * no call is in progress. */
enum sc_status sc_coherence_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host);
/* Waits for calls in progress, brings all data home, closes the devices. */
void sc_coherence_stop(void);
/* Broken invariants that SEMCACHE_CHECK=1 has found and logged; tests expect 0. */
unsigned sc_coherence_broken(void);

/* --- rates and decisions of the autotuner ------------------------------------------------------------------------- */

/* Measured direct links (`measured->direct`) replace the rates that devices report; 0: not measured. */
struct sc_links;
void sc_coherence_links(const struct sc_links *measured);

/* Rates by which copies between devices go by copy engines or by kernels, and results in chunks.  NULL (the state at
 * the start): copy engines move all pieces; results are sent as a whole.  Stay valid until other rates are given. */
struct sc_exchange_rates;
void sc_coherence_exchanges(const struct sc_exchange_rates *rates);
/* Bandwidth of the slowest link between two devices as a multiple of a link to the host; 0: no link, or unknown. */
double sc_coherence_peer_ratio(void);

/* --- clocks ------------------------------------------------------------------------------------------------------- */

double sc_coherence_virtual_seconds(void); /* of emulated devices; < 0: real devices */
/* Clock of the program's thread in seconds, virtual on emulated devices.  Only differences have a meaning. */
double sc_coherence_host_clock(void);
/* Waits for all enqueued work of the devices.  For measurements; no call needs it. */
void sc_coherence_drain(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
