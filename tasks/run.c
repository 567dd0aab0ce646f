/* Execution of tasks: on a device, with copies of the regions that lie in several tiles; or on the host. */
#include "tasks/tasks_int.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/inside.h"
#include "base/quiet.h"
#include "coherence/access.h"
#include "coherence/view.h"

/* --- checks ------------------------------------------------------------------------------------------------------- */

static bool refuse(const char *function, const char *why, int is, int limit)
{
    sc_log(SC_LOG_ERROR, "%s: %s (%d, %d)", function, why, is, limit);
    return false;
}

bool sc_region_is_freed(const struct semcache_region *region)
{
    for (int64_t i = 0; i < sc_region_boxes(region); i++) {
        struct semcache_region box = sc_region_box(region, i);
        struct sc_view view;
        uintptr_t lo, hi;

        if (sc_region_empty(&box))
            continue;
        view = sc_region_view(&box, SEMCACHE_READ);
        sc_view_extent(&view, &lo, &hi);
        if (sc_coherence_is_freed(view.ptr, hi - lo))
            return true;
    }
    return false;
}

/* The name of an operand costs more than its checks: only a line needs the name. */
static bool region_valid(const struct semcache_region *region, const char *function, int operand)
{
    char what[64];

    if (sc_region_valid(region, NULL))
        return true;
    snprintf(what, sizeof what, "%s: region of operand %d", function, operand);
    return sc_region_valid(region, what);
}

bool sc_operands_valid(const struct semcache_operand *operands, int count, const char *function)
{
    if (count < 1 || count > SEMCACHE_OPERANDS_MAX || !operands)
        return refuse(function, "the number of operands is out of range (count, limit)", count,
                      SEMCACHE_OPERANDS_MAX);
    for (int i = 0; i < count; i++) {
        if (!region_valid(operands[i].region, function, i))
            return false;
        if (sc_config.check && sc_region_is_freed(operands[i].region))
            return refuse(function, "the region of an operand lies in freed memory (operand, operands)", i, count);
        if (operands[i].mode < SEMCACHE_READ || operands[i].mode > SEMCACHE_READWRITE)
            return refuse(function, "an operand has an unknown mode (operand, mode)", i, (int)operands[i].mode);
        if (operands[i].mode & SEMCACHE_WRITE && sc_region_repeats(operands[i].region))
            return refuse(function, "ranges of a written region overlap (operand, operands)", i, count);
        for (int k = 0; k < i; k++)
            if ((operands[i].mode | operands[k].mode) & SEMCACHE_WRITE && !sc_region_empty(operands[i].region) &&
                !sc_region_empty(operands[k].region) && sc_regions_overlap(&operands[k], &operands[i]))
                return refuse(function, "two operands overlap, and one of them is written (operands)", k, i);
    }
    return true;
}

bool sc_tasks_valid(const struct semcache_task *task, int devices)
{
    static const char name[] = "semcache_run";

    if (!task || task->size != sizeof *task)
        return refuse(name, "`size` is not that of struct semcache_task (size, expected)", task ? (int)task->size : 0,
                      (int)sizeof *task);
    if (!task->kernel && !task->host)
        return refuse(name, "the task has neither a kernel nor a function for the host", 0, 0);
    if (task->bytes > SEMCACHE_ARGUMENTS_MAX || (task->bytes && !task->arguments))
        return refuse(name, "the arguments are NULL or too long (bytes, limit)", (int)task->bytes,
                      SEMCACHE_ARGUMENTS_MAX);
    if (task->device < SEMCACHE_HOST || (devices && task->device >= devices))
        return refuse(name, "there is no such device (device, devices)", task->device, devices);
    return sc_operands_valid(task->operands, task->count, name);
}

/* --- the record of a task, which the queue of an emulated device keeps -------------------------------------------- */

