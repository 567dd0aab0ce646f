/* Declarations shared by the files of sparse/.  From the program's arrays to a product on devices:
 *
 *   matrix.c   handles;
 *   check.c    checks of the arrays;
 *   convert.c  arrays of any format to CSR, for the use of a call (transposed, a triangle, both triangles);
 *   convert_device.c  the same on the devices;
 *   split.c    CSR divided into parts for the devices, and the columns of x needed by every part;
 *   parts.c    derived copies of the parts, made when missing;
 *   renew.c    derived copies renewed after writes to the arrays, and copies of small arrays;
 *   product.c  a call on the parts;
 *   host.c     a call on the host;
 *   result.c, multiply.c  matrices computed from others;
 *   element.c  single values of the program's arrays.
 *
 * Locks: a matrix's own, then the protocol's (inside sc_coherence_begin).  User memory is accessed with at most the
 * matrix's lock held. */
#ifndef SC_SPARSE_SPARSE_INT_H
#define SC_SPARSE_SPARSE_INT_H

#include <complex.h>
#include <pthread.h>

#include "autotuner/autotuner.h"
#include "base/inside.h"
#include "base/log.h"
#include "coherence/derived.h"
#include "sparse/sparse.h"

/* CSR on the host, the source of derived copies. */
struct sc_sparse_csr {
    enum sc_type type;
    int index_bytes, base;
    int64_t rows, cols;
    const void *start, *index, *values; /* rows + 1 row starts, columns, values; row 0 starts at entry start[0] -
                                         * base */
    bool borrowed;                      /* the arrays are the program's arrays */
};

/* Arrays on devices begin at multiples of this size. */
static inline size_t sc_sparse_aligned(size_t n)
{
    return (n + 255) & ~(size_t)255;
}

static inline int64_t sc_sparse_at(const void *integers, int bytes, int64_t i)
{
    return bytes == 4 ? ((const int32_t *)integers)[i] : ((const int64_t *)integers)[i];
}
/* Index of a row's first entry, counted from 0. */
static inline int64_t sc_sparse_first(const struct sc_sparse_csr *a, int64_t row)
{
    return sc_sparse_at(a->start, a->index_bytes, row) - a->base;
}

/* Lines are contiguous: `end` is `start` from its second element on. */
static inline bool sc_sparse_is_packed(const struct sc_sparse_arrays *a)
{
    return a->end == (const char *)a->start + a->index_bytes;
}

/* How a call uses the stored entries: the key of a variant. */
struct sc_sparse_use {
    char trans;
    struct sc_sparse_descr descr;
    bool solve; /* sorted, without duplicates, with an explicit diagonal */
    bool whole; /* a single part, counted from 0, for products of two sparse matrices */
};
/* Whether the arrays are used unchanged. */
bool sc_sparse_use_is_plain(const struct sc_sparse_arrays *arrays, const struct sc_sparse_use *use);

struct sc_sparse_range {
    int64_t first, end;
};

static const struct sc_sparse_range sc_sparse_no_range = {INT64_MAX, INT64_MIN};

static inline void sc_sparse_widen(struct sc_sparse_range *r, int64_t at)
{
    r->first = at < r->first ? at : r->first;
    r->end = at >= r->end ? at + 1 : r->end;
}

/* Rows [row, row + rows) and entries [first, first + entries) of the variant's CSR, on one device. */
struct sc_sparse_part {
    int device; /* computes the part */
    int owner;  /* writes the sectors of y with these rows */
    int64_t row, rows, first, entries;
    int64_t room; /* capacity for entries in the derived copy; `entries` may be less after duplicates are summed */
    struct sc_sparse_range *x; /* needed columns, ascending and disjoint */
    int ranges;
    /* Positions of the stored entries from which the device makes the part (diagonals: rows). */
    struct sc_sparse_range source;
    /* Derived copy: rows + 1 positions from 0, columns (base as given), values; every array starts at a multiple of 256
     * bytes. */
    struct sc_derived form;
    /* Derived copy of the source arrays of the conversion, kept until the memory is needed. */
    struct sc_derived staged;
    uint64_t made; /* link time of the values, in `form` or staged */
    /* Rows with values written since `made`.  Empty for borrowed arrays. */
    struct sc_sparse_range stale;
};

