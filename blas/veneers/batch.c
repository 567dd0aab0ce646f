/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches of products: ?gemm_batch and ?gemm_batch_strided, with the arguments of MKL and of OpenBLAS 0.3.27 and later.
 *
 * ?gemm_batch has groups.  Every group has letters, sizes, scalars and leading dimensions of its own, and group_size[i]
 * products; the arrays of pointers have the products of all groups in a row.  ?gemm_batch_strided has one group, whose
 * operands are equally far apart.
 *
 * A group whose operands are equally far apart is one call for the devices (struct sc_batch).  Other groups are lists
 * of products (struct sc_batch_items), and so are several groups together.  Groups that have neither form, or stay on
 * the host, are calls of ?gemm, each with a decision of its own.  When the devices take no group, the program's own
 * routine serves the call, where the process has the routine.
 *
 * Invalid arguments go to the program's own routine; without the routine, xerbla receives the position of the first
 * invalid argument, and nothing is computed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/inside.h"
#include "base/log.h"
#include "blas/blas_int.h"
#include "blas/veneers/gate.h"
#include "blas/veneers/prototypes.h"
#include "coherence/call.h"

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* Operand of the products of a group: from an array of pointers, or `stride` elements apart. */
struct places {
    void *const *array; /* NULL: strided */
    char *first;
    int64_t stride, ld;
};

/* Arguments by columns. */
struct group {
    enum sc_type type;
    char transa, transb;
    int64_t m, n, k, count;
    const void *alpha, *beta; /* elements of the type */
    struct places a, b, c;
};

/* The call's routine and interface. */
struct routine {
    const char *name; /* "dgemm_batch" */
    int number;       /* from 0; the trace's number is SC_TRACE_BATCH more */
    enum sc_type type;
    bool cblas, wide, strided;
    char order; /* of the CBLAS: SC_BLAS_ROWS, SC_BLAS_COLUMNS, or '?' */
};

static void *place_of(const struct places *p, enum sc_type type, int64_t i)
{
    return p->array ? p->array[i] : p->first + i * p->stride * (int64_t)sc_type_bytes(type);
}

static void swap_places(struct group *g)
{
    const struct places a = g->a;

    g->a = g->b;
    g->b = a;
}

