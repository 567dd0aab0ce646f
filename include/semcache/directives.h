/* The directives of SemCache++ (section 4.2) as names for the functions of tasks.h; C99 and C++.  doc/tasks.md compares
 * the two.
 *
 * readGPU, readwriteGPU and writeGPU take one region to a device as a token: view.memory is the address of gpu_s in the
 * paper's record, and place.stream the stream to enqueue on.  In the paper writeGPU follows the kernel; here the
 * release follows, by releaseGPU, and says nothing new: the token knows its access. */
#ifndef SEMCACHE_DIRECTIVES_H
#define SEMCACHE_DIRECTIVES_H

#include "semcache/tasks.h"

static inline enum semcache_status semcache_takeGPU(const struct semcache_region *region, enum semcache_mode mode,
                                                    int device, struct semcache_token *token)
{
    struct semcache_operand operand;

    operand.region = region;
    operand.mode = mode;
    token->size = sizeof *token;
    return semcache_token_acquire(&operand, 1, device, token);
}
static inline enum semcache_status semcache_readGPU(const struct semcache_region *region, int device,
                                                    struct semcache_token *token)
{
    return semcache_takeGPU(region, SEMCACHE_READ, device, token);
}
static inline enum semcache_status semcache_writeGPU(const struct semcache_region *region, int device,
                                                     struct semcache_token *token)
{
    return semcache_takeGPU(region, SEMCACHE_WRITE, device, token);
}
static inline enum semcache_status semcache_readwriteGPU(const struct semcache_region *region, int device,
                                                         struct semcache_token *token)
{
    return semcache_takeGPU(region, SEMCACHE_READWRITE, device, token);
}
static inline enum semcache_status semcache_releaseGPU(struct semcache_token *token)
{
    return semcache_token_release(token);
}
/* The host's counterpart of readGPU. */
static inline enum semcache_status semcache_readCPU(const struct semcache_region *region)
{
    return semcache_region_wait(region);
}
/* The aggregate readGPU over a decomposition (DecomposeRow: SEMCACHE_ROWS, DecomposeCol: SEMCACHE_COLUMNS). */
static inline enum semcache_status semcache_readGPU_all(const struct semcache_decomposition *decomposition,
                                                        const struct semcache_region *whole)
{
    return semcache_distribute(decomposition, whole);
}
/* Starts bringing a region home; semcache_region_wait waits. */
static inline enum semcache_status semcache_coherent_async(const struct semcache_region *region)
{
    return semcache_region_prefetch(region, SEMCACHE_HOST);
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
