/* Ski rental against hindsight: sequences of equal calls C += A B, between which the program writes A or reads C in
 * some rhythm. The cost of the autotuner's decisions is compared with the cheapest run of the same sequence, whose
 * places (devices or host) are chosen in advance. SEMCACHE_TEST_SEED=N: other sequences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotuner/autotuner.h"
#include "tests/tap.h"

enum { CALLS = 400, PERIOD = 6, SEQUENCES = 3000 };

/* Seconds. a, c: transfer of A, of C. A fault costs what the library assumes. */
struct sequence {
    double host, device, a, c;
    double hidden; /* extra time of each call on devices and of each fetch, unknown to the model */
    int period;
    bool writes[PERIOD], reads[PERIOD]; /* the program writes A before a call, reads C after a call */
};

static const double fault = 30e-6;

/* Places of A and C, a bit each. */
enum { ON_HOST = 1, ON_DEVICES = 2 };
struct state {
    int a, c;
};

static double fetch_cost(const struct sequence *s, const struct state *at)
{
    return at->c == ON_DEVICES ? s->c + fault + s->hidden : 0;
}

static double move_cost(const struct sequence *s, const struct state *at)
{
    return (at->a & ON_DEVICES ? 0 : s->a) + (at->c & ON_DEVICES ? 0 : s->c);
}

/* One call with the program's accesses around the call. *fetched: time that the program waits for C afterwards. */
static double step(const struct sequence *s, int i, bool devices, struct state *at, double *fetched)
{
    double cost;

    if (s->writes[i % s->period])
        at->a = ON_HOST;
    cost = devices ? s->device + s->hidden + move_cost(s, at) : s->host + fetch_cost(s, at);
    at->a |= devices ? ON_DEVICES : 0;
    at->c = devices ? ON_DEVICES : ON_HOST;
    *fetched = s->reads[i % s->period] ? fetch_cost(s, at) : 0;
    at->c |= *fetched > 0 ? ON_HOST : 0;
    return cost + *fetched;
}

/* Decides by a prediction without the hidden time; the clock includes the hidden time. */
static double decided(const struct sequence *s)
{
    struct state at = {ON_HOST, ON_HOST};
    struct sc_autotuner_account account = {0};
    double sum = 0, fetched = 0, cost;

    for (int i = 0; i < CALLS; i++) {
        struct state before = at;
        struct sc_autotuner_prediction p = {.device = s->device, .result = s->c + fault, .waited = fetched};
        bool devices;

        if (s->writes[i % s->period])
            before.a = ON_HOST;
        p.move = move_cost(s, &before);
        p.fetched = fetched > 0 ? fetched - s->hidden : 0;
        p.fetch = before.c == ON_DEVICES ? s->c + fault : 0;
        p.alone = s->host;
        p.host = p.alone + p.fetch;
        p.kept = before.c == ON_DEVICES;
        p.owned = account.owned;
        p.losing = true;
        devices = sc_autotuner_rent(&p, &account);
        cost = step(s, i, devices, &at, &fetched);
        if (devices)
            sc_autotuner_paid(&account, &p, cost - fetched);
        sum += cost;
    }
    return sum;
}

/* The cheapest cost over every choice of places, by dynamic programming over the places of A and C. */
static double hindsight(const struct sequence *s)
{
    double least[4][4], next[4][4], best = HUGE_VAL, fetched;

    for (int a = 0; a < 4; a++)
        for (int c = 0; c < 4; c++)
            least[a][c] = a == ON_HOST && c == ON_HOST ? 0 : HUGE_VAL;
    for (int i = 0; i < CALLS; i++) {
        for (int a = 0; a < 4; a++)
            for (int c = 0; c < 4; c++)
                next[a][c] = HUGE_VAL;
        for (int from = 0; from < 32; from++) {
            struct state at = {from / 2 % 4, from / 8};
            double sum = least[at.a][at.c];

            if (isinf(sum))
                continue;
            sum += step(s, i, from % 2, &at, &fetched);
            next[at.a][at.c] = sum < next[at.a][at.c] ? sum : next[at.a][at.c];
        }
        memcpy(least, next, sizeof least);
    }
    for (int a = 0; a < 4; a++)
        for (int c = 0; c < 4; c++)
            best = least[a][c] < best ? least[a][c] : best;
    return best;
}

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* Between the two, evenly in the exponent. */
static double between(double low, double high) { return low * pow(high / low, uniform()); }

static struct sequence draw(double writes, double reads, bool hidden)
{
    struct sequence s = {.host = between(20e-6, 0.5), .period = 1 + (int)(uniform() * PERIOD)};

    s.device = s.host * between(0.01, 3);
    s.hidden = hidden ? s.host * between(0.01, 10) : 0;
    s.a = s.host * between(0.01, 50);
    s.c = s.host * between(0.001, 5);
    for (int i = 0; i < s.period; i++) {
        s.writes[i] = uniform() < writes;
        s.reads[i] = uniform() < reads;
    }
    return s;
}

static void test_rhythm(double writes, double reads, bool hidden, const char *what)
{
    double worst = 0, sum = 0;
    struct sequence at = {0};

    for (int i = 0; i < SEQUENCES; i++) {
        struct sequence s = draw(writes, reads, hidden);
        double best = hindsight(&s), ratio = decided(&s) / best;

        sum += ratio;
        if (ratio > worst) {
            worst = ratio;
            at = s;
        }
    }
    if (!tap_ok(worst <= 2, "%s: %.2f times the best in hindsight at worst, %.3f on the mean", what, worst,
                sum / SEQUENCES)) {
        tap_diag("host %g device %g a %g c %g, period %d", at.host, at.device, at.a, at.c, at.period);
        for (int i = 0; i < at.period; i++)
            tap_diag("%s%s", at.writes[i] ? "writes A " : "", at.reads[i] ? "reads C" : "");
    }
}

int main(void)
{
    if (getenv("SEMCACHE_TEST_SEED"))
        state += strtoull(getenv("SEMCACHE_TEST_SEED"), NULL, 10) * 0x9e3779b97f4a7c15;
    tap_diag("seed: state %llu (SEMCACHE_TEST_SEED)", (unsigned long long)state);
    for (int hidden = 0; hidden < 2; hidden++) {
        test_rhythm(0, 0, hidden == 1, "nothing in between");
        test_rhythm(0, 1, hidden == 1, "C is read after each call");
        test_rhythm(1, 0, hidden == 1, "A is written before each call");
        test_rhythm(1, 1, hidden == 1, "both");
        test_rhythm(0, 0.4, hidden == 1, "C is read at times");
        test_rhythm(0.4, 0, hidden == 1, "A is written at times");
        test_rhythm(0.4, 0.4, hidden == 1, "both at times");
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
