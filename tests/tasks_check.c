/* Misuse of tasks that SEMCACHE_CHECK=1 reports.  Started by tasks_check.t, which reads stderr. */
#include <math.h>

#include "semcache/tasks.h"
#include "tests/tap.h"

enum { N = 20000 };

/* Writes the last element of each operand. */
static void scribble(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    (void)place, (void)arguments;
    for (int i = 0; i < count; i++)
        ((double *)v[i].memory)[v[i].rows - 1] = 5;
}

static enum semcache_status run(double *x, enum semcache_mode mode, int place)
{
    struct semcache_region region;
    struct semcache_operand operand = {&region, mode};
    struct semcache_task task = {.size = sizeof task, .kernel = scribble, .host = scribble, .operands = &operand,
                                 .count = 1, .device = place};

    semcache_region_1d(&region, x, SEMCACHE_FLOAT64, N);
    return semcache_run(&task, NULL);
}

static double *zeros(void)
{
    double *x = semcache_alloc(N * sizeof *x);

    for (int i = 0; i < N; i++)
        x[i] = 0;
    return x;
}

static struct semcache_token token_of(double *x, enum semcache_mode mode, int place)
{
    struct semcache_token token = {.size = sizeof token};
    struct semcache_region region;
    struct semcache_operand operand = {&region, mode};

    semcache_region_1d(&region, x, SEMCACHE_FLOAT64, N);
    tap_ok(semcache_token_acquire(&operand, 1, place, &token) == SEMCACHE_OK, "a token");
    return token;
}

/* A write to a read token, a read of a write token, a token that is never released. */
static void misuse_tokens(void)
{
    double *x = zeros();
    struct semcache_token token = token_of(x, SEMCACHE_READ, 0);

    ((double *)token.views[0].memory)[7] = 1;
    tap_ok(semcache_token_release(&token) == SEMCACHE_OK && x[7] == 0, "a write to a read token has no effect");
    token = token_of(x, SEMCACHE_WRITE, 0);
    ((double *)token.views[0].memory)[7] = 1;
    tap_ok(semcache_token_release(&token) == SEMCACHE_OK && x[7] == 1 && isnan(x[8]),
           "elements that the holder should write are not numbers");
    token_of(x, SEMCACHE_READ, 0);
}

int main(void)
{
    int places[2] = {SEMCACHE_HOST, semcache_init() == SEMCACHE_OK ? 0 : SEMCACHE_HOST};

    for (int i = 0; i < 2; i++) {
        double *x = zeros();

        tap_ok(run(x, SEMCACHE_READ, places[i]) == SEMCACHE_OK && semcache_sync(NULL, 0) == SEMCACHE_OK,
               "a function that writes what it should read");
        tap_ok(run(x, SEMCACHE_READWRITE, places[i]) == SEMCACHE_OK && x[0] == 0 && x[N - 1] == 5,
               "a function that changes an element");
        tap_ok(run(x, SEMCACHE_WRITE, places[i]) == SEMCACHE_OK && isnan(x[0]) && x[N - 1] == 5,
               "elements that the function should write are not numbers");
        semcache_free(x);
        tap_ok(places[i] == SEMCACHE_HOST || run(x, SEMCACHE_READ, places[i]) == SEMCACHE_ERROR_INVALID,
               "a region of freed memory");
    }
    if (places[1] != SEMCACHE_HOST)
        misuse_tokens();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
