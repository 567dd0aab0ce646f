/* The coherence protocol as the BLAS and sparse layers see it: resolve the operands of a call, cut them along tiles,
 * run kernels on pieces of them.  Where the data is, how it gets there and what the host may touch is decided below
 * this interface (states and invariants: coherence/protocol.c). */
#ifndef SC_COHERENCE_COHERENCE_H
#define SC_COHERENCE_COHERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lru.h"
#include "base/status.h"
#include "ops/ops.h"
#include "device/device.h"

struct sc_matrix;

static inline bool sc_view_empty(const struct sc_view *v) { return v->rows <= 0 || v->cols <= 0; }
/* Elements from the first to one past the last, by address. */
int64_t sc_view_length(const struct sc_view *view);
/* The view's bytes. */
void sc_view_extent(const struct sc_view *view, uintptr_t *lo, uintptr_t *hi);
/* Copies the elements of a view, vectors in order of address; the two have equal extents.  Touches memory as any
 * program. */
void sc_view_copy(const struct sc_view *to, const struct sc_view *from);

/* A view found in the directory.  Valid between sc_coherence_begin and sc_coherence_end.  Opaque but for `view`. */
struct sc_operand {
    struct sc_view view;
    struct sc_matrix *matrix;
    bool linear;           /* a vector on a contiguous lattice: elements [first, first + count) of it */
    int64_t row, col;      /* else: position of the view's first element in the lattice */
    int64_t rows, cols;    /* extent in the lattice */
    int64_t first, count;
    struct sc_view staged; /* the program's view when the operand is a copy, for memory outside the arena (ptr) */
    enum sc_stage { SC_IN_ARENA, SC_SHADOW, SC_MIRROR } stage; /* such a copy is for one call, or it is kept */
};

/* A part of an operand.  Matrix: rows [r, r+rows) x cols [c, c+cols) of the view.  Vector: elements [r, r+rows) counted
 * from the LOWEST ADDRESS (whatever the sign of the increment), c = 0, cols = 1.  Must not cross a cut. */
struct sc_piece {
    const struct sc_operand *operand; /* NULL: the temporary below, whose rows are contiguous (ld or inc given) */
    int64_t r, c, rows, cols;
    enum sc_access access;
    void *temporary;
    int64_t temporary_ld;
};

/* Cut positions along one dimension: at[0] = 0 < at[1] < ... < at[n] = extent; n parts.  (extent 0: n = 0.) */
#define SC_CUTS_MAX 1024
struct sc_cuts {
    int n;
    int64_t at[SC_CUTS_MAX + 1];
};

/* --- start and stop ---------------------------------------------------------------------------------------------- */

/* Opens nothing.  `host` and `config` stay valid until stop. */
enum sc_status sc_coherence_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host);
void sc_coherence_stop(void); /* everything home, devices closed */
int sc_coherence_devices(void);
bool sc_coherence_runs(enum sc_op op, enum sc_type type); /* devices have the operation; false without devices */
/* Invariants found broken under SEMCACHE_CHECK=1 (each is logged); tests want 0. */
unsigned sc_coherence_broken(void);
const struct sc_device_properties *sc_coherence_device_properties(int device);
/* Measured links (`direct` only) in place of what the devices say of theirs; 0: not measured. */
struct sc_links;
void sc_coherence_links(const struct sc_links *measured);
/* Pieces that go to a device (from any) or from one (to any) at about the same time. */
struct sc_exchange {
    int on;          /* the device; its kernel reads what others have, or writes to others: */
    bool push;
    int pieces;
    uint64_t bytes, largest;
    int other;       /* the other end of the largest piece */
};
/* Whether one kernel does them sooner than copy engines, one by one; pure. */
typedef bool sc_exchange_by_kernel(const void *of, const struct sc_exchange *exchange);
/* How long so many devices compute on a call, s; 0: not known.  seconds NULL: nor that. */
struct sc_producer {
    double (*seconds)(const void *of, int devices);
    const void *of;
};
/* A result of a call that devices make, each a part of it by several kernels, and that other devices will read. */
struct sc_result {
    int from, to;        /* one that makes most of it, and one that reads that */
    int makers, readers; /* devices that make parts; that read what `from` makes */
    int kernels;         /* of `from`, one after the other */
    uint64_t bytes;      /* made by `from` */
    const struct sc_producer *producer; /* NULL: not known */
};
/* In how many chunks it is sent, each when its kernels are done: 1 to `kernels`; pure. */
typedef int sc_exchange_in_chunks(const void *of, const struct sc_result *result);
/* NULL: none does; results are sent as a whole. */
void sc_coherence_exchanges(sc_exchange_by_kernel *by_kernel, sc_exchange_in_chunks *in_chunks, const void *of);
/* The bandwidth of the slowest link between two devices in that of a link to the host; 0: none, or unknown. */
double sc_coherence_peer_ratio(void);
double sc_coherence_virtual_seconds(void); /* < 0: not emulated */
/* Seconds that the program's thread has come to: virtual on emulated devices.  For differences only. */
double sc_coherence_host_clock(void);
/* Waits for everything that has been enqueued on any device: for measurements only, no call needs it. */
void sc_coherence_drain(void);

