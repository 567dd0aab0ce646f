/* Foreign work: work on managed memory unseen by semcache, which is the program's kernels, graphs, and CUDA functions
 * not mapped.  The operands of foreign work are unknown: all managed memory counts as read and written.
 *
 * Blocks of one address are lent to the device (coherence/lend.h): the CPU's new data goes up, and nothing comes home.
 * Blocks, and ends of blocks, without room on a device stay on the CPU, pinned.  GPUs access those over the bus.
 * Before foreign work they are written back and opened; before the next mapped call, devices with foreign work are
 * waited for. */
#include "cuda-um/um.h"

#include <pthread.h>
#include <stdlib.h>

#include "cuda-um/names.h"
#include "semcache/semcache.h"

enum {
    DEVICES_MAX = 64,
    /* Number of returns of all memory to the host that shows a habit of the program, worth a line in the log. */
    HOMES_MANY = 1000,
    CALLS_BEFORE_LAUNCH = 8
};

/* Per CUDA device: `begun` counts foreign operations; `waited` is the value of `begun` at the last wait for the device.
 * Counters, not flags: a wait by one thread never hides a new operation by a second thread. */
static uint64_t begun[DEVICES_MAX], waited[DEVICES_MAX];
/* Value of semcache's counter of calls when all memory was last on the host. */
static uint64_t home_since = UINT64_MAX;
static int homes;
static bool grown;                       /* a block has not been pinned */

/* --- to the host -------------------------------------------------------------------------------------------------- */

static void pin(struct sc_um_block *b)
{
    size_t bytes = b->bytes - b->united;
    void *at = (void *)(b->base + b->united);

    if (b->pinned || b->united >= b->bytes)
        return;
    b->pinned = !b->united && sc_um_inner->pin(at);
    if (!b->pinned)
        b->pinned = b->registered = SC_UM_BEHIND(cudaHostRegister)(at, bytes, cudaHostRegisterPortable) == cudaSuccess;
    if (!b->pinned)
        sc_um_inner->log(SC_LOG_ERROR, "cuda-um: %zu bytes at %p cannot be pinned: kernels cannot reach them", bytes,
                         at);
}

static void bring(struct sc_um_block *b)
{
    if (b->united < b->bytes)
        semcache_acquire((void *)(b->base + b->united), b->bytes - b->united, SEMCACHE_READWRITE);
}

/* The current device of the thread.  With one GPU no launch asks the runtime. */
static int device_at_hand(void)
{
    int device = 0;

    if (sc_um_gpus() == 1)
        return 0;
    return SC_UM_BEHIND(cudaGetDevice)(&device) == cudaSuccess && device < DEVICES_MAX ? device : 0;
}

static void busy(int device) { __atomic_fetch_add(&begun[device], 1, __ATOMIC_ACQ_REL); }

void sc_um_busy(void) { busy(device_at_hand()); }

void sc_um_grown(void) { __atomic_store_n(&grown, true, __ATOMIC_RELEASE); }

void sc_um_reach(void)
{
    if (__atomic_exchange_n(&grown, false, __ATOMIC_ACQ_REL))
        sc_um_blocks(pin);
}

/* --- to a device -------------------------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    uint64_t version; /* of the last lending of all blocks */
    int device;
    struct sc_loan loan;
} lending = {.lock = PTHREAD_MUTEX_INITIALIZER, .device = -1};

/* The same of the calling thread: further work takes no lock. */
static __thread struct {
    uint64_t version;
    int device;
    struct sc_loan loan;
} last __attribute__((tls_model("initial-exec")));

/* Blocks without room on the devices, or parts of blocks, are read by kernels from the host's memory from now on. */
static void lend_blocks(int device, const struct sc_um_named *named, void *const *stream, struct sc_loan *loan)
{
    int count, refused = 0;
    size_t keep;

    while (refused >= 0) {
        struct sc_lending *list = sc_um_united(named ? sc_um_is_named : NULL, (void *)named, &count);

        refused = list && count ? sc_um_inner->lend(device, list, count, stream, loan, &keep) : -1;
        if (refused >= 0) {
            sc_um_inner->log(SC_LOG_INFO, "cuda-um: %zu of %zu bytes at %p do not fit on the device: kernels read them "
                             "on the host", list[refused].bytes - keep, list[refused].bytes,
                             (void *)list[refused].base);
            sc_um_separate(list[refused].base, keep);
        }
        free(list);
    }
}

