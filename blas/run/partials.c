#include "blas/run/partials.h"

int sc_partials_on(const struct sc_partials *p, int device)
{
    for (int i = 0; i < p->count; i++)
        if (p->device[i] == device)
            return i;
    return -1;
}

enum sc_status sc_partials_add(struct sc_partials *p, int device, size_t bytes)
{
    enum sc_status status = sc_coherence_temporary(device, bytes, &p->memory[p->count]);

    if (status != SC_OK)
        return status;
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        p->sent[p->count][d] = SC_FENCE_NONE;
    p->device[p->count++] = device;
    return SC_OK;
}

void sc_partials_free(struct sc_partials *p)
{
    for (int i = 0; i < p->count; i++) {
        for (int d = 0; d < sc_coherence_devices(); d++)
            sc_coherence_temporary_wait(p->device[i], p->sent[i][d]);
        sc_coherence_temporary_free(p->device[i], p->memory[i]);
    }
    p->count = 0;
}

struct sc_partial sc_partials_fetch(struct sc_partials *p, int i, int owner, size_t offset, size_t bytes)
{
    struct sc_partial part = {.memory = (char *)p->memory[i] + offset, .sent = SC_FENCE_NONE};

    if (p->device[i] == owner)
        return part;
    if (sc_coherence_temporary(owner, bytes, &part.staging) != SC_OK)
        return (struct sc_partial){.sent = SC_FENCE_NONE};
    if (sc_coherence_temporary_send(owner, part.staging, p->device[i], part.memory, bytes, &part.sent) == SC_OK) {
        p->sent[i][owner] = part.sent;
        part.memory = part.staging;
    } else {
        part.memory = NULL;
    }
    return part;
}

enum sc_status sc_partials_task(int owner, const struct sc_partial *part, const struct sc_kernel *kernel,
                                struct sc_piece result)
{
    enum sc_status status = part->memory ? sc_coherence_temporary_wait(owner, part->sent) : SC_ERR_DEVICE;

    if (status != SC_OK)
        return SC_ERR_DEVICE;
    return sc_blas_task(owner, kernel, sc_blas_temporary(part->memory, kernel->n, SC_READ), result, sc_blas_none());
}

void sc_partials_drop(int owner, struct sc_partial *part)
{
    if (part->staging)
        sc_coherence_temporary_free(owner, part->staging);
    part->staging = NULL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
