/* Inside blas/: the decomposition of a call into tasks.  Each operation has a function of the same shape.  The
 * functions run between sc_coherence_begin and sc_coherence_end: the protocol's lock is held, and user memory must
 * not be touched (rule C6).  No task crosses a tile boundary (a cut). */
#ifndef SC_BLAS_TASKS_H
#define SC_BLAS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/plan.h"
#include "base/status.h"
#include "coherence/task.h"
#include "ops/ops.h"

/* A call that tries a width of strips (autotuner/trials.h). */
struct sc_blas_tried {
    struct sc_trial_turn trial;
    double start; /* by the clock of sc_explain_clock */
    uint64_t missing; /* bytes that the call had to upload */
    bool home;    /* true when the result is pushed home */
};

/* A call in progress.  operand[0..2] are the kernel's a, b, c. */
struct sc_blas_job {
    const struct sc_kernel *kernel; /* the program's */
    struct sc_operand *operand;
    const struct sc_view *view;     /* as requested */
    int operands;
    const struct sc_autotuner_call *question; /* question about the program's call, answered by the plan */
    struct sc_plan *plan;           /* refined during the call (sc_plan_refine) */
    struct sc_blas_tried tried; /* trial.width 0: no trial */
};

/* --- pieces.c: parts of operands ---------------------------------------------------------------------------------- */

/* Positions along a vector are LOGICAL here: element 0 is the first that the operation meets, for either sign of the
 * increment.  (Pieces and the cuts of sc_coherence count from the lowest address.) */
struct sc_piece sc_blas_vector(const struct sc_operand *vector, int64_t first, int64_t n, enum sc_access access);
void sc_blas_vector_cuts(const struct sc_operand *vector, struct sc_cuts *cuts);
void sc_blas_vector_merge(struct sc_cuts *into, const struct sc_operand *vector);

struct sc_piece sc_blas_matrix(const struct sc_operand *matrix, int64_t r, int64_t c, int64_t rows, int64_t cols,
                               enum sc_access access);
/* rows x cols at (r, c) of op(matrix), which is the transposed matrix when trans is not 'N'. */
struct sc_piece sc_blas_op_matrix(const struct sc_operand *matrix, char trans, int64_t r, int64_t c, int64_t rows,
                                  int64_t cols, enum sc_access access);
void sc_blas_merge_rows(struct sc_cuts *into, const struct sc_operand *matrix);
void sc_blas_merge_cols(struct sc_cuts *into, const struct sc_operand *matrix);
/* Merge the cuts of op(matrix). */
void sc_blas_merge_op_rows(struct sc_cuts *into, const struct sc_operand *matrix, char trans);
void sc_blas_merge_op_cols(struct sc_cuts *into, const struct sc_operand *matrix, char trans);
struct sc_cuts *sc_blas_whole(struct sc_cuts *cuts, int64_t extent); /* a single part */

/* Adds cuts at sector boundaries of the operand's columns: strips of about `width` columns, the last with at least
 * `least`.  The columns beyond SC_BLAS_STRIPS_MOST strips stay in one piece. */
#define SC_BLAS_STRIPS_MOST 64
void sc_blas_cut(struct sc_cuts *cuts, const struct sc_operand *operand, int64_t width, int64_t least);
/* Adds a cut at a position of 0 to `extent`. */
void sc_blas_cut_at(struct sc_cuts *cuts, int64_t at, int64_t extent);
/* Adds cuts for few strips of at least `least` columns, so that data on the host is worked on strip by strip as it
 * arrives.  (For gemm the width is chosen for each call: strips.c.) */
void sc_blas_refine(struct sc_cuts *cuts, const struct sc_operand *operand, int64_t least);
/* Adds the planned cuts of an operand that arrives strip by strip; width 0: none. */
static inline void sc_blas_arriving(struct sc_cuts *cuts, const struct sc_operand *operand, int64_t width)
{
    if (width)
        sc_blas_refine(cuts, operand, width);
}
/* Adds the planned cuts of an operand of which each strip needs all of A.  The first strip of a device is computed
 * while A arrives; its work grows (1), shrinks (-1) or stays the same from part to part of A. */
void sc_blas_behind(struct sc_blas_job *call, struct sc_cuts *cuts, const struct sc_operand *operand, int growth);
/* Bytes of the call's read operands that are missing on the owners of their tiles. */
uint64_t sc_blas_missing(const struct sc_blas_job *call);
/* The same for a single operand; `uplo` not 0: for that triangle only. */
uint64_t sc_blas_missing_of(const struct sc_operand *operand, char uplo);

