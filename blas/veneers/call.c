/* Common to the veneers: from the arguments of any BLAS routine to the record for the devices, or to operands at
 * home. */
#include "blas/blas_int.h"

#include <stdlib.h>

#include "autotuner/demand.h"
#include "base/quiet.h"
#include "blas/home.h"
#include "blas/veneers/sweep.h"
#include "coherence/call.h"

/* --- arguments as the program passes them: not inline, because every veneer has some ------------------------------ */

int64_t sc_blas_int_at(const sc_blas_int *p)
{
    int64_t wide;

    if (!sc_blas_wide)
        return *p;
    memcpy(&wide, p, sizeof wide);
    return wide;
}
int64_t sc_blas_int_of(int64_t value) { return sc_blas_wide ? value : (sc_blas_int)value; }

char sc_blas_letter(char letter)
{
    if (letter >= 'a' && letter <= 'z')
        return (char)(letter - 'a' + 'A');
    return letter ? letter : '?';
}
char sc_cblas_order(int order) { return order == 101 ? SC_BLAS_ROWS : order == 102 ? SC_BLAS_COLUMNS : '?'; }
char sc_cblas_trans(int trans) { return trans == 111 ? 'N' : trans == 112 ? 'T' : trans == 113 ? 'C' : '?'; }
char sc_cblas_uplo(int uplo) { return uplo == 121 ? 'U' : uplo == 122 ? 'L' : '?'; }
char sc_cblas_diag(int diag) { return diag == 131 ? 'N' : diag == 132 ? 'U' : '?'; }
char sc_cblas_side(int side) { return side == 141 ? 'L' : side == 142 ? 'R' : '?'; }

/* --- the record --------------------------------------------------------------------------------------------------- */

/* False: an increment that devices do not serve.  Kernels take 32-bit increments, even for vectors of one element.  For
 * a single vector with an increment below 1 libraries differ: no operation, 0, or backwards. */
static bool increments_fit(const struct sc_blas_call *call)
{
    const char *letters = sc_blas_letters(call->routine);

    if ((strchr(letters, 'X') && !sc_blas_fits(call->incx)) || (strchr(letters, 'Y') && !sc_blas_fits(call->incy)))
        return false;
    if (sc_blas_rows[call->routine].level > 1)
        return true;
    return letters[1] ? call->incx != 0 && call->incy != 0 : call->incx > 0;
}

/* The parameters of rotm. */
static void place_param(const struct sc_blas_call *call, struct sc_kernel *kernel)
{
    for (int i = 0; i < 5; i++)
        kernel->param[i] = call->type == SC_S ? ((const float *)call->param)[i] : ((const double *)call->param)[i];
}

bool sc_blas_call_kernel(struct sc_blas_call *call, struct sc_kernel *kernel)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];

    if (row->op < 0 || call->n <= 0 || (sc_ops[row->op].m && call->m <= 0))
        return false;
    *kernel = sc_blas_call_as_kernel(call);
    kernel->result = &call->result;
    if (call->param)
        place_param(call, kernel);
    return increments_fit(call);
}

/* Brings the operands home.  A routine with an empty side may leave even its WRITE operand unchanged, so such calls
 * are left to faults. */
static void bring_home(const struct sc_blas_call *call)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_blas_call_views(call, view);

    for (int i = 0; i < count; i++) {
        if (view[i].rows <= 0 || view[i].cols <= 0)
            return;
        if (view[i].ld == 0) /* level 1: the same element repeatedly */
            view[i].rows = view[i].ld = 1;
    }
    sc_blas_host_operands(view, count);
}

/* --- calls that no device is faster for --------------------------------------------------------------------------- */

/* Whether `count` elements of `bytes` bytes, `step` elements apart in either direction, are at home. */
static bool is_home(const void *first, int64_t count, int64_t step, int64_t bytes)
{
    const int64_t most = 1 << 20;

    return step && step < most && -step < most && sc_coherence_is_home(first, (uint64_t)(count * llabs(step) * bytes));
}

/* True for a call of level 1 or 2 of at most sc_autotuner_short bytes with all operands at home.  The ranges may reach
 * beyond the operands.  False for sizes below 1 and for increments of 0. */
static bool is_short(const struct sc_blas_row *row, const struct sc_blas_call *call)
{
    const int64_t bytes = sc_type_bytes(call->type), most = sc_autotuner_short(row->level, sc_config.metric) / bytes;
    const int64_t m = row->level == 1 ? 1 : call->m ? call->m : call->n, n = call->n, longest = m > n ? m : n;

    if (m < 1 || n < 1 || longest > most || m * n > most || sc_config.offload != SC_OFFLOAD_AUTO)
        return false;
    return is_home(call->x, longest, call->incx, bytes) &&
           (!call->y || is_home(call->y, longest, call->incy, bytes)) &&
           (!call->a || is_home(call->a, longest, call->lda ? call->lda : n, bytes));
}

/* --- calls of a shape that has stayed on the host ----------------------------------------------------------------- */

/* All of a call that decides beside the residency of the operands: without the addresses, and without the values of the
 * scalars except for zeros.  Compared byte by byte. */
