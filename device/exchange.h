/* How copies between devices go: by copy engines, one after the other, or by one kernel; and the number of chunks of a
 * result that other devices read next.  Pure functions of rates given as data.  Seconds, bytes and bytes/s. */
#ifndef SC_DEVICE_EXCHANGE_H
#define SC_DEVICE_EXCHANGE_H

#include "device/device.h"

/* A transfer of fewer bytes takes no longer than its fault, or than its request: a push gains nothing. */
#define SC_PUSH_BYTES ((size_t)1 << 20)

struct sc_exchange_link {
    double latency, bandwidth;
};
/* [from][to] devices */
struct sc_exchange_rates {
    double task; /* of the host, for one copy that waits for a fence and is marked */
    struct sc_exchange_link copies[SC_DEVICES_MAX][SC_DEVICES_MAX]; /* by copy engines */
    struct sc_exchange_link pull[SC_DEVICES_MAX][SC_DEVICES_MAX];   /* by a kernel of the device that gets */
    struct sc_exchange_link push[SC_DEVICES_MAX][SC_DEVICES_MAX];   /* by a kernel of the device that gives */
};

/* Pieces that one device gets (pull) or gives (push) at about the same time. */
struct sc_exchange {
    int on;    /* the device whose kernel copies */
    bool push;
    int pieces;
    uint64_t bytes, largest; /* of all pieces, of one */
    int other; /* device at the other end of the largest piece, whose link stands for all */
};
struct sc_exchange_choice {
    bool by_kernel;
    double copies, kernel; /* predicted */
};
struct sc_exchange_choice sc_exchange_choose(const struct sc_exchange_rates *rates, const struct sc_exchange *exchange);

/* A result in parts. Several devices make a part each, by several kernels, and other devices read the result next: each
 * chunk goes when its kernels are done (PROACT). */
struct sc_result {
    int from, to;        /* device that makes a part, and device that reads the part: their link stands for all */
    int makers, readers; /* devices that make parts; devices that read one maker's part */
    int kernels;         /* of one part, in turn */
    double seconds;      /* that the kernels of one part take; 0: not known */
    uint64_t bytes;      /* of one part */
};
struct sc_result_choice {
    int chunks;            /* at most one for each kernel */
    double whole, seconds; /* until all readers have the result: sent as a whole, in chunks */
};
double sc_exchange_chunked(const struct sc_exchange_rates *rates, const struct sc_result *result, int chunks);
/* So many chunks that more chunks would be no half a percent sooner. */
struct sc_result_choice sc_exchange_chunks(const struct sc_exchange_rates *rates, const struct sc_result *result);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