struct sc_piece sc_blas_temporary(void *memory, int64_t rows, enum sc_access access); /* a vector of increment 1 */

/* True when cuts of an output go through its tiles, so that no task writes a whole tile. */
bool sc_blas_splits_tiles(const struct sc_operand *output, const struct sc_cuts *rows, const struct sc_cuts *cols);
/* Sets a matrix to zero on the home devices of its tiles, without reading it.  Later tasks read and write the
 * matrix. */
enum sc_status sc_blas_clear(const struct sc_operand *output);

/* Runs the kernel on the pieces.  The pieces set only addresses and leading dimensions in the kernel. */
enum sc_status sc_blas_task(int device, const struct sc_kernel *kernel, struct sc_piece a, struct sc_piece b,
                            struct sc_piece c);
static inline struct sc_piece sc_blas_none(void) { return (struct sc_piece){0}; }

static inline bool sc_blas_is_zero(const double s[2]) { return s[0] == 0 && s[1] == 0; }
static inline bool sc_blas_is_one(const double s[2]) { return s[0] == 1 && s[1] == 0; }
static inline int64_t sc_blas_part(const struct sc_cuts *cuts, int i) { return cuts->at[i + 1] - cuts->at[i]; }

/* Notes a device in *seen; true for a device that was not there.  device -1: none. */
static inline bool sc_blas_first_on(int device, uint32_t *seen)
{
    uint32_t bit = device >= 0 ? UINT32_C(1) << device : 0;
    bool first = bit && !(*seen & bit);

    *seen |= bit;
    return first;
}

/* Of several tasks that add to an output, the first has the call's beta, and the later ones have 1. */
static inline void sc_blas_set_beta(struct sc_kernel *kernel, const double beta[2], bool first)
{
    kernel->beta[0] = first ? beta[0] : 1;
    kernel->beta[1] = first ? beta[1] : 0;
}
/* --- assign.c: devices of blocks ---------------------------------------------------------------------------------- */

/* The blocks of a call's result, for the strategy (autotuner/schedule.h). */
struct sc_blas_blocks {
    const void *of;                   /* passed to the functions */
    enum sc_type type;
    const struct sc_cuts *rows, *cols;
    int64_t products;                 /* per element of the result */
    struct sc_piece (*block)(const void *of, int i, int j); /* a block of the result, or a piece of it */
    /* A block is several pieces, possibly on several devices, of which block() returns one. */
    bool several;
    bool stays;                       /* a block is an input: no result returns to its device */
    /* True for a block that is not part of the call; NULL: no such block. */
    bool (*skips)(const void *of, int i, int j);
    int depth;
    /* part l, of `depth` parts, that the blocks of row i read */
    struct sc_piece (*row_input)(const void *of, int i, int l);
    struct sc_piece (*col_input)(const void *of, int l, int j); /* the same for column j; NULL: there is none */
};
struct sc_blas_steal;
struct sc_blas_places {
    int *device; /* NULL: every block runs on the device that holds it */
    struct sc_blas_steal *steal; /* NULL: every block runs at its place (sc_plan.steals) */
    struct sc_cuts rows, cols;
    struct sc_plan_found found; /* the blocks as numbers, in the arrays below */
    struct sc_blas_described {
        double *work, *block_bytes, *result_bytes, *host_bytes, *row_bytes, *col_bytes;
        int *owner, *home, *device;
        uint32_t *row_at, *col_at;
        bool *row_joined;
    } described;
    void *memory; /* of the arrays; NULL: no memory, so the plan has no places and no widths */
    double few[64]; /* memory for few blocks */
};
/* Asks for the places of the blocks.  Cannot fail: without memory every block runs on the device that holds it. */
void sc_blas_place(struct sc_blas_job *call, const struct sc_blas_blocks *blocks, struct sc_blas_places *places);
void sc_blas_places_free(struct sc_blas_places *places);
/* The device for a piece of the result at (row, col).  The cuts may have been refined since sc_blas_place. */
int sc_blas_places_at(const struct sc_blas_places *places, int64_t row, int64_t col, const struct sc_piece *piece);
/* The same for a block whose tasks the caller enqueues next, all of them before the next block: of a plan that steals
 * (steal.c), the place is decided here.  May wait for a device, and drops the lock meanwhile. */