/* A product by rows is the product of the transposed matrices by columns. */
static void by_columns(struct group *g)
{
    sc_rows_swap_letters(&g->transa, &g->transb);
    sc_rows_swap(&g->m, &g->n);
    swap_places(g);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Position of the first invalid argument, of the Fortran routine; 0: all are valid. */
static int wrong_of(const struct group *g, const struct routine *r)
{
    const bool rows = r->order == SC_BLAS_ROWS;
    const int64_t rows_of_a = (g->transa == 'N') != rows ? g->m : g->k;
    const int64_t rows_of_b = (g->transb == 'N') != rows ? g->k : g->n;
    const struct {
        bool wrong;
        int grouped, strided;
    } tests[] = {
        {!sc_op_takes(SC_OP_GEMM, g->type, SC_TRANSA, g->transa), 1, 1},
        {!sc_op_takes(SC_OP_GEMM, g->type, SC_TRANSB, g->transb), 2, 2},
        {g->m < 0, 3, 3}, {g->n < 0, 4, 4}, {g->k < 0, 5, 5},
        {g->a.ld < larger(1, rows_of_a), 8, 8}, {g->b.ld < larger(1, rows_of_b), 10, 11},
        {g->c.ld < larger(1, rows ? g->n : g->m), 13, 15}, {g->count < 0, 15, 17},
    };

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (tests[i].wrong)
            return r->strided ? tests[i].strided : tests[i].grouped;
    return 0;
}

static void complain(const struct routine *r, int64_t position)
{
    char name[32];

    if (r->cblas) {
        snprintf(name, sizeof name, "cblas_%s", r->name);
        cblas_xerbla((int)position + 1, name, "%s", "");
        return;
    }
    snprintf(name, sizeof name, "%s", r->name);
    for (char *at = name; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    xerbla_(name, (const sc_blas_int *)&position, strlen(name)); /* xerbla may read either width */
}

static double work_of(const struct group *g)
{
    return (double)g->m * (double)g->n * (double)g->k * (double)g->count;
}

static bool is_large(const struct group *g)
{
    return g->count > 0 && g->m > 0 && g->n > 0 && g->k > 0 && work_of(g) >= (double)sc_blas_small[3];
}

/* --- on the devices ----------------------------------------------------------------------------------------------- */

/* Whether all operands are equally far apart; *stride: in elements. */
static bool is_regular(const struct places *p, const struct group *g, int64_t *stride)
{
    const int64_t bytes = (int64_t)sc_type_bytes(g->type);
    int64_t apart;

    *stride = p->stride;
    if (!p->array)
        return p->stride >= 0;
    apart = g->count > 1 ? (char *)p->array[1] - (char *)p->array[0] : 0;
    for (int64_t i = 2; i < g->count; i++)
        if ((char *)p->array[i] - (char *)p->array[i - 1] != apart)
            return false;
    *stride = apart / bytes;
    return apart >= 0 && apart % bytes == 0;
}

/* The step of an operand with `rows` rows in each product.  False: the operands do not form one matrix. */
static bool step_of(const struct places *p, const struct group *g, int64_t rows, struct sc_batch_step *step)
{
    int64_t stride;

    if (!is_regular(p, g, &stride))
        return false;
    *step = (struct sc_batch_step){.row = stride % p->ld, .col = stride / p->ld};
    return step->row == 0 || rows + (g->count - 1) * step->row <= p->ld;
}

/* Sums and products of the sizes do not overflow. */
static bool fits(const struct group *g)
{
    const int64_t size[] = {g->m, g->n, g->k, g->a.ld, g->b.ld, g->c.ld, g->a.stride, g->b.stride, g->c.stride};

    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (size[i] < 0 || (double)size[i] * (double)g->count > (double)SC_BLAS_SIDE_MAX)
            return false;
    return true;
}

static bool overlap(const struct sc_view *a, const struct sc_view *b)
{
    const uintptr_t from = (uintptr_t)a->ptr, other = (uintptr_t)b->ptr;

    return from < other + sc_view_span(b) && other < from + sc_view_span(a);
}

/* The parts of the result have no common element. */
static bool is_apart(const struct sc_kernel *k)
{
    const struct sc_batch_step s = k->batch.c;

    return k->batch.count == 1 || s.col >= k->n / k->batch.count || (s.col == 0 && s.row >= k->m);
}

static double number_of(const void *scalar, enum sc_type type, int part)
{
    if (part && !sc_type_is_complex(type))
        return 0;
    return type == SC_S || type == SC_C ? (double)((const float *)scalar)[part] : ((const double *)scalar)[part];
}

/* The record of a group for the devices.  False: the group has none. */
static bool kernel_of(const struct group *g, struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];

    if (!fits(g))
        return false;
    *k = (struct sc_kernel){.op = SC_OP_GEMM, .type = g->type, .transa = g->transa, .transb = g->transb, .m = g->m,
                            .n = g->n * g->count, .k = g->k, .a = place_of(&g->a, g->type, 0),
                            .b = place_of(&g->b, g->type, 0), .c = place_of(&g->c, g->type, 0), .lda = g->a.ld,
                            .ldb = g->b.ld, .ldc = g->c.ld, .batch.count = g->count};
    for (int part = 0; part < 2; part++) {
        k->alpha[part] = number_of(g->alpha, g->type, part);
        k->beta[part] = number_of(g->beta, g->type, part);
    }
    if (!step_of(&g->a, g, g->transa == 'N' ? g->m : g->k, &k->batch.a) ||
        !step_of(&g->b, g, g->transb == 'N' ? g->k : g->n, &k->batch.b) ||
        !step_of(&g->c, g, g->m, &k->batch.c) || !is_apart(k) || !sc_kernel_is_work(k))
        return false;
    sc_kernel_views(k, view);
    for (int i = 0; i < SC_VIEWS_MAX; i++)
        if (!sc_view_fits(&view[i]))
            return false;
    return !overlap(&view[0], &view[2]) && !overlap(&view[1], &view[2]);
}

/* False: the host computes the record's products. */
static bool offload(const struct routine *r, const struct sc_kernel *k)
{
    bool done;

    if (!sc_blas_started(k->op, k->type, 0, k->m, k->n, k->k))
        return false;
    sc_trace_routine = (uint16_t)(SC_TRACE_BATCH + r->number);
    if (__builtin_expect(sc_trace_on || sc_explain_on, 0))
        sc_trace_site = sc_trace_site_here();
    done = sc_blas_offload(SC_TRACE_BATCH + r->number, k, false, NULL);
    if (done)
        sc_trace(.kind = SC_EVENT_DONE);
    sc_trace_routine = 0;
    return done;
}

static bool is_regular_group(const struct group *g, struct sc_kernel *k)
{
    return is_large(g) && g->count > 1 && kernel_of(g, k);
}

/* False: the group is no single call, or the host computes it. */
static bool on_devices(const struct group *g, const struct routine *r)
{
    struct sc_kernel k;

    return sc_coherence_stack_fits() && is_regular_group(g, &k) && offload(r, &k);
}

/* --- products at any places --------------------------------------------------------------------------------------- */

#define SMALLEST 2 /* a product has on average at least this fraction of the work of a large call */

static bool is_zero(const void *scalar, enum sc_type type)
{
    return number_of(scalar, type, 0) == 0 && number_of(scalar, type, 1) == 0;
}

/* Whether the group may be a part of a list: its products read A and B. */
static bool is_listed(const struct group *g)
{
    return fits(g) && g->k > 0 && !is_zero(g->alpha, g->type);
}

static bool is_empty(const struct group *g) { return g->count <= 0 || g->m <= 0 || g->n <= 0; }

static void add_items(const struct group *g, struct sc_batch_items *items)
{
    struct sc_batch_item item = {.transa = g->transa, .transb = g->transb, .m = g->m, .n = g->n, .k = g->k,
                                 .lda = g->a.ld, .ldb = g->b.ld, .ldc = g->c.ld};

    for (int part = 0; part < 2; part++) {
        item.alpha[part] = number_of(g->alpha, g->type, part);
        item.beta[part] = number_of(g->beta, g->type, part);
    }
    for (int64_t i = 0; i < g->count; i++) {
        item.a = (int64_t)(uintptr_t)place_of(&g->a, g->type, i);
        item.b = (int64_t)(uintptr_t)place_of(&g->b, g->type, i);
        item.c = (int64_t)(uintptr_t)place_of(&g->c, g->type, i);
        items->item[items->count++] = item;
    }
}

/* What a call asks for: the group with a number, whose products begin at `first` in the arrays. */
typedef struct group group_of(const struct routine *r, const void *arguments, int64_t i, int64_t first);

static struct group by_columns_of(const struct routine *r, group_of *group, const void *arguments, int64_t i,
                                  int64_t first)
{
    struct group g = group(r, arguments, i, first);

    if (r->order == SC_BLAS_ROWS)
        by_columns(&g);
    return g;
}

/* The products of the groups [from, end), the first at `first` of the arrays, as one call on the devices.  False: the
 * host computes them. */
static bool listed_on_devices(const struct routine *r, group_of *group, const void *arguments, int64_t from,
                              int64_t end, int64_t first)
{
    struct sc_batch_items *items;
    struct sc_kernel k;
    int64_t count = 0, at = first;
    double work = 0;
    bool done = true;

    for (int64_t i = from; i < end && done; i++) {
        struct group g = by_columns_of(r, group, arguments, i, at);

        at += g.count;
        done = is_empty(&g) || is_listed(&g);
        count += is_empty(&g) ? 0 : g.count;
        work += is_empty(&g) ? 0 : work_of(&g);
    }
    if (!done || count < 2 || work < (double)sc_blas_small[3] ||
        work * SMALLEST < (double)count * (double)sc_blas_small[3] || !sc_coherence_stack_fits())
        return false;
    items = malloc(sc_batch_bytes(count));
    if (!items)
        return false;
    items->count = 0;
    for (int64_t i = from; i < end; i++) {
        struct group g = by_columns_of(r, group, arguments, i, first);

        first += g.count;
        if (!is_empty(&g))
            add_items(&g, items);
    }
    done = sc_blas_items_record(items, r->type, &k) && offload(r, &k);
    free(items);
    return done;
}

/* --- on the host -------------------------------------------------------------------------------------------------- */

/* A product as a call of this library: small calls pass to the host at once, and large calls are decided. */
static void product(const struct group *g, int64_t i)
{
    typedef void gemm(const char *, const char *, const int64_t *, const int64_t *, const int64_t *, const void *,
                      const void *, const int64_t *, const void *, const int64_t *, const void *, void *,
                      const int64_t *, size_t, size_t);
    static const sc_blas_fn routine[SC_TYPES] = {[SC_S] = (sc_blas_fn)sgemm_64_, [SC_D] = (sc_blas_fn)dgemm_64_,
                                                 [SC_C] = (sc_blas_fn)cgemm_64_, [SC_Z] = (sc_blas_fn)zgemm_64_};

    ((gemm *)routine[g->type])(&g->transa, &g->transb, &g->m, &g->n, &g->k, g->alpha,
                               place_of(&g->a, g->type, i), &g->a.ld, place_of(&g->b, g->type, i), &g->b.ld, g->beta,
                               place_of(&g->c, g->type, i), &g->c.ld, 1, 1);
}

static void products(const struct group *g)
{
    for (int64_t i = 0; i < g->count && g->m > 0 && g->n > 0; i++)
        product(g, i);
}

/* Brings the operands home before the host's routine, whose threads would otherwise fault. */
static void bring_home(const struct group *g)
{
    for (int64_t i = 0; i < g->count && g->m > 0 && g->n > 0; i++) {
        const struct sc_kernel k = {.op = SC_OP_GEMM, .type = g->type, .transa = g->transa, .transb = g->transb,
                                    .m = g->m, .n = g->n, .k = g->k, .a = place_of(&g->a, g->type, i),
                                    .b = place_of(&g->b, g->type, i), .c = place_of(&g->c, g->type, i),
                                    .lda = g->a.ld, .ldb = g->b.ld, .ldc = g->c.ld, .beta = {1}};
        struct sc_view view[SC_VIEWS_MAX];

        sc_blas_host_operands(view, sc_kernel_views(&k, view));
    }
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* A call by parts: its groups, and what is known of them. */
struct call {
    const struct routine *routine;
    group_of *group;
    const void *arguments;
    int64_t groups;
    double work;
    bool large;   /* a group has the work of a large call */
    bool regular; /* a large group of several is a single call for the devices */
};

/* Looks at all groups.  Returns the position of the first invalid argument; 0: all are valid. */
static int look_at(struct call *call)
{
    int wrong = call->routine->order == '?' ? -1 : call->groups < 0 ? 14 : 0;
    int64_t first = 0;

    for (int64_t i = 0; i < call->groups && !wrong; i++) {
        struct group g = call->group(call->routine, call->arguments, i, first);
        struct sc_kernel k;

        wrong = wrong_of(&g, call->routine);
        first += g.count;
        if (wrong || is_empty(&g))
            continue;
        call->work += work_of(&g);
        call->large |= is_large(&g);
        g = by_columns_of(call->routine, call->group, call->arguments, i, first - g.count);
        call->regular |= call->groups > 1 && is_regular_group(&g, &k);
    }
    return wrong;
}

static void all_home(const struct call *call)
{
    int64_t first = 0;

    if (sc_coherence_devices() == 0 || !sc_coherence_stack_fits())
        return;
    for (int64_t i = 0; i < call->groups; i++) {
        struct group g = by_columns_of(call->routine, call->group, call->arguments, i, first);

        first += g.count;
        bring_home(&g);
    }
}

/* Group by group, on the devices or as single products.  own: a routine that takes the whole call may take a single
 * group.  True: that routine has to. */
static bool serve_each(const struct call *call, bool own)
{
    const struct routine *r = call->routine;
    struct sc_host_timing timing;
    bool any = false;
    int64_t first = 0;

    for (int64_t i = 0; i < call->groups; i++) {
        struct group g = by_columns_of(r, call->group, call->arguments, i, first);
        bool done = !sc_inside() && (on_devices(&g, r) ||
                                     listed_on_devices(r, call->group, call->arguments, i, i + 1, first));

        first += g.count;
        any |= done;
        if (!done && own && call->groups == 1)
            return true;
        if (!done) {
            sc_host_rates_begin_outer(&timing); /* products below the limit are not announced one by one */
            products(&g);
            sc_host_rates_end_outer(&timing);
        }
    }
    if (!any)
        sc_blas_count(SC_TRACE_BATCH + r->number);
    return false;
}

/* The program's own routine, or the host BLAS's, for the rest of the call; NULL: the call is done.  *enter: under
 * sc_blas_enter. */
static sc_blas_fn serve(const struct routine *r, const char *symbol, const void *arguments, int64_t groups,
                        group_of *group, bool *enter)
{
    sc_blas_fn own = sc_blas_other_of_program(SC_BLAS_OTHER_BATCH + 4 * r->number + 2 * r->wide + r->cblas, symbol);
    struct call call = {.routine = r, .group = group, .arguments = arguments, .groups = groups};
    int wrong = look_at(&call);

    *enter = false;
    if (wrong && !own)
        complain(r, wrong < 0 ? 0 : wrong);
    if (wrong)
        return own;
    if (own && (call.work < (double)sc_blas_small[3] || sc_inside())) {
        sc_blas_count(SC_TRACE_BATCH + r->number);
        return own;
    }
    if (groups > 1 && !call.regular && !sc_inside() && listed_on_devices(r, group, arguments, 0, groups, 0))
        return NULL;
    if ((!own || groups == 1 || call.large) && !serve_each(&call, own != NULL))
        return NULL;
    all_home(&call);
    sc_blas_count(SC_TRACE_BATCH + r->number);
    *enter = true;
    return own;
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

static int64_t integer(const struct routine *r, const void *array, int64_t i)
{
    return r->wide || sc_blas_wide ? ((const int64_t *)array)[i] : ((const sc_blas_int *)array)[i];
}

/* Fortran: a letter of an array.  CBLAS: a number of an array of 32-bit numbers. */
static char letter(const struct routine *r, const void *array, int64_t i)
{
    return r->cblas ? sc_cblas_trans(((const int *)array)[i]) : sc_blas_letter(((const char *)array)[i]);
}

/* Arrays of ?gemm_batch, under the names of its arguments. */
struct grouped {
    const void *transa, *transb, *m, *n, *k, *alpha, *a, *lda, *b, *ldb, *beta, *c, *ldc, *size;
};

static struct group grouped(const struct routine *r, const void *arguments, int64_t i, int64_t first)
{
    const struct grouped *g = arguments;
    const size_t bytes = sc_type_bytes(r->type);

    return (struct group){
        .type = r->type, .transa = letter(r, g->transa, i), .transb = letter(r, g->transb, i),
        .m = integer(r, g->m, i), .n = integer(r, g->n, i), .k = integer(r, g->k, i), .count = integer(r, g->size, i),
        .alpha = (const char *)g->alpha + (size_t)i * bytes, .beta = (const char *)g->beta + (size_t)i * bytes,
        .a = {.array = (void *const *)g->a + first, .ld = integer(r, g->lda, i)},
        .b = {.array = (void *const *)g->b + first, .ld = integer(r, g->ldb, i)},
        .c = {.array = (void *const *)g->c + first, .ld = integer(r, g->ldc, i)}};
}

static struct group strided(const struct routine *r, const void *arguments, int64_t i, int64_t first)
{
    (void)r, (void)i, (void)first;
    return *(const struct group *)arguments;
}

/* --- the functions that programs call ----------------------------------------------------------------------------- */

/* A call of ?gemm_batch.  count: of groups.  Returns as serve. */
static sc_blas_fn serve_groups(const struct routine *r, const char *symbol, int64_t count, const struct grouped *g,
                               bool *enter)
{
    return serve(r, symbol, g, count, grouped, enter);
}

static sc_blas_fn serve_strided(const struct routine *r, const char *symbol, const struct group *g, bool *enter)
{
    return serve(r, symbol, g, 1, strided, enter);
}

static void begin_own(const struct routine *r, bool enter)
{
    if (enter)
        sc_blas_enter(SC_TRACE_BATCH + r->number);
}
static void end_own(bool enter)
{
    if (enter)
        sc_blas_leave();
}

#define VISIBLE __attribute__((visibility("default")))
#define VALUE(integer) (WIDE ? integer : sc_blas_int_of(integer))
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define PASTE_(a, b, c, d) a##b##c##d
#define PASTE(a, b, c, d) PASTE_(a, b, c, d)

/* For every type: the letter, the number in the order of sc_type, and how the CBLAS passes a scalar. */
#define LETTER s
#define TYPE SC_S
#define SCALAR float
#define ADDRESS(scalar) &scalar
#include "blas/veneers/batch_type.inc"
#define LETTER d
#define TYPE SC_D
#define SCALAR double
#define ADDRESS(scalar) &scalar
#include "blas/veneers/batch_type.inc"
#define LETTER c
#define TYPE SC_C
#define SCALAR const void *
#define ADDRESS(scalar) scalar
#include "blas/veneers/batch_type.inc"
#define LETTER z
#define TYPE SC_Z
#define SCALAR const void *
#define ADDRESS(scalar) scalar
#include "blas/veneers/batch_type.inc"

/* Further names of the functions, as other routines of the BLAS have. */
#define NAMES(name)                                                                                                   \
    SC_GATE_NAME(name, name##_);                                                                                      \
    SC_GATE_NAME(scipy_##name##_, name##_);                                                                           \
    SC_GATE_NAME(name##_64, name##_64_);                                                                              \
    SC_GATE_NAME(scipy_##name##_64_, name##_64_);                                                                     \
    SC_GATE_NAME(scipy_cblas_##name, cblas_##name);                                                                   \
    SC_GATE_NAME(cblas_##name##_64, cblas_##name##64_);                                                               \
    SC_GATE_NAME(scipy_cblas_##name##64_, cblas_##name##64_);
NAMES(sgemm_batch)
NAMES(dgemm_batch)
NAMES(cgemm_batch)
NAMES(zgemm_batch)
NAMES(sgemm_batch_strided)
NAMES(dgemm_batch_strided)
NAMES(cgemm_batch_strided)
NAMES(zgemm_batch_strided)