struct record {
    semcache_function *function;
    int count;
    struct semcache_operand operand[SEMCACHE_OPERANDS_MAX];
    struct semcache_region region[SEMCACHE_OPERANDS_MAX];
    struct sc_own_slot slot[SC_OWN_PIECES];
    _Alignas(16) unsigned char arguments[SEMCACHE_ARGUMENTS_MAX];
};

_Static_assert((int)SEMCACHE_OPERANDS_MAX <= (int)SC_OWN_PIECES, "every operand has a slot");
_Static_assert((int)SEMCACHE_READ == SC_READ && (int)SEMCACHE_WRITE == SC_WRITE && (int)SEMCACHE_READWRITE == SC_RDWR,
               "modes are accesses");

/* Writes only the operands that exist: a record has more than a KiB. */
static void fill_record(struct record *record, const struct semcache_task *task, semcache_function *function)
{
    record->function = function;
    record->count = task->count;
    for (int i = 0; i < task->count; i++) {
        record->operand[i] = task->operands[i];
        record->region[i] = *task->operands[i].region;
        record->slot[i] = (struct sc_own_slot){0};
    }
    if (task->bytes)
        memcpy(record->arguments, task->arguments, task->bytes);
}

/* --- SEMCACHE_CHECK=1 on the host and on emulated devices --------------------------------------------------------- */

uint64_t sc_view_sum(const struct semcache_view *v, bool clear)
{
    size_t elem = sc_type_bytes((enum sc_type)v->type);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (int64_t k = 0; k < v->planes && v->rows; k++) /* without rows there may be no memory */
        for (int64_t j = 0; j < v->cols; j++) {
            unsigned char *column = (unsigned char *)v->memory + (size_t)(j * v->ld + k * v->plane) * elem;

            if (clear)
                memset(column, 0xff, (size_t)v->rows * elem);
            for (size_t i = 0; i < (size_t)v->rows * elem; i++)
                sum = (sum ^ column[i]) * UINT64_C(0x100000001b3);
        }
    return sum;
}

void sc_view_report_write(const char *function, int operand)
{
    sc_log(SC_LOG_ERROR, "%s has written operand %d, which has SEMCACHE_READ", function, operand);
}

/* Finds writes to operands that are read only, and makes reads of operands that are written only visible. */
static void call_checked(const struct record *record, const struct semcache_place *place,
                         const struct semcache_view *views, void *arguments)
{
    uint64_t before[SEMCACHE_OPERANDS_MAX];

    for (int i = 0; i < record->count; i++)
        before[i] = sc_view_sum(&views[i], views[i].mode == SEMCACHE_WRITE);
    record->function(place, views, record->count, arguments);
    for (int i = 0; i < record->count; i++)
        if (views[i].mode == SEMCACHE_READ && sc_view_sum(&views[i], false) != before[i])
            sc_view_report_write("semcache_run: the function of a task", i);
}

static void call(int device, void *stream, void *of)
{
    const struct semcache_place place = {sizeof place, device, stream};
    struct semcache_view views[SEMCACHE_OPERANDS_MAX];
    struct record *record = of;

    for (int i = 0; i < record->count; i++)
        views[i] = sc_region_placed(&record->region[i], record->operand[i].mode, record->slot[i].memory,
                                    record->slot[i].ld);
    if (sc_config.check && !stream)
        call_checked(record, &place, views, record->arguments);
    else
        record->function(&place, views, record->count, record->arguments);
}

/* --- on the host -------------------------------------------------------------------------------------------------- */

static enum sc_status on_host(const struct semcache_task *task)
{
    struct record record;

    if (!task->host)
        return SC_ERR_UNSUPPORTED;
    fill_record(&record, task, task->host);
    for (int i = 0; i < task->count; i++) {
        const struct semcache_operand *o = &task->operands[i];
        struct sc_view view;

        if (sc_region_empty(o->region))
            continue;
        view = sc_region_view(o->region, o->mode);
        sc_coherence_acquire_view(&view);
        record.slot[i] = (struct sc_own_slot){o->region->memory, view.ld};
    }
    call(SEMCACHE_HOST, NULL, &record);
    return SC_OK;
}

