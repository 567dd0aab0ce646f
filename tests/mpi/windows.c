/* One-sided communication and files: windows over arrays computed by devices, origins on devices, and MPI files written
 * and read by every rank together. */
#include "mpi_test.h"

static int next, before;
static const MPI_Aint bytes = sizeof(double);

static double *mine(int n) { return made(n, 1000.0 * rank + 1); }

/* --- windows ------------------------------------------------------------------------------------------------------ */

enum kind { CREATED, ALLOCATED, ATTACHED };
static const char *const kinds[] = {"MPI_Win_create", "MPI_Win_allocate", "MPI_Win_attach"};

/* Makes a window over memory that holds 5, 6, ... computed by a device; *at: its address in every rank. */
static double *window(enum kind kind, int n, MPI_Win *win, MPI_Aint *at)
{
    double *a;
    MPI_Aint own = 0;

    if (kind == ALLOCATED) {
        MPI_Win_allocate(n * bytes, 1, MPI_INFO_NULL, world, &a, win);
        for (int i = 0; i < n; i++)
            a[i] = 2.5 + i / 2.0;
        dscal_(&n, &two, a, &one);
    } else {
        a = made(n, 5);
        if (kind == CREATED) {
            MPI_Win_create(a, n * bytes, 1, MPI_INFO_NULL, world, win);
        } else {
            MPI_Win_create_dynamic(MPI_INFO_NULL, world, win);
            MPI_Win_attach(*win, a, n * bytes);
            MPI_Get_address(a, &own);
        }
    }
    MPI_Allgather(&own, 1, MPI_AINT, at, 1, MPI_AINT, world);
    return a;
}

