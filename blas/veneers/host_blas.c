/* Finding the host BLAS.  The library is opened by name, and routines are taken from its handle only: in the global
 * scope the veneers, or routines of the program, have the same names.  RTLD_DEEPBIND is not used, so that the host
 * BLAS calls an xerbla_ of the program.  Its own calls of dgemm_ and the like reach the veneers through the global
 * scope, and the veneers pass them on (sc_inside). */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/loader.h"
#include "base/locks.h"
#include "base/log.h"
#include "blas/lapack/whole_names.h"
#include "blas/veneers/loops.h"

static const char *const candidates[] = { /* in this order */
    "libopenblas.so.0",
    "libopenblasp.so.0",
    "libopenblas.so",
    "libmkl_rt.so.2",
    "libblis.so.4",
    "libblas.so.3",
    /* By path, for the case that this library is loaded under a name above. */
    "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/blis-pthread/libblas.so.3",
    "/usr/lib/x86_64-linux-gnu/atlas/libblas.so.3",
    "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3",
    NULL,
};
const char *const *sc_blas_host_candidates = candidates;

/* Each thread that finds the state CLOSED opens the host BLAS itself, with the same result.  No lock is held in the
 * meantime (base/loader.h). */
static struct sc_lock lock = SC_LOCK(SC_RANK_HOST_BLAS);
static enum { CLOSED, OPEN, FAILED } state; /* written under lock; OPEN with release order */
static void *handle;                        /* handle and found_path: as state */
static char found_path[4096];

