/* Random sequences of calls on the real protocol. The calls are every routine of blas/veneers/routines.tab in every
 * type, order of storage and combination of letters, under the names that programs call. Sizes, leading dimensions,
 * increments and places are random. Operands are blocks of arrays shared with other calls; between calls the CPU reads
 * and writes the arrays. In a third of the sequences arrays lie outside of malloc.  The host BLAS makes the same calls
 * on a copy of the arrays; the two have to be equal (blas_calls.h). Not called are rotg and rotmg, which work on single
 * numbers on the host (blas_library_all).  A failure prints the number of its sequence and the sequence's calls.
 * SEMCACHE_TEST_SEED=N    runs sequence N alone SEMCACHE_TEST_STEP=1    with a seed: prints each call first, and
 * compares whole arrays (brought home) after the call SEMCACHE_TEST_ROUNDS=N  calls every combination N times (default
 * 1; SEMCACHE_TEST_LONG: 12) SEMCACHE_TEST_SHARE=N   runs one sequence of N, for slow surroundings (sanitizer.sh) */
#include <ctype.h>
#include <math.h>
#include <sys/mman.h>

#include "base/config.h"
#include "blas/veneers/prototypes.h"
#include "blas/verify/replay.h"
#include "device/emu/emu.h"
#include "tests/blas_named.h"
#include "tests/coherence_env.h"

enum { FLAGS_MAX = 2000, LENGTH = 24, SEQUENCES_A_MACHINE = 6 };

/* The calls of a round. Routines with few letters are repeated, in order to meet many sizes. */
struct deck {
    struct calls_flags all[FLAGS_MAX];
    int count;
};
static struct deck decks[SC_TYPES];
static int repeats(int combinations) { return combinations < 24 ? (23 + combinations) / combinations : 1; }

/* By routine and order: number of calls, and number of offloaded calls. */
static struct {
    int called, offloaded;
} seen[SC_TRACE_ROUTINES_MAX][3];
static int host_lacks[SC_TRACE_ROUTINES_MAX];
static int complaints, acts;

void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    tap_diag("parameter %d of %.*s", (int)*info, (int)length, name);
    complaints++;
}

static bool start(bool now) { return now; }
static int order_index(char order) { return order == SC_BLAS_FORTRAN ? 0 : order == SC_BLAS_COLUMNS ? 1 : 2; }

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* --- one call ---------------------------------------------------------------------------------------------------- */

static int routine_of(const char *name)
{
    for (int i = 1; i < sc_blas_routines; i++)
        if (strcmp(sc_blas_rows[i].name, name) == 0)
            return i;
    return 0;
}

/* gemmt as a triangle of gemm, since few libraries have gemmt. OpenBLAS reads small A and B even if alpha is 0. */
static void reference_gemmt(struct sc_blas_call *call)
{
    size_t elem = sc_type_bytes(call->type), bytes = (size_t)(call->n * call->ldc) * elem;
    bool upper = (call->uplo == 'U') != (call->order == SC_BLAS_ROWS); /* as stored by columns */
    const char name[] = {sc_type_letter(call->type), 'g', 'e', 'm', 'm', 0};
    char *whole = malloc(bytes + 1), *c = call->c;

    for (int64_t j = 0; j < call->n; j++)
        memcpy(whole + (size_t)(j * call->ldc) * elem, c + (size_t)(j * call->ldc) * elem, (size_t)call->n * elem);
    call->routine = routine_of(name);
    call->m = call->n;
    call->k = call->alpha[0] == 0 && call->alpha[1] == 0 ? 0 : call->k;
    call->c = whole;
    sc_blas_again(call, named_host(call, call->routine));
    for (int64_t j = 0; j < call->n; j++) {
        int64_t first = upper ? 0 : j, end = upper ? j + 1 : call->n;

        memcpy(c + (size_t)(first + j * call->ldc) * elem, whole + (size_t)(first + j * call->ldc) * elem,
               (size_t)(end - first) * elem);
    }
    free(whole);
}

static void reference(struct sc_blas_call *call)
{
    sc_inside_enter();
    if (sc_blas_rows[call->routine].op == SC_OP_GEMMT)
        reference_gemmt(call);
    else
        sc_blas_again(call, named_host(call, call->routine));
    sc_inside_leave();
}

