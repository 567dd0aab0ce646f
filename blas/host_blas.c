/* Finding the host BLAS.  It is opened by name and its routines are taken from its handle only: the global scope has
 * our own veneers (or the program's routines) under the same names.  It is opened without RTLD_DEEPBIND, so that an
 * xerbla_ of the program is still the one it calls; its calls of dgemm_ and so on through the global scope come back
 * to the veneers, which pass them on (sc_inside). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "blas/blas_int.h"

static const char *const candidates[] = { /* in this order */
    "libopenblas.so.0",
    "libopenblasp.so.0",
    "libopenblas.so",
    "libmkl_rt.so.2",
    "libblis.so.4",
    "libblas.so.3",
    /* By path: when we are ourselves loaded under one of the names above. */
    "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/blis-pthread/libblas.so.3",
    "/usr/lib/x86_64-linux-gnu/atlas/libblas.so.3",
    "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3",
    NULL,
};
const char *const *sc_blas_host_candidates = candidates;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { CLOSED, OPEN, FAILED } state; /* written under lock; OPEN with release order */
static void *handle;
static char found_path[4096];

static const void *object_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* NULL, or why this library is no host BLAS.  On success *opened is it. */
static const char *try_open(const char *path, void **opened)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = NULL;
    void *dgemm;

    if (!library)
        return dlerror();
    dgemm = dlsym(library, "dgemm_");
    if (!dgemm)
        why = "it has no dgemm_";
    else if (dlsym(library, "semcache_is_blas") || object_of(dgemm) == object_of(&state))
        why = "it is semcache itself";
    if (why) {
        dlclose(library);
        return why;
    }
    *opened = library;
    return NULL;
}

/* A path that does not work is no reason to leave the program without a BLAS. */
static bool open_any(const char *path)
{
    const char *failed = path ? try_open(path, &handle) : "";
    char why[512]; /* a copy: dlerror's text is gone after the next dlopen */

    if (!failed)
        return true;
    snprintf(why, sizeof why, "%s", failed);
    for (const char *const *name = sc_blas_host_candidates; *name; name++)
        if (!try_open(*name, &handle)) {
            if (path)
                sc_log(SC_LOG_ERROR, "SEMCACHE_HOST_BLAS=%s is no host BLAS (%s): %s is used", path, why, *name);
            return true;
        }
    if (path)
        sc_log(SC_LOG_ERROR, "no host BLAS: %s: %s; set SEMCACHE_HOST_BLAS to a BLAS library", path, why);
    else
        sc_log(SC_LOG_ERROR, "no host BLAS: neither libopenblas.so.0 nor libblas.so.3 is there: "
                             "install one (Debian: libopenblas0) or set SEMCACHE_HOST_BLAS to its path");
    return false;
}

static void remember_path(void)
{
    Dl_info info;

    if (dladdr(dlsym(handle, "dgemm_"), &info) && info.dli_fname)
        snprintf(found_path, sizeof found_path, "%s", info.dli_fname);
}

static void fill_table(void)
{
    for (int i = 1; i < sc_blas_routines; i++) {
        sc_blas_fn fortran = (sc_blas_fn)dlsym(handle, sc_blas_rows[i].fortran);
        sc_blas_fn cblas = (sc_blas_fn)dlsym(handle, sc_blas_rows[i].cblas);

        if (!fortran)
            fortran = sc_blas_substitute(i);
        if (fortran)
            __atomic_store_n(&sc_blas_host[SC_BLAS_F77][i], fortran, __ATOMIC_RELEASE);
        if (!cblas && fortran)
            cblas = sc_blas_via_fortran[i];
        if (cblas)
            __atomic_store_n(&sc_blas_host[SC_BLAS_CBLAS][i], cblas, __ATOMIC_RELEASE);
    }
}

static void register_names(void)
{
    static const char *names[SC_TRACE_ROUTINES_MAX];

    for (int i = 0; i < sc_blas_routines; i++)
        names[i] = sc_blas_rows[i].name;
    sc_trace_name_routines(names, sc_blas_routines);
}

enum sc_status sc_blas_host_open(const char *path)
{
    enum sc_status status;

    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == OPEN)
        return SC_OK;
    sc_inside_enter(); /* the constructors of what is opened may allocate and call */
    pthread_mutex_lock(&lock);
    if (state == CLOSED) {
        register_names();
        if (open_any(path)) {
            remember_path();
            fill_table();
            __atomic_store_n(&state, OPEN, __ATOMIC_RELEASE);
            sc_log(SC_LOG_INFO, "host BLAS: %s", found_path);
        } else {
            state = FAILED; /* said once */
        }
    }
    status = state == OPEN ? SC_OK : SC_ERR_IO;
    pthread_mutex_unlock(&lock);
    sc_inside_leave();
    return status;
}

const char *sc_blas_host_path(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == OPEN ? found_path : NULL; }

void *sc_blas_host_symbol(const char *name)
{
    if (sc_blas_host_open(sc_config.host_blas) != SC_OK)
        return NULL;
    return dlsym(handle, name);
}

sc_blas_fn sc_blas_resolve(int routine, enum sc_blas_interface interface, sc_blas_fn stub)
{
    static uint8_t said[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX];
    const struct sc_blas_row *row = &sc_blas_rows[routine];
    sc_blas_fn fn = NULL;

    if (sc_blas_host_open(sc_config.host_blas) == SC_OK)
        fn = __atomic_load_n(&sc_blas_host[interface][routine], __ATOMIC_ACQUIRE);
    if (fn && fn != stub)
        return fn;
    if (!__atomic_exchange_n(&said[interface][routine], 1, __ATOMIC_RELAXED))
        sc_log(SC_LOG_ERROR, "%s was called and not done: the host BLAS (%s) does not have it",
               interface == SC_BLAS_F77 ? row->fortran : row->cblas, found_path[0] ? found_path : "none was found");
    return NULL;
}
