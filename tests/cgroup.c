/* A program for cgroup.t, run in a control group with little memory. Devices use many blocks from malloc, which are
 * freed, and afterwards mapped memory, of which the library keeps copies. The library may keep freed blocks and copies
 * only as far as the group's memory allows. Prints errors, and at the end "ok" or "failed". */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BLOCKS   40
#define LENGTH   ((size_t)2 << 20)  /* elements of each block: 16 MiB */
#define MAPPED   ((size_t)32 << 20) /* elements: 256 MiB */

void dscal_(const int *, const double *, double *, const int *);

static const int one = 1, length = (int)LENGTH;
static const double two = 2;

static void fill(double *p, double value)
{
    for (size_t i = 0; i < LENGTH; i++)
        p[i] = value;
}

static bool has(const double *p, double value)
{
    size_t i = 0;

    while (i < LENGTH && p[i] == value)
        i += 511;
    return i >= LENGTH;
}

static int come_and_go(void)
{
    static double *block[BLOCKS];
    int wrong = 0;

    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(LENGTH * sizeof(double));
        if (!block[i])
            return 1;
        fill(block[i], i);
        dscal_(&length, &two, block[i], &one);
    }
    for (int i = 0; i < BLOCKS; i++) {
        wrong += !has(block[i], 2 * i);
        free(block[i]);
    }
    return wrong;
}

static int use_other_memory(double *mapped)
{
    int wrong = 0;

    for (size_t at = 0; at < MAPPED; at += LENGTH) {
        fill(mapped + at, 3);
        dscal_(&length, &two, mapped + at, &one);
        dscal_(&length, &two, mapped + at, &one);
    }
    for (size_t at = 0; at < MAPPED; at += LENGTH)
        wrong += !has(mapped + at, 12);
    return wrong;
}

int main(void)
{
    double *mapped = mmap(NULL, MAPPED * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int wrong = mapped == MAP_FAILED ? 1 : come_and_go() + use_other_memory(mapped);

    printf("%d wrong\n", wrong);
    puts(wrong ? "failed" : "ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
