/* Transfers of MPI with the ranks of a window: the end of an epoch with one rank leaves the memory of transfers with
 * other ranks in use, and so closed to no kernel.  No MPI is needed: the notes are those of the interposed calls. */
#include <stdlib.h>

#include "host/mpi.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define BYTES ((size_t)64 << 10)

static char *memory;

static void get(SC_MPI_H win, int rank)
{
    struct sc_mpi_transfer t = {0};

    t.side[SC_MPI_WRITES].lo = (uintptr_t)memory + (size_t)rank * BYTES;
    t.side[SC_MPI_WRITES].hi = t.side[SC_MPI_WRITES].lo + BYTES;
    sc_mpi_begin(&t);
    sc_mpi_scope(&t, win, rank);
}

static bool in_use(int rank)
{
    uintptr_t lo = (uintptr_t)memory + (size_t)rank * BYTES;

    return sc_host_in_use(lo, lo + BYTES, SC_READ);
}

int main(void)
{
    const SC_MPI_H win = 77, other = 78;

    if (!tap_ok(fake_start((size_t)1 << 40) == 0, "the arena starts"))
        return tap_done();
    memory = malloc(8 * BYTES);
    for (int rank = 0; rank < 4; rank++)
        get(rank < 3 ? win : other, rank);
    tap_ok(in_use(0) && in_use(1) && in_use(2) && in_use(3), "the memory of transfers is in use");
    sc_mpi_scope_end(win, 1);
    tap_ok(!in_use(1) && in_use(0) && in_use(2), "an epoch with rank 1 ends for rank 1 only");
    sc_mpi_scope_end(other, 2);
    tap_ok(in_use(2), "an epoch of another window ends nothing here");
    sc_mpi_scope_end(win, SC_MPI_ALL_RANKS);
    tap_ok(!in_use(0) && !in_use(2) && in_use(3), "the end for all ranks ends the window's transfers");
    sc_mpi_scope_end(other, 3);
    tap_ok(!in_use(3), "and the other window ends by its own");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
