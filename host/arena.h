/* Blocks of the arena, for the files of host/.  A block is the result of a single malloc and consists of pages. */
#ifndef SC_HOST_ARENA_H
#define SC_HOST_ARENA_H

#include "host/host_int.h"

struct sc_host_span;

/* Requests of this size or more are served from the arena.  SIZE_MAX while the arena serves no request (no devices
 * expected, or child of a fork): the interposed malloc then costs a comparison. */
extern size_t sc_host_arena_from;

/* Returns page-aligned memory of at least `bytes` bytes, aligned to `align` (at most SC_SPAN_UNIT), filled with 0 if
 * `zero`.  Returns NULL when the arena has no room or cannot align; the caller then asks libc.  Keeps errno. */
void *sc_host_arena_alloc(size_t bytes, size_t align, bool zero);

/* The same for a block that grows: the block has a span of its own, with room for several times its size.  Where there
 * is no such room, an ordinary block. */
void *sc_host_arena_alloc_growing(size_t bytes);

/* Enlarges the block with base p to at least `bytes` bytes, in place.  False, with nothing done: the block has no such
 * room, or is tracked. */
bool sc_host_arena_grow(void *p, size_t bytes);

/* Makes a live block of a span that is in no list. The bytes of the block are 0.  Returns its base. */
void *sc_host_arena_whole(struct sc_host_span *span);

/* Frees the block with base p.  Does not call `forget`: the caller has dropped the protocol's entries and the pages
 * are open. */
void sc_host_arena_free(void *p);

/* The same for a block that is not tracked.  False, with nothing done: p is no base of such a block. */
bool sc_host_arena_free_untracked(void *p);

/* Usable bytes of the block with base p; 0 when p is not the base of a live block. */
size_t sc_host_arena_size(const void *p);

/* True when p lies in a live block that sc_host_block_track has marked. */
bool sc_host_arena_tracked(const void *p);

/* For a range whose protection or mapping the program changes.  Brings the live blocks in the range to host memory,
 * drops their entries once no call uses them, and never lets the blocks be tracked again.  `lost`: the pages will be
 * replaced, so the addresses of the blocks are not reused either. */
void sc_host_arena_abandon(uintptr_t addr, size_t bytes, bool lost);

/* MADV_DONTNEED: sets the bytes of whole pages to 0, also where the pages are pinned, and drops the protocol's
 * entries. */
void sc_host_arena_empty(uintptr_t addr, size_t bytes);

/* Calls of the protocol's callbacks, with the thread marked as inside the library.  errno is kept.  The functions do
 * nothing before the first start of the fault engine and in a forked child. */
void sc_host_forget(uintptr_t addr, size_t bytes);
void sc_host_withdraw(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg); /* always calls `end` */
void sc_host_acquire(uintptr_t addr, size_t bytes, enum sc_access access);
bool sc_host_home(void); /* true when a callback was called */
void sc_host_resume(void);
void sc_host_child(void); /* calls `child` once; no callback is called afterwards */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
