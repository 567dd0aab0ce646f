/* The calls of MPI that use memory of the program.  Calls that only copy the memory in this process (MPI_Pack...) are
 * left out, because they simply fault.  Included several times by mpi.c and once for the list of exported names; with
 * LARGE defined for MPI-4's MPI_..._c, with counts of the type COUNT = int64_t.
 *
 *   BLOCKING(name, (parameters), (arguments), what is touched): the use ends with the call.
 *   STARTING: has a request as last parameter.  The use ends when the request is complete.
 *   PREPARING: has a persistent request, which uses the memory each time it is started.
 *   PREPARING_I: has an MPI_Info before the persistent request.
 *   SCOPED(name, (parameters), (arguments), (window or file, rank), what is touched): a synchronisation ends the use.
 *   EVENT(name, (parameters), (arguments), before, after): expressions before and after the call.
 *
 * READS, WRITES: (buf, count, type).  Statuses, operations and the like are passed on unread. */

/* --- messages ----------------------------------------------------------------------------------------------------- */

#define TO const void *buf, COUNT n, SC_MPI_H type, int peer, int tag, SC_MPI_H comm
#define FROM void *buf, COUNT n, SC_MPI_H type, int peer, int tag, SC_MPI_H comm
#define TO_ARGUMENTS (buf, n, type, peer, tag, comm)
#define SEND(blocking, starting, preparing)                             \
    BLOCKING(blocking, (TO), TO_ARGUMENTS, READS(buf, n, type))         \
    STARTING(starting, (TO), TO_ARGUMENTS, READS(buf, n, type))         \
    PREPARING(preparing, (TO), TO_ARGUMENTS, READS(buf, n, type))
SEND(Send, Isend, Send_init)
SEND(Ssend, Issend, Ssend_init)
SEND(Rsend, Irsend, Rsend_init)
SEND(Bsend, Ibsend, Bsend_init)
BLOCKING(Recv, (FROM, void *status), (buf, n, type, peer, tag, comm, status), WRITES(buf, n, type))
STARTING(Irecv, (FROM), TO_ARGUMENTS, WRITES(buf, n, type))
PREPARING(Recv_init, (FROM), TO_ARGUMENTS, WRITES(buf, n, type))
BLOCKING(Mrecv, (void *buf, COUNT n, SC_MPI_H type, void *message, void *status), (buf, n, type, message, status),
         WRITES(buf, n, type))
STARTING(Imrecv, (void *buf, COUNT n, SC_MPI_H type, void *message), (buf, n, type, message), WRITES(buf, n, type))

#define BOTH_WAYS                                                                                                 \
    const void *out, COUNT out_n, SC_MPI_H out_type, int to, int out_tag, void *in, COUNT in_n, SC_MPI_H in_type, \
        int from, int in_tag, SC_MPI_H comm
#define REPLACED void *buf, COUNT n, SC_MPI_H type, int to, int out_tag, int from, int in_tag, SC_MPI_H comm
BLOCKING(Sendrecv, (BOTH_WAYS, void *status),
         (out, out_n, out_type, to, out_tag, in, in_n, in_type, from, in_tag, comm, status),
         READS(out, out_n, out_type), WRITES(in, in_n, in_type))
STARTING(Isendrecv, (BOTH_WAYS), (out, out_n, out_type, to, out_tag, in, in_n, in_type, from, in_tag, comm),
         READS(out, out_n, out_type), WRITES(in, in_n, in_type))
BLOCKING(Sendrecv_replace, (REPLACED, void *status), (buf, n, type, to, out_tag, from, in_tag, comm, status),
         WRITES(buf, n, type))
STARTING(Isendrecv_replace, (REPLACED), (buf, n, type, to, out_tag, from, in_tag, comm), WRITES(buf, n, type))

#ifndef LARGE /* counts are MPI_Count in both interfaces */
PREPARING_I(Psend_init, (const void *buf, int parts, int64_t n, SC_MPI_H type, int peer, int tag, SC_MPI_H comm),
            (buf, parts, n, type, peer, tag, comm), READS(buf, parts * n, type))
PREPARING_I(Precv_init, (void *buf, int parts, int64_t n, SC_MPI_H type, int peer, int tag, SC_MPI_H comm),
            (buf, parts, n, type, peer, tag, comm), WRITES(buf, parts * n, type))
#endif

/* --- collectives -------------------------------------------------------------------------------------------------- */

