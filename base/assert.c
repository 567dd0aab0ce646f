#include "base/assert.h"

#include "base/locks.h"
#include "base/log.h"

#if defined SC_ASSERTIONS && !defined NDEBUG
void sc_assert_failed(const char *condition, const char *function, const char *file, int line)
{
    sc_locks_held = 0; /* the log takes its locks in any order */
    sc_log(SC_LOG_ERROR, "assertion failed: %s in %s (%s:%d): please report it", condition, function, file, line);
    __builtin_trap();
}
#endif
/* SPDX-License-Identifier: BSD-2-Clause */
