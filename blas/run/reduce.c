/* dot, dsdot, nrm2, asum, iamax, iamin: a task for each segment; the host combines the partial results.  Results are
 * awaited without the protocol's lock (rule C7), so a call has two steps: issue between begin and end, then collect.
 * Several reductions may be issued before the first is collected.  iamax of several segments has a second round, which
 * fetches the values of the parts' maxima. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotuner/autotuner.h"
#include "base/assert.h"
#include "base/config.h"
#include "base/inside.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/devices.h"

/* A device has SC_RESULT_SLOTS result slots, shared by all threads and reused in turn, so results must be collected
 * in time.  That wait happens with the lock held, which is safe because a device needs no lock. */
#define OUTSTANDING_MAX 256
#define PARTS_AHEAD     64 /* of a reduction that is computed ahead, and of the reduction before it, at most */

struct part {
    struct sc_fence fence;
    void *slot;
    struct sc_segment segment; /* usable as a position; the pieces are valid until end */
    double value[2];           /* the part's result; iamax: {the value, unused} */
    int64_t at;                /* iamax: logical position of the part's maximum, < 0: none */
};

struct reduction {
    const struct sc_kernel *kernel;
    struct part *part;
    int count, capacity, collected;
    bool ahead; /* the program has not asked */
    enum sc_status status;
};

/* --- results of tasks --------------------------------------------------------------------------------------------- */

static void load(const struct sc_kernel *kernel, const void *slot, double value[2])
{
    enum sc_type type = sc_op_result_type(kernel->op, kernel->type);
    float f[2] = {0, 0};

    value[0] = value[1] = 0;
    if (type == SC_D || type == SC_Z) {
        memcpy(value, slot, sc_type_bytes(type));
        return;
    }
    memcpy(f, slot, sc_type_bytes(type));
    value[0] = f[0];
    value[1] = f[1];
}

static void store(const struct sc_kernel *kernel, const double value[2])
{
    enum sc_type type = sc_op_result_type(kernel->op, kernel->type);
    float f[2] = {(float)value[0], (float)value[1]};

    memcpy(kernel->result, type == SC_S || type == SC_C ? (const void *)f : value, sc_type_bytes(type));
}

static void collect_part(struct reduction *r, struct part *part, bool index)
{
    enum sc_status status = sc_coherence_wait(part->fence);
    int64_t e = 0;

    if (status != SC_OK) {
        r->status = status;
        return;
    }
    if (!index) {
        load(r->kernel, part->slot, part->value);
        return;
    }
    memcpy(&e, part->slot, sizeof e);
    part->at = e > 0 ? sc_blas_segment_at(&part->segment, e - 1) : -1;
}

static void collect(struct reduction *r, bool index)
{
    for (; r->collected < r->count; r->collected++)
        collect_part(r, &r->part[r->collected], index);
}

static struct part *add_part(struct reduction *r)
{
    if (r->count == r->capacity) {
        int capacity = r->capacity ? 4 * r->capacity : 16;
        struct part *grown = realloc(r->part, (size_t)capacity * sizeof *grown);

        if (!grown)
            return NULL;
        r->part = grown;
        r->capacity = capacity;
    }
    r->part[r->count] = (struct part){.at = -1};
    return &r->part[r->count];
}

static enum sc_status visit(void *context, const struct sc_segment *segment)
{
    struct reduction *r = context;
    struct sc_kernel kernel = *r->kernel;
    struct sc_piece pieces[3] = {segment->piece[0], segment->piece[1], sc_blas_none()};
    struct part *part;
    enum sc_status status;

    if (r->ahead && r->count == PARTS_AHEAD)
        return SC_ERR_UNSUPPORTED;
    if (r->count - r->collected >= OUTSTANDING_MAX)
        collect(r, sc_op_gives_index(kernel.op));
    part = add_part(r);
    if (!part)
        return SC_ERR_MEMORY;
    part->segment = *segment;
    kernel.n = segment->n;
    status = (r->ahead ? sc_coherence_device_task : sc_coherence_task)(segment->device, &kernel, pieces, &part->fence,
                                                                       &part->slot);
    if (status == SC_OK)
        r->count++;
    return status;
}

/* --- combining ---------------------------------------------------------------------------------------------------- */

static void sum(const struct reduction *r, double out[2])
{
    out[0] = out[1] = 0;
    for (int i = 0; i < r->count; i++) {
        out[0] += r->part[i].value[0];
        out[1] += r->part[i].value[1];
    }
}