struct shape {
    int64_t size[10];
    char letter[6];
    uint16_t routine;
    bool once, loops, alpha, beta; /* alpha, beta: are not zero */
    char padding[4];
};
_Static_assert(sizeof(struct shape) == 96, "no hidden padding");

/* A shape, and what its second call has found.  The operands of a later call have other addresses. */
struct known {
    struct shape shape;
    uint8_t field[SC_VIEWS_MAX]; /* of each operand: its number in addresses_of */
    struct sc_blas_home home;    /* count 0: not known */
};
enum { KNOWN = 16, ADDRESSES = 5 };

/* True while the thread uses its table: a call in a signal handler then does without the table.  Remains true, and the
 * thread without a table, if the handler leaves by longjmp. */
static __thread bool busy_ __attribute__((tls_model("initial-exec")));

static void set_busy(bool busy)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    busy_ = busy;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void shape_of(const struct sc_blas_call *call, bool once, struct shape *s)
{
    *s = (struct shape){
        .size = {call->m, call->n, call->k, call->kl, call->ku, call->lda, call->ldb, call->ldc, call->incx,
                 call->incy},
        .letter = {call->order, call->transa, call->transb, call->side, call->uplo, call->diag},
        .routine = (uint16_t)call->routine, .once = once, .loops = call->loops,
        .alpha = call->alpha[0] != 0 || call->alpha[1] != 0, .beta = call->beta[0] != 0 || call->beta[1] != 0};
}

static void addresses_of(const struct sc_blas_call *call, const void *address[ADDRESSES])
{
    address[0] = call->a;
    address[1] = call->b;
    address[2] = call->c;
    address[3] = call->x;
    address[4] = call->y;
}

/* The slot of the shape in the thread's table; NULL: no table.  The last block of counts is shared and has no table. */
static struct known *slot_of(const struct shape *s)
{
    struct sc_blas_count_block *block = (struct sc_blas_count_block *)sc_blas_counts;
    uint64_t mix = s->routine; /* sizes of wrong calls may wrap around */

    mix += UINT64_C(3) * s->size[0] + UINT64_C(5) * s->size[1] + UINT64_C(7) * s->size[2];
    mix += UINT64_C(11) * s->size[5] + UINT64_C(13) * s->size[8] + UINT64_C(17) * s->size[9];

    if (!block || !block->next)
        return NULL;
    if (!block->known) {
        sc_quiet_enter();
        sc_inside_enter();
        block->known = calloc(KNOWN, sizeof(struct known));
        sc_inside_leave();
        sc_quiet_leave();
    }
    return block->known ? (struct known *)block->known + (mix * UINT64_C(0x9e3779b97f4a7c15) >> 60) : NULL;
}

/* True when the devices have the same copies of a call's operands as in the call that was learned. */
static bool is_shared_alike(const struct sc_blas_home *home, const void *const operand[])
{
    struct sc_view view[SC_VIEWS_MAX];
    struct sc_residency residency;

    for (int i = 0; i < home->count; i++) {
        view[i] = home->operand[i];
        view[i].ptr = operand[i];
    }
    sc_coherence_residency(view, home->count, &residency);
    return memcmp(&residency, &home->residency, sizeof residency) == 0;
}

/* True when the decision for the host holds: the operands are at home, no device call has made or reads one of these
 * versions, and the account of the array allows.  The account and the demand are then kept as by sc_blas_offload. */
static bool stays(const struct known *k, const struct sc_blas_call *call)
{
    const struct sc_blas_home *home = &k->home;
    const void *address[ADDRESSES], *operand[SC_VIEWS_MAX];
    uint64_t array = 0;
    bool shared = false;

    addresses_of(call, address);
    for (int i = 0; i < home->count; i++) {
        enum sc_access access = home->operand[i].access;
        enum sc_at_home where;
        uintptr_t base;
        size_t bytes;

        operand[i] = address[k->field[i]];
        for (int j = 0; j < i; j++)
            if (operand[j] == operand[i])
                return false;
        where = sc_coherence_at_home(operand[i], home->span[i], access, &base, &bytes);
        if (where == SC_NOT_HOME || (where == SC_SHARED && !home->shared) ||
            (where == SC_OUTSIDE) != (home->outside >> i & 1))
            return false;
        if (where == SC_OUTSIDE)
            bytes = sc_view_bytes(&home->operand[i]);
        if (access & SC_READ && sc_demand_writer(operand[i]))
            return false;
        if (access & SC_WRITE && sc_demand_of_result(operand[i], home->op) > 0)
            return false;
        shared |= where == SC_SHARED;
        array = i == home->largest ? sc_blas_array_key(base, bytes) : array;
    }
    if (shared != home->shared || (shared && !is_shared_alike(home, operand)))
        return false;
    if (!sc_plan_stays(&home->plan, array))
        return false;
    for (int i = 0; i < home->count; i++)
        if (home->operand[i].access & SC_WRITE)
            sc_demand_written(operand[i], home->op, 0);
    return true;
}

enum recalled { NEW, SEEN, STAYS };

/* Looks a call up, and enters a new shape. */
static enum recalled recall(const struct sc_blas_call *call, bool once)
{
    enum recalled found = NEW;
    struct shape shape;
    struct known *k;

