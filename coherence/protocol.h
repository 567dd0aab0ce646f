/* Declarations shared by the files of coherence/.  Functions are called with the protocol's lock held unless a
 * comment says otherwise. */
#ifndef SC_COHERENCE_PROTOCOL_H
#define SC_COHERENCE_PROTOCOL_H

#include "base/inside.h"
#include "base/locks.h"
#include "base/quiet.h"
#include "coherence/access.h"
#include "coherence/derived.h"
#include "coherence/devices.h"
#include "device/device.h"
#include "directory/directory.h"
#include "host/host.h"
#include "trace/trace.h"

#include <sys/types.h>

#define SC_REFUSED_MAX 16

struct sc_protocol {
    const struct sc_device_ops *ops; /* NULL: not started; the first, see start.c; written atomically */
    const struct sc_device_host *host;
    bool stopping; /* no call begins */
    pid_t leaver;  /* the thread that ends the process: only loans begin; 0: none */
    int devices;
    struct sc_device_properties properties[SC_DEVICES_MAX];
    bool failed[SC_DEVICES_MAX]; /* gets no new work */
    bool lost[SC_DEVICES_MAX];   /* the device gives no data any more; its fences count as reached */
    unsigned bad;                /* a bit for each device whose failure a thread without the lock saw; atomic */
    uint64_t tick;               /* of the last use, for eviction */
    bool round[SC_DEVICES_MAX];  /* a program goes round over more forms than fit (memory.c) */
    bool loans_compete;          /* a lent block had to go for another (evict.c) */
    uint64_t came_back;          /* ticks between the uses of the lent tile that came back last after an eviction */
    uint64_t changes;            /* of linked sectors so far: the time of derived.c */
    uint64_t calls;              /* begun so far */
    uint64_t moves;              /* changes of validity so far, for lend.c */
    void (*settle)(void);        /* ends a speculation (speculate.c); NULL: there is none */
    unsigned active;             /* calls between begin and end; read without the lock, too */
    /* Page ranges whose protection the system refused to change.  With more than SC_REFUSED_MAX refusals any matrix
     * may be affected. */
    struct sc_range {
        uintptr_t lo, hi;
    } refused[SC_REFUSED_MAX];
    int refusals;
    double waited; /* seconds of the program's faults and acquisitions since sc_coherence_fetched */
    bool has_waited; /* waited is not 0; atomic */
    bool check;
    bool notes; /* transitions note the ranges of bytes that they touch (check.c) */
};
extern struct sc_protocol sc_protocol;

/* Arguments: an open device, sectors of a tile, a global sector of a matrix, whole pages (at least one). */
#define sc_assert_device(device) sc_assert((device) >= 0 && (device) < sc_protocol.devices)
#define sc_assert_sectors(tile, set) sc_assert(!((set) & ~sc_sectors_all((tile)->sectors)))
#define sc_assert_run(tile, s, e) sc_assert((s) >= 0 && (s) < (e) && (e) <= (tile)->sectors)
#define sc_assert_global(m, g) sc_assert((g) >= 0 && (g) < sc_matrix_sectors(m))
#define sc_assert_pages(lo, hi) sc_assert((lo) < (hi) && !(((lo) | (hi)) % SC_PAGE))

/* For who has no lock. */
static inline const struct sc_device_ops *sc_protocol_ops(void)
{
    return __atomic_load_n(&sc_protocol.ops, __ATOMIC_SEQ_CST);
}

/* Takes the lock of the whole protocol.  Its holder touches no user memory and waits for no transfer. */
void sc_protocol_lock(void);
void sc_protocol_unlock(void);
void sc_protocol_lock_reset(void); /* in a forked child */
/* Between the two functions new calls wait before they begin.  Used by threads that need all data at home or a page
 * open: a sequence of calls could delay them for ever.  Lock held; counted. */
void sc_protocol_hold_calls(void);
void sc_protocol_resume_calls(void);
/* A call waits until no thread holds calls up (true: the lock was dropped); counts itself in; counts itself out. */
bool sc_protocol_await_admission(void);
void sc_protocol_call_begins(void);
void sc_protocol_call_over(void);
/* Waits until no call is in progress, at most so many seconds.  Lock held; dropped meanwhile. */
void sc_protocol_await_calls(double seconds);
/* Stops new calls and waits for calls in progress.  (A call that finishes on the host drops the lock for a while.) */
void sc_protocol_end_calls(void);

