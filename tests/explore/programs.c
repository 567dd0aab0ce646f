/* What the threads of a program do in a step, and what they have to see. */
#include <stdlib.h>
#include <string.h>

#include "tests/explore/explore.h"
#include "tests/tap.h"

double *explore_data[ARRAYS];
double explore_model[ARRAYS][PAGES * 512];

/* A block of each array: the first page's beginning and the last one's end are no part of the matrix. */
void explore_programs_start(void)
{
    char *block = malloc(ARRAYS * 8 * SC_PAGE);

    for (int a = 0; a < ARRAYS; a++)
        explore_data[a] = (double *)(void *)(block + (size_t)a * 8 * SC_PAGE);
}

static void fill(int array, double from)
{
    for (int i = 0; i < PAGES * 512; i++)
        explore_data[array][i] = explore_model[array][i] = from + i;
}

void explore_programs_reset(void)
{
    for (int a = 0; a < ARRAYS; a++) {
        sc_coherence_forget((uintptr_t)explore_data[a], PAGES * SC_PAGE);
        fill(a, 10000 * (a + 1));
    }
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

/* No two steps write the same. */
static double value_of(const struct program *p, const struct step *s)
{
    return 500000 + (double)(s - &p->prelude[0]);
}

static struct sc_kernel kernel_of(const struct program *p, const struct step *s, int64_t n)
{
    return (struct sc_kernel){.op = s->action == ADD ? SC_OP_AXPY : SC_OP_SCAL, .type = SC_D, .m = n, .n = n,
                              .alpha = {s->action != SET ? 1 : 0, value_of(p, s)}};
}

static double computed(const struct sc_kernel *k, double x, double y)
{
    return k->op == SC_OP_AXPY ? y + x : k->alpha[0] != 0 ? -x : k->alpha[1];
}

void explore_kernel(const struct sc_kernel *k)
{
    double *x = k->a, *y = k->op == SC_OP_AXPY ? k->b : k->a;

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

/* On devices; false: the call belongs on the host. */
static bool offload(const struct program *p, const struct step *s)
{
    bool add = s->action == ADD;
    struct sc_view views[2] = {view(p, !s->array, s->first, s->count, SC_READ),
                               view(p, s->array, s->first, s->count, s->action == SET ? SC_WRITE : SC_RDWR)};
    struct sc_operand o[2];
    struct sc_cuts cuts;

    if (sc_coherence_begin(add ? views : views + 1, 1 + add, o) != SC_OK)
        return false;
    sc_coherence_row_cuts(&o[0], &cuts);
    for (int i = 0; i < cuts.n; i++) {
        int64_t n = cuts.at[i + 1] - cuts.at[i];
        struct sc_piece pieces[3] = {{.operand = NULL}};
        struct sc_kernel k = kernel_of(p, s, n);

        for (int v = 0; v <= add; v++)
            pieces[v] = (struct sc_piece){.operand = &o[v], .r = cuts.at[i], .rows = n, .cols = 1,
                                          .access = o[v].view.access};
        sc_coherence_task(s->device, &k, pieces, NULL, NULL);
    }
    sc_coherence_end(o, 1 + add);
    return true;
}

static void on_host(const struct program *p, const struct step *s)
{
    struct sc_kernel k = kernel_of(p, s, s->count);

    k.a = (void *)address(s->action == ADD ? !s->array : s->array, s->first);
    k.b = (void *)address(s->array, s->first);
    explore_kernel_on_host(&k);
}

static void model(const struct program *p, const struct step *s)
{
    struct sc_kernel k = kernel_of(p, s, s->count);
    double *x = &explore_model[s->array][FIRST + s->first], *y = &explore_model[!s->array][FIRST + s->first];

    for (int i = 0; i < s->count; i++)
        x[i] = s->action == ADD ? computed(&k, y[i], x[i]) : computed(&k, x[i], 0);
}

static bool is_right(int array, int element)
{
    return *(volatile double *)address(array, element) == explore_model[array][FIRST + element];
}

static bool store(int array, int element, double value)
{
    *(volatile double *)address(array, element) = explore_model[array][FIRST + element] = value;
    return true;
}

/* The bytes are another's now: what was to come home must not come any more. */
static bool free_and_use(int array)
{
    sc_coherence_forget((uintptr_t)explore_data[array], PAGES * SC_PAGE);
    fill(array, 30000);
    return true;
}

bool explore_step(const struct program *p, const struct step *s)
{
    switch (s->action) {
    case READ:
        explore_touch(address(s->array, s->first), SC_READ);
        return is_right(s->array, s->first);
    case WRITE:
        explore_touch(address(s->array, s->first), SC_WRITE);
        return store(s->array, s->first, value_of(p, s));
    case NEGATE:
    case SET:
    case ADD:
        model(p, s);
        if (!offload(p, s))
            on_host(p, s);
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
    case END:
        break;
    }
    return false;
}

/* Invariants of the end: brought home, all is as it should be, what is around the matrices as well. */
bool explore_program_over(void)
{
    bool good = true;

    for (int a = 0; a < ARRAYS; a++) {
        sc_coherence_acquire_host((uintptr_t)explore_data[a], PAGES * SC_PAGE, SC_RDWR);
        good = good && memcmp(explore_data[a], explore_model[a], sizeof explore_model[a]) == 0;
    }
    return good;
}
