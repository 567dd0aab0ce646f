/* The way of a process, and the functions behind ours. */
#include <config.h>

#include "cuda-um/um.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "cuda-um/emulated/emulated.h"

const struct sc_library_inner *sc_um_inner;
static enum sc_um_way way;
static pthread_once_t decided = PTHREAD_ONCE_INIT;

/* --- CUDA's libraries --------------------------------------------------------------------------------------------- */

static int not_supported_cuda(void) { return cudaErrorNotSupported; }
static int not_supported_cublas(void) { return CUBLAS_STATUS_NOT_SUPPORTED; }
static int not_supported_cusparse(void) { return CUSPARSE_STATUS_NOT_SUPPORTED; }

static int not_supported_cusolver(void) { return 9; } /* CUSOLVER_STATUS_NOT_SUPPORTED */
static int not_supported_cufft(void) { return 16; }    /* CUFFT_NOT_SUPPORTED */
static int not_supported_curand(void) { return 999; }  /* CURAND_STATUS_INTERNAL_ERROR */

/* Prefixes of names; the longest comes first.  The files are those of the toolkit at build time.  NULL: the program
 * brings the library, or does not call it. */
static const struct {
    const char *prefix, *file;
    int (*missing)(void);
} libraries[] = {{"cublasLt", SC_UM_CUBLASLT, not_supported_cublas},
                 {"cublas", SC_UM_CUBLAS, not_supported_cublas},
                 {"cusparse", SC_UM_CUSPARSE, not_supported_cusparse},
                 {"cusolver", NULL, not_supported_cusolver},
                 {"cufft", NULL, not_supported_cufft},
                 {"curand", NULL, not_supported_curand},
                 {"cuda", SC_UM_CUDART, not_supported_cuda}};

/* Every other name is the runtime's, as __cudaLaunchKernel in the code that nvcc makes. */
static size_t library_of(const char *name)
{
    const size_t last = sizeof libraries / sizeof *libraries - 1;
    size_t i = 0;

    while (i < last && strncmp(name, libraries[i].prefix, strlen(libraries[i].prefix)) != 0)
        i++;
    return i;
}

/* The function in the program's own CUDA library, else in the toolkit's. */
void *sc_um_find_cuda(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name), *library;
    const char *file = libraries[library_of(name)].file;

    if (found || !file)
        return found;
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

/* --- the way ------------------------------------------------------------------------------------------------------ */

static int gpus;

int sc_um_gpus(void) { return gpus; }

static bool has_gpu(void)
{
    __typeof__(&cudaGetDeviceCount) count_devices =
        (__typeof__(&cudaGetDeviceCount))sc_um_find_cuda("cudaGetDeviceCount");

    if (!count_devices || count_devices(&gpus) != cudaSuccess)
        gpus = 0;
    return gpus > 0;
}

static void decide(void)
{
    static const char *const names[] = {"natively", "by semcache", "emulated"};

    sc_um_inner = sc_library_inner();
    if ((sc_um_inner->armed() && sc_um_inner->emulated()) || !has_gpu())
        way = SC_UM_EMULATED;
    else
        way = sc_um_inner->armed() && sc_um_inner->computes() ? SC_UM_MAPPED : SC_UM_NATIVE;
    sc_um_inner->log(SC_LOG_INFO, "cuda-um: CUDA calls on managed memory are served %s", names[way]);
}

enum sc_um_way sc_um_way(void)
{
    pthread_once(&decided, decide);
    return way;
}

void *sc_um_find(const char *name)
{
    void *found = sc_um_way() == SC_UM_EMULATED ? sc_um_emulated(name) : sc_um_find_cuda(name);

    if (found)
        return found;
    sc_um_inner->log(SC_LOG_ERROR, "cuda-um: %s is not %s; it returns an error", name,
                     way == SC_UM_EMULATED ? "emulated, and there is no CUDA device" : "in the CUDA libraries here");
    return (void *)libraries[library_of(name)].missing;
}

/* Looked up in libsemcache's own handle, because the program may have loaded another BLAS first. */
void *sc_um_routine(const char *name)
{
    static void *library;
    void *handle = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
    Dl_info info;

    if (!handle) {
        if (!dladdr((void *)sc_library_inner, &info) || !(handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)))
            return NULL;
        __atomic_store_n(&library, handle, __ATOMIC_RELEASE);
    }
    return dlsym(handle, name);
}

/* --- callers ------------------------------------------------------------------------------------------------------ */

static bool is_library_file(const char *path)
{
    static const char *const names[] = {"libcublas",   "libcusparse", "libcusolver", "libcufft",  "libcurand",
                                        "libcudart",   "libcudnn",    "libcutensor", "libcuda.", "libnv",
                                        "libnpp",      "libnccl",     "semcache-cuda"};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool sc_um_is_library(const void *code)
{
    static __thread const struct link_map *last __attribute__((tls_model("initial-exec")));
    static __thread bool answer __attribute__((tls_model("initial-exec")));
    struct dl_find_object found;

    if (_dl_find_object((void *)code, &found) != 0)
        return false;
    if (found.dlfo_link_map != last) {
        answer = is_library_file(found.dlfo_link_map->l_name);
        last = found.dlfo_link_map;
    }
    return answer;
}

bool sc_um_passes(const void *caller)
{
    return sc_um_way() == SC_UM_NATIVE || (way == SC_UM_MAPPED && sc_um_is_library(caller));
}
/* SPDX-License-Identifier: BSD-2-Clause */
