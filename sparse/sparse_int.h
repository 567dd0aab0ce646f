/* What the files of sparse/ share.  From the program's arrays to a product on devices:
 *
 *   matrix.c   handles; check.c  what is in the arrays
 *   convert.c  arrays of any format, and what a call makes of them (transposed, a triangle, both triangles), to CSR;
 *   convert_device.c  the same on the devices
 *   split.c    CSR cut into parts for the devices, and what each needs of x
 *   parts.c    the parts' memory on devices, made when it is missing
 *   renew.c    and renewed as the arrays change
 *   product.c  a call on the parts; host.c  on the host
 *   result.c, multiply.c  matrices that come out of others; element.c  single values of the program's arrays
 *
 * Locks: a matrix's own, then the protocol's (inside sc_coherence_begin).  User memory is touched with the first only.
 * */
#ifndef SC_SPARSE_SPARSE_INT_H
#define SC_SPARSE_SPARSE_INT_H

#include <complex.h>
#include <pthread.h>

#include "autotuner/autotuner.h"
#include "base/inside.h"
#include "base/log.h"
#include "coherence/coherence.h"
#include "sparse/sparse.h"

/* CSR on the host: what devices get. */
struct sc_sparse_csr {
    enum sc_type type;
    int index_bytes, base;
    int64_t rows, cols;
    const void *start, *index, *values; /* rows + 1 positions; the entries of row 0 begin at start[0] - base */
    bool borrowed;                      /* the arrays of the matrix itself */
};

/* Arrays on devices begin at multiples of this. */
static inline size_t sc_sparse_aligned(size_t n)
{
    return (n + 255) & ~(size_t)255;
}

static inline int64_t sc_sparse_at(const void *integers, int bytes, int64_t i)
{
    return bytes == 4 ? ((const int32_t *)integers)[i] : ((const int64_t *)integers)[i];
}
/* First entry of a row, counted from 0. */
static inline int64_t sc_sparse_first(const struct sc_sparse_csr *a, int64_t row)
{
    return sc_sparse_at(a->start, a->index_bytes, row) - a->base;
}

/* Lines follow one another: `end` is `start` from its second element on. */
static inline bool sc_sparse_is_packed(const struct sc_sparse_arrays *a)
{
    return a->end == (const char *)a->start + a->index_bytes;
}

/* What a call makes of the stored entries: the key of a variant. */
struct sc_sparse_use {
    char trans;
    struct sc_sparse_descr descr;
    bool solve; /* sorted, without duplicates, the diagonal explicit */
    bool whole; /* one part, counted from 0, for products of two sparse matrices */
};
/* nothing at all */
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

/* Rows [row, row + rows), entries [first, first + entries) of the variant's CSR. */
struct sc_sparse_part {
    int device; /* computes it */
    int owner;  /* of the sectors of y that it lies in */
    int64_t row, rows, first, entries;
    int64_t room; /* for entries, in the form: those of one place may have been summed there */
    struct sc_sparse_range *x; /* columns that occur, ascending and apart */
    int ranges;
    struct sc_sparse_range source; /* positions of the stored entries that it is converted from (of diagonals: rows) */
    /* [rows + 1 positions from 0][columns, base as given][values], each from a multiple of 256 bytes */
    struct sc_derived form;
    struct sc_derived staged; /* the arrays that it was converted from, while the device has nothing better to keep */
    uint64_t made; /* the link's time of its values: those in the form, or staged */
    struct sc_sparse_range stale; /* rows of it of which values were written since; of borrowed arrays: none */
};

/* It can be used as it is. */
static inline bool sc_sparse_is_made(const struct sc_sparse_part *p)
{
    return p->form.memory && p->stale.first >= p->stale.end;
}

/* A matrix as one kind of call uses it. */
struct sc_sparse_variant {
    struct sc_sparse_use use;
    struct sc_sparse_csr csr; /* borrowed, or own arrays; those are kept only while parts are being made */
    bool analysed;
    bool converted;           /* the parts are made by their devices from the program's arrays */
    void *offsets;            /* of the diagonals that it was made from: too few to be tracked, they are compared */
    int index_bytes;          /* of the parts on devices */
    uint64_t seen;            /* the link's time when the arrays were analysed */
    int devices;              /* that it is spread over */
    struct sc_sparse_part *part;
    int parts;
    int *order;               /* in which they run */
    int64_t entries;
    uint64_t last_use;
};