/* --- states (protocol.c): the only functions that assign validity or page state ----------------------------------- */

/* Before a device receives copies of sectors that stay valid elsewhere: closes the sectors' pages for writing.
 * Called before a transfer from the host is enqueued (C5). */
void sc_protocol_shared(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors);
/* A kernel on the device has written the sectors: every other copy is invalid, the pages are closed. */
void sc_protocol_written(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors);
/* A device is lost, with its copies and its transfers home in flight (`missing`).  Returns the sectors without
 * another valid copy; the host's old copies of these sectors count as valid now (C1). */
uint64_t sc_protocol_lost(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t missing);
/* A device's copies are gone; their data is valid elsewhere. */
void sc_protocol_dropped(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors);
/* Makes room for the rows of partial sectors (C11); false: no memory. */
bool sc_protocol_may_be_partial(struct sc_tile *t, int device);
/* Makes sectors partial, which are valid on the device and on the host.  With all rows of the tile nothing changes. */
void sc_protocol_partial(struct sc_tile *t, int device, uint64_t sectors, struct sc_rows rows);
/* All rows of the sectors are current on the device. */
void sc_protocol_completed(struct sc_tile *t, int device, uint64_t sectors);
/* A transfer that makes the host's copy valid has been enqueued (`landed` tells when). */
void sc_protocol_home(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors);
/* The host's copy of a global sector has landed in all tiles: the pages may be read. */
void sc_protocol_open(struct sc_matrix *m, int g);
/* Before the host writes a global sector: devices lose their copies.  The pages may be read and written. */
void sc_protocol_host_writes(struct sc_matrix *m, int g);
/* The matrix's bytes on pages [lo, hi) are home and landed though their sectors are not (partly home). */
void sc_protocol_pages_home(struct sc_matrix *m, uintptr_t lo, uintptr_t hi);
/* A derived copy is being made of the sectors: closes their pages for writing (C9). */
void sc_protocol_linked(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors);
/* Some device has a valid copy of a part of the global sector, or a derived copy of a part. */
bool sc_protocol_device_has(const struct sc_matrix *m, int g);
/* Uploads that read the host's copies of the sector's tiles may be running, whether or not a device keeps the copy. */
bool sc_protocol_uploading(const struct sc_matrix *m, int g);
bool sc_protocol_page_is_home(const struct sc_matrix *m, uintptr_t page);

/* Applies the protection that the sectors of the pages of [lo, hi) require (C3). */
void sc_protocol_paint(uintptr_t lo, uintptr_t hi);
/* Before the program continues: brings home ranges of refused protection, whose pages then need no protection.  Lock
 * held before and after, dropped during transfers. */
void sc_protocol_mend(void);

/* --- access of the host (acquire.c) ------------------------------------------------------------------------------- */

/* Starts transfers home of the sectors that the host lacks; the pages stay closed. */
void sc_access_start(struct sc_matrix *m);
/* The same for the bytes [lo, hi) of the matrix; opens those that are there. */
void sc_access_ahead(struct sc_matrix *m, uintptr_t lo, uintptr_t hi);
/* Opens the sectors of a page, and the sectors behind them, as far as their data has landed on the host.  False: the
 * page's own data has not. */
bool sc_access_landed(uintptr_t page);
struct sc_fences;
/* Whether no kernel has yet to compute the page's data.  False: `kernels` has a fence for each part of the data. */
bool sc_access_computed(uintptr_t page, struct sc_fences *kernels);
/* Brings bytes home and opens their pages.  Drops the lock during transfers. */
void sc_access_range(uintptr_t lo, uintptr_t hi, enum sc_access access);
/* Brings the whole matrix home, for writing.  Drops the lock during transfers.  Refused protection is left to
 * sc_protocol_mend. */
void sc_access_all(const struct sc_matrix *m);
/* Without the lock: takes the matrices of [addr, addr + bytes), memory of the arena that goes away, out of the
 * directory (release.c). */