/* NULL on success, with the library in *opened; otherwise the reason why the library is no host BLAS. */
static const char *try_open(const char *path, void **opened)
{
    void *library = sc_loader_open(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = NULL;
    void *dgemm;

    if (!library)
        return dlerror();
    dgemm = (void *)sc_blas_abi_symbol(library, SC_BLAS_F77, "dgemm");
    if (!dgemm)
        why = "it has no dgemm_";
    else if (sc_loader_symbol(library, "semcache_is_blas") || sc_loader_same(dgemm, &state))
        why = "it is semcache itself";
    else if (sc_blas_abi_is_wide(library) != sc_blas_wide)
        why = sc_blas_wide ? "its integers have 32 bits, the program's 64" : "its integers have 64 bits";
    if (why) {
        sc_loader_close(library);
        return why;
    }
    *opened = library;
    return NULL;
}

/* Opens the first usable library and returns its name, or NULL.  own: the program's library with 64-bit integers. */
static const char *open_default(void *own, void **opened)
{
    if (own) {
        *opened = own;
        return "the program's own";
    }
    for (const char *const *name = sc_blas_host_candidates; *name; name++)
        if (!try_open(*name, opened))
            return *name;
    return NULL;
}

/* A bad path is no reason to leave the program without a BLAS. */
static bool open_any(const char *path, void *own, void **opened)
{
    static bool said;
    const char *failed = path ? try_open(path, opened) : "", *instead;
    char why[512]; /* a copy: the next dlopen invalidates dlerror's text */

    if (!failed)
        return true;
    snprintf(why, sizeof why, "%s", failed);
    instead = open_default(own, opened);
    if (__atomic_exchange_n(&said, !instead || path, __ATOMIC_RELAXED))
        return instead != NULL;
    if (path && instead)
        sc_log(SC_LOG_ERROR, "SEMCACHE_HOST_BLAS=%s is no host BLAS (%s): %s is used", path, why, instead);
    else if (path)
        sc_log(SC_LOG_ERROR, "no host BLAS: %s: %s; set SEMCACHE_HOST_BLAS to a BLAS library", path, why);
    else if (!instead)
        sc_log(SC_LOG_ERROR, "no host BLAS: neither libopenblas.so.0 nor libblas.so.3 is there: "
                             "nothing runs on devices; install one (Debian: libopenblas0) or set SEMCACHE_HOST_BLAS "
                             "to its path");
    return instead != NULL;
}

/* opened: NULL when there is no host BLAS. */
static void remember(void *opened)
{
    struct sc_loader_object object;
    bool known = opened && sc_loader_object((void *)sc_blas_abi_symbol(opened, SC_BLAS_F77, "dgemm"), &object);

    sc_lock(&lock);
    if (state == CLOSED && opened) {
        snprintf(found_path, sizeof found_path, "%s", known ? object.path : "");
        handle = opened;
        sc_log(SC_LOG_INFO, "host BLAS: %s%s", found_path, sc_blas_wide ? " (64-bit integers in plain names)" : "");
    }
    if (state == CLOSED)
        __atomic_store_n(&state, opened ? OPEN : FAILED, __ATOMIC_RELEASE);
    sc_unlock(&lock);
}

static bool resolved[SC_BLAS_INTERFACES]; /* by interface: resolve_all was run */

/* Racing openers write the same values, before the state is OPEN. */
static sc_blas_fn of_host[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX];

static sc_blas_fn fortran_routine(void *library, int routine, bool wide, bool hidden)
{
    sc_blas_fn fn = sc_blas_abi_routine(library, wide ? SC_BLAS_F77_64 : SC_BLAS_F77, routine);

    return sc_blas_abi_by_value(fn, routine, wide, hidden);
}

/* Fills each routine in four forms: the host's own form, or a form made of a different one. */
static void fill_table(void *library)
{
    bool hidden = sc_blas_abi_is_hidden(sc_blas_abi_symbol(library, SC_BLAS_F77, "zdotu"));

    for (int i = 1; i < sc_blas_routines; i++) {
        sc_blas_fn fortran = fortran_routine(library, i, false, hidden);
        sc_blas_fn fortran64 = fortran_routine(library, i, true, hidden);
        sc_blas_fn cblas = sc_blas_abi_routine(library, SC_BLAS_CBLAS, i);
        sc_blas_fn cblas64 = sc_blas_abi_routine(library, SC_BLAS_CBLAS_64, i);

        if (sc_blas_substitute(i)) {
            fortran = sc_blas_substitute(i);
            fortran64 = NULL;
            cblas = cblas64 = NULL;
        }
        if (!fortran64 && sc_blas_wide)
            fortran64 = fortran;
        if (!cblas && fortran)
            cblas = sc_blas_via_fortran[sc_blas_wide][i];
        if (!cblas64 && sc_blas_wide)
            cblas64 = cblas;
        if (!cblas64 && cblas)
            cblas64 = fortran64 ? sc_blas_via_fortran[1][i] : sc_blas_narrow[1][i];
        if (!fortran64 && fortran)
            fortran64 = sc_blas_narrow[0][i];
        of_host[SC_BLAS_F77][i] = fortran;
        of_host[SC_BLAS_CBLAS][i] = cblas;
        of_host[SC_BLAS_F77_64][i] = fortran64;
        of_host[SC_BLAS_CBLAS_64][i] = cblas64;
    }
}

void sc_blas_register_names(void)
{
    static const char *names[SC_TRACE_ROUTINES_MAX];
    static const char *const lapack[] = {SC_LAPACK_NAMES};

    for (int i = 0; i < sc_blas_routines; i++)
        names[i] = sc_blas_rows[i].name;
    sc_trace_name_routines(names, sc_blas_routines);
    sc_trace_name_lapack(lapack);
}

/* The program's BLAS with 64-bit integers in plain names, or NULL.  Racing threads find the same. */
static void *program_wide(void)
{
    static bool known;
    static void *own; /* written before known, with release order */
    void *found;

    if (__builtin_expect(!__atomic_load_n(&known, __ATOMIC_ACQUIRE), 0)) {
        sc_inside_enter(); /* constructors of the opened library may allocate and call the BLAS */
        sc_blas_register_names();
        found = sc_blas_abi_program_wide();
        sc_blas_wide = found != NULL;
        __atomic_store_n(&own, found, __ATOMIC_RELAXED);
        __atomic_store_n(&known, true, __ATOMIC_RELEASE);
        sc_inside_leave();
    }
    return __atomic_load_n(&own, __ATOMIC_RELAXED);
}

void sc_blas_know_width(void) { program_wide(); }

enum sc_status sc_blas_host_open(const char *path)
{
    void *own = program_wide(), *opened = NULL;

    if (__builtin_expect(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == CLOSED, 0)) {
        sc_inside_enter(); /* as above */
        if (open_any(path, own, &opened))
            fill_table(opened);
        remember(opened);
        sc_inside_leave();
    }
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == OPEN ? SC_OK : SC_ERR_IO;
}

const char *sc_blas_host_path(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == OPEN ? found_path : NULL; }

bool sc_blas_host_is_optimised(void)
{
    return sc_blas_host_path() && sc_blas_optimised_mark(handle);
}

void *sc_blas_host_symbol(const char *name)
{
    char other[64];
    void *found;

    if (sc_blas_host_open(sc_config.host_blas) != SC_OK)
        return NULL;
    found = sc_loader_symbol(handle, name);
    if (!found && snprintf(other, sizeof other, "scipy_%s", name) < (int)sizeof other)
        found = sc_loader_symbol(handle, other);
    for (int i = 1; found && i < sc_blas_routines; i++)
        if ((void *)sc_blas_hidden[0][i] == found)
            return (void *)sc_blas_of_hidden[0][i];
    return found;
}

/* --- the routine that a call on the host reaches ------------------------------------------------------------------ */

static void *own_blas[SC_BLAS_INTERFACES]; /* the program's optimised BLAS; atomic; written before resolved */

/* The program's own optimised BLAS goes before the host BLAS.  The program's LAPACK calls the program's BLAS past
 * the veneers, and two libraries would each keep a thread on every processor.  Beside it a call on the host opens the
 * host BLAS only for a routine that the program's BLAS lacks. */
static sc_blas_fn find_routine(void *own, int routine, enum sc_blas_interface interface, bool called)
{
    sc_blas_fn fn = own && !sc_blas_substitute(routine) ? sc_blas_program_routine(own, routine, interface) : NULL;

    if (fn || (own && !called))
        return fn;
    return sc_blas_host_open(sc_config.host_blas) == SC_OK ? of_host[interface][routine] : NULL;
}

static sc_blas_fn enter(void *own, int routine, enum sc_blas_interface interface, bool called)
{
    sc_blas_fn fn = find_routine(own, routine, interface, called);

    if (fn)
        __atomic_store_n(&sc_blas_host[interface][routine], fn, __ATOMIC_RELEASE);
    return fn;
}

/* Resolves all routines of an interface at once.  Otherwise a constructor, which has the loader's lock, could wait
 * for a thread that makes the first call of a further routine and waits for the same lock.  A routine that the
 * program's BLAS lacks is resolved by its own first call.
 * routine: the one that the program calls. */
static sc_blas_fn resolve_all(int routine, enum sc_blas_interface interface)
{
    sc_blas_fn found = NULL;
    void *own;

    if (__atomic_load_n(&resolved[interface], __ATOMIC_ACQUIRE))
        return enter(__atomic_load_n(&own_blas[interface], __ATOMIC_RELAXED), routine, interface, true);
    own = sc_config.host_blas ? NULL : sc_blas_optimised_of_program(routine, interface);
    for (int i = 1; i < sc_blas_routines; i++) {
        sc_blas_fn fn = enter(own, i, interface, i == routine);

        if (i == routine)
            found = fn;
    }
    __atomic_store_n(&own_blas[interface], own, __ATOMIC_RELAXED);
    __atomic_store_n(&resolved[interface], true, __ATOMIC_RELEASE);
    return found;
}

int sc_blas_host_libraries(void *library[SC_BLAS_HOST_LIBRARIES])
{
    int count = 0;

    for (int i = 0; i < SC_BLAS_INTERFACES; i++)
        if (__atomic_load_n(&resolved[i], __ATOMIC_ACQUIRE) && (library[count] = own_blas[i]))
            count++;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == OPEN)
        library[count++] = handle;
    return count;
}

