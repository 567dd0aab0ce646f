/* Tasks of the program (include/semcache/tasks.h): checks of arguments, regions as views, execution. */
#ifndef SC_TASKS_TASKS_H
#define SC_TASKS_TASKS_H

#include <stdbool.h>

#include "semcache/tasks.h"

#include "base/status.h"

struct sc_view;

/* --- regions and decompositions: the functions of tasks.h after the checks ---------------------------------------- */

/* Checks a region; false: one line is logged, with `what` as the name of the region; NULL: no line. */
bool sc_region_valid(const struct semcache_region *region, const char *what);
bool sc_decomposition_valid(const struct semcache_decomposition *decomposition, const struct semcache_region *whole);
int64_t sc_decomposition_count(const struct semcache_decomposition *decomposition,
                               const struct semcache_region *whole);
/* devices: 0 without devices. */
void sc_decomposition_part(const struct semcache_decomposition *decomposition, const struct semcache_region *whole,
                           int64_t p, int64_t halo, int devices, struct semcache_region *part, int *device);
enum sc_status sc_tasks_prefetch(const struct semcache_region *region, int place);
/* The same for a view that is not empty; SEMCACHE_HOST is no device. */
enum sc_status sc_tasks_prefetch_view(const struct sc_view *view, int device);
enum sc_status sc_tasks_advise(const struct semcache_region *region, enum semcache_advice advice);
void sc_tasks_wait(const struct semcache_region *region);
enum sc_status sc_tasks_resident(const struct semcache_region *region, int place, uint64_t *bytes);
enum sc_status sc_tasks_distribute(const struct semcache_decomposition *decomposition,
                                   const struct semcache_region *whole);

/* --- tokens ------------------------------------------------------------------------------------------------------- */

/* Checks operands of `function`; false: one line is logged. */
bool sc_operands_valid(const struct semcache_operand *operands, int count, const char *function);
enum sc_status sc_token_acquire(const struct semcache_operand *operands, int count, int device,
                                struct semcache_token *token);
/* Writes back if `write`, and ends the token.  SC_ERR_INVALID: *why has the reason. */
enum sc_status sc_token_release(struct semcache_token *token, bool write, const char **why);
int sc_tokens_held(void);

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* Checks a task; false: one line is logged. */
bool sc_tasks_valid(const struct semcache_task *task, int devices);
/* Runs a valid task on a device, or on the host if no device takes the task.  Thread safe, without locks. */
enum sc_status sc_tasks_run(const struct semcache_task *task, int *ran);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