void sc_release_tracked(uintptr_t addr, size_t bytes);
/* Without the lock: the same, but the caller waits for transfers on the memory. */
void sc_release_begin(uintptr_t addr, size_t bytes, struct sc_fences *transfers);

/* --- streams (order.c) -------------------------------------------------------------------------------------------- */

/* The stream waits for the fence, unless the stream has already waited for this fence or a later one. */
enum sc_status sc_order(int device, enum sc_stream stream, struct sc_fence fence);
void sc_order_reset(void);    /* before the devices are in use */
void sc_transfer_reset(void); /* before the devices are in use: clears the counts of bytes sent by devices */
/* ops->mark with one retry: nobody could wait for work without a fence. */
enum sc_status sc_mark(int device, enum sc_stream stream, struct sc_fence *f);
/* Work of a lost device counts as reached, so that no wait is endless. */
static inline bool sc_reached(struct sc_fence f)
{
    return !f.seq || __atomic_load_n(&sc_protocol.lost[f.device], __ATOMIC_RELAXED) || sc_protocol.ops->done(f);
}

/* A set of fences to wait for: the latest of each stream. */
struct sc_fences {
    struct sc_fence f[SC_DEVICES_MAX * SC_STREAMS];
    int count;
};
void sc_fences_add(struct sc_fences *set, struct sc_fence f); /* a reached fence is left out */
void sc_fences_sync(const struct sc_fences *set);             /* without the lock */

/* --- devices that fail (loss.c) ----------------------------------------------------------------------------------- */

/* Takes a device out of service after an error, with one log line. */
void sc_device_gave_up(int device, const char *doing);
/* The device is gone: keeps data that is valid elsewhere, and reports lost data in one line. */
void sc_device_lost(int device, const char *doing);
extern unsigned sc_syncing; /* threads that are in sc_sync; atomic */
/* Waits; with or without the lock.  An error is remembered for the next who has the lock and looks. */
enum sc_status sc_sync(struct sc_fence f);
void sc_devices_look(void);
/* Reached: the transfer has landed, or its device has failed and is lost now.  In the second case states have
 * changed. */
bool sc_landed(struct sc_fence f);

/* --- work of the program on lent memory (lent.c) ------------------------------------------------------------------ */

/* Lock held, before the program starts work on lent memory. */
void sc_lent_begins(int device);
/* The same without the lock, if nobody has looked for such work since sc_lent_looks.  False: the caller takes the
 * lock. */
bool sc_lent_begins_again(int device, uint64_t since);
uint64_t sc_lent_looks(void); /* lock held; 0: some data is on its way to such work */
bool sc_lent_any(void); /* any thread: such work may be running; who changes lent memory looks under the same lock */
extern bool sc_lent_begun; /* there has been such work; under the lock */
void sc_lent_await(void);  /* until there is no such work; the lock is given up meanwhile */
/* Takes the lock at a moment without such work.  For who brings data home, or gives a device's memory up. */
static inline void sc_lent_lock(void)
{
    sc_protocol_lock();
    if (__builtin_expect(sc_lent_begun, 0))
        sc_lent_await();
}
void sc_lent_reset(void); /* in a forked child, and after the devices have been closed */
/* The program's work has to come behind a fence: the data of a loan arrives then.  Lock held. */
void sc_lent_behind(struct sc_fence f);
bool sc_lent_is_behind(struct sc_fence f); /* or the fence is reached */
/* Puts later work of the program on *stream (of the maker's runtime) behind these fences.  *wait: fences for the
 * caller to wait for instead, all if `stream` is NULL.  Lock held. */
void sc_lent_order(int device, void *const *stream, struct sc_fences *wait);
/* As sc_coherence_begin with one view, while work of the program may be running; not counted as a call.  Takes the
 * lock. */
enum sc_status sc_coherence_begin_lending(const struct sc_view *view, struct sc_operand *operand);

/* --- when a call was done (completion.c) -------------------------------------------------------------------------- */

/* `before` a wait: whether the watched call is still in progress.  `after` the wait: notes the end of the call. */
extern bool sc_completion_awaited; /* atomic */
bool sc_completion_look(const struct sc_device_ops *ops); /* any thread */
static inline bool sc_watch_before(const struct sc_device_ops *ops)
{
    return __builtin_expect(__atomic_load_n(&sc_completion_awaited, __ATOMIC_ACQUIRE), 0) && sc_completion_look(ops);
}
void sc_completion_after(const struct sc_device_ops *ops); /* any thread */
void sc_completion_drop(void); /* any thread */
void sc_completion_reset(void); /* in a forked child */

