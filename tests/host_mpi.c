/* Transfers of MPI with the ranks of a window, and many small ones: the end of an epoch with one rank leaves the memory
 * of transfers with other ranks in use, and so closed to no kernel.  No MPI is needed: the notes are those of the
 * interposed calls. */
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

/* MPI_Accumulate of `bytes` bytes. */
static void accumulate(SC_MPI_H win, char *at, size_t bytes)
{
    struct sc_mpi_transfer t = {0};

    t.side[SC_MPI_READS].lo = (uintptr_t)at;
    t.side[SC_MPI_READS].hi = (uintptr_t)at + bytes;
    sc_mpi_begin(&t);
    sc_mpi_scope(&t, win, 0);
}

static bool is_read(const char *at, size_t bytes)
{
    return sc_host_in_use((uintptr_t)at, (uintptr_t)at + bytes, SC_WRITE);
}

/* More pieces than there are notes: with a note each, all memory would count as in use. */
static void test_pieces(void)
{
    const SC_MPI_H win = 79, other = 80;
    char *array = malloc(100 * BYTES), *far = malloc(8 * BYTES), *freed = malloc(8 * BYTES);
    const int pieces = 2000;
    bool all = true;

    for (int i = 0; i < pieces; i++)
        accumulate(win, array + (size_t)i * 1024, 8);
    accumulate(win, far, 8);
    accumulate(other, array + (size_t)pieces * 1024, 8);
    for (int i = 0; i < pieces; i++)
        all &= is_read(array + (size_t)i * 1024, 8);
    tap_ok(all && is_read(far, 8), "all pieces of an array are in use");
    tap_ok(!is_read(array + (size_t)pieces * 1024 + 8, BYTES) && !is_read(far + 8192, BYTES) &&
               !sc_host_in_use((uintptr_t)array, (uintptr_t)array + BYTES, SC_READ),
           "and nothing else, and not for writing");
    sc_mpi_scope_end(win, 0);
    tap_ok(!is_read(array, (size_t)pieces * 1024) && !is_read(far, 8) && is_read(array + (size_t)pieces * 1024, 8),
           "until the epoch of their window ends");
    sc_mpi_scope_end(other, 0);

    accumulate(win, freed, 8);
    sc_host_uses_forget((uintptr_t)freed, 8 * BYTES); /* as by free, and the memory is used again */
    accumulate(win, freed + 8, 8);
    tap_ok(is_read(freed + 8, 8), "a note that has ended with its memory is not extended");
    sc_mpi_scope_end(win, 0);
    tap_ok(!is_read(freed, 8 * BYTES), "and the new one ends, too");
    free(array);
    free(far);
    free(freed);
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
    test_pieces();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
