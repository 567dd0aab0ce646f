/* The dynamic loader: all calls of the library that may take its lock (doc/locks.md).
 *
 * dlopen holds that lock while constructors run, and a constructor may call the BLAS.  So whoever calls the loader has
 * none of our locks, and nobody who may be in a constructor waits for such a thread.  Thread safe; errno is kept. */
#ifndef SC_BASE_LOADER_H
#define SC_BASE_LOADER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* As dlopen, dlsym, dlclose and dl_iterate_phdr.  RTLD_NEXT is as seen from the file that this is linked into. */
void *sc_loader_open(const char *path, int mode);
void *sc_loader_symbol(void *library, const char *name);
void sc_loader_close(void *library);
bool sc_loader_address(const void *at, Dl_info *info, void **extra, int flags); /* dladdr1 */
void sc_loader_each(int (*visit)(struct dl_phdr_info *info, size_t bytes, void *context), void *context);

/* What is loaded at an address.  Takes no lock where the C library has _dl_find_object (2.35). */
struct sc_loader_object {
    const char *path; /* never NULL; the program's own as it was called */
    const void *base; /* of its first mapping */
    const struct link_map *map;
};
bool sc_loader_object(const void *at, struct sc_loader_object *object);

/* Something is loaded there.  Never takes a lock, and says no where that cannot be known without. */
bool sc_loader_has(const void *at);

/* The same file is loaded at both. */
bool sc_loader_same(const void *at, const void *other);

extern const char sc_object_begin __asm__("__ehdr_start") __attribute__((visibility("hidden"))); /* by the linker */
extern const char sc_object_end __asm__("_end") __attribute__((visibility("hidden")));

/* The address lies in the file that this is linked into. */
static inline bool sc_loader_is_own(const void *at)
{
    return (uintptr_t)at >= (uintptr_t)&sc_object_begin && (uintptr_t)at < (uintptr_t)&sc_object_end;
}

#endif