/* sqrt(sum of squares), scaled by the largest part to avoid overflow and underflow. */
static double norm(const struct reduction *r)
{
    double scale = 0, squares = 0;

    for (int i = 0; i < r->count; i++) {
        double v = r->part[i].value[0];

        if (isnan(v))
            return v;
        scale = v > scale ? v : scale;
    }
    if (scale == 0 || isinf(scale))
        return scale;
    for (int i = 0; i < r->count; i++)
        squares += r->part[i].value[0] / scale * (r->part[i].value[0] / scale);
    return scale * sqrt(squares);
}

/* Fetches |Re| + |Im| of each part's maximum, by asum of a single element. */
static bool fetch_values(struct reduction *r, struct sc_blas_job *call)
{
    struct sc_kernel kernel = *call->kernel, *whole = &kernel;
    struct sc_operand matrix, *operand = call->operand;
    enum sc_status status = SC_OK;
    bool is_matrix;

    whole->op = SC_OP_ASUM;
    whole->n = 1;
    if (sc_coherence_begin(call->view, call->operands, operand) != SC_OK)
        return false;
    is_matrix = sc_coherence_as_matrix(&operand[0], &matrix);
    r->collected = 0;
    for (int i = 0; i < r->count && status == SC_OK; i++) {
        struct part *part = &r->part[i];
        int64_t stride = is_matrix ? matrix.view.rows : 1;
        struct sc_piece element = is_matrix ? sc_blas_matrix(&matrix, part->at % stride, part->at / stride, 1, 1,
                                                             SC_READ)
                                            : sc_blas_vector(&operand[0], part->at, 1, SC_READ);
        struct sc_piece pieces[3] = {element};

        status = sc_coherence_task(sc_coherence_where(pieces), &kernel, pieces, &part->fence, &part->slot);
        if (i - r->collected >= OUTSTANDING_MAX)
            for (; r->collected < i; r->collected++)
                collect_part(r, &r->part[r->collected], false);
    }
    sc_coherence_results_begin();
    sc_coherence_end(operand, call->operands);
    collect(r, false);
    sc_coherence_results_end();
    return status == SC_OK && r->status == SC_OK;
}

static bool first_extreme(struct reduction *r, struct sc_blas_job *call)
{
    bool largest = r->kernel->op == SC_OP_IAMAX;
    int64_t best = -1, index;
    double most = 0;
    int kept = 0;

    for (int i = 0; i < r->count; i++)
        if (r->part[i].at >= 0)
            r->part[kept++] = r->part[i];
    r->count = kept;
    if (kept == 1)
        best = r->part[0].at;
    else if (kept > 1 && !fetch_values(r, call))
        return false;
    for (int i = 0; kept > 1 && i < kept; i++) {
        const struct part *p = &r->part[i];

        if (best < 0 || (largest ? p->value[0] > most : p->value[0] < most) ||
            (p->value[0] == most && p->at < best)) {
            best = p->at;
            most = p->value[0];
        }
    }
    index = best + 1;
    memcpy(r->kernel->result, &index, sizeof index);
    return true;
}

static void combine(const struct reduction *r, double value[2])
{
    value[0] = value[1] = 0;
    if (r->kernel->op == SC_OP_NRM2)
        value[0] = norm(r);
    else
        sum(r, value);
    store(r->kernel, value);
}

/* --- reductions that are awaited together ------------------------------------------------------------------------- */

struct gathered {
    struct sc_kernel kernel;
    struct reduction reduction;
};

static __thread struct {
    struct gathered *of; /* NULL: each reduction is awaited by itself */
    int count, most;
} gathering_ __attribute__((tls_model("initial-exec")));

bool sc_blas_gather(int most)
{
    sc_assert(!gathering_.of && most > 0);
    sc_inside_enter();
    gathering_.of = malloc((size_t)most * sizeof *gathering_.of);
    sc_inside_leave();
    gathering_.count = 0;
    gathering_.most = most;
    return gathering_.of;
}

bool sc_blas_has_gathered(void) { return gathering_.of && gathering_.count; }

bool sc_blas_gathered(void)
{
    const double since = sc_coherence_host_clock();
    bool good = true;

    sc_inside_enter();
    for (int i = 0; i < gathering_.count; i++) {
        struct reduction *r = &gathering_.of[i].reduction;
        double value[2];

        collect(r, false);
        good = good && r->status == SC_OK;
        combine(r, value);
        sc_coherence_results_end();
        free(r->part);
    }
    free(gathering_.of);
    gathering_.of = NULL;
    sc_inside_leave();
    if (sc_config.offload == SC_OFFLOAD_AUTO)
        sc_autotuner_waited(sc_coherence_host_clock() - since);
    return good;
}

