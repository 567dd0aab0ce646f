/* Inside blas/: how a call is decomposed into tasks.  One function per operation, all of one shape; they run between
 * sc_coherence_begin and sc_coherence_end, so the protocol's lock is held and nothing here may touch user memory
 * (rule C6).  No task crosses a tile boundary (a cut). */
#ifndef SC_BLAS_TASKS_H
#define SC_BLAS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/plan.h"
#include "autotuner/trials.h"
#include "base/status.h"
#include "coherence/task.h"
#include "ops/ops.h"

/* Of a call that tries a width of strips (strips.c). */
struct sc_blas_tried {
    struct sc_trial_turn trial;
    double start; /* by the clock of sc_explain_clock */
    uint64_t missing; /* bytes that it had to bring */
    bool home;    /* its result is sent home */
};

/* A call in progress.  operand[0..2] are the kernel's a, b, c. */
struct sc_blas_job {
    const struct sc_kernel *kernel; /* the program's */
    struct sc_operand *operand;
    const struct sc_view *view;     /* as asked for */
    int operands;
    const struct sc_autotuner_call *question; /* what was asked about the program's call */
    struct sc_blas_tried tried; /* trial.width 0: it tries nothing */
};

/* --- pieces.c: parts of operands ---------------------------------------------------------------------------------- */

/* Positions along a vector are LOGICAL here: element 0 is the first that the operation meets, whatever the increment's
 * sign.  (Pieces and the cuts of sc_coherence count from the lowest address.) */
struct sc_piece sc_blas_vector(const struct sc_operand *vector, int64_t first, int64_t n, enum sc_access access);
void sc_blas_vector_cuts(const struct sc_operand *vector, struct sc_cuts *cuts);
void sc_blas_vector_merge(struct sc_cuts *into, const struct sc_operand *vector);

struct sc_piece sc_blas_matrix(const struct sc_operand *matrix, int64_t r, int64_t c, int64_t rows, int64_t cols,
                               enum sc_access access);
/* rows x cols at (r, c) of op(matrix): of the stored matrix transposed when trans is not 'N'. */
struct sc_piece sc_blas_op_matrix(const struct sc_operand *matrix, char trans, int64_t r, int64_t c, int64_t rows,
                                  int64_t cols, enum sc_access access);
void sc_blas_merge_rows(struct sc_cuts *into, const struct sc_operand *matrix);
void sc_blas_merge_cols(struct sc_cuts *into, const struct sc_operand *matrix);
/* Cuts of op(matrix). */
void sc_blas_merge_op_rows(struct sc_cuts *into, const struct sc_operand *matrix, char trans);
void sc_blas_merge_op_cols(struct sc_cuts *into, const struct sc_operand *matrix, char trans);
struct sc_cuts *sc_blas_whole(struct sc_cuts *cuts, int64_t extent); /* one part */

/* Adds cuts at sector boundaries of the operand's columns: strips of about `width`, the last of at least `least`.
 * What is beyond SC_BLAS_STRIPS_MOST of them stays in one piece. */
#define SC_BLAS_STRIPS_MOST 64
void sc_blas_cut(struct sc_cuts *cuts, const struct sc_operand *operand, int64_t width, int64_t least);
/* The same, so that strips are at least `least` wide and few: what is still on the host is worked on strip by strip as
 * it arrives.  (How wide those of gemm are is decided for each call: strips.c.) */
void sc_blas_refine(struct sc_cuts *cuts, const struct sc_operand *operand, int64_t least);
/* Bytes of the call's operands that are read and not where they are at home. */
uint64_t sc_blas_missing(const struct sc_blas_job *call);
/* Of one of them; `uplo` not 0: of this triangle. */
uint64_t sc_blas_missing_of(const struct sc_operand *operand, char uplo);

struct sc_piece sc_blas_temporary(void *memory, int64_t rows, enum sc_access access); /* a vector of increment 1 */

