/* Device memory: a pool above cudaMalloc that hands freed blocks out again without asking the driver.
 *
 * A freed block remembers the fences after which it is free; whoever gets it next gets them as its ready fence (one
 * fence: if there are several, SC_STREAM_MEMORY waits for them and is marked).  So neither alloc nor free blocks, and
 * an early free with late fences holds up nobody but the next user of that very block.
 *
 * Free blocks lie in bins of equal size: 64 sizes for each power of two, at most 1.6% of rounding.  A block up to an
 * eighth larger than asked for is taken rather than a new one.  Free blocks go back to the driver only when it has no
 * memory left, for cudaFree waits for the whole device. */
#include "device/cuda/cuda_int.h"

#include <stdlib.h>

enum {
    BLOCK_FENCES = 8,   /* remembered for each block; more are merged into one */
    MIN_SHIFT = 9,      /* sizes are multiples of 512 bytes */
    BIN_STEPS = 64,     /* bins for each power of two */
    BINS = (64 - MIN_SHIFT) * BIN_STEPS,
    BINS_LARGER = 8,    /* bins above the exact one that are looked into: an eighth more */
    BUCKETS = 4096,
};

struct block {
    struct block *next_in_bucket, *next_free;
    void *memory;
    size_t bytes, asked;        /* real size; what the caller asked for */
    int fences;
    struct sc_fence after[BLOCK_FENCES]; /* free: after these; in use: ready after these */
};

struct bin {
    struct block *first, **last; /* oldest first: it is the likeliest to be ready */
};

struct sc_cuda_pool {
    pthread_mutex_t lock;       /* all below, and marks on SC_STREAM_MEMORY; taken under no other lock of the module */
    uint64_t limit;             /* bytes that callers may have at a time */
    uint64_t asked, held;       /* bytes callers have, as asked for; bytes from the driver, free blocks included */
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

/* The bin for a size, which is rounded up to the bin's. */
static int bin_of(size_t *bytes)
{
    int shift;

    if (!*bytes)
        *bytes = 1;
    shift = 63 - __builtin_clzl(*bytes) - 6; /* 64 = 1 << 6 steps for each power of two */
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

/* Adds a fence to what a block waits for; false when there is no room. */
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

/* Leaves at most one fence in the block: all others are reached before it. */
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

/* Gives free blocks of one bin back to the driver until `need` bytes are back; returns the bytes.  Blocks that are not
 * free yet are passed over, or waited for. */
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
        SC_CUDA(cudaFree(b->memory));
        back += b->bytes;
        pool->held -= b->bytes;
        free(b);
    }
    if (kept.first) { /* in front again, in their old order */
        *kept.last = bin->first;
        bin->last = bin->first ? bin->last : kept.last;
        bin->first = kept.first;
    }
    return back;
}

/* Gives free blocks back to the driver, the largest first, until `need` bytes are back; false when nothing was. */
static bool trim(struct sc_cuda_pool *pool, uint64_t need)
{
    uint64_t back = 0;

    for (int waits = 0; waits < 2; waits++)
        for (int i = BINS - 1; i >= 0 && back < need; i--)
            if (pool->bins[i].first)
                back += bin_trim(pool, &pool->bins[i], need - back, waits);
    return back != 0;
}

/* A new block from the driver. */
static enum sc_status grow(struct sc_cuda_pool *pool, size_t bytes, struct block **out)
{
    uint64_t ceiling = pool->limit + pool->limit / 8; /* free blocks included: a set limit is to be felt outside */
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
    for (bin = first; !b && bin <= first + BINS_LARGER && bin < BINS; bin++)
        b = bin_pop(&pool->bins[bin]);
    if (!b)
        status = grow(pool, bytes, &b);
    else if ((status = block_merge(d, b)))
        bin_append(&pool->bins[bin - 1], b);
    *out = b;
    return status;
}

/* SEMCACHE_CHECK: what nobody wrote reads as not-a-number. */
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

enum sc_status sc_cuda_alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
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
        spoil(d, b); /* a failing device fails the next operation, too */
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

/* With the lock held: takes the block out of the table of those in use. */
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

    if (!memory)
        return;
    SC_CUDA_SCOPE(d);
    pthread_mutex_lock(&d->pool->lock);
    b = remove_used(d->pool, memory);
    /* What the block itself had to wait for stays in the list: nobody need have used it. */
    for (int i = 0; b && i < count && known; i++)
        known = block_await(b, after[i]) || (!block_merge(d, b) && block_await(b, after[i]));
    if (b && known) {
        bytes = b->bytes;
        bin_append(&d->pool->bins[bin_of(&bytes)], b);
    } else if (b) {
        free(b); /* the device failed and nobody knows when the block is free: never use it again */
    } else {
        sc_cuda_host->log(SC_LOG_ERROR, "internal: %p was not allocated on device %d", memory, device);
    }
    pthread_mutex_unlock(&d->pool->lock);
}

/* Everything on the device is over by now. */
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
            SC_CUDA(cudaFree(b->memory));
            free(b);
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
