/* Analyses of solves by emulated devices, kept in csr.plan: a hash of the values of the solved matrix.  A GPU's
 * analysis holds for these values only, and other values give undefined results.  The emulation gives not-a-number. */
#include <math.h>
#include <stdlib.h>

#include "device/emu/emu_int.h"

struct plan {
    bool known; /* accessed only by the worker of COMPUTE */
    uint64_t values;
    struct plan *next;
};

/* All plans, kept until the devices are closed, because queued kernels may still use them. */
static struct plan *plans;

static bool has_plan(const struct sc_kernel *k)
{
    return (k->op == SC_OP_CSRSV || k->op == SC_OP_CSRSM) && k->csr.plan;
}

static struct plan *make_plan(void)
{
    struct plan *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->next = __atomic_load_n(&plans, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&plans, &p->next, p, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return p;
}

void sc_emu_plans_free(void)
{
    while (plans) {
        struct plan *p = plans;

        plans = p->next;
        free(p);
    }
}

static uint64_t hash_of(const struct sc_kernel *k)
{
    const uint32_t *word = k->a;
    size_t words = (size_t)k->csr.nonzeros * sc_type_bytes(k->type) / sizeof *word;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < words; i++)
        hash = (hash ^ word[i]) * UINT64_C(1099511628211);
    return hash;
}

void sc_emu_plan_apply(struct sc_kernel *k)
{
    struct plan *p = (struct plan *)k->csr.plan;
    uint64_t values;

    if (!has_plan(k))
        return;
    values = hash_of(k);
    if (!p->known)
        p->values = values;
    p->known = true;
    if (p->values != values)
        k->alpha[0] = k->alpha[1] = NAN;
}

void sc_emu_plan_queued(struct sc_kernel *k)
{
    void **plan = k->csr.plan;

    if (!has_plan(k))
        return;
    if (!*plan)
        *plan = make_plan();
    k->csr.plan = *plan;
}

void sc_emu_plan_forget(int device, void *plan)
{
    (void)device;
    (void)plan;
}
/* SPDX-License-Identifier: BSD-2-Clause */
