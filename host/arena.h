/* Blocks of the arena, for the rest of this folder.  A block is one malloc: whole pages, shared with no other. */
#ifndef SC_HOST_ARENA_H
#define SC_HOST_ARENA_H

#include "host/host_int.h"

/* A malloc of this size or more is the arena's; SIZE_MAX while there is none to serve (no devices expected, child of a
 * fork), so that the interposed malloc costs one comparison then. */
extern size_t sc_host_arena_from;

/* Page-aligned memory with room for `bytes`; `align` up to SC_SPAN_UNIT.  zero: all bytes are 0.  NULL when the arena
 * has no room or can not align: take libc's.  Keeps errno. */
void *sc_host_arena_alloc(size_t bytes, size_t align, bool zero);

/* p is the base of a live block.  Does not call `forget`: no entry lies on the block any more, and its pages are
 * open. */
void sc_host_arena_free(void *p);

/* Room in the block that p is the base of; 0 when it is the base of none. */
size_t sc_host_arena_size(const void *p);

/* True when p lies in a live block that was marked by sc_host_block_track. */
bool sc_host_arena_tracked(const void *p);

/* The program changes protection or mapping of pages in the arena by itself.  Brings the live blocks in the range
 * home, drops their entries and never lets them be tracked again; `lost`: their pages will be replaced, so their
 * addresses are not used again either. */
void sc_host_arena_abandon(uintptr_t addr, size_t bytes, bool lost);

/* MADV_DONTNEED: the bytes of whole pages become 0, also where they are pinned; their entries are dropped. */
void sc_host_arena_empty(uintptr_t addr, size_t bytes);

/* The calls back, errno kept, the thread marked as inside the library; nothing happens when nothing was ever started or
 * in a forked child. */
void sc_host_forget(uintptr_t addr, size_t bytes);
void sc_host_acquire(uintptr_t addr, size_t bytes, enum sc_access access);
bool sc_host_home(void); /* true when there was anybody to call */
void sc_host_resume(void);
void sc_host_child(void); /* calls back once; then no other call is made */

#endif