/* --- a call ------------------------------------------------------------------------------------------------------ */

/* Finds or makes the matrices of a call's operands and takes the protocol's lock until sc_coherence_end.  Views outside
 * the arena are copied first (and copied back by end), as far as they have been written since the last call.  Errors
 * (nothing held): SC_ERR_CONFLICT (operands overlap on different lattices), SC_ERR_MEMORY: run the call on the host.
 * Empty views are allowed. */
enum sc_status sc_coherence_begin(const struct sc_view *views, int count, struct sc_operand *operands);
void sc_coherence_end(struct sc_operand *operands, int count);

/* Between begin and end, after the last task: sends results home that the host is expected to look at, and to devices
 * that are expected to read them (push.c).  producer: of the call; NULL: nothing is known of it. */
void sc_coherence_push(const struct sc_operand *operands, int count, const struct sc_producer *producer);
/* Whether a result will go home then, if the call writes all of it. */
bool sc_coherence_goes_home(const struct sc_operand *result);

/* Between begin and end, after the last task: calls done(of) when all that has been enqueued to compute or to go home
 * is done, at the end of a wait, of any thread, during which that happened.  If nobody waits then, never.  One call is
 * watched at a time: this ends the watch of another; NULL: only that.  `done` is called with locks held: it calls
 * nothing of coherence/. */
void sc_coherence_on_completion(void (*done)(void *of), void *of);

/* What the decision needs to know, without making or moving anything; takes the lock shortly. */
struct sc_residency {
    uint64_t bytes;        /* of the views */
    uint64_t device_bytes; /* of those: valid on some device */
    uint64_t device_only;  /* of those: not valid on the host */
    uint64_t overwritten;  /* of those: on no device, and the view is written without being read */
    uint64_t reshaped;     /* device-only bytes of matrices of another shape in the way, which are written back first */
    uint64_t untracked;    /* copied in and out in each call (results of those outside the arena: half of them) */
    uint64_t largest;      /* bytes of the largest view, */
    int holders;           /* and how many devices have some of it */
    int arrivals;          /* views of which something has to be brought to the devices */
    int closings;          /* views that are written, and that the host has some of: its pages are to be closed */
    uint64_t away, absent; /* a bit for each view, in order: the host lacks some of it; devices do */
};
void sc_coherence_residency(const struct sc_view *views, int count, struct sc_residency *out);

/* What the host has fetched of the matrices that the views lie in since this was last asked: copies and bytes, and the
 * seconds that the program has waited in faults and acquisitions of them, and of any matrix. */
struct sc_fetched {
    uint64_t copies, bytes;
    double seconds, of_any;
};
void sc_coherence_fetched(const struct sc_view *views, int count, struct sc_fetched *out);

/* Memory of the library's own that can be tracked; NULL: none to be had (then any memory will do).  Free forgets
 * what is known of it; false: it is none of these. */
void *sc_coherence_host_alloc(size_t bytes);
bool sc_coherence_host_free(void *memory);
/* The calling thread's stack has room for a call that goes to devices, and is its own (base/stack.h); and its process
 * has devices (sc_host_orphan). */
