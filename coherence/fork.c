/* fork: the child has the memory and no devices, so all data is brought home before. */
#include "coherence/mirror.h"
#include "coherence/protocol.h"

static bool all_open(void)
{
    for (size_t i = 0; i < sc_directory_count(); i++) {
        const struct sc_matrix *m = sc_directory_at(i);
        uintptr_t lo, hi;

        for (int g = 0; g < sc_matrix_sectors(m); g++)
            if (sc_matrix_sector_range(m, g, &lo, &hi) && !m->open[g])
                return false;
    }
    return true;
}

/* Kernels whose results were not needed at home may still run; their threads or devices may not survive a fork. */
static void wait_for_kernels(void)
{
    for (int d = 0; sc_protocol.ops && d < sc_protocol.devices; d++) {
        struct sc_fence last;

        if (!sc_protocol.failed[d] && sc_mark(d, SC_STREAM_COMPUTE, &last) == SC_OK)
            sc_sync(last);
    }
}

/* The lock is held until the fork is over: a call of another thread would close pages that the child could not
 * open.  New calls wait until all data is home: threads that offload in a loop would delay the fork for ever. */
void sc_coherence_fork_prepare(void)
{
    sc_lent_lock();
    sc_protocol_hold_calls();
    while (sc_protocol.ops && !all_open()) {
        sc_protocol_unlock();
        sc_coherence_home_all();
        sc_lent_lock();
    }
    wait_for_kernels();
    sc_protocol_resume_calls(); /* they wait for the lock */
}

void sc_coherence_fork_parent(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_protocol_unlock();
}

void sc_coherence_fork_child(void)
{
    sc_protocol.check = sc_protocol.notes = false; /* asks nothing of the devices */
    sc_protocol.ops = NULL;
    sc_protocol.devices = 0; /* no device holds or reads data */
    sc_levels = (struct sc_levels){.devices = 0};
    for (size_t i = 0; i < sc_directory_count(); i++) {
        struct sc_matrix *m = sc_directory_at(i);

        for (int g = 0; g < sc_matrix_sectors(m); g++)
            sc_protocol_host_writes(m, g);
        sc_protocol_paint(m->base, sc_matrix_end(m));
    }
    sc_protocol_mend();
    sc_lease_stop();
    sc_protocol_lock_reset(); /* other threads stayed behind */
    sc_completion_reset();
    sc_lent_reset();
    sc_untracked_fork_child();
    sc_inside_leave();
    sc_quiet_leave();
}
/* SPDX-License-Identifier: BSD-2-Clause */
