/* A library whose constructor calls the BLAS while dlopen holds the loader's lock; CONSTRUCTOR chooses the call. */
#include <cblas.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE 1200 /* large enough for devices to be opened */
#define SMALL 160
static double fixed[3][SMALL * SMALL];

static double product(int n, const double *a, double *c)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, a, n, 0, c, n);
    return c[n * n - 1];
}

static void *large(void *unused)
{
    double *a = malloc(2ul * LARGE * LARGE * sizeof *a);

    for (int i = 0; i < LARGE * LARGE; i++)
        a[i] = 1;
    for (int i = 0; i < 20; i++)
        if (product(LARGE, a, a + LARGE * LARGE) != LARGE)
            puts("wrong in the constructor");
    free(a);
    return unused;
}

/* On the library's own data, which vanish with the library. */
static void small(void)
{
    for (int i = 0; i < SMALL * SMALL; i++)
        fixed[0][i] = 2;
    for (int i = 0; i < 12; i++)
        if (product(SMALL, fixed[0], fixed[1 + i % 2]) != 4 * SMALL)
            puts("wrong in the constructor");
}

static void in_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, large, NULL) == 0)
        pthread_join(thread, NULL);
}

static void in_child(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    if (status)
        puts("the child has failed");
}

static void __attribute__((constructor)) construct(void)
{
    const char *how = getenv("CONSTRUCTOR");

    if (!strcmp(how, "large"))
        large(NULL);
    else if (!strcmp(how, "thread"))
        in_thread();
    else if (!strcmp(how, "fork"))
        in_child();
    else if (!strcmp(how, "exit"))
        exit(7);
    else
        small();
}
/* SPDX-License-Identifier: BSD-2-Clause */
