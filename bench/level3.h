/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of a level 3 routine from matrices that the CPU has just written until threads have read the whole result.
 * Common to bench/level3 (any BLAS) and bench/xt_level3 (cuBLASXt), which define the functions declared below.
 *
 *     PROGRAM [-t readers] [-r rounds] [-b betas] [-c calls] [-s seconds] n [routine...]
 *
 * -t  threads that read the result, an element of every page; also the threads that write the matrices (default 8);
 * -r  rounds after the first round (default 3); the best round counts;
 * -b  0, 1 or 01: values of beta (default 01; the triangular routines have no beta);
 * -c  calls one after the other in a round (default 1): what a call more takes is the time of a call on data that is
 *     where it is needed;
 * -s  no further row begins after so many seconds (default: no limit).
 *
 * The type of the elements is double, or the one of LEVEL3_S, LEVEL3_C or LEVEL3_Z, if that is defined.
 *
 * Every round begins with matrices written by the CPU: the operands, and the result if the routine reads the result.
 * Every line of the output is a JSON object with the figures of a routine and a beta. */
#ifndef BENCH_LEVEL3_H
#define BENCH_LEVEL3_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench/columns.h"
#include "examples/example.h"

/* A type has its letter, the largest error of a right result, and operations of real numbers for an operation. */
#if defined LEVEL3_S
typedef float level3_number;
#define LEVEL3_LETTER "s"
enum { LEVEL3_OPERATIONS = 1 };
static const double level3_accuracy = 1e-4;
#elif defined LEVEL3_C
typedef float complex level3_number;
#define LEVEL3_LETTER "c"
enum { LEVEL3_OPERATIONS = 4 };
static const double level3_accuracy = 1e-4;
#elif defined LEVEL3_Z
typedef double complex level3_number;
#define LEVEL3_LETTER "z"
enum { LEVEL3_OPERATIONS = 4 };
static const double level3_accuracy = 1e-12;
#else
typedef double level3_number;
#define LEVEL3_LETTER "d"
enum { LEVEL3_OPERATIONS = 1 };
static const double level3_accuracy = 1e-12;
#endif

enum level3_routine {
    LEVEL3_GEMM,
    LEVEL3_SYMM,
    LEVEL3_SYRK,
    LEVEL3_SYR2K,
    LEVEL3_TRMM,
    LEVEL3_TRSM,
    LEVEL3_ROUTINES
};

/* Order n, by columns.  SYMM and triangles: from the left, lower, not transposed, diagonal not unit. */
struct level3_matrices {
    int n;
    double beta;
    level3_number *a, *b, *c;
};

/* `count` numbers, or the end of the program.  Never freed. */
static level3_number *level3_numbers(size_t count);
/* Ways of a program to call the routines for this n, at least 1 (block sizes). */
static int level3_variants(int n);
/* Calls the routine in one of the ways.  Returns the parameter of the way, for the output. */
static int level3_call(enum level3_routine routine, const struct level3_matrices *m, int variant);
/* The matrix with the result: c, or b of routines that work in place. */
static level3_number *level3_result(enum level3_routine routine, const struct level3_matrices *m);

static const struct {
    const char *name;
    double flops; /* in units of n^3 */
    bool b, beta; /* has such an operand */
} level3_routines[LEVEL3_ROUTINES] = {
    [LEVEL3_GEMM] = {LEVEL3_LETTER "gemm", 2, true, true},   [LEVEL3_SYMM] = {LEVEL3_LETTER "symm", 2, true, true},
    [LEVEL3_SYRK] = {LEVEL3_LETTER "syrk", 1, false, true},  [LEVEL3_SYR2K] = {LEVEL3_LETTER "syr2k", 2, true, true},
    [LEVEL3_TRMM] = {LEVEL3_LETTER "trmm", 1, true, false},  [LEVEL3_TRSM] = {LEVEL3_LETTER "trsm", 1, true, false},
};

