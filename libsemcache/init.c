/* Loading and unloading (rules L3, L4 of README.md). */
#include <config.h>

#include <sys/auxv.h>
#include <unistd.h>

#include "base/config.h"
#include "base/inside.h"
#include "blas/blas.h"
#include "libsemcache/config.h"
#include "libsemcache/library.h"
#include "sparse/mkl.h"

static void __attribute__((constructor)) load(void)
{
    sc_inside_enter();
    sc_report_begin();
    sc_config_load(&sc_config, environ, getauxval(AT_SECURE) == 0);
    sc_blas_g77 = sc_config.complex_return == SC_COMPLEX_G77;
    if (sc_blas_host_open(sc_config.host_blas) == SC_OK)
        sc_library_arm();
    sc_mkl_wide = sc_blas_wide;
    sc_library_rebind();
    sc_inside_leave();
}

/* For programs that never opened a device; the others have it done by atexit, before this. */
static void __attribute__((destructor)) unload(void) { sc_library_end(true); }
