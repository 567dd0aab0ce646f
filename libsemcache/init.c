/* Loading and unloading of the library (rules L3, L4 of README.md). */
#include <config.h>

#include <sys/auxv.h>
#include <unistd.h>

#include "base/config.h"
#include "base/inside.h"
#include "base/loader.h"
#include "blas/blas.h"
#include "host/host.h"
#include "libsemcache/config.h"
#include "libsemcache/library.h"
#include "libsemcache/places.h"
#include "sparse/mkl.h"
#include "trace/trace.h"

/* Called in the constructor, when this thread holds the loader's lock. */
static const char *own_file(void)
{
    static struct sc_loader_object about;

    return sc_loader_object((void *)own_file, &about) ? about.path : NULL;
}

/* Whether integers are 64 bits wide.  Found at the first use. */
static bool is_wide(void)
{
    sc_blas_know_width();
    return sc_blas_wide;
}

static void __attribute__((constructor)) load(void)
{
    sc_inside_enter();
    sc_report_begin();
    sc_places_find(own_file());
    sc_config_load(&sc_config, environ, getauxval(AT_SECURE) == 0);
    sc_blas_g77 = sc_config.complex_return == SC_COMPLEX_G77;
    sc_mkl_asks_wide = is_wide;
    sc_library_arm();
    sc_library_rebind();
    if (sc_config.trace || sc_config.explain)
        /* Loads a library: here, because the thread already holds the loader's lock. */
        sc_trace_site_prepare();
    if (sc_config.trace) {
        sc_trace_prepare();
        __atomic_store_n(&sc_host_allocated, sc_trace_allocated, __ATOMIC_RELEASE);
    }
    sc_inside_leave();
}

/* For programs that never opened a device; otherwise an atexit handler has already ended the library. */
static void __attribute__((destructor)) unload(void) { sc_library_end(true); }
/* SPDX-License-Identifier: BSD-2-Clause */
