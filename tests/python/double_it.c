/* A function of a task, for Python programs that bring compiled functions. */
#include "semcache/tasks.h"

void double_it(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments);

/* Multiplies by the argument. */
void double_it(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments)
{
    double *x = views[0].memory;

    for (int64_t i = 0; i < views[0].rows; i++)
        x[i] *= *(const double *)arguments;
    (void)place, (void)count;
}
/* SPDX-License-Identifier: BSD-2-Clause */