#define COLLECTIVE(blocking, starting, preparing, parameters, arguments, ...) \
    BLOCKING(blocking, parameters, arguments, __VA_ARGS__)                    \
    STARTING(starting, parameters, arguments, __VA_ARGS__)                    \
    PREPARING_I(preparing, parameters, arguments, __VA_ARGS__)

#define OUT const void *out, COUNT out_n, SC_MPI_H out_type
#define OUTS const void *out, const COUNT *out_n, const DISPLACEMENT *out_at, SC_MPI_H out_type
#define OUTS_W const void *out, const COUNT *out_n, const DISPLACEMENT *out_at, const void *out_type
#define IN void *in, COUNT in_n, SC_MPI_H in_type
#define INS void *in, const COUNT *in_n, const DISPLACEMENT *in_at, SC_MPI_H in_type
#define INS_W void *in, const COUNT *in_n, const DISPLACEMENT *in_at, const void *in_type
#define ONE_ONE (out, out_n, out_type, in, in_n, in_type, comm)
#define ONE_MANY (out, out_n, out_type, in, in_n, in_at, in_type, comm)
#define MANY_MANY (out, out_n, out_at, out_type, in, in_n, in_at, in_type, comm)

COLLECTIVE(Bcast, Ibcast, Bcast_init, (void *buf, COUNT n, SC_MPI_H type, int root, SC_MPI_H comm),
           (buf, n, type, root, comm), ROOT(buf, READS(buf, n, type)), NOT_ROOT(buf, WRITES(buf, n, type)))
COLLECTIVE(Gather, Igather, Gather_init, (OUT, IN, int root, SC_MPI_H comm),
           (out, out_n, out_type, in, in_n, in_type, root, comm), LEAF(READS(out, out_n, out_type)),
           ROOT(in, WRITES_EACH(in, in_n, in_type)))
COLLECTIVE(Gatherv, Igatherv, Gatherv_init, (OUT, INS, int root, SC_MPI_H comm),
           (out, out_n, out_type, in, in_n, in_at, in_type, root, comm), LEAF(READS(out, out_n, out_type)),
           ROOT(in, WRITES_V(in, in_n, in_at, in_type)))
COLLECTIVE(Scatter, Iscatter, Scatter_init, (OUT, IN, int root, SC_MPI_H comm),
           (out, out_n, out_type, in, in_n, in_type, root, comm), ROOT(out, READS_EACH(out, out_n, out_type)),
           LEAF(WRITES(in, in_n, in_type)))
COLLECTIVE(Scatterv, Iscatterv, Scatterv_init, (OUTS, IN, int root, SC_MPI_H comm),
           (out, out_n, out_at, out_type, in, in_n, in_type, root, comm),
           ROOT(out, READS_V(out, out_n, out_at, out_type)), LEAF(WRITES(in, in_n, in_type)))
COLLECTIVE(Allgather, Iallgather, Allgather_init, (OUT, IN, SC_MPI_H comm), ONE_ONE, READS(out, out_n, out_type),
           WRITES_EACH(in, in_n, in_type))
COLLECTIVE(Allgatherv, Iallgatherv, Allgatherv_init, (OUT, INS, SC_MPI_H comm), ONE_MANY, READS(out, out_n, out_type),
           WRITES_V(in, in_n, in_at, in_type))
COLLECTIVE(Alltoall, Ialltoall, Alltoall_init, (OUT, IN, SC_MPI_H comm), ONE_ONE, READS_EACH(out, out_n, out_type),
           WRITES_EACH(in, in_n, in_type))
COLLECTIVE(Alltoallv, Ialltoallv, Alltoallv_init, (OUTS, INS, SC_MPI_H comm), MANY_MANY,
           READS_V(out, out_n, out_at, out_type), WRITES_V(in, in_n, in_at, in_type))
COLLECTIVE(Alltoallw, Ialltoallw, Alltoallw_init, (OUTS_W, INS_W, SC_MPI_H comm), MANY_MANY,
           READS_W(out, out_n, out_at, out_type), WRITES_W(in, in_n, in_at, in_type))

#define REDUCED const void *out, void *in, COUNT n, SC_MPI_H type, SC_MPI_H op
#define SCAN(blocking, starting, preparing)                                                               \
    COLLECTIVE(blocking, starting, preparing, (REDUCED, SC_MPI_H comm), (out, in, n, type, op, comm),     \
               READS(out, n, type), WRITES(in, n, type))
