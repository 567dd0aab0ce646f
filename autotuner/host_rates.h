/* What the host really takes for the calls that run there, beside what was predicted: the program's own threads, other
 * processes and the BLAS in use make it faster or slower than constants and measurements of the machine say.  Thread
 * safe, no locks; racing updates lose a value. */
#ifndef SC_AUTOTUNER_HOST_RATES_H
#define SC_AUTOTUNER_HOST_RATES_H

#include "autotuner/autotuner.h"

/* The call that this thread makes on the host next was predicted to take so long, without what is learned here; 0: it
 * is not made there. */
void sc_host_rates_expect(const struct sc_autotuner_call *call, double predicted);

/* Around that call.  What nothing was predicted of costs a test. */
extern __thread bool sc_host_rates_expected __attribute__((tls_model("initial-exec")));
void sc_host_rates_start(void);
void sc_host_rates_learn(void);
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

/* Seconds that were measured for each that was predicted, for calls of this level, type and size; 1: not known. */
double sc_host_rates_factor(const struct sc_autotuner_call *call);

void sc_host_rates_reset(void);

#endif
