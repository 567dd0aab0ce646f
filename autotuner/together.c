/* How much of a call the host does beside the devices (doc/decision-rules.md). */
#include "autotuner/autotuner.h"
#include "autotuner/explain.h"

#define PAYS 1.05       /* times as long without the host: less is in the noise */
#define LEAST_SHARE 0.01
#define LEAST_SECONDS 1e-3 /* shorter calls are over before the host BLAS has its threads awake */
#define LEAST_FLOPS 1e8    /* no device takes so long for less: not looked at */

/* Without what the host would have to fetch: it takes part only where it has everything. */
static double host_seconds(const struct sc_autotuner_prediction *p) { return p->host - p->fetch; }

/* Of the devices' time the kernels shrink with their share, and what is hidden behind them; operands still have to
 * come, of which most is what all columns need. */
void sc_autotuner_together(const struct sc_autotuner_prediction *p, double share, struct sc_autotuner_together *out)
{
    out->share = share;
    out->alone = p->device + p->move - p->overlap;
    out->devices = out->alone - share * (p->device - p->overlap);
    out->host = share * host_seconds(p);
    if (p->kept) /* the host's part of a result that lives on the devices will have to go there */
        out->devices += share * p->result;
}

/* Both are done at the same time. */
double sc_autotuner_balance(const struct sc_autotuner_prediction *p)
{
    double alone = p->device + p->move - p->overlap, back = p->kept ? p->result : 0;
    double per_share = host_seconds(p) + p->device - p->overlap - back;

    return per_share > alone ? alone / per_share : 0;
}

/* Ranks of one machine share its cores, which were measured by one process alone. */
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
