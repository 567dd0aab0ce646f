/* Memory of the emulated devices.
 *
 * A block is a separate mapping.  A freed block serves the next request of the same size at once, although operations
 * on the block may still be queued.  As in a stream-ordered pool, only the fence returned by alloc separates old and
 * new users; a user that does not wait for the fence gets wrong numbers. */
#include "device/emu/emu_int.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GRAIN 4096u
#define HUGE_PAGE ((size_t)2 << 20)
#define IDLE_MAX ((uint64_t)256 << 20) /* bytes kept for reuse, per device */
/* A block has two of the process's mappings (vm.max_map_count, 65530), which the program needs too. */
#define LIVE_BLOCKS_MOST 8192u /* of all devices together */
#define IDLE_BLOCKS_MOST 1024u
#define SLOT_BYTES 16u

struct range { uintptr_t base; size_t bytes; };

/* Ranges by ascending address, without overlap. */
struct ranges { struct range *at; size_t count, room; };

static struct {
    pthread_mutex_t lock; /* protects this struct, except the slots' counters */
    int devices;
    bool virtual_only;
    struct device_memory {
        uint64_t limit, used, idle_bytes;
        struct ranges live, idle; /* `idle` is in the order of the frees */
        char *slots;
        unsigned next_slot; /* atomic */
    } device[SC_DEVICES_MAX];
    struct ranges pins; /* survive close, as the pinned memory does */
} mem = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- ranges ----------------------------------------------------------------------------------------------------- */