int sc_blas_places_take(const struct sc_blas_places *places, int64_t row, int64_t col, const struct sc_piece *piece);
/* Whether the block at (row, col) is left to idle devices (sc_blas_steal_keep). */
bool sc_blas_places_is_later(const struct sc_blas_places *places, int64_t row, int64_t col);
/* True when the blocks' missing inputs, of both kinds, reach the plan's limit for work on operands as they arrive. */
bool sc_blas_waits(const struct sc_blas_job *call, const struct sc_blas_blocks *blocks,
                   const struct sc_blas_places *places);
/* Refines the cuts of a result's columns if the result has fewer blocks than planned.  others: number of parts in the
 * other direction. */
void sc_blas_divide(const struct sc_blas_job *call, struct sc_cuts *cuts, int others, const struct sc_operand *output);

/* --- recall.c: reductions that the program repeats, except those with an index as the result ---------------------- */

/* Whether the result is known: of this thread's last reduction, which was the same, or computed ahead.  The operands
 * have not been written since.  value: the result.  Between begin and end. */
bool sc_blas_recall(const struct sc_blas_job *call, double value[2]);
/* Between begin and end: notes writes to the operands.  Returns the time from which on; 0: it cannot. */
uint64_t sc_blas_recall_link(const struct sc_blas_job *call);
/* The same after the tasks of a reduction that may be repeated.  0: the reduction will not be recalled. */
uint64_t sc_blas_recall_from(const struct sc_blas_job *call);
/* Between begin and end: whether the program has asked for another reduction right after this one, each time.  next:
 * that reduction, without the place of its result. */
bool sc_blas_recall_next(const struct sc_blas_job *call, struct sc_kernel *next);
/* Keeps the result of this thread's last reduction; of the next one, which was computed ahead. */
void sc_blas_recall_later(const struct sc_blas_job *call, uint64_t since, const double value[2]);
void sc_blas_recall_ahead(const struct sc_blas_job *call, uint64_t since, const double value[2]);

/* --- steal.c: blocks for idle devices ----------------------------------------------------------------------------- */

/* The state of a call with `rows` x `cols` blocks.  NULL: no memory. */
struct sc_blas_steal *sc_blas_steal_new(int rows, int cols, const int *device, const bool *row_joined,
                                        const struct sc_operand *result);
void sc_blas_steal_free(struct sc_blas_steal *steal);
/* Decides the device of block i + j * rows, planned on device[i + j * rows], and sets device[] of the blocks that
 * belong together.  Decides once.  Waits while every device has two blocks. */
int sc_blas_steal_take(struct sc_blas_steal *steal, int *device, int i, int j);

/* For operands in transit.  The caller enqueues the first half of each device's blocks at their places, in the order of
 * arrival, and leaves the others to idle devices.
 * keep: chooses the blocks.  False: none is left.
 * behind: the chosen blocks are enqueued.
 * next: block (i, j), which comes next among those left; the devices take turns.  False: there are no more. */
bool sc_blas_steal_keep(struct sc_blas_steal *steal);
bool sc_blas_steal_is_later(const struct sc_blas_steal *steal, int i, int j);
void sc_blas_steal_behind(struct sc_blas_steal *steal);
bool sc_blas_steal_next(struct sc_blas_steal *steal, int *i, int *j);

/* --- strips.c: strips of a call ----------------------------------------------------------------------------------- */

/* The columns that each device computes last, before they are cut into strips, and the least width of the last
 * strip.  The last strip is halved, so that little remains to be sent home after its computation. */
struct sc_blas_last {
    int64_t width; /* 0: no halves */
    int count;
    int64_t from[SC_DEVICES_MAX], end[SC_DEVICES_MAX];
};
/* Asks for the widths of the call's strips, and begins a trial of a width.  Of `cut` the caller sets `sum`, `tasks`,
 * `least`, `half` as 1 where columns are finished in order, and what is missing. */
void sc_blas_widths(struct sc_blas_job *call, const struct sc_blas_blocks *blocks, const struct sc_blas_places *places,
                    struct sc_plan_cut *cut, struct sc_blas_last *last);
/* Cuts the halves of the last strips, at sector boundaries, after strips are cut. */
void sc_blas_halve(struct sc_cuts *cuts, const struct sc_operand *result, const struct sc_blas_last *last);

/* Refines the cuts of the result's columns, so that the host can use the first columns while the last are computed.
 * `cuts` are of these columns; `cut` as above. */
void sc_blas_cut_result(struct sc_blas_job *call, const struct sc_blas_blocks *blocks,
                        const struct sc_blas_places *places, struct sc_plan_cut cut, struct sc_cuts *cuts);
