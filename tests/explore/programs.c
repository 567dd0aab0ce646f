/* The actions of a program's threads, and the values that the threads have to see. */
#include <stdlib.h>
#include <string.h>

#include "tests/explore/explore.h"
#include "tests/tap.h"

double *explore_data[ARRAYS];
double explore_model[ARRAYS][PAGES * 512];
/* Elements before the kernel that a thread is about to run: a child may find the old or the new values. */
static double before[ARRAYS][PAGES * 512];

/* Derived copies of the elements in a step's range, for the thread that owns the elements. */
static struct sc_derived forms[DEVICES];
static uint64_t made_at[DEVICES]; /* in the time of coherence/derived.c */

/* Private copies of tokens, by the array and the first element of the range. */
static struct token {
    void *memory; /* NULL: none */
    int device;
} tokens[ARRAYS][2];

/* Leases likewise, with the values that were leased. */
static struct leased {
    struct sc_lease *lease; /* NULL: none */
    void *memory;
    double values[ELEMENTS];
} leases[ARRAYS][2];

/* One block per array: the first page's beginning and the last page's end lie outside of the matrix. */
void explore_programs_start(void)
{
    char *block = malloc(ARRAYS * 8 * SC_PAGE);

    for (int a = 0; a < ARRAYS; a++)
        explore_data[a] = (double *)(void *)(block + (size_t)a * 8 * SC_PAGE);
}

static void fill(int array, double from)
{
    for (int i = 0; i < PAGES * 512; i++)
        explore_data[array][i] = explore_model[array][i] = before[array][i] = from + i;
    memset(explore_lost[array], 0, sizeof explore_lost[array]);
}

static void end_leases(void)
{
    sc_protocol_lock();
    sc_lease_stop(); /* the devices' memory is new */
    sc_protocol_unlock();
    for (int i = 0; i < ARRAYS * 2; i++) {
        struct leased *l = &leases[i / 2][i % 2];

        if (l->lease)
            sc_coherence_lease_end(l->lease);
        *l = (struct leased){.lease = NULL};
    }
}

void explore_programs_reset(void)
{
    end_leases();
    for (int a = 0; a < ARRAYS; a++) {
        sc_coherence_forget((uintptr_t)explore_data[a], PAGES * SC_PAGE);
        fill(a, 10000 * (a + 1));
    }
    memset(tokens, 0, sizeof tokens); /* the devices' memory is new */
    sc_protocol_lock();
    for (int d = 0; d < DEVICES; d++)
        sc_coherence_derived_drop(&forms[d]);
    sc_protocol_unlock();
}

static uintptr_t address(int array, int element)
{
    return (uintptr_t)&explore_data[array][FIRST + element];
}

static struct sc_view view(const struct program *p, int array, int first, int n, enum sc_access access)
{
    return (struct sc_view){.ptr = (const void *)address(array, first), .type = SC_D, .vector = true, .rows = n,
                            .cols = 1, .ld = 1, .access = access, .spread = p->spread};
}

static bool is_sum(const struct step *s)
{
    return s->action == ADD || s->action == USE || s->action == TASK_ADD || s->action == LEASED_ADD;
}

static bool is_set(const struct step *s) { return s->action == SET || s->action == TASK_SET; }
static bool is_task(const struct step *s) { return s->action >= TASK_NEGATE && s->action <= TASK_ADD; }

/* No two steps write the same. */
static double value_of(const struct program *p, const struct step *s)
{
    return 500000 + (double)(s - &p->prelude[0]);
}

static struct sc_kernel kernel_of(const struct program *p, const struct step *s, int64_t n)
{
    return (struct sc_kernel){.op = is_sum(s) ? SC_OP_AXPY : SC_OP_SCAL, .type = SC_D, .m = n, .n = n,
                              .alpha = {is_set(s) ? 0 : 1, value_of(p, s)}};
}

static double computed(const struct sc_kernel *k, double x, double y)
{
    return k->op != SC_OP_SCAL ? y + x : k->alpha[0] != 0 ? -x : k->alpha[1];
}

void explore_kernel(const struct sc_kernel *k)
{
    double *x = k->a, *y = k->op == SC_OP_CSRMV ? k->c : k->op == SC_OP_AXPY ? k->b : k->a;

    for (int64_t i = 0; i < k->n; i++)
        y[i] = computed(k, x[i], y[i]);
}

