/* Shared by libc_state.c and libc_processes.c: C := 2 A by dgemm, and a main program that tries one kind of call. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define N     128
#define BYTES (N * N * sizeof(double))
#define STACK ((size_t)2 << 20)

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static double *a, *b, *c;
static ucontext_t main_context, other_context;

/* c := a b, b = 2 I.  Values differ by element. */
static void multiply_into(double *out, const double *in)
{
    const int n = N;
    const double one = 1, zero = 0;

    dgemm_("N", "N", &n, &n, &n, &one, in, &n, b, &n, &zero, out, &n, 1, 1);
}

static void multiply(void) { multiply_into(c, a); }

static int differ(const double *out, double first)
{
    int bad = 0;

    for (int i = 0; i < N * N; i++)
        bad += ((const volatile double *)out)[i] != 2 * (first + i);
    return bad;
}

static int wrong(void) { return differ(c, 1000); }

static void fill(double *in, double first)
{
    for (int i = 0; i < N * N; i++)
        in[i] = first + i;
}

static volatile sig_atomic_t found = -1;
static void look(int sig)
{
    (void)sig;
    found = wrong();
}


static int run_thread(const pthread_attr_t *attr, void *(*body)(void *), void *argument)
{
    void *bad = NULL;
    pthread_t thread;

    if (pthread_create(&thread, attr, body, argument) || pthread_join(thread, &bad))
        return 1;
    return (int)(intptr_t)bad;
}

struct kind {
    const char *name;
    int (*run)(void);
};

static int run(const struct kind *kind)
{
    int bad = 0;

    multiply(); /* opens the devices */
    for (int i = 0; i < 2; i++) { /* the next call must not undo the kind's effect */
        multiply();
        bad += kind->run() || wrong();
    }
    printf("%s: %s\n", kind->name, bad ? "wrong" : "ok");
    return bad != 0;
}

/* Without a name prints the names of the kinds; with a name runs the kind, and prints "KIND: ok" on success. */
static int run_named(const struct kind *kinds, size_t count, const char *name)
{
    a = malloc(BYTES);
    b = calloc(N * N, sizeof *b);
    c = malloc(BYTES);
    fill(a, 1000);
    for (int i = 0; i < N; i++)
        b[i * (N + 1)] = 2;
    for (size_t i = 0; i < count; i++) {
        if (!name)
            printf("%s\n", kinds[i].name);
        else if (strcmp(name, kinds[i].name) == 0)
            return run(&kinds[i]);
    }
    return name != NULL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
