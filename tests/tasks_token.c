/* Tokens and irregular regions (semcache/tasks.h) against a plain array.  Started by tasks_run.t under `semcache run`,
 * with devices and without. */
#include <stdlib.h>
#include <string.h>

#include "semcache/directives.h"
#include "tests/tap.h"

enum { N = 40000, STEPS = 300, RANGES = 20, HELD = 3 };

static int devices;
static double *array, expected[N];
static uint64_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* Boxes and ranges in a third of the array, so that tokens of different thirds have no element in common. */
struct shape {
    struct semcache_region region;
    struct semcache_range ranges[RANGES];
};

static void random_shape(struct shape *s, int third)
{
    int64_t base = third * (N / HELD), at = base;

    if (below(2)) {
        int64_t rows = 1 + below(40), ld = rows + below(5), cols = 1 + below(20), plane = cols * ld + below(60);
        int64_t planes = 1 + below(10);

        semcache_region_3d(&s->region, array + base + below(100), SEMCACHE_FLOAT64, rows, cols, planes, ld, plane);
        return;
    }
    for (int i = 0; i < RANGES; i++) {
        s->ranges[i].first = at += below(200);
        s->ranges[i].count = below(400);
        at += s->ranges[i].count;
    }
    for (int i = 0; i < RANGES / 2; i++) { /* in any order */
        struct semcache_range *a = &s->ranges[i], *b = &s->ranges[below(RANGES)], swap = *a;

        *a = *b;
        *b = swap;
    }
    semcache_region_ranges(&s->region, array, SEMCACHE_FLOAT64, s->ranges, RANGES);
}

/* The place in `expected` of the e-th element of a shape; -1 behind the last. */
static int64_t element(const struct shape *s, int64_t e)
{
    const struct semcache_region *r = &s->region;

    if (!r->ranges) {
        int64_t i = e % r->rows, j = e / r->rows % r->cols, k = e / r->rows / r->cols;

        return k >= r->planes ? -1 : (double *)r->memory - array + i + j * r->ld + k * r->plane;
    }
    for (int k = 0; k < RANGES; e -= r->ranges[k++].count)
        if (e < r->ranges[k].count)
            return r->ranges[k].first + e;
    return -1;
}

static double *in_view(const struct semcache_view *v, int64_t e)
{
    return (double *)v->memory + e % v->rows + e / v->rows % v->cols * v->ld + e / v->rows / v->cols * v->plane;
}

/* Adds `amount` to a view, or sets the view. */
static void change(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    double amount;

    memcpy(&amount, arguments, sizeof amount);
    for (int64_t e = 0; e < v->rows * v->cols * v->planes; e++)
        *in_view(v, e) = (v->mode == SEMCACHE_WRITE ? 0 : *in_view(v, e)) + amount;
    (void)place, (void)count;
}

static int64_t differences(const struct shape *s, const struct semcache_view *v)
{
    int64_t wrong = 0;

    for (int64_t e = 0, at; (at = element(s, e)) >= 0; e++)
        wrong += *in_view(v, e) != expected[at];
    return wrong;
}

static void expect(const struct shape *s, enum semcache_mode mode, double amount)
{
    for (int64_t e = 0, at; (at = element(s, e)) >= 0; e++)
        expected[at] = (mode == SEMCACHE_WRITE ? 0 : expected[at]) + amount;
}

/* Whether the place of a token is the one asked for; a device may be full. */
static bool is_place(const struct semcache_token *t, int device)
{
    return t->place.device == SEMCACHE_HOST || device == SEMCACHE_ANY_DEVICE || t->place.device == device;
}

static int random_place(void) { return (int)below(devices + 2) - 2; }

static void touch(int64_t *wrong)
{
    int64_t i = below(N);

    *wrong += array[i] != expected[i];
}