void explore_kernel_on_host(const struct sc_kernel *k)
{
    double *x = k->a, *y = k->op == SC_OP_AXPY ? k->b : k->a;

    for (int64_t i = 0; i < k->n; i++) {
        double input;

        explore_touch((uintptr_t)&x[i], SC_READ);
        input = *(volatile double *)&x[i];
        explore_touch((uintptr_t)&y[i], SC_WRITE);
        *(volatile double *)&y[i] = computed(k, input, y[i]);
    }
}

/* --- tasks of the program ----------------------------------------------------------------------------------------- */

struct record {
    struct sc_own_slot slot[SC_OWN_PIECES];
    struct sc_kernel kernel;
};

static void enqueue(int device, void *stream, void *of)
{
    struct record *r = of;

    (void)stream;
    r->kernel.a = r->slot[0].memory;
    r->kernel.b = r->slot[1].memory;
    explore_device.launch(device, SC_STREAM_COMPUTE, &r->kernel);
}

static enum sc_status own_task(int device, const struct sc_kernel *k, const struct sc_piece *pieces, int count)
{
    struct record r = {.kernel = *k};
    struct sc_device_call call = {.run = enqueue, .record = &r, .bytes = sizeof r};

    return sc_coherence_own_task(device, pieces, count, r.slot, &call);
}

/* On devices.  Returns the first element that the host has to compute. */
static int offload(const struct program *p, const struct step *s)
{
    bool add = is_sum(s);
    enum sc_status status = SC_OK;
    struct sc_view views[2] = {view(p, !s->array, s->first, s->count, SC_READ),
                               view(p, s->array, s->first, s->count, is_set(s) ? SC_WRITE : SC_RDWR)};
    struct sc_operand o[2];
    struct sc_cuts cuts;
    int i = 0;

    if (sc_coherence_begin(add ? views : views + 1, 1 + add, o) != SC_OK)
        return 0;
    sc_coherence_row_cuts(&o[0], &cuts);
    for (; i < cuts.n; i++) {
        int64_t n = cuts.at[i + 1] - cuts.at[i];
        struct sc_piece pieces[3] = {{.operand = NULL}};
        struct sc_kernel k = kernel_of(p, s, n);

        for (int v = 0; v <= add; v++)
            pieces[v] = (struct sc_piece){.operand = &o[v], .r = cuts.at[i], .rows = n, .cols = 1,
                                          .access = o[v].view.access};
        if (!is_task(s))
            sc_coherence_task(s->device, &k, pieces, NULL, NULL);
        else
            status = own_task(s->device, &k, pieces, 1 + add);
        if (status != SC_OK)
            break;
    }
    sc_coherence_end(o, 1 + add);
    return (int)cuts.at[i];
}

