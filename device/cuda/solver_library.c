/* Opens cuSOLVER, and closes its handles.  Without the library the routines of LAPACK run on the host. */
#define _GNU_SOURCE
#include <config.h>

#include "device/cuda/solver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct sc_cuda_solver *solver; /* atomic; never freed */
static bool absent;                         /* atomic: the library cannot be loaded */

const struct sc_cuda_solver *sc_cuda_solver(void) { return __atomic_load_n(&solver, __ATOMIC_ACQUIRE); }

static bool find(void *library, void *function, const char *name)
{
    char full[64];

    snprintf(full, sizeof full, "cusolverDn%s", name);
    *(void **)function = dlsym(library, full);
    return *(void **)function != NULL;
}

/* Functions of the older interface, whose names begin with the letter of the type. */
static bool find_four(void *library, void *functions, const char *real, const char *complex)
{
    void **function = functions;
    bool found = true;
    char name[48];

    for (int type = 0; type < SC_TYPES; type++) {
        snprintf(name, sizeof name, "%c%s", "SDCZ"[type], type == SC_S || type == SC_D ? real : complex);
        found = find(library, &function[type], name) && found;
    }
    return found;
}

static bool find_all(void *library, struct sc_cuda_solver *s)
{
#define FIND(name) && find(library, &s->name, #name)
#define FIND_FOUR(field, real, complex, type) && find_four(library, s->field, real, complex)
    return library SC_CUDA_SOLVER_FUNCTIONS(FIND) SC_CUDA_SOLVER_FOURS(FIND_FOUR);
#undef FIND
#undef FIND_FOUR
}

/* The library beside the module's cuSPARSE, else the loader's choice. */
static void *open_library(void)
{
    Dl_info beside;
    void *library = NULL;
    char path[4096];
    int folder;

    if (dladdr((void *)(uintptr_t)&cusparseCreate, &beside) && beside.dli_fname && strrchr(beside.dli_fname, '/')) {
        folder = (int)(strrchr(beside.dli_fname, '/') - beside.dli_fname);
        if (snprintf(path, sizeof path, "%.*s/%s", folder, beside.dli_fname, SC_CUDA_SOLVER_FILE) < (int)sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library ? library : dlopen(SC_CUDA_SOLVER_FILE, RTLD_NOW | RTLD_LOCAL);
}

/* Threads may load the library at the same time, with the same result.  No thread waits for another, because a thread
 * that holds the loader's lock may be among them. */
bool sc_cuda_solver_open(void)
{
    const struct sc_cuda_solver *none = NULL;
    struct sc_cuda_solver *found;
    double since = sc_cuda_now();
    void *library;

    if (sc_cuda_solver())
        return true;
    if (__atomic_load_n(&absent, __ATOMIC_RELAXED))
        return false;
    found = calloc(1, sizeof *found);
    library = found ? open_library() : NULL;
    if (!find_all(library, found)) {
        const char *why = dlerror();

        if (!__atomic_exchange_n(&absent, true, __ATOMIC_RELAXED))
            sc_cuda_host->log(SC_LOG_INFO, "no cuSOLVER (%s): LAPACK runs on the host",
                              why ? why : SC_CUDA_SOLVER_FILE);
        free(found);
        return false;
    }
    if (!__atomic_compare_exchange_n(&solver, &none, found, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        free(found);
    sc_cuda_step(&since, 0, "cuSOLVER");
    return true;
}

enum sc_status sc_cuda_solver_handle(struct sc_cuda_stream *queue)
{
    const struct sc_cuda_solver *f = sc_cuda_solver();
    cusolverDnHandle_t handle = NULL;
    cusolverDnParams_t params = NULL;

    if (!f)
        return SC_ERR_UNSUPPORTED;
    if (queue->solver)
        return SC_OK;
    if (f->Create(&handle) == CUSOLVER_STATUS_SUCCESS &&
        f->SetStream(handle, queue->stream) == CUSOLVER_STATUS_SUCCESS &&
        f->CreateParams(&params) == CUSOLVER_STATUS_SUCCESS) {
        queue->solver = handle;
        queue->solver_params = params;
        return SC_OK;
    }
    if (handle)
        f->Destroy(handle);
    cudaGetLastError();
    return SC_ERR_UNSUPPORTED;
}

void sc_cuda_solver_close(struct sc_cuda_stream *queue)
{
    const struct sc_cuda_solver *f = sc_cuda_solver();

    if (!f || !queue->solver)
        return;
    f->DestroyParams(queue->solver_params);
    f->Destroy(queue->solver);
    queue->solver = NULL;
    queue->solver_params = NULL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
