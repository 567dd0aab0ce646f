/* Tracked memory of the library's own: copied arrays of sparse matrices. */
#include "base/stack.h"
#include "coherence/mirror.h"

void *sc_coherence_host_alloc(size_t bytes)
{
    return sc_host_alloc(bytes);
}

bool sc_coherence_host_free(void *memory)
{
    struct sc_host_block block;

    if (!sc_host_in_arena(memory) || !sc_host_block_of(memory, &block))
        return false;
    sc_coherence_forget(block.base, block.bytes);
    sc_host_free(memory);
    return true;
}

bool sc_coherence_stack_fits(void)
{
    if (sc_host_orphan()) {
        sc_protocol.ops = NULL; /* without the lock, perhaps held by a thread of the parent */
        return false;
    }
    return sc_host_stack_has(SC_STACK_OF_A_CALL);
}

bool sc_coherence_is_tracked(const void *ptr, size_t bytes)
{
    struct sc_host_block block;

    return sc_host_in_arena(ptr) && sc_host_block_of(ptr, &block) && (uintptr_t)ptr + bytes <= block.base + block.bytes;
}

bool sc_coherence_is_freed(const void *ptr, size_t bytes)
{
    return bytes && (sc_host_freed(ptr) || sc_host_freed((const char *)ptr + bytes - 1));
}

bool sc_coherence_may_link(const void *ptr, size_t bytes)
{
    uintptr_t lo = (uintptr_t)ptr;

    return sc_coherence_is_tracked(ptr, bytes) || (!sc_host_in_arena(ptr) && sc_mirror_possible(lo, lo + bytes));
}
/* SPDX-License-Identifier: BSD-2-Clause */