enum { LEVEL3_PLACES = 8 };
static int level3_threads = 8;

/* --- columns by threads ------------------------------------------------------------------------------------------- */

/* Element (i, j) of the matrix with this seed; the matrix with seed 0 has a heavy diagonal. */
static inline level3_number level3_element(int n, int seed, int i, int j)
{
    double e = example_element((uint32_t)(i + seed), (uint32_t)j) / 3 - 0.2;
#if defined LEVEL3_C || defined LEVEL3_Z
    level3_number number = (level3_number)CMPLX(e, example_element((uint32_t)j, (uint32_t)(i + seed)) / 5);
#else
    level3_number number = (level3_number)e;
#endif

    return seed == 0 && i == j ? number + (level3_number)n : number;
}

static inline void *level3_write(void *argument)
{
    struct columns *p = argument;
    level3_number *matrix = p->matrix;

    for (int j = p->from; j < p->to; j++)
        for (int i = 0; i < p->n; i++)
            matrix[(size_t)j * (size_t)p->n + (size_t)i] = level3_element(p->n, p->seed, i, j);
    return NULL;
}

static inline void *level3_read(void *argument)
{
    struct columns *p = argument;
    level3_number *matrix = p->matrix;
    size_t n = (size_t)p->n, to = (size_t)p->to * n, page = 4096 / sizeof(level3_number);

    for (size_t at = (size_t)p->from * n; at < to; at += page)
        p->sum += cabs((double complex)matrix[at]);
    return NULL;
}

/* --- the result is right ------------------------------------------------------------------------------------------ */

/* op(A)(i, k), as the routine sees the operand. */
static inline double complex level3_left(enum level3_routine routine, int n, int i, int k)
{
    if (routine == LEVEL3_SYMM && k > i)
        return level3_element(n, 0, k, i);
    return routine >= LEVEL3_TRMM && k > i ? 0 : level3_element(n, 0, i, k);
}

/* Error at (i, j) relative to the sum of the terms' absolute values. */
static inline double level3_error(enum level3_routine routine, const struct level3_matrices *m, int i, int j)
{
    size_t n = (size_t)m->n, column = (size_t)j * n;
    double complex sum = 0, found = level3_result(routine, m)[column + (size_t)i];
    double size = 0;

    for (int k = 0; k < m->n; k++) {
        double complex left = level3_left(routine, m->n, i, k), right, more = 0;

        if (routine == LEVEL3_SYRK)
            right = level3_element(m->n, 0, j, k);
        else if (routine == LEVEL3_SYR2K)
            right = level3_element(m->n, 1, j, k);
        else if (routine == LEVEL3_TRSM)
            right = level3_result(routine, m)[column + (size_t)k];
        else
            right = level3_element(m->n, 1, k, j);
        if (routine == LEVEL3_SYR2K)
            more = level3_element(m->n, 1, i, k) * level3_element(m->n, 0, j, k);
        sum += left * right + more;
        size += cabs(left * right) + cabs(more);
    }
    if (routine == LEVEL3_TRSM)
        found = level3_element(m->n, 1, i, j);
    else if (level3_routines[routine].beta)
        sum += m->beta * level3_element(m->n, 2, i, j);
    return cabs(sum - found) / (size + cabs(found));
}

