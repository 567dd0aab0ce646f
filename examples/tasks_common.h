/* Shared by the examples of tasks: the choice of kernels, and what a loop moves. */
#ifndef TASKS_COMMON_H
#define TASKS_COMMON_H

#include <stdio.h>

#include "semcache/tasks.h"

/* Runs a task by name: `kernel` on GPUs, `host` elsewhere; returns whether the task was accepted. */
static inline int tasks_run(const char *name, semcache_function *kernel, semcache_function *host, int device,
                            const struct semcache_operand *operands, int count, const void *arguments, size_t bytes)
{
    struct semcache_task task = {0};

    task.size = sizeof task;
    task.name = name;
    task.kernel = kernel;
    task.host = host;
    task.operands = operands;
    task.count = count;
    task.arguments = arguments;
    task.bytes = bytes;
    task.device = device;
    return semcache_run(&task, NULL) == SEMCACHE_OK;
}

static inline struct semcache_statistics tasks_moved(void)
{
    struct semcache_statistics now = {0};

    now.size = sizeof now;
    semcache_statistics(&now);
    return now;
}

static inline void tasks_print_moved(const char *what, const struct semcache_statistics *since)
{
    struct semcache_statistics now = tasks_moved();

    printf("moved by %s: to devices %llu, to the host %llu, between devices %llu bytes\n", what,
           (unsigned long long)(now.bytes_h2d - since->bytes_h2d),
           (unsigned long long)(now.bytes_d2h - since->bytes_d2h),
           (unsigned long long)(now.bytes_d2d - since->bytes_d2d));
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
