/* Memory of one address, lent to work of the program on a device: kernels, and functions of other libraries.
 * Used by: libsemcache. */
#ifndef SC_COHERENCE_LEND_H
#define SC_COHERENCE_LEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_lending {
    uintptr_t base; /* page aligned */
    size_t bytes;   /* whole pages of one block */
};

/* A loan, for sc_coherence_lend_again.  Zeros: no loan. */
struct sc_loan {
    uint64_t since; /* number of changes and calls before the loan */
    uint64_t looks; /* number of looks for work of the program before the loan; 0: data was on its way */
    int device;     /* the working one */
};

/* A block with one address on the host and a device, freed like any block; bytes 0.  NULL: not with these devices, or
 * not here. */
void *sc_coherence_united_alloc(size_t bytes);
/* Brings the block home, and ends its one address from the first `keep` bytes on (a multiple of 2 MiB).  The contents
 * stay. */
void sc_coherence_separate(void *memory, size_t keep);

/* Whether a device has room for so many bytes of blocks, without other memory of the library. */
bool sc_coherence_lends(int ordinal, uint64_t bytes);

/* For other users of a device's memory: evicts at least `bytes` bytes, if there are as many, after the work lent to.
 * False: nothing was there.  ordinal: as for sc_coherence_lend. */
bool sc_coherence_spare(int ordinal, uint64_t bytes);

/* Before the program starts work on a device: makes the blocks valid at their own addresses on one device that
 * the working device reaches.  Closes the blocks' pages.  The work may read and write all of them.  Whoever touches the
 * memory afterwards waits for the working device.  ordinal: number of the working device in its maker's runtime.
 * stream: of the work, in the same runtime; the stream waits for the data.  NULL: the call waits for the data.
 * Returns -1, or the index of a block that cannot be lent with the others.  Then nothing is lent; *keep is the room in
 * bytes.  Thread safe. */
int sc_coherence_lend(int ordinal, const struct sc_lending *blocks, int count, void *const *stream,
                      struct sc_loan *loan, size_t *keep);
/* The same for the same blocks and device, if no state has changed and no call has begun since *loan, which is the
 * caller's own.  If no thread has touched closed pages since and all data has arrived, the function takes no lock and
 * asks no device.  False: nothing is lent. */
bool sc_coherence_lend_again(int ordinal, void *const *stream, struct sc_loan *loan);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
