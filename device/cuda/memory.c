/* Device memory: a pool above cudaMalloc that reuses freed blocks without asking the driver.
 *
 * A freed block remembers the fences after which it is free; these fences become the ready fence of the next user.  The
 * interface has room for one fence: SC_STREAM_MEMORY waits for several fences, and is marked.  Neither alloc
 * nor free blocks, and a block freed early delays nobody except its next user.
 *
 * Free blocks lie in bins of equal size: 64 sizes for every power of two, at most 1.6% of rounding.  A free block up to
 * an eighth larger than requested is preferred to a new block.  Free blocks return to the driver only when the driver
 * has no memory left, because cudaFree waits for the whole device. */
#include "device/cuda/cuda_int.h"

#include <stdlib.h>

enum {
    BLOCK_FENCES = 8,   /* per block; further fences are merged into one */
    MIN_SHIFT = 9,      /* sizes are multiples of 512 bytes */
    BIN_STEPS = 64,     /* bins for every power of two */
    BINS = (64 - MIN_SHIFT) * BIN_STEPS,
    BINS_LARGER = 8,    /* larger bins to search: blocks up to an eighth larger */
    BUCKETS = 4096,
    SMALL = 64 << 10,   /* bytes */
    SMALL_MORE = 256,   /* small blocks allocated beside a free one, at most, in all */
};

struct block {
    struct block *next_in_bucket, *next_free;
    void *memory;
    size_t bytes, asked;        /* bytes allocated; bytes requested by the caller */
    int fences;
    /* Of a free block: free after these fences.  Of a block in use: ready after these fences. */
    struct sc_fence after[BLOCK_FENCES];
};

struct bin {
    struct block *first, **last; /* oldest first: the oldest is most likely ready */
};

struct sc_cuda_pool {
    /* Protects the members below, and marks on SC_STREAM_MEMORY.  Taken under no other lock of the module. */
    pthread_mutex_t lock;
    uint64_t limit;             /* most bytes in use by callers */
    /* asked: bytes in use, as requested.  held: bytes from the driver, including free blocks. */
    uint64_t asked, held;
    int small;                  /* of SMALL_MORE */
    struct bin bins[BINS];
    struct block *buckets[BUCKETS]; /* blocks in use, by address */
};

pthread_mutex_t *sc_cuda_pool_lock(struct sc_cuda_device *d) { return &d->pool->lock; }

enum sc_status sc_cuda_pool_open(struct sc_cuda_device *d, uint64_t limit)
{
    struct sc_cuda_pool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return SC_ERR_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pool->limit = limit;
    for (int i = 0; i < BINS; i++)
        pool->bins[i].last = &pool->bins[i].first;
    d->pool = pool;
    return SC_OK;
}

/* Returns the bin of a size and rounds the size up to the bin's. */
static int bin_of(size_t *bytes)
{
    int shift;

    if (!*bytes)
        *bytes = 1;
    shift = 63 - __builtin_clzl(*bytes) - 6; /* 64 = 1 << 6 steps for every power of two */
    if (shift < MIN_SHIFT)
        shift = MIN_SHIFT;
    *bytes = (*bytes + ((size_t)1 << shift) - 1) >> shift << shift;
    return (shift - MIN_SHIFT) * BIN_STEPS + (int)(*bytes >> shift);
}

static struct block **bucket_of(struct sc_cuda_pool *pool, const void *memory)
{
    uintptr_t a = (uintptr_t)memory >> MIN_SHIFT;

    return &pool->buckets[(a ^ a >> 12) % BUCKETS];
}

static struct block *bin_pop(struct bin *bin)
{
    struct block *b = bin->first;

    if (b && !(bin->first = b->next_free))
        bin->last = &bin->first;
    return b;
}

static void bin_append(struct bin *bin, struct block *b)
{
    b->next_free = NULL;
    *bin->last = b;
    bin->last = &b->next_free;
}

/* Adds a fence to a block's fences; false if there is no room. */
static bool block_await(struct block *b, struct sc_fence fence)
{
    if (sc_cuda_known_done(fence))
        return true;
    for (int i = 0; i < b->fences; i++)
        if (b->after[i].device == fence.device && b->after[i].stream == fence.stream) {
            if (b->after[i].seq < fence.seq)
                b->after[i].seq = fence.seq;
            return true;
        }
    if (b->fences == BLOCK_FENCES)
        return false;
    b->after[b->fences++] = fence;
    return true;
}

/* Replaces a block's fences by at most one fence behind them. */
static enum sc_status block_merge(struct sc_cuda_device *d, struct block *b)
{
    enum sc_status status = SC_OK;
    int left = 0;

    for (int i = 0; i < b->fences; i++)
        if (!sc_cuda_known_done(b->after[i]))
            b->after[left++] = b->after[i];
    b->fences = left;
    if (left < 2)
        return SC_OK;
    for (int i = 0; i < left && !status; i++)
        status = sc_cuda_wait(d->index, SC_STREAM_MEMORY, b->after[i]);
    if (!status)
        status = sc_cuda_mark_locked(d, SC_STREAM_MEMORY, &b->after[0]);
    if (!status)
        b->fences = 1;
    return status;
}