static void lend(int device, void *const *stream)
{
    uint64_t version = sc_um_version();

    if (last.version == version && last.device == device && sc_um_inner->lend_again(device, stream, &last.loan))
        return;
    pthread_mutex_lock(&lending.lock);
    version = sc_um_version();
    if (lending.version != version || lending.device != device ||
        !sc_um_inner->lend_again(device, stream, &lending.loan)) {
        lend_blocks(device, NULL, stream, &lending.loan);
        lending.version = sc_um_version() == version ? version : 0;
        lending.device = device;
    }
    last.version = lending.version;
    last.device = device;
    last.loan = lending.loan;
    pthread_mutex_unlock(&lending.lock);
}

static void home(void);

void sc_um_home(const cudaStream_t *stream)
{
    int device;

    if (!sc_um_has_blocks())
        return;
    device = device_at_hand();
    if (sc_um_has_united())
        lend(device, (void *const *)stream);
    if (sc_um_has_ordinary())
        home();
    busy(device);
}

/* --- kernels to come ---------------------------------------------------------------------------------------------- */

static bool has_kernel, has_launched;

void sc_um_has_kernel(void) { __atomic_store_n(&has_kernel, true, __ATOMIC_RELAXED); }
void sc_um_launches(void)
{
    if (!__atomic_load_n(&has_launched, __ATOMIC_RELAXED))
        __atomic_store_n(&has_launched, true, __ATOMIC_RELAXED);
}

bool sc_um_one_device(void)
{
    static int one = -1;
    int is = __atomic_load_n(&one, __ATOMIC_RELAXED);

    if (is < 0)
        __atomic_store_n(&one, is = semcache_device_count() == 1, __ATOMIC_RELAXED);
    return is;
}

/* With several devices a program without a launch loses all devices but one: only its first calls wait for a launch. */
static bool expects_soon(void)
{
    static int calls;

    if (sc_um_by_name())
        return false;
    if (__atomic_load_n(&has_launched, __ATOMIC_RELAXED))
        return true;
    if (__atomic_load_n(&calls, __ATOMIC_RELAXED) > CALLS_BEFORE_LAUNCH)
        return false;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) <= CALLS_BEFORE_LAUNCH)
        return true;
    sc_um_no_kernel_used();
    return false;
}

/* The first kernel takes all data to the device: an earlier call takes the data there already.  Where the data does not
 * fit, calls of semcache need a part of the data at a time. */
bool sc_um_expects_kernels(void)
{
    static uint64_t asked[DEVICES_MAX]; /* a version of the blocks, and in the last bit whether they fit */
    uint64_t version = sc_um_version(), known;
    int device;

    if (!__atomic_load_n(&has_kernel, __ATOMIC_RELAXED))
        return false;
    device = device_at_hand();
    known = __atomic_load_n(&asked[device], __ATOMIC_RELAXED);
    if (known >> 1 != version) {
        known = version << 1 | sc_um_inner->lends(device, sc_um_united_bytes());
        __atomic_store_n(&asked[device], known, __ATOMIC_RELAXED);
    }
    return (known & 1) && (sc_um_one_device() || expects_soon());
}

bool sc_um_by_name(void) { return sc_um_inner->kernels() == SC_UM_KERNELS_ARGUMENTS; }

static bool are_lent(const struct sc_um_named *named, int device, void *const *stream)
{
    return !named->unlike && named->device == device &&
           sc_um_inner->lend_again(device, stream, &(struct sc_loan){.since = named->since});
}

/* False: all was lent, and no block has been separated. */
static bool lend_named(int device, const struct sc_um_named *named, void *const *stream)
{
    struct sc_loan loan = {.since = 0};
    bool lent;

    pthread_mutex_lock(&lending.lock);
    lent = are_lent(named, device, stream);
    if (!lent)
        lend_blocks(device, named, stream, &loan);
    if (loan.since)
        sc_um_named_lent(named, device, loan.since);
    pthread_mutex_unlock(&lending.lock);
    return !lent;
}

static void home_named(int device, const struct sc_um_named *named, void *const *stream)
{
    if ((named->count && lend_named(device, named, stream) && sc_um_has_ordinary()) || named->ordinary)
        home();
    busy(device);
}

void sc_um_home_named(const struct sc_um_named *named, const cudaStream_t *stream)
{
    if (named->many || !sc_um_by_name()) {
        sc_um_home(stream);
        return;
    }
    home_named(device_at_hand(), named, (void *const *)stream);
}

void sc_um_home_for(const void *const *memory, int count, cudaStream_t stream)
{
    struct sc_um_named named = {.count = 0};

    for (int i = 0; i < count; i++)
        sc_um_name(&named, memory[i]);
    sc_um_home_named(&named, &stream);
}

