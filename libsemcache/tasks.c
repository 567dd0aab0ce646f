/* The public interface for tasks (include/semcache/tasks.h; rule L9 of README.md). */
#include <config.h>

#include "semcache/tasks.h"

#include "libsemcache/library.h"
#include "libsemcache/public.h"
#include "tasks/tasks.h"

void semcache_region_1d(struct semcache_region *region, void *memory, enum semcache_type type, int64_t n)
{
    *region = (struct semcache_region){sizeof *region, memory, type, n, 1, 1, n, n};
}

void semcache_region_2d(struct semcache_region *region, void *memory, enum semcache_type type, int64_t rows,
                        int64_t cols, int64_t ld)
{
    *region = (struct semcache_region){sizeof *region, memory, type, rows, cols, 1, ld, 0};
}

void semcache_region_3d(struct semcache_region *region, void *memory, enum semcache_type type, int64_t rows,
                        int64_t cols, int64_t planes, int64_t ld, int64_t plane)
{
    *region = (struct semcache_region){sizeof *region, memory, type, rows, cols, planes, ld, plane};
}

enum semcache_status semcache_run(const struct semcache_task *task, int *ran)
{
    int place;
    enum sc_status status;

    if (task && task->device != SEMCACHE_HOST)
        semcache_init(); /* without devices the task runs on the host */
    if (!sc_tasks_valid(task, semcache_device_count()))
        return SEMCACHE_ERROR_INVALID;
    status = sc_tasks_run(task, &place);
    if (ran)
        *ran = place;
    return status == SC_ERR_UNSUPPORTED ? SEMCACHE_ERROR_NO_DEVICE : sc_public_status(status);
}
/* SPDX-License-Identifier: BSD-2-Clause */
