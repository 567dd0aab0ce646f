/* Calls made through the library, predicted and timed: on the devices, and on the host. */
#ifndef SC_TOOLS_TRIAL_H
#define SC_TOOLS_TRIAL_H

#include "autotuner/autotuner.h"
#include "device/device.h"

/* Places of the operands before the call. */
enum sc_trial_there {
    SC_TRIAL_NOWHERE, /* the CPU has written all operands */
    SC_TRIAL_LARGEST, /* the largest operand is resident, the CPU has written the remaining operands */
    SC_TRIAL_ALL      /* resident from an earlier call */
};

struct sc_trial {
    enum sc_op op; /* gemm, symm, syrk, trmm, trsm, gemv, ger, symv, trsv, or of level 1 with one or two vectors */
    enum sc_type type;
    int64_t m, n, k; /* as in struct sc_kernel */
    enum sc_trial_there there;
    double host_limit; /* s: the host is not timed if its predicted time is longer */
    /* Filled in: */
    struct sc_autotuner_call call; /* the question of the prediction */
    struct sc_autotuner_prediction predicted;
    /* s: until the result is on the devices; its fetch; the call on the host. 0: not timed. */
    double device, result, host;
};

/* Starts the library in this process on open devices. Returns false after a line. */
bool sc_trial_start(const struct sc_device_ops *ops, int devices);
void sc_trial_stop(void); /* also closes the devices */
/* Bytes of the operands; 0: no such routine. */
uint64_t sc_trial_bytes(const struct sc_trial *trial);
/* Returns false on failure. */
bool sc_trial_run(struct sc_trial *trial);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
