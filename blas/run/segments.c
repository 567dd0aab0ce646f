/* Walks one or two vectors in segments, each on a single device.  Plain vectors are walked run by run.  Large
 * matrices that are used as a long vector are walked tile by tile. */
#include "autotuner/autotuner.h"
#include "base/config.h"
#include "blas/run/tasks.h"
#include "coherence/devices.h"

struct walk {
    struct sc_blas_job *call;
    const enum sc_access *access;
    int lead;
    enum sc_status (*visit)(void *context, const struct sc_segment *segment);
    void *context;
    bool is_matrix[2];
    struct sc_operand matrix[2]; /* the operand seen as a matrix */
};

int64_t sc_blas_segment_at(const struct sc_segment *s, int64_t e)
{
    return s->stride ? s->first + e / s->rows * s->stride + e % s->rows : s->first + e;
}

/* --- plain vectors ------------------------------------------------------------------------------------------------ */

static int home_at(const struct sc_operand *vector, int64_t element)
{
    struct sc_piece piece = sc_blas_vector(vector, element, 1, SC_READ);

    return sc_coherence_home(&piece);
}

/* Length of the run from `first` on, at most `limit`, with the same home.  Homes ascend along a vector. */
static int64_t home_run(const struct sc_operand *vector, int64_t first, int64_t limit, int *device)
{
    int64_t good = 1, bad = limit;

    *device = home_at(vector, first);
    if (home_at(vector, first + limit - 1) == *device)
        return limit;
    while (bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;

        if (home_at(vector, first + middle - 1) == *device)
            good = middle;
        else
            bad = middle;
    }
    return good;
}

static int64_t run_of(const struct sc_operand *vector, int64_t first, int64_t limit, int *device)
{
    if (vector->view.ld > 0)
        return sc_coherence_run(vector, first, limit, device);
    /* Backwards is not worth a search: the whole part goes to the device that holds most of it. */
    *device = sc_coherence_where(&(struct sc_piece){.operand = vector, .r = vector->view.rows - first - limit,
                                                    .rows = limit, .cols = 1, .access = SC_READ});
    return limit;
}

/* True when a vector with parts on several devices is too short for several launches.  A single launch, with the
 * parts gathered on the device of the vector's beginning, costs the caller less time, and so do later calls. */
static bool gathered(const struct walk *w, int *device)
{
    const struct sc_operand *lead = &w->call->operand[w->lead];
    uint64_t bytes = (uint64_t)lead->view.rows * sc_type_bytes(lead->view.type);
    double peers = sc_coherence_peer_ratio() * sc_coherence_device_properties(0)->host_bandwidth;

    if (w->access[w->lead] == SC_WRITE ||
        !sc_autotuner_gathers(bytes, sc_coherence_devices(), peers, sc_config.offload))
        return false;
    *device = home_at(lead, 0);
    return true;
}

/* Length and device of the next segment: the device of the leading operand, or of the other operand, or the leading
 * operand's home. */
static int64_t next_run(const struct walk *w, int64_t first, int64_t limit, int *device)
{
    const struct sc_operand *lead = &w->call->operand[w->lead];
    int64_t n = run_of(lead, first, limit, device);

    if (n < limit && gathered(w, device))
        return limit;
    if (*device == SC_HOST && w->call->operands == 2) {
        int64_t other = run_of(&w->call->operand[!w->lead], first, n, device);

        n = other < n ? other : n;
    }
    if (*device == SC_HOST)
        n = home_run(lead, first, n, device);
    return n;
}

static enum sc_status visit_run(const struct walk *w, int device, int64_t first, int64_t n)
{
    struct sc_segment segment = {.device = device, .n = n, .first = first};

    for (int i = 0; i < w->call->operands; i++)
        segment.piece[i] = sc_blas_vector(&w->call->operand[i], first, n, w->access[i]);
    return w->visit(w->context, &segment);
}

static enum sc_status walk_vectors(const struct walk *w)
{
    struct sc_cuts cuts;
    enum sc_status status = SC_OK;

    sc_blas_vector_cuts(&w->call->operand[0], &cuts);
    if (w->call->operands == 2)
        sc_blas_vector_merge(&cuts, &w->call->operand[1]);
    for (int i = 0; i < cuts.n && status == SC_OK; i++)
        for (int64_t at = cuts.at[i], n; at < cuts.at[i + 1] && status == SC_OK; at += n) {
            int device;

            n = next_run(w, at, cuts.at[i + 1] - at, &device);
            status = visit_run(w, device, at, n);
        }
    return status;
}

/* --- matrices used as vectors ------------------------------------------------------------------------------------- */

