#include "tests/blas_calls.h"

#include <math.h>
#include <stdlib.h>

#include "tests/blas_definition.h"

/* --- what can be chosen ------------------------------------------------------------------------------------------ */

/* Letters of the operation; op < 0: a routine without an operation. */
static bool is_sided(int op) { return op >= 0 && sc_ops[op].side; }
static bool has_uplo(int op) { return op >= 0 && sc_ops[op].uplo; }
static bool has_trans(int op) { return op >= 0 && sc_ops[op].transa; }
static bool has_transb(int op) { return op >= 0 && sc_ops[op].transb; }
static bool is_triangular(int op) { return op >= 0 && sc_ops[op].diag; }

static bool is_solve(int op)
{
    return op == SC_OP_TRSM || op == SC_OP_TRSV || op == SC_OP_TBSV || op == SC_OP_TPSV;
}

/* Products of level 3 into a triangle. */
static bool is_rank(int op) { return has_uplo(op) && !is_sided(op) && sc_ops[op].level == 3; }

/* Products by a matrix of which only a triangle is stored. */
static bool is_symmetric(int op)
{
    return op == SC_OP_SYMM || op == SC_OP_HEMM || op == SC_OP_SYMV || op == SC_OP_HEMV || op == SC_OP_SBMV ||
           op == SC_OP_HBMV || op == SC_OP_SPMV || op == SC_OP_HPMV;
}

bool calls_is_complex_function(const struct sc_blas_row *row)
{
    return sc_type_is_complex(row->type) && (row->op == SC_OP_DOT || row->op == SC_OP_DOTC);
}

static struct sc_blas_call by_columns(struct sc_blas_call call)
{
    if (call.order == SC_BLAS_ROWS && sc_blas_rows[call.routine].columns)
        sc_blas_rows[call.routine].columns(&call);
    return call;
}

static struct sc_blas_call call_of(const struct calls_flags *f)
{
    return (struct sc_blas_call){.routine = f->routine, .type = sc_blas_rows[f->routine].type, .order = f->order,
                                 .side = f->side, .uplo = f->uplo, .transa = f->transa, .transb = f->transb,
                                 .diag = f->diag};
}

/* The smallest call with these letters; every other argument is valid. */
static struct sc_blas_call least(const struct calls_flags *f)
{
    struct sc_blas_call call = call_of(f);

    call.m = call.n = call.k = call.incx = call.incy = 1;
    call.lda = call.ldb = call.ldc = 2;
    return call;
}

bool calls_for_devices(const struct calls_flags *flags)
{
    struct sc_blas_call call = by_columns(least(flags));
    struct sc_kernel kernel, rows;

    call.alpha[0] = call.beta[0] = 1;
    return sc_blas_call_kernel(&call, &kernel) && (!kernel.conj || sc_kernel_rows(&kernel, &rows));
}

