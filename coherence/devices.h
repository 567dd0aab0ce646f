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
struct sc_producer;

/* Pieces that go to a device (from any device), or from a device (to any device), at about the same time. */
struct sc_exchange {
    int on;          /* the device that all pieces have in common; a kernel of it would move them */
    bool push;       /* the device sends the pieces */
    int pieces;
    uint64_t bytes, largest;
    int other;       /* the other end of the largest piece */
};
/* Whether one kernel moves the pieces sooner than copy engines move them one by one; pure. */
typedef bool sc_exchange_by_kernel(const void *of, const struct sc_exchange *exchange);
/* A result of a call that devices make, each a part of it by several kernels, and that other devices will read. */
struct sc_result {
    int from;    /* the device that makes most of the result */
    int to;      /* a device that reads what `from` makes */
    int makers;  /* devices that make parts */
    int readers; /* devices that read what `from` makes */
    int kernels; /* of `from`, one after another */
    uint64_t bytes; /* made by `from` */
    const struct sc_producer *producer; /* NULL: not known */
};
/* Number of chunks that a result is sent in, each chunk when its kernels are done: 1 to `kernels`; pure. */
typedef int sc_exchange_in_chunks(const void *of, const struct sc_result *result);
/* NULL: copy engines move all pieces; results are sent as a whole. */
void sc_coherence_exchanges(sc_exchange_by_kernel *by_kernel, sc_exchange_in_chunks *in_chunks, const void *of);
/* Bandwidth of the slowest link between two devices as a multiple of a link to the host; 0: no link, or unknown. */
double sc_coherence_peer_ratio(void);

/* --- clocks ------------------------------------------------------------------------------------------------------- */

double sc_coherence_virtual_seconds(void); /* of emulated devices; < 0: real devices */
/* Clock of the program's thread in seconds, virtual on emulated devices.  Only differences have a meaning. */
double sc_coherence_host_clock(void);
/* Waits for everything that has been enqueued on any device.  For measurements; no call needs it. */
void sc_coherence_drain(void);

#endif
