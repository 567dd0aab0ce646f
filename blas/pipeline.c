#include "blas/pipeline.h"

#include <float.h>
#include <stdlib.h>

enum sc_status sc_pipeline_init(struct sc_pipeline *p, const struct sc_cuts *rows, const struct sc_cuts *cols,
                                const struct sc_cuts *depth, int devices)
{
    size_t m = (size_t)rows->n, n = (size_t)cols->n, k = (size_t)depth->n, d = (size_t)devices;

    *p = (struct sc_pipeline){.m = rows->n, .n = cols->n, .k = depth->n, .devices = devices, .rows = rows, .cols = cols,
                              .depth = depth, .rate = 1};
    p->device = calloc(2 * m * n + k, sizeof *p->device);
    p->a = calloc(d * k * (m + n) + m * n, sizeof *p->a);
    if (!p->device || !p->a) {
        sc_pipeline_free(p);
        return SC_ERR_MEMORY;
    }
    p->done = p->device + m * n;
    p->join_end = p->done + m * n;
    p->b = p->a + d * m * k;
    p->c = p->b + d * k * n;
    for (int l = 0; l < p->k; l++)
        p->join_end[l] = p->k;
    return SC_OK;
}

void sc_pipeline_free(struct sc_pipeline *p)
{
    free(p->device);
    free(p->a);
    p->device = NULL;
    p->a = NULL;
}

static double arrival(const struct sc_pipeline *p, int d, int i, int j, int l)
{
    size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    double a = p->a[(size_t)d * m * k + (size_t)i + (size_t)l * m];
    double b = p->b[(size_t)d * k * n + (size_t)l + (size_t)j * k];
    double c = p->c[(size_t)i + (size_t)j * m];

    a = a > b ? a : b;
    return a > c ? a : c;
}

/* How many parts of a block from `l` on have arrived and may be one task: up to the tile's end, and not past where the
 * cycle started. */
static int ready_parts(const struct sc_pipeline *p, int d, int i, int j, int l)
{
    int end = l, most = l < p->first[d] && p->first[d] < p->join_end[l] ? p->first[d] : p->join_end[l];

    while (end < most && arrival(p, d, i, j, end) <= p->clock[d])
        end++;
    return end - l;
}

/* Looks for a block of device d with something to do now; otherwise *next is when there will be (DBL_MAX: never). */
static bool find_block(const struct sc_pipeline *p, int d, struct sc_pipeline_task *task, double *next)
{
    *next = DBL_MAX;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++) {
            int at = i + j * p->m, l = (p->first[d] + p->done[at]) % p->k, parts;
            double when;

            if (p->device[at] != d || p->done[at] == p->k)
                continue;
            parts = ready_parts(p, d, i, j, l);
            if (parts) {
                *task = (struct sc_pipeline_task){.device = d, .i = i, .j = j, .l = l, .l_end = l + parts,
                                                  .starts = p->done[at] == 0};
                return true;
            }
            when = arrival(p, d, i, j, l);
            *next = when < *next ? when : *next;
        }
    return false;
}

static void account(struct sc_pipeline *p, const struct sc_pipeline_task *t)
{
    double products = (double)(p->rows->at[t->i + 1] - p->rows->at[t->i]) *
                      (double)(p->cols->at[t->j + 1] - p->cols->at[t->j]) *
                      (double)(p->depth->at[t->l_end] - p->depth->at[t->l]);

    p->clock[t->device] += products / p->rate;
    p->done[t->i + t->j * p->m] += t->l_end - t->l;
}

static int earliest(const struct sc_pipeline *p)
{
    int best = -1;

    for (int d = 0; d < p->devices; d++)
        if (!p->finished[d] && (best < 0 || p->clock[d] < p->clock[best]))
            best = d;
    return best;
}

bool sc_pipeline_next(struct sc_pipeline *p, struct sc_pipeline_task *task)
{
    for (int d = earliest(p); d >= 0; d = earliest(p)) {
        double next;

        if (find_block(p, d, task, &next)) {
            account(p, task);
            return true;
        }
        if (next == DBL_MAX)
            p->finished[d] = true;
        else
            p->clock[d] = next;
    }
    return false;
}