/* --- copies between devices, collected (exchange.c) --------------------------------------------------------------- */

#define SC_MOVES_MAX 64

/* Sectors [s, e) of a tile, or a part of a sector, from one device to another. */
struct sc_move {
    struct sc_copy2d copy;
    struct sc_matrix *m;
    struct sc_tile *t;
    uint64_t sectors; /* for the trace */
    int s, e, from, to;
    bool part; /* of a sector: its state does not change */
    bool done;
};
/* `count` starts at 0.  The collector issues the moves before anybody uses the moved data, and before memory is
 * given back. */
struct sc_moves {
    int count;
    struct sc_move move[SC_MOVES_MAX];
};
enum sc_status sc_moves_add(struct sc_moves *moves, const struct sc_move *move); /* full: issued first */
/* Number of chunks of a result. */
struct sc_result;
int sc_moves_chunks(const struct sc_result *result);
/* By copy engines or kernels.  Each move is done or has failed; the data of a failed move is not valid at its
 * destination. */
enum sc_status sc_moves_issue(struct sc_moves *moves);

/* A stream of device `on` waits for the copies of sectors from a device's memory to the host. */
enum sc_status sc_order_sent(int on, enum sc_stream stream, const struct sc_copy *c, uint64_t sectors);
/* A stream of device `on` waits for the work that must end before sectors [s, e) are overwritten on `device`. */
enum sc_status sc_order_overwriting(int device, int on, enum sc_stream stream, const struct sc_tile *t, int s, int e);

/* --- transfers (transfer.c) --------------------------------------------------------------------------------------- */

enum sc_transfer_what {
    SC_TRANSFER_WHOLE,  /* sectors */
    SC_TRANSFER_PART,   /* of sectors: their state does not change */
    SC_TRANSFER_BACK,   /* bytes of the host, to parts of dirty sectors; their state does not change */
    SC_TRANSFER_EVICTED /* whole sectors, sent to the host without its request */
};
/* For statistics and the trace. */
void sc_transfer_count(struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors, int from, int to, uint64_t bytes,
                       enum sc_transfer_what what);

/* Enqueues transfers of the missing sectors; the device has memory for the whole tile. */
enum sc_status sc_transfer_to_device(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors);
/* The same, but moves from other devices are only collected: their sectors become valid when issued. */
enum sc_status sc_transfer_collect(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors,
                                   struct sc_moves *moves);
/* Data that a device fails to send is reported, and counts as home. */
void sc_transfer_to_host(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors);
/* The same, without the host's request: not counted by sc_coherence_fetched. */
void sc_transfer_evicted(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors);
/* Brings rows `part` of sectors [s, e) that the device lacks, except the rows `without`: a part of `part`, or no row.
 * The kernels that the lock's holder enqueues next overwrite the rows `without`.  The sectors become valid on the
 * device, and partial if the tile has more rows than `part`. */
enum sc_status sc_transfer_rows(int device, struct sc_matrix *m, struct sc_tile *t, int s, int e, struct sc_rows part,
                                struct sc_rows without);
/* Uploads the missing rows of partial sectors. */
enum sc_status sc_transfer_rest(int device, struct sc_matrix *m, struct sc_tile *t, uint64_t sectors);
/* Uploads a rectangle of the host's older bytes over the newer bytes of the only device that has its sectors. */
enum sc_status sc_transfer_back(int device, struct sc_matrix *m, struct sc_tile *t, int64_t r0, int64_t r1, int64_t c0,
                                int64_t c1);
/* Where a sector would come from: a device or SC_HOST. */
int sc_transfer_source(int device, const struct sc_matrix *m, const struct sc_tile *t, int s);
/* Collects a copy of elements [first, last) of a contiguous lattice from another device (not the host) to their
 * place in sector s, which the device lacks.  For the kernel that is enqueued next: the sector stays invalid. */
enum sc_status sc_transfer_part(int device, struct sc_matrix *m, struct sc_tile *t, int s, int64_t first, int64_t last,
                                struct sc_moves *moves);
