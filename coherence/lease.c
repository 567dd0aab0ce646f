/* Leases: the memory of a tile on a device for work of the program between two calls (task.h).  Leased memory keeps
 * its contents: a writer moves the tile to other memory first (memory.c), and a tile that leaves the device leaves its
 * memory to the lease. */
#include "coherence/protocol.h"

#include <stdlib.h>

struct sc_lease {
    void *memory;         /* NULL: gone with the devices */
    struct sc_copy *copy; /* the memory's tile; NULL: the lease owns the memory */
    int device;
    uint32_t holders;
    int users; /* number of fences of other work on the memory, from before the lease owned the memory */
    struct sc_fence user[SC_USERS_MAX + 2];
    struct sc_lease *next, **place; /* in the list of all */
};

static struct sc_lease *all;

static struct sc_lease *new_lease(int device, struct sc_copy *c)
{
    struct sc_lease *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->memory = c->memory;
    l->copy = c;
    l->device = device;
    l->next = all;
    l->place = &all;
    if (all)
        all->place = &l->next;
    all = l;
    return l;
}

struct sc_lease *sc_lease_begin(int device, struct sc_copy *c)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(c->memory);
    if (!c->lease)
        c->lease = new_lease(device, c);
    if (c->lease)
        c->lease->holders++;
    return c->lease;
}

void sc_lease_keep(struct sc_copy *c, const struct sc_fence *users, int count)
{
    struct sc_lease *l = c->lease;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(l && l->copy == c && count <= SC_USERS_MAX + 1);
    l->copy = NULL;
    for (int i = 0; i < count; i++)
        l->user[i] = users[i];
    l->users = count;
    c->lease = NULL;
}

/* After the last holder's work: the tile has its memory to itself, or the memory is free. */
static void end(struct sc_lease *l)
{
    struct sc_fence f;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (sc_mark(l->device, SC_STREAM_COMPUTE, &f) != SC_OK) {
        sc_device_gave_up(l->device, "ordering its work"); /* the memory is never used again */
        if (l->copy)
            l->copy->lease = NULL;
        return;
    }
    if (!l->copy) {
        l->user[l->users++] = f;
        sc_protocol.ops->free(l->device, l->memory, l->user, l->users);
        return;
    }
    l->copy->lease = NULL;
    l->copy->last_used = f;
    for (int s = 0; s < l->copy->tile->sectors; s++)
        l->copy->used[s] = f;
}

int sc_lease_device(const struct sc_lease *lease)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return lease->memory ? lease->device : -1;
}

void sc_lease_end(struct sc_lease *lease)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    if (--lease->holders)
        return;
    if (lease->memory)
        end(lease);
    *lease->place = lease->next;
    if (lease->next)
        lease->next->place = lease->place;
    free(lease);
}

void sc_lease_stop(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (struct sc_lease *l = all; l; l = l->next) {
        if (l->copy)
            l->copy->lease = NULL;
        l->copy = NULL;
        l->memory = NULL;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