/* Whether the derived copy is present and has no stale rows. */
static inline bool sc_sparse_is_made(const struct sc_sparse_part *p)
{
    return p->form.memory && p->stale.first >= p->stale.end;
}

/* A matrix in one use. */
struct sc_sparse_variant {
    struct sc_sparse_use use;
    /* Borrowed or own arrays; own arrays are kept only while parts are being made. */
    struct sc_sparse_csr csr;
    bool analysed;
    /* The parts' devices make the parts from the program's arrays. */
    bool converted;
    /* Copy of the diagonals' offsets at the analysis.  Offsets are too few to be tracked, and are compared. */
    void *offsets;
    int index_bytes;          /* of the derived copies */
    int64_t longest;          /* entries of the longest row; 0: none */
    uint64_t seen;            /* link time of the analysis */
    int64_t columns;          /* of the dense operands of the first product: 1 for vectors */
    int devices;              /* devices with parts */
    struct sc_sparse_part *part;
    int parts;
    int *order;               /* order of execution of the parts */
    int64_t entries;
    uint64_t last_use;
};

#define SC_SPARSE_VARIANTS 4

struct sc_sparse_matrix {
    pthread_mutex_t lock;
    unsigned users;  /* atomic */
    bool owned;      /* the arrays are copies */
    /* Writes to the arrays are announced, as sparse.h describes. */
    bool is_private;
    /* Last CSR made by the host, or none, and its use. */
    struct sc_sparse_csr host;
    struct sc_sparse_use host_use;
    struct sc_sparse_arrays arrays;
    /* Copies of arrays that are too small to be tracked, in the order of sc_sparse_views; NULL: no copy. */
    struct {
        void *memory;
        size_t bytes;
    } small[4];
    /* Number of further calls during which the arrays count as untracked. */
    int untracked;
    /* `first` and `end` are valid (for the program's arrays: as of the last analysis). */
    bool measured;
    int64_t first, end; /* range of used positions in index and values */
    /* Account of the matrix; its derived copies are never written back. */
    struct sc_autotuner_account account;
    /* Rows of the longest chain of solves with the lower and the upper triangle; 0: not known. */
    int64_t chain[2];
    struct sc_sparse_variant variant[SC_SPARSE_VARIANTS];
    int variants;
    uint64_t tick;
    struct sc_sparse_matrix *next; /* next in the list of sc_sparse_find */
};

/* --- arrays (matrix.c, check.c) ----------------------------------------------------------------------------------- */

/* The number of lines (rows, columns, rows of blocks) with a start. */
int64_t sc_sparse_lines(const struct sc_sparse_arrays *a);
/* Sets [*first, *end) to the range of used positions in index and values.  Reads `start` and `end`. */
void sc_sparse_extent(const struct sc_sparse_arrays *a, int64_t *first, int64_t *end);
/* Fills `views` with the matrix's three arrays, as vectors to read; returns their number.  `start` and `end` share a
 * view if possible.  The offsets of diagonals have no view.  Small arrays are represented by their copies. */
int sc_sparse_views(const struct sc_sparse_matrix *m, struct sc_view views[4]);
int sc_sparse_program_views(const struct sc_sparse_matrix *m, struct sc_view views[4]); /* of the program's arrays */
/* Checks the arrays.  SC_ERR_INVALID after a line with the cause. */
enum sc_status sc_sparse_check_arrays(const struct sc_sparse_arrays *a, int64_t *entries);
/* Checks the arrays, unless they are copies already checked (matrix->measured), and sets first and end. */
enum sc_status sc_sparse_measure(struct sc_sparse_matrix *matrix);
/* Allocates library memory, which can be tracked; falls back to memory of libc. */
void *sc_sparse_alloc(size_t bytes);
void sc_sparse_free(void *memory);

/* --- convert.c ---------------------------------------------------------------------------------------------------- */