static void describe(int step, const struct calls_call *c, bool on_devices)
{
    const struct sc_blas_call *k = &c->call;
    char operands[256];
    int at = 0;

    for (int i = 0; i < c->operands; i++) {
        const struct calls_place *p = &c->place[i];

        at += snprintf(operands + at, sizeof operands - (size_t)at, " %c %d+%lld %lldx%lld:%lld", p->letter, p->array,
                       (long long)p->at, (long long)p->rows, (long long)p->cols, (long long)p->step);
    }
    tap_diag("%2d %s%s order %c letters %c%c%c%c%c m %lld n %lld k %lld (%lld %lld) inc %lld %lld alpha %g,%g "
             "beta %g,%g%s%s", step, sc_blas_rows[k->routine].name, c->wide ? "_64" : "", k->order,
             k->side ? k->side : '-', k->uplo ? k->uplo : '-', k->transa ? k->transa : '-',
             k->transb ? k->transb : '-', k->diag ? k->diag : '-', (long long)k->m, (long long)k->n, (long long)k->k,
             (long long)k->kl, (long long)k->ku, (long long)k->incx, (long long)k->incy, k->alpha[0], k->alpha[1],
             k->beta[0], k->beta[1], operands, on_devices ? ", on devices" : "");
}

/* --- a sequence of them ------------------------------------------------------------------------------------------ */

enum place { IN_MALLOC, IN_BSS, IN_PRIVATE_MAPPING, IN_SHARED_MAPPING, PLACES };

struct sequence {
    uint64_t seed;
    struct random random;
    enum place place[CALLS_ARRAYS];
    struct calls_arrays arrays;
    struct calls_call calls[LENGTH];
    bool on_devices[LENGTH];
    int count;
};

static size_t array_bytes(const struct sequence *s)
{
    return CALLS_ELEMENTS * sc_type_bytes(s->arrays.type);
}

static bool compare(const struct sequence *s, int array, int64_t first, int64_t end)
{
    int reals = calls_reals(s->arrays.type);

    for (int64_t i = first * reals; i < end * reals; i++) {
        double x = calls_real(s->arrays.type, s->arrays.target[array], i);
        double y = calls_real(s->arrays.type, s->arrays.copy[array], i);

        if (named_same_real(x, y))
            continue;
        tap_diag("array %d, element %lld, real %lld: %.17g, not %.17g", array, (long long)(i / reals),
                 (long long)(i % reals), x, y);
        for (int c = s->count - 1; c >= 0; c--)
            for (int o = 0; o < s->calls[c].operands; o++)
                if ((s->calls[c].place[o].access & SC_WRITE) && calls_covers(&s->calls[c].place[o], array, i / reals)) {
                    tap_diag("which call %d may have written last", c);
                    return false;
                }
        return false;
    }
    return true;
}

/* Compares the arrays as wholes, each from somewhere in its middle; the sequence's random state stays unchanged. */
static bool compare_all(const struct sequence *s)
{
    struct random r = s->random;
    bool same = true;

    for (int a = 0; a < CALLS_ARRAYS; a++) {
        int64_t middle = random_below(&r, CALLS_ELEMENTS);

        same &= compare(s, a, middle, CALLS_ELEMENTS) && compare(s, a, 0, middle);
    }
    return same;
}

/* Arrays in .bss share pages. */
static void *room_in_bss(const struct sequence *s, int array)
{
    static _Alignas(16) char room[CALLS_ARRAYS * CALLS_ELEMENTS * 16];

    return room + (size_t)array * array_bytes(s);
}

