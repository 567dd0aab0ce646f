/* A hash of everything that decides the next events: two runs with the same hash continue in the same ways. Names,
 * addresses and ages are not hashed. A fence counts by the number of marks in front of it. */
#include <string.h>

#include "tests/explore/explore.h"

static uint64_t value;

void explore_hash(uint64_t number)
{
    value ^= number;
    value *= UINT64_C(0x9e3779b97f4a7c15);
    value ^= value >> 29;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 32;
}

/* Elements at the borders of pieces, sectors and pages, which stand for the elements in between. */
static const int probes[] = {0, 255, 256, 299, 300, 511, 512, 767, 768, 1023};

static void hash_elements(const double *p)
{
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        uint64_t bits;

        memcpy(&bits, &p[probes[i]], sizeof bits);
        explore_hash(bits);
    }
}

/* Fences of one stream are reached in order, and differ by the number of outstanding fences. */
void explore_hash_fence(struct sc_fence f)
{
    uint64_t further = 0;
    struct sc_fence g = f;

    if (f.seq && !explore_device.done(f)) {
        for (further = 1; g.seq > 1 && (g.seq--, !explore_device.done(g)); further++)
            ;
        further |= (uint64_t)(f.device << 8 | f.stream) << 32;
    }
    explore_hash(further << 1 | (uint64_t)explore_fence_failed(f));
}

static void hash_fences(const struct sc_fence *f, int n)
{
    for (int i = 0; i < n; i++)
        explore_hash_fence(f[i]);
}

static const void *memory_of(const struct sc_lru *node) { return SC_LRU_OWNER(node, struct sc_copy, lru)->memory; }

static void hash_copy(const struct sc_tile *t, const struct sc_copy *c)
{
    explore_hash((uint64_t)explore_allocation(c->memory));
    explore_hash(c->valid);
    explore_hash(c->pending);
    explore_hash(c->lru.pins);
    explore_hash(c->lease != NULL);
    hash_fences(c->ready, t->sectors);
    hash_fences(c->used, t->sectors);
    hash_fences(c->sent, t->sectors);
    explore_hash_fence(c->last_used);
    hash_fences(c->reader, DEVICES);
    explore_hash_fence(c->reader[SC_DEVICES_MAX]);
    /* The order of evictions. */
    explore_hash(c->lru.older ? (uint64_t)explore_allocation(memory_of(c->lru.older)) : 99);
    explore_hash(c->lru.newer ? (uint64_t)explore_allocation(memory_of(c->lru.newer)) : 99);
}

static void hash_matrix(const struct sc_matrix *m)
{
    explore_hash(m->base - (uintptr_t)explore_data[0]);
    explore_hash(m->users);
    for (int g = 0; g < sc_matrix_sectors(m); g++)
        explore_hash(m->open[g]);
    explore_hash(m->home[0]);
    explore_hash(m->wait.home_bytes << 2 | (uint64_t)m->wait.read_whole << 1 | (m->wait.faults > 0));
    for (int i = 0; i < m->row_parts * m->col_parts; i++) {
        const struct sc_tile *t = &m->tiles[i];

        explore_hash(t->host_valid);
        explore_hash(t->linked);
        hash_fences(t->landed, t->sectors);
        hash_fences(t->host_read, DEVICES);
        hash_fences(t->read, t->sectors);
        for (int g = 0; g < t->sectors; g++) /* decides what is noted in read_apart, even of a reached fence */
            explore_hash(t->read[g].seq ? 1 + (uint64_t)t->read[g].device : 0);
        hash_fences(t->read_apart, DEVICES);
        hash_fences(t->host_write, DEVICES);
        for (int d = 0; d < sc_protocol.devices; d++)
            hash_copy(t, &t->copy[d]);
    }
}

static void hash_windows(void)
{
    for (int i = 0; i < sc_windows_used; i++) {
        explore_hash(sc_windows[i].m ? sc_windows[i].m->base : 0);
        explore_hash(sc_windows[i].m ? sc_windows[i].lo : 0);
        explore_hash(sc_windows[i].m ? sc_windows[i].hi : 0);
        if (sc_windows[i].m)
            hash_fences(sc_windows[i].fences.f, sc_windows[i].fences.count);
    }
}

static void hash_host(int array)
{
    static double now[PAGES * 512];
    uintptr_t page = (uintptr_t)explore_data[array];

    for (int i = 0; i < PAGES; i++)
        explore_hash(sc_host_prot(page + (uintptr_t)i * SC_PAGE));
    explore_peek(now, explore_data[array], sizeof now);
    hash_elements(&now[FIRST]);
    hash_elements(&explore_model[array][FIRST]);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        explore_hash(explore_lost[array][FIRST + probes[i]]);
}

static void hash_address(const void *p, int device)
{
    uintptr_t base = device == SC_HOST ? (uintptr_t)explore_data[0] : (uintptr_t)explore_memory;

    explore_hash((uint64_t)((uintptr_t)p - base));
}

static void hash_work(const struct explore_work *w)
{
    explore_hash(w->kind);
    switch (w->kind) {
    case COPY:
        hash_address(w->copy.dst, w->copy.dst_device);
        hash_address(w->copy.src, w->copy.src_device);
        explore_hash(w->copy.width << 8 | w->copy.height);
        break;
    case KERNEL:
        hash_address(w->kernel.a, 0);
        hash_address(w->kernel.b ? w->kernel.b : w->kernel.a, 0);
        hash_address(w->kernel.c ? w->kernel.c : w->kernel.a, 0);
        explore_hash((uint64_t)w->kernel.op << 32 | (uint64_t)w->kernel.n);
        explore_hash((uint64_t)(w->kernel.alpha[0] + 1000 * w->kernel.alpha[1]));
        break;
    case FILL:
        hash_address(w->fill.memory, 0);
        break;
    default:
        explore_hash_fence(w->fence);
    }
}

static void hash_devices(void)
{
    for (int d = 0; d < DEVICES; d++) {
        explore_hash((uint64_t)explore_device_health(d));
        explore_hash((uint64_t)(sc_protocol.round[d] << 3 | sc_protocol.failed[d] << 2 | sc_protocol.lost[d] << 1 |
                                (sc_protocol.bad >> d & 1)));
        for (int i = 0; i < SLOTS; i++) {
            explore_hash(explore_taken[d][i]);
            hash_elements(explore_memory[d][i]);
        }
    }
    for (int i = 0; i < DEVICES * SC_STREAMS; i++) {
        const struct explore_stream *s = &explore_streams[0][0] + i;

        explore_hash(s->marked - s->done);
        for (unsigned k = s->head; k != s->tail; k++)
            hash_work(&s->queue[k % QUEUE]);
        explore_hash(~UINT64_C(0));
    }
}

uint64_t explore_state(void)
{
    value = 0;
    explore_hash(sc_directory_count());
    for (size_t i = 0; i < sc_directory_count(); i++)
        hash_matrix(sc_directory_at(i));
    hash_windows();
    hash_devices();
    explore_hash_threads();
    explore_hash_forms();
    for (int a = 0; a < ARRAYS; a++)
        hash_host(a);
    return value;
}
/* SPDX-License-Identifier: BSD-2-Clause */
