/* dies HOW CALLS [SIZE]: makes BLAS calls, reads an element of each result, prints the number of calls, and ends:
 * killed, aborting, crashing, by _exit ("exiting"), or ordinarily ("ending"). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 96

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

static char *volatile nowhere;

static void die(const char *how)
{
    if (strcmp(how, "killed") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "aborting") == 0)
        abort();
    if (strcmp(how, "crashing") == 0)
        *(volatile int *)nowhere = 0;
    if (strcmp(how, "ending") != 0)
        _exit(0);
}

int main(int argc, char **argv)
{
    const int n = argc == 4 ? atoi(argv[3]) : N;
    const double one = 1, zero = 0;
    double *a = calloc(N * N, sizeof *a), *b = calloc(N * N, sizeof *b), *c = calloc(N * N, sizeof *c), sum = 0;
    int calls = argc >= 3 ? atoi(argv[2]) : 0;

    for (int i = 0; i < calls; i++) {
        a[i % (N * N)] += 1;
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
        sum += c[N * i % (N * N)];
    }
    printf("%d calls, sum %g\n", calls, sum);
    fflush(stdout);
    die(argv[1]);
}
/* SPDX-License-Identifier: BSD-2-Clause */
