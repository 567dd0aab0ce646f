/* Whether a call opens the devices. Thread safe, without locks; racing updates lose some seconds. */
#ifndef SC_AUTOTUNER_OPENING_H
#define SC_AUTOTUNER_OPENING_H

#include "autotuner/autotuner.h"

#define SC_OPENING_SECONDS 0.5

/* Opening takes half a second of one processor, so a call opens the devices when large calls have taken the host 0.5 s
 * before. After 1 s, or for a call of 1 s, the call no longer runs beside an opening. Seconds of calls are measured;
 * calls at the same time, or inside a routine of LAPACK, count once. Short calls count a tenth. */
enum sc_autotuner_opening {
    SC_OPENS_NOT,
    SC_OPENS_SOON, /* in the background; calls run on the host until then */
    SC_OPENS_NOW   /* before this call; the call waits a little for an opening in progress */
};
/* For an offloadable call of the BLAS or LAPACK. The call is announced to host_rates.h. */
enum sc_autotuner_opening sc_autotuner_opens(const struct sc_autotuner_call *call);
/* For a sparse product by loops that takes the host so many seconds. Counts what the program does until the next
 * product, too, up to as long again. */
enum sc_autotuner_opening sc_autotuner_opens_for_sparse(double host_seconds);
double sc_autotuner_spent(void); /* the sum, s */

/* A call has run: the sum before the call, and the call's time. */
void sc_opening_ran(double before, double seconds, bool is_lapack);
void sc_opening_reset(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
