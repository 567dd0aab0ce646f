#include "blas/partials.h"

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

    if (status == SC_OK)
        p->device[p->count++] = device;
    return status;
}

void sc_partials_free(struct sc_partials *p)
{
    for (int i = 0; i < p->count; i++)
        sc_coherence_temporary_free(p->device[i], p->memory[i]);
    p->count = 0;
}

void *sc_partials_at(const struct sc_partials *p, int i, int owner, size_t offset, size_t bytes, void **staging)
{
    char *from = (char *)p->memory[i] + offset;

    *staging = NULL;
    if (p->device[i] == owner)
        return from;
    if (sc_coherence_temporary(owner, bytes, staging) != SC_OK) {
        *staging = NULL;
        return NULL;
    }
    return sc_coherence_temporary_copy(owner, *staging, p->device[i], from, bytes) == SC_OK ? *staging : NULL;
}