COLLECTIVE(Reduce, Ireduce, Reduce_init, (REDUCED, int root, SC_MPI_H comm), (out, in, n, type, op, root, comm),
           LEAF(READS(out, n, type)), ROOT(in, WRITES(in, n, type)))
SCAN(Allreduce, Iallreduce, Allreduce_init)
SCAN(Scan, Iscan, Scan_init)
SCAN(Exscan, Iexscan, Exscan_init)
/* With MPI_IN_PLACE both operands lie in `in`. */
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init, (REDUCED, SC_MPI_H comm),
           (out, in, n, type, op, comm), READS_EACH(out, n, type),
           IN_PLACE(out, WRITES_EACH(in, n, type), WRITES(in, n, type)))
COLLECTIVE(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init,
           (const void *out, void *in, const COUNT *n, SC_MPI_H type, SC_MPI_H op, SC_MPI_H comm),
           (out, in, n, type, op, comm), READS_SUM(out, n, type),
           IN_PLACE(out, WRITES_SUM(in, n, type), WRITES(in, n[sc_mpi_rank(comm)], type)))

/* The number of neighbours is known to MPI only. */
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init, (OUT, IN, SC_MPI_H comm), ONE_ONE,
           READS_ALL(out), WRITES_ALL(in))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init, (OUT, INS, SC_MPI_H comm), ONE_MANY,
           READS_ALL(out), WRITES_ALL(in))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, (OUT, IN, SC_MPI_H comm), ONE_ONE,
           READS_ALL(out), WRITES_ALL(in))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init, (OUTS, INS, SC_MPI_H comm), MANY_MANY,
           READS_ALL(out), WRITES_ALL(in))
#define FAR_OUTS_W const void *out, const COUNT *out_n, const long *out_at, const void *out_type
#define FAR_INS_W void *in, const COUNT *in_n, const long *in_at, const void *in_type
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init, (FAR_OUTS_W, FAR_INS_W, SC_MPI_H comm),
           MANY_MANY, READS_ALL(out), WRITES_ALL(in))

/* --- one-sided ---------------------------------------------------------------------------------------------------- */

#define TARGET int rank, long at, COUNT target_n, SC_MPI_H target_type
#define PUT void *buf, COUNT n, SC_MPI_H type, TARGET
#define RESULT void *in, COUNT in_n, SC_MPI_H in_type
SCOPED(Put, (const PUT, SC_MPI_H win), (buf, n, type, rank, at, target_n, target_type, win), (win, rank),
       READS(buf, n, type))
SCOPED(Get, (PUT, SC_MPI_H win), (buf, n, type, rank, at, target_n, target_type, win), (win, rank),
       WRITES(buf, n, type))
SCOPED(Accumulate, (const PUT, SC_MPI_H op, SC_MPI_H win), (buf, n, type, rank, at, target_n, target_type, op, win),
       (win, rank), READS(buf, n, type))
SCOPED(Get_accumulate, (OUT, RESULT, TARGET, SC_MPI_H op, SC_MPI_H win),
       (out, out_n, out_type, in, in_n, in_type, rank, at, target_n, target_type, op, win), (win, rank),
       GIVEN(out, READS(out, out_n, out_type)), WRITES(in, in_n, in_type))
STARTING(Rput, (const PUT, SC_MPI_H win), (buf, n, type, rank, at, target_n, target_type, win), READS(buf, n, type))
STARTING(Rget, (PUT, SC_MPI_H win), (buf, n, type, rank, at, target_n, target_type, win), WRITES(buf, n, type))
STARTING(Raccumulate, (const PUT, SC_MPI_H op, SC_MPI_H win), (buf, n, type, rank, at, target_n, target_type, op, win),
         READS(buf, n, type))
STARTING(Rget_accumulate, (OUT, RESULT, TARGET, SC_MPI_H op, SC_MPI_H win),
         (out, out_n, out_type, in, in_n, in_type, rank, at, target_n, target_type, op, win),
         GIVEN(out, READS(out, out_n, out_type)), WRITES(in, in_n, in_type))

/* --- files: the kernel's accesses are seen as system calls, but collective calls pass data to other processes ----- */