/* --- on a device -------------------------------------------------------------------------------------------------- */

/* An operand in one tile is used in place, and an operand in several tiles by a temporary.  The cuts of an operand take
 * 16 KiB: no struct keeps the cuts, and a function divides the operand again. */
struct held {
    struct sc_operand whole; /* as of struct sc_part */
    struct sc_piece piece;   /* in place; operand NULL: in the temporary */
    void *temporary;
    int64_t ld; /* of the temporary */
};

struct job {
    const struct semcache_task *task;
    struct sc_operand operand[SEMCACHE_OPERANDS_MAX];
    struct held held[SEMCACHE_OPERANDS_MAX];
    struct record record;
    int device;
};

/* Copies all pieces of an operand to its temporary, or back. */
static enum sc_status copy_part(const struct job *job, const struct held *held, bool outwards)
{
    size_t elem = sc_type_bytes(held->whole.view.type);
    enum sc_status status = SC_OK;
    struct sc_part part;

    sc_part_divide(&part, &held->whole);
    for (int j = 0; j < part.cols.n && status == SC_OK; j++)
        for (int i = 0; i < part.rows.n && status == SC_OK; i++) {
            struct sc_piece piece = sc_part_piece(&part, i, j, outwards ? SC_READ : SC_WRITE);

            piece.temporary_ld = held->ld;
            status = sc_coherence_own_copy(job->device, &piece, (char *)held->temporary +
                                           (size_t)(piece.r + piece.c * held->ld) * elem, outwards);
        }
    return status;
}

/* A part that is only written is copied in as well.  Afterwards the sectors of the part have memory and all their
 * elements on the device, and the copy back moves results only. */
static enum sc_status gather(struct job *job, int i)
{
    struct held *held = &job->held[i];
    const struct sc_view *view = &held->whole.view;
    enum sc_status status;

    held->ld = view->vector ? 1 : view->rows;
    status = sc_coherence_temporary(job->device, (size_t)(view->rows * view->cols) * sc_type_bytes(view->type),
                                    &held->temporary);
    job->record.slot[i] = (struct sc_own_slot){held->temporary, held->ld};
    return status == SC_OK ? copy_part(job, held, true) : status;
}

static int device_of(const struct job *job)
{
    const struct held *first = NULL;
    struct sc_piece piece;
    struct sc_part part;

    if (job->task->device != SEMCACHE_ANY_DEVICE)
        return job->task->device;
    for (int i = 0; i < job->task->count; i++)
        if (job->operand[i].matrix && (!first || (job->operand[i].view.access & SC_WRITE &&
                                                  !(first->whole.view.access & SC_WRITE))))
            first = &job->held[i];
    if (!first)
        return 0;
    sc_part_divide(&part, &first->whole);
    piece = sc_part_piece(&part, 0, 0, SC_READ);
    return sc_coherence_where(&piece);
}

/* Brings the operands to the device, and calls the function. */
static enum sc_status launch(struct job *job)
{
    struct sc_piece pieces[SEMCACHE_OPERANDS_MAX];
    struct sc_device_call function = {.run = call, .record = &job->record, .bytes = sizeof job->record};
    enum sc_status status = SC_OK;

    for (int i = 0; i < job->task->count && status == SC_OK; i++) {
        const struct held *held = &job->held[i];

        pieces[i] = (struct sc_piece){0};
        if (!job->operand[i].matrix)
            continue;
        function.traffic += sc_view_bytes(&held->whole.view);
        if (held->piece.operand)
            pieces[i] = held->piece;
        else
            status = gather(job, i);
    }
    return status != SC_OK ? status : sc_coherence_own_task(job->device, pieces, job->task->count, job->record.slot,
                                                            &function);
}