static void windows(enum kind kind, int n)
{
    const char *name = kinds[kind];
    MPI_Aint *at = malloc((size_t)ranks * sizeof *at);
    double *out = mine(n), *in = made(n, 7), *a, *was;
    MPI_Request request;
    MPI_Win win;

    a = window(kind, 3 * n, &win, at);
    MPI_Win_fence(0, win);
    MPI_Put(out, n, MPI_DOUBLE, next, at[next] + n * bytes, n, MPI_DOUBLE, win);
    MPI_Get(in, n, MPI_DOUBLE, before, at[before], n, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    expect(name, in, n, 5); /* computed by a device of the target */
    expect(name, a + n, n, 1000.0 * before + 1);
    expect(name, a + 2 * n, n, 5.0 + 2 * n);

    /* Between epochs the window's memory is an operand; ranks get its values before and afterwards. */
    dscal_(&(int){n}, &two, a + n, &one);
    dscal_(&(int){n}, &two, in, &one);
    MPI_Win_fence(0, win);
    MPI_Get(in, n, MPI_DOUBLE, next, at[next] + n * bytes, n, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    dscal_(&(int){n}, &(double){0.5}, in, &one);
    expect(name, in, n, 1000.0 * rank + 1);

    MPI_Accumulate(out, n, MPI_DOUBLE, next, at[next], n, MPI_DOUBLE, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    expect("MPI_Accumulate", a, n, 1000.0 * before + 1);
    MPI_Win_fence(0, win);

    was = made(n, 3);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Get_accumulate(out, n, MPI_DOUBLE, was, n, MPI_DOUBLE, next, at[next] + 2 * n * bytes, n, MPI_DOUBLE,
                       MPI_REPLACE, win);
    MPI_Win_flush(next, win);
    expect("MPI_Get_accumulate", was, n, 5.0 + 2 * n);
    MPI_Win_unlock(next, win);
    MPI_Barrier(world);
    MPI_Win_lock_all(0, win);
    dscal_(&(int){n}, &two, was, &one);
    MPI_Rget(was, n, MPI_DOUBLE, before, at[before] + 2 * n * bytes, n, MPI_DOUBLE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Rget", was, n, 1000.0 * ((before + ranks - 1) % ranks) + 1);
    MPI_Barrier(world);
    MPI_Rput(was, n, MPI_DOUBLE, before, at[before], n, MPI_DOUBLE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(world);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    expect("MPI_Rput", a, n, 1000.0 * ((next + ranks - 2) % ranks) + 1);
    MPI_Win_unlock(rank, win);

    if (kind == ATTACHED)
        MPI_Win_detach(win, a);
    MPI_Win_free(&win);
    if (kind != ALLOCATED)
        free(a);
    free(was);
    free(in);
    free(out);
    free(at);
}

/* Single elements. */
static void atomics(int n)
{
    double *a = made(n, 5), *out = made(n, 9), *in = made(n, 7);
    long *counter = calloc(4096, sizeof *counter), wanted = 0, put = 17, got = -1;
    MPI_Win win, counters;

    MPI_Win_create(a, n * bytes, sizeof *a, MPI_INFO_NULL, world, &win);
    MPI_Win_create(counter, 4096 * sizeof *counter, sizeof *counter, MPI_INFO_NULL, world, &counters);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(out, in, MPI_DOUBLE, next, 3, MPI_REPLACE, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Win_lock_all(0, counters);
    MPI_Compare_and_swap(&put, &wanted, &got, MPI_LONG, next, 5, counters);
    MPI_Win_unlock_all(counters);
    MPI_Barrier(world);
    expect("MPI_Fetch_and_op", in, 1, 8);
    expect("beside MPI_Fetch_and_op", in + 1, n - 1, 8);
    expect("MPI_Fetch_and_op", a + 3, 1, 9);
    checks++;
    if (got != 0 || counter[5] != 17)
        wrong++, printf("MPI_Compare_and_swap: %ld, %ld\n", got, counter[5]);
    MPI_Win_free(&win);
    MPI_Win_free(&counters);
    free(counter);
    free(in);
    free(out);
    free(a);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/* Rank r has blocks r, r + ranks, ... of 100 elements. */
static void files(int n, const char *path)
{
    double *out = mine(n), *in = made(n, 7);
    MPI_Datatype view;
    MPI_Request request;
    MPI_File file;

    MPI_Type_vector(n / 100, 100, 100 * ranks, MPI_DOUBLE, &view);
    MPI_Type_commit(&view);
    MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, rank * 100 * bytes, MPI_DOUBLE, view, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, out, n, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_read_at_all(file, 0, in, n, MPI_DOUBLE, MPI_STATUS_IGNORE);
    expect("MPI_File_read_at_all", in, n, 1000.0 * rank + 1);
    dscal_(&n, &two, in, &one);
    dscal_(&n, &two, out, &one);
    MPI_File_write_at_all_begin(file, 0, out, n, MPI_DOUBLE);
    MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
    dscal_(&n, &(double){0.25}, out, &one);
    MPI_File_sync(file);
    MPI_File_read_at_all_begin(file, 0, in, n, MPI_DOUBLE);
    MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
    dscal_(&n, &(double){0.5}, in, &one);
    expect("MPI_File_read_at_all_end", in, n, 1000.0 * rank + 1);
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_Barrier(world);
    dscal_(&n, &two, out, &one);
    MPI_File_iwrite_at(file, (MPI_Offset)rank * n, out, n, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    dscal_(&n, &two, in, &one);
    MPI_File_iread_at(file, (MPI_Offset)rank * n, in, n, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_File_iread_at", in, n, 1000.0 * rank + 1);
    MPI_File_close(&file);
    MPI_Type_free(&view);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1500, 50000};

    begin(&argc, &argv);
    next = (rank + 1) % ranks;
    before = (rank + ranks - 1) % ranks;
    for (int k = 0; k < 2; k++) {
        for (enum kind kind = CREATED; kind <= ATTACHED; kind++)
            windows(kind, sizes[k]);
        atomics(sizes[k]);
        files(sizes[k], argc > 1 ? argv[1] : "mpi-test-file");
    }
    return end();
}
/* SPDX-License-Identifier: BSD-2-Clause */