static void test_random(void)
{
    int64_t wrong = 0, misplaced = 0, there = 0;

    for (int s = 0; s < STEPS; s++) {
        struct semcache_token token[HELD];
        struct shape shape[HELD];
        enum semcache_mode mode[HELD];
        int place[HELD];

        for (int i = 0; i < HELD; i++) {
            struct semcache_operand operand = {&shape[i].region, mode[i] = (enum semcache_mode)(1 + below(3))};

            random_shape(&shape[i], i);
            token[i].size = sizeof token[i];
            place[i] = random_place();
            if (semcache_token_acquire(&operand, 1, place[i], &token[i]) != SEMCACHE_OK) {
                tap_ok(false, "a token is acquired");
                return;
            }
            misplaced += !is_place(&token[i], place[i]);
            there += token[i].place.device != SEMCACHE_HOST;
            wrong += mode[i] & SEMCACHE_READ ? differences(&shape[i], &token[i].views[0]) : 0;
        }
        for (int i = 0; i < 4; i++) { /* the CPU writes beside the regions, on pages of the last region */
            int third = (int)below(HELD);

            touch(&wrong);
            array[N - 1 - third] += 1;
            expected[N - 1 - third] += 1;
        }
        for (int i = HELD - 1; i >= 0; i--) {
            double amount = (double)below(9);

            if (mode[i] & SEMCACHE_WRITE) {
                change(NULL, &token[i].views[0], 1, &amount);
                expect(&shape[i], mode[i], amount);
            }
            wrong += semcache_token_release(&token[i]) != SEMCACHE_OK;
            touch(&wrong);
        }
    }
    wrong += memcmp(array, expected, sizeof expected) != 0;
    tap_ok(wrong == 0, "random tokens on boxes and ranges, three at a time: %lld differences", (long long)wrong);
    tap_ok(misplaced == 0, "tokens are where they were asked for");
    tap_ok(there > (devices ? STEPS : -1) || getenv("SEMCACHE_MEMORY_LIMIT"), "most tokens are on devices: %lld of %d",
           (long long)there, HELD * STEPS);
}

static void test_irregular(void)
{
    int64_t wrong = 0;

    for (int s = 0; s < STEPS; s++) {
        enum semcache_mode mode = below(2) ? SEMCACHE_WRITE : SEMCACHE_READWRITE;
        struct shape to, from;
        struct semcache_operand operands[2] = {{&to.region, mode}, {&from.region, SEMCACHE_READ}};
        double amount = (double)below(9);
        struct semcache_task task = {.size = sizeof task, .kernel = change, .host = change, .operands = operands,
                                     .count = 2, .arguments = &amount, .bytes = sizeof amount,
                                     .device = random_place()};

        random_shape(&to, 0);
        random_shape(&from, 1);
        wrong += semcache_run(&task, NULL) != SEMCACHE_OK;
        expect(&to, mode, amount);
        touch(&wrong);
        if (below(10) == 0)
            wrong += semcache_region_wait(&to.region) != SEMCACHE_OK;
        if (below(10) == 0 && devices) /* ranges across the columns of a padded matrix stay where they are */
            wrong += semcache_region_prefetch(&to.region, (int)below(devices)) == SEMCACHE_ERROR_INVALID;
    }
    wrong += memcmp(array, expected, sizeof expected) != 0;
    tap_ok(wrong == 0, "random tasks on ranges and boxes: %lld differences", (long long)wrong);
}

