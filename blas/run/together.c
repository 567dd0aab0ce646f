/* The host beside the devices.  For a product whose columns are independent, the host BLAS computes the last columns
 * in the caller's thread while the devices compute the first.
 *
 * The two parts meet at a boundary between sectors of the result, so that no sector has its newest values in two
 * places and the host's columns are never uploaded.  Where the parts meet within a page, the host computes its
 * columns on that page first, because the page is closed once the devices' part is enqueued (rule 27).  The host
 * takes part only if it has its operands. */
#include "base/page.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"

/* The host BLAS has a single set of threads, so one call at a time uses the host.  Set by test and set. */
static char host_is_busy;

#define REACH 8 /* a page boundary is preferred if the host's part changes by less than 1/8 */

static bool is_by_rows(const struct sc_kernel *k, int i) { return k->op == SC_OP_GEMM && i == 1 && k->transb != 'N'; }

/* The part of operand i that belongs to columns [from, end) of the result. */
static struct sc_view part_of(const struct sc_blas_job *job, int i, int64_t from, int64_t end)
{
    struct sc_view v = job->view[i];
    bool by_rows = is_by_rows(job->kernel, i);

    if (i == 0)
        return v;
    v.ptr = (const char *)v.ptr + (size_t)(by_rows ? from : from * v.ld) * sc_type_bytes(v.type);
    *(by_rows ? &v.rows : &v.cols) = end - from;
    return v;
}

static const struct sc_view *result_of(const struct sc_blas_job *job) { return &job->view[job->operands - 1]; }

static uintptr_t column_at(const struct sc_view *v, int64_t column)
{
    return (uintptr_t)v->ptr + (uintptr_t)(column * v->ld) * sc_type_bytes(v->type);
}

/* The boundary between sectors that is nearest to the share, preferably also a boundary between pages. */
static int64_t boundary(const struct sc_blas_job *job, double share)
{
    const struct sc_operand *result = &job->operand[job->operands - 1];
    int64_t n = job->kernel->n, want = n - (int64_t)(share * (double)n + 0.5), reach = (n - want) / REACH;
    int64_t best = sc_coherence_next_sector(result, want), least = -1;

    for (int64_t c = sc_coherence_next_sector(result, want - reach > 1 ? want - reach : 1); c < n && c <= want + reach;
         c = sc_coherence_next_sector(result, c + 1)) {
        int64_t away = (c > want ? c - want : want - c) + (column_at(result_of(job), c) % SC_PAGE ? reach : 0);

        if (least < 0 || away < least) {
            least = away;
            best = c;
        }
    }
    return best;
}

/* End of the columns, from `from` on, that begin on a page shared with the column before `from`. */
static int64_t on_a_page(const struct sc_blas_job *job, int64_t from)
{
    const struct sc_view *v = result_of(job);
    uintptr_t page = sc_page_ceil(column_at(v, from));
    int64_t end = from;

    while (end < job->kernel->n && column_at(v, end) < page)
        end++;
    return end;
}

static enum sc_status on_host(const struct sc_blas_job *job, int64_t from, int64_t end)
{
    struct sc_kernel kernel = *job->kernel;
    struct sc_view view[3] = {{0}};

    if (from == end)
        return SC_OK;
    for (int i = 0; i < job->operands; i++)
        view[i] = part_of(job, i, from, end);
    kernel.n = end - from;
    kernel.b = (void *)view[1].ptr;
    if (job->operands == 3)
        kernel.c = (void *)view[2].ptr;
    return sc_coherence_host_task(&kernel, view, job->operands);
}

static bool host_has_all(const struct sc_blas_job *job, int64_t from)
{
    for (int i = 0; i < job->operands; i++) {
        struct sc_view part = part_of(job, i, from, job->kernel->n);

        if (!sc_coherence_on_host(&job->operand[i], &part))
            return false;
    }
    return true;
}

bool sc_blas_together_begin(struct sc_blas_job *job, double share, struct sc_blas_together *t)
{
    int64_t from = boundary(job, share), n = job->kernel->n;

    if (from <= 0 || from >= n || !host_has_all(job, from) || __atomic_test_and_set(&host_is_busy, __ATOMIC_ACQUIRE))
        return false;
    t->whole = *job;
    t->from = on_a_page(job, from);
    if (on_host(job, from, t->from) != SC_OK) { /* the host BLAS has no such routine: nothing was done */
        __atomic_clear(&host_is_busy, __ATOMIC_RELEASE);
        return false;
    }
    t->devices = *job->kernel;
    t->devices.n = from;
    for (int i = 0; i < job->operands; i++) {
        struct sc_view part = part_of(job, i, 0, from);

        sc_coherence_part(&job->operand[i], 0, 0, part.rows, part.cols, &t->operand[i]);
    }
    job->kernel = &t->devices;
    job->operand = t->operand;
    return true;
}

enum sc_status sc_blas_together_end(const struct sc_blas_together *t)
{
    enum sc_status status = on_host(&t->whole, t->from, t->whole.kernel->n);

    __atomic_clear(&host_is_busy, __ATOMIC_RELEASE);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
