/* Execution of tasks: on a device, with copies of the regions that lie in several tiles; or on the host. */
#include "tasks/tasks_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/inside.h"
#include "base/quiet.h"
#include "coherence/access.h"
#include "coherence/view.h"

/* --- checks ------------------------------------------------------------------------------------------------------- */

static bool refuse(const char *why, int is, int limit)
{
    sc_log(SC_LOG_ERROR, "semcache_run: %s (%d, %d)", why, is, limit);
    return false;
}

static bool is_freed(const struct semcache_region *region)
{
    struct sc_view view;
    uintptr_t lo, hi;

    if (sc_region_empty(region))
        return false;
    view = sc_region_view(region, SEMCACHE_READ);
    sc_view_extent(&view, &lo, &hi);
    return sc_coherence_is_freed(view.ptr, hi - lo);
}

static bool operands_valid(const struct semcache_operand *operands, int count)
{
    char what[64];

    for (int i = 0; i < count; i++) {
        snprintf(what, sizeof what, "semcache_run: region of operand %d", i);
        if (!sc_region_valid(operands[i].region, what))
            return false;
        if (sc_config.check && is_freed(operands[i].region))
            return refuse("the region of an operand lies in freed memory (operand, operands)", i, count);
        if (operands[i].mode < SEMCACHE_READ || operands[i].mode > SEMCACHE_READWRITE)
            return refuse("an operand has an unknown mode (operand, mode)", i, (int)operands[i].mode);
        for (int k = 0; k < i; k++)
            if ((operands[i].mode | operands[k].mode) & SEMCACHE_WRITE && !sc_region_empty(operands[i].region) &&
                !sc_region_empty(operands[k].region) && sc_regions_overlap(&operands[k], &operands[i]))
                return refuse("two operands overlap, and one of them is written (operands)", k, i);
    }
    return true;
}

