/* Where the program's memory comes from, for the trace. */
#include "coherence/coherence.h"
#include "host/host.h"

bool sc_coherence_block(const void *ptr, uintptr_t *base, size_t *bytes)
{
    struct sc_host_block block;

    if (!sc_host_in_arena(ptr) || !sc_host_block_of(ptr, &block))
        return false;
    *base = block.base;
    *bytes = block.bytes;
    return true;
}