static void test_misuse(void)
{
    static struct semcache_token many[1025];
    const enum semcache_status bad = SEMCACHE_ERROR_INVALID;
    struct semcache_range twice[2] = {{10, 5}, {12, 1}};
    struct semcache_region region;
    struct semcache_operand operand = {&region, SEMCACHE_READWRITE};
    struct semcache_token token = {.size = sizeof token}, copy;
    double *freed = semcache_alloc(N * sizeof *freed);
    int held = 0;

    semcache_region_1d(&region, array, SEMCACHE_FLOAT64, 10);
    tap_ok(semcache_token_acquire(&operand, 1, 0, &token) == SEMCACHE_OK, "a good token");
    copy = token;
    tap_ok(semcache_token_release(&token) == SEMCACHE_OK && token.id == 0, "is released");
    tap_ok(semcache_token_release(&token) == bad && semcache_token_release(&copy) == bad, "once");
    tap_ok(semcache_token_acquire(&operand, 0, 0, &token) == bad, "no operands");
    tap_ok(semcache_token_acquire(&operand, 1, -3, &token) == bad, "an unknown place");
    token.size = 1;
    tap_ok(semcache_token_acquire(&operand, 1, 0, &token) == bad, "a token without size");
    token.size = sizeof token;
    semcache_region_ranges(&region, array, SEMCACHE_FLOAT64, twice, 2);
    tap_ok(semcache_token_acquire(&operand, 1, 0, &token) == bad, "ranges with a common element, written");
    operand.mode = SEMCACHE_READ;
    tap_ok(semcache_token_acquire(&operand, 1, 0, &token) == SEMCACHE_OK &&
           semcache_token_release(&token) == SEMCACHE_OK, "and read");
    semcache_region_ranges(&region, array, SEMCACHE_FLOAT64, NULL, 2);
    tap_ok(semcache_token_acquire(&operand, 1, 0, &token) == bad, "no ranges");

    memset(freed, 0, N * sizeof *freed);
    operand.mode = SEMCACHE_READWRITE;
    semcache_region_1d(&region, freed, SEMCACHE_FLOAT64, N);
    tap_ok(semcache_token_acquire(&operand, 1, 0, &token) == SEMCACHE_OK, "a token of memory");
    semcache_free(freed);
    tap_ok(!devices || token.place.device == SEMCACHE_HOST || semcache_token_release(&token) == bad,
           "that is freed before the release");

    semcache_region_1d(&region, array, SEMCACHE_FLOAT64, 10);
    operand.mode = SEMCACHE_READ;
    for (int i = 0; i < 1025; i++) {
        many[i].size = sizeof many[i];
        held += semcache_token_acquire(&operand, 1, SEMCACHE_HOST, &many[i]) == SEMCACHE_OK;
    }
    tap_ok(held >= 1023 && held <= 1024, "1024 tokens are held: %d", held);
    for (int i = 0; i < held; i++)
        held += semcache_token_release(&many[i]) != SEMCACHE_OK;
    tap_ok(semcache_token_acquire(&operand, 1, 0, &token) == SEMCACHE_OK &&
           semcache_token_release(&token) == SEMCACHE_OK, "and more after their release");
}

static void test_names(void)
{
        double *x = semcache_alloc(N * sizeof *x);
    struct semcache_token a, b;
    struct semcache_region low, high;
    bool good;

    for (int i = 0; i < N; i++)
        x[i] = i;
    semcache_region_1d(&low, x, SEMCACHE_FLOAT64, N / 2);
    semcache_region_1d(&high, x + N / 2, SEMCACHE_FLOAT64, N / 2);
    good = semcache_readGPU(&low, 0, &a) == SEMCACHE_OK && semcache_writeGPU(&high, 0, &b) == SEMCACHE_OK;
    for (int i = 0; good && i < N / 2; i++)
        ((double *)b.views[0].memory)[i] = 2 * ((double *)a.views[0].memory)[i];
    good = good && semcache_releaseGPU(&b) == SEMCACHE_OK && semcache_releaseGPU(&a) == SEMCACHE_OK;
    good = good && semcache_coherent_async(&high) == SEMCACHE_OK && semcache_readCPU(&high) == SEMCACHE_OK;
    tap_ok(good && x[N - 1] == N - 2 && x[N / 2] == 0 && x[1] == 1, "the names of the paper");
    semcache_free(x);
}

