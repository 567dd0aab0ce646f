/* The calls of mpi_calls.h, as the program makes them.  The arena memory that a call touches is acquired, and noted
 * for as long as the transfer lasts; then the program's MPI runs.  Every call is defined as MPI_name and as
 * PMPI_name: Open MPI's Fortran calls go through PMPI_name, MPICH's through MPI_name.
 *
 * Faults and system calls do not suffice.  For messages inside a machine, an MPI lets the kernel copy from the other
 * process (process_vm_readv).  The kernel reports EFAULT for a closed page, and MPICH then ends the program.
 * Network cards do not even see that a page is closed. */
#define _GNU_SOURCE

#include "base/loader.h"
#include "base/log.h"
#include "host/mpi.h"

/* --- the program's MPI -------------------------------------------------------------------------------------------- */

static void *library = RTLD_NEXT; /* the handle to look functions up in */
static size_t handle_bytes;       /* size of a handle in memory; 0: not known yet */

/* Looks a function up among the libraries that the caller's library was linked with.  Python loads MPI in a scope
 * that RTLD_NEXT does not search. */
static void *seen_by(const void *caller, const char *name)
{
    struct sc_loader_object about;
    void *handle, *found;

    if (!caller || !sc_loader_object(caller, &about))
        return NULL;
    handle = sc_loader_open(about.map->l_name[0] ? about.map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    found = handle ? sc_loader_symbol(handle, name) : NULL;
    if (found && !sc_loader_is_own(found)) {
        __atomic_store_n(&library, handle, __ATOMIC_RELEASE);
        return found;
    }
    if (handle)
        sc_loader_close(handle);
    return NULL;
}

static void *look_up(const char *name) { return sc_loader_symbol(__atomic_load_n(&library, __ATOMIC_ACQUIRE), name); }

static void *find(void **slot, const char *name, const void *caller)
{
    void *found = look_up(name);

    if (!found || sc_loader_is_own(found))
        found = seen_by(caller, name);
    if (!found)
        sc_log_once(SC_LOG_ERROR, "%s is called, but no library of this program that could be found has it", name);
    else
        __atomic_store_n(&handle_bytes, look_up("ompi_mpi_comm_world") ? sizeof(void *) : sizeof(int),
                         __ATOMIC_RELEASE);
    __atomic_store_n(slot, found, __ATOMIC_RELEASE);
    return found;
}

void *sc_mpi_function(void **slot, const char *name)
{
    void *found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

    if (!found) {
        found = look_up(name);
        __atomic_store_n(slot, found, __ATOMIC_RELEASE);
    }
    return found;
}

size_t sc_mpi_handle_bytes(void) { return __atomic_load_n(&handle_bytes, __ATOMIC_ACQUIRE); }

SC_MPI_H sc_mpi_handle_at(const void *handles, int i)
{
    return sc_mpi_handle_bytes() == sizeof(int) ? ((const unsigned *)handles)[i] : ((const SC_MPI_H *)handles)[i];
}

/* --- the functions ------------------------------------------------------------------------------------------------ */

#define NOT_THERE 15 /* MPI_ERR_OTHER of MPICH */

/* The memory that a call touches, as expressions. */
#define WHEN(condition, touched) ((condition) ? (void)(touched) : (void)0)
#define READS(buf, n, type) sc_mpi_span(&t, SC_MPI_READS, buf, n, type)
#define WRITES(buf, n, type) sc_mpi_span(&t, SC_MPI_WRITES, buf, n, type)
#define READS_EACH(buf, n, type) WHEN(sc_mpi_matters(buf), READS(buf, (n) * sc_mpi_ranks(comm), type))
#define WRITES_EACH(buf, n, type) WHEN(sc_mpi_matters(buf), WRITES(buf, (n) * sc_mpi_ranks(comm), type))
#define LIST(n, at) (struct sc_mpi_list){n, at, sizeof *(n)}
#define READS_V(buf, n, at, type) sc_mpi_span_v(&t, SC_MPI_READS, buf, LIST(n, at), type, comm)
#define WRITES_V(buf, n, at, type) sc_mpi_span_v(&t, SC_MPI_WRITES, buf, LIST(n, at), type, comm)
#define READS_W(buf, n, at, types) sc_mpi_span_w(&t, SC_MPI_READS, buf, LIST(n, at), types, comm)
#define WRITES_W(buf, n, at, types) sc_mpi_span_w(&t, SC_MPI_WRITES, buf, LIST(n, at), types, comm)
#define READS_SUM(buf, n, type) sc_mpi_span_sum(&t, SC_MPI_READS, buf, LIST(n, NULL), type, comm)
#define WRITES_SUM(buf, n, type) sc_mpi_span_sum(&t, SC_MPI_WRITES, buf, LIST(n, NULL), type, comm)
#define READS_ALL(buf) sc_mpi_whole(&t, SC_MPI_READS, buf)
#define WRITES_ALL(buf) sc_mpi_whole(&t, SC_MPI_WRITES, buf)
#define ROOT(buf, touched) WHEN(sc_mpi_matters(buf) && sc_mpi_is_root(root, comm), touched)
#define NOT_ROOT(buf, touched) \
    WHEN(sc_mpi_is_leaf(root) && sc_mpi_matters(buf) && !sc_mpi_is_root(root, comm), touched)
#define LEAF(touched) WHEN(sc_mpi_is_leaf(root), touched)
#define GIVEN(buf, touched) WHEN(buf, touched)
#define IN_PLACE(out, then, otherwise) (sc_mpi_in_place(out) ? (void)(then) : (void)(otherwise))
#define WATCH(n, requests) sc_mpi_watch(&w, n, requests)
#define SETTLE(done, indices) sc_mpi_settle(&w, failed ? 0 : (done), indices)

#define UNPACK(...) __VA_ARGS__
#define SAY_(x) #x
#define SAY(x) SAY_(x)

/* Defines a function under one of the two names.  `before` and `after` may use `t` and `w`, which most calls leave
 * empty. */
#define DEFINE(name, parameters, arguments, before, after)                                               \
    SC_HOST_EXPORT int name parameters;                                                                  \
    SC_HOST_EXPORT int name parameters                                                                   \
    {                                                                                                    \
        static void *slot;                                                                               \
        int(*next) parameters = (int(*) parameters)__atomic_load_n(&slot, __ATOMIC_ACQUIRE);             \
        __attribute__((unused)) struct sc_mpi_transfer t = {0};                                          \
        __attribute__((unused)) struct sc_mpi_watch w;                                                   \
        int failed;                                                                                      \
                                                                                                         \
        if (__builtin_expect(!next, 0) &&                                                                \
            !(next = (int(*) parameters)find(&slot, SAY(name), __builtin_return_address(0))))            \
            return NOT_THERE;                                                                            \
        before;                                                                                          \
        failed = next arguments;                                                                         \
        after;                                                                                           \
        return failed;                                                                                   \
    }
#define EVENT(name, parameters, arguments, before, after)         \
    DEFINE(NAME(MPI_, name), parameters, arguments, before, after) \
    DEFINE(NAME(PMPI_, name), parameters, arguments, before, after)
#define BLOCKING(name, parameters, arguments, ...) \
    EVENT(name, parameters, arguments, (__VA_ARGS__, sc_mpi_begin(&t)), sc_mpi_end(&t))
#define STARTING(name, parameters, arguments, ...)                                                    \
    EVENT(name, (UNPACK parameters, void *request), (UNPACK arguments, request),                      \
          (__VA_ARGS__, sc_mpi_begin(&t)),                                                            \
          failed ? sc_mpi_end(&t) : sc_mpi_pend(&t, sc_mpi_handle_at(request, 0)))
#define PREPARING(name, parameters, arguments, ...)                                               \
    EVENT(name, (UNPACK parameters, void *request), (UNPACK arguments, request), (__VA_ARGS__),   \
          failed ? (void)0 : sc_mpi_prepare(&t, sc_mpi_handle_at(request, 0)))
#define PREPARING_I(name, parameters, arguments, ...) \
    PREPARING(name, (UNPACK parameters, SC_MPI_H info), (UNPACK arguments, info), __VA_ARGS__)
#define SCOPED(name, parameters, arguments, scope, ...)                             \
    EVENT(name, parameters, arguments, (__VA_ARGS__, sc_mpi_begin(&t)), sc_mpi_scope(&t, UNPACK scope))

#define NAME(prefix, name) prefix##name
#define COUNT int
#define DISPLACEMENT int
#include "host/mpi_calls.h"

#undef NAME
#undef COUNT
#undef DISPLACEMENT
#define NAME(prefix, name) prefix##name##_c
#define COUNT int64_t
#define DISPLACEMENT int64_t
#define LARGE
#include "host/mpi_calls.h"
/* SPDX-License-Identifier: BSD-2-Clause */
