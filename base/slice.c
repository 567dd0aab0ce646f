#include "base/slice.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>

#include "base/system_call.h"

#define SHORTEST_NS 100000

void sc_slice_shorten(void)
{
    struct sched_attr attr = {.size = SCHED_ATTR_SIZE_VER0};
    int saved = errno;

    if (sc_system_call(SYS_sched_getattr, 0, (long)&attr, SCHED_ATTR_SIZE_VER0, 0, 0) == 0 &&
        (attr.sched_policy == SCHED_NORMAL || attr.sched_policy == SCHED_BATCH)) {
        attr.sched_runtime = SHORTEST_NS;
        attr.sched_flags |= SCHED_FLAG_RESET_ON_FORK; /* a driver may start threads in this one */
        sc_system_call(SYS_sched_setattr, 0, (long)&attr, 0, 0, 0);
    }
    errno = saved;
}
/* SPDX-License-Identifier: BSD-2-Clause */
