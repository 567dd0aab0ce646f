/* Trials use only widths with a predicted time within a tenth of the model's best. The first call of a shape pins
 * memory and warms up, and does not count. Then every candidate has its turns, and the shortest time counts. A change
 * between results at home and on devices restarts the trials. */
#include "autotuner/trials.h"

#include <string.h>

#include "autotuner/policy.h"

#define SHAPES 64        /* remembered shapes; a newer shape takes the slot of an older shape */
#define CANDIDATES 3
#define WITHIN 1.10      /* times the model's best */
#define TURNS 2          /* per candidate */
#define NOTICEABLE 0.995 /* factor by which a candidate must beat the model's best */
#define BLIND_MOST 8     /* limit of successive calls without a measurement */
#define RESTARTS_MOST 3

static struct entry {
    struct sc_trial_shape shape;
    uint16_t policy;
    uint32_t number;  /* of this shape; 0: the slot is empty */
    bool known;       /* one call has ended */
    bool decided, home;
    int candidates, chosen, blind, restarts;
    struct candidate {
        int64_t width;
        double first, predicted, least; /* seconds; `least` of the measurements */
        int turns;
    } candidate[CANDIDATES];     /* the model's best first */
} entries[SHAPES];
static uint32_t numbers;
static char busy; /* a thread that finds the flag set goes without: no thread waits */

static bool enter(void) { return !__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE); }
static void leave(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

static bool is_same(const struct sc_trial_shape *a, const struct sc_trial_shape *b)
{
    return a->op == b->op && a->type == b->type && !memcmp(a->letters, b->letters, sizeof a->letters) &&
           a->devices == b->devices && a->m == b->m && a->n == b->n && a->k == b->k && a->missing == b->missing;
}

static bool is_of(const struct entry *e, const struct sc_trial_shape *shape)
{
    return e->number && e->policy == sc_autotuner_policy(shape->metric) && is_same(&e->shape, shape);
}

static int slot_of(const struct sc_trial_shape *s)
{
    uint64_t hash = (uint64_t)s->op * SC_TYPES + s->type, word[5];

    word[0] = (uint64_t)s->m;
    word[1] = (uint64_t)s->n;
    word[2] = (uint64_t)s->k;
    word[3] = s->missing;
    word[4] = sc_autotuner_policy(s->metric);
    for (size_t i = 0; i < sizeof s->letters; i++)
        word[4] = word[4] << 8 | (unsigned char)s->letters[i];
    for (int i = 0; i < 5; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + word[i];
    return (int)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* Adds a candidate, unless its strips are the same because tiles are smaller. */
static void add(struct entry *e, const struct sc_strips_choice *choice, int i)
{
    for (int j = 0; j < e->candidates; j++)
        if (e->candidate[j].predicted == choice->seconds[i])
            return;
    e->candidate[e->candidates++] = (struct candidate){.width = choice->width[i], .first = choice->first[i],
                                                       .predicted = choice->seconds[i]};
}

/* Candidates: the model's best width, and neighbours of about the same time, nearest first. */
static void start(struct entry *e, const struct sc_trial_shape *shape, const struct sc_strips_choice *choice)
{
    *e = (struct entry){.shape = *shape, .policy = sc_autotuner_policy(shape->metric),
                        .number = ++numbers ? numbers : ++numbers};
    add(e, choice, choice->best);
    for (int away = 1; away < choice->count; away++)
        for (int i = choice->best - away; i <= choice->best + away; i += 2 * away)
            if (i >= 0 && i < choice->count && e->candidates < CANDIDATES &&
                choice->seconds[i] <= WITHIN * choice->seconds[choice->best])
                add(e, choice, i);
    e->decided = e->candidates == 1;
}

/* The candidate with the fewest turns; -1: every candidate has had its turns. */
static int next_of(const struct entry *e)
{
    int next = 0;

    for (int i = 1; i < e->candidates; i++)
        if (e->candidate[i].turns < e->candidate[next].turns)
            next = i;
    return e->candidate[next].turns < TURNS ? next : -1;
}

static void decide(struct entry *e)
{
    e->decided = true;
    e->chosen = 0;
    for (int i = 1; i < e->candidates; i++)
        if (e->candidate[i].turns && e->candidate[0].turns &&
            e->candidate[i].least < NOTICEABLE * e->candidate[e->chosen].least)
            e->chosen = i;
}

void sc_trial_begin(const struct sc_trial_shape *shape, const struct sc_strips_choice *choice,
                    struct sc_trial_turn *trial)
{
    int slot = slot_of(shape);
    struct entry *e = &entries[slot];
    const struct candidate *use;

    *trial = (struct sc_trial_turn){.width = choice->width[choice->best], .first = choice->first[choice->best],
                                    .slot = -1};
    if (!enter())
        return;
    if (!is_of(e, shape))
        start(e, shape, choice);
    if (e->known && !e->decided && ++e->blind > BLIND_MOST)
        decide(e);
    if (e->known && !e->decided)
        *trial = (struct sc_trial_turn){.slot = slot, .number = e->number, .candidate = next_of(e)};
    use = &e->candidate[e->decided ? e->chosen : trial->candidate];
    trial->width = use->width;
    trial->first = use->first;
    e->known = true;
    leave();
}

static void count(struct entry *e, int candidate, double seconds, bool home)
{
    struct candidate *c = &e->candidate[candidate];

    e->blind = 0;
    if (home != e->home) {
        e->home = home;
        e->decided = e->restarts++ == RESTARTS_MOST;
        for (int i = 0; i < e->candidates; i++)
            e->candidate[i].turns = 0;
    }
    c->least = c->turns && c->least < seconds ? c->least : seconds;
    c->turns++;
    if (!e->decided && next_of(e) < 0)
        decide(e);
}

void sc_trial_took(const struct sc_trial_turn *trial, double seconds, bool home)
{
    if (trial->slot < 0 || !enter())
        return;
    if (entries[trial->slot].number == trial->number && !entries[trial->slot].decided)
        count(&entries[trial->slot], trial->candidate, seconds, home);
    leave();
}

static void line(FILE *out, const struct entry *e)
{
    const struct sc_trial_shape *s = &e->shape;

    fprintf(out, "# %c%s %.4s %lld %lld %lld %llu:", sc_type_letter(s->type), sc_op_name(s->op), s->letters,
            (long long)s->m, (long long)s->n, (long long)s->k, (unsigned long long)s->missing);
    for (int i = 0; i < e->candidates; i++) {
        const struct candidate *c = &e->candidate[i];

        fprintf(out, " %lld", (long long)c->width);
        if (c->first < 1)
            fprintf(out, "/%.3g", c->first);
        fprintf(out, ": %.1f", c->predicted * 1e6);
        if (c->turns)
            fprintf(out, " (%d: %.1f)", c->turns, c->least * 1e6);
    }
    fprintf(out, "%s %lld\n", e->decided ? ", chosen" : ", so far", (long long)e->candidate[e->chosen].width);
}

void sc_trials_write(FILE *out)
{
    bool any = false;

    while (!enter())
        ;
    for (int i = 0; i < SHAPES; i++)
        if (entries[i].number) {
            if (!any)
                fprintf(out, "# strips of products: m, n, k, bytes to be brought, widths with their predicted times "
                             "(calls that tried them: the least time)\n");
            any = true;
            line(out, &entries[i]);
        }
    leave();
}

void sc_trials_reset(void)
{
    memset(entries, 0, sizeof entries);
    numbers = 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
