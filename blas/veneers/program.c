/* The routine that a call would have reached without this library.  A program may bring a BLAS of its own that no
 * search of the system finds: NumPy's wheels have a BLAS under private names, and Python opens it with RTLD_LOCAL.
 * The definition is looked for in the dynamic linker's order:
 *
 *   1. behind this library in the global scope;
 *   2. in the object that makes the call, and in the objects that it needs;
 *   3. in any loaded object (the caller may rely on libraries that its opener needs);
 *   4. for 64-bit integers: in the 64-bit libraries of a distribution.
 *
 * Results are kept for each calling object, so a second call does not search.  No lock of this library is held while
 * the dynamic linker works. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loader.h"
#include "base/log.h"
#include "blas/blas_int.h"

/* --- the caller --------------------------------------------------------------------------------------------------- */

static __thread const void *caller __attribute__((tls_model("initial-exec"))); /* an address in the program's code */

void sc_blas_called_from(const void *address)
{
    if (!sc_loader_is_own(address))
        caller = address;
}

/* --- definitions that an object reaches --------------------------------------------------------------------------- */

struct origin {
    uintptr_t low, high; /* address range of the object */
    void *handle;        /* NULL: unknown */
    bool has_lapack;     /* a library with a LAPACK, which belongs to or needs an optimised BLAS */
    sc_blas_fn found[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX];
    /* Number of objects loaded when a search found no definition; 0: no search was made. */
    uint32_t missed[SC_BLAS_INTERFACES][SC_TRACE_ROUTINES_MAX];
    sc_blas_fn other[SC_BLAS_OTHER_NAMES]; /* routines of openblas.c */
    struct origin *next;
};
static struct origin *origins; /* atomic; entries are never freed */

static struct origin *known_origin(const void *address)
{
    for (struct origin *o = __atomic_load_n(&origins, __ATOMIC_ACQUIRE); o; o = o->next)
        if ((uintptr_t)address >= o->low && (uintptr_t)address < o->high)
            return o;
    return NULL;
}

struct lookup {
    uintptr_t address, low, high;
    char *name;
};

static int contains(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct lookup *lookup = arg;
    uintptr_t low = UINTPTR_MAX, high = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = first + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        low = first < low ? first : low;
        high = end > high ? end : high;
    }
    if (lookup->address < low || lookup->address >= high)
        return 0;
    lookup->low = low;
    lookup->high = high;
    lookup->name = strdup(info->dlpi_name ? info->dlpi_name : "");
    return 1;
}

void *sc_blas_optimised_mark(void *library)
{
    static const char *const marks[] = {
        "openblas_get_config", "openblas_get_config64_", "scipy_openblas_get_config", "scipy_openblas_get_config64_",
        "MKL_Get_Version", "mkl_get_version", "bli_info_get_version_str", "ATL_buildinfo", "flexiblas_get_version",
        "armpl_get_version", "nvpl_blas_get_version"};
    void *mark = NULL;

    for (size_t i = 0; i < sizeof marks / sizeof *marks && !mark; i++)
        mark = sc_loader_symbol(library, marks[i]);
    return mark;
}

/* --- LAPACK of an optimised BLAS ---------------------------------------------------------------------------------- */

/* True when `library` is the object of this link map, or is in the object's list of needed libraries. */
static bool is_or_needs(const struct link_map *object, const struct link_map *library)
{
    const char *strings = NULL, *slash = strrchr(library->l_name, '/'), *name = slash ? slash + 1 : library->l_name;

    if (object == library)
        return true;
    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = object->l_ld; strings && d->d_tag != DT_NULL; d++) {
        const char *needed = strings + d->d_un.d_val;

        /* The file's name may be longer than the name in the list of needed libraries. */
        if (d->d_tag == DT_NEEDED && !strncmp(name, needed, strcspn(needed, ".")))
            return true;
    }
    return false;
}

static bool is_cblas(enum sc_blas_interface interface)
{
    return interface == SC_BLAS_CBLAS || interface == SC_BLAS_CBLAS_64;
}
static bool is_wide(enum sc_blas_interface interface)
{
    return interface == SC_BLAS_F77_64 || interface == SC_BLAS_CBLAS_64;
}

/* True when the object at `address` defines LAPACK, and the LAPACK belongs to an optimised BLAS.  The reference
 * LAPACK does not count: its LU and Cholesky factorisations consist of BLAS calls, which devices serve well. */
