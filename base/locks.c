#include "base/locks.h"

#include "base/config.h"
#include "base/log.h"

struct timespec sc_lock_deadline(double seconds)
{
    struct timespec until;
    int64_t ns;

    clock_gettime(CLOCK_REALTIME, &until);
    ns = until.tv_nsec + (int64_t)(seconds * 1e9);
    return (struct timespec){until.tv_sec + ns / 1000000000, ns % 1000000000};
}

#ifndef NDEBUG
bool sc_locks_trap;
__thread uint32_t sc_locks_held __attribute__((tls_model("initial-exec")));

void sc_locks_wrong(const char *what, int rank)
{
    uint32_t held = sc_locks_held;

    sc_locks_held = 0; /* allows the log its own locks */
    sc_log_once(SC_LOG_ERROR, "%s (%d) by a thread that has the locks %#x: please report it", what, rank, held);
    if (sc_locks_trap || sc_config.check)
        __builtin_trap();
    sc_locks_held = held;
}
#endif
/* SPDX-License-Identifier: BSD-2-Clause */