#define SC_SPARSE_VARIANTS 4

struct sc_sparse_matrix {
    pthread_mutex_t lock;
    unsigned users;  /* atomic */
    bool owned;      /* the arrays are copies */
    bool is_private; /* and change as sparse.h says: */
    struct sc_sparse_csr host; /* what the host made of them last, if anything */
    struct sc_sparse_use host_use;
    struct sc_sparse_arrays arrays;
    int untracked;  /* so many calls more it is taken for granted that writes to the arrays cannot be noticed */
    bool measured;  /* the next two are known (of the program's arrays: since they were analysed last) */
    int64_t first, end; /* positions in index and values that are used */
    struct sc_autotuner_account account; /* of the matrix, whose parts never come home */
    struct sc_sparse_variant variant[SC_SPARSE_VARIANTS];
    int variants;
    uint64_t tick;
    struct sc_sparse_matrix *next; /* of those that sc_sparse_find keeps */
};

/* --- arrays (matrix.c, check.c) ----------------------------------------------------------------------------------- */

/* Lines (rows, columns, rows of blocks) that have a start. */
int64_t sc_sparse_lines(const struct sc_sparse_arrays *a);
/* The positions in index and values that are used: [*first, *end).  Reads `start` and `end`. */
void sc_sparse_extent(const struct sc_sparse_arrays *a, int64_t *first, int64_t *end);
/* The three arrays as vectors that are read; their number.  `start` and `end` share one when they can; the few offsets
 * of diagonals are none of them. */
int sc_sparse_views(const struct sc_sparse_matrix *m, struct sc_view views[4]);
/* SC_ERR_INVALID with a line that says what is wrong. */
enum sc_status sc_sparse_check_arrays(const struct sc_sparse_arrays *a, int64_t *entries);
/* Looks at the arrays, unless they are ours and were looked at (matrix->measured), and finds first and end. */
enum sc_status sc_sparse_measure(struct sc_sparse_matrix *matrix);
/* Memory that can be tracked if there is any. */
void *sc_sparse_alloc(size_t bytes);
void *sc_sparse_grow(void *memory, size_t used, size_t bytes); /* NULL: as it was */
void sc_sparse_free(void *memory);

/* --- convert.c ---------------------------------------------------------------------------------------------------- */

/* Arrays that have been checked, as CSR: borrowed where the use is plain, else new. */
enum sc_status sc_sparse_make_csr(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                                  struct sc_sparse_csr *out);
/* Where its rows start, and nothing else. */
enum sc_status sc_sparse_count_csr(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                                   struct sc_sparse_csr *out);
/* Tells of each entry that the CSR would have, in the order of its rows' entries.  at: the position of the stored one
 * (of diagonals: its row); -1: none, a one of the diagonal.  only: elements of `values`; if not NULL nothing is told of
 * the others (but those of the same block), and of ones. */
typedef void sc_sparse_visit(void *context, int64_t row, int64_t col, int64_t at);
void sc_sparse_walk(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                    const struct sc_sparse_range *only, sc_sparse_visit *visit, void *context);
/* Its own arrays of 64-bit integers to 32 bits, in place, if these are enough. */
void sc_sparse_narrow(struct sc_sparse_csr *csr);
void sc_sparse_free_csr(struct sc_sparse_csr *csr); /* its own arrays */

/* --- result.c, multiply.c ----------------------------------------------------------------------------------------- */

/* A handle that owns the arrays of a CSR, with integers of this width (64 bits where 32 do not suffice); they are freed
 * when there is none to be had. */
enum sc_status sc_sparse_adopt(struct sc_sparse_matrix **out, struct sc_sparse_csr *csr, int index_bytes);
/* Its own arrays; 64-bit integers stay so where they have to.  False: no memory. */
bool sc_sparse_set_width(struct sc_sparse_csr *csr, int index_bytes);
int sc_sparse_wider(const struct sc_sparse_matrix *a, const struct sc_sparse_matrix *b); /* of their integers */
/* op(A), sorted, without duplicates, arrays of its own; counted from 0. */
enum sc_status sc_sparse_sorted_csr(struct sc_sparse_matrix *matrix, char trans, struct sc_sparse_csr *out);
double complex sc_sparse_value(const struct sc_sparse_csr *a, int64_t e);
void sc_sparse_put_value(enum sc_type type, void *values, int64_t e, double complex value);