void sc_blas_first(int routine, enum sc_blas_interface interface)
{
    sc_blas_counts_new();
    if (!sc_inside() && !__atomic_load_n(&resolved[interface], __ATOMIC_ACQUIRE))
        resolve_all(routine, interface);
}

sc_blas_fn sc_blas_resolve(int routine, enum sc_blas_interface interface)
{
    const bool cblas = interface == SC_BLAS_CBLAS || interface == SC_BLAS_CBLAS_64;
    const bool says_64 = interface == SC_BLAS_F77_64 || interface == SC_BLAS_CBLAS_64;
    sc_blas_fn fn = resolve_all(routine, interface);

    if (!fn) {
        fn = sc_blas_of_program(routine, interface);
        if (fn)
            __atomic_store_n(&sc_blas_host[interface][routine], fn, __ATOMIC_RELEASE);
    }
    if (fn)
        return fn;
    if (!sc_blas_is_made(routine))
        sc_blas_say_computed(routine, cblas ? sc_blas_rows[routine].cblas : sc_blas_rows[routine].fortran,
                             "does not have it");
    return cblas ? sc_blas_via_fortran[says_64 || sc_blas_wide][routine] : sc_blas_computed[says_64][routine];
}
/* SPDX-License-Identifier: BSD-2-Clause */