/* An array of 512 KiB on a device of 2 MiB, while others pass by. */
static uint64_t left_of(enum semcache_advice advice)
{
    enum { ELEMENTS = 1 << 16, OTHERS = 8 };
    struct semcache_region region[OTHERS + 1];
    uint64_t left = 0;

    for (int i = 0; i <= OTHERS; i++) {
        double *x = semcache_alloc(ELEMENTS * sizeof *x);

        memset(x, 0, ELEMENTS * sizeof *x);
        semcache_region_1d(&region[i], x, SEMCACHE_FLOAT64, ELEMENTS);
        semcache_region_prefetch(&region[i], 0);
        if (i == 0)
            semcache_advise(&region[i], advice);
    }
    semcache_region_resident(&region[0], 0, &left);
    for (int i = 0; i <= OTHERS; i++)
        semcache_free(region[i].memory);
    return left;
}

/* --- read tokens while everything else goes on -------------------------------------------------------------------- */

enum { TOKENS_HELD = 4, LONG = 1 << 15, ARRAYS = 3 };

static struct held {
    struct semcache_token token;
    double *copy; /* the values at the acquire; NULL: not held */
    int64_t elements;
} held[TOKENS_HELD];
static double *values[ARRAYS], *model[ARRAYS];

static void new_values(int i)
{
    if (values[i])
        semcache_free(values[i]);
    values[i] = semcache_alloc(LONG * sizeof(double));
    for (int k = 0; k < LONG; k++)
        values[i][k] = model[i][k] = (double)below(1000);
}

static int64_t hold_some(struct held *h)
{
    int64_t a = below(ARRAYS), first = below(4) ? 0 : below(LONG), cols = 1 + below(3), rows;
    struct semcache_region region;
    struct semcache_operand operand = {&region, SEMCACHE_READ};
    int64_t wrong;

    h->elements = below(2) ? LONG - first : 1 + below(LONG - first);
    rows = h->elements / cols;
    if (rows && below(2))
        semcache_region_2d(&region, values[a] + first, SEMCACHE_FLOAT64, rows, cols, rows);
    else
        semcache_region_1d(&region, values[a] + first, SEMCACHE_FLOAT64, h->elements);
    h->elements = region.rows * region.cols;
    h->copy = malloc((size_t)h->elements * sizeof *h->copy);
    memcpy(h->copy, model[a] + first, (size_t)h->elements * sizeof *h->copy);
    h->token.size = sizeof h->token;
    wrong = semcache_token_acquire(&operand, 1, devices ? (int)below(devices) : 0, &h->token) != SEMCACHE_OK;
    return wrong;
}

static int64_t differs(const struct held *h)
{
    const struct semcache_view *v = &h->token.views[0];
    int64_t wrong = 0;

    for (int64_t e = 0; h->copy && h->token.place.device != SEMCACHE_HOST && e < h->elements; e++)
        wrong += *in_view(v, e) != h->copy[e];
    return wrong;
}

static int64_t let_go(struct held *h)
{
    int64_t wrong = semcache_token_release(&h->token) != SEMCACHE_OK;

    free(h->copy);
    h->copy = NULL;
    return wrong;
}

static int64_t run_change(int a)
{
    enum semcache_mode mode = below(2) ? SEMCACHE_READWRITE : SEMCACHE_WRITE;
    int64_t first = below(2) ? 0 : below(LONG), n = below(2) ? LONG - first : 1 + below(LONG - first);
    struct semcache_region region;
    struct semcache_operand operand = {&region, mode};
    double amount = (double)(1 + below(9));
    struct semcache_task task = {.size = sizeof task, .kernel = change, .host = change, .operands = &operand,
                                 .count = 1, .arguments = &amount, .bytes = sizeof amount,
                                 .device = devices ? (int)below(devices) : 0};

    semcache_region_1d(&region, values[a] + first, SEMCACHE_FLOAT64, n);
    for (int64_t k = first; k < first + n; k++)
        model[a][k] = (mode == SEMCACHE_WRITE ? 0 : model[a][k]) + amount;
    return semcache_run(&task, NULL) != SEMCACHE_OK;
}

