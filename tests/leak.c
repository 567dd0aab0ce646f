/* leak CALLS: very many calls on lasting arrays, on arrays that come and go, and on stack arrays, with CPU accesses in
 * between. Memory, mappings, files and threads at the end must not exceed those after the first fifth of the calls. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 2048
#define KEPT 16

void dscal_(const int *, const double *, double *, const int *);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
double ddot_(const int *, const double *, const int *, const double *, const int *);

struct use {
    long kib, mappings, files, threads;
};

static long entries(const char *folder)
{
    DIR *dir = opendir(folder);
    long n = 0;

    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static struct use look(void)
{
    struct use u = {0, 0, entries("/proc/self/fd"), entries("/proc/self/task")};
    FILE *file = fopen("/proc/self/statm", "r");
    char line[4096];

    if (fscanf(file, "%*d %ld", &u.kib) != 1)
        u.kib = -1;
    u.kib *= sysconf(_SC_PAGESIZE) / 1024;
    fclose(file);
    file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file))
        u.mappings++;
    fclose(file);
    return u;
}

static double *kept[KEPT];
static const int n = N, one = 1;
static const double unit = 1, minus = -1;

static void fill(double *p, int seed)
{
    for (int i = 0; i < N; i++)
        p[i] = (i + seed) % 7;
}

/* Makes six calls; returns false if a result was wrong. */
static bool work(int i)
{
    double on_stack[N], *p = malloc(sizeof on_stack), *k = kept[i % KEPT], dot, expected = 0;
    bool good;

    fill(p, i);
    fill(on_stack, 0);
    dscal_(&n, &minus, p, &one);
    daxpy_(&n, &unit, p, &one, k, &one);
    daxpy_(&n, &minus, p, &one, k, &one);
    daxpy_(&n, &unit, on_stack, &one, p, &one);
    dscal_(&n, &minus, on_stack, &one);
    p[5] = 3;
    dot = ddot_(&n, p, &one, k, &one);
    for (int j = 0; j < N; j++)
        expected += (j == 5 ? 3 : j % 7 - (j + i) % 7) * (j % 7);
    good = dot == expected && on_stack[N - 1] == -((N - 1) % 7) && k[i % N] == i % N % 7;
    free(p);
    return good;
}

int main(int argc, char **argv)
{
    int rounds = (argc > 1 ? atoi(argv[1]) : 30000) / 6, wrong = 0;
    struct use before = {0}, after;

    for (int i = 0; i < KEPT; i++)
        fill(kept[i] = malloc(N * sizeof(double)), 0);
    for (int i = 0; i < rounds; i++) {
        if (i == rounds / 5)
            before = look();
        wrong += !work(i);
    }
    after = look();
    printf("%d calls, %d wrong; %+ld KiB, %+ld mappings, %+ld files, %+ld threads\n", 6 * rounds, wrong,
           after.kib - before.kib, after.mappings - before.mappings, after.files - before.files,
           after.threads - before.threads);
    wrong += after.kib - before.kib > 2048 || after.mappings - before.mappings > 64 || after.files > before.files ||
             after.threads > before.threads;
    printf(wrong ? "failed\n" : "ok\n");
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
