/* limits WHERE HOW: a limit takes effect while devices hold the program's arrays. WHERE the arrays are: "malloc",
 * "mapped", "static". HOW: "data" limits data to less than in use, "room" leaves some data; "space" limits addresses
 * and takes the rest; "mappings" uses up the mappings. The values must stay right. */
#define _GNU_SOURCE
#include <cblas.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define N (1 << 20)
#define MIB ((size_t)1 << 20)
static double fixed[2][N];
static double *x, *y;

static void *array(const char *where, int which)
{
    if (!strcmp(where, "static"))
        return fixed[which];
    if (!strcmp(where, "mapped"))
        return mmap(NULL, N * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return malloc(N * sizeof(double));
}

static void limit(int resource, size_t bytes)
{
    const struct rlimit l = {bytes, bytes};

    if (setrlimit(resource, &l))
        perror("setrlimit");
}

/* The bytes in use, by a field of /proc/self/status. */
static size_t used(const char *field)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field)))
            kib = strtoul(line + strlen(field) + 1, NULL, 10);
    if (file)
        fclose(file);
    return kib << 10;
}

/* Takes the remaining address space, without touching it. */
static void take_all(void)
{
    for (size_t bytes = 64 * MIB; bytes >= 4096; bytes /= 2)
        while (mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) !=
               MAP_FAILED)
            ;
}

/* Takes mappings that do not merge. */
static void take_mappings(void)
{
    char *p = mmap(NULL, 70000ul * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    for (size_t i = 0; p != MAP_FAILED && i < 70000; i += 2)
        if (mprotect(p + i * 4096, 4096, PROT_READ))
            break;
}

/* The right value of each element of y. */
static double want;

static void call(void)
{
    cblas_daxpy(N, 1, x, 1, y, 1);
    want++;
}

static void write_all(void)
{
    for (int i = 0; i < N; i++)
        y[i] += x[i];
    want++;
}

static bool all_right(int step)
{
    for (int i = 0; i < N; i += step)
        if (y[i] != want)
            return false;
    return true;
}

static void set_limit(const char *how)
{
    if (!strcmp(how, "data"))
        limit(RLIMIT_DATA, MIB); /* less than in use */
    if (!strcmp(how, "room"))
        limit(RLIMIT_DATA, used("VmData") + 100 * MIB);
    if (!strcmp(how, "space"))
        limit(RLIMIT_AS, used("VmSize") + 100 * MIB);
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "";
    bool good = argc > 2;

    x = array(argv[1], 0);
    y = array(argv[1], 1);
    for (int i = 0; i < N; i++) {
        x[i] = 1;
        y[i] = 2;
    }
    want = 2;
    call();
    good = good && all_right(1); /* an OpenBLAS without its buffers would wait for memory for ever */
    call();
    call();
    set_limit(how);
    call();
    if (!strcmp(how, "mappings"))
        take_mappings();
    else
        take_all();
    good = good && all_right(511);
    call();
    write_all();
    call();
    call();
    good = good && all_right(1);
    write_all();
    good = good && all_right(1);
    puts(good ? "right" : "wrong");
    return !good;
}
/* SPDX-License-Identifier: BSD-2-Clause */