bool sc_tasks_valid(const struct semcache_task *task, int devices)
{
    if (!task || task->size != sizeof *task)
        return refuse("`size` is not that of struct semcache_task (size, expected)", task ? (int)task->size : 0,
                      (int)sizeof *task);
    if (!task->kernel && !task->host)
        return refuse("the task has neither a kernel nor a function for the host", 0, 0);
    if (task->count < 1 || task->count > SEMCACHE_OPERANDS_MAX || !task->operands)
        return refuse("the number of operands is out of range (count, limit)", task->count, SEMCACHE_OPERANDS_MAX);
    if (task->bytes > SEMCACHE_ARGUMENTS_MAX || (task->bytes && !task->arguments))
        return refuse("the arguments are NULL or too long (bytes, limit)", (int)task->bytes, SEMCACHE_ARGUMENTS_MAX);
    if (task->device < SEMCACHE_HOST || (devices && task->device >= devices))
        return refuse("there is no such device (device, devices)", task->device, devices);
    return operands_valid(task->operands, task->count);
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

static struct record record_of(const struct semcache_task *task, semcache_function *function)
{
    struct record record = {.function = function, .count = task->count};

    for (int i = 0; i < task->count; i++) {
        record.operand[i] = task->operands[i];
        record.region[i] = *task->operands[i].region;
    }
    if (task->bytes)
        memcpy(record.arguments, task->arguments, task->bytes);
    return record;
}

/* --- SEMCACHE_CHECK=1 on the host and on emulated devices --------------------------------------------------------- */

/* A sum over the bytes of a view; not-a-number goes to every element first if `clear`. */
static uint64_t walk(const struct semcache_view *v, bool clear)
{
    size_t elem = sc_type_bytes((enum sc_type)v->type);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (int64_t k = 0; k < v->planes; k++)
        for (int64_t j = 0; j < v->cols; j++) {
            unsigned char *column = (unsigned char *)v->memory + (size_t)(j * v->ld + k * v->plane) * elem;

            if (clear)
                memset(column, 0xff, (size_t)v->rows * elem);
            for (size_t i = 0; i < (size_t)v->rows * elem; i++)
                sum = (sum ^ column[i]) * UINT64_C(0x100000001b3);
        }
    return sum;
}

/* Finds writes to operands that are read only, and makes reads of operands that are written only visible. */
static void call_checked(const struct record *record, const struct semcache_place *place,
                         const struct semcache_view *views, void *arguments)
{
    uint64_t before[SEMCACHE_OPERANDS_MAX];

    for (int i = 0; i < record->count; i++)
        before[i] = walk(&views[i], views[i].mode == SEMCACHE_WRITE);
    record->function(place, views, record->count, arguments);
    for (int i = 0; i < record->count; i++)
        if (views[i].mode == SEMCACHE_READ && walk(&views[i], false) != before[i])
            sc_log(SC_LOG_ERROR, "semcache_run: the function of a task has written operand %d, which has SEMCACHE_READ",
                   i);
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
    struct record record = record_of(task, task->host);

    if (!task->host)
        return SC_ERR_UNSUPPORTED;
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

/* An operand: in place if one tile contains it, else in a temporary. */
struct held {
    struct sc_part part;
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

static bool is_in_place(const struct sc_part *part) { return part->rows.n == 1 && part->cols.n == 1; }

/* Copies all pieces of a part to its temporary, or back. */
static enum sc_status copy_part(const struct job *job, const struct held *held, bool outwards)
{
    const struct sc_part *part = &held->part;
    size_t elem = sc_type_bytes(part->whole.view.type);
    enum sc_status status = SC_OK;

    for (int j = 0; j < part->cols.n && status == SC_OK; j++)
        for (int i = 0; i < part->rows.n && status == SC_OK; i++) {
            struct sc_piece piece = sc_part_piece(part, i, j, outwards ? SC_READ : SC_WRITE);

            piece.temporary_ld = held->ld;
            status = sc_coherence_own_copy(job->device, &piece, (char *)held->temporary +
                                           (size_t)(piece.r + piece.c * held->ld) * elem, outwards);
        }
    return status;
}

/* Also a part that is only written is copied in: its sectors then have memory and their other elements on the device,
 * and the copy back moves nothing but results. */
static enum sc_status gather(struct job *job, int i)
{
    struct held *held = &job->held[i];
    const struct sc_view *view = &held->part.whole.view;
    enum sc_status status;

    held->ld = view->vector ? 1 : view->rows;
    status = sc_coherence_temporary(job->device, (size_t)(view->rows * view->cols) * sc_type_bytes(view->type),
                                    &held->temporary);
    job->record.slot[i] = (struct sc_own_slot){held->temporary, held->ld};
    return status == SC_OK ? copy_part(job, held, true) : status;
}

static int device_of(const struct job *job)
{
    const struct sc_part *first = NULL;
    struct sc_piece piece;

    if (job->task->device != SEMCACHE_ANY_DEVICE)
        return job->task->device;
    for (int i = 0; i < job->task->count; i++)
        if (job->operand[i].matrix && (!first || (job->operand[i].view.access & SC_WRITE &&
                                                  !(first->whole.view.access & SC_WRITE))))
            first = &job->held[i].part;
    if (!first)
        return 0;
    piece = sc_part_piece(first, 0, 0, SC_READ);
    return sc_coherence_where(&piece);
}

/* Brings the operands to the device, and calls the function. */
static enum sc_status launch(struct job *job)
{
    struct sc_piece pieces[SEMCACHE_OPERANDS_MAX];
    struct sc_device_call function = {.run = call, .record = &job->record, .bytes = sizeof job->record};
    enum sc_status status = SC_OK;

    memset(pieces, 0, sizeof pieces);
    for (int i = 0; i < job->task->count && status == SC_OK; i++) {
        const struct sc_part *part = &job->held[i].part;

        if (!job->operand[i].matrix)
            continue;
        function.traffic += sc_view_bytes(&part->whole.view);
        if (is_in_place(part))
            pieces[i] = sc_part_piece(part, 0, 0, part->whole.view.access);
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
        if (job->held[i].temporary && job->held[i].part.whole.view.access & SC_WRITE)
            status = copy_part(job, &job->held[i], false);
    if (status == SC_OK)
        return SC_OK;
    sc_log(SC_LOG_ERROR, "semcache_run: device %d failed after a task; regions that the task wrote are undefined",
           job->device);
    return SC_ERR_DEVICE;
}

/* *launched: the function has been called, and must not be called again. */
static enum sc_status run_job(struct job *job, bool *launched)
{
    enum sc_status status;

    for (int i = 0; i < job->task->count; i++)
        if (job->operand[i].matrix)
            sc_part_divide(&job->held[i].part, &job->operand[i]);
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
    sc_coherence_end(job->operand, task->count);
    return status;
}

/* The function of a GPU, or of an emulated device; NULL: the task runs on the host. */
static semcache_function *function_of(const struct semcache_task *task)
{
    if (task->device == SEMCACHE_HOST || sc_coherence_devices() < 1 || sc_config.offload == SC_OFFLOAD_NEVER ||
        !sc_coherence_stack_fits())
        return NULL;
    return sc_coherence_device_properties(0)->emulated ? task->host : task->kernel;
}

enum sc_status sc_tasks_run(const struct semcache_task *task, int *ran)
{
    semcache_function *function = function_of(task);
    bool launched = false;
    enum sc_status status = SC_OK;
    struct job *job;

    if (function) {
        sc_quiet_enter();
        sc_inside_enter();
        job = calloc(1, sizeof *job); /* large */
        if (job) {
            job->task = task;
            job->record = record_of(task, function);
            status = on_device(job, &launched);
            *ran = job->device;
        }
        free(job);
        sc_inside_leave();
        sc_quiet_leave();
    }
    if (launched)
        return status;
    *ran = SEMCACHE_HOST;
    return on_host(task);
}
/* SPDX-License-Identifier: BSD-2-Clause */
