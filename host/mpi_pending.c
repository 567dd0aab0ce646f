/* Transfers of MPI that go on after their call has returned.  Their ranges stay in use until the request is
 * complete, or the window or file is synchronised.  Most programs have no such transfer in the arena and pay one
 * comparison. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "base/locks.h"
#include "base/log.h"
#include "host/mpi.h"

enum kind { REQUEST, PERSISTENT, SCOPE };

static struct pending {
    SC_MPI_H handle;
    enum kind kind;
    int rank; /* SCOPE: of the window's process that takes part; SC_MPI_ALL_RANKS for a file */
    struct sc_mpi_transfer transfer;
} *pending; /* in no order */
static size_t count, room;
/* Innermost lock: only sc_host_use_end and libc's allocation are called under it. */
static struct sc_lock lock = SC_LOCK(SC_RANK_MPI);

static bool any(void) { return __atomic_load_n(&count, __ATOMIC_ACQUIRE) != 0; }

/* A handle, without the upper half that is garbage where handles are ints. */
static SC_MPI_H key(SC_MPI_H handle) { return sc_mpi_handle_bytes() == sizeof(int) ? (uint32_t)handle : handle; }

static bool make_room(void)
{
    size_t wanted = room ? 2 * room : 64;
    void *grown;

    sc_assert_held(SC_RANK_MPI);
    if (count < room)
        return true;
    sc_inside_enter(); /* realloc must be libc's and not the arena's */
    grown = realloc(pending, wanted * sizeof *pending);
    sc_inside_leave();
    if (!grown)
        return false;
    pending = grown;
    room = wanted;
    return true;
}

#define RECENT 4 /* transfers that are compared */

/* One-sided calls on small pieces of an array are many before the next synchronisation.  A note near the piece, of an
 * earlier call that ends at the same moment, is extended; false: there is none. */
static bool join(const struct sc_mpi_transfer *t, SC_MPI_H handle, int rank)
{
    sc_assert_held(SC_RANK_MPI);
    for (size_t i = count, left = RECENT; i > 0 && left > 0; i--, left--) {
        struct pending *p = &pending[i - 1];

        if (p->kind == SCOPE && p->handle == key(handle) && p->rank == rank && sc_mpi_join(&p->transfer, t))
            return true;
    }
    return false;
}

/* Without room the note stays for ever: calls of the BLAS on the range then run on the host. */
static void add(const struct sc_mpi_transfer *t, SC_MPI_H handle, enum kind kind, int rank)
{
    if (!t->side[SC_MPI_READS].lo && !t->side[SC_MPI_WRITES].lo)
        return;
    sc_lock(&lock);
    if (!(kind == SCOPE && join(t, handle, rank)) && make_room()) {
        pending[count] = (struct pending){key(handle), kind, rank, *t};
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
    sc_unlock(&lock);
}

void sc_mpi_pend(const struct sc_mpi_transfer *t, SC_MPI_H handle) { add(t, handle, REQUEST, 0); }
void sc_mpi_prepare(const struct sc_mpi_transfer *t, SC_MPI_H handle)
{
    add(t, handle, PERSISTENT, 0);
}
void sc_mpi_scope(const struct sc_mpi_transfer *t, SC_MPI_H handle, int rank) { add(t, handle, SCOPE, rank); }

/* With the lock held.  The youngest first: MPI may give the same handle to several requests that are already
 * complete. */
static struct pending *find_request(SC_MPI_H handle)
{
    sc_assert_held(SC_RANK_MPI);
    for (size_t i = count; i-- > 0;)
        if (pending[i].handle == handle && pending[i].kind != SCOPE)
            return &pending[i];
    return NULL;
}

static bool is_in_scope(const struct pending *p, SC_MPI_H handle, int rank)
{
    return p->kind == SCOPE && p->handle == handle && (rank == SC_MPI_ALL_RANKS || p->rank == rank);
}

static void remove_one(struct pending *p)
{
    sc_assert_held(SC_RANK_MPI);
    sc_mpi_end(&p->transfer);
    *p = pending[count - 1];
    __atomic_store_n(&count, count - 1, __ATOMIC_RELEASE);
}

/* The request is complete; a persistent request stays registered. */
static void complete(SC_MPI_H handle)
{
    struct pending *p;

    sc_lock(&lock);
    p = find_request(handle);
    if (p && p->kind == PERSISTENT)
        sc_mpi_end(&p->transfer);
    else if (p)
        remove_one(p);
    sc_unlock(&lock);
}

void sc_mpi_scope_end(SC_MPI_H handle, int rank)
{
    if (!any())
        return;
    sc_lock(&lock);
    for (size_t i = count; i-- > 0;)
        if (is_in_scope(&pending[i], key(handle), rank))
            remove_one(&pending[i]);
    sc_unlock(&lock);
}

/* An active request goes on after MPI_Request_free.  Its note is dropped when the memory is freed. */
void sc_mpi_drop(SC_MPI_H request)
{
    struct pending *p;

    if (!any())
        return;
    sc_lock(&lock);
    p = find_request(key(request));
    if (p) {
        *p = pending[count - 1];
        __atomic_store_n(&count, count - 1, __ATOMIC_RELEASE);
    }
    sc_unlock(&lock);
}

/* The lock is released while memory is acquired. */
void sc_mpi_start(int number, const void *requests)
{
    for (int i = 0; i < number && any(); i++) {
        SC_MPI_H handle = sc_mpi_handle_at(requests, i);
        struct sc_mpi_transfer t = {0};
        struct pending *p;

        sc_lock(&lock);
        if ((p = find_request(handle)) != NULL)
            t = p->transfer;
        sc_unlock(&lock);
        if (!p)
            continue;
        sc_mpi_begin(&t);
        sc_lock(&lock);
        if ((p = find_request(handle)) != NULL)
            p->transfer = t;
        sc_unlock(&lock);
    }
}

/* --- completion --------------------------------------------------------------------------------------------------- */

void sc_mpi_watch(struct sc_mpi_watch *w, int number, const void *requests)
{
    w->count = any() && number > 0 ? number : 0;
    w->requests = requests;
    w->before = w->few;
    if ((size_t)w->count > sizeof w->few / sizeof *w->few) {
        sc_inside_enter();
        w->before = malloc((size_t)w->count * sizeof *w->before);
        sc_inside_leave();
        if (!w->before) {
            sc_log_once(SC_LOG_WARN, "out of memory: buffers of MPI requests stay on the host");
            w->count = 0;
        }
    }
    for (int i = 0; i < w->count; i++)
        w->before[i] = sc_mpi_handle_at(requests, i);
}

static bool has_changed(const struct sc_mpi_watch *w, int i)
{
    return sc_mpi_handle_at(w->requests, i) != w->before[i];
}

void sc_mpi_settle(struct sc_mpi_watch *w, int done, const int *indices)
{
    if (!w->count)
        return;
    for (int i = 0; i < w->count; i++)
        if (has_changed(w, i))
            complete(w->before[i]);
    for (int j = 0; j < done; j++) {
        int i = indices ? indices[j] : j;

        if (i >= 0 && i < w->count && !has_changed(w, i))
            complete(w->before[i]);
    }
    sc_inside_enter();
    if (w->before != w->few)
        free(w->before);
    sc_inside_leave();
}
/* SPDX-License-Identifier: BSD-2-Clause */