static inline double level3_worst(enum level3_routine routine, const struct level3_matrices *m)
{
    double worst = 0;

    for (int p = 0; p < LEVEL3_PLACES; p++) {
        int i = p * 971 % m->n, j = p * 577 % m->n;
        bool below = i >= j;

        worst = example_worse(worst, level3_error(routine, m, below ? i : j, below ? j : i));
    }
    return worst;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

struct level3_times {
    double first, best, call; /* seconds; call: until the best round's call returned */
    int parameter;
    double error;
};

static inline struct level3_times level3_variant(enum level3_routine routine, const struct level3_matrices *m,
                                                int variant, int rounds, int calls)
{
    struct level3_times t = {.best = INFINITY};

    for (int round = 0; round <= rounds; round++) {
        double start, returned, seconds, sum = 0;

        columns_by_threads(m->a, m->n, 0, level3_threads, level3_write);
        if (level3_routines[routine].b)
            columns_by_threads(m->b, m->n, 1, level3_threads, level3_write);
        if (m->beta != 0)
            columns_by_threads(m->c, m->n, 2, level3_threads, level3_write);
        start = example_now();
        for (int call = 0; call < calls; call++)
            t.parameter = level3_call(routine, m, variant);
        returned = example_now() - start;
        sum += columns_by_threads(level3_result(routine, m), m->n, 0, level3_threads, level3_read);
        seconds = example_now() - start;
        if (!isfinite(sum))
            t.error = sum;
        if (round == 0) {
            t.first = seconds;
        } else if (seconds < t.best) {
            t.best = seconds;
            t.call = returned;
        }
    }
    if (calls == 1 || level3_routines[routine].beta) /* else the result of a call is the operand of the next one */
        t.error = example_worse(t.error, level3_worst(routine, m));
    return t;
}

/* The best variant; prints a line.  False: a wrong result. */
static inline bool level3_row(enum level3_routine routine, const struct level3_matrices *m, int rounds, int calls)
{
    struct level3_times best = {.best = INFINITY};
    double flops = level3_routines[routine].flops * LEVEL3_OPERATIONS * m->n * m->n * m->n, error = 0;

    for (int variant = 0; variant < level3_variants(m->n); variant++) {
        struct level3_times t = level3_variant(routine, m, variant, rounds, calls);

        error = example_worse(error, t.error);
        if (t.best < best.best)
            best = t;
    }
    printf("{\"routine\": \"%s\", \"n\": %d, \"beta\": %g, \"threads\": %d, \"calls\": %d, \"first_seconds\": %.6f,"
           " \"seconds\": %.6f, \"call_seconds\": %.6f, \"tflops\": %.3f, \"parameter\": %d, \"error\": %.1e,"
           " \"ok\": %s}\n",
           level3_routines[routine].name, m->n, m->beta, level3_threads, calls, best.first, best.best, best.call,
           1e-12 * flops * calls / best.best, best.parameter, isfinite(error) ? error : 1.0,
           error < level3_accuracy ? "true" : "false");
    fflush(stdout);
    return error < level3_accuracy;
}

static inline bool level3_wanted(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count == 0;
}

static inline int level3_main(int argc, char **argv)
{
    struct level3_matrices m = {.n = 0};
    const char *betas = "01";
    double until = INFINITY, start = example_now();
    int rounds = 3, calls = 1, option;
    bool good = true;
    size_t count;

    while ((option = getopt(argc, argv, "t:r:b:c:s:")) != -1) {
        switch (option) {
        case 't': level3_threads = atoi(optarg); break;
        case 'r': rounds = atoi(optarg); break;
        case 'b': betas = optarg; break;
        case 'c': calls = atoi(optarg); break;
        case 's': until = atof(optarg); break;
        default: return 2;
        }
    }
    if (optind < argc)
        m.n = atoi(argv[optind++]);
    if (m.n < 1 || rounds < 1 || calls < 1 || level3_threads < 1 || level3_threads > COLUMNS_THREADS_MAX)
        return 2;
    count = (size_t)m.n * (size_t)m.n;
    m.a = level3_numbers(count);
    m.b = level3_numbers(count);
    m.c = level3_numbers(count);
    for (int r = 0; r < LEVEL3_ROUTINES; r++)
        for (const char *beta = betas; *beta; beta++) {
            m.beta = *beta - '0';
            if (!level3_wanted(level3_routines[r].name, argc - optind, argv + optind))
                continue;
            if (m.beta != 0 && !level3_routines[r].beta)
                continue;
            if (example_now() - start < until)
                good = level3_row((enum level3_routine)r, &m, rounds, calls) && good;
        }
    return good ? 0 : 1;
}

#endif