/* Brings home a rectangle [r0, r1) x [c0, c1) of the tile (lattice positions) without a change of state.  Adds the
 * fences to wait for. */
enum sc_status sc_transfer_window(struct sc_matrix *m, struct sc_tile *t, int64_t r0, int64_t r1, int64_t c0,
                                  int64_t c1, struct sc_fences *fences);

/* Some sector of the matrix is partial. */
bool sc_transfer_is_partial(const struct sc_matrix *m);
/* Brings home elements [first, last) of a contiguous lattice (rows == ld, one row of tiles) without partial sectors,
 * inside one tile. */
enum sc_status sc_transfer_linear(struct sc_matrix *m, struct sc_tile *t, int64_t first, int64_t last,
                                  struct sc_fences *fences);

/* --- ways between places (route.c) -------------------------------------------------------------------------------- */

void sc_route_start(void); /* before the devices are in use: by their properties, until sc_coherence_links */
/* Bytes/s of the best route from a device or SC_HOST to a device, by way of other devices if need be; 0: none. */
double sc_route_rate(int from, int to);
double sc_route_direct_rate(int from, int to);
/* The device before `to` on the best way; -1: it is direct. */
int sc_route_via(int from, int to);

/* --- device memory (memory.c) ------------------------------------------------------------------------------------- */

/* Gives a tile memory on a device, evicting others' when it is full. */
enum sc_status sc_memory_ensure(int device, struct sc_matrix *m, struct sc_tile *t);
/* The same without eviction; SC_ERR_DEVICE_MEMORY when memory is short. */
enum sc_status sc_memory_spare(int device, struct sc_matrix *m, struct sc_tile *t);
/* Gives a tile memory at the host's own addresses (device/device.h, place).  SC_ERR_UNSUPPORTED: the tile's memory is
 * to lie elsewhere. */
enum sc_status sc_memory_place(int device, struct sc_matrix *m, struct sc_tile *t, struct sc_fence *ready);
/* Ends an allocation for a tile's copy, and returns the `status` that the allocation gave.  After SC_OK the copy has
 * its memory, which may be written after `ready`; otherwise the copy has no memory. */
enum sc_status sc_memory_start(int device, struct sc_tile *t, enum sc_status status, struct sc_fence ready);
/* The least recently used copy without pins, or NULL. */
struct sc_copy *sc_memory_oldest(int device);
/* The copy without pins, last used before the tick, with the farthest next use by the times between uses, or NULL.
 * but: passed over.  Looks at all copies of the device. */
struct sc_copy *sc_memory_farthest(int device, uint64_t before, const struct sc_copy *but);
/* Allocates device memory for other purposes, with eviction.  since: tick of the last use before the owner's
 * eviction; 0: the owner was not evicted. */
enum sc_status sc_memory_alloc(int device, size_t bytes, uint64_t since, void **memory, struct sc_fence *ready);
/* Makes some room.  SC_ERR_DEVICE_MEMORY: all is in use. */
enum sc_status sc_memory_evict(int device);
/* The copy has been used. */
void sc_memory_touch(int device, struct sc_copy *c);
extern uint64_t sc_memory_steps; /* copies looked at by evictions, for tests */
/* Frees a tile's memory on a device once no work uses the memory; the data is valid elsewhere or not needed. */
void sc_memory_release(int device, struct sc_matrix *m, struct sc_tile *t);
/* Fences of work on a copy's memory, at most one for each stream. */
#define SC_USERS_MAX (SC_STREAMS + 2 * SC_DEVICES_MAX + 2)
/* Before a write to the memory of a leased copy: moves the copy to other memory, with its contents; no eviction. */
enum sc_status sc_memory_part(int device, struct sc_matrix *m, struct sc_tile *t);

/* --- leases of memory (lease.c) ----------------------------------------------------------------------------------- */

/* One more holder of the memory of a tile's copy; NULL: no memory on the host. */
struct sc_lease *sc_lease_begin(int device, struct sc_copy *copy);
/* One holder less: a use of the whole tile, behind all work on the compute stream. */
void sc_lease_end(struct sc_lease *lease);
int sc_lease_device(const struct sc_lease *lease); /* -1: the devices have been closed */
/* The leased copy gives its memory up to the lease.  users: other work on the memory. */
void sc_lease_keep(struct sc_copy *copy, const struct sc_fence *users, int count);
void sc_lease_stop(void); /* the devices' memory is gone */

