/* The devices of a rank when several ranks run on the machine (sc_config.rank of sc_config.ranks).  Neighbouring ranks
 * share a device, because launchers place neighbours close together. */
#ifndef SC_DEVICE_SHARE_H
#define SC_DEVICE_SHARE_H

#include "base/config.h"

struct sc_device_share {
    int first, count; /* devices of this rank, count >= 1 */
    int sharers;      /* ranks on a device */
};

static inline struct sc_device_share sc_device_share(const struct sc_config *config, int all)
{
    int64_t ranks = config->ranks > 1 ? config->ranks : 1, rank = config->ranks > 1 ? config->rank : 0;
    struct sc_device_share share = {(int)(rank * all / ranks), 1, 1};

    if (all >= ranks)
        share.count = (int)((rank + 1) * all / ranks) - share.first;
    else /* counts the ranks r with r * all / ranks == first */
        share.sharers = (int)(((share.first + 1) * ranks + all - 1) / all - (share.first * ranks + all - 1) / all);
    return share;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