static bool rectangle_contiguous(const struct walk *w, int device, const struct sc_piece piece[2])
{
    for (int i = 0; i < w->call->operands; i++)
        if (!sc_coherence_contiguous(device, &piece[i]))
            return false;
    return true;
}

/* Visits a rectangle of operands that are all matrices of the same shape: a single task if the rectangle is
 * contiguous on the device, otherwise a task for each column. */
static enum sc_status visit_rectangle(const struct walk *w, int64_t r, int64_t c, int64_t rows, int64_t cols)
{
    int64_t stride = w->matrix[w->lead].view.rows, width = cols;
    struct sc_segment s = {.rows = rows, .stride = stride};
    enum sc_status status = SC_OK;

    for (int i = 0; i < w->call->operands; i++)
        s.piece[i] = sc_blas_matrix(&w->matrix[i], r, c, rows, cols, w->access[i]);
    s.device = sc_coherence_where(&s.piece[w->lead]);
    if (!rectangle_contiguous(w, s.device, s.piece))
        width = 1;
    s.n = rows * width;
    for (int64_t j = c; j < c + cols && status == SC_OK; j += width) {
        s.first = j * stride + r;
        for (int i = 0; i < w->call->operands; i++) {
            s.piece[i].c = j;
            s.piece[i].cols = width;
        }
        status = w->visit(w->context, &s);
    }
    return status;
}

static enum sc_status walk_matrices(const struct walk *w)
{
    struct sc_cuts rows, cols;
    enum sc_status status = SC_OK;

    sc_coherence_row_cuts(&w->matrix[0], &rows);
    sc_coherence_col_cuts(&w->matrix[0], &cols);
    if (w->call->operands == 2) {
        sc_blas_merge_rows(&rows, &w->matrix[1]);
        sc_blas_merge_cols(&cols, &w->matrix[1]);
    }
    for (int j = 0; j < cols.n && status == SC_OK; j++)
        for (int i = 0; i < rows.n && status == SC_OK; i++)
            status = visit_rectangle(w, rows.at[i], cols.at[j], sc_blas_part(&rows, i), sc_blas_part(&cols, j));
    return status;
}

/* One operand is a matrix and the other a vector: visits parts of columns. */
static enum sc_status walk_mixed(const struct walk *w, int matrix)
{
    const struct sc_operand *m = &w->matrix[matrix], *v = &w->call->operand[!matrix];
    struct sc_cuts rows, cuts;
    enum sc_status status = SC_OK;
    int next = 0;

    sc_coherence_row_cuts(m, &rows);
    sc_blas_vector_cuts(v, &cuts);
    for (int64_t c = 0; c < m->view.cols; c++)
        for (int i = 0; i < rows.n; i++) {
            int64_t at = c * m->view.rows + rows.at[i], end = c * m->view.rows + rows.at[i + 1];

            for (int64_t n; at < end && status == SC_OK; at += n) {
                struct sc_segment s = {.first = at};

                while (cuts.at[next + 1] <= at)
                    next++;
                n = cuts.at[next + 1] < end ? cuts.at[next + 1] - at : end - at;
                s.n = n;
                s.piece[matrix] = sc_blas_matrix(m, at - c * m->view.rows, c, n, 1, w->access[matrix]);
                s.piece[!matrix] = sc_blas_vector(v, at, n, w->access[!matrix]);
                s.device = sc_coherence_where(&s.piece[w->lead]);
                status = w->visit(w->context, &s);
            }
        }
    return status;
}

static bool same_shape(const struct sc_operand *a, const struct sc_operand *b)
{
    return a->view.rows == b->view.rows && a->view.cols == b->view.cols;
}

enum sc_status sc_blas_segments(struct sc_blas_job *call, const enum sc_access access[2], int lead,
                                enum sc_status (*visit)(void *context, const struct sc_segment *segment), void *context)
{
    struct walk w = {.call = call, .access = access, .lead = lead, .visit = visit, .context = context};

    for (int i = 0; i < call->operands; i++)
        w.is_matrix[i] = sc_coherence_as_matrix(&call->operand[i], &w.matrix[i]);
    if (call->operands == 1)
        return w.is_matrix[0] ? walk_matrices(&w) : walk_vectors(&w);
    if (w.is_matrix[0] && w.is_matrix[1] && same_shape(&w.matrix[0], &w.matrix[1]))
        return walk_matrices(&w);
    if (w.is_matrix[0] || w.is_matrix[1])
        return walk_mixed(&w, w.is_matrix[0] ? 0 : 1);
    return walk_vectors(&w);
}
/* SPDX-License-Identifier: BSD-2-Clause */