/* True for a result that is pushed home.  Only then does a finer cut pay for routines whose parts take longer than
 * the whole. */
bool sc_blas_cuts_result(const struct sc_blas_job *call);

/* Called after the last task and the pushes.  Does not wait. */
void sc_blas_tried_end(const struct sc_blas_tried *tried);

/* --- together.c: the host beside the devices ---------------------------------------------------------------------- */

/* Splits a call in progress: about `share` of the result's columns become the host's, and `job` becomes the devices'
 * part.  False, with nothing changed: the call cannot be split.  May compute; releases the lock in the meantime. */
struct sc_blas_together {
    struct sc_kernel devices;
    struct sc_operand operand[3];
    struct sc_blas_job whole;
    int64_t from; /* first column that the host has yet to compute */
};
bool sc_blas_together_begin(struct sc_blas_job *job, double share, struct sc_blas_together *together);
/* Computes the host's part.  Called when the devices' part is enqueued. */
enum sc_status sc_blas_together_end(const struct sc_blas_together *together);
/* True when a call of this kind can be split: columns of the result depend only on the same columns of the other
 * operands (rows, if transposed). */
static inline bool sc_blas_together_possible(const struct sc_kernel *k)
{
    bool left = k->op == SC_OP_SYMM || k->op == SC_OP_HEMM || k->op == SC_OP_TRMM || k->op == SC_OP_TRSM;

    return (k->op == SC_OP_GEMM && !k->batch.count) || (left && k->side == 'L');
}

/* --- a call as a whole (offload.c) -------------------------------------------------------------------------------- */

/* Runs a call on the devices as planned.  False, with nothing changed: the host runs the call. */
struct sc_blas_order {
    const struct sc_kernel *kernel;
    const struct sc_view *view;
    int count;
    const struct sc_autotuner_call *question;
    struct sc_plan *plan;
};
typedef bool sc_blas_run(const struct sc_blas_order *order);
/* Replacement for `run`, which receives `run`: verification mode (verify.c).  NULL: none. */
extern bool (*sc_blas_around)(sc_blas_run *run, const struct sc_blas_order *order);

/* --- the operations ----------------------------------------------------------------------------------------------- */

enum sc_status sc_blas_level1(struct sc_blas_job *call); /* axpy, axpby, scal, copy, swap, rot, rotm */
enum sc_status sc_blas_gemv(struct sc_blas_job *call);   /* and symv, hemv */
enum sc_status sc_blas_ger(struct sc_blas_job *call);
enum sc_status sc_blas_syr(struct sc_blas_job *call);    /* syr, her, syr2, her2 */
enum sc_status sc_blas_trmv(struct sc_blas_job *call);
enum sc_status sc_blas_trsv(struct sc_blas_job *call);
enum sc_status sc_blas_gemm(struct sc_blas_job *call);
enum sc_status sc_blas_symm(struct sc_blas_job *call);
enum sc_status sc_blas_rank(struct sc_blas_job *call); /* syrk, herk, syr2k, her2k, gemmt */
enum sc_status sc_blas_trmm(struct sc_blas_job *call);
enum sc_status sc_blas_trsm(struct sc_blas_job *call);

/* alpha op(X) op(Y), a product of matrices.  A rank update is one or two such products (rank.c); returns their number.
 */
struct sc_blas_term {
    const struct sc_operand *x, *y;
    char tx, ty;
    double alpha[2];
};
int sc_blas_rank_terms(const struct sc_blas_job *call, struct sc_blas_term term[2], double beta[2]);

/* A call of level 3 that does not fit into the devices by its plan, as calls on parts (larger.c). */
static inline bool sc_blas_is_larger(const struct sc_blas_job *call) { return call->plan->larger.room > 0; }
enum sc_status sc_blas_larger(struct sc_blas_job *call);

/* Banded and packed matrices, in one task.  SC_ERR_UNSUPPORTED, with nothing changed: impossible. */
enum sc_status sc_blas_single(struct sc_blas_job *call);

/* A batch of products (batch.c).  Calls begin and end itself.  False, with nothing changed: the host runs the call. */
bool sc_blas_batch(struct sc_blas_job *call);

/* The same for a batch with operands at any places (items.c). */
bool sc_blas_items(struct sc_blas_job *call);

/* Routines of LAPACK (whole.c), as one task or a few, each on one device.  Calls begin and end itself, and waits for
 * INFO.  False, with nothing changed: the host runs the call. */