    if (busy_)
        return NEW;
    set_busy(true);
    shape_of(call, once, &shape);
    k = slot_of(&shape);
    if (k && memcmp(&k->shape, &shape, sizeof shape) == 0) {
        found = k->home.count && sc_coherence_stack_fits() &&
                sc_blas_started(sc_blas_rows[call->routine].op, call->type, call->side, call->m, call->n, call->k) &&
                stays(k, call) ? STAYS : SEEN;
    } else if (k) {
        k->home.count = 0;
        k->shape = shape;
    }
    set_busy(false);
    return found;
}

/* Enters what sc_blas_offload has found, unless two operands have the same address. */
static void learn(const struct sc_blas_call *call, bool once, const struct sc_blas_home *home)
{
    const void *address[ADDRESSES];
    struct shape shape;
    struct known *k;

    if (busy_ || !home->count)
        return;
    set_busy(true);
    addresses_of(call, address);
    shape_of(call, once, &shape);
    k = slot_of(&shape);
    if (k && memcmp(&k->shape, &shape, sizeof shape) == 0) {
        k->home = *home;
        for (int i = 0; i < home->count; i++) {
            int found = 0;

            for (int f = 0; f < ADDRESSES; f++)
                if (address[f] == home->operand[i].ptr) {
                    k->field[i] = (uint8_t)f;
                    found++;
                }
            k->home.count = found == 1 ? k->home.count : 0;
        }
    }
    set_busy(false);
}

/* --- copies that transpose a matrix ------------------------------------------------------------------------------- */

/* A copy that a device has done ahead is counted and traced as any other. */
static void note_step(const struct sc_blas_call *call)
{
    uint64_t bytes = (uint64_t)call->n * sc_type_bytes(call->type);

    sc_count(&sc_stats.offloaded[call->routine], 1);
    sc_count(&sc_stats.percall_in, bytes);
    sc_count(&sc_stats.percall_out, bytes);
    if (__builtin_expect(!sc_trace_on, 1))
        return;
    sc_trace_routine = (uint16_t)call->routine;
    sc_trace_site = sc_trace_site_here();
    sc_blas_record(call);
    sc_trace(.kind = SC_EVENT_DONE);
    sc_trace_routine = 0;
}

/* --- all large calls ---------------------------------------------------------------------------------------------- */

enum sc_blas_next sc_blas_large(struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    const bool open = sc_coherence_devices() > 0;
    /* The first copy of a process opens the devices, and is the first of its sweep. */
    const enum sc_blas_sweep sweep = row->op == SC_OP_COPY ? sc_blas_sweep(call) : SC_SWEEP_NONE;
    const bool once = open && sweep != SC_SWEEP_STEP && sc_blas_called_by_lapack();
    enum recalled recalled = NEW;
    struct sc_blas_home home;
    struct sc_blas_call asked;
    struct sc_kernel kernel;
    bool done;

    if (sweep == SC_SWEEP_STEP) {
        note_step(call);
        return SC_BLAS_DONE;
    }
    if (open && sweep <= SC_SWEEP_YOUNG && __builtin_expect(!sc_trace_on && !sc_explain_on, 1)) {
        if (is_short(row, call))
            return SC_BLAS_PLAIN; /* as by the gate */
        recalled = sweep == SC_SWEEP_NONE ? recall(call, once) : NEW;
    }
    if (recalled == STAYS)
        return SC_BLAS_HOST;
    if (!sc_blas_call_fits(call))
        return SC_BLAS_PLAIN;
    sc_blas_call_unwrap(call);
    asked = *call;
    if (call->order == SC_BLAS_ROWS && row->columns)
        row->columns(call);
    if (!sc_blas_call_valid(call))
        return SC_BLAS_PLAIN;
    if (!sc_coherence_stack_fits()) {
        bring_home(call);
        return SC_BLAS_HOST;
    }
    if (!sc_blas_started(row->op, call->type, call->side, call->m, call->n, call->k))
        return SC_BLAS_HOST; /* without devices all data is home */
    if (sweep == SC_SWEEP_RIPE && !once && sc_blas_sweep_begin()) {
        note_step(&asked);
        return SC_BLAS_DONE;
    }
    sc_trace_routine = (uint16_t)call->routine;
    if (__builtin_expect(sc_trace_on || sc_explain_on, 0))
        sc_trace_site = sc_trace_site_here();
    if (__builtin_expect(sc_trace_on, 0))
        sc_blas_record(&asked);
    home.count = 0;
    done = (sweep != SC_SWEEP_YOUNG || once) && sc_blas_call_kernel(call, &kernel) &&
           sc_blas_offload(call->routine, &kernel, sc_blas_called_by_lapack(), recalled == SEEN ? &home : NULL);
    if (done) {
        sc_trace(.kind = SC_EVENT_DONE);
    } else {
        bring_home(call);
        learn(&asked, once, &home);
    }
    sc_trace_routine = 0;
    return done ? SC_BLAS_DONE : SC_BLAS_HOST;
}
/* SPDX-License-Identifier: BSD-2-Clause */