/* Converts checked arrays to CSR: borrowed if the use is plain, else new. */
enum sc_status sc_sparse_make_csr(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                                  struct sc_sparse_csr *out);
/* Computes only the row starts of the CSR. */
enum sc_status sc_sparse_count_csr(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                                   struct sc_sparse_csr *out);
/* Visits every entry of the CSR for a use, in the order of the entries of a row.  at: position of the stored entry
 * (diagonals:  its row); -1: a one of the unit diagonal.  only: restricts the walk to elements of `values`, and to
 * blocks with such elements; ones are then not visited. */
typedef void sc_sparse_visit(void *context, int64_t row, int64_t col, int64_t at);
void sc_sparse_walk(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                    const struct sc_sparse_range *only, sc_sparse_visit *visit, void *context);
/* Narrows 64-bit integers to 32 bits, in place and if possible.  Own arrays only. */
void sc_sparse_narrow(struct sc_sparse_csr *csr);
void sc_sparse_free_csr(struct sc_sparse_csr *csr); /* own arrays only */

/* --- result.c, multiply.c ----------------------------------------------------------------------------------------- */

/* Creates a handle that owns the arrays of a CSR.  Converts integers to this width; 64 bits stay if necessary.  Frees
 * the arrays on failure. */
enum sc_status sc_sparse_adopt(struct sc_sparse_matrix **out, struct sc_sparse_csr *csr, int index_bytes);
/* Changes the width of integers; 64 bits stay if necessary.  Own arrays only.  False: no memory. */
bool sc_sparse_set_width(struct sc_sparse_csr *csr, int index_bytes);
int sc_sparse_wider(const struct sc_sparse_matrix *a, const struct sc_sparse_matrix *b); /* wider width of integers */
/* op(A), sorted, without duplicates, in own arrays counted from 0. */
enum sc_status sc_sparse_sorted_csr(struct sc_sparse_matrix *matrix, char trans, struct sc_sparse_csr *out);
double complex sc_sparse_value(const struct sc_sparse_csr *a, int64_t e);
void sc_sparse_put_value(enum sc_type type, void *values, int64_t e, double complex value);

/* multiply_device.c: *out := op(A) op(B) on one device.  The result's arrays count from 0 and are valid on the device
 * only.  The matrices are locked.  Any status except SC_OK: nothing has been done. */
struct sc_sparse_factor {
    struct sc_sparse_matrix *matrix;
    char trans;
};
enum sc_status sc_sparse_multiply_on_device(const struct sc_sparse_factor factor[2], struct sc_sparse_csr *out);

/* --- split.c ------------------------------------------------------------------------------------------------------ */

/* Divides the CSR into parts, still without memory.  `arrays` is the source of a CSR that has row starts only. */
enum sc_status sc_sparse_split(struct sc_sparse_variant *variant, const struct sc_sparse_arrays *arrays, int devices);
/* The part with this row, with `near` as the first guess; an arbitrary part if no part has the row. */
int sc_sparse_part_of(const struct sc_sparse_variant *variant, int64_t row, int near);

/* --- convert_device.c --------------------------------------------------------------------------------------------- */

/* Whether devices can convert the arrays for this use. */
bool sc_sparse_can_convert(const struct sc_sparse_matrix *matrix, const struct sc_sparse_use *use);
/* After the division into parts: whether devices should convert. */
bool sc_sparse_should_convert(const struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant);
/* Offsets of the arrays in a part's derived copy. */
struct sc_sparse_layout {
    size_t columns, values, bytes; /* row starts are at 0 */
};
/* Makes a part on its device from the arrays; source arrays still staged on the device are not sent again.  Without the
 * protocol's lock.  SC_ERR_UNSUPPORTED, SC_ERR_DEVICE_MEMORY: the host may convert. */
enum sc_status sc_sparse_convert_part(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant,
                                      struct sc_sparse_part *part, const struct sc_sparse_layout *layout);

/* --- parts.c ------------------------------------------------------------------------------------------------------ */