static bool defines_lapack(const void *address, void *handle)
{
    struct sc_loader_object object, lapack, blas;
    void *mark = sc_blas_optimised_mark(handle);
    sc_blas_fn routine = NULL;

    if (!mark || !sc_loader_object(address, &object) || !sc_loader_object(mark, &blas))
        return false;
    for (int i = 0; i < SC_BLAS_INTERFACES && !routine; i++)
        routine = is_cblas((enum sc_blas_interface)i) ? NULL
                                                      : sc_blas_abi_symbol(handle, (enum sc_blas_interface)i, "dgetrf");
    return routine && sc_loader_object((void *)routine, &lapack) && lapack.map == object.map &&
           is_or_needs(object.map, blas.map);
}

/* --- new objects -------------------------------------------------------------------------------------------------- */

/* Two threads may add the same object; the later entry is found first. */
static struct origin *new_origin(const void *address)
{
    struct lookup lookup = {.address = (uintptr_t)address, .low = (uintptr_t)address, .high = (uintptr_t)address + 1};
    struct origin *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    sc_loader_each(contains, &lookup);
    o->low = lookup.low;
    o->high = lookup.high;
    if (lookup.name)
        o->handle = sc_loader_open(*lookup.name ? lookup.name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (o->handle && *lookup.name)
        o->has_lapack = defines_lapack(address, o->handle);
    free(lookup.name);
    o->next = __atomic_load_n(&origins, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&origins, &o->next, o, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        ;
    return o;
}

/* --- searching ---------------------------------------------------------------------------------------------------- */

static const char *base_name(int routine, enum sc_blas_interface interface)
{
    const struct sc_blas_row *row = &sc_blas_rows[routine];

    return is_cblas(interface) ? row->cblas + strlen("cblas_") : row->name;
}

/* The library of a definition, opened again; NULL for a definition in a copy of semcache. */
static void *library_of(void *found)
{
    struct sc_loader_object object;
    void *library, *is_blas;

    if (!found || !sc_blas_abi_is_others(found) || !sc_loader_object(found, &object))
        return NULL;
    library = sc_loader_open(*object.map->l_name ? object.path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    is_blas = library ? sc_loader_symbol(library, "semcache_is_blas") : NULL;
    if (!is_blas || !sc_loader_same(is_blas, found))
        return library;
    sc_loader_close(library);
    return NULL;
}

/* The definition in the form that veneers call; its library stays open. */
static sc_blas_fn accept(void *found, int routine, enum sc_blas_interface interface)
{
    void *library = library_of(found);

    if (!library)
        return NULL;
    if (is_cblas(interface))
        return (sc_blas_fn)found;
    return sc_blas_abi_by_value((sc_blas_fn)found, routine, is_wide(interface),
                                sc_blas_abi_is_hidden(sc_blas_abi_symbol(library, interface, "zdotu")));
}

/* handle: NULL searches behind this library in the global scope. */
static sc_blas_fn search(void *handle, int routine, enum sc_blas_interface interface)
{
    char symbol[SC_BLAS_SYMBOL_MAX];
    sc_blas_fn fn = NULL;

    for (int i = 0; !fn && sc_blas_abi_spell(symbol, interface, i, base_name(routine, interface)); i++)
        fn = accept(handle ? sc_loader_symbol(handle, symbol) : sc_blas_abi_displaced(symbol), routine, interface);
    return fn;
}

struct names {
    char **name;
    size_t count, room;
};

static int add_name(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct names *names = arg;
    char **more;

    (void)size;
    if (!info->dlpi_name || !*info->dlpi_name)
        return 0;
    if (names->count == names->room) {
        names->room = 2 * names->room + 64;
        more = realloc(names->name, names->room * sizeof *more);
        if (!more)
            return 1;
        names->name = more;
    }
    names->name[names->count] = strdup(info->dlpi_name);
    return !names->name[names->count++];
}

/* What `find` finds in one of the loaded libraries. */
static void *search_loaded(void *(*find)(void *library, const void *what), const void *what)
{
    struct names names = {NULL, 0, 0};
    void *found = NULL;

    sc_loader_each(add_name, &names);
    for (size_t i = 0; i < names.count; i++) {
        void *library = !found && names.name[i] ? sc_loader_open(names.name[i], RTLD_LAZY | RTLD_NOLOAD) : NULL;

        if (library) {
            found = find(library, what);
            sc_loader_close(library);
        }
        free(names.name[i]);
    }
    free(names.name);
    return found;
}

struct wanted {
    int routine;
    enum sc_blas_interface interface;
};

static void *wanted_in(void *library, const void *what)
{
    const struct wanted *w = what;

    return (void *)search(library, w->routine, w->interface);
}

static sc_blas_fn search_all(int routine, enum sc_blas_interface interface)
{
    const struct wanted w = {routine, interface};

    return (sc_blas_fn)search_loaded(wanted_in, &w);
}

/* A 64-bit library of the system.  *plain: its plain names have 64-bit integers. */
static void *open_wide(bool *plain)
{
    static const char *const names[] = {"libopenblas64_.so.0", "libopenblas64.so.0", "libblas64.so.3", NULL};

    for (const char *const *name = names; *name; name++) {
        void *library = sc_loader_open(*name, RTLD_NOW | RTLD_LOCAL);

        if (!library)
            continue;
        *plain = !sc_blas_abi_symbol(library, SC_BLAS_F77_64, "dgemm");
        if (!sc_loader_symbol(library, "semcache_is_blas") && (!*plain || sc_blas_abi_is_wide(library)))
            return library;
        sc_loader_close(library);
    }
    return NULL;
}

static sc_blas_fn search_system(int routine, enum sc_blas_interface interface)
{
    bool plain;
    void *library = is_wide(interface) ? open_wide(&plain) : NULL;
    enum sc_blas_interface own = !library || !plain ? interface : is_cblas(interface) ? SC_BLAS_CBLAS : SC_BLAS_F77;
    sc_blas_fn fn = library ? sc_blas_abi_routine(library, own, routine) : NULL;

    if (library && !fn)
        sc_loader_close(library);
    if (!fn || is_cblas(interface))
        return fn;
    return sc_blas_abi_by_value(fn, routine, true, sc_blas_abi_is_hidden(sc_blas_abi_symbol(library, own, "zdotu")));
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint32_t *)arg = (uint32_t)info->dlpi_adds + 1;
    return 1;
}

static sc_blas_fn search_program(const struct origin *o, int routine, enum sc_blas_interface interface)
{
    sc_blas_fn fn = search(NULL, routine, interface);

    if (!fn && o->handle)
        fn = search(o->handle, routine, interface);
    return fn ? fn : search_all(routine, interface);
}

static sc_blas_fn find(struct origin *o, int routine, enum sc_blas_interface interface)
{
    uint32_t loads = 1, *missed = &o->missed[interface][routine];
    sc_blas_fn fn;

    sc_loader_each(count_loads, &loads);
    if (__atomic_load_n(missed, __ATOMIC_RELAXED) == loads)
        return NULL;
    fn = search_program(o, routine, interface);
    if (!fn)
        fn = search_system(routine, interface);
    if (fn)
        __atomic_store_n(&o->found[interface][routine], fn, __ATOMIC_RELEASE);
    else
        __atomic_store_n(missed, loads, __ATOMIC_RELAXED);
    return fn;
}

static struct origin *origin_of(const void *address)
{
    struct origin *o = known_origin(address);

    return o ? o : new_origin(address);
}

static struct origin *origin_of_caller(void) { return origin_of(caller); }

bool sc_blas_called_by_lapack(void)
{
    const struct origin *o = known_origin(caller);
    struct sc_loader_object object;

    if (!o && sc_loader_object(caller, &object)) { /* code made at run time is in no object, and gets no entry */
        sc_inside_enter();
        o = origin_of_caller();
        sc_inside_leave();
    }
    return o && o->has_lapack;
}

sc_blas_fn sc_blas_of_program(int routine, enum sc_blas_interface interface)
{
    struct origin *o = known_origin(caller);
    sc_blas_fn fn = o ? __atomic_load_n(&o->found[interface][routine], __ATOMIC_ACQUIRE) : NULL;

    if (fn)
        return fn;
    sc_inside_enter(); /* constructors of the opened library may allocate and call the BLAS */
    o = origin_of_caller();
    if (o)
        fn = find(o, routine, interface);
    sc_inside_leave();
    return fn;
}

/* NULL for a definition in a copy of semcache. */
static void *of_others(void *found)
{
    void *library = library_of(found);

    if (library)
        sc_loader_close(library);
    return library ? found : NULL;
}

static void *in_scope(const struct origin *o, const char *name)
{
    return o && o->handle ? of_others(sc_loader_symbol(o->handle, name)) : NULL;
}

static void *displaced(const char *name) { return of_others(sc_blas_abi_displaced(name)); }

/* The library of the symbol stays open. */
static void *symbol_in(void *library, const void *symbol)
{
    void *found = sc_loader_symbol(library, symbol);

    return library_of(found) ? found : NULL;
}

/* By the wheels' name.  A module of a wheel may have the routine's address from another module, so all libraries are
 * searched.  A name without 64 stands for 32-bit integers here. */
static void *search_wheels(const struct origin *o, const char *name)
{
    char wheel[SC_BLAS_SYMBOL_MAX];
    void *found;

    if (sc_blas_wide && !strstr(name, "64"))
        return NULL;
    snprintf(wheel, sizeof wheel, "scipy_%s", name);
    found = in_scope(o, wheel);
    return found ? found : search_loaded(symbol_in, wheel);
}

/* The caller's scope is searched first: a library that calls its own routine through the global scope gets its own. */
static void *search_named(const struct origin *o, const char *name, bool wheels)
{
    void *found = in_scope(o, name);

    if (!found)
        found = displaced(name);
    if (!found && wheels)
        found = search_wheels(o, name);
    return found ? found : sc_blas_host_symbol(name);
}

sc_blas_fn sc_blas_named_of_program(const char *name)
{
    void *found;

    sc_inside_enter();
    found = search_named(origin_of_caller(), name, true);
    sc_inside_leave();
    return (sc_blas_fn)found;
}

/* The object of the address defines the BLAS. */
static bool is_in_blas(const void *address)
{
    const struct origin *o = sc_loader_has(address) ? origin_of(address) : NULL;
    void *blas = o && o->handle ? sc_loader_symbol(o->handle, "dgemm_") : NULL;

    return blas && sc_loader_same(blas, address);
}

sc_blas_fn sc_blas_handler_of_program(const char *name, const void *from)
{
    void *found;

    sc_inside_enter();
    if (!is_in_blas(from)) /* else the caller of the BLAS is known */
        sc_blas_called_from(from);
    found = displaced(name);
    if (!found)
        found = in_scope(origin_of_caller(), name);
    if (!found)
        found = sc_blas_host_symbol(name);
    sc_inside_leave();
    return (sc_blas_fn)found;
}

sc_blas_fn sc_blas_other_of_program(int which, const char *name)
{
    struct origin *o = known_origin(caller);
    void *found = o ? (void *)__atomic_load_n(&o->other[which], __ATOMIC_ACQUIRE) : NULL;

    if (found)
        return (sc_blas_fn)found;
    sc_inside_enter();
    o = origin_of_caller();
    found = search_named(o, name, false);
    if (o && found)
        __atomic_store_n(&o->other[which], (sc_blas_fn)found, __ATOMIC_RELEASE);
    sc_inside_leave();
    return (sc_blas_fn)found;
}

void *sc_blas_optimised_of_program(int routine, enum sc_blas_interface interface)
{
    bool wide = is_wide(interface);
    const struct origin *o;
    void *library = NULL;
    sc_blas_fn fn;

    sc_inside_enter();
    o = origin_of_caller();
    fn = o ? search_program(o, routine, interface) : NULL;
    if (fn)
        library = library_of((void *)(fn == sc_blas_of_hidden[wide][routine] ? sc_blas_hidden[wide][routine] : fn));
    if (library && !sc_blas_optimised_mark(library)) {
        sc_loader_close(library);
        library = NULL;
    }
    sc_inside_leave();
    return library;
}

sc_blas_fn sc_blas_program_routine(void *library, int routine, enum sc_blas_interface interface)
{
    sc_blas_fn fn = sc_blas_abi_routine(library, interface, routine);

    if (is_cblas(interface) || !fn)
        return fn;
    return sc_blas_abi_by_value(fn, routine, is_wide(interface),
                                sc_blas_abi_is_hidden(sc_blas_abi_symbol(library, interface, "zdotu")));
}
/* SPDX-License-Identifier: BSD-2-Clause */