/* Whether cuts of an output go through its tiles, so that none is written as a whole by one task. */
bool sc_blas_splits_tiles(const struct sc_operand *output, const struct sc_cuts *rows, const struct sc_cuts *cols);
/* Sets a matrix to zero, tile by tile where the tiles belong, without reading it.  Then it is read and written. */
enum sc_status sc_blas_clear(const struct sc_operand *output);

/* Runs the kernel on the pieces; the pieces set nothing in the kernel but addresses and leading dimensions. */
enum sc_status sc_blas_task(int device, const struct sc_kernel *kernel, struct sc_piece a, struct sc_piece b,
                            struct sc_piece c);
static inline struct sc_piece sc_blas_none(void) { return (struct sc_piece){0}; }

static inline bool sc_blas_is_zero(const double s[2]) { return s[0] == 0 && s[1] == 0; }
static inline bool sc_blas_is_one(const double s[2]) { return s[0] == 1 && s[1] == 0; }
static inline int64_t sc_blas_part(const struct sc_cuts *cuts, int i) { return cuts->at[i + 1] - cuts->at[i]; }

/* The kernel of the first of several tasks that add to one output has the call's beta, the later ones 1. */
static inline void sc_blas_set_beta(struct sc_kernel *kernel, const double beta[2], bool first)
{
    kernel->beta[0] = first ? beta[0] : 1;
    kernel->beta[1] = first ? beta[1] : 0;
}
/* --- assign.c: where blocks run ----------------------------------------------------------------------------------- */

/* A call by the blocks of its result, for the strategy (autotuner/schedule.h). */
struct sc_blas_blocks {
    const void *of;                   /* handed to the functions */
    enum sc_type type;
    const struct sc_cuts *rows, *cols;
    int64_t products;                 /* for each element of the result */
    struct sc_piece (*block)(const void *of, int i, int j); /* of the result; one piece of it, if it is several */
    bool several;                     /* a block is several pieces, of which block() is one: they may be anywhere */
    bool stays;                       /* a block is an input: nothing goes back to where it was */
    bool (*skips)(const void *of, int i, int j);            /* not a block of this call; NULL: all are */
    int depth;
    struct sc_piece (*row_input)(const void *of, int i, int l); /* l of `depth` parts that the blocks of row i read */
    struct sc_piece (*col_input)(const void *of, int l, int j); /* NULL: there are none */
};
struct sc_blas_places {
    int *device; /* NULL: every block where it is */
    struct sc_cuts rows, cols;
};
/* Cannot fail: without memory every block runs where it is. */
void sc_blas_place(const struct sc_blas_blocks *blocks, struct sc_blas_places *places);
void sc_blas_places_free(struct sc_blas_places *places);
/* The device for a piece of the result, at (row, col) of it; cuts may have been refined meanwhile. */
int sc_blas_places_at(const struct sc_blas_places *places, int64_t row, int64_t col, const struct sc_piece *piece);
/* Whether blocks with inputs of both kinds would have to wait for so much where they run that it is worth working on
 * their operands as they arrive. */
bool sc_blas_waits(const struct sc_blas_blocks *blocks, const struct sc_blas_places *places);
/* Cuts the columns of a result finer where a strategy would have too few blocks (`others`: parts in the other
 * direction) to give every device some. */
void sc_blas_divide(struct sc_cuts *cuts, int others, const struct sc_operand *output);
double sc_blas_products_per_second(int device, enum sc_type type);
/* How long so many devices compute on a call, each on its part; 0: not known. */
double sc_blas_kernel_seconds(const struct sc_kernel *kernel, int devices);

/* --- strips.c: how wide the strips of a call are ------------------------------------------------------------------ */

/* A call by the blocks of its result. */
struct sc_blas_look {
    const struct sc_blas_blocks *blocks;
    const struct sc_blas_places *places;
    int64_t sum;      /* numbers along the sum, as far as it may be cut */
    int tasks;        /* for each block of a strip (and part of the sum) */
    uint64_t missing; /* bytes that are to be brought; 0: it is the result that is cut */
    int64_t least;    /* width: what the caller can cut */
    int64_t half;     /* and of the halves of a device's last strip, where columns are done in order; 0: none */
    bool apart;       /* what is brought but for `all` bytes of it can be brought for one strip after the other */
    uint64_t all;
};
/* The columns that each device does last, before they are cut into strips, and how narrow the last strip of them
 * becomes by halves: little of it is left to go home when it is computed. */