/* Blocks without one address. */
static void home(void)
{
    uint64_t calls;

    sc_um_reach();
    calls = sc_um_inner->calls();
    if (calls != __atomic_load_n(&home_since, __ATOMIC_ACQUIRE)) {
        if (__atomic_add_fetch(&homes, 1, __ATOMIC_RELAXED) == HOMES_MANY)
            sc_um_inner->log(SC_LOG_WARN, "cuda-um: kernels, or calls that are not mapped, came between mapped ones %d "
                             "times, and all managed memory home: without libsemcache-cuda-um this may be faster",
                             HOMES_MANY);
        sc_um_blocks(bring);
        /* Calls of other threads in the meantime count as later. */
        __atomic_store_n(&home_since, calls, __ATOMIC_RELEASE);
    }
}

/* --- memory of semcache_malloc ------------------------------------------------------------------------------------ */

static void *server_alloc(size_t bytes)
{
    return sc_um_way() == SC_UM_MAPPED ? sc_um_block_new(bytes ? bytes : 1, cudaMemoryTypeManaged) : NULL;
}

static bool server_free(void *memory)
{
    struct sc_um_block block;

    if (!sc_um_has_blocks() || !sc_um_block_of(memory, &block) || block.base != (uintptr_t)memory)
        return false;
    sc_um_settle();
    return sc_um_block_free(memory);
}

static bool server_lend(int device, const void *const *memory, int count)
{
    struct sc_um_named named = {.count = 0};

    for (int i = 0; i < count; i++) {
        if (sc_um_way() != SC_UM_MAPPED || device >= DEVICES_MAX || !sc_um_is_managed(memory[i]))
            return false;
        sc_um_name(&named, memory[i]);
    }
    if (named.many)
        sc_um_home(NULL);
    else
        home_named(device, &named, NULL);
    return true;
}

__attribute__((constructor)) static void serve(void)
{
    static const struct sc_library_server server = {server_alloc, server_free, server_lend};

    sc_library_inner()->serve(&server);
}

/* --- settled ------------------------------------------------------------------------------------------------------ */

/* Operations up to `before` are finished. */
static void note_waited(int device, uint64_t before)
{
    uint64_t known = __atomic_load_n(&waited[device], __ATOMIC_RELAXED);

    while (known < before &&
           !__atomic_compare_exchange_n(&waited[device], &known, before, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

cudaError_t sc_um_wait(void)
{
    int device = device_at_hand();
    uint64_t before = __atomic_load_n(&begun[device], __ATOMIC_ACQUIRE);
    cudaError_t error = SC_UM_BEHIND(cudaDeviceSynchronize)();

    if (error == cudaSuccess)
        note_waited(device, before);
    return error;
}

void sc_um_settle(void)
{
    int back = -1;

    for (int d = 0; d < DEVICES_MAX; d++) {
        if (__atomic_load_n(&begun[d], __ATOMIC_ACQUIRE) == __atomic_load_n(&waited[d], __ATOMIC_ACQUIRE))
            continue;
        if (back < 0)
            back = device_at_hand();
        SC_UM_BEHIND(cudaSetDevice)(d);
        sc_um_wait(); /* an error stays in CUDA, which reports the error to the program */
    }
    if (back >= 0)
        SC_UM_BEHIND(cudaSetDevice)(back);
}

/* CUDA's managed memory gives way to cudaMalloc, too. */
bool sc_um_gives_way(cudaError_t error, size_t bytes)
{
    if (error != cudaErrorMemoryAllocation || sc_um_way() != SC_UM_MAPPED ||
        !sc_um_inner->spare(device_at_hand(), bytes))
        return false;
    SC_UM_BEHIND(cudaGetLastError)(); /* clears the error */
    return true;
}

/* --- trampolines -------------------------------------------------------------------------------------------------- */

void *sc_um_next(unsigned name, const void *caller)
{
    static void *behind[SC_UM_NAMES];
    void *next = __atomic_load_n(&behind[name], __ATOMIC_ACQUIRE);

    if (!next)
        __atomic_store_n(&behind[name], next = sc_um_find(sc_um_names[name].name), __ATOMIC_RELEASE);
    if (sc_um_names[name].guarded && sc_um_way() == SC_UM_MAPPED && !sc_um_passes(caller)) {
        sc_um_launches();
        sc_um_home(NULL);
    }
    return next;
}
/* SPDX-License-Identifier: BSD-2-Clause */