bool sc_coherence_stack_fits(void);
bool sc_coherence_is_tracked(const void *ptr, size_t bytes); /* it could be kept on devices */
bool sc_coherence_may_link(const void *ptr, size_t bytes);   /* so could it, or a copy that follows it */

/* Calls that have begun so far. */
uint64_t sc_coherence_calls(void);

/* What is known of an address, for reports; false: nothing.  Takes the lock shortly. */
struct sc_place {
    uint32_t matrix, tile;          /* their numbers in the trace */
    int64_t row, col, rows, cols;   /* of the tile, in the matrix */
    uint64_t devices;               /* one bit for each that has a valid copy of it */
};
bool sc_coherence_place(uintptr_t address, struct sc_place *out);
/* Verification mode: lines that say where an element is, and what was done to its tile lately. */
void sc_coherence_report_place(const char *what, uintptr_t address, int events);

/* Runs a kernel on host memory with the host BLAS, without the lock. */
enum sc_status sc_coherence_kernel_on_host(const struct sc_kernel *kernel);

/* The block of tracked memory that an address lies in; false: none.  For the trace. */
bool sc_coherence_block(const void *ptr, uintptr_t *base, size_t *bytes);

/* --- between begin and end ---------------------------------------------------------------------------------------- */

/* Tile boundaries inside the operand, relative to it.  Vectors have row cuts only (elements counted from the lowest
 * address).  merge adds b's positions to a. */
void sc_coherence_row_cuts(const struct sc_operand *operand, struct sc_cuts *cuts);
void sc_coherence_col_cuts(const struct sc_operand *operand, struct sc_cuts *cuts);
void sc_cuts_merge(struct sc_cuts *into, const struct sc_cuts *with);

/* Vector over a contiguous lattice with several tile rows (a large matrix used as one long vector): the same memory as
 * a rectangle of whole columns, so that it can be walked tile by tile.  False when the operand is not that: inc != 1,
 * not a whole number of columns, or a single row of tiles. */
bool sc_coherence_as_matrix(const struct sc_operand *vector, struct sc_operand *matrix);

/* The first rows x cols of an operand that is a matrix, as an operand of the same call. */
void sc_coherence_part(const struct sc_operand *operand, int64_t rows, int64_t cols, struct sc_operand *part);

/* Whether the host has all of a part of an operand's memory, so that reading and writing there moves nothing.  False
 * for operands outside the arena, of which the call has a copy. */
bool sc_coherence_on_host(const struct sc_operand *operand, const struct sc_view *part);

/* First column >= c (relative) at which a sector of the operand's tile starts, or `cols` when none does. */
int64_t sc_coherence_next_sector(const struct sc_operand *operand, int64_t c);

/* Elements of a sector of a contiguous vector of n elements: a device that writes a part of y should write whole ones.
 * */
int64_t sc_coherence_segment(int64_t n, enum sc_type type);

/* For a vector: how long the run of elements from `r` on (at most `limit`) is whose newest copies are on one device;
 * *device gets that device, or SC_HOST when only the host has it. */
int64_t sc_coherence_run(const struct sc_operand *vector, int64_t r, int64_t limit, int *device);

/* The device to run a kernel on that writes (or mostly reads) this piece: where most of it is valid, else the home that
 * the tile was given when the matrix was first seen. */
int sc_coherence_where(const struct sc_piece *piece);
/* The home device of a piece by distribution alone. */
int sc_coherence_home(const struct sc_piece *piece);
/* Bytes of the piece that are not valid on the device. */
uint64_t sc_coherence_missing(int device, const struct sc_piece *piece);
/* Nothing of it is missing there, nor on its way as far as the device's kernels have not waited for that yet. */
bool sc_coherence_ready(int device, const struct sc_piece *piece);

/* True when the piece is one contiguous range in a device's memory (so that n = rows * cols elements can be worked on
 * as a vector of increment 1). */
bool sc_coherence_contiguous(int device, const struct sc_piece *piece);

/* Starts moving a piece to a device without using it yet. */
enum sc_status sc_coherence_prefetch(int device, const struct sc_piece *piece);

