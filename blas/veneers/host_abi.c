/* Calling conventions of a BLAS library: names, width of integers, and the way complex functions return.  Calls that
 * are harmless under either convention find out what the symbols do not show. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>

#include "base/loader.h"
#include "blas/blas_int.h"

bool sc_blas_wide, sc_blas_g77;
sc_blas_fn sc_blas_hidden[2][SC_TRACE_ROUTINES_MAX];
int64_t sc_blas_host_counts = INT32_MAX;

/* --- names and conventions of a library --------------------------------------------------------------------------- */

bool sc_blas_abi_spell(char symbol[SC_BLAS_SYMBOL_MAX], enum sc_blas_interface interface, int which, const char *name)
{
    static const char *const spellings[SC_BLAS_INTERFACES][4] = { /* the spellings that generate.awk exports */
        [SC_BLAS_F77] = {"%s_", "scipy_%s_", "%s"},
        [SC_BLAS_CBLAS] = {"cblas_%s", "scipy_cblas_%s"},
        [SC_BLAS_F77_64] = {"%s_64_", "scipy_%s_64_", "%s_64"},
        [SC_BLAS_CBLAS_64] = {"cblas_%s64_", "scipy_cblas_%s64_", "cblas_%s_64"},
    };

    if (!spellings[interface][which])
        return false;
    snprintf(symbol, SC_BLAS_SYMBOL_MAX, spellings[interface][which], name);
    return true;
}

sc_blas_fn sc_blas_abi_symbol(void *library, enum sc_blas_interface interface, const char *name)
{
    char symbol[SC_BLAS_SYMBOL_MAX];
    void *found = NULL;

    for (int i = 0; !found && sc_blas_abi_spell(symbol, interface, i, name); i++)
        found = sc_loader_symbol(library, symbol);
    return (sc_blas_fn)found;
}

sc_blas_fn sc_blas_abi_routine(void *library, enum sc_blas_interface interface, int routine)
{
    const struct sc_blas_row *row = &sc_blas_rows[routine];
    bool cblas = interface == SC_BLAS_CBLAS || interface == SC_BLAS_CBLAS_64;

    return sc_blas_abi_symbol(library, interface, cblas ? row->cblas + strlen("cblas_") : row->name);
}

/* n has the lower half 1 and is negative as a whole: with 64-bit integers the search is empty. */
bool sc_blas_abi_is_wide(void *library)
{
    typedef sc_blas_int (*isamax)(const int64_t *n, const float *x, const int64_t *incx);
    isamax find = (isamax)sc_blas_abi_symbol(library, SC_BLAS_F77, "isamax");
    const int64_t n = -((int64_t)1 << 32) + 1, incx = 1;
    const float x = 1;

    return find && find(&n, &x, &incx) == 0;
}

/* A function that returns by value reads the arguments as n = 0, x, incx, y, incy, and does nothing.  A function
 * with a hidden argument reads n = 1 and overwrites the zero with the product. */
static bool returns_hidden(sc_blas_fn zdotu)
{
    typedef void (*six)(void *result, const int64_t *n, const void *x, const int64_t *incx, const void *y,
                        const int64_t *incy);
    const int64_t one = 1;
    const double x[2] = {3, 0};
    union {
        double value[2];
        int64_t n;
    } first = {.n = 0};

    ((six)zdotu)(&first, &one, x, &one, x, &one);
    return first.n != 0;
}

/* The last answer is kept, because a program's BLAS is tested for each routine with the same zdotu. */
bool sc_blas_abi_is_hidden(sc_blas_fn zdotu)
{
    static uintptr_t last; /* twice the address, plus the answer */
    uintptr_t known = __atomic_load_n(&last, __ATOMIC_RELAXED);

    if (!zdotu)
        return false;
    if (known >> 1 != (uintptr_t)zdotu) {
        known = (uintptr_t)zdotu << 1 | returns_hidden(zdotu);
        __atomic_store_n(&last, known, __ATOMIC_RELAXED);
    }
    return known & 1;
}

sc_blas_fn sc_blas_abi_by_value(sc_blas_fn fn, int routine, bool wide, bool hidden)
{
    if (!fn || !hidden || !sc_blas_of_hidden[wide][routine])
        return fn;
    sc_blas_hidden[wide][routine] = fn;
    return sc_blas_of_hidden[wide][routine];
}

bool sc_blas_abi_is_others(const void *address)
{
    struct sc_loader_object object;

    return sc_loader_object(address, &object) && *object.map->l_name && !sc_loader_same(address, &sc_blas_wide);
}

void *sc_blas_abi_displaced(const char *name)
{
    enum { UNKNOWN, FIRST, BEHIND };
    static int place; /* atomic; known once the library is loaded */
    int now = __atomic_load_n(&place, __ATOMIC_RELAXED);
    void *first;

    if (now == UNKNOWN) {
        first = sc_loader_symbol(RTLD_DEFAULT, "dgemm_");
        now = first && sc_blas_abi_is_others(first) ? BEHIND : FIRST;
        __atomic_store_n(&place, now, __ATOMIC_RELAXED);
    }
    first = now == BEHIND ? sc_loader_symbol(RTLD_DEFAULT, name) : NULL;
    return first && sc_blas_abi_is_others(first) ? first : sc_loader_symbol(RTLD_NEXT, name);
}

void *sc_blas_abi_program_wide(void)
{
    void *next = sc_blas_abi_displaced("isamax_"), *library;
    struct sc_loader_object object;

    if (!next || !sc_loader_object(next, &object))
        return NULL;
    library = sc_loader_open(object.path, RTLD_NOW | RTLD_LOCAL); /* initialised from here on */
    if (!library)
        return NULL;
    if (!sc_loader_symbol(library, "semcache_is_blas") && sc_blas_abi_is_wide(library))
        return library;
    sc_loader_close(library);
    return NULL;
}

/* --- 64-bit calls that a host with 32 bits cannot take ------------------------------------------------------------ */

bool sc_blas_second_of_pair(sc_blas_fn find, const void *first, const void *second, size_t bytes)
{
    typedef sc_blas_int (*find_fn)(const sc_blas_int *n, const void *x, const sc_blas_int *incx);
    const sc_blas_int two = 2, one = 1;
    double pair[4];

    memcpy(pair, first, bytes);
    memcpy((char *)pair + bytes, second, bytes);
    return ((find_fn)find)(&two, pair, &one) == 2;
}

double sc_blas_hypot(double a, double b) { return hypot(a, b); }
/* SPDX-License-Identifier: BSD-2-Clause */
