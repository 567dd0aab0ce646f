/* Memory of one address for kernels of the caller: semcache_malloc and semcache_lend (rule L9c of README.md). */
#include <config.h>

#include <stdlib.h>

#include "semcache/semcache.h"

#include "coherence/lend.h"
#include "host/host.h"
#include "libsemcache/public.h"

static const struct sc_library_server *served_by;

void sc_library_serve(const struct sc_library_server *server)
{
    __atomic_store_n(&served_by, server, __ATOMIC_RELEASE);
}

const struct sc_library_server *sc_library_server(void) { return __atomic_load_n(&served_by, __ATOMIC_ACQUIRE); }

void *semcache_malloc(size_t bytes)
{
    const struct sc_library_server *server = sc_library_server();
    void *memory = NULL;

    if (bytes <= SIZE_MAX / 2 && semcache_init() == SEMCACHE_OK)
        memory = server ? server->alloc(bytes) : sc_coherence_united_alloc(bytes);
    return memory ? memory : semcache_alloc(bytes);
}

/* Adds the block of the address, once.  False: the block has no address on a device. */
static bool add(struct sc_lending *list, int *count, const void *memory)
{
    struct sc_host_block block;
    int i = 0;

    if (!sc_host_is_united(memory) || !sc_host_block_of(memory, &block))
        return false;
    while (i < *count && list[i].base != block.base)
        i++;
    list[i] = (struct sc_lending){block.base, block.bytes};
    *count += i == *count;
    return true;
}

static enum semcache_status lend(int device, const void *const *memory, int count, struct sc_lending *list)
{
    size_t keep;
    struct sc_loan loan;
    int blocks = 0;

    for (int i = 0; i < count; i++)
        if (!add(list, &blocks, memory[i]))
            return SEMCACHE_ERROR_UNSUPPORTED;
    return sc_coherence_lend(device, list, blocks, NULL, &loan, &keep) < 0 ? SEMCACHE_OK : SEMCACHE_ERROR_MEMORY;
}

enum semcache_status semcache_lend(int device, const void *const *memory, int count)
{
    const struct sc_library_server *server = sc_library_server();
    struct sc_lending *list;
    enum semcache_status status;

    if (device < 0 || count < 1 || !memory)
        return SEMCACHE_ERROR_INVALID;
    if (semcache_init() != SEMCACHE_OK)
        return SEMCACHE_ERROR_NO_DEVICE;
    if (server && server->lend(device, memory, count))
        return SEMCACHE_OK;
    list = malloc((size_t)count * sizeof *list);
    status = list ? lend(device, memory, count, list) : SEMCACHE_ERROR_MEMORY;
    free(list);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
