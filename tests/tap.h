/* Test Anything Protocol for the C tests: plan first or last, ok lines, diagnostics. */
#ifndef SC_TESTS_TAP_H
#define SC_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count_, tap_failed_;

/* A broken order of locks (base/locks.h) fails the test, if the test is linked with base/locks.c. */
extern bool sc_locks_trap __attribute__((weak));
static void __attribute__((constructor)) tap_trap_locks_(void)
{
    if (&sc_locks_trap)
        sc_locks_trap = true;
}

static inline void __attribute__((format(printf, 1, 2))) tap_diag(const char *format, ...)
{
    va_list args;

    printf("# ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

static inline int __attribute__((format(printf, 2, 3))) tap_ok(int good, const char *format, ...)
{
    va_list args;

    printf("%s %d - ", good ? "ok" : "not ok", ++tap_count_);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    if (!good)
        tap_failed_++;
    return good;
}

/* The larger error. NaN (garbage, often) stays once seen, and is not <= any bound; fmax would drop NaN. */
static inline double tap_worse(double worst, double error)
{
    return worst != worst || error <= worst ? worst : error;
}

/* Skips the whole test: something besides a GPU is missing. */
static inline void tap_skip_all(const char *why)
{
    printf("1..0 # SKIP %s\n", why);
    exit(0);
}

/* Skips the whole test; with SEMCACHE_TEST_REQUIRE_GPU=1 a skip for want of a GPU is a failure. */
static inline void tap_skip_all_for_gpu(const char *why)
{
    const char *require = getenv("SEMCACHE_TEST_REQUIRE_GPU");

    if (require && *require == '1') {
        tap_ok(0, "%s (and SEMCACHE_TEST_REQUIRE_GPU=1)", why);
        printf("1..%d\n", tap_count_);
        exit(1);
    }
    tap_skip_all(why);
}

static inline int tap_done(void)
{
    printf("1..%d\n", tap_count_);
    return tap_failed_ ? 1 : 0;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