/* This call's next tasks overwrite, on the device and without reading it, the part of the piece that lies in one
 * triangle of its operand (uplo; the diagonal included).  Brings the rest of the sectors that this part does not fill:
 * tasks that read and write (SC_RDWR) then find all there, and what they overwrite was not uploaded. */
enum sc_status sc_coherence_claim(int device, const struct sc_piece *piece, char uplo);

/* Runs one kernel on a device: acquires the pieces (slots a, b, c of the kernel; a piece with operand == NULL and
 * temporary == NULL is an unused slot), fills in their addresses and leading dimensions, launches, releases.  The sign
 * of a vector's increment is kept; a matrix piece in the place of a vector (sc_coherence_as_matrix) must be contiguous
 * and gets increment 1.  Returns when enqueued.  If the device fails or is full, the kernel runs on the host instead
 * (which can fail only with temporaries: SC_ERR_DEVICE).  Reductions: *result gets the slot to read after
 * sc_coherence_wait (fence). */
enum sc_status sc_coherence_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[3],
                                 struct sc_fence *fence, void **result);

/* Runs a kernel on the program's own memory with the host BLAS, once its views are home; the lock is dropped
 * meanwhile. */
enum sc_status sc_coherence_host_task(const struct sc_kernel *kernel, const struct sc_view *views, int count);

/* Device memory for partial results; freed by sc_coherence_temporary_free once everything enqueued is done. */
enum sc_status sc_coherence_temporary(int device, size_t bytes, void **memory);
void sc_coherence_temporary_free(int device, void *memory);
/* Copies `bytes` between temporaries of two devices, after the source's and before the destination's kernels. */
enum sc_status sc_coherence_temporary_copy(int to, void *dst, int from, const void *src, size_t bytes);
/* The same, but nothing waits for it until somebody says so: the destination's kernels, and the source's before it
 * writes or frees what is sent. */
enum sc_status sc_coherence_temporary_send(int to, void *dst, int from, const void *src, size_t bytes,
                                           struct sc_fence *sent);
enum sc_status sc_coherence_temporary_wait(int device, struct sc_fence sent);

/* --- semantic links: the same data in another form ---------------------------------------------------------------- */

/* Device memory whose contents are made from host arrays in a form of the caller's (a part of a sparse matrix, say).
 * The arrays stay what they are; the form is good as long as nobody has written them since it was made.
 *
 * The struct is the caller's, zeroed at first; the fields are read only.  `memory` turns NULL when the form was
 * evicted: it has to be made again.  All functions but send, read and discard are called between begin and end (of no
 * operands, if need be). */
struct sc_derived {
    void *memory;
    int device;
    size_t bytes;
    void *plan; /* the device's, for struct sc_csr */
    struct sc_fence ready, used; /* its last upload; the last kernel that read it */
    struct sc_lru lru; /* while there is memory: place among the derived copies of the device */
};

/* From now on a write to the vector (increment 1) by the CPU or a device is noted; of one that is staged in a mirror
 * what the CPU wrote is noted when the next call stages it.  Returns the time now, 0 when pages cannot be closed, or
 * when it is staged for this call only. */
uint64_t sc_coherence_derive(const struct sc_operand *vector);
/* Whether elements [first, first + n) may have been written since that time.  In the steady state: two comparisons. */
bool sc_coherence_changed(const struct sc_operand *vector, int64_t first, int64_t n, uint64_t since);
/* The same for elements [*first, *end), which become the first run of those that may have been written, if any were. */
bool sc_coherence_changed_run(const struct sc_operand *vector, uint64_t since, int64_t *first, int64_t *end);

enum sc_status sc_coherence_derived_make(struct sc_derived *form, int device, size_t bytes);
/* Without memory: that the derived copy was evicted is forgotten. */
void sc_coherence_derived_drop(struct sc_derived *form);
/* The same without the lock, also while devices are closed. */
void sc_coherence_derived_discard(struct sc_derived *form);
/* Nobody needs it soon: until it is used again it goes before everything else when memory is wanted. */
void sc_coherence_derived_spare(struct sc_derived *form);
void sc_coherence_derived_forget(struct sc_derived *form); /* its plan: values that a solve was analysed with change */
/* The byte range [at, ...) of the form := elements [first, first + n) of a linked vector, from the host or from where a
 * device has them. */