bool sc_blas_lapack(struct sc_blas_job *call);
/* The operands of a routine, or of a part of a routine, between begin and end (whole.c). */
struct sc_blas_bracket {
    struct sc_kernel kernel;
    struct sc_view view[SC_VIEWS_MAX];
    struct sc_operand operand[SC_VIEWS_MAX];
    int count;
};
/* plan NULL: every matrix in one piece.  Otherwise they may be cut into blocks of columns, new ones as planned.
 * A status: nothing has changed, and nothing is held. */
enum sc_status sc_blas_bracket_begin(const struct sc_kernel *k, const struct sc_plan *plan, struct sc_blas_bracket *b);
/* The same for the views that the caller has stored. */
enum sc_status sc_blas_bracket_open(struct sc_blas_bracket *b, bool by_columns);
void sc_blas_bracket_end(struct sc_blas_bracket *b, bool last);
/* Copies a piece, column by column where a column is not followed by the next. */
enum sc_status sc_blas_copy_piece(int device, struct sc_piece from, struct sc_piece to);
/* A task that was launched: INFO is in the slot after the fence. */
struct sc_blas_launched {
    struct sc_fence fence;
    void *slot;
};
/* INFO of a task, after the wait for its end; without the lock.  Positive if the result is lost. */
int64_t sc_blas_info(const struct sc_blas_launched *launched);
/* Factorizations and solutions by blocks of columns (columns.c), as planned.  A status: nothing has changed. */
bool sc_blas_has_columns(enum sc_op op);
enum sc_status sc_blas_columns(const struct sc_kernel *kernel, const struct sc_plan *plan, bool last, int64_t *info);
/* The inverse by LU factors in blocks of columns (columns_lu.c).  INFO is positive for a zero on the diagonal; A is
 * unchanged then. */
enum sc_status sc_blas_columns_inverse(const struct sc_kernel *kernel, const struct sc_plan *plan, int64_t *info);
/* Parts of such routines (whole.c): an operation in its own bracket, and the same on the host when a device cannot.
 * last: the host may want the result next. */
enum sc_status sc_blas_lapack_run(const struct sc_kernel *kernel, bool last, int64_t *info);
void sc_blas_lapack_on_host(const struct sc_kernel *kernel, int64_t *info);
/* An operation of the BLAS amid a routine, likewise on the host when the devices cannot. */
void sc_blas_lapack_step(const struct sc_kernel *kernel);
/* LACPY of a matrix that is no longer changed, on one device. */
enum sc_status sc_blas_copy_matrix(const struct sc_kernel *kernel);
/* Least squares by singular values (least_squares.c).  A status: nothing has changed. */
enum sc_status sc_blas_least_squares(const struct sc_kernel *kernel, int64_t *info);
/* Least squares and shortest solutions of full rank by a QR factorization (least_squares.c), likewise. */
enum sc_status sc_blas_least_full(const struct sc_kernel *kernel, int64_t *info);
/* A range of the eigenvalues that the operation `all` computes (eigen_range.c), likewise. */
enum sc_status sc_blas_eigen_range(const struct sc_kernel *kernel, enum sc_op all, int64_t *info);
/* The reciprocal of a condition number (condition.c), likewise. */
enum sc_status sc_blas_condition(const struct sc_kernel *kernel, int64_t *info);
bool sc_blas_is_one_part(const struct sc_operand *operand); /* no cut goes through the operand (single.c) */

/* Reductions (reduce.c) call begin and end themselves, because their results are awaited without the lock (rule C7).
 * by_itself: nothing else is computed with the reduction.  False: the call must run on the host. */
bool sc_blas_reduce(struct sc_blas_job *call, bool by_itself);

/* --- segments.c: walking one or two vectors ----------------------------------------------------------------------- */

/* Elements of a task.  first: logical position of the first element.  If `stride` is not 0 the segment is a
 * rectangle of a matrix, and element e is at first + e / rows * stride + e % rows. */
struct sc_segment {
    struct sc_piece piece[2];
    int device;
    int64_t n, first, rows, stride;
};
/* Calls visit for every segment until visit returns a status other than SC_OK.  access[i]: access of the task to
 * operand i.  A segment runs on the device of operand `lead`, or else of the other operand. */
enum sc_status sc_blas_segments(struct sc_blas_job *call, const enum sc_access access[2], int lead,
                                enum sc_status (*visit)(void *context, const struct sc_segment *segment),
                                void *context);
/* The logical position of element e of a segment. */
int64_t sc_blas_segment_at(const struct sc_segment *segment, int64_t e);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
