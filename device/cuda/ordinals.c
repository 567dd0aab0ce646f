/* The list of devices in SEMCACHE_DEVICE=cuda:0,1,... */
#include "device/cuda/ordinals.h"

#include <stdlib.h>

static enum sc_status select_first(const struct sc_device_host *host, int present, int *ordinals, int *count)
{
    while (*count < present && *count < SC_DEVICES_MAX)
        ordinals[*count] = *count, ++*count;
    if (present > SC_DEVICES_MAX)
        host->log(SC_LOG_WARN, "of %d CUDA devices the first %d are used, which is the most "
                  "(SEMCACHE_DEVICE=cuda:0,1,... chooses others)", present, SC_DEVICES_MAX);
    return SC_OK;
}

enum sc_status sc_cuda_ordinals(const struct sc_device_host *host, const char *list, int present, int *ordinals,
                                int *count)
{
    const char *at = list;
    char *end;

    *count = 0;
    if (!*list)
        return select_first(host, present, ordinals, count);
    for (;; at = end + 1) {
        long n = strtol(at, &end, 10);
        bool bad = end == at || n < 0 || n >= present || (*end && *end != ',');

        for (int i = 0; i < *count; i++)
            bad |= ordinals[i] == n;
        if (bad) {
            host->log(SC_LOG_ERROR, "device list cuda:%s: wants different numbers from 0 to %d, with commas "
                      "(nvidia-smi -L lists the devices)", list, present - 1);
            return SC_ERR_INVALID;
        }
        if (*count == SC_DEVICES_MAX) {
            host->log(SC_LOG_ERROR, "device list cuda:%s: at most %d devices", list, SC_DEVICES_MAX);
            return SC_ERR_INVALID;
        }
        ordinals[(*count)++] = (int)n;
        if (!*end)
            return SC_OK;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