/* --- derived copies (derived.c) ----------------------------------------------------------------------------------- */

/* The derived copy on the device without pins that was used longest ago (last), or NULL. */
struct sc_derived *sc_derived_oldest(int device);
struct sc_derived *sc_derived_newest(int device);
void sc_derived_start(struct sc_derived *form); /* it has just got memory */
void sc_derived_evict(struct sc_derived *form);
void sc_derived_touch(struct sc_derived *form); /* it has been used */
extern uint64_t sc_derived_steps;            /* derived copies looked at by evictions, for tests */
void sc_derived_stop(void); /* takes the lock; no derived copy has memory any more */

/* --- results that go to where they are read next (push.c) --------------------------------------------------------- */

/* A kernel of the call in progress writes the sectors: the reads of other devices since the last write become
 * history. */
void sc_push_written(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors);

/* --- acquiring (task.c) ------------------------------------------------------------------------------------------- */

struct sc_target;
/* acquire: makes the parts that the kernel reads valid on the device; the compute stream waits for the transfers.
 * release: after the kernel, whose fence is f, assigns the states. */
enum sc_status sc_task_acquire(int device, const struct sc_piece *piece, const struct sc_target *target);
void sc_task_release(int device, const struct sc_piece *piece, const struct sc_target *target, struct sc_fence f);
/* For the trace, after the launch and before the release of any piece.  parts: sectors of which only the part that
 * the kernel reads was copied. */
void sc_task_trace(int device, const struct sc_piece *piece, const struct sc_target *target, uint64_t parts);

/* --- results in new memory (habit.c), lock held ------------------------------------------------------------------- */

/* The new matrices among the operands, of results, take over the histories of earlier ones. */
void sc_habit_take_over(const struct sc_operand *operands, int count);
/* The matrix ends, and leaves its history. */
void sc_habit_leave(struct sc_matrix *m);
void sc_habit_reset(void); /* before the protocol starts: without the lock */

/* --- results whose pages calls leave open (keep_open.c), lock held ------------------------------------------------ */

/* Notes what the program has done with the operands, or with a result, since their last calls.  Before the call holds
 * them. */
void sc_keep_open_look_back(struct sc_operand *operands, int count);
void sc_keep_open_look_back_at(struct sc_matrix *result);
/* Decides which operands' pages stay open.  May drop the lock meanwhile. */
void sc_keep_open_begin(struct sc_operand *operands, int count);
/* Brings these operands home, and waits for the call's work on them.  May drop the lock meanwhile. */
void sc_keep_open_end(struct sc_operand *operands, int count);

/* --- what the program waits for (wait.c), lock held but for the clock --------------------------------------------- */

/* Seconds on the clock that the program's waits are measured by, after the event. */
double sc_wait_clock(enum sc_host_event event);
/* The program has waited so long for an acquisition of [lo, hi), or since `since` for a fault on the page.  computed:
 * the page's kernels had ended at `since`. */
void sc_wait_acquired(uintptr_t lo, uintptr_t hi, double seconds);
void sc_wait_faulted(uintptr_t page, double since, enum sc_access access, bool computed);
/* The program has written the whole matrix since the last call: no device has a part. */
bool sc_wait_rewritten(const struct sc_matrix *m);
/* A call begins or ends its use of a matrix: counts start again. */
void sc_wait_used(struct sc_matrix *m, bool begins);
void sc_wait_look_back(struct sc_matrix *m); /* was it read, or written, as a whole? */
/* True when the matrix's faults since the last call have cost a fifth of fetching the whole matrix: the caller then
 * fetches the rest at once.  Any pattern of touches therefore costs little more than 1.2 fetches.  Also true, from the
 * second fault on, for reads of a matrix that was fetched as a whole the last time, and for writes to a small matrix
 * that was written as a whole the last time. */
bool sc_wait_is_over(const struct sc_matrix *m, enum sc_access access);

/* --- windows of partly home sectors (partial_fetch.c) ------------------------------------------------------------- */

