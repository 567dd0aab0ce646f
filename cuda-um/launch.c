/* Launches of kernels: the parameters name the managed blocks that a kernel uses (SEMCACHE_UM_KERNELS=arguments).
 *
 * Each word of each parameter may be a pointer, also inside a structure passed by value.  A pointer counts at a
 * multiple of 8 bytes from the parameter's begin.  Pointers in memory of the device are not seen. */
#include "cuda-um/um.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- the parameters of a kernel ----------------------------------------------------------------------------------- */

enum { PARAMETERS_MOST = 256, LAYOUTS_LEAST = 64 };

struct layout {
    const void *kernel; /* NULL: a free place */
    int count;
    uint16_t *sizes; /* in bytes, of the parameters; a kernel has less than 32 KiB of parameters */
};

/* An open hash table, at most half full.  The lock comes before that of the blocks. */
static struct {
    pthread_rwlock_t lock;
    struct layout *layout;
    size_t count, room; /* room: 0 or a power of 2 */
} known = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The kernel's layout, or the place for it.  There is room. */
static struct layout *place_of(const struct layout *in, size_t room, const void *kernel)
{
    size_t i = ((uintptr_t)kernel >> 4) * 0x9E3779B97F4A7C15u >> 20;

    while (in[i & (room - 1)].kernel && in[i & (room - 1)].kernel != kernel)
        i++;
    return (struct layout *)&in[i & (room - 1)];
}

static bool grow(void)
{
    size_t room = known.room ? 2 * known.room : LAYOUTS_LEAST;
    struct layout *more = calloc(room, sizeof *more);

    if (!more)
        return false;
    for (size_t i = 0; i < known.room; i++)
        if (known.layout[i].kernel)
            *place_of(more, room, known.layout[i].kernel) = known.layout[i];
    free(known.layout);
    known.layout = more;
    known.room = room;
    return true;
}

static void remember(const struct layout *l)
{
    struct layout *place = NULL;

    pthread_rwlock_wrlock(&known.lock);
    if (2 * known.count < known.room || grow())
        place = place_of(known.layout, known.room, l->kernel);
    if (place && !place->kernel) {
        *place = *l;
        known.count++;
    } else {
        free(l->sizes);
    }
    pthread_rwlock_unlock(&known.lock);
}

/* Asks the runtime, for one parameter after the other.  The runtime refuses the first number too many, and notes an
 * error, to be cleared.  If an error of the program waits there, the question waits. */
static void learn(const void *kernel)
{
    uint16_t sizes[PARAMETERS_MOST];
    struct layout l = {.kernel = kernel};
    cudaError_t error = SC_UM_BEHIND(cudaPeekAtLastError)();
    size_t offset, size;

    if (error != cudaSuccess)
        return;
    while ((error = SC_UM_BEHIND(cudaFuncGetParamInfo)(kernel, (size_t)l.count, &offset, &size)) == cudaSuccess &&
           l.count < PARAMETERS_MOST)
        sizes[l.count++] = (uint16_t)size;
    SC_UM_BEHIND(cudaGetLastError)();
    if (error != cudaErrorInvalidValue || !(l.sizes = malloc(((size_t)l.count + 1) * sizeof *sizes)))
        return;
    memcpy(l.sizes, sizes, (size_t)l.count * sizeof *sizes);
    remember(&l);
}

/* Kernels are gone, and others may come at their addresses. */
static void forget_kernels(void)
{
    pthread_rwlock_wrlock(&known.lock);
    for (size_t i = 0; i < known.room; i++)
        free(known.layout[i].sizes);
    free(known.layout);
    known.layout = NULL;
    known.count = known.room = 0;
    pthread_rwlock_unlock(&known.lock);
}

static void name_words(struct sc_um_named *named, const char *parameter, size_t bytes)
{
    for (size_t i = 0; i + sizeof(void *) <= bytes; i += sizeof(void *)) {
        void *word;

        memcpy(&word, parameter + i, sizeof word);
        sc_um_name(named, word);
    }
}

