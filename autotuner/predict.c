/* How long a call takes here and there (rule A2).  A roofline with latencies: good to a factor of two, which is what a
 * decision between machines that differ by a factor of ten needs. */
#include "autotuner/autotuner.h"

/* Constants of the rule; measured where a figure is given (doc/decisions.md). */
#define LAUNCH_SECONDS 5e-6       /* enqueue one kernel and its look-ups */
#define REDUCE_SECONDS 20e-6      /* and wait for a scalar */
#define UPLOAD_SECONDS 10e-6      /* first transfer of a call */
#define FAULT_SECONDS 30e-6       /* first touch of a result by the host */
#define PAGEABLE_BANDWIDTH 7.8e9  /* copies of untracked memory, each way */
#define HOST_CALL_SECONDS 1e-6
#define HOST_CORE_FLOPS 14e9      /* double precision; OpenBLAS on many cores */
#define HOST_CORE_BANDWIDTH 8e9
#define HOST_BANDWIDTH_MAX 300e9
#define DEVICE_FLOPS 5e12
#define DEVICE_BANDWIDTH 500e9
#define LINK_BANDWIDTH 12e9

static double known(double rate, double otherwise)
{
    return rate > 0 ? rate : otherwise;
}

static double products(const struct sc_autotuner_call *call)
{
    double m = (double)call->m, n = (double)call->n, k = (double)call->k;

    switch (call->op) {
    case SC_OP_GEMM: return m * n * k;
    case SC_OP_SYMM:
    case SC_OP_HEMM: return m * n * (call->side == 'R' ? n : m);
    case SC_OP_TRMM:
    case SC_OP_TRSM: return m * n * (call->side == 'R' ? n : m) / 2;
    case SC_OP_SYRK:
    case SC_OP_HERK:
    case SC_OP_GEMMT: return n * n * k / 2;
    case SC_OP_SYR2K:
    case SC_OP_HER2K: return n * n * k;
    case SC_OP_GEMV:
    case SC_OP_GER:
    case SC_OP_GERC: return m * n;
    case SC_OP_SYMV:
    case SC_OP_HEMV:
    case SC_OP_SPMV:
    case SC_OP_HPMV:
    case SC_OP_SYR2:
    case SC_OP_HER2:
    case SC_OP_SPR2:
    case SC_OP_HPR2: return n * n;
    case SC_OP_SYR:
    case SC_OP_HER:
    case SC_OP_SPR:
    case SC_OP_HPR:
    case SC_OP_TRMV:
    case SC_OP_TRSV:
    case SC_OP_TPMV:
    case SC_OP_TPSV: return n * n / 2;
    case SC_OP_GBMV:
    case SC_OP_SBMV:
    case SC_OP_HBMV:
    case SC_OP_TBMV:
    case SC_OP_TBSV: return (double)call->bytes / (double)sc_type_bytes(call->type); /* each element once or twice */
    default: return n;
    }
}

double sc_autotuner_flops(const struct sc_autotuner_call *call)
{
    return products(call) * (sc_type_is_complex(call->type) ? 8 : 2);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double host_seconds(const struct sc_autotuner_call *call, double flops, double link)
{
    int cores = call->machine.cores > 0 ? call->machine.cores : 1;
    double bandwidth = cores * HOST_CORE_BANDWIDTH, seconds;

    if (bandwidth > HOST_BANDWIDTH_MAX)
        bandwidth = HOST_BANDWIDTH_MAX;
    seconds = HOST_CALL_SECONDS + larger(flops / (cores * HOST_CORE_FLOPS), (double)call->bytes / bandwidth);
    if (call->device_only)
        seconds += FAULT_SECONDS + (double)call->device_only / link;
    return seconds;
}

void sc_autotuner_predict(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out)
{
    const struct sc_autotuner_machine *machine = &call->machine;
    double link = known(machine->host_bandwidth, LINK_BANDWIDTH);
    double flops = sc_autotuner_flops(call), missing;
    int devices = sc_autotuner_spread(call->bytes, machine->devices, SC_OFFLOAD_AUTO);

    if (call->type == SC_S || call->type == SC_C)
        flops /= 2; /* single precision: twice the rate, here and there */
    out->host = host_seconds(call, flops, link);
    out->device = LAUNCH_SECONDS + larger(flops / (devices * known(machine->gemm_flops, DEVICE_FLOPS)),
                                          (double)call->bytes /
                                              (devices * known(machine->memory_bandwidth, DEVICE_BANDWIDTH)));
    if (sc_op_is_reduction(call->op))
        out->device += REDUCE_SECONDS;
    out->device += 2 * (double)call->untracked / PAGEABLE_BANDWIDTH; /* never stays there: paid in every call */
    missing = (double)call->bytes - (double)call->device_bytes - (double)call->untracked;
    out->move = missing > 0 ? UPLOAD_SECONDS + missing / link : 0;
    /* Results that the host does not hold now are not expected to be wanted there after this call either. */
    out->result = call->result_bytes && !call->device_only ? FAULT_SECONDS + (double)call->result_bytes / link : 0;
}
