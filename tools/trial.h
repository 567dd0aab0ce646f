/* Calls made through the library, predicted and timed: on the devices, and on the host. */
#ifndef SC_TOOLS_TRIAL_H
#define SC_TOOLS_TRIAL_H

#include "autotuner/autotuner.h"
#include "device/device.h"

/* Where operands are before the call. */
enum sc_trial_there {
    SC_TRIAL_NOWHERE, /* the CPU has written all of them */
    SC_TRIAL_LARGEST, /* the largest one is on the devices, the CPU has written the others */
    SC_TRIAL_ALL      /* from a call before */
};

struct sc_trial {
    enum sc_op op; /* gemm, symm, syrk, trmm, trsm, gemv, ger, symv, trsv, or of level 1 with one or two vectors */
    enum sc_type type;
    int64_t m, n, k; /* as in struct sc_kernel */
    enum sc_trial_there there;
    double host_limit; /* s: the host is not timed if that is predicted to take longer */
    /* Filled in: */
    struct sc_autotuner_call call; /* as the prediction was made of it */
    struct sc_autotuner_prediction predicted;
    /* s: until the result is on the devices; then to the host; on the host.  0: not timed. */
    double device, result, host;
};

/* The library in this process, on devices that are open.  False, after a line: it cannot be had. */
bool sc_trial_start(const struct sc_device_ops *ops, int devices);
void sc_trial_stop(void); /* and closes the devices */
/* Bytes of the operands; 0: no such routine here. */
uint64_t sc_trial_bytes(const struct sc_trial *trial);
/* False: it could not be done. */
bool sc_trial_run(struct sc_trial *trial);

#endif
