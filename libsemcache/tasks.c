/* The public interface for tasks (include/semcache/tasks.h; rule L9 of README.md). */
#include <config.h>

#include <stdbool.h>

#include "semcache/tasks.h"

#include "base/log.h"
#include "libsemcache/library.h"
#include "libsemcache/public.h"
#include "tasks/tasks.h"
#include "trace/trace.h"

void semcache_region_1d(struct semcache_region *region, void *memory, enum semcache_type type, int64_t n)
{
    *region = (struct semcache_region){sizeof *region, memory, type, n, 1, 1, n, n, NULL, 0};
}

void semcache_region_2d(struct semcache_region *region, void *memory, enum semcache_type type, int64_t rows,
                        int64_t cols, int64_t ld)
{
    *region = (struct semcache_region){sizeof *region, memory, type, rows, cols, 1, ld, 0, NULL, 0};
}

void semcache_region_3d(struct semcache_region *region, void *memory, enum semcache_type type, int64_t rows,
                        int64_t cols, int64_t planes, int64_t ld, int64_t plane)
{
    *region = (struct semcache_region){sizeof *region, memory, type, rows, cols, planes, ld, plane, NULL, 0};
}

void semcache_region_ranges(struct semcache_region *region, void *memory, enum semcache_type type,
                            const struct semcache_range *ranges, int64_t count)
{
    *region = (struct semcache_region){.size = sizeof *region, .memory = memory, .type = type, .ranges = ranges,
                                       .range_count = count};
}

/* One line on the argument that is wrong. */
static enum semcache_status refuse(const char *function, const char *why, int64_t is)
{
    sc_log(SC_LOG_ERROR, "%s: %s (%lld)", function, why, (long long)is);
    return SEMCACHE_ERROR_INVALID;
}

/* --- movement ----------------------------------------------------------------------------------------------------- */

/* Whether the place exists; *without: the place needs devices, and there are none. */
static bool is_place(int place, int least, bool *without)
{
    int devices = semcache_device_count();

    *without = place != SEMCACHE_HOST && !devices;
    return place == SEMCACHE_HOST || (place >= least && (*without || place < devices));
}

enum semcache_status semcache_region_prefetch(const struct semcache_region *region, int place)
{
    bool without;

    if (place != SEMCACHE_HOST)
        semcache_init();
    if (!is_place(place, SEMCACHE_ANY_DEVICE, &without))
        return refuse("semcache_region_prefetch", "there is no such place", place);
    if (!sc_region_valid(region, "semcache_region_prefetch: region"))
        return SEMCACHE_ERROR_INVALID;
    return without ? SEMCACHE_ERROR_NO_DEVICE : sc_public_status(sc_tasks_prefetch(region, place));
}

enum semcache_status semcache_advise(const struct semcache_region *region, enum semcache_advice advice)
{
    semcache_init();
    if (advice < SEMCACHE_NORMAL || advice > SEMCACHE_DROP)
        return refuse("semcache_advise", "the advice is unknown", advice);
    if (!sc_region_valid(region, "semcache_advise: region"))
        return SEMCACHE_ERROR_INVALID;
    return semcache_device_count() ? sc_public_status(sc_tasks_advise(region, advice)) : SEMCACHE_ERROR_NO_DEVICE;
}

enum semcache_status semcache_region_wait(const struct semcache_region *region)
{
    if (!sc_region_valid(region, "semcache_region_wait: region"))
        return SEMCACHE_ERROR_INVALID;
    sc_tasks_wait(region);
    return SEMCACHE_OK;
}

enum semcache_status semcache_region_resident(const struct semcache_region *region, int place, uint64_t *bytes)
{
    bool without;

    if (!bytes || !is_place(place, 0, &without) || without)
        return refuse("semcache_region_resident", bytes ? "there is no such place" : "`bytes` is NULL", place);
    if (!sc_region_valid(region, "semcache_region_resident: region"))
        return SEMCACHE_ERROR_INVALID;
    return sc_public_status(sc_tasks_resident(region, place, bytes));
}

/* --- decompositions ----------------------------------------------------------------------------------------------- */

