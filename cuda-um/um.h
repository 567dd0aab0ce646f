/* Inside cuda-um: routing of calls, the memory of cudaMallocManaged, and foreign work.
 *
 * Three ways to serve calls (README.md):
 *   NATIVE    semcache has no devices: every call goes to CUDA unchanged;
 *   MAPPED    calls on managed memory go to semcache, other calls to CUDA;
 *   EMULATED  no CUDA device, or emulated devices requested: emulated/ is the runtime, and all calls on memory go to
 *             semcache. */
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

int sc_um_gpus(void); /* of the process, on the ways NATIVE and MAPPED */

extern const struct sc_library_inner *sc_um_inner;

/* The function behind ours: CUDA's or the emulated function.  Never NULL: a substitute for a missing function logs a
 * line once and returns its library's "not supported". */
void *sc_um_find(const char *name);
/* CUDA's own function on every way, or NULL. */
void *sc_um_find_cuda(const char *name);
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

/* Whether a call passes unchanged: every call on the NATIVE way, and calls by CUDA's own libraries or semcache's
 * module.  These calls pass before any lock is taken, because semcache may hold its own locks. */
bool sc_um_passes(const void *caller);
bool sc_um_is_library(const void *caller); /* CUDA's own, or semcache's module; decides no way */
#define SC_UM_CALLER __builtin_return_address(0)

/* --- blocks.c: memory given to the program ------------------------------------------------------------------------ */

/* kind: as reported by cudaPointerGetAttributes.  Outside EMULATED all blocks are managed memory. */
struct sc_um_block {
    uintptr_t base;
    size_t bytes;
    enum cudaMemoryType kind;
    bool pinned;     /* accessible to GPUs */
    bool registered; /* by this library, with CUDA */
    size_t united;   /* bytes from the base with one address on the host and a device */
    bool lent;       /* has been used by kernels, at its own address */
    uint64_t since;  /* of the last lending by name, to the device `device`; -1: none */
    int device;
};
/* Returns NULL without memory.  The memory is not initialised. */
void *sc_um_block_new(size_t bytes, enum cudaMemoryType kind);
/* False: `memory` is not a block. */
bool sc_um_block_free(void *memory);
/* Copies the block that contains the address to *block. */
bool sc_um_block_of(const void *p, struct sc_um_block *block);
bool sc_um_is_managed(const void *p);
/* Calls `visit` with a copy of every block; the modified copy replaces the block.  No block is freed meanwhile. */
void sc_um_blocks(void (*visit)(struct sc_um_block *block));
bool sc_um_has_blocks(void);
/* Ranges of the united blocks that `which` selects (NULL: all), to be freed with free; *count is their number.
 * *version: changes with the set of united blocks.  NULL: no memory. */
struct sc_lending *sc_um_united(bool (*which)(const struct sc_um_block *block, void *of), void *of, int *count);
uint64_t sc_um_version(void);
bool sc_um_has_united(void);
bool sc_um_has_ordinary(void); /* some blocks are not united, or in part */
/* Ends the one address of a block from its first `keep` bytes on; kernels then read the host's memory there. */
void sc_um_separate(uintptr_t base, size_t keep);
/* Every block that an address of `memory` lies in is managed, united and lent; no address: false. */
bool sc_um_all_lent(const void *const *memory, int count);
/* The same for united blocks, lent or not. */
bool sc_um_all_united(const void *const *memory, int count);
uint64_t sc_um_united_bytes(void);
/* No kernel has used a block: none counts as lent, until the next launch. */
void sc_um_no_kernel_used(void);

/* The managed blocks that some work uses. */
#define SC_UM_NAMED_MOST 64
struct sc_um_named {
    uintptr_t base[SC_UM_NAMED_MOST];
    int count;
    bool many;      /* too many for the array: all blocks are meant */
    bool ordinary;  /* one of them is not united, or in part */
    bool unlike;    /* the next two differ between the blocks */
    uint64_t since; /* of the last lending */
    int device;
};
/* Adds the block that the address lies in, or ends at; other addresses are ignored.  *named starts with zeros. */
void sc_um_name(struct sc_um_named *named, const void *p);
/* Notes that the united blocks among them have been lent. */
void sc_um_named_lent(const struct sc_um_named *named, int device, uint64_t since);
/* For sc_um_united: of is a struct sc_um_named. */
bool sc_um_is_named(const struct sc_um_block *block, void *of);

/* --- foreign.c: work unseen by semcache --------------------------------------------------------------------------- */

/* Before kernels and other foreign work, and marks the current device busy.  United memory is made valid at its address
 * on a device.  All other managed memory is made valid and open on the host and accessible to GPUs.  stream: of the
 * work; the stream waits for the data.  NULL: not known, and the call waits. */
void sc_um_home(const cudaStream_t *stream);
bool sc_um_by_name(void); /* the setting: only the blocks that work names are made ready */
/* The same before work that uses these blocks alone, if sc_um_by_name(); else all. */
void sc_um_home_named(const struct sc_um_named *named, const cudaStream_t *stream);
void sc_um_home_for(const void *const *memory, int count, cudaStream_t stream); /* the blocks of the addresses */
/* Makes all managed memory accessible to GPUs. */
void sc_um_reach(void);
/* Marks the current device busy with foreign work. */
void sc_um_busy(void);
/* The program has kernels, and the device has room for all managed memory.  With several devices: only the first calls
 * of the program expect kernels, until one is launched, and not by name.  Counts the calls. */
bool sc_um_expects_kernels(void);
void sc_um_has_kernel(void); /* the program has registered a kernel */
void sc_um_launches(void);   /* the program launches a kernel, or calls a function that is not mapped */
bool sc_um_one_device(void); /* semcache has one device */
/* Before a call of semcache: waits for all foreign work. */
void sc_um_settle(void);
/* Memory of the current device was refused to the program.  True: managed memory has given some way. */
bool sc_um_gives_way(cudaError_t error, size_t bytes);
/* cudaDeviceSynchronize of the current device; records the wait. */
cudaError_t sc_um_wait(void);
/* A block was added. */
void sc_um_grown(void);
/* For trampolines: the function to jump to. */
void *sc_um_next(unsigned name, const void *caller);

/* --- blas.c: routing ---------------------------------------------------------------------------------------------- */

/* Decides who serves a call of the program.  True: semcache, and foreign work has been awaited.  False: CUDA, and
 * managed memory is ready for CUDA.  memory: the operands.  scalars: addresses used by a device if on_device.
 * may_pass: CUDA can serve the call without an analysis made before.  alone: CUDA uses no other memory. */
bool sc_um_takes(cudaStream_t stream, const void *const *memory, int memories, bool on_device,
                 const void *const *scalars, int count, bool may_pass, bool alone);

/* The stream is being captured: a call now is recorded and runs later, perhaps several times. */
bool sc_um_is_capturing(cudaStream_t stream);

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

bool sc_um_is_device_only(const void *p); /* memory of CUDA, not accessible to the CPU */
/* Copies between any two addresses after the earlier work on `stream`, and waits. */
cudaError_t sc_um_copy(void *to, const void *from, size_t bytes, cudaStream_t stream);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
