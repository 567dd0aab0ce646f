/* The host's share of a call beside the devices (doc/decision-rules.md). */
#include "autotuner/autotuner.h"
#include "autotuner/explain.h"

#define PAYS 1.05       /* times as long without the host; a smaller gain is noise */
#define LEAST_SHARE 0.01
#define LEAST_SECONDS 1e-3 /* shorter calls end before the host BLAS has woken its threads */
#define LEAST_FLOPS 1e8    /* every device is faster with less work */

/* Seconds of the host without fetches: the host takes part only if all operands are at home. */
static double host_seconds(const struct sc_autotuner_prediction *p) { return p->host - p->fetch; }

/* The devices' kernels shrink with their share, together with the hidden transfers. The other transfers stay, mostly of
 * operands that every column needs. */
void sc_autotuner_together(const struct sc_autotuner_prediction *p, double share, struct sc_autotuner_together *out)
{
    out->share = share;
    out->alone = p->device + p->move - p->overlap;
    out->devices = out->alone - share * (p->device - p->overlap);
    out->host = share * host_seconds(p);
    if (p->kept) /* the host's part of a resident result is uploaded later */
        out->devices += share * p->result;
}

/* The share for which host and devices end at the same time. */
double sc_autotuner_balance(const struct sc_autotuner_prediction *p)
{
    double alone = p->device + p->move - p->overlap, back = p->kept ? p->result : 0;
    double per_share = host_seconds(p) + p->device - p->overlap - back;

    return per_share > alone ? alone / per_share : 0;
}

/* False for several ranks: they share the processors that one process alone has measured. */
static bool by_itself(const struct sc_autotuner_call *call)
{
    return !call->machine.emulated && sc_config.metric == SC_METRIC_PERF && sc_config.ranks < 2 &&
           sc_autotuner_flops(call) >= LEAST_FLOPS;
}

double sc_autotuner_host_share(const struct sc_autotuner_call *call, enum sc_offload mode,
                               const struct sc_autotuner_prediction *p)
{
    struct sc_autotuner_together t;
    bool forced = sc_config.host_share >= 0;

    if (sc_config.host_share == 0 || (!forced && !by_itself(call)))
        return 0;
    if (mode != SC_OFFLOAD_AUTO)
        return forced ? sc_config.host_share / 100.0 : 0;
    sc_autotuner_together(p, forced ? sc_config.host_share / 100.0 : sc_autotuner_balance(p), &t);
    if (!forced && (t.share < LEAST_SHARE || t.alone < LEAST_SECONDS || t.alone < PAYS * t.devices))
        return 0;
    if (__builtin_expect(sc_explain_on, 0))
        sc_explain_together(&t);
    return t.share;
}
/* SPDX-License-Identifier: BSD-2-Clause */
