/* Sweeps: a program transposes a matrix by one ?copy for each row or column.  NumPy's linear algebra does so with every
 * operand and result.  On the host each copy touches as many cache lines as elements.  Once a thread has made a few
 * copies of a sweep, a device transposes the whole matrix, and the thread's later copies only count.
 *
 * The program may do anything instead of the next copy: the memory then shows the copies made so far
 * (coherence/speculate.c).  A wrong guess costs time only. */
#include "blas/veneers/sweep.h"

#include "base/config.h"
#include "coherence/access.h"
#include "coherence/task.h"

enum { PATIENCE = 8, PATIENCE_MOST = 1 << 20 };
enum { ALWAYS_BYTES = 64 << 10, AUTO_BYTES = 8 << 20 };

/* The latest copies of a thread.  `run` of them had the same shape, at equal distances. */
struct sweep {
    uint64_t speculation; /* 0: none */
    int64_t step, steps;  /* of the speculation */
    int64_t run, patience;
    int64_t n, incx, incy;
    ptrdiff_t dx, dy;     /* bytes between the operands of two copies */
    const char *x;
    char *y;              /* of the latest copy */
    enum sc_type type;
};
static __thread struct sweep sweep_ __attribute__((tls_model("initial-exec")));
/* True while the thread changes its sweep: a copy in a signal handler is then no part of a sweep. */
static __thread bool busy_ __attribute__((tls_model("initial-exec")));

static void set_busy(bool busy)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    busy_ = busy;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static bool has_shape(const struct sweep *s, const struct sc_blas_call *call)
{
    return s->run > 0 && s->n == call->n && s->incx == call->incx && s->incy == call->incy && s->type == call->type;
}

/* Rows become columns: x has an increment, y has none, and the next x is one element further. */
static bool gathers(const struct sweep *s)
{
    ptrdiff_t bytes = (ptrdiff_t)sc_type_bytes(s->type);

    return s->incx > 1 && s->incy == 1 && s->dx == bytes && s->dy >= s->n * bytes && s->dy % bytes == 0;
}

/* Columns become rows. */
static bool scatters(const struct sweep *s)
{
    ptrdiff_t bytes = (ptrdiff_t)sc_type_bytes(s->type);

    return s->incy > 1 && s->incx == 1 && s->dy == bytes && s->dx >= s->n * bytes && s->dx % bytes == 0;
}

/* The copies of a whole matrix. */
static int64_t whole(const struct sweep *s) { return s->incx > s->incy ? s->incx : s->incy; }

/* Smaller matrices stay in the processor's caches, and closing their pages takes longer than the copies. */
static bool is_large(const struct sweep *s)
{
    int64_t least = sc_config.offload == SC_OFFLOAD_ALWAYS ? ALWAYS_BYTES : AUTO_BYTES;

    return sc_config.offload != SC_OFFLOAD_NEVER && whole(s) >= least / (int64_t)sc_type_bytes(s->type) / s->n;
}

/* --- the beginning ------------------------------------------------------------------------------------------------ */

/* Columns, or rows, of a matrix of leading dimension ld that fit between `from` and the end of its block of memory.  A
 * matrix has `other` of the other kind. */