/* The variant for a use; a new variant may replace the least recently used. */
struct sc_sparse_variant *sc_sparse_variant_for(struct sc_sparse_matrix *matrix, const struct sc_sparse_use *use);
void sc_sparse_variant_drop(struct sc_sparse_variant *variant); /* without the protocol's lock */

/* Whether the offsets of diagonals are those of the analysis; true for other formats.  Without the protocol's lock. */
bool sc_sparse_same_offsets(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant);
/* Whether the matrix was a square diagonal matrix at the analysis. */
bool sc_sparse_is_diagonal(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant);
/* Checks the arrays and divides them into parts anew.  Without the protocol's lock. */
enum sc_status sc_sparse_analyse(struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant);
/* Links the arrays; *now is the link time.  With the protocol's lock. */
enum sc_status sc_sparse_link(const struct sc_operand *source, int sources, uint64_t *now);
/* Makes the part's derived copy, or its stale rows.  Without the protocol's lock. */
enum sc_status sc_sparse_make_part(struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant,
                                   struct sc_sparse_part *part);
/* Begins a call on the arrays (source[0..*sources)), links the part to them, and allocates its derived copy if
 * necessary.  *sources < 0: not begun; else the caller ends the call, also after an error.  Called without the
 * protocol's lock. */
enum sc_status sc_sparse_begin_part(const struct sc_sparse_matrix *matrix, struct sc_sparse_part *part, size_t bytes,
                                    struct sc_operand source[4], int *sources);
/* The offsets of the arrays in the part's derived copy. */
struct sc_sparse_layout sc_sparse_layout_of(const struct sc_sparse_variant *variant, const struct sc_sparse_part *part);
/* Sets the kernel's operand A to the part's arrays on the device. */
void sc_sparse_part_kernel(const struct sc_sparse_variant *variant, const struct sc_sparse_part *part,
                           struct sc_kernel *kernel);

/* --- renew.c ------------------------------------------------------------------------------------------------------ */

/* Whether the parts (with or without memory, stale or not) belong to the present arrays.  Values of borrowed arrays are
 * the concern of sc_sparse_refresh.  source: the operands of sc_sparse_views.  With the protocol's lock. */
bool sc_sparse_is_current(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant,
                          const struct sc_operand *source, int sources);
/* Copies the arrays that are too small to be tracked, after sc_sparse_measure.  Without the protocol's lock. */
enum sc_status sc_sparse_small_copy(struct sc_sparse_matrix *matrix);
/* Before a call on devices: writes the program's changes into these copies.  Without the protocol's lock. */
void sc_sparse_small_update(struct sc_sparse_matrix *matrix);
/* Makes the variant current.  If only values were written, the parts with these values become stale; else the matrix is
 * analysed again.  Without the protocol's lock. */
enum sc_status sc_sparse_renew(struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant);
/* Uploads again the written borrowed values of a part.  With the protocol's lock. */
enum sc_status sc_sparse_refresh(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant,
                                 struct sc_sparse_part *part, const struct sc_operand *source);
/* Uploads the elements of `within` written since time `since` to the derived copy, where `within` starts at byte `at`.
 * With the protocol's lock. */
enum sc_status sc_sparse_upload_written(struct sc_derived *form, size_t at, const struct sc_operand *values,
                                        struct sc_sparse_range within, uint64_t since);

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* A product or a solve: op is CSRMV, CSRMM, CSRSV or CSRSM; columns: of the dense operands. */
struct sc_sparse_call {
    struct sc_sparse_matrix *matrix;
    struct sc_sparse_use use;
    enum sc_op op;
    bool by_rows;
    bool offered; /* a call that is decided for the host is left to the caller */
    int64_t outputs, inputs, columns;
    double alpha[2], beta[2];
    const void *x;
    void *y;
    int64_t ldx, ldy; /* leading dimensions or signed increments */
};
/* call.c: whether the devices are open, for a call with this host time.  Opens the devices if necessary. */
bool sc_sparse_opened(double host_seconds);
/* Checks the letters, and gives letters without effect a common value. */
enum sc_status sc_sparse_make_use(struct sc_sparse_use *use, const struct sc_sparse_matrix *matrix, char trans,
                                  const struct sc_sparse_descr *descr, bool solve);