/* Takes over the reduction's parts, whose results outlive a stop of the devices until sc_blas_gathered.  False: the
 * reduction is to be awaited now. */
static bool gather(const struct reduction *r)
{
    struct gathered *to = gathering_.of + gathering_.count;

    if (!gathering_.of || gathering_.count == gathering_.most || sc_op_gives_index(r->kernel->op))
        return false;
    to->kernel = *r->kernel;
    to->reduction = *r;
    to->reduction.kernel = &to->kernel;
    gathering_.count++;
    return true;
}

/* --- the next reduction, computed ahead --------------------------------------------------------------------------- */

/* Between begin and end. */
static enum sc_status issue(struct sc_blas_job *call, struct reduction *r)
{
    static const enum sc_access access[2] = {SC_READ, SC_READ};

    return sc_blas_segments(call, access, 0, visit, r);
}

struct ahead {
    struct sc_kernel kernel;
    char result[16];
    struct sc_view view[SC_VIEWS_MAX];
    struct sc_operand operand[SC_VIEWS_MAX];
    struct sc_blas_job job;
    struct reduction reduction;
    uint64_t since; /* sc_blas_recall_link */
};

/* No part ran on the host: the lock was held all the time.  Few parts leave result slots for the second. */
static bool are_few_on_devices(const struct reduction *r)
{
    bool good = r->count <= PARTS_AHEAD;

    for (int i = 0; i < r->count && good; i++)
        good = r->part[i].fence.seq != 0;
    return good;
}

/* Between begin and end of the first reduction.  The program has not asked for the second and may have freed its
 * memory: only operands that devices have are read, and no task runs on the host.  The operands are linked first.
 * False: nothing was done. */
static bool issue_ahead(struct ahead *a)
{
    a->kernel.result = a->result;
    a->job = (struct sc_blas_job){.kernel = &a->kernel, .view = a->view, .operand = a->operand,
                                  .operands = sc_kernel_views(&a->kernel, a->view)};
    a->reduction = (struct reduction){.kernel = &a->kernel, .ahead = true};
    for (int i = 0; i < a->job.operands; i++)
        if (!sc_coherence_find(&a->view[i], &a->operand[i]))
            return false;
    a->since = sc_blas_recall_link(&a->job);
    if (!a->since)
        return false;
    a->reduction.status = issue(&a->job, &a->reduction);
    return true;
}

/* kept: the first is good, too. */
static void collect_ahead(struct ahead *a, bool kept)
{
    double value[2];

    collect(&a->reduction, false);
    combine(&a->reduction, value);
    if (kept && a->reduction.status == SC_OK)
        sc_blas_recall_ahead(&a->job, a->since, value);
    free(a->reduction.part);
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

bool sc_blas_reduce(struct sc_blas_job *call, bool by_itself)
{
    const bool index = sc_op_gives_index(call->kernel->op);
    struct reduction r = {.kernel = call->kernel};
    struct ahead ahead;
    enum sc_status status;
    uint64_t since = 0; /* sc_blas_recall_from */
    double value[2];
    bool good, has_next = false;

    if (sc_coherence_begin(call->view, call->operands, call->operand) != SC_OK)
        return false;
    if (!index && sc_blas_recall(call, value)) {
        sc_coherence_end(call->operand, call->operands);
        store(call->kernel, value);
        return true;
    }
    status = issue(call, &r);
    if (!index && status == SC_OK) {
        since = sc_blas_recall_from(call);
        has_next = sc_blas_recall_next(call, &ahead.kernel) && !gathering_.of && !by_itself &&
                   are_few_on_devices(&r) && issue_ahead(&ahead);
    }
    sc_coherence_results_begin(); /* a stop of the devices waits until the results are read */
    sc_coherence_end(call->operand, call->operands);
    if (status == SC_OK && gather(&r))
        return true;
    collect(&r, index);
    good = status == SC_OK && r.status == SC_OK;
    if (good && !index) {
        combine(&r, value);
        sc_blas_recall_later(call, since, value);
    }
    if (has_next)
        collect_ahead(&ahead, good);
    sc_coherence_results_end();
    if (good && index)
        good = first_extreme(&r, call);
    free(r.part);
    return good;
}
/* SPDX-License-Identifier: BSD-2-Clause */