/* After the launch.  A failure leaves results that no place has. */
static enum sc_status scatter(struct job *job)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < job->task->count && status == SC_OK; i++)
        if (job->held[i].temporary && job->held[i].whole.view.access & SC_WRITE)
            status = copy_part(job, &job->held[i], false);
    if (status == SC_OK)
        return SC_OK;
    sc_log(SC_LOG_ERROR, "semcache_run: device %d failed after a task; regions that the task wrote are undefined",
           job->device);
    return SC_ERR_DEVICE;
}

static void place(struct held *held, const struct sc_operand *operand)
{
    struct sc_part part;

    sc_part_divide(&part, operand);
    held->whole = part.whole;
    if (part.rows.n == 1 && part.cols.n == 1) {
        held->piece = sc_part_piece(&part, 0, 0, part.whole.view.access);
        held->piece.operand = &held->whole;
    }
}

/* *launched: the function has been called, and must not be called again. */
static enum sc_status run_job(struct job *job, bool *launched)
{
    enum sc_status status;

    for (int i = 0; i < job->task->count; i++) {
        job->held[i] = (struct held){0};
        if (job->operand[i].matrix)
            place(&job->held[i], &job->operand[i]);
    }
    job->device = device_of(job);
    status = launch(job);
    *launched = status == SC_OK || status == SC_ERR_INVALID;
    if (status == SC_OK)
        status = scatter(job);
    for (int i = 0; i < job->task->count; i++)
        if (job->held[i].temporary)
            sc_coherence_temporary_free(job->device, job->held[i].temporary);
    return status;
}

static enum sc_status on_device(struct job *job, bool *launched)
{
    struct sc_view views[SEMCACHE_OPERANDS_MAX];
    const struct semcache_task *task = job->task;
    enum sc_status status;

    for (int i = 0; i < task->count; i++)
        views[i] = sc_region_empty(task->operands[i].region) ? (struct sc_view){.ptr = NULL} :
                   sc_region_view(task->operands[i].region, task->operands[i].mode);
    status = sc_coherence_begin(views, task->count, job->operand);
    if (status != SC_OK)
        return status;
    status = run_job(job, launched);
    for (int i = 0; i < task->count && status == SC_OK; i++)
        if (sc_coherence_is_sent(&job->operand[i]))
            sc_coherence_push(&job->operand[i], 1, NULL);
    sc_coherence_end(job->operand, task->count);
    return status;
}

/* --- with irregular regions --------------------------------------------------------------------------------------- */

/* A region of the record that describes a compact copy. */
static struct semcache_region compacted(const struct semcache_view *v)
{
    return (struct semcache_region){.size = sizeof (struct semcache_region), .memory = v->memory, .type = v->type,
                                    .rows = v->rows, .cols = v->cols, .planes = v->planes, .ld = v->ld,
                                    .plane = v->plane};
}

static bool is_irregular(const struct semcache_task *task)
{
    for (int i = 0; i < task->count; i++)
        if (task->operands[i].region->ranges)
            return true;
    return false;
}

/* The task works on private copies of all operands. */
static enum sc_status on_copies(const struct semcache_task *task, semcache_function *function, int device,
                                bool *launched)
{
    struct record record = {.function = function, .count = task->count};
    struct sc_device_call run = {.run = call, .record = &record, .bytes = sizeof record};
    enum sc_status status, given;
    struct sc_hold hold;

    *launched = false;
    status = sc_hold_take(&hold, task->operands, task->count, device);
    if (status != SC_OK)
        return status;
    if (task->bytes)
        memcpy(record.arguments, task->arguments, task->bytes);
    for (int i = 0; i < task->count; i++) {
        record.region[i] = compacted(&hold.view[i]);
        record.operand[i].mode = hold.view[i].mode;
        record.slot[i] = (struct sc_own_slot){hold.view[i].memory, hold.view[i].ld};
    }
    if (device == SEMCACHE_HOST)
        call(device, NULL, &record);
    else
        status = sc_copy_call(device, record.slot, &run);
    *launched = status == SC_OK || status == SC_ERR_INVALID;
    given = sc_hold_give(&hold, *launched);
    return status == SC_OK ? given : status;
}

