/* A module of the program in tests/chains.c. The module is compiled without frame pointers. */
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void planted_clear(double *array, size_t bytes);
EXPORT double planted_sum(const double *array, int count);

static void __attribute__((noinline)) clear(double *array, size_t bytes)
{
    memset(array, 0, bytes); /* clears */
    __asm__ volatile("" : : : "memory");
}

void planted_clear(double *array, size_t bytes)
{
    clear(array, bytes); /* asks */
    __asm__ volatile("" : : : "memory");
}

static inline double __attribute__((always_inline)) element(const double *array, int i)
{
    return *(const volatile double *)&array[i]; /* inlined */
}

double planted_sum(const double *array, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += element(array, i * 512); /* inlines */
    return sum;
}
/* SPDX-License-Identifier: BSD-2-Clause */