/* product.c: runs a call on the devices; the matrix is locked.  Any status except SC_OK: nothing has been written. */
enum sc_status sc_sparse_on_devices(const struct sc_sparse_call *call);
/* Before calls for the columns of y: the columns overwrite y as a whole, unless the call reads y. */
void sc_sparse_claim_matrix(const struct sc_sparse_call *call);
/* chain.c: notes the chain of the CSR for a use, if that is a solve. */
void sc_sparse_chain_of(struct sc_sparse_matrix *matrix, const struct sc_sparse_use *use,
                        const struct sc_sparse_csr *csr);
void sc_sparse_chain_forget(struct sc_sparse_matrix *matrix); /* after a change of the structure */
/* host.c */
enum sc_status sc_sparse_on_host(const struct sc_sparse_call *call);
void sc_sparse_acquire_dense(const struct sc_sparse_call *call); /* fetches x, and y for writing */
void sc_sparse_bring_home(const struct sc_sparse_matrix *matrix); /* fetches the matrix's arrays */
/* The view of a vector of n elements, or of a matrix of n rows; a matrix stored by rows is passed transposed. */
struct sc_view sc_sparse_dense_view(const struct sc_sparse_call *call, const void *ptr, int64_t n, int64_t ld,
                                    enum sc_access access);
/* Computes rows [row, row + rows) of the result from the CSR for the call's matrix and use. */
enum sc_status sc_sparse_csr_on_host(const struct sc_sparse_call *call, const struct sc_sparse_csr *csr, int64_t row,
                                     int64_t rows);
/* verify.c: runs a call on the devices and compares the result with the host's; the matrix is locked. */
enum sc_status sc_sparse_run_verified(const struct sc_sparse_call *call,
                                      enum sc_status (*run)(const struct sc_sparse_call *));
/* Computes rows [row, row + rows) of the result on the host, for a part that a device could not run. */
enum sc_status sc_sparse_rows_on_host(const struct sc_sparse_call *call, int64_t row, int64_t rows);

/* --- vectors.c: with the protocol's lock -------------------------------------------------------------------------- */

/* Elements [first, first + n) in the order of the operation, for an increment of either sign. */
struct sc_piece sc_sparse_piece(const struct sc_operand *vector, int64_t first, int64_t n, enum sc_access access);
/* Whether kernels can use the operand in place: in one tile, and for vectors with increment 1. */
bool sc_sparse_is_direct(const struct sc_operand *vector);
/* Whether a matrix by rows is cut between its rows only. */
bool sc_sparse_is_in_strips(const struct sc_operand *matrix);
/* Whether elements [first, first + n) lie in one tile: of a matrix by rows, or of a column of a matrix, where the tile
 * is valid on the device. */
bool sc_sparse_is_at(const struct sc_operand *column, int64_t first, int64_t n, int device);
/* Transfers under way from temporaries of other devices. */
struct sc_sparse_sends {
    int count, room;
    struct sc_sparse_send *send;
};
/* Copies elements [first, first + n) to a temporary on the device: of a vector, of a column of a matrix, or of a matrix
 * by rows, whose elements are rows of the program's matrix and contiguous in the temporary. */
enum sc_status sc_sparse_gather(const struct sc_operand *vector, int64_t first, int64_t n, int device, void *temporary,
                                struct sc_sparse_sends *sends);
/* Follows every sc_sparse_gather, failed ones too, before the device's kernel reads the temporary.  Kernels that the
 * device enqueues between the two do not wait for other devices. */
enum sc_status sc_sparse_gathered(int device, struct sc_sparse_sends *sends);
/* y[first, first + n) := temporary + beta y, on device `owner` (< 0: where y is); beta = 0 for a matrix by rows.  On
 * failure *done elements have been written. */
enum sc_status sc_sparse_put(const struct sc_operand *y, int64_t first, int64_t n, int owner, int device,
                             void *temporary, const double beta[2], int64_t *done);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