struct sc_blas_last {
    int64_t width; /* 0: it stays */
    int count;
    int64_t from[SC_DEVICES_MAX], end[SC_DEVICES_MAX];
};
/* Begins a trial of the width, perhaps. */
int64_t sc_blas_strip_width(struct sc_blas_job *call, const struct sc_blas_look *look, struct sc_blas_last *last);
/* When strips are cut, at sector boundaries. */
void sc_blas_halve(struct sc_cuts *cuts, const struct sc_operand *result, const struct sc_blas_last *last);

/* Cuts columns of the result finer, so that the host can have the first while the last is computed.  `cuts` are of
 * these columns. */
void sc_blas_cut_result(struct sc_blas_job *call, const struct sc_blas_look *look, struct sc_cuts *cuts);
/* Whether that is worth it for a routine whose parts take longer than the whole: only where the result is sent home. */
bool sc_blas_cuts_result(const struct sc_blas_job *call);

/* After the last task and what is sent home.  Nothing is waited for. */
void sc_blas_tried_end(const struct sc_blas_tried *tried);

/* --- together.c: the host beside the devices ---------------------------------------------------------------------- */

/* Splits a call in progress: about `share` of the columns of its result become the host's, `job` the devices' part.
 * False: they cannot be, and nothing has changed.  May compute; drops the lock meanwhile. */
struct sc_blas_together {
    struct sc_kernel devices;
    struct sc_operand operand[3];
    struct sc_blas_job whole;
    int64_t from; /* first column that the host has still to do */
};
bool sc_blas_together_begin(struct sc_blas_job *job, double share, struct sc_blas_together *together);
/* When the devices' part is enqueued: does the host's. */
enum sc_status sc_blas_together_end(const struct sc_blas_together *together);
/* A call could be split so. */
bool sc_blas_together_possible(const struct sc_kernel *kernel);

/* --- a call as a whole (offload.c) -------------------------------------------------------------------------------- */

/* Does a call on the devices as planned.  False: nothing has changed, it is the host's. */
struct sc_blas_order {
    const struct sc_kernel *kernel;
    const struct sc_view *view;
    int count;
    const struct sc_autotuner_call *question;
    const struct sc_plan *plan;
};
typedef bool sc_blas_run(const struct sc_blas_order *order);
/* What does it instead, with that in hand: verification mode (verify.c); NULL: nothing. */
extern bool (*sc_blas_around)(sc_blas_run *run, const struct sc_blas_order *order);

/* --- the operations ---------------------------------------------------------------------------------------------- */

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

/* Banded and packed matrices, in one task.  SC_ERR_UNSUPPORTED, with nothing changed, where that cannot be. */
enum sc_status sc_blas_single(struct sc_blas_job *call);

/* Reductions (reduce.c) do their own begin and end, because their results are awaited without the lock (rule C7).
 * False: run the call on the host. */
bool sc_blas_reduce(struct sc_blas_job *call);

/* --- segments.c: walking one or two vectors ---------------------------------------------------------------------- */

/* Elements that one task works on.  first: logical position of the segment's first element; when `stride` is not 0 the
 * segment is a rectangle of a matrix: element e of it is at first + e / rows * stride + e % rows. */
struct sc_segment {
    struct sc_piece piece[2];
    int device;
    int64_t n, first, rows, stride;
};
/* Calls visit for every segment until it returns something else than SC_OK.  access[i] is what the task does to operand
 * i; the segments run where the data of operand `lead` is, or else of the other. */
enum sc_status sc_blas_segments(struct sc_blas_job *call, const enum sc_access access[2], int lead,
                                enum sc_status (*visit)(void *context, const struct sc_segment *segment),
                                void *context);
/* The logical position of element e of a segment. */
int64_t sc_blas_segment_at(const struct sc_segment *segment, int64_t e);

#endif
