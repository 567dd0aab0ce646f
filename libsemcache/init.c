/* Loading and unloading (rules L3, L4 of README.md). */
#include <config.h>

#include <sys/auxv.h>
#include <unistd.h>

#include "base/config.h"
#include "base/inside.h"
#include "base/loader.h"
#include "blas/blas.h"
#include "libsemcache/config.h"
#include "libsemcache/library.h"
#include "libsemcache/places.h"
#include "sparse/mkl.h"
#include "trace/trace.h"

/* In the constructor the loader's lock is this thread's. */
static const char *own_file(void)
{
    static struct sc_loader_object about;

    return sc_loader_object((void *)own_file, &about) ? about.path : NULL;
}

/* The host BLAS knows, which is opened by the first call that needs it. */
static bool is_wide(void)
{
    sc_blas_host_open(sc_config.host_blas);
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
        sc_trace_site_prepare(); /* it loads a library: here, where the loader's lock is ours anyway */
    sc_inside_leave();
}

/* For programs that never opened a device; the others have it done by atexit, before this. */
static void __attribute__((destructor)) unload(void) { sc_library_end(true); }