/* multiply_device.c: op(A) op(B) on one device; the result's arrays, counted from 0, are left there.  The matrices are
 * locked.  Anything but SC_OK: nothing has been done. */
struct sc_sparse_factor {
    struct sc_sparse_matrix *matrix;
    char trans;
};
enum sc_status sc_sparse_multiply_on_device(const struct sc_sparse_factor factor[2], struct sc_sparse_csr *out);

/* --- split.c ------------------------------------------------------------------------------------------------------ */

/* Cuts the CSR into parts (none of which has memory yet).  If it has its rows' starts only, `arrays` are what it is of.
 * */
enum sc_status sc_sparse_split(struct sc_sparse_variant *variant, const struct sc_sparse_arrays *arrays, int devices);
/* The part that has the row, looked for at `near` first; some part, if there is none. */
int sc_sparse_part_of(const struct sc_sparse_variant *variant, int64_t row, int near);

/* --- convert_device.c --------------------------------------------------------------------------------------------- */

/* Whether devices can make this use of the matrix from its arrays. */
bool sc_sparse_can_convert(const struct sc_sparse_matrix *matrix, const struct sc_sparse_use *use);
/* When it has been cut: whether they should. */
bool sc_sparse_should_convert(const struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant);
/* The part's arrays as they are in its form. */
struct sc_sparse_layout {
    size_t columns, values, bytes; /* positions are at 0 */
};
/* Without the protocol's lock: a part's memory and contents, from the arrays on its device; what that still has of them
 * does not go there again.  SC_ERR_UNSUPPORTED, SC_ERR_DEVICE_MEMORY: the host may try. */
enum sc_status sc_sparse_convert_part(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant,
                                      struct sc_sparse_part *part, const struct sc_sparse_layout *layout);

/* --- parts.c ------------------------------------------------------------------------------------------------------ */

/* The variant for a use, made if need be by dropping another. */
struct sc_sparse_variant *sc_sparse_variant_for(struct sc_sparse_matrix *matrix, const struct sc_sparse_use *use);
void sc_sparse_variant_drop(struct sc_sparse_variant *variant); /* without the protocol's lock */

/* Without the protocol's lock: the diagonals are where they were when it was analysed; true for other formats. */
bool sc_sparse_same_offsets(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant);
/* Without it: looks at the arrays and cuts them into parts anew. */
enum sc_status sc_sparse_analyse(struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant);
/* With it: links the arrays; *now: the time. */
enum sc_status sc_sparse_link(const struct sc_operand *source, int sources, uint64_t *now);
/* Without it: gives a part its memory and contents, or those that are stale. */
enum sc_status sc_sparse_make_part(struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant,
                                   struct sc_sparse_part *part);
/* Without it: begins a call on the arrays (source, *sources of them), ties the part to them and gives it memory if it
 * has none.  *sources < 0: it has not begun; else the caller ends it, after an error too. */
enum sc_status sc_sparse_begin_part(const struct sc_sparse_matrix *matrix, struct sc_sparse_part *part, size_t bytes,
                                    struct sc_operand source[4], int *sources);
/* The part's arrays as they are in its form. */
struct sc_sparse_layout sc_sparse_layout_of(const struct sc_sparse_variant *variant, const struct sc_sparse_part *part);
/* The part's arrays on the device, for a kernel. */
void sc_sparse_part_kernel(const struct sc_sparse_variant *variant, const struct sc_sparse_part *part,
                           struct sc_kernel *kernel);

/* --- renew.c ------------------------------------------------------------------------------------------------------ */

/* With the protocol's lock; source: the operands of sc_sparse_views.  Whether the parts (with memory or without, stale
 * or not) are those of the arrays as they are now.  Values of borrowed arrays do not count: see refresh. */
bool sc_sparse_is_current(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant,
                          const struct sc_operand *source, int sources);
