/* Work on managed memory that semcache does not see: the program's kernels, graphs, and CUDA's functions that are not
 * mapped.  GPUs reach the memory by the bus, pinned as it is, so that nothing has to be copied twice; but it has to be
 * the newest, and semcache has to wait for what they write.
 *
 * Nothing is known of what such work touches: everything comes home before it, and before the next mapped call the
 * devices that it runs on are waited for.  Programs that mix the two in every step are slow, and right. */
#include "cuda-um/um.h"

#include "cuda-um/names.h"
#include "semcache/semcache.h"

enum {
    DEVICES_MAX = 64,
    HOMES_MANY = 1000 /* so often everything came home: that is this program's way, and worth a line */
};

/* For each of the program's devices: how often such work began, and how often it had when the device was waited for.
 * Counts, not flags, so that a thread that waits hides nothing from another. */
static uint64_t begun[DEVICES_MAX], waited[DEVICES_MAX];
static uint64_t home_since = UINT64_MAX; /* semcache's calls when everything was home last */
static int homes;
static bool grown;                       /* there are blocks that have not been pinned */

/* --- home --------------------------------------------------------------------------------------------------------- */

static void pin(struct sc_um_block *b)
{
    if (b->pinned)
        return;
    b->pinned = sc_um_inner->pin((void *)b->base);
    if (!b->pinned)
        b->pinned = b->registered = SC_UM_BEHIND(cudaHostRegister)((void *)b->base, b->bytes,
                                                                   cudaHostRegisterPortable) == cudaSuccess;
    if (!b->pinned)
        sc_um_inner->log(SC_LOG_ERROR, "cuda-um: %zu bytes at %p cannot be pinned: kernels cannot reach them", b->bytes,
                         (void *)b->base);
}

static void bring(struct sc_um_block *b) { semcache_acquire((void *)b->base, b->bytes, SEMCACHE_READWRITE); }

static int device_at_hand(void)
{
    int device = 0;

    return SC_UM_BEHIND(cudaGetDevice)(&device) == cudaSuccess && device < DEVICES_MAX ? device : 0;
}

void sc_um_busy(void) { __atomic_fetch_add(&begun[device_at_hand()], 1, __ATOMIC_ACQ_REL); }

void sc_um_grown(void) { __atomic_store_n(&grown, true, __ATOMIC_RELEASE); }

void sc_um_reach(void)
{
    if (__atomic_exchange_n(&grown, false, __ATOMIC_ACQ_REL))
        sc_um_blocks(pin);
}

void sc_um_home(void)
{
    uint64_t calls;

    if (!sc_um_has_blocks())
        return;
    sc_um_reach();
    calls = sc_um_inner->calls();
    if (calls != __atomic_load_n(&home_since, __ATOMIC_ACQUIRE)) {
        if (__atomic_add_fetch(&homes, 1, __ATOMIC_RELAXED) == HOMES_MANY)
            sc_um_inner->log(SC_LOG_WARN, "cuda-um: kernels, or calls that are not mapped, came between mapped ones %d "
                             "times, and all managed memory home: without libsemcache-cuda-um this may be faster",
                             HOMES_MANY);
        sc_um_blocks(bring);
        /* Calls of other threads meanwhile count as later. */
        __atomic_store_n(&home_since, calls, __ATOMIC_RELEASE);
    }
    sc_um_busy();
}

/* --- settled ------------------------------------------------------------------------------------------------------ */

/* All that had begun before is over. */
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
        sc_um_wait(); /* an error stays with CUDA, which tells the program */
    }
    if (back >= 0)
        SC_UM_BEHIND(cudaSetDevice)(back);
}

/* --- trampolines -------------------------------------------------------------------------------------------------- */

void *sc_um_next(unsigned name, const void *caller)
{
    static void *behind[SC_UM_NAMES];
    void *next = __atomic_load_n(&behind[name], __ATOMIC_ACQUIRE);

    if (!next)
        __atomic_store_n(&behind[name], next = sc_um_find(sc_um_names[name].name), __ATOMIC_RELEASE);
    if (sc_um_names[name].guarded && sc_um_way() == SC_UM_MAPPED && !sc_um_passes(caller))
        sc_um_home();
    return next;
}