int calls_flags_of(int routine, struct calls_flags *list, int most)
{
    static const char *const none = "";
    const struct sc_blas_row *row = &sc_blas_rows[routine];
    const char *side = is_sided(row->op) ? "LR" : none, *uplo = has_uplo(row->op) ? "UL" : none;
    const char *transa = has_trans(row->op) ? "NTC" : none, *transb = has_transb(row->op) ? "NTC" : none;
    const char *diag = is_triangular(row->op) ? "NU" : none, *order = row->level > 1 ? "FCR" : "FC";
    const char *const letters[6] = {order, side, uplo, transa, transb, diag};
    int at[6] = {0}, count = 0, i;

    if (row->op < 0)
        return 0;
    do {
        struct calls_flags f = {routine, order[at[0]], side[at[1]], uplo[at[2]], transa[at[3]], transb[at[4]],
                                diag[at[5]]};
        struct sc_blas_call call = by_columns(least(&f));

        if (sc_blas_call_valid(&call) && count < most)
            list[count++] = f;
        for (i = 0; i < 6 && (!letters[i][at[i]] || !letters[i][++at[i]]); i++)
            at[i] = 0;
    } while (i < 6);
    return count;
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

double calls_real(enum sc_type type, const char *memory, int64_t real)
{
    float f;
    double d;

    if (calls_real_bytes(type) == sizeof f) {
        memcpy(&f, memory + (size_t)real * sizeof f, sizeof f);
        return f;
    }
    memcpy(&d, memory + (size_t)real * sizeof d, sizeof d);
    return d;
}

static void put_real(enum sc_type type, char *memory, int64_t real, double value)
{
    float f = (float)value;

    if (calls_real_bytes(type) == sizeof f)
        memcpy(memory + (size_t)real * sizeof f, &f, sizeof f);
    else
        memcpy(memory + (size_t)real * sizeof value, &value, sizeof value);
}

void calls_put(struct calls_arrays *arrays, int array, int64_t at, double re, double im)
{
    int reals = calls_reals(arrays->type);

    for (int both = 0; both < 2; both++) {
        char *memory = both ? arrays->copy[array] : arrays->target[array];

        put_real(arrays->type, memory, reals * at, re);
        if (reals == 2)
            put_real(arrays->type, memory, reals * at + 1, im);
    }
}

void calls_put_any(struct calls_arrays *arrays, int array, int64_t at, struct random *r)
{
    double re = (double)random_below(r, 5) - 2, im = (double)random_below(r, 5) - 2;

    calls_put(arrays, array, at, re, im);
}

/* Each element of a place; a vector with increment 0 is a single element. */
#define FOR_EACH(place, element)                                                                                      \
    for (int64_t col_ = 0, row_, element; col_ < (place)->cols; col_++)                                               \
        for (row_ = 0; row_ < (place)->rows && (element = (place)->at + row_ + col_ * (place)->step, true); row_++)

static void put_place(struct calls_arrays *arrays, const struct calls_place *p, struct random *r)
{
    FOR_EACH(p, at)
        calls_put_any(arrays, p->array, at, r);
}

static double size_at(const struct calls_arrays *arrays, int array, int64_t at)
{
    int reals = calls_reals(arrays->type);
    double size = 0;

    for (int i = 0; i < reals; i++)
        size += fabs(calls_real(arrays->type, arrays->copy[array], reals * at + i));
    return size;
}

static double largest(const struct calls_arrays *arrays, const struct calls_place *p)
{
    double most = 0;

    FOR_EACH(p, at)
        most = fmax(most, size_at(arrays, p->array, at));
    return most;
}

static double abs_of(const double scalar[2]) { return fabs(scalar[0]) + fabs(scalar[1]); }

/* An upper bound for every number that arises in the call. */
static double growth(const struct calls_call *c, const struct calls_arrays *arrays)
{
    const struct sc_blas_call *call = &c->call;
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    double depth = (double)(call->m + call->n + call->k + 1), in = 1, out = 0, alone = 0;

    for (int i = 0; i < c->operands; i++) {
        double size = largest(arrays, &c->place[i]);

        if (c->place[i].access & SC_WRITE)
            out = fmax(out, size);
        else
            in *= size, alone = size;
    }
    if (row->level == 1)
        return 8 * (in + out) + 2 * depth * in;
    if (is_triangular(row->op))
        return 8 * depth * (1 + abs_of(call->alpha)) * (1 + in) * out;
    if (c->operands == 2) /* a product of an operand with itself */
        in *= alone;
    return 8 * depth * abs_of(call->alpha) * in + 4 * (1 + abs_of(call->beta)) * out;
}

/* --- sizes, scalars ---------------------------------------------------------------------------------------------- */

/* 0, 1, or a small odd size; larger sizes cross tiles. */
static int64_t pick_size(struct random *r, int64_t most)
{
    switch (random_below(r, 16)) {
    case 0: return 0;
    case 1: return 1;
    case 2: case 3: case 4: return 1 + 2 * random_below(r, 8);
    default: return 1 + random_below(r, most);
    }
}

static void pick_scalar(struct random *r, enum sc_type type, bool real, double out[2])
{
    static const double values[] = {0, 1, 1, 1, -1, 2};

    out[0] = values[random_below(r, 6)];
    out[1] = sc_type_is_complex(type) && !real && random_below(r, 3) == 0 ? (double)random_below(r, 3) - 1 : 0;
}

static void pick_sizes(struct calls_call *c, struct random *r)
{
    struct sc_blas_call *call = &c->call;
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    bool real_alpha = row->op == SC_OP_HERK || row->op == SC_OP_HER || row->op == SC_OP_HPR || row->op == SC_OP_ROT;

    call->m = pick_size(r, 90);
    call->n = pick_size(r, row->level == 1 ? 500 : 90);
    call->k = pick_size(r, 90);
    call->kl = random_below(r, 5);
    call->ku = random_below(r, 5);
    if (row->op >= 0 && sc_op_is_banded((enum sc_op)row->op))
        call->k = random_below(r, 7);
    pick_scalar(r, call->type, real_alpha || row->scale_real, call->alpha);
    pick_scalar(r, call->type, real_alpha || row->op == SC_OP_HER2K, call->beta);
    for (int i = 0; i < 5; i++) { /* element 0, the flag, says which of elements 1 to 4 are used: -2, -1, 0, 1 */
        double value = (double)random_below(r, 4) - 2;

        if (call->type == SC_S)
            c->param.s[i] = (float)value;
        else
            c->param.d[i] = value;
    }
    call->param = &c->param;
    c->wide = random_below(r, 2);
}

/* --- places ------------------------------------------------------------------------------------------------------ */

static int64_t *step_of(struct sc_blas_call *call, char letter)
{
    switch (letter) {
    case 'B': return &call->ldb;
    case 'C': return &call->ldc;
    case 'X': return &call->incx;
    case 'Y': return &call->incy;
    default: return &call->lda;
    }
}

static void **pointer_of(struct sc_blas_call *call, char letter)
{
    switch (letter) {
    case 'B': return &call->b;
    case 'C': return &call->c;
    case 'X': return &call->x;
    case 'Y': return &call->y;
    default: return &call->a;
    }
}

static int64_t span(const struct calls_place *p)
{
    return p->cols > 0 && p->rows > 0 ? (p->cols - 1) * p->step + p->rows : 1;
}

/* Whether X may have increment 0, as one element repeated: for level 1 routines with two vectors that only read X. */
static bool may_repeat(const struct sc_blas_row *row, const struct calls_place *p)
{
    return row->level == 1 && sc_ops[row->op].letters[1] && p->letter == 'X' && p->access == SC_READ;
}

/* The increment of a vector as the program passes it. Level 1 routines with a single vector get no negative increment,
 * for which libraries differ. */
static int64_t pick_increment(const struct sc_blas_row *row, const struct calls_place *p, struct random *r)
{
    static const int64_t small[] = {1, 1, 1, 2, 3, -1, -2, -5};
    int64_t increment = small[random_below(r, 8)];

    if (p->cols <= CALLS_ELEMENTS / CALLS_LINE && random_below(r, 4) == 0)
        increment *= CALLS_LINE; /* a row of the matrix */
    if (p->cols * sc_step(increment) > CALLS_ELEMENTS)
        increment = 1;
    if (may_repeat(row, p) && random_below(r, 32) == 0)
        increment = 0;
    return row->level == 1 && !sc_ops[row->op].letters[1] ? sc_step(increment) : increment;
}

/* Chooses a place within an array: a block of the array's matrix, or a matrix with a leading dimension of its own. */
static void pick_place(struct calls_call *c, struct calls_place *p, struct random *r)
{
    int64_t *step = step_of(&c->call, p->letter), rows = p->rows > 1 ? p->rows : 1;

    p->array = (int)random_below(r, CALLS_ARRAYS);
    if (p->letter == 'X' || p->letter == 'Y') {
        *step = pick_increment(&sc_blas_rows[c->call.routine], p, r);
    } else if (p->letter == 'P') {
        *step = 1;
    } else {
        *step = rows + random_below(r, 6);
        if (random_below(r, 2)) {
            *step = CALLS_LINE;
            p->step = *step;
            p->at = random_below(r, CALLS_LINE - rows + 1) +
                    CALLS_LINE * random_below(r, CALLS_ELEMENTS / CALLS_LINE - p->cols + 1);
            return;
        }
    }
    p->step = sc_step(*step);
    p->at = random_below(r, CALLS_ELEMENTS - span(p) + 1);
}

static void put_at(struct calls_call *c, struct calls_place *p, const struct calls_place *same)
{
    int64_t step = *step_of(&c->call, same->letter);

    p->array = same->array;
    p->at = same->at;
    p->step = same->step;
    *step_of(&c->call, p->letter) = step;
}

/* Whether the operation treats every real number separately, so that its two vectors may be identical. (OpenBLAS's
 * complex axpy writes the real part before reading it for the imaginary part.) */
static bool is_by_element(const struct calls_call *c)
{
    int op = sc_blas_rows[c->call.routine].op;

    return op == SC_OP_COPY || op == SC_OP_SWAP ||
           ((op == SC_OP_AXPY || op == SC_OP_AXPBY) && !sc_type_is_complex(c->call.type));
}

/* In one of six cases makes an operand the same as the previous operand, if the routine allows it. */
static bool alias(struct calls_call *c, int i, struct random *r)
{
    struct calls_place *p = &c->place[i], *q = &c->place[i - 1];
    bool vector = p->letter == 'X' || p->letter == 'Y', before = q->letter == 'X' || q->letter == 'Y';
    bool allowed = p->access == SC_READ && q->access == SC_READ;

    if (p->rows != q->rows || p->cols != q->cols || vector != before || p->letter == 'P' || q->letter == 'P')
        return false;
    if (!allowed && !is_by_element(c))
        return false;
    if (random_below(r, 6) || (!allowed && q->step == 0))
        return false;
    put_at(c, p, q);
    return true;
}

bool calls_covers(const struct calls_place *p, int array, int64_t element)
{
    int64_t from = element - p->at, step = p->step > 0 ? p->step : 1;

    return array == p->array && from >= 0 && from / step < p->cols && from % step < p->rows;
}

static bool meet(const struct calls_place *p, const struct calls_place *q)
{
    if (p->array != q->array || p->at >= q->at + span(q) || q->at >= p->at + span(p))
        return false;
    FOR_EACH(p, at)
        if (calls_covers(q, q->array, at))
            return true;
    return false;
}

/* Whether no written operand overlaps a second operand, except where the two are identical and the routine allows
 * it. */
static bool is_allowed(const struct calls_call *c)
{
    for (int i = 0; i < c->operands; i++)
        for (int j = 0; j < i; j++) {
            const struct calls_place *p = &c->place[i], *q = &c->place[j];
            bool same = p->at == q->at && p->array == q->array && p->step == q->step && p->step != 0 &&
                        is_by_element(c) && p->cols == q->cols &&
                        *step_of((struct sc_blas_call *)&c->call, p->letter) ==
                            *step_of((struct sc_blas_call *)&c->call, q->letter);

            if (((p->access | q->access) & SC_WRITE) && !same && meet(p, q))
                return false;
        }
    return true;
}

static bool pick_places(struct calls_call *c, struct random *r)
{
    for (int tries = 0; tries < 40; tries++) {
        for (int i = 0; i < c->operands; i++)
            if (i == 0 || !alias(c, i, r))
                pick_place(c, &c->place[i], r);
        if (is_allowed(c))
            return true;
    }
    return false;
}

static void name_operands(struct calls_call *c)
{
    struct sc_blas_named named[SC_VIEWS_MAX];

    c->operands = sc_blas_name_operands(&c->call, named);
    for (int i = 0; i < c->operands; i++)
        c->place[i] = (struct calls_place){.letter = named[i].letter, .access = named[i].shape.access,
                                           .rows = named[i].shape.rows, .cols = named[i].shape.cols};
}

static void point(struct sc_blas_call *call, const struct calls_call *c, char *const *memory)
{
    for (int i = 0; i < c->operands; i++)
        *pointer_of(call, c->place[i].letter) =
            memory[c->place[i].array] + (size_t)c->place[i].at * sc_type_bytes(call->type);
}

struct sc_blas_call calls_on_copy(const struct calls_call *c, const struct calls_arrays *arrays)
{
    struct sc_blas_call call = c->call;

    point(&call, c, arrays->copy);
    return call;
}

/* --- numbers that a call needs ----------------------------------------------------------------------------------- */

/* The operand that is a triangle (full, banded or packed), and the operation on this operand by columns. */
static const struct calls_place *triangle_of(const struct calls_call *c, struct sc_kernel *kernel, int64_t *order,
                                             int64_t *ld)
{
    struct sc_blas_call call = by_columns(c->call);
    char letter;

    if (!sc_blas_call_kernel(&call, kernel) || !has_uplo(kernel->op))
        return NULL;
    letter = is_rank(kernel->op) ? 'C' : 'A';
    *order = is_sided(kernel->op) && kernel->side == 'L' ? kernel->m : kernel->n;
    *ld = is_rank(kernel->op) ? kernel->ldc : kernel->lda;
    for (int i = 0; i < c->operands; i++)
        if (c->place[i].letter == letter || (letter == 'A' && c->place[i].letter == 'P'))
            return &c->place[i];
    return NULL;
}

/* Makes a triangle whose inverse consists of small integers: 1 or -1 on the diagonal; off the diagonal, nonzeros only
 * in odd rows of even columns. */
static void make_solvable(const struct calls_call *c, struct calls_arrays *arrays, struct random *r)
{
    struct sc_kernel k;
    int64_t n, ld, at;
    const struct calls_place *p = triangle_of(c, &k, &n, &ld);

    for (int64_t col = 0; p && col < n; col++)
        for (int64_t row = 0; row < n; row++) {
            bool pair = row % 2 == 1 && col % 2 == 0;

            if ((at = definition_index(&k, ld, row, col)) < 0)
                continue;
            if (row == col)
                calls_put(arrays, p->array, p->at + at, random_below(r, 2) ? 1 : -1, 0);
            else if (pair)
                calls_put_any(arrays, p->array, p->at + at, r);
            else
                calls_put(arrays, p->array, p->at + at, 0, 0);
        }
}

static void spoil(struct calls_arrays *arrays, const struct calls_place *p, int64_t at)
{
    calls_put(arrays, p->array, p->at + at, NAN, NAN);
}

/* Spoils the elements of the array inside the triangle or (`others`) outside of the triangle. */
static void spoil_triangle(const struct calls_call *c, struct calls_arrays *arrays, bool others)
{
    static bool used[CALLS_ELEMENTS];
    struct sc_kernel k;
    int64_t n, ld, at;
    const struct calls_place *p = triangle_of(c, &k, &n, &ld);

    if (!p)
        return;
    memset(used, 0, sizeof used);
    for (int64_t col = 0; col < n; col++)
        for (int64_t row = 0; row < n; row++)
            if ((at = definition_index(&k, ld, row, col)) >= 0 && !(row == col && others && k.diag == 'U'))
                used[at] = true;
    FOR_EACH(p, element)
        if (used[element - p->at] != others)
            spoil(arrays, p, element - p->at);
}

static void spoil_all(struct calls_arrays *arrays, const struct calls_place *p)
{
    FOR_EACH(p, at)
        spoil(arrays, p, at - p->at);
}

static bool is_zero(const double scalar[2]) { return scalar[0] == 0 && scalar[1] == 0; }

/* Spoils elements that the routine must not read according to the standard. */
static void spoil_unread(const struct calls_call *c, struct calls_arrays *arrays, struct random *r)
{
    const struct sc_blas_row *row = &sc_blas_rows[c->call.routine];
    bool half = is_symmetric(row->op) || is_triangular(row->op);

    if (random_below(r, 3))
        return;
    for (int i = 0; i < c->operands; i++) {
        bool read = c->place[i].access == SC_READ;

        if (c->place[i].access == SC_WRITE ||
            (read && is_zero(c->call.alpha) && row->level == 3))
            spoil_all(arrays, &c->place[i]);
    }
    if (half)
        spoil_triangle(c, arrays, true);
    else if (is_rank(row->op) && is_zero(c->call.beta))
        spoil_triangle(c, arrays, false);
}

void calls_clean(const struct calls_call *c, struct calls_arrays *arrays, struct random *r)
{
    for (int i = 0; i < c->operands; i++)
        FOR_EACH(&c->place[i], at)
            if (isnan(size_at(arrays, c->place[i].array, at)))
                calls_put_any(arrays, c->place[i].array, at, r);
}

void calls_make(struct calls_call *c, const struct calls_flags *flags, struct calls_arrays *arrays, struct random *r)
{
    const double limit = calls_real_bytes(arrays->type) == 4 ? 1 << 23 : 0x1p51;

    do {
        *c = (struct calls_call){.call = call_of(flags)};
        pick_sizes(c, r);
        name_operands(c);
    } while (!pick_places(c, r));
    point(&c->call, c, arrays->target);
    if (is_solve(sc_blas_rows[flags->routine].op))
        make_solvable(c, arrays, r);
    if (!(growth(c, arrays) < limit)) {
        for (int i = 0; i < c->operands; i++)
            put_place(arrays, &c->place[i], r);
        if (is_solve(sc_blas_rows[flags->routine].op))
            make_solvable(c, arrays, r);
    }
    spoil_unread(c, arrays, r);
}
/* SPDX-License-Identifier: BSD-2-Clause */