static int64_t meanwhile(void)
{
    struct semcache_region region;
    int a = (int)below(ARRAYS), i = (int)below(LONG);

    semcache_region_1d(&region, values[a], SEMCACHE_FLOAT64, LONG);
    switch (below(7)) {
    case 0:
        values[a][i] = model[a][i] = (double)below(1000);
        return 0;
    case 1:
        return values[a][i] != model[a][i];
    case 2:
        semcache_region_prefetch(&region, devices ? (int)below(devices) : 0);
        return 0;
    case 3:
        semcache_advise(&region, SEMCACHE_DROP);
        return 0;
    case 4:
        if (below(3) == 0)
            new_values(a);
        return 0;
    default:
        return run_change(a);
    }
}

/* What a read token shows stays as it was, whoever writes, moves, evicts or frees the array meanwhile. */
static void test_read(void)
{
    int64_t wrong = 0, changed = 0, there = 0;

    for (int i = 0; i < ARRAYS; i++) {
        model[i] = malloc(LONG * sizeof(double));
        new_values(i);
    }
    for (int s = 0; s < 4 * STEPS; s++) {
        struct held *h = &held[below(TOKENS_HELD)];

        if (below(3))
            wrong += meanwhile();
        else
            wrong += h->copy ? let_go(h) : hold_some(h);
        for (int i = 0; i < TOKENS_HELD; i++) {
            changed += differs(&held[i]);
            there += held[i].copy && held[i].token.place.device != SEMCACHE_HOST;
        }
    }
    for (int i = 0; i < TOKENS_HELD; i++)
        wrong += held[i].copy ? let_go(&held[i]) : 0;
    for (int i = 0; i < ARRAYS; i++) {
        wrong += memcmp(values[i], model[i], LONG * sizeof(double)) != 0;
        semcache_free(values[i]);
        free(model[i]);
    }
    tap_ok(wrong == 0, "read tokens while others write, move and free: %lld wrong", (long long)wrong);
    tap_ok(changed == 0, "they show what there was at the acquire: %lld differences", (long long)changed);
    tap_ok(there > (devices ? STEPS : -1) || getenv("SEMCACHE_MEMORY_LIMIT"), "most of them are on devices");
}

/* A resident region is read where it is. */
static void test_in_place(void)
{
    double *x = semcache_alloc(LONG * sizeof *x);
    struct semcache_token a = {.size = sizeof a}, b = {.size = sizeof b};
    struct semcache_region region;
    struct semcache_operand operand = {&region, SEMCACHE_READ};
    bool good, same;

    for (int i = 0; i < LONG; i++)
        x[i] = i;
    semcache_region_1d(&region, x, SEMCACHE_FLOAT64, LONG);
    good = semcache_token_acquire(&operand, 1, 0, &a) == SEMCACHE_OK;
    good = good && semcache_token_acquire(&operand, 1, 0, &b) == SEMCACHE_OK;
    same = good && a.views[0].memory == b.views[0].memory;
    tap_ok(good && (same || getenv("SEMCACHE_CHECK")), "two read tokens of a region share its memory");
    good = good && semcache_token_release(&a) == SEMCACHE_OK && semcache_token_release(&b) == SEMCACHE_OK;
    tap_ok(good && x[LONG - 1] == LONG - 1, "and both are released");
    semcache_free(x);
}

int main(void)
{
    devices = semcache_init() == SEMCACHE_OK ? semcache_device_count() : 0;
    array = semcache_alloc(N * sizeof *array);
    for (int i = 0; i < N; i++)
        array[i] = expected[i] = i % 1000;
    test_random();
    test_irregular();
    test_misuse();
    test_names();
    test_read();
    test_in_place();
    if (devices && getenv("SEMCACHE_MEMORY_LIMIT"))
        tap_ok(left_of(SEMCACHE_NORMAL) == 0 && left_of(SEMCACHE_KEEP) == (1 << 16) * sizeof(double),
               "others evict an array, unless it is kept");
    semcache_free(array);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