/* Index of the first range that ends above `at`. */
static size_t search(const struct ranges *r, uintptr_t at)
{
    size_t low = 0, high = r->count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (r->at[mid].base + r->at[mid].bytes <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool insert(struct ranges *r, size_t i, struct range range)
{
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct range *at = realloc(r->at, room * sizeof *at);
        if (!at)
            return false;
        r->at = at;
        r->room = room;
    }
    memmove(&r->at[i + 1], &r->at[i], (r->count - i) * sizeof *r->at);
    r->at[i] = range;
    r->count++;
    return true;
}

static struct range take_out(struct ranges *r, size_t i)
{
    struct range range = r->at[i];

    memmove(&r->at[i], &r->at[i + 1], (--r->count - i) * sizeof *r->at);
    return range;
}

static bool holds(const struct ranges *r, uintptr_t base, uint64_t bytes)
{
    size_t i = search(r, base);

    return i < r->count && r->at[i].base <= base && bytes <= r->at[i].base + r->at[i].bytes - base;
}

/* --- blocks ----------------------------------------------------------------------------------------------------- */

/* Maps a block between two readable mappings of its size, because BLAS kernels read (never write) past the ends of
 * operands: whole vectors, or a further element of a vector with an increment.  OpenBLAS 0.3.21 cdotu with increments
 * 2 and -1 reads the element below y.  Its zlauu2 reads a row to the column behind the matrix. */
static void *map(size_t bytes)
{
    int protection = mem.virtual_only ? PROT_NONE : PROT_READ;
    char *p = mmap(NULL, 3 * bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    p += bytes;
    if (mem.virtual_only) /* equal protection: the system merges the blocks into few mappings */
        return p;
    if (mprotect(p, bytes, PROT_READ | PROT_WRITE)) {
        munmap(p - bytes, 3 * bytes);
        return NULL;
    }
    if (bytes >= HUGE_PAGE)
        madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void unmap(void *p, size_t bytes) { munmap((char *)p - bytes, 3 * bytes); }

static void *take_idle(struct device_memory *d, size_t bytes)
{
    for (size_t i = d->idle.count; i-- > 0;)
        if (d->idle.at[i].bytes == bytes) {
            d->idle_bytes -= bytes;
            return (void *)take_out(&d->idle, i).base;
        }
    return NULL;
}

static bool give_idle(struct device_memory *d, struct range block)
{
    if (!insert(&d->idle, d->idle.count, block))
        return false;
    d->idle_bytes += block.bytes;
    return true;
}

/* A device's part of a number of blocks.  Devices without memory of their own have few mappings. */
static size_t part_of(size_t blocks) { return mem.virtual_only ? SIZE_MAX : blocks / (size_t)mem.devices; }

static enum sc_status take_locked(struct device_memory *d, size_t bytes, void **memory, bool *fresh)
{
    void *p;

    if (bytes > d->limit || d->used > d->limit - bytes || d->live.count >= part_of(LIVE_BLOCKS_MOST))
        return SC_ERR_DEVICE_MEMORY;
    p = take_idle(d, bytes);
    *fresh = !p;
    if (!p)
        p = map(bytes);
    if (!p) {
        sc_log_once(SC_LOG_WARN, "emulated device: the system has no %zu bytes for it", bytes);
        return SC_ERR_DEVICE_MEMORY;
    }
    if (!insert(&d->live, search(&d->live, (uintptr_t)p), (struct range){(uintptr_t)p, bytes})) {
        if (*fresh)
            unmap(p, bytes);
        else
            give_idle(d, (struct range){(uintptr_t)p, bytes}); /* cannot fail: the entry in `idle` is still allocated */
        return SC_ERR_MEMORY;
    }
    d->used += bytes;
    *memory = p;
    return SC_OK;
}

enum sc_status sc_emu_memory_take(int device, size_t bytes, void **memory, size_t *whole, bool *fresh)
{
    enum sc_status status;

    if (bytes > SIZE_MAX / 3 - GRAIN)
        return SC_ERR_DEVICE_MEMORY;
    *whole = (bytes + (bytes == 0) + GRAIN - 1) / GRAIN * GRAIN;
    pthread_mutex_lock(&mem.lock);
    status = take_locked(&mem.device[device], *whole, memory, fresh);
    pthread_mutex_unlock(&mem.lock);
    return status;
}

static bool give_locked(struct device_memory *d, uintptr_t base, size_t *whole, struct sc_emu_unmap *evicted)
{
    size_t i = search(&d->live, base);
    struct range block, out;

    if (i == d->live.count || d->live.at[i].base != base)
        return false;
    block = take_out(&d->live, i);
    d->used -= block.bytes;
    *whole = block.bytes;
    if (!give_idle(d, block)) {
        *evicted = (struct sc_emu_unmap){(void *)block.base, block.bytes};
        return true;
    }
    if (d->idle_bytes > IDLE_MAX || d->idle.count > part_of(IDLE_BLOCKS_MOST)) {
        out = take_out(&d->idle, 0);
        d->idle_bytes -= out.bytes;
        *evicted = (struct sc_emu_unmap){(void *)out.base, out.bytes};
    }
    return true;
}

bool sc_emu_memory_give(int device, void *memory, size_t *whole, struct sc_emu_unmap *evicted)
{
    bool good;

    *evicted = (struct sc_emu_unmap){NULL, 0};
    pthread_mutex_lock(&mem.lock);
    good = give_locked(&mem.device[device], (uintptr_t)memory, whole, evicted);
    pthread_mutex_unlock(&mem.lock);
    return good;
}

void sc_emu_memory_unmap(const struct sc_emu_unmap *block) { unmap(block->memory, block->bytes); }

bool sc_emu_memory_holds(int device, const void *memory, uint64_t bytes)
{
    bool good;

    pthread_mutex_lock(&mem.lock);
    good = holds(&mem.device[device].live, (uintptr_t)memory, bytes);
    pthread_mutex_unlock(&mem.lock);
    return good;
}

uint64_t sc_emu_memory_in_use(int device)
{
    uint64_t used;

    pthread_mutex_lock(&mem.lock);
    used = mem.device[device].used;
    pthread_mutex_unlock(&mem.lock);
    return used;
}

/* --- pinned host memory ----------------------------------------------------------------------------------------- */

enum sc_status sc_emu_pin(void *base, size_t bytes)
{
    uintptr_t at = (uintptr_t)base;
    enum sc_status status = SC_OK;
    size_t i;

    pthread_mutex_lock(&mem.lock);
    i = search(&mem.pins, at);
    if (!bytes || (i < mem.pins.count && mem.pins.at[i].base < at + bytes)) {
        sc_log(SC_LOG_ERROR, "emulated device: pin of %zu bytes at %p overlaps a pinned range", bytes, base);
        status = SC_ERR_INVALID;
    } else if (!insert(&mem.pins, i, (struct range){at, bytes})) {
        status = SC_ERR_MEMORY;
    }
    pthread_mutex_unlock(&mem.lock);
    return status;
}

void sc_emu_unpin(void *base, size_t bytes)
{
    size_t i;

    pthread_mutex_lock(&mem.lock);
    i = search(&mem.pins, (uintptr_t)base);
    if (i < mem.pins.count && mem.pins.at[i].base == (uintptr_t)base && mem.pins.at[i].bytes == bytes)
        take_out(&mem.pins, i);
    else
        sc_log(SC_LOG_ERROR, "emulated device: unpin of %zu bytes at %p, which is not what was pinned", bytes, base);
    pthread_mutex_unlock(&mem.lock);
}

bool sc_emu_is_slot(const void *base, uint64_t bytes)
{
    for (int i = 0; i < mem.devices; i++) {
        uintptr_t first = (uintptr_t)mem.device[i].slots, at = (uintptr_t)base;
        if (at >= first && at < first + SC_RESULT_SLOTS * SLOT_BYTES)
            return bytes <= first + SC_RESULT_SLOTS * SLOT_BYTES - at;
    }
    return false;
}

bool sc_emu_pinned(const void *base, uint64_t bytes)
{
    bool good;

    if (sc_emu_is_slot(base, bytes))
        return true;
    pthread_mutex_lock(&mem.lock);
    good = holds(&mem.pins, (uintptr_t)base, bytes);
    pthread_mutex_unlock(&mem.lock);
    return good;
}

/* A slot holds garbage until the operation has written its result. */
void *sc_emu_slot(int device)
{
    struct device_memory *d = &mem.device[device];
    unsigned i = __atomic_fetch_add(&d->next_slot, 1, __ATOMIC_RELAXED) % SC_RESULT_SLOTS;

    return memset(d->slots + i * SLOT_BYTES, mem.virtual_only ? 0 : 0xff, SLOT_BYTES);
}

/* --- start and stop --------------------------------------------------------------------------------------------- */

enum sc_status sc_emu_memory_start(int devices, const uint64_t *limits, bool virtual_only)
{
    mem.devices = devices;
    mem.virtual_only = virtual_only;
    memset(mem.device, 0, sizeof mem.device);
    for (int i = 0; i < devices; i++) {
        void *p = mmap(NULL, SC_RESULT_SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED) {
            sc_emu_memory_stop();
            return SC_ERR_MEMORY;
        }
        mem.device[i].slots = p;
        mem.device[i].limit = limits[i];
    }
    return SC_OK;
}

static void unmap_all(struct ranges *r)
{
    for (size_t i = 0; i < r->count; i++)
        unmap((void *)r->at[i].base, r->at[i].bytes);
    free(r->at);
    *r = (struct ranges){NULL, 0, 0};
}

void sc_emu_memory_stop(void)
{
    for (int i = 0; i < mem.devices; i++) {
        unmap_all(&mem.device[i].live);
        unmap_all(&mem.device[i].idle);
        if (mem.device[i].slots)
            munmap(mem.device[i].slots, SC_RESULT_SLOTS * SLOT_BYTES);
    }
    memset(mem.device, 0, sizeof mem.device);
    mem.devices = 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