static bool block_is_free(const struct block *b)
{
    for (int i = 0; i < b->fences; i++)
        if (!sc_cuda_done(b->after[i]))
            return false;
    return true;
}

/* Quiet: the driver refuses nothing that a later call would not report, except for a program without descriptors. */
static void free_block(struct block *b)
{
    if (cudaFree(b->memory) != cudaSuccess)
        cudaGetLastError();
    free(b);
}

/* Returns free blocks of a bin to the driver until `need` bytes are back; returns the number of bytes.  A block whose
 * fences are not reached is skipped, or awaited if `waits`. */
static uint64_t bin_trim(struct sc_cuda_pool *pool, struct bin *bin, uint64_t need, bool waits)
{
    struct bin kept = {.last = &kept.first};
    uint64_t back = 0;
    struct block *b;

    while (back < need && (b = bin_pop(bin))) {
        if (!waits && !block_is_free(b)) {
            bin_append(&kept, b);
            continue;
        }
        for (int i = 0; i < b->fences; i++)
            sc_cuda_sync(b->after[i]);
        back += b->bytes;
        pool->held -= b->bytes;
        free_block(b);
    }
    if (kept.first) { /* to the front again, in the old order */
        *kept.last = bin->first;
        bin->last = bin->first ? bin->last : kept.last;
        bin->first = kept.first;
    }
    return back;
}

/* Returns free blocks to the driver, largest first, until `need` bytes are back; false if no block was returned. */
static bool trim(struct sc_cuda_pool *pool, uint64_t need)
{
    uint64_t back = 0;

    for (int waits = 0; waits < 2; waits++)
        for (int i = BINS - 1; i >= 0 && back < need; i--)
            if (pool->bins[i].first)
                back += bin_trim(pool, &pool->bins[i], need - back, waits);
    return back != 0;
}

/* Allocates a new block from the driver. */
static enum sc_status grow(struct sc_cuda_pool *pool, size_t bytes, struct block **out)
{
    /* Includes free blocks: a limit must leave memory to other users. */
    uint64_t ceiling = pool->limit + pool->limit / 8;
    struct block *b = calloc(1, sizeof *b);
    enum sc_status status;

    if (!b)
        return SC_ERR_MEMORY;
    if (pool->held + bytes > ceiling)
        trim(pool, pool->held + bytes - ceiling);
    do
        status = SC_CUDA(cudaMalloc(&b->memory, bytes));
    while (status == SC_ERR_DEVICE_MEMORY && trim(pool, bytes));
    if (status) {
        free(b);
        return status;
    }
    b->bytes = bytes;
    pool->held += bytes;
    *out = b;
    return SC_OK;
}

static enum sc_status take(struct sc_cuda_device *d, size_t asked, struct block **out)
{
    struct sc_cuda_pool *pool = d->pool;
    struct block *b = NULL;
    size_t bytes = asked;
    int bin, first = bin_of(&bytes);
    enum sc_status status;

    if (asked > pool->limit || pool->asked > pool->limit - asked)
        return SC_ERR_DEVICE_MEMORY;
    /* An upload to the oldest block would wait for the block's last kernel. */
    if (bytes <= SMALL && pool->small < SMALL_MORE && pool->held + bytes <= pool->limit && pool->bins[first].first &&
        !block_is_free(pool->bins[first].first) && grow(pool, bytes, out) == SC_OK) {
        pool->small++;
        return SC_OK;
    }
    for (bin = first; !b && bin <= first + BINS_LARGER && bin < BINS; bin++)
        b = bin_pop(&pool->bins[bin]);
    if (!b)
        status = grow(pool, bytes, &b);
    else if ((status = block_merge(d, b)))
        bin_append(&pool->bins[bin - 1], b);
    *out = b;
    return status;
}

/* SEMCACHE_CHECK: unwritten memory reads as not-a-number. */
static enum sc_status spoil(struct sc_cuda_device *d, struct block *b)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < b->fences && !status; i++)
        status = sc_cuda_wait(d->index, SC_STREAM_MEMORY, b->after[i]);
    if (!status)
        status = SC_CUDA(cudaMemsetAsync(b->memory, 0xff, b->bytes, sc_cuda_enqueue(d, SC_STREAM_MEMORY)));
    if (!status)
        status = sc_cuda_mark_locked(d, SC_STREAM_MEMORY, &b->after[0]);
    if (!status)
        b->fences = 1;
    return status;
}

bool sc_cuda_pool_trim(struct sc_cuda_device *d, uint64_t need)
{
    bool any;

    pthread_mutex_lock(&d->pool->lock);
    any = trim(d->pool, need);
    pthread_mutex_unlock(&d->pool->lock);
    return any;
}