int64_t semcache_part_count(const struct semcache_decomposition *decomposition, const struct semcache_region *whole)
{
    return sc_decomposition_valid(decomposition, whole) ? sc_decomposition_count(decomposition, whole) : 0;
}

enum semcache_status semcache_part(const struct semcache_decomposition *decomposition,
                                   const struct semcache_region *whole, int64_t p, int64_t halo,
                                   struct semcache_region *part, int *device)
{
    int place;

    if (!sc_decomposition_valid(decomposition, whole))
        return SEMCACHE_ERROR_INVALID;
    if (p < 0 || p >= sc_decomposition_count(decomposition, whole))
        return refuse("semcache_part", "there is no such part", p);
    if (halo < 0 || (halo && decomposition->cut == SEMCACHE_OTHER))
        return refuse("semcache_part", "the halo is negative, or the cut takes none", halo);
    if (!part)
        return refuse("semcache_part", "`part` is NULL", p);
    sc_decomposition_part(decomposition, whole, p, halo, semcache_device_count(), part, &place);
    if (device)
        *device = place;
    return SEMCACHE_OK;
}

enum semcache_status semcache_distribute(const struct semcache_decomposition *decomposition,
                                         const struct semcache_region *whole)
{
    semcache_init();
    if (!sc_decomposition_valid(decomposition, whole))
        return SEMCACHE_ERROR_INVALID;
    return semcache_device_count() ? sc_public_status(sc_tasks_distribute(decomposition, whole)) :
                                     SEMCACHE_ERROR_NO_DEVICE;
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

/* A call of the thread's routine has run at a place. */
static void count(int place)
{
    sc_count(&(place == SEMCACHE_HOST ? sc_stats.host : sc_stats.offloaded)[sc_trace_routine], 1);
    sc_trace_routine = 0;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

enum semcache_status semcache_run(const struct semcache_task *task, int *ran)
{
    int place;
    enum sc_status status;

    if (task && task->device != SEMCACHE_HOST)
        semcache_init(); /* without devices the task runs on the host */
    if (!sc_tasks_valid(task, semcache_device_count()))
        return SEMCACHE_ERROR_INVALID;
    sc_trace_routine = (uint16_t)sc_trace_task(task->name);
    status = sc_tasks_run(task, &place);
    count(place);
    if (ran)
        *ran = place;
    return status == SC_ERR_UNSUPPORTED ? SEMCACHE_ERROR_NO_DEVICE : sc_public_status(status);
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

enum semcache_status semcache_token_acquire(const struct semcache_operand *operands, int number, int device,
                                            struct semcache_token *token)
{
    static const char name[] = "semcache_token_acquire";
    enum sc_status status;
    int devices;

    if (!token || token->size != sizeof *token)
        return refuse(name, "`size` is not that of struct semcache_token", token ? (int64_t)token->size : 0);
    token->id = 0;
    if (device != SEMCACHE_HOST)
        semcache_init();
    devices = semcache_device_count();
    if (device < SEMCACHE_HOST || (devices && device >= devices))
        return refuse(name, "there is no such device", device);
    if (!sc_operands_valid(operands, number, name))
        return SEMCACHE_ERROR_INVALID;
    sc_trace_routine = SC_TRACE_TOKEN;
    status = sc_token_acquire(operands, number, device, token);
    count(status == SC_OK ? token->place.device : SEMCACHE_HOST);
    return sc_public_status(status);
}

static enum semcache_status end_token(struct semcache_token *token, bool write, const char *name)
{
    enum sc_status status;
    const char *why;

    if (!token || token->size != sizeof *token)
        return refuse(name, "`size` is not that of struct semcache_token", token ? (int64_t)token->size : 0);
    sc_trace_routine = SC_TRACE_TOKEN;
    status = sc_token_release(token, write, &why);
    sc_trace_routine = 0;
    return status == SC_ERR_INVALID ? refuse(name, why, (int64_t)token->id) : sc_public_status(status);
}

enum semcache_status semcache_token_release(struct semcache_token *token)
{
    return end_token(token, true, "semcache_token_release");
}

enum semcache_status semcache_token_cancel(struct semcache_token *token)
{
    return end_token(token, false, "semcache_token_cancel");
}
/* SPDX-License-Identifier: BSD-2-Clause */