/* Elements [first, first + n) of the step's range. */
static void on_host(const struct program *p, const struct step *s, int first, int n)
{
    struct sc_kernel k = kernel_of(p, s, n);

    k.a = (void *)address(is_sum(s) ? !s->array : s->array, s->first + first);
    k.b = (void *)address(s->array, s->first + first);
    explore_kernel_on_host(&k);
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

static struct token *token_of(const struct step *s) { return &tokens[s->array][s->first >= 512]; }

/* Between begin and end. */
static enum sc_status copy_out(const struct program *p, const struct step *s, const struct sc_operand *o, void *memory)
{
    struct sc_kernel k = kernel_of(p, s, s->count);
    enum sc_status status = SC_OK;
    struct record r = {.kernel = k, .slot = {{memory, 1}}};
    struct sc_device_call call = {.run = enqueue, .record = &r, .bytes = sizeof r};
    struct sc_cuts cuts;

    sc_coherence_row_cuts(o, &cuts);
    for (int i = 0; i < cuts.n && status == SC_OK; i++) {
        struct sc_piece piece = {.operand = o, .r = cuts.at[i], .rows = cuts.at[i + 1] - cuts.at[i], .cols = 1,
                                 .access = SC_READ, .temporary_ld = 1};

        status = sc_coherence_own_copy(s->device, &piece, (double *)memory + piece.r, true);
    }
    return status == SC_OK ? sc_coherence_own_task(s->device, NULL, 0, r.slot, &call) : status;
}

static void take(const struct program *p, const struct step *s)
{
    struct sc_view v = view(p, s->array, s->first, s->count, SC_READ);
    struct token *t = token_of(s);
    struct sc_operand o;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        return;
    t->device = s->device;
    if (sc_coherence_temporary(s->device, (size_t)s->count * sizeof(double), &t->memory) != SC_OK) {
        t->memory = NULL;
    } else if (copy_out(p, s, &o, t->memory) != SC_OK) {
        sc_coherence_temporary_free(s->device, t->memory);
        t->memory = NULL;
    }
    sc_coherence_end(&o, 1);
}

/* Returns the first element that the host has to compute. */
static int give(const struct program *p, const struct step *s)
{
    struct sc_view v = view(p, s->array, s->first, s->count, SC_WRITE);
    struct token *t = token_of(s);
    struct sc_operand o;
    struct sc_cuts cuts;
    int i = 0;

    if (!t->memory || sc_coherence_begin(&v, 1, &o) != SC_OK)
        return 0;
    sc_coherence_row_cuts(&o, &cuts);
    for (; i < cuts.n; i++) {
        struct sc_piece piece = {.operand = &o, .r = cuts.at[i], .rows = cuts.at[i + 1] - cuts.at[i], .cols = 1,
                                 .access = SC_WRITE, .temporary_ld = 1};

        if (sc_coherence_own_copy(t->device, &piece, (double *)t->memory + piece.r, false) != SC_OK)
            break;
    }
    sc_coherence_temporary_free(t->device, t->memory);
    t->memory = NULL;
    sc_coherence_end(&o, 1);
    return (int)cuts.at[i];
}

/* --- leases ------------------------------------------------------------------------------------------------------- */

static struct leased *leased_of(int array, const struct step *s) { return &leases[array][s->first >= 512]; }

static void take_lease(const struct program *p, const struct step *s)
{
    struct sc_view v = view(p, !s->array, s->first, s->count, SC_READ);
    struct leased *l = leased_of(!s->array, s);
    struct sc_operand o;
    struct sc_cuts cuts;

    memcpy(l->values, &explore_model[!s->array][FIRST + s->first], (size_t)s->count * sizeof(double));
    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        return;
    sc_coherence_row_cuts(&o, &cuts);
    if (cuts.n == 1) {
        struct sc_piece piece = {.operand = &o, .rows = s->count, .cols = 1, .access = SC_READ};

        if (sc_coherence_lease(s->device, &piece, &l->lease, &l->memory) != SC_OK)
            l->lease = NULL;
    }
    sc_coherence_end(&o, 1);
}

static void prefetch(const struct program *p, const struct step *s)
{
    struct sc_view v = view(p, s->array, s->first, s->count, SC_READ);
    struct sc_cuts cuts;
    struct sc_operand o;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        return;
    sc_coherence_row_cuts(&o, &cuts);
    for (int i = 0; i < cuts.n; i++)
        sc_coherence_prefetch(s->device, &(struct sc_piece){.operand = &o, .r = cuts.at[i], .cols = 1,
                                                            .rows = cuts.at[i + 1] - cuts.at[i], .access = SC_READ});
    sc_coherence_end(&o, 1);
}

/* Returns the first element that the host has to compute. */
static int add_leased(const struct program *p, const struct step *s)
{
    struct sc_view v = view(p, s->array, s->first, s->count, SC_RDWR);
    struct leased *l = leased_of(!s->array, s);
    struct sc_operand o;
    struct sc_cuts cuts;
    int i = 0;

    if (!l->lease || sc_coherence_begin(&v, 1, &o) != SC_OK)
        return 0;
    sc_coherence_row_cuts(&o, &cuts);
    for (; i < cuts.n; i++) {
        struct record r = {.kernel = kernel_of(p, s, cuts.at[i + 1] - cuts.at[i]),
                           .slot = {{(double *)l->memory + cuts.at[i], 1}}};
        struct sc_device_call call = {.run = enqueue, .record = &r, .bytes = sizeof r};
        struct sc_piece pieces[2] = {{.operand = NULL}, {.operand = &o, .r = cuts.at[i], .rows = r.kernel.n, .cols = 1,
                                                         .access = SC_RDWR}};

        if (sc_coherence_own_task(s->device, pieces, 2, r.slot, &call) != SC_OK)
            break;
    }
    sc_coherence_end(&o, 1);
    return (int)cuts.at[i];
}

/* --- by way of a form --------------------------------------------------------------------------------------------- */

/* Makes the derived copy from the current source; reuses the copy's memory on the device, if present. */
static bool renew(struct sc_derived *f, int device, const struct sc_operand *source, int64_t n)
{
    if (f->memory && !sc_coherence_changed(source, 0, n, made_at[device]))
        return true;
    made_at[device] = sc_coherence_derive(source);
    if (made_at[device] &&
        (f->memory || sc_coherence_derived_make(f, device, (size_t)n * sizeof(double)) == SC_OK) &&
        sc_coherence_derived_upload(f, 0, source, 0, n) == SC_OK)
        return true;
    sc_coherence_derived_drop(f);
    return false;
}

/* Returns false if elements [*from, ...) of the result were not computed. */
static bool use_form(struct sc_derived *f, const struct step *s, const struct sc_operand *result, int64_t *from)
{
    struct sc_piece none = {.temporary = explore_memory, .temporary_ld = 1};
    struct sc_cuts cuts;

    sc_coherence_row_cuts(result, &cuts);
    for (int i = 0; i < cuts.n; i++) {
        int64_t n = cuts.at[i + 1] - cuts.at[i];
        struct sc_piece y = {.operand = result, .r = cuts.at[i], .rows = n, .cols = 1, .access = SC_RDWR};
        struct sc_kernel k = {.op = SC_OP_CSRMV, .type = SC_D, .m = n, .n = n,
                              .a = (double *)f->memory + cuts.at[i]};

        *from = cuts.at[i];
        if (sc_coherence_derived_task(f, &k, &none, 1, &y) != SC_OK)
            return false;
    }
    *from = s->count;
    return true;
}

static void use(const struct program *p, const struct step *s)
{
    struct sc_view views[2] = {view(p, !s->array, s->first, s->count, SC_READ),
                               view(p, s->array, s->first, s->count, SC_RDWR)};
    struct sc_derived *f = &forms[s->device];
    struct sc_operand o[2];
    int64_t from = 0;

    if (sc_coherence_begin(views, 2, o) == SC_OK) {
        if (renew(f, s->device, &o[0], s->count))
            use_form(f, s, &o[1], &from);
        sc_coherence_end(o, 2);
    }
    if (from < s->count)
        on_host(p, s, (int)from, s->count - (int)from);
}

void explore_hash_forms(void)
{
    for (int i = 0; i < ARRAYS * 2; i++) {
        const struct leased *l = &leases[i / 2][i % 2];

        explore_hash(l->lease ? (uint64_t)explore_allocation(l->memory) + 1 : 0);
        explore_hash((uint64_t)(int64_t)l->values[0]);
    }
    for (int i = 0; i < ARRAYS * 2; i++)
        explore_hash((uint64_t)explore_allocation(tokens[i / 2][i % 2].memory) * DEVICES +
                     (uint64_t)tokens[i / 2][i % 2].device);
    for (int d = 0; d < sc_protocol.devices; d++) {
        const struct sc_derived *f = &forms[d];

        explore_hash((uint64_t)explore_allocation(f->memory));
        explore_hash(f->lru.last_use != 0);
        if (f->memory) {
            explore_hash_fence(f->ready);
            explore_hash_fence(f->used);
        }
        for (size_t i = 0; i < sc_directory_count(); i++) {
            const struct sc_matrix *m = sc_directory_at(i);

            for (int g = 0; f->memory && m->links.changed && g < sc_matrix_sectors(m); g++)
                explore_hash(m->links.changed[g] > made_at[d]);
            for (int t = 0; t < m->row_parts * m->col_parts; t++) /* which of the two is evicted first */
                explore_hash(m->tiles[t].copy[d].lru.last_use > f->lru.last_use);
        }
    }
}

/* --- what has to be seen ------------------------------------------------------------------------------------------ */

static void taint(const struct step *s)
{
    bool *x = &explore_lost[s->array][FIRST + s->first], *y = &explore_lost[!s->array][FIRST + s->first];

    for (int i = 0; i < s->count; i++)
        x[i] = is_sum(s) ? x[i] || y[i] : x[i] && !is_set(s);
}

static void model(const struct program *p, const struct step *s)
{
    struct sc_kernel k = kernel_of(p, s, s->count);
    double *x = &explore_model[s->array][FIRST + s->first], *y = &explore_model[!s->array][FIRST + s->first];

    for (int i = 0; i < s->count; i++)
        x[i] = is_sum(s) ? computed(&k, y[i], x[i]) : computed(&k, x[i], 0);
    taint(s);
}

/* The step is over. */
static void settle(const struct step *s)
{
    int at = FIRST + s->first;

    memcpy(&before[s->array][at], &explore_model[s->array][at], (size_t)s->count * sizeof(double));
    if (is_sum(s)) /* the kernel's inputs may have been lost before the kernel read them */
        taint(s);
}

static bool use_leased(const struct program *p, const struct step *s)
{
    double *y = &explore_model[s->array][FIRST + s->first];
    struct leased *l = leased_of(!s->array, s);

    for (int i = 0; i < s->count; i++)
        y[i] += l->values[i];
    taint(s);
    for (int i = add_leased(p, s); i < s->count; i++) {
        uintptr_t at = address(s->array, s->first + i);

        explore_touch(at, SC_WRITE);
        *(volatile double *)at += l->values[i];
    }
    settle(s);
    if (l->lease)
        sc_coherence_lease_end(l->lease);
    l->lease = NULL;
    return true;
}

/* Element i of the block. Data in transit from a dying device is lost, with everything computed from that data. */
static bool may_be(int array, int i, double seen)
{
    return seen == explore_model[array][i] || explore_lost[array][i] || explore_is_gone(seen);
}

static bool are_right(int array, int first, int n)
{
    for (int i = first; i < first + n; i++)
        if (!may_be(array, FIRST + i, *(volatile double *)address(array, i)))
            return false;
    return true;
}

/* What a child born now would find: current values, or values from before kernels that are still to run. */
static bool child_is_right(void)
{
    static double now[PAGES * 512];
    bool good = true;

    for (int a = 0; a < ARRAYS; a++) {
        for (int i = 0; i < PAGES; i++)
            good &= sc_host_prot((uintptr_t)explore_data[a] + (uintptr_t)i * SC_PAGE) != SC_PROT_NONE;
        explore_peek(now, explore_data[a], sizeof now);
        for (int i = 0; i < PAGES * 512; i++)
            good &= may_be(a, i, now[i]) || now[i] == before[a][i];
    }
    for (int d = 0; d < DEVICES; d++)
        good &= explore_streams[d][SC_STREAM_COMPUTE].head == explore_streams[d][SC_STREAM_COMPUTE].tail;
    return good;
}

static bool fork_now(void)
{
    bool good;

    sc_coherence_fork_prepare();
    good = child_is_right();
    explore_pause();
    good &= child_is_right();
    sc_coherence_fork_parent();
    return good;
}

static bool store(int array, int element, double value)
{
    int i = FIRST + element;

    *(volatile double *)address(array, element) = explore_model[array][i] = before[array][i] = value;
    explore_lost[array][i] = false;
    return true;
}

/* The memory has a new owner: a write back of the old contents must not arrive any more. */
static bool free_and_use(int array)
{
    sc_coherence_forget((uintptr_t)explore_data[array], PAGES * SC_PAGE);
    fill(array, 30000);
    return true;
}

bool explore_step(const struct program *p, const struct step *s)
{
    int from;

    switch (s->action) {
    case READ:
        explore_touch(address(s->array, s->first), SC_READ);
        return are_right(s->array, s->first, s->count);
    case WRITE:
        explore_touch(address(s->array, s->first), SC_WRITE);
        return store(s->array, s->first, value_of(p, s));
    case NEGATE:
    case SET:
    case ADD:
    case TASK_NEGATE:
    case TASK_SET:
    case TASK_ADD:
        model(p, s);
        from = offload(p, s);
        if (from < s->count)
            on_host(p, s, from, s->count - from);
        settle(s);
        return true;
    case TAKE:
        take(p, s);
        return true;
    case GIVE:
        model(p, s);
        from = give(p, s);
        if (from < s->count)
            on_host(p, s, from, s->count - from);
        settle(s);
        return true;
    case LEASE:
        take_lease(p, s);
        return true;
    case LEASED_ADD:
        return use_leased(p, s);
    case PREFETCH:
        prefetch(p, s);
        return true;
    case USE:
        model(p, s);
        use(p, s);
        settle(s);
        return true;
    case ACQUIRE:
        sc_coherence_acquire_host(address(s->array, s->first), (size_t)s->count * sizeof(double), SC_RDWR);
        return true;
    case RELEASE:
        sc_coherence_release_range((uintptr_t)explore_data[s->array], PAGES * SC_PAGE);
        return true;
    case HOME:
        sc_coherence_home_all();
        return true;
    case FREE:
        return free_and_use(s->array);
    case FORK:
        return fork_now();
    case ANY: /* has been chosen */
    case END:
        break;
    }
    return false;
}

/* Final invariants: after everything is home, the matrices and the elements around them have the right values. */
bool explore_program_over(void)
{
    bool good = true;

    for (int a = 0; a < ARRAYS; a++) {
        sc_coherence_acquire_host((uintptr_t)explore_data[a], PAGES * SC_PAGE, SC_RDWR);
        for (int i = 0; i < PAGES * 512; i++)
            good &= may_be(a, i, explore_data[a][i]);
    }
    return good;
}
/* SPDX-License-Identifier: BSD-2-Clause */
