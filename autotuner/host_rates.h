/* The measured time of calls on the host relative to their predictions. The program's threads, other processes and the
 * BLAS in use change the host's rate. Thread safe, without locks; racing updates lose a value. */
#ifndef SC_AUTOTUNER_HOST_RATES_H
#define SC_AUTOTUNER_HOST_RATES_H

#include "autotuner/autotuner.h"

/* The mean for calls of this level, type and size. NULL: no mean. The clock is emulated and does not count the host's
 * work; or the program has a loop of its own; or a vector of level 1 has a stride of a cache line or more; or the
 * vectors of a call of level 1 are unknown. Copies between rows and columns take many times as long as
 * other calls of level 1. */
struct sc_host_mean *sc_host_rates_of(const struct sc_autotuner_call *call);

/* Announces the next call of this thread on the host with its prediction (without the factor); 0: the call does not run
 * on the host. */
void sc_host_rates_expect(struct sc_host_mean *mean, double predicted);

/* Announces a call in the same way before the devices are open. Returns the prediction times a factor: the call's own
 * factor, otherwise the rate of all earlier calls of level 3 and of LAPACK, if they were faster than predicted. After
 * the call sc_opening_ran gets the measured time. */
double sc_host_rates_count(const struct sc_autotuner_call *call, double predicted);

/* A call that is being measured. */
struct sc_host_timing {
    struct sc_host_mean *mean;
    double predicted; /* s; 0: not measured */
    bool counts, is_arithmetic, is_lapack;
    double spent; /* sc_autotuner_spent before the call */
    double begun;
};

/* Around the announced call. Without an announcement the cost is a test. */
extern __thread bool sc_host_rates_expected __attribute__((tls_model("initial-exec")));
void sc_host_rates_start(void);
void sc_host_rates_learn(void);
/* Forgets an announcement: the call does not run on the host. */
static inline void sc_host_rates_cancel(void) { sc_host_rates_expected = false; }
static inline void sc_host_rates_begin(void)
{
    if (__builtin_expect(sc_host_rates_expected, 0))
        sc_host_rates_start();
}
static inline void sc_host_rates_end(void)
{
    if (__builtin_expect(sc_host_rates_expected, 0))
        sc_host_rates_learn();
}
/* Around an announced routine whose calls of the BLAS are announced, too. */
void sc_host_rates_begin_outer(struct sc_host_timing *timing);
void sc_host_rates_end_outer(const struct sc_host_timing *timing);

/* Measured seconds per predicted second; 1: unknown. */
double sc_host_rates_factor(const struct sc_host_mean *mean);

void sc_host_rates_reset(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
