/* The memory given to the program: allocated by semcache, in a table ordered by address. */
#include "cuda-um/um.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/page.h"
#include "semcache/semcache.h"

/* Held while blocks are visited (a visit calls semcache and CUDA) and while a block is freed: no block disappears
 * during a visit.  The lock of the table is innermost. */
static pthread_mutex_t visiting = PTHREAD_MUTEX_INITIALIZER;

static struct {
    pthread_rwlock_t lock;
    struct sc_um_block *block;
    size_t count, room, united, ordinary; /* united: in part at least; ordinary: in part at least */
    uintptr_t lowest, highest;            /* no block has ever lain outside; atomic */
    uint64_t version; /* changes with the set of united blocks; atomic */
    uint64_t bytes;   /* united ones; atomic */
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Index of the first block that ends after the address.  Lock held. */
static size_t at(uintptr_t address)
{
    size_t lo = 0, hi = table.count;

    while (lo < hi) {
        size_t middle = (lo + hi) / 2;

        if (table.block[middle].base + table.block[middle].bytes > address)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static bool insert(const struct sc_um_block *block)
{
    size_t i;

    if (table.count == table.room) {
        size_t room = table.room ? 2 * table.room : 64;
        struct sc_um_block *more = realloc(table.block, room * sizeof *more);

        if (!more)
            return false;
        table.block = more;
        table.room = room;
    }
    i = at(block->base);
    memmove(&table.block[i + 1], &table.block[i], (table.count - i) * sizeof *table.block);
    table.block[i] = *block;
    table.count++;
    if (!table.lowest || block->base < table.lowest)
        __atomic_store_n(&table.lowest, block->base, __ATOMIC_RELAXED);
    if (block->base + block->bytes > table.highest)
        __atomic_store_n(&table.highest, block->base + block->bytes, __ATOMIC_RELAXED);
    return true;
}

static size_t whole_pages(size_t bytes) { return (bytes + SC_PAGE - 1) / SC_PAGE * SC_PAGE; }

/* A block comes (by 1) or goes (-1).  Lock held. */
static void count_block(const struct sc_um_block *b, int by)
{
    table.ordinary += b->united < b->bytes ? (size_t)by : 0;
    if (!b->united)
        return;
    table.united += (size_t)by;
    __atomic_fetch_add(&table.bytes, (uint64_t)by * b->united, __ATOMIC_RELAXED);
    __atomic_fetch_add(&table.version, 1, __ATOMIC_RELEASE);
}

#define SMALL ((size_t)1 << 20)
#define SMALL_MOST 1024 /* united blocks below SMALL: each takes 2 MiB */

static void *alloc(size_t bytes, enum cudaMemoryType kind, size_t *united)
{
    static int small;
    void *memory = NULL;

    if (kind == cudaMemoryTypeManaged && sc_um_way() == SC_UM_MAPPED &&
        sc_um_inner->kernels() != SC_UM_KERNELS_HOST &&
        (bytes >= SMALL || __atomic_add_fetch(&small, 1, __ATOMIC_RELAXED) <= SMALL_MOST))
        memory = sc_um_inner->united_alloc(bytes);
    *united = memory ? whole_pages(bytes) : 0;
    return memory ? memory : semcache_alloc(bytes);
}

void *sc_um_block_new(size_t bytes, enum cudaMemoryType kind)
{
    struct sc_um_block block = {.bytes = bytes, .kind = kind, .device = -1};
    void *memory = alloc(bytes, kind, &block.united);
    bool done;

    if (!memory)
        return NULL;
    block.base = (uintptr_t)memory;
    pthread_rwlock_wrlock(&table.lock);
    done = insert(&block);
    if (done)
        count_block(&block, 1);
    pthread_rwlock_unlock(&table.lock);
    if (done) {
        sc_um_grown();
        return memory;
    }
    semcache_free(memory);
    return NULL;
}

static struct sc_um_block take(uintptr_t base)
{
    struct sc_um_block block = {0};
    size_t i;

    pthread_rwlock_wrlock(&table.lock);
    i = at(base);
    if (i < table.count && table.block[i].base == base) {
        block = table.block[i];
        count_block(&block, -1);
        memmove(&table.block[i], &table.block[i + 1], (--table.count - i) * sizeof *table.block);
    }
    pthread_rwlock_unlock(&table.lock);
    return block;
}

bool sc_um_block_free(void *memory)
{
    struct sc_um_block block;

    pthread_mutex_lock(&visiting);
    block = take((uintptr_t)memory);
    if (block.registered)
        SC_UM_BEHIND(cudaHostUnregister)((char *)memory + block.united);
    if (block.base)
        semcache_free(memory);
    pthread_mutex_unlock(&visiting);
    return block.base != 0;
}

bool sc_um_block_of(const void *p, struct sc_um_block *block)
{
    bool found;
    size_t i;

    pthread_rwlock_rdlock(&table.lock);
    i = at((uintptr_t)p);
    found = i < table.count && table.block[i].base <= (uintptr_t)p;
    if (found)
        *block = table.block[i];
    pthread_rwlock_unlock(&table.lock);
    return found;
}

bool sc_um_is_managed(const void *p)
{
    struct sc_um_block block;

    return sc_um_block_of(p, &block) && block.kind == cudaMemoryTypeManaged;
}

/* The first block that ends after the address. */
static bool next_block(uintptr_t address, struct sc_um_block *block)
{
    bool found;
    size_t i;

    pthread_rwlock_rdlock(&table.lock);
    i = at(address);
    found = i < table.count;
    if (found)
        *block = table.block[i];
    pthread_rwlock_unlock(&table.lock);
    return found;
}

static void put_back(const struct sc_um_block *block)
{
    size_t i;

    pthread_rwlock_wrlock(&table.lock);
    i = at(block->base);
    if (i < table.count && table.block[i].base == block->base)
        table.block[i] = *block;
    pthread_rwlock_unlock(&table.lock);
}

void sc_um_blocks(void (*visit)(struct sc_um_block *block))
{
    struct sc_um_block block = {0};

    pthread_mutex_lock(&visiting);
    while (next_block(block.base + block.bytes, &block)) {
        visit(&block);
        put_back(&block);
    }
    pthread_mutex_unlock(&visiting);
}

/* --- one address -------------------------------------------------------------------------------------------------- */

uint64_t sc_um_version(void) { return __atomic_load_n(&table.version, __ATOMIC_ACQUIRE); }
uint64_t sc_um_united_bytes(void) { return __atomic_load_n(&table.bytes, __ATOMIC_RELAXED); }
bool sc_um_has_united(void) { return __atomic_load_n(&table.united, __ATOMIC_RELAXED) != 0; }

bool sc_um_has_ordinary(void)
{
    return __atomic_load_n(&table.ordinary, __ATOMIC_RELAXED) != 0;
}

struct sc_lending *sc_um_united(bool (*which)(const struct sc_um_block *block, void *of), void *of, int *count)
{
    struct sc_lending *list;

    *count = 0;
    pthread_rwlock_wrlock(&table.lock);
    list = malloc((table.united + 1) * sizeof *list);
    for (size_t i = 0; list && i < table.count; i++) {
        struct sc_um_block *b = &table.block[i];

        if (!b->united || (which && !which(b, of)))
            continue;
        b->lent = true;
        list[(*count)++] = (struct sc_lending){b->base, b->united};
    }
    pthread_rwlock_unlock(&table.lock);
    return list;
}

void sc_um_separate(uintptr_t base, size_t keep)
{
    struct sc_um_block block;

    pthread_mutex_lock(&visiting);
    if (sc_um_block_of((void *)base, &block) && block.base == base && block.united) {
        if (block.registered)
            SC_UM_BEHIND(cudaHostUnregister)((void *)(base + block.united));
        sc_um_inner->separate((void *)base, keep);
        pthread_rwlock_wrlock(&table.lock);
        count_block(&block, -1);
        block.united = keep;
        count_block(&block, 1);
        pthread_rwlock_unlock(&table.lock);
        block.lent &= keep != 0;
        block.pinned = block.registered = false;
        put_back(&block);
        sc_um_grown();
    }
    pthread_mutex_unlock(&visiting);
}

static bool is_lent(const struct sc_um_block *b) { return b->lent; }
static bool is_united(const struct sc_um_block *b) { return b->united >= b->bytes; }

static bool all_are(const void *const *memory, int count, bool (*is)(const struct sc_um_block *block))
{
    bool any = false;

    for (int i = 0; i < count; i++) {
        struct sc_um_block block;

        if (!memory[i])
            continue;
        if (!sc_um_block_of(memory[i], &block) || !is(&block))
            return false;
        any = true;
    }
    return any;
}

void sc_um_no_kernel_used(void)
{
    pthread_rwlock_wrlock(&table.lock);
    for (size_t i = 0; i < table.count; i++)
        table.block[i].lent = false;
    __atomic_fetch_add(&table.version, 1, __ATOMIC_RELEASE); /* the next launch lends all blocks anew */
    pthread_rwlock_unlock(&table.lock);
}

bool sc_um_all_lent(const void *const *memory, int count) { return all_are(memory, count, is_lent); }
bool sc_um_all_united(const void *const *memory, int count) { return all_are(memory, count, is_united); }

/* --- named blocks ------------------------------------------------------------------------------------------------- */

bool sc_um_is_named(const struct sc_um_block *block, void *of)
{
    const struct sc_um_named *named = of;
    int i = 0;

    while (i < named->count && named->base[i] != block->base)
        i++;
    return i < named->count;
}

/* A loop that runs down takes a pointer behind the last element: the pointer names the block, unless another block
 * begins there. */
static bool managed_of(const void *p, struct sc_um_block *block)
{
    return (sc_um_block_of(p, block) || sc_um_block_of((const char *)p - 1, block)) &&
           block->kind == cudaMemoryTypeManaged;
}

void sc_um_name(struct sc_um_named *named, const void *p)
{
    struct sc_um_block b;

    if ((uintptr_t)p < __atomic_load_n(&table.lowest, __ATOMIC_RELAXED) ||
        (uintptr_t)p > __atomic_load_n(&table.highest, __ATOMIC_RELAXED) || !managed_of(p, &b) ||
        sc_um_is_named(&b, named))
        return;
    named->many |= named->count == SC_UM_NAMED_MOST;
    named->ordinary |= b.united < b.bytes;
    if (named->many || !b.united)
        return;
    named->unlike |= named->count && (named->since != b.since || named->device != b.device);
    named->since = b.since;
    named->device = b.device;
    named->base[named->count++] = b.base;
}

void sc_um_named_lent(const struct sc_um_named *named, int device, uint64_t since)
{
    pthread_rwlock_wrlock(&table.lock);
    for (int n = 0; n < named->count; n++) {
        size_t i = at(named->base[n]);

        if (i < table.count && table.block[i].base == named->base[n]) {
            table.block[i].since = since;
            table.block[i].device = device;
        }
    }
    pthread_rwlock_unlock(&table.lock);
}

bool sc_um_has_blocks(void) { return __atomic_load_n(&table.count, __ATOMIC_RELAXED) != 0; }
/* SPDX-License-Identifier: BSD-2-Clause */
