/* The moment when the host BLAS is opened. Not linked with a BLAS: runs under semcache.
 *
 *     first_call none         makes no call.
 *     first_call threads      makes first calls in several threads at once, of different routines and sizes.
 *     first_call module FILE  a library's constructor makes the first call during dlopen, beside a second thread.
 *
 * Prints the number of threads before the first call, whether a BLAS was mapped before and afterwards, and "right". */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/blas_is_mapped.h"

enum { THREADS = 8, N = 3000 };

typedef double dot_fn(const int *, const double *, const int *, const double *, const int *);
typedef void axpy_fn(const int *, const double *, const double *, const int *, double *, const int *);
typedef double cblas_dot_fn(int, const double *, int, const double *, int);

static pthread_barrier_t start;
static double x[N];
static int wrong;

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

static void *dot(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static void *first(void *number)
{
    const int which = (int)(size_t)number, n = which & 1 ? N : 10, one = 1;
    const double unit = 1;
    double y[N] = {0};

    pthread_barrier_wait(&start);
    if (which % 3 == 0)
        y[0] = ((dot_fn *)dot("ddot_"))(&n, x, &one, x, &one) / n;
    else if (which % 3 == 1)
        y[0] = ((cblas_dot_fn *)dot("cblas_ddot"))(n, x, 1, x, 1) / n;
    else
        ((axpy_fn *)dot("daxpy_"))(&n, &unit, x, &one, y, &one);
    if (y[0] < 1 || y[0] > 1)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void all_at_once(int count)
{
    pthread_t thread[THREADS];

    for (size_t i = 0; i < (size_t)count; i++)
        if (pthread_create(&thread[i], NULL, first, (void *)i))
            exit(2);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

static void *open_module(void *file)
{
    pthread_barrier_wait(&start);
    if (!dlopen(file, RTLD_NOW))
        wrong += 100;
    return NULL;
}

static void with_module(char *file)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, open_module, file))
        exit(2);
    first((void *)0);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";

    for (int i = 0; i < N; i++)
        x[i] = 1;
    printf("threads %d, BLAS %s, ", threads(), blas_is_mapped() ? "mapped" : "not mapped");
    pthread_barrier_init(&start, NULL, strcmp(what, "module") == 0 ? 2 : THREADS);
    if (strcmp(what, "threads") == 0)
        all_at_once(THREADS);
    else if (strcmp(what, "module") == 0 && argc > 2)
        with_module(argv[2]);
    printf("then %s, %s\n", blas_is_mapped() ? "mapped" : "not mapped", wrong ? "WRONG" : "right");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