static int64_t fits(const void *from, int64_t ld, int64_t other, bool columns, size_t bytes)
{
    uintptr_t base;
    size_t size;
    int64_t left;

    if ((uintptr_t)from % bytes || !sc_coherence_block(from, &base, &size))
        return 0;
    left = (int64_t)((base + size - (uintptr_t)from) / bytes);
    return columns ? (left >= other ? (left - other) / ld + 1 : 0) : left - (other - 1) * ld;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The latest `run` copies, without the present, as the first steps of a transposition. */
static bool describe(const struct sweep *s, struct sc_kernel *k, int64_t *steps)
{
    size_t bytes = sc_type_bytes(s->type);
    bool gather = gathers(s);
    const char *x = s->x - (s->run - 1) * s->dx;
    char *y = s->y - (s->run - 1) * s->dy;
    int64_t lda = gather ? s->incx : s->dx / (ptrdiff_t)bytes, ldb = gather ? s->dy / (ptrdiff_t)bytes : s->incy;
    uintptr_t x_end, y_end;

    *steps = least(gather ? lda : ldb, least(fits(x, lda, s->n, !gather, bytes), fits(y, ldb, s->n, gather, bytes)));
    if (*steps < 2 * s->run)
        return false;
    *k = (struct sc_kernel){.op = SC_OP_OMATCOPY, .type = s->type, .m = gather ? *steps : s->n,
                            .n = gather ? s->n : *steps, .a = (void *)(uintptr_t)x, .lda = lda, .b = y, .ldb = ldb};
    x_end = (uintptr_t)x + (uintptr_t)((k->n - 1) * lda + k->m) * bytes;
    y_end = (uintptr_t)y + (uintptr_t)((k->m - 1) * ldb + k->n) * bytes;
    return x_end <= (uintptr_t)y || y_end <= (uintptr_t)x;
}

static bool begin(struct sweep *s)
{
    struct sc_kernel k;
    uint64_t speculation = 0;
    bool gather = gathers(s);

    if (describe(s, &k, &s->steps))
        speculation = sc_blas_copy_ahead(&k, !gather, s->run - 1);
    s->step = s->run - 1;
    if (!speculation) /* the next try takes longer to come than this one */
        s->patience = least(4 * s->patience, PATIENCE_MOST);
    s->speculation = speculation;
    return speculation;
}

/* --- each copy ---------------------------------------------------------------------------------------------------- */

/* Counts the present copy as a step. */
static bool step(struct sweep *s)
{
    if (!sc_coherence_advance(s->speculation, s->step)) {
        s->speculation = 0;
        s->run = 1;
        s->patience = least(2 * s->patience, PATIENCE_MOST);
        return false;
    }
    if (++s->step == s->steps) {
        s->speculation = 0;
        s->run = 0;
        s->patience = PATIENCE;
    }
    return true;
}

/* Adds the present copy.  True: it continues a run.  A whole matrix copied on the host shows that trying again pays. */
static bool follow(struct sweep *s, const struct sc_blas_call *call)
{
    ptrdiff_t dx = (const char *)call->x - s->x, dy = (char *)call->y - s->y;
    bool same = has_shape(s, call), on = same && s->run > 1 && dx == s->dx && dy == s->dy;

    s->run = on ? s->run + 1 : 1;
    s->n = call->n;
    s->incx = call->incx;
    s->incy = call->incy;
    s->type = call->type;
    s->x = call->x;
    s->y = call->y;
    if (!on) {
        s->speculation = 0;
        s->dx = dx;
        s->dy = dy;
        s->run = same && (gathers(s) || scatters(s)) && is_large(s) ? 2 : 1;
    }
    if (s->run == whole(s))
        s->patience = PATIENCE;
    return s->run > 1;
}

/* The first copies of a sweep stay on the host, because the device would have to write them into the matrix again. */
static enum sc_blas_sweep next(const struct sweep *s)
{
    return s->run > s->patience ? SC_SWEEP_RIPE : s->patience == PATIENCE ? SC_SWEEP_YOUNG : SC_SWEEP_NONE;
}

enum sc_blas_sweep sc_blas_sweep(const struct sc_blas_call *call)
{
    enum sc_blas_sweep found = SC_SWEEP_NONE;
    struct sweep *s = &sweep_;

    if (busy_)
        return SC_SWEEP_NONE;
    set_busy(true);
    s->patience = s->patience ? s->patience : PATIENCE;
    if (follow(s, call))
        found = !s->speculation ? next(s) : step(s) ? SC_SWEEP_STEP : SC_SWEEP_NONE;
    set_busy(false);
    return found;
}

bool sc_blas_sweep_begin(void)
{
    bool done;

    if (busy_)
        return false;
    set_busy(true);
    done = begin(&sweep_) && step(&sweep_);
    set_busy(false);
    return done;
}
/* SPDX-License-Identifier: BSD-2-Clause */