/* --- everywhere --------------------------------------------------------------------------------------------------- */

bool sc_tasks_on_devices(int device, bool host, bool gpu)
{
    if (device == SEMCACHE_HOST || sc_coherence_devices() < 1 || sc_config.offload == SC_OFFLOAD_NEVER ||
        !sc_coherence_stack_fits())
        return false;
    return sc_coherence_device_properties(0)->emulated ? host : gpu;
}

/* The choice by times. The missing bytes of a place count for the place. */
static bool is_faster_on_host(const struct semcache_task *task)
{
    double rate = sc_coherence_device_properties(0)->host_bandwidth;
    struct sc_residency all = {0};

    if (task->device != SEMCACHE_ANY_DEVICE || !task->host || task->host_seconds <= 0 || task->device_seconds <= 0 ||
        sc_config.offload == SC_OFFLOAD_ALWAYS || rate <= 0)
        return false;
    for (int i = 0; i < task->count; i++)
        for (int64_t j = 0; j < sc_region_boxes(task->operands[i].region); j++) {
            struct semcache_region box = sc_region_box(task->operands[i].region, j);
            struct sc_residency one;
            struct sc_view view;

            if (sc_region_empty(&box))
                continue;
            view = sc_region_view(&box, task->operands[i].mode);
            sc_coherence_residency(&view, 1, &one);
            all.device_only += task->operands[i].mode & SEMCACHE_READ ? one.device_only : 0;
            all.bytes += one.bytes - one.device_bytes - one.overwritten;
        }
    return task->host_seconds + (double)all.device_only / rate < task->device_seconds + (double)all.bytes / rate;
}

/* The function of a GPU, or of an emulated device; NULL: the task runs on the host. */
static semcache_function *function_of(const struct semcache_task *task)
{
    if (!sc_tasks_on_devices(task->device, task->host, task->kernel) || is_faster_on_host(task))
        return NULL;
    return sc_coherence_device_properties(0)->emulated ? task->host : task->kernel;
}

/* The operand that decides about the device: the first that is written, else the first. */
static const struct semcache_region *main_region(const struct semcache_operand *operands, int count)
{
    for (int i = 0; i < count; i++)
        if (operands[i].mode & SEMCACHE_WRITE && !sc_region_empty(operands[i].region))
            return operands[i].region;
    return operands[0].region;
}

int sc_tasks_device(const struct semcache_operand *operands, int count, int device)
{
    return device == SEMCACHE_ANY_DEVICE ? sc_copy_where(main_region(operands, count)) : device;
}

static enum sc_status run_irregular(const struct semcache_task *task, int *ran)
{
    semcache_function *function = function_of(task);
    bool launched = false;
    enum sc_status status = SC_OK;

    if (function) {
        *ran = sc_tasks_device(task->operands, task->count, task->device);
        sc_quiet_enter(); /* a handler that jumps out would leave the copies in the device's memory */
        status = on_copies(task, function, *ran, &launched);
        sc_quiet_leave();
    }
    if (launched)
        return status;
    *ran = SEMCACHE_HOST;
    return task->host ? on_copies(task, task->host, SEMCACHE_HOST, &launched) : SC_ERR_UNSUPPORTED;
}

enum sc_status sc_tasks_run(const struct semcache_task *task, int *ran)
{
    semcache_function *function;
    bool launched = false;
    enum sc_status status = SC_OK;
    struct job job;

    if (is_irregular(task))
        return run_irregular(task, ran);
    function = function_of(task);
    if (function) {
        sc_quiet_enter();
        sc_inside_enter();
        job.task = task;
        job.device = SEMCACHE_HOST;
        fill_record(&job.record, task, function);
        status = on_device(&job, &launched);
        *ran = job.device;
        sc_inside_leave();
        sc_quiet_leave();
    }
    if (launched)
        return status;
    *ran = SEMCACHE_HOST;
    return on_host(task);
}
/* SPDX-License-Identifier: BSD-2-Clause */