#define READ_FILE SC_MPI_H file, void *buf, COUNT n, SC_MPI_H type
#define READ_FILE_AT SC_MPI_H file, int64_t at, void *buf, COUNT n, SC_MPI_H type
#define WRITE_FILE SC_MPI_H file, const void *buf, COUNT n, SC_MPI_H type
#define WRITE_FILE_AT SC_MPI_H file, int64_t at, const void *buf, COUNT n, SC_MPI_H type
#define HERE (file, buf, n, type)
#define THERE (file, at, buf, n, type)
#define FILE_HERE(read, iread, write, iwrite)                                                        \
    BLOCKING(read, (READ_FILE, void *status), (file, buf, n, type, status), WRITES(buf, n, type))    \
    STARTING(iread, (READ_FILE), HERE, WRITES(buf, n, type))                                         \
    BLOCKING(write, (WRITE_FILE, void *status), (file, buf, n, type, status), READS(buf, n, type))   \
    STARTING(iwrite, (WRITE_FILE), HERE, READS(buf, n, type))
#define FILE_THERE(read, iread, write, iwrite)                                                           \
    BLOCKING(read, (READ_FILE_AT, void *status), (file, at, buf, n, type, status), WRITES(buf, n, type)) \
    STARTING(iread, (READ_FILE_AT), THERE, WRITES(buf, n, type))                                         \
    BLOCKING(write, (WRITE_FILE_AT, void *status), (file, at, buf, n, type, status), READS(buf, n, type))  \
    STARTING(iwrite, (WRITE_FILE_AT), THERE, READS(buf, n, type))
FILE_HERE(File_read, File_iread, File_write, File_iwrite)
FILE_HERE(File_read_all, File_iread_all, File_write_all, File_iwrite_all)
FILE_HERE(File_read_shared, File_iread_shared, File_write_shared, File_iwrite_shared)
FILE_THERE(File_read_at, File_iread_at, File_write_at, File_iwrite_at)
FILE_THERE(File_read_at_all, File_iread_at_all, File_write_at_all, File_iwrite_at_all)
BLOCKING(File_read_ordered, (READ_FILE, void *status), (file, buf, n, type, status), WRITES(buf, n, type))
BLOCKING(File_write_ordered, (WRITE_FILE, void *status), (file, buf, n, type, status), READS(buf, n, type))
SCOPED(File_read_all_begin, (READ_FILE), HERE, (file, SC_MPI_ALL_RANKS), WRITES(buf, n, type))
SCOPED(File_read_ordered_begin, (READ_FILE), HERE, (file, SC_MPI_ALL_RANKS), WRITES(buf, n, type))
SCOPED(File_read_at_all_begin, (READ_FILE_AT), THERE, (file, SC_MPI_ALL_RANKS), WRITES(buf, n, type))
SCOPED(File_write_all_begin, (WRITE_FILE), HERE, (file, SC_MPI_ALL_RANKS), READS(buf, n, type))
SCOPED(File_write_ordered_begin, (WRITE_FILE), HERE, (file, SC_MPI_ALL_RANKS), READS(buf, n, type))
SCOPED(File_write_at_all_begin, (WRITE_FILE_AT), THERE, (file, SC_MPI_ALL_RANKS), READS(buf, n, type))

/* --- windows ------------------------------------------------------------------------------------------------------ */

EVENT(Win_create, (void *base, long bytes, COUNT unit, SC_MPI_H info, SC_MPI_H comm, void *win),
      (base, bytes, unit, info, comm, win), sc_mpi_expose(base, bytes), (void)0)
EVENT(Win_allocate, (long bytes, COUNT unit, SC_MPI_H info, SC_MPI_H comm, void *base, void *win),
      (bytes, unit, info, comm, base, win), (void)0, failed ? (void)0 : sc_mpi_expose(*(void **)base, bytes))

#ifndef LARGE
EVENT(Fetch_and_op,
      (const void *out, void *in, SC_MPI_H type, int rank, long at, SC_MPI_H op, SC_MPI_H win),
      (out, in, type, rank, at, op, win), (GIVEN(out, READS(out, 1, type)), WRITES(in, 1, type), sc_mpi_begin(&t)),
      sc_mpi_scope(&t, win, rank))
EVENT(Compare_and_swap,
      (const void *out, const void *compare, void *in, SC_MPI_H type, int rank, long at, SC_MPI_H win),
      (out, compare, in, type, rank, at, win),
      (READS(out, 1, type), READS(compare, 1, type), WRITES(in, 1, type), sc_mpi_begin(&t)),
      sc_mpi_scope(&t, win, rank))