/* Without it: makes it current.  Where nothing but values was written, the parts that have them become stale; else it
 * is analysed. */
enum sc_status sc_sparse_renew(struct sc_sparse_matrix *matrix, struct sc_sparse_variant *variant);
/* With it: what has been written of a part's borrowed values since is uploaded again. */
enum sc_status sc_sparse_refresh(const struct sc_sparse_matrix *matrix, const struct sc_sparse_variant *variant,
                                 struct sc_sparse_part *part, const struct sc_operand *source);
/* With it: what has been written of these elements of the operand since goes to its place in the form, which they have
 * from the byte `at` on. */
enum sc_status sc_sparse_upload_written(struct sc_derived *form, size_t at, const struct sc_operand *values,
                                        struct sc_sparse_range within, uint64_t since);

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* A product or a solve: op is CSRMV, CSRMM, CSRSV or CSRSM; k: columns of the dense operands. */
struct sc_sparse_call {
    struct sc_sparse_matrix *matrix;
    struct sc_sparse_use use;
    enum sc_op op;
    bool by_rows;
    int64_t outputs, inputs, columns;
    double alpha[2], beta[2];
    const void *x;
    void *y;
    int64_t ldx, ldy; /* leading dimensions or signed increments */
};
/* call.c: devices are there, for a call that takes the host so many seconds.  Opens them if need be. */
bool sc_sparse_opened(double host_seconds);
/* Checked, and letters that make no difference made equal. */
enum sc_status sc_sparse_make_use(struct sc_sparse_use *use, const struct sc_sparse_matrix *matrix, char trans,
                                  const struct sc_sparse_descr *descr, bool solve);
/* product.c; the matrix is locked.  Anything but SC_OK: nothing has been written. */
enum sc_status sc_sparse_on_devices(const struct sc_sparse_call *call);
/* host.c */
enum sc_status sc_sparse_on_host(const struct sc_sparse_call *call);
void sc_sparse_bring_home(const struct sc_sparse_matrix *matrix); /* its arrays, before they are read */
/* A vector of n elements; a matrix of n rows, which the directory sees transposed when it is stored by rows. */
struct sc_view sc_sparse_dense_view(const struct sc_sparse_call *call, const void *ptr, int64_t n, int64_t ld,
                                    enum sc_access access);
/* Rows [row, row + rows) of the result, by the CSR that the call's matrix and use make. */
enum sc_status sc_sparse_csr_on_host(const struct sc_sparse_call *call, const struct sc_sparse_csr *csr, int64_t row,
                                     int64_t rows);
/* verify.c: runs a call on the devices, and compares with the host; the matrix is locked. */
enum sc_status sc_sparse_run_verified(const struct sc_sparse_call *call,
                                      enum sc_status (*run)(const struct sc_sparse_call *));
/* Rows [row, row + rows) of the result, on the host: what a device could not do. */
enum sc_status sc_sparse_rows_on_host(const struct sc_sparse_call *call, int64_t row, int64_t rows);

/* --- vectors.c: with the protocol's lock -------------------------------------------------------------------------- */

/* Elements [first, first + n) in the order of the operation, whatever the increment's sign. */
struct sc_piece sc_sparse_piece(const struct sc_operand *vector, int64_t first, int64_t n, enum sc_access access);
/* Whether kernels can use the operand where it is: one tile, and a vector's increment is 1. */
bool sc_sparse_is_direct(const struct sc_operand *vector);
/* Whether elements [first, first + n) of a column of a matrix lie in one tile, which the device has. */
bool sc_sparse_is_at(const struct sc_operand *column, int64_t first, int64_t n, int device);
/* Elements [first, first + n) of a vector (or a column of a matrix) to a temporary on the device. */
enum sc_status sc_sparse_gather(const struct sc_operand *vector, int64_t first, int64_t n, int device, void *temporary);
/* y[first, first + n) := temporary + beta y, where y is (`owner`, < 0: wherever).  When it fails *done elements have
 * been written. */
enum sc_status sc_sparse_put(const struct sc_operand *y, int64_t first, int64_t n, int owner, int device,
                             void *temporary,
                             const double beta[2], int64_t *done);

#endif
