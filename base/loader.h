/* The dynamic loader: all calls of the library that may take the loader's lock (doc/locks.md).
 *
 * dlopen holds the loader's lock while constructors run, and a constructor may call the BLAS.  Therefore a thread calls
 * the loader without any lock of ours.  A thread that may run in a constructor never waits for a thread inside the
 * loader.  Thread safe; errno is kept. */
#ifndef SC_BASE_LOADER_H
#define SC_BASE_LOADER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* As dlopen, dlsym, dlclose and dl_iterate_phdr.  RTLD_NEXT is relative to the file that contains base/loader.c;
 * where this file stands behind libc in the order of libraries (it came in through another library), the name is
 * looked up in libc. */
void *sc_loader_open(const char *path, int mode);
void *sc_loader_symbol(void *library, const char *name);
void sc_loader_close(void *library);
bool sc_loader_address(const void *at, Dl_info *info, void **extra, int flags); /* dladdr1 */
void sc_loader_each(int (*visit)(struct dl_phdr_info *info, size_t bytes, void *context), void *context);

/* The loaded file at an address.  Takes no lock where the C library has _dl_find_object (glibc 2.35). */
struct sc_loader_object {
    const char *path; /* never NULL; for the program, the name of its invocation */
    const void *base; /* address of the first mapping */
    const struct link_map *map;
};
bool sc_loader_object(const void *at, struct sc_loader_object *object);

/* A file is loaded at this address.  Never takes a lock; false on C libraries without _dl_find_object. */
bool sc_loader_has(const void *at);

/* The same file is loaded at both addresses. */
bool sc_loader_same(const void *at, const void *other);

/* Defined by the linker. */
extern const char sc_object_begin __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char sc_object_end __asm__("_end") __attribute__((visibility("hidden")));

/* The address lies in the file that contains the caller. */
static inline bool sc_loader_is_own(const void *at)
{
    return (uintptr_t)at >= (uintptr_t)&sc_object_begin && (uintptr_t)at < (uintptr_t)&sc_object_end;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