EVENT(Win_attach, (SC_MPI_H win, void *base, long bytes), (win, base, bytes), sc_mpi_expose(base, bytes), (void)0)

#define END_OF_SCOPE(name, parameters, arguments, scope) \
    EVENT(name, parameters, arguments, (void)0, sc_mpi_scope_end(UNPACK scope))
END_OF_SCOPE(Win_fence, (int assert, SC_MPI_H win), (assert, win), (win, SC_MPI_ALL_RANKS))
END_OF_SCOPE(Win_complete, (SC_MPI_H win), (win), (win, SC_MPI_ALL_RANKS))
END_OF_SCOPE(Win_unlock_all, (SC_MPI_H win), (win), (win, SC_MPI_ALL_RANKS))
END_OF_SCOPE(Win_flush_all, (SC_MPI_H win), (win), (win, SC_MPI_ALL_RANKS))
END_OF_SCOPE(Win_flush_local_all, (SC_MPI_H win), (win), (win, SC_MPI_ALL_RANKS))
EVENT(Win_free, (void *win), (win), sc_mpi_scope_end(sc_mpi_handle_at(win, 0), SC_MPI_ALL_RANKS), (void)0)
END_OF_SCOPE(File_read_all_end, (SC_MPI_H file, void *buf, void *status), (file, buf, status),
             (file, SC_MPI_ALL_RANKS))
END_OF_SCOPE(File_read_ordered_end, (SC_MPI_H file, void *buf, void *status), (file, buf, status),
             (file, SC_MPI_ALL_RANKS))
END_OF_SCOPE(File_read_at_all_end, (SC_MPI_H file, void *buf, void *status), (file, buf, status),
             (file, SC_MPI_ALL_RANKS))
END_OF_SCOPE(File_write_all_end, (SC_MPI_H file, const void *buf, void *status), (file, buf, status),
             (file, SC_MPI_ALL_RANKS))
END_OF_SCOPE(File_write_ordered_end, (SC_MPI_H file, const void *buf, void *status), (file, buf, status),
             (file, SC_MPI_ALL_RANKS))
END_OF_SCOPE(File_write_at_all_end, (SC_MPI_H file, const void *buf, void *status), (file, buf, status),
             (file, SC_MPI_ALL_RANKS))
END_OF_SCOPE(Win_unlock, (int rank, SC_MPI_H win), (rank, win), (win, rank))
END_OF_SCOPE(Win_flush, (int rank, SC_MPI_H win), (rank, win), (win, rank))
END_OF_SCOPE(Win_flush_local, (int rank, SC_MPI_H win), (rank, win), (win, rank))

/* --- requests ----------------------------------------------------------------------------------------------------- */

EVENT(Start, (void *request), (request), sc_mpi_start(1, request), (void)0)
EVENT(Startall, (int n, void *requests), (n, requests), sc_mpi_start(n, requests), (void)0)
EVENT(Request_free, (void *request), (request), sc_mpi_drop(sc_mpi_handle_at(request, 0)), (void)0)
EVENT(Wait, (void *request, void *statuses), (request, statuses), WATCH(1, request), SETTLE(1, NULL))
EVENT(Test, (void *request, int *flag, void *statuses), (request, flag, statuses), WATCH(1, request),
      SETTLE(*flag ? 1 : 0, NULL))
EVENT(Waitall, (int n, void *requests, void *statuses), (n, requests, statuses), WATCH(n, requests), SETTLE(n, NULL))
EVENT(Testall, (int n, void *requests, int *flag, void *statuses), (n, requests, flag, statuses), WATCH(n, requests),
      SETTLE(*flag ? n : 0, NULL))
EVENT(Waitany, (int n, void *requests, int *index, void *statuses), (n, requests, index, statuses),
      WATCH(n, requests), SETTLE(1, index))
EVENT(Testany, (int n, void *requests, int *index, int *flag, void *statuses), (n, requests, index, flag, statuses),
      WATCH(n, requests), SETTLE(*flag ? 1 : 0, index))
EVENT(Waitsome, (int n, void *requests, int *count, int *indices, void *statuses),
      (n, requests, count, indices, statuses), WATCH(n, requests), SETTLE(*count, indices))
EVENT(Testsome, (int n, void *requests, int *count, int *indices, void *statuses),
      (n, requests, count, indices, statuses), WATCH(n, requests), SETTLE(*count, indices))
#endif
/* SPDX-License-Identifier: BSD-2-Clause */