/* More than the limit never fits: not a question of eviction. */
enum sc_status sc_cuda_pool_claim(struct sc_cuda_device *d, size_t bytes)
{
    struct sc_cuda_pool *pool = d->pool;
    enum sc_status status = bytes > pool->limit ? SC_ERR_UNSUPPORTED : SC_OK;

    pthread_mutex_lock(&pool->lock);
    if (status == SC_OK && pool->asked > pool->limit - bytes)
        status = SC_ERR_DEVICE_MEMORY;
    if (status == SC_OK)
        pool->asked += bytes;
    pthread_mutex_unlock(&pool->lock);
    return status;
}

uint64_t sc_cuda_pool_held(struct sc_cuda_device *d)
{
    uint64_t held;

    pthread_mutex_lock(&d->pool->lock);
    held = d->pool->held;
    pthread_mutex_unlock(&d->pool->lock);
    return held;
}

void sc_cuda_pool_unclaim(struct sc_cuda_device *d, size_t bytes)
{
    pthread_mutex_lock(&d->pool->lock);
    d->pool->asked -= bytes;
    pthread_mutex_unlock(&d->pool->lock);
}

static enum sc_status alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    struct block *b, **bucket;
    enum sc_status status;

    *memory = NULL;
    *ready = SC_FENCE_NONE;
    if (bytes > SIZE_MAX / 4)
        return SC_ERR_DEVICE_MEMORY;
    SC_CUDA_SCOPE(d);
    pthread_mutex_lock(&d->pool->lock);
    status = take(d, bytes, &b);
    if (!status && sc_cuda_host->config->check)
        spoil(d, b); /* a failing device also fails the next operation */
    if (!status) {
        b->asked = bytes;
        d->pool->asked += bytes;
        bucket = bucket_of(d->pool, b->memory);
        b->next_in_bucket = *bucket;
        *bucket = b;
        *memory = b->memory;
        if (b->fences)
            *ready = b->after[0];
    }
    pthread_mutex_unlock(&d->pool->lock);
    return status;
}

enum sc_status sc_cuda_alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    enum sc_status status = alloc(device, bytes, memory, ready);

    return status == SC_ERR_DEVICE_MEMORY && sc_cuda_places_trim(device) ? alloc(device, bytes, memory, ready) : status;
}

/* Removes the block from the table of blocks in use.  Lock held. */
static struct block *remove_used(struct sc_cuda_pool *pool, const void *memory)
{
    struct block **at = bucket_of(pool, memory), *b;

    while (*at && (*at)->memory != memory)
        at = &(*at)->next_in_bucket;
    b = *at;
    if (b) {
        *at = b->next_in_bucket;
        pool->asked -= b->asked;
    }
    return b;
}

void sc_cuda_free(int device, void *memory, const struct sc_fence *after, int count)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    bool known = true;
    struct block *b;
    size_t bytes;

    if (!memory || sc_cuda_place_free(memory, after, count))
        return;
    SC_CUDA_SCOPE(d);
    pthread_mutex_lock(&d->pool->lock);
    b = remove_used(d->pool, memory);
    /* The fences of the block's previous user stay in the list, because the last user may not have waited for them. */
    for (int i = 0; b && i < count && known; i++)
        known = block_await(b, after[i]) || (!block_merge(d, b) && block_await(b, after[i]));
    if (b && known) {
        bytes = b->bytes;
        bin_append(&d->pool->bins[bin_of(&bytes)], b);
    } else if (b) {
        free(b); /* the device failed and the block may be in use forever: never reuse it */
    } else {
        sc_cuda_host->log(SC_LOG_ERROR, "internal: %p was not allocated on device %d", memory, device);
    }
    pthread_mutex_unlock(&d->pool->lock);
}

/* All work on the device is finished. */
void sc_cuda_pool_close(struct sc_cuda_device *d)
{
    struct sc_cuda_pool *pool = d->pool;
    struct block *b;

    if (!pool)
        return;
    trim(pool, UINT64_MAX);
    for (int i = 0; i < BUCKETS; i++)
        while ((b = pool->buckets[i])) {
            pool->buckets[i] = b->next_in_bucket;
            free_block(b);
        }
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    d->pool = NULL;
}

/* --- for the work of one operation -------------------------------------------------------------------------------- */

enum sc_status sc_cuda_work_alloc(int device, size_t bytes, void **memory)
{
    struct sc_fence ready;
    enum sc_status status = sc_cuda_alloc(device, bytes ? bytes : 1, memory, &ready);

    if (status != SC_OK) {
        *memory = NULL;
        return status;
    }
    return sc_cuda_wait(device, SC_STREAM_COMPUTE, ready);
}

void sc_cuda_work_free(int device, void *const *memory, int count)
{
    struct sc_fence used;
    enum sc_status status = sc_cuda_mark_amid(device, SC_STREAM_COMPUTE, &used);

    for (int i = 0; i < count && status == SC_OK; i++)
        if (memory[i])
            sc_cuda_free(device, memory[i], &used, 1);
}
/* SPDX-License-Identifier: BSD-2-Clause */
