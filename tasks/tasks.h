/* Tasks of the program (include/semcache/tasks.h): checks of arguments, regions as views, execution. */
#ifndef SC_TASKS_TASKS_H
#define SC_TASKS_TASKS_H

#include <stdbool.h>

#include "semcache/tasks.h"

#include "base/status.h"

/* Checks a task; false: one line is logged. */
bool sc_tasks_valid(const struct semcache_task *task, int devices);
/* Runs a valid task on a device, or on the host if no device takes the task.  Thread safe, without locks. */
enum sc_status sc_tasks_run(const struct semcache_task *task, int *ran);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