/* Cancels windows in flight that meet [lo, hi): their data is out of date. */
void sc_partial_cancel(struct sc_matrix *m, uintptr_t lo, uintptr_t hi);
/* Opens the pages of landed windows. */
void sc_partial_finish(void);
#define SC_WINDOWS_MAX 64
struct sc_window {
    struct sc_matrix *m; /* NULL: free, or cancelled (the tile's host_write knows running transfers) */
    uintptr_t lo, hi;    /* pages */
    struct sc_fences fences;
};
extern struct sc_window sc_windows[SC_WINDOWS_MAX];
extern int sc_windows_used; /* entries in use lie below */
void sc_windows_trim(void); /* after an entry was freed */
struct sc_window *sc_window_free(void); /* NULL: all are in use */
const struct sc_window *sc_window_at(const struct sc_matrix *m, uintptr_t page); /* in flight there, or NULL */
bool sc_partial_any(void);
bool sc_partial_meets(const struct sc_matrix *m, uintptr_t lo, uintptr_t hi); /* one in flight does */
/* Starts transfers home of the matrix's missing bytes on pages [lo, hi) and adds the fences to wait for.  True: no
 * byte is missing.  False: wait, finish, call again. */
bool sc_partial_fetch(struct sc_matrix *m, uintptr_t lo, uintptr_t hi, struct sc_fences *fences);

/* --- pieces (piece.c) --------------------------------------------------------------------------------------------- */

/* A piece in terms of its tile: the touched sectors, and the address of the piece. */
struct sc_target {
    struct sc_matrix *m;
    struct sc_tile *t;
    uint64_t sectors; /* touched */
    uint64_t full;    /* of those: wholly covered */
    int64_t offset;   /* of the piece's first element in the tile on a device, elements */
    int64_t ld;       /* there: leading dimension, or signed increment */
    uintptr_t host;   /* address of the first element on the host */
    int64_t host_ld;
};
void sc_piece_target(const struct sc_piece *piece, struct sc_target *target);
/* Rows of the lattice that tasks on the piece may touch in a sector; for vectors all rows of the tile. */
struct sc_rows sc_piece_rows(const struct sc_piece *piece, const struct sc_target *target, int s);
/* Rows that are brought for a piece of an announced triangle, equal for neighbouring small sectors; for other pieces
 * all rows of the tile. */
struct sc_rows sc_piece_share(const struct sc_piece *piece, const struct sc_target *target, int s);
extern size_t sc_piece_share_least; /* bytes of sectors with equal rows, at least */

/* --- resolving (resolve.c) ---------------------------------------------------------------------------------------- */

/* Finds or makes the matrix of a view.  SC_ERR_CONFLICT: release [*lo, *hi) first (both 0: run the call on the
 * host). */
enum sc_status sc_resolve(const struct sc_view *view, struct sc_lattice *hint, struct sc_operand *operand,
                          uintptr_t *lo, uintptr_t *hi);

/* Finds the matrix of a view, and makes none. */
bool sc_resolve_known(const struct sc_view *view, struct sc_operand *operand);

/* Whether the view is a part of the existing matrix.  Otherwise the matrix is written back and replaced. */
bool sc_resolve_fits(const struct sc_view *view, struct sc_matrix *matrix);

/* --- checking (check.c), only when sc_protocol.check -------------------------------------------------------------- */

/* While sc_protocol.notes: notes bytes whose state or protection is being changed. */
void sc_check_touched(uintptr_t lo, uintptr_t hi);
/* next: takes the oldest noted range; false: no range is noted.  count: number of noted ranges. */
bool sc_check_next(struct sc_range *range);
size_t sc_check_count(void);
/* Checks the ranges touched since the last check, and about as many pages of other matrices in turn. */
void sc_check_changed(const char *after);
/* The pins and the validity of the tiles of an operand whose call is over. */
void sc_check_operand(const struct sc_operand *operand, const char *after);
/* Checks all matrices except matrices of calls in progress. */
void sc_check_all(const char *after);
extern uint64_t sc_check_steps; /* pages and copies looked at so far, for tests */
extern bool sc_check_rounds;    /* tests switch off the check of other matrices in turn */
/* Overwrites invalid copies with garbage: a missing transfer gives a wrong answer. */
void sc_check_scribble(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
