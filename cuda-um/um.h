/* Inside cuda-um: who serves a call, the memory that cudaMallocManaged has given, work that we cannot see into.
 *
 * Three ways (README.md):
 *   NATIVE    semcache has no devices: every call goes to CUDA as if we were not there;
 *   MAPPED    calls on managed memory go to semcache, all others to CUDA;
 *   EMULATED  there is no CUDA device (or emulated ones are asked for): the runtime is emulated/'s, and all calls on
 *             memory go to semcache. */
#ifndef SC_UM_UM_H
#define SC_UM_UM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISABLE_CUSPARSE_DEPRECATED
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include "libsemcache/inner.h"

#define SC_UM_EXPORT __attribute__((visibility("default")))

/* --- find.c ------------------------------------------------------------------------------------------------------- */

enum sc_um_way { SC_UM_NATIVE, SC_UM_MAPPED, SC_UM_EMULATED };
enum sc_um_way sc_um_way(void); /* decided at the first call */

extern const struct sc_library_inner *sc_um_inner;

/* The function behind ours: CUDA's, or the emulated one.  Never NULL: what is not there says so once and returns its
 * library's "not supported". */
void *sc_um_find(const char *name);
/* A routine of semcache's BLAS ("dgemm_64_"), or NULL. */
void *sc_um_routine(const char *name);

#define SC_UM_BEHIND(name)                                                      \
    ((__typeof__(&name))({                                                      \
        static void *found_;                                                    \
        void *f_ = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);                  \
                                                                                \
        if (!f_)                                                                \
            __atomic_store_n(&found_, f_ = sc_um_find(#name), __ATOMIC_RELEASE); \
        f_;                                                                     \
    }))

/* Calls of CUDA's own libraries and of semcache's module are not the program's: they pass as they are, before any lock
 * is taken, since semcache may hold its own.  And all calls do on the NATIVE way. */
bool sc_um_passes(const void *caller);
#define SC_UM_CALLER __builtin_return_address(0)

/* --- blocks.c: memory given to the program ------------------------------------------------------------------------ */

/* Of these kinds is what cudaPointerGetAttributes says; only managed memory exists outside EMULATED. */
struct sc_um_block {
    uintptr_t base;
    size_t bytes;
    enum cudaMemoryType kind;
    bool pinned;     /* GPUs can reach it */
    bool registered; /* by us, with CUDA */
};
/* NULL without memory.  Not initialised. */
void *sc_um_block_new(size_t bytes, enum cudaMemoryType kind);
/* False: it is none of ours. */
bool sc_um_block_free(void *memory);
/* A copy of the block that holds the address. */
bool sc_um_block_of(const void *p, struct sc_um_block *block);
bool sc_um_is_managed(const void *p);
/* Calls visit for a copy of each, which then takes its place; none is freed meanwhile. */
void sc_um_blocks(void (*visit)(struct sc_um_block *block));
bool sc_um_has_blocks(void);

/* --- foreign.c: work that semcache does not see ------------------------------------------------------------------- */

/* Before kernels, and CUDA's own functions, that may use managed memory: all of it is home, open and within the GPUs'
 * reach.  The device at hand is then busy. */
void sc_um_home(void);
/* The GPUs can reach all of it. */
void sc_um_reach(void);
/* The device at hand is busy with it. */
void sc_um_busy(void);
/* Before a call of semcache: waits for all such work. */
void sc_um_settle(void);
/* cudaDeviceSynchronize of the device at hand, noted. */
cudaError_t sc_um_wait(void);
/* There is a new block. */
void sc_um_grown(void);
/* For trampolines: the function to go on with. */
void *sc_um_next(unsigned name, const void *caller);

/* --- blas.c: whose call it is ------------------------------------------------------------------------------------- */

/* Of a call of the program's.  True: semcache's, and what it has to wait for is over.  False: CUDA's, and what it needs
 * is home.  memory: what the call works on; scalars: addresses that a device uses when on_device. */
bool sc_um_takes(cudaStream_t stream, const void *const *memory, int memories, bool on_device,
                 const void *const *scalars, int count);

/* What is called now is written down, to be done later, and perhaps often. */
bool sc_um_is_capturing(cudaStream_t stream);

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

bool sc_um_is_device_only(const void *p); /* CUDA's: the CPU cannot touch it */
/* Copies from and to anywhere, of what this thread can name; waits.  `stream`: what is before it there is done. */
cudaError_t sc_um_copy(void *to, const void *from, size_t bytes, cudaStream_t stream);

#endif
