/* Whether a call opens the devices: ski rental between the host and a driver's start. */
#include "autotuner/opening.h"

#include <string.h>

#include "autotuner/explain.h"
#include "autotuner/host_rates.h"

static double smaller(double a, double b) { return a < b ? a : b; }

/* A call after SC_OPENING_SECONDS of large calls opens the devices beside it, for the calls to come; an opening takes
 * as long. The call itself does not count: it could be the last one, and then the end would wait for the opening. On an
 * H200 with 16 processors GMRES with a basis of 2 GB took 1.34 s with a limit of 0.5 s, 1.63 with 0.7, 1.66 with 1, and
 * 1.44 alone; SciPy's expm of order 3000 took 1.37 and 1.57 s with 0.5, 1.68 and 1.91 with 0.7, 1.38 and 1.77 with 1,
 * and 1.62 alone. */

/* A host BLAS with a thread on each processor delays an opening beside it. With 32 processors and two GPUs openings of
 * 2 to 8 s were measured, which then ended within 0.2 s of a wait. */
#define LATE_SECONDS 1.0
/* A call of this length waits for the opening, whatever came before. */
#define LONG_SECONDS 1.0
/* A device takes as long for a shorter call on operands of the host, and for a shorter routine of LAPACK on any. A
 * program of such calls gains by devices only if its operands stay there. The tenth is an allowance for this case: the
 * opening then costs less than a tenth of what the program has taken. (NumPy's products, solves and factorisations of
 * order 40 to 200 took 1.1 s alone, and 1.4 to 1.8 s with an opening that was of no use.) */
#define SHORT_CALL   200e-6
#define SHORT_LAPACK 2e-3
#define SHORT_COUNTS 0.1

static double spent_; /* seconds of the host in large calls */

double sc_autotuner_spent(void)
{
    double spent;

    __atomic_load(&spent_, &spent, __ATOMIC_RELAXED);
    return spent;
}

static void spent_at_least(double sum)
{
    if (sum > sc_autotuner_spent())
        __atomic_store(&spent_, &sum, __ATOMIC_RELAXED);
}

static enum sc_autotuner_opening opens(double host_seconds)
{
    double spent = sc_autotuner_spent();

    if (sc_config.offload == SC_OFFLOAD_ALWAYS || sc_config.open == SC_OPEN_FIRST)
        return SC_OPENS_NOW;
    if (sc_config.open == SC_OPEN_BACKGROUND)
        return SC_OPENS_SOON;
    if (sc_config.device && strncmp(sc_config.device, "emu", 3) == 0) /* emulated devices open at once */
        return SC_OPENS_NOW;
    if (host_seconds >= LONG_SECONDS || spent >= LATE_SECONDS)
        return SC_OPENS_NOW;
    return spent < SC_OPENING_SECONDS ? SC_OPENS_NOT : SC_OPENS_SOON;
}

enum sc_autotuner_opening sc_autotuner_opens(const struct sc_autotuner_call *call)
{
    return opens(sc_host_rates_count(call, sc_autotuner_estimate(call)));
}

/* Loops on vectors surround a library's sparse products, and are offered to open devices only. So a product counts as
 * long as the program took until the next product, at most ROUND times the prediction. (An iteration of SciPy's cg took
 * 200 ms, its product was predicted to take 104 ms.) */
#define ROUND 2
static double begun_, predicted_, counted_; /* of the last product: by the clock; the prediction; spent_ before it */

enum sc_autotuner_opening sc_autotuner_opens_for_sparse(double host_seconds)
{
    double now = sc_explain_clock(-1), begun, predicted, counted;

    __atomic_load(&begun_, &begun, __ATOMIC_RELAXED);
    __atomic_load(&predicted_, &predicted, __ATOMIC_RELAXED);
    __atomic_load(&counted_, &counted, __ATOMIC_RELAXED);
    spent_at_least(counted + smaller(now - begun, ROUND * predicted));
    counted = sc_autotuner_spent();
    __atomic_store(&begun_, &now, __ATOMIC_RELAXED);
    __atomic_store(&predicted_, &host_seconds, __ATOMIC_RELAXED);
    __atomic_store(&counted_, &counted, __ATOMIC_RELAXED);
    return opens(host_seconds);
}

void sc_opening_ran(double before, double seconds, bool is_lapack)
{
    spent_at_least(before + (seconds < (is_lapack ? SHORT_LAPACK : SHORT_CALL) ? SHORT_COUNTS * seconds : seconds));
}

void sc_opening_reset(void) { spent_ = predicted_ = counted_ = 0; }
/* SPDX-License-Identifier: BSD-2-Clause */