enum sc_status sc_coherence_derived_upload(struct sc_derived *form, size_t at, const struct sc_operand *vector,
                                           int64_t first, int64_t n);
/* Without the lock: [at, at + bytes) of the form := what fill writes, part by part, into buffers of the library's.
 * fill may touch user memory.  SC_ERR_DEVICE_MEMORY: evicted meanwhile. */
enum sc_status sc_coherence_derived_send(struct sc_derived *form, size_t at, size_t bytes,
                                         void (*fill)(void *context, size_t from, size_t bytes,
                                                      void *buffer), void *context);

/* Devices can convert at all. */
bool sc_coherence_converts(void);
/* The form's contents := the CSR that its device makes of what it has in the form `source`, which may be dropped then.
 * The conversion's addresses are in these two.  Anything but SC_OK: the form has no contents. */
enum sc_status sc_coherence_derived_convert(struct sc_derived *form, struct sc_derived *source,
                                            const struct sc_csr_conversion *conversion);
/* Without the lock: *to := at most 16 bytes of the form, when they are there.  SC_ERR_DEVICE_MEMORY: evicted. */
enum sc_status sc_coherence_derived_read(struct sc_derived *form, size_t at, void *to, size_t bytes);

/* Runs a sparse kernel on the form's device; a and csr are addresses in the form.  x: the parts of one operand that the
 * kernel reads, in one tile; kernel->b gets the address of the operand's element 0.  A part that only another device
 * has is copied without the rest of its sectors.  y: a piece; for a vector a piece of a matrix's column does.  Each may
 * be a temporary instead (parts = 1).  Not done on the host when it fails: SC_ERR_DEVICE, SC_ERR_DEVICE_MEMORY; then
 * nothing has been written. */
enum sc_status sc_coherence_derived_task(struct sc_derived *form, struct sc_kernel *kernel, const struct sc_piece *x,
                                         int parts,
                                         const struct sc_piece *y);

/* A product of two sparse matrices whose forms are on one device, into temporaries there: positions, columns, values,
 * the last two NULL where there are none.  The product's addresses are in the forms; its nonzeros are set.  The caller
 * frees the temporaries.  Waits for the device, with the lock: only it can say how large the product is.  Anything but
 * SC_OK: there is nothing. */
struct sc_product_arrays {
    void *rows, *columns, *values;
};
enum sc_status sc_coherence_derived_multiply(struct sc_derived *a, struct sc_derived *b, struct sc_csr_product *product,
                                             struct sc_product_arrays *out);
void sc_coherence_product_free(int device, const struct sc_product_arrays *arrays); /* as temporary_free */

/* --- without the lock --------------------------------------------------------------------------------------------- */

enum sc_status sc_coherence_wait(struct sc_fence fence);

/* Brings bytes home and opens their pages for the access; untracked memory is left alone.  For host BLAS calls on large
 * operands, I/O, the public API. */
void sc_coherence_acquire_host(uintptr_t addr, size_t bytes, enum sc_access access);
/* The rows x cols view likewise, without the rows in between. */
void sc_coherence_acquire_view(const struct sc_view *view);
/* Drops entries without writing back (the memory goes away). */
void sc_coherence_forget(uintptr_t addr, size_t bytes);
/* Device copies are dropped after the host has been made valid. */
void sc_coherence_release_range(uintptr_t addr, size_t bytes);
void sc_coherence_home_all(void);
/* Pins the block that an address lies in, for a program that hands it to devices itself (which read and write it
 * whatever its pages' protection: acquire it first).  SC_ERR_UNSUPPORTED: it is in none. */
enum sc_status sc_coherence_pin(const void *ptr);
/* Around a fork.  prepare: everything home and readable; other threads cannot offload until parent.  child: the devices
 * are the parent's, all memory is readable and writable. */
void sc_coherence_fork_prepare(void);
void sc_coherence_fork_parent(void);
void sc_coherence_fork_child(void);

#endif
