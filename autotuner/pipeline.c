#include "autotuner/pipeline.h"

#include <math.h>
#include <stdlib.h>

enum sc_status sc_pipeline_init(struct sc_pipeline *p, struct sc_parts rows, struct sc_parts cols,
                                struct sc_parts depth, int devices)
{
    size_t m = (size_t)rows.n, n = (size_t)cols.n, k = (size_t)depth.n, d = (size_t)devices;

    *p = (struct sc_pipeline){.m = rows.n, .n = cols.n, .k = depth.n, .devices = devices, .rows = rows, .cols = cols,
                              .depth = depth, .rate = 1};
    p->device = calloc(3 * m * n + k + d * k, sizeof *p->device);
    p->a = calloc(d * k * (m + n) + m * n, sizeof *p->a);
    if (!p->device || !p->a) {
        sc_pipeline_free(p);
        return SC_ERR_MEMORY;
    }
    p->done = p->device + m * n;
    p->straight = p->done + m * n;
    p->join_end = p->straight + m * n;
    p->b = p->a + d * m * k;
    p->c = p->b + d * k * n;
    p->order = p->join_end + k;
    for (int l = 0; l < p->k; l++)
        p->join_end[l] = p->k;
    for (size_t t = 0; t < d * k; t++)
        p->order[t] = (int)(t % k);
    return SC_OK;
}

void sc_pipeline_by_block(struct sc_pipeline *p, int m, int n, int k)
{
    p->by_block = true;
    p->next = 0;
    p->m = m;
    p->n = n;
    p->k = k;
}

void sc_pipeline_free(struct sc_pipeline *p)
{
    free(p->device);
    free(p->a);
    p->device = NULL;
    p->a = NULL;
}

void sc_pipeline_expect_nothing(struct sc_pipeline *p, bool read_c)
{
    size_t blocks = (size_t)p->m * (size_t)p->n;
    size_t inputs = (size_t)p->devices * (size_t)p->k * ((size_t)p->m + (size_t)p->n);

    for (size_t i = 0; i < inputs + (read_c ? blocks : 0); i++)
        p->a[i] = INFINITY;
}

bool sc_pipeline_reads(const struct sc_pipeline *p, int device, int i, int j)
{
    int first = i >= 0 ? i : j * p->m, step = i >= 0 ? p->m : 1, count = i >= 0 ? p->n : p->m;

    for (int e = 0; e < count; e++)
        if (p->device[first + e * step] == device)
            return true;
    return false;
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

/* The part of k that comes t-th in a block. */
static int part_of(const struct sc_pipeline *p, int d, int i, int j, int t)
{
    return p->straight[i + j * p->m] ? t : p->order[(size_t)d * (size_t)p->k + (size_t)t];
}

static bool all_there(const struct sc_pipeline *p, int d, int i, int j)
{
    for (int l = 0; l < p->k; l++)
        if (arrival(p, d, i, j, l) > p->load[d].run)
            return false;
    return true;
}

/* Number of parts of a block, from the t-th on, that have arrived and may be one task: adjacent and in the same
 * tile. */
static int ready_parts(const struct sc_pipeline *p, int d, int i, int j, int t)
{
    int l = part_of(p, d, i, j, t), parts = 0;

    while (t + parts < p->k && part_of(p, d, i, j, t + parts) == l + parts && l + parts < p->join_end[l] &&
           arrival(p, d, i, j, l + parts) <= p->load[d].run)
        parts++;
    return parts;
}

/* Looks for a block of device d that can run a task now.  Otherwise *next is the time when a task can run: INFINITY
 * if the time is not known yet, negative if no task is left. */
static bool find_block(struct sc_pipeline *p, int d, struct sc_pipeline_task *task, double *next)
{
    *next = -1;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++) {
            int at = i + j * p->m, l, parts;
            double when;

            if (p->device[at] != d || p->done[at] == p->k)
                continue;
            if (!p->done[at])
                p->straight[at] = all_there(p, d, i, j);
            l = part_of(p, d, i, j, p->done[at]);
            parts = ready_parts(p, d, i, j, p->done[at]);
            if (parts) {
                *task = (struct sc_pipeline_task){.device = d, .i = i, .j = j, .l = l, .l_end = l + parts,
                                                  .starts = p->done[at] == 0};
                return true;
            }
            when = arrival(p, d, i, j, l);
            *next = *next < 0 || when < *next ? when : *next;
        }
    return false;
}

static void account(struct sc_pipeline *p, const struct sc_pipeline_task *t)
{
    double products = (double)(p->rows.at[t->i + 1] - p->rows.at[t->i]) *
                      (double)(p->cols.at[t->j + 1] - p->cols.at[t->j]) *
                      (double)(p->depth.at[t->l_end] - p->depth.at[t->l]);

    sc_load_task(&p->load[t->device], 0, products / p->rate);
    p->done[t->i + t->j * p->m] += t->l_end - t->l;
}

/* The device with the earliest clock among the devices that do not wait. */
static int earliest(const struct sc_pipeline *p, const bool *waiting)
{
    int best = -1;

    for (int d = 0; d < p->devices; d++)
        if (!waiting[d] && (best < 0 || p->load[d].run < p->load[best].run))
            best = d;
    return best;
}

static bool next_by_block(struct sc_pipeline *p, struct sc_pipeline_task *task)
{
    int l = p->next % p->k, block = p->next / p->k;

    *task = (struct sc_pipeline_task){.device = -1, .i = block % p->m, .j = block / p->m, .l = l, .l_end = l + 1,
                                      .starts = l == 0};
    p->next++;
    return task->j < p->n;
}

bool sc_pipeline_next(struct sc_pipeline *p, double horizon, struct sc_pipeline_task *task)
{
    bool waiting[SC_DEVICES_MAX] = {false};

    if (p->by_block)
        return next_by_block(p, task);
    for (int d = earliest(p, waiting); d >= 0; d = earliest(p, waiting)) {
        double next;

        if (p->load[d].run > horizon) {
            waiting[d] = true;
        } else if (find_block(p, d, task, &next)) {
            account(p, task);
            return true;
        } else if (next < 0 || next > horizon) {
            waiting[d] = true;
        } else {
            sc_load_task(&p->load[d], next, 0);
        }
    }
    return false;
}
/* SPDX-License-Identifier: BSD-2-Clause */