static void *room_for(const struct sequence *s, int array)
{
    int flags = MAP_ANONYMOUS | (s->place[array] == IN_SHARED_MAPPING ? MAP_SHARED : MAP_PRIVATE);
    void *room;

    if (s->place[array] == IN_MALLOC)
        return malloc(array_bytes(s));
    if (s->place[array] == IN_BSS)
        return room_in_bss(s, array);
    room = mmap(NULL, array_bytes(s), PROT_READ | PROT_WRITE, flags, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

static void make_array(struct sequence *s, int array)
{
    s->arrays.target[array] = room_for(s, array);
    s->arrays.copy[array] = malloc(array_bytes(s));
    for (int64_t i = 0; i < CALLS_ELEMENTS; i++)
        calls_put_any(&s->arrays, array, i, &s->random);
}

static void free_array(struct sequence *s, int array)
{
    if (s->place[array] == IN_MALLOC)
        free(s->arrays.target[array]);
    else if (s->place[array] != IN_BSS)
        munmap(s->arrays.target[array], array_bytes(s));
    free(s->arrays.copy[array]);
}

/* An access of the program to its arrays between calls. */
static bool act(struct sequence *s)
{
    struct random *r = &s->random;
    int array = (int)random_below(r, CALLS_ARRAYS), other = (int)random_below(r, CALLS_ARRAYS);
    int64_t first = random_below(r, CALLS_ELEMENTS), count = 1 + random_below(r, CALLS_ELEMENTS - first);
    int64_t to = random_below(r, CALLS_ELEMENTS - count + 1), few = count < 300 ? count : 300;
    size_t elem = sc_type_bytes(s->arrays.type);

    acts++;
    switch (random_below(r, 10)) {
    case 0: return compare(s, array, first, first + count);
    case 1: return compare(s, array, first, first + few);
    case 2: case 3:
        for (int64_t i = first; i < first + few; i++)
            calls_put_any(&s->arrays, array, i, r);
        return true;
    case 4: /* a row of the matrix, read and written */
        for (int64_t i = first % CALLS_LINE; i < CALLS_ELEMENTS; i += CALLS_LINE) {
            if (!compare(s, array, i, i + 1))
                return false;
            calls_put_any(&s->arrays, array, i, r);
        }
        return true;
    case 5: /* copied by the C library */
        for (int both = 0; both < 2; both++) {
            char *const *memory = both ? s->arrays.copy : s->arrays.target;

            memmove(memory[array] + (size_t)to * elem, memory[other] + (size_t)first * elem, (size_t)count * elem);
        }
        return true;
    case 6:
        if (random_below(r, 2))
            return true;
        free_array(s, array);
        make_array(s, array);
        return true;
    default: return true;
    }
}

/* --- increments that wrap around the address space ---------------------------------------------------------------- */

/* Gives a vector another increment that yields the same addresses modulo 2^64: the same elements in the same order. */
static void wrap_vector(struct calls_call *c, const struct calls_place *place, bool alone, struct random *r)
{
    bool is_x = place->letter == 'X';
    void **vector = is_x ? &c->call.x : &c->call.y;
    int64_t *inc = is_x ? &c->call.incx : &c->call.incy;
    uint64_t bytes = sc_type_bytes(c->call.type), round = UINT64_MAX / bytes + 1;
    uint64_t length = place->cols > 1 ? (uint64_t)(place->cols - 1) * bytes : 0;
    uint64_t other = (uint64_t)*inc + (uint64_t)random_below(r, (int64_t)bytes) * round, address = (uintptr_t)*vector;

    if (alone && (*inc < 1 || (int64_t)other < 1)) /* an increment below 1 may change what the routine does */
        return;
    address -= *inc < 0 ? length * (uint64_t)*inc : 0;
    address += (int64_t)other < 0 ? length * other : 0;
    *vector = (void *)(uintptr_t)address;
    *inc = (int64_t)other;
}

static void wrap(struct calls_call *c, struct random *r)
{
    const struct sc_blas_row *row = &sc_blas_rows[c->call.routine];

    for (int i = 0; i < c->operands && c->wide && row->level < 3; i++)
        if (c->place[i].letter == 'X' || c->place[i].letter == 'Y')
            wrap_vector(c, &c->place[i], row->level == 1 && c->operands == 1, r);
}

static bool step(struct sequence *s, const struct calls_flags *flags, bool careful)
{
    struct calls_call *c = &s->calls[s->count];
    struct sc_blas_call copy;
    uint64_t before = sc_stats.offloaded[flags->routine];
    int order = order_index(flags->order);
    sc_blas_fn target;
    bool same;

    calls_make(c, flags, &s->arrays, &s->random);
    if (careful)
        describe(s->count, c, false);
    copy = calls_on_copy(c, &s->arrays);
    reference(&copy);
    s->count++;
    wrap(c, &s->random);
    target = named_target(&c->call, c->wide);
    if (!target) {
        tap_diag("no %s", sc_blas_rows[flags->routine].name);
        return false;
    }
    sc_blas_again(&c->call, target);
    s->on_devices[s->count - 1] = sc_stats.offloaded[flags->routine] != before;
    seen[flags->routine][order].called++;
    seen[flags->routine][order].offloaded += s->on_devices[s->count - 1];
    copy.routine = flags->routine;
    same = named_same_result(&c->call, &copy);
    calls_clean(c, &s->arrays, &s->random);
    return same;
}

static bool run(struct sequence *s, const struct calls_flags *flags, int count, bool careful)
{
    unsigned broken = sc_coherence_broken();
    int bad_words = complaints;
    bool good = true;

    for (int a = 0; a < CALLS_ARRAYS; a++)
        make_array(s, a);
    for (int i = 0; i < count && good; i++) {
        if (host_lacks[flags[i].routine])
            continue;
        good = step(s, &flags[i], careful) && act(s) && (!careful || compare_all(s));
    }
    good = good && compare_all(s) && sc_coherence_broken() == broken && complaints == bad_words;
    if (!good) {
        tap_diag("SEMCACHE_TEST_SEED=%llu:", (unsigned long long)s->seed);
        for (int i = 0; i < s->count; i++)
            describe(i, &s->calls[i], s->on_devices[i]);
    }
    for (int a = 0; a < CALLS_ARRAYS; a++)
        free_array(s, a);
    return good;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* Chooses the devices, their memory and the sizes of tiles by the number of the sequence. */
static void start_machine(uint64_t seed)
{
    static const struct {
        const char *machine;
        uint64_t limit;
        size_t unit;
    } setups[] = {{"emu:h200x8:1", 0, 4096}, {"emu:h200x8:2", 0, 256}, {"emu:h200x8:4", 0, 64},
                  {"emu:h200x8:3", 900000, 256}, {"emu:k20x2", 600000, 64}};
    static uint64_t now = UINT64_MAX;
    /* Starting a driver takes long. */
    uint64_t turn = env_is_emulated() ? SEQUENCES_A_MACHINE : 10 * SEQUENCES_A_MACHINE;
    struct random r = {seed / turn * UINT64_C(0x9e3779b97f4a7c15) + 1};
    size_t i = seed / turn % (sizeof setups / sizeof *setups);

    if (now == seed / turn)
        return;
    if (now != UINT64_MAX)
        sc_coherence_stop();
    now = seed / turn;
    env_start(setups[i].machine, setups[i].limit);
    sc_directory_limits.unit_bytes = setups[i].unit;
    if (env_is_emulated())
        sc_emu_jitter(random_next(&r), random_below(&r, 2) ? 20 : 0);
}

static void choose_places(struct sequence *s)
{
    struct random r = {s->seed * UINT64_C(0x9e3779b97f4a7c15) + 3};

    for (int a = 0; a < CALLS_ARRAYS && s->seed % 3 == 0; a++)
        s->place[a] = (enum place)random_below(&r, PLACES);
}

static bool sequence(uint64_t seed, const struct calls_flags *flags, int count, bool careful)
{
    struct sequence *s = calloc(1, sizeof *s);
    bool good;

    s->seed = seed;
    s->random.state = seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u;
    s->arrays.type = sc_blas_rows[flags->routine].type;
    choose_places(s);
    start_machine(seed);
    sc_config.schedule = (enum sc_strategy)random_below(&s->random, SC_STRATEGIES);
    sc_config.exchange = (enum sc_exchange_by)random_below(&s->random, SC_EXCHANGE_PUSH + 1);
    good = run(s, flags, count, careful);
    free(s);
    return good;
}

/* Returns whether devices support the call, but no call of this routine in this order has been offloaded yet. */
static bool is_missing(const struct calls_flags *f)
{
    return !seen[f->routine][order_index(f->order)].offloaded && !host_lacks[f->routine] && calls_for_devices(f);
}

static void fill_deck(struct deck *deck, enum sc_type type, bool only_missing)
{
    static struct calls_flags one[FLAGS_MAX];

    deck->count = 0;
    for (int routine = 1; routine < sc_blas_routines; routine++) {
        int flags = sc_blas_rows[routine].type == type ? calls_flags_of(routine, one, FLAGS_MAX) : 0;

        for (int i = 0; flags > 0 && i < flags * repeats(flags) && deck->count < FLAGS_MAX; i++)
            if (!only_missing || is_missing(&one[i % flags]))
                deck->all[deck->count++] = one[i % flags];
    }
}

static void shuffle(struct deck *deck, struct random *r)
{
    for (int i = deck->count - 1; i > 0; i--) {
        int other = (int)random_below(r, i + 1);
        struct calls_flags flags = deck->all[i];

        deck->all[i] = deck->all[other];
        deck->all[other] = flags;
    }
}

/* Plays every combination of every type once, or only the missing combinations. Returns the number of wrong
 * sequences. */
static int play(uint64_t *seed, uint64_t only, int round, bool only_missing)
{
    uint64_t share = number("SEMCACHE_TEST_SHARE", 1);
    int bad = 0;

    for (int type = 0; type < SC_TYPES; type++) {
        struct deck *deck = &decks[type];
        struct random r = {(uint64_t)(round * SC_TYPES + type) + 88172645463325252u};

        fill_deck(deck, (enum sc_type)type, only_missing);
        shuffle(deck, &r);
        for (int first = 0; first < deck->count; first += LENGTH) {
            int count = deck->count - first < LENGTH ? deck->count - first : LENGTH;

            if (only ? only == *seed : *seed % share == 0)
                bad += !sequence(*seed, deck->all + first, count, number("SEMCACHE_TEST_STEP", 0));
            ++*seed;
        }
    }
    return bad;
}

/* The routines of the BLAS, counted by hand: families, types, and the number of calls with different letters (Fortran's
 * order and the two of CBLAS). */
static const struct {
    const char *family, *types;
    int flags[2]; /* of a real type, of a complex type */
} standard[] = {
    {"swap", "sdcz", {2, 2}}, {"scal", "sdcz", {2, 2}}, {"sscal", "c", {0, 2}}, {"dscal", "z", {0, 2}},
    {"copy", "sdcz", {2, 2}}, {"axpy", "sdcz", {2, 2}}, {"axpby", "sdcz", {2, 2}}, {"dot", "sd", {2, 0}},
    {"dotu", "cz", {0, 2}}, {"dotc", "cz", {0, 2}}, {"sdot", "d", {2, 0}}, {"dsdot", "s", {2, 0}},
    {"nrm2", "sd", {2, 0}}, {"cnrm2", "s", {0, 2}}, {"znrm2", "d", {0, 2}}, {"asum", "sd", {2, 0}},
    {"casum", "s", {0, 2}}, {"zasum", "d", {0, 2}}, {"rot", "sd", {2, 0}}, {"srot", "c", {0, 2}},
    {"drot", "z", {0, 2}}, {"rotm", "sd", {2, 0}},
    {"samax", "i", {2, 0}}, {"damax", "i", {2, 0}}, {"camax", "i", {0, 2}}, {"zamax", "i", {0, 2}},
    {"samin", "i", {2, 0}}, {"damin", "i", {2, 0}}, {"camin", "i", {0, 2}}, {"zamin", "i", {0, 2}},
    {"gemv", "sdcz", {9, 9}}, {"gbmv", "sdcz", {9, 9}}, {"symv", "sd", {6, 0}}, {"hemv", "cz", {0, 6}},
    {"sbmv", "sd", {6, 0}}, {"hbmv", "cz", {0, 6}}, {"spmv", "sd", {6, 0}}, {"hpmv", "cz", {0, 6}},
    {"trmv", "sdcz", {36, 36}}, {"tbmv", "sdcz", {36, 36}}, {"tpmv", "sdcz", {36, 36}},
    {"trsv", "sdcz", {36, 36}}, {"tbsv", "sdcz", {36, 36}}, {"tpsv", "sdcz", {36, 36}},
    {"ger", "sd", {3, 0}}, {"geru", "cz", {0, 3}}, {"gerc", "cz", {0, 3}}, {"syr", "sd", {6, 0}},
    {"her", "cz", {0, 6}}, {"spr", "sd", {6, 0}}, {"hpr", "cz", {0, 6}}, {"syr2", "sd", {6, 0}},
    {"her2", "cz", {0, 6}}, {"spr2", "sd", {6, 0}}, {"hpr2", "cz", {0, 6}},
    {"gemm", "sdcz", {27, 27}}, {"gemm3m", "cz", {0, 27}}, {"symm", "sdcz", {12, 12}}, {"hemm", "cz", {0, 12}},
    {"syrk", "sdcz", {18, 12}}, {"herk", "cz", {0, 12}}, {"syr2k", "sdcz", {18, 12}}, {"her2k", "cz", {0, 12}},
    {"gemmt", "sdcz", {54, 54}}, {"trmm", "sdcz", {72, 72}}, {"trsm", "sdcz", {72, 72}},
};

static bool is_counted(const char *name, int combinations)
{
    int routine = routine_of(name), called = 0, want = combinations * repeats(combinations);

    for (int order = 0; order < 3; order++)
        called += seen[routine][order].called;
    if (called != want)
        tap_diag("%s: %d calls, not %d of %d combinations", name, called, want, combinations);
    return called == want;
}

/* After the first round: checks that every combination was called. */
static void check_called(void)
{
    int missing = 0, names = 0, flags = 0;

    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
        for (const char *letter = standard[i].types; *letter; letter++) {
            char name[16];
            int routine, want;

            snprintf(name, sizeof name, "%c%s", *letter, standard[i].family);
            routine = routine_of(name);
            want = standard[i].flags[sc_type_is_complex(sc_blas_rows[routine].type)];
            names++;
            flags += want;
            if (host_lacks[routine])
                tap_diag("the host BLAS has no %s", name);
            else
                missing += !is_counted(name, want);
        }
    tap_ok(!missing, "%d combinations of %d routines, types, orders and letters, each called", flags, names);
    tap_ok(names == sc_blas_routines - 1 - 6, "routines.tab has these, rotg and rotmg");
}

/* Checks that every routine has been offloaded in every order, if devices support one of its calls. */
static void check_offloaded(void)
{
    int missing = 0, offloaded = 0, called = 0;

    for (int i = 1; i < sc_blas_routines; i++)
        for (int order = 0; order < 3; order++) {
            called += seen[i][order].called;
            offloaded += seen[i][order].offloaded;
        }
    for (int type = 0; type < SC_TYPES; type++) {
        fill_deck(&decks[type], (enum sc_type)type, true);
        missing += decks[type].count;
        for (int i = 0; i < decks[type].count; i++)
            tap_diag("%s, order %c: never on devices", sc_blas_rows[decks[type].all[i].routine].name,
                     decks[type].all[i].order);
    }
    tap_ok(!missing, "of %d calls %d ran on devices: each routine in each order that it can", called, offloaded);
}

static void look_at_host(void)
{
    for (int i = 1; i < sc_blas_routines; i++)
        host_lacks[i] = sc_blas_rows[i].op != SC_OP_GEMMT && !sc_blas_host_symbol(sc_blas_rows[i].fortran);
}

int main(void)
{
    uint64_t only = number("SEMCACHE_TEST_SEED", 0), seed = 1;
    bool all = !only && number("SEMCACHE_TEST_SHARE", 1) == 1;
    int rounds = (int)number("SEMCACHE_TEST_ROUNDS", number("SEMCACHE_TEST_LONG", 0) ? 12 : 1), bad = 0;

    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_config.open = SC_OPEN_FIRST;
    sc_blas_start = start;
    if (sc_blas_host_open(NULL) != SC_OK)
        tap_skip_all_for_gpu("no host BLAS");
    sc_blas_small[1] = sc_blas_small[2] = sc_blas_small[3] = 0;
    look_at_host();
    for (int round = 0; round < rounds; round++) {
        bad += play(&seed, only, round, false);
        if (round == 0 && all)
            check_called();
    }
    /* Banded and packed matrices run on devices only where they lie in one piece, which depends on the random
     * places. */
    for (int round = rounds; round < rounds + 20 && all; round++)
        bad += play(&seed, only, round, true);
    tap_ok(!bad, "%d rounds, %llu sequences with %d accesses in between: as the host BLAS on a copy", rounds,
           (unsigned long long)(seed - 1), acts);
    if (all) {
        check_offloaded();
        tap_ok(sc_stats.percall_in > 1000000, "of arrays outside of malloc %llu bytes were copied in",
               (unsigned long long)sc_stats.percall_in);
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
