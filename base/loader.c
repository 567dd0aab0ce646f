#define _GNU_SOURCE
#include <config.h>

#include "base/loader.h"

#include <errno.h>

#include "base/locks.h"

void *sc_loader_open(const char *path, int mode)
{
    int saved = errno;
    void *library;

    sc_locks_none("dlopen");
    library = dlopen(path, mode);
    errno = saved;
    return library;
}

/* The definition in libc; NULL where the C library has another file name. */
static void *in_libc(const char *name)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), *found = libc ? dlsym(libc, name) : NULL;

    if (libc)
        dlclose(libc);
    return found;
}

void *sc_loader_symbol(void *library, const char *name)
{
    int saved = errno;
    void *found;

    sc_locks_none("dlsym");
    found = dlsym(library, name);
    if (!found && library == RTLD_NEXT)
        found = in_libc(name);
    errno = saved;
    return found;
}

void sc_loader_close(void *library)
{
    sc_locks_none("dlclose");
    dlclose(library);
}

bool sc_loader_address(const void *at, Dl_info *info, void **extra, int flags)
{
    sc_locks_none("dladdr");
    return dladdr1(at, info, extra, flags) != 0;
}

void sc_loader_each(int (*visit)(struct dl_phdr_info *info, size_t bytes, void *context), void *context)
{
    sc_locks_none("dl_iterate_phdr");
    dl_iterate_phdr(visit, context);
}

#ifdef HAVE__DL_FIND_OBJECT

static bool find(const void *at, struct sc_loader_object *object)
{
    struct dl_find_object found;

    if (_dl_find_object((void *)(uintptr_t)at, &found) != 0)
        return false;
    object->map = found.dlfo_link_map;
    object->base = found.dlfo_map_start;
    return true;
}

bool sc_loader_has(const void *at)
{
    struct sc_loader_object object;

    return find(at, &object);
}

#else

bool sc_loader_has(const void *at)
{
    (void)at;
    return false;
}

static bool find(const void *at, struct sc_loader_object *object)
{
    struct link_map *map = NULL;
    Dl_info info;

    sc_locks_none("dladdr");
    if (!dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    object->map = map;
    object->base = info.dli_fbase;
    return true;
}

#endif

bool sc_loader_object(const void *at, struct sc_loader_object *object)
{
    if (!find(at, object))
        return false;
    object->path = object->map->l_name && *object->map->l_name ? object->map->l_name : program_invocation_name;
    return true;
}

bool sc_loader_same(const void *at, const void *other)
{
    struct sc_loader_object one, two;

    return sc_loader_object(at, &one) && sc_loader_object(other, &two) && one.map == two.map;
}
/* SPDX-License-Identifier: BSD-2-Clause */
