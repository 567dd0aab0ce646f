/* Preloaded: the number of processors is that of SEMCACHE_TEST_CORES (default: 2). Decisions about calls on emulated
 * devices depend on the number of the host's cores. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) long sysconf(int name)
{
    static long (*behind)(int);
    const char *cores = getenv("SEMCACHE_TEST_CORES");

    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
        return cores ? atol(cores) : 2;
    if (!behind)
        *(void **)&behind = dlsym(RTLD_NEXT, "sysconf");
    return behind(name);
}
/* SPDX-License-Identifier: BSD-2-Clause */