/* False: the kernel's parameters are not known. */
static bool name(struct sc_um_named *named, const void *kernel, void **arguments)
{
    const struct layout *l;
    bool found;

    pthread_rwlock_rdlock(&known.lock);
    l = known.room ? place_of(known.layout, known.room, kernel) : NULL;
    found = l && l->kernel;
    for (int i = 0; found && i < l->count; i++)
        name_words(named, arguments[i], l->sizes[i]);
    pthread_rwlock_unlock(&known.lock);
    return found;
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

static void before_launch(const void *kernel, void **arguments, cudaStream_t stream)
{
    struct sc_um_named named = {.count = 0};

    sc_um_launches();
    if (!sc_um_by_name() || !sc_um_has_blocks() || !kernel) {
        sc_um_home(&stream);
        return;
    }
    if (!name(&named, kernel, arguments)) {
        if (!sc_um_is_capturing(stream)) /* a capture permits few questions */
            learn(kernel);
        named.many = !name(&named, kernel, arguments);
    }
    sc_um_home_named(&named, &stream);
}

#define BEFORE(kernel, arguments, stream)                               \
    do {                                                                \
        if (sc_um_way() == SC_UM_MAPPED && !sc_um_passes(SC_UM_CALLER)) \
            before_launch(kernel, arguments, stream);                   \
    } while (0)

/* The names that end in _ptsz are those of programs with a default stream for each thread.  The names with two
 * underscores are called by code of nvcc, which declares them itself. */
#define LAUNCH(name, otherwise)                                                                                    \
    cudaError_t name(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream); \
    SC_UM_EXPORT cudaError_t name(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,      \
                                  cudaStream_t stream)                                                             \
    {                                                                                                              \
        BEFORE(kernel, arguments, stream ? stream : otherwise);                                                    \
        return SC_UM_BEHIND(name)(kernel, grid, block, arguments, shared, stream);                                 \
    }
LAUNCH(__cudaLaunchKernel, NULL)
LAUNCH(__cudaLaunchKernel_ptsz, cudaStreamPerThread)
LAUNCH(cudaLaunchKernel, NULL)
LAUNCH(cudaLaunchKernel_ptsz, cudaStreamPerThread)
LAUNCH(cudaLaunchCooperativeKernel, NULL)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, cudaStreamPerThread)

#define LAUNCH_CONFIGURED(name, otherwise)                                                                          \
    cudaError_t name(const cudaLaunchConfig_t *configuration, const void *kernel, void **arguments);                \
    SC_UM_EXPORT cudaError_t name(const cudaLaunchConfig_t *configuration, const void *kernel, void **arguments)    \
    {                                                                                                               \
        BEFORE(kernel, arguments, configuration && configuration->stream ? configuration->stream : otherwise);      \
        return SC_UM_BEHIND(name)(configuration, kernel, arguments);                                                \
    }
LAUNCH_CONFIGURED(cudaLaunchKernelExC, NULL)
LAUNCH_CONFIGURED(cudaLaunchKernelExC_ptsz, cudaStreamPerThread)

/* --- the program's kernels ---------------------------------------------------------------------------------------- */

/* Called by code of nvcc when a library, or the program, is loaded. */
#define REGISTER_PARAMETERS                                                                                           \
    void **handle, const char *kernel, char *on_device, const char *name, int threads, uint3 *thread, uint3 *block,   \
        dim3 *dim, dim3 *grid, int *warps
void __cudaRegisterFunction(REGISTER_PARAMETERS);
SC_UM_EXPORT void __cudaRegisterFunction(REGISTER_PARAMETERS)
{
    static __typeof__(&__cudaRegisterFunction) next;

    if (!next)
        next = (__typeof__(&__cudaRegisterFunction))sc_um_find_cuda("__cudaRegisterFunction");
    if (!sc_um_is_library(SC_UM_CALLER))
        sc_um_has_kernel();
    if (next)
        next(handle, kernel, on_device, name, threads, thread, block, dim, grid, warps);
}

/* --- the end of kernels ------------------------------------------------------------------------------------------- */

/* Called by code of nvcc when a library is unloaded, and at exit. */
void __cudaUnregisterFatBinary(void **handle);
SC_UM_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    __typeof__(&__cudaUnregisterFatBinary) next =
        (__typeof__(&__cudaUnregisterFatBinary))sc_um_find_cuda("__cudaUnregisterFatBinary");

    forget_kernels();
    if (next)
        next(handle);
}

SC_UM_EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    __typeof__(&cudaLibraryUnload) next = (__typeof__(&cudaLibraryUnload))sc_um_find_cuda("cudaLibraryUnload");

    forget_kernels();
    return next ? next(library) : cudaErrorNotSupported;
}
/* SPDX-License-Identifier: BSD-2-Clause */
