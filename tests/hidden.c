/* Lines that a trace cannot give in full: results are touched by code that the program makes at run time, and below a
 * large frame of the stack; an array outside malloc is written before each product. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 600, ROUNDS = 5, FAR = 40000 };

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

static double common[N * N];

static double __attribute__((noinline)) look(const volatile double *at)
{
    return *at; /* looks */
}

/* The callers of `look` are far up the stack. */
static double __attribute__((noinline)) look_from_afar(const double *at)
{
    volatile char room[FAR];

    room[0] = room[FAR - 1] = 1;
    return look(at) + room[0] - room[FAR - 1];
}

static double __attribute__((noinline)) look_from_near(const volatile double *at)
{
    return -*at; /* looks nearby */
}

int main(void)
{
    static const unsigned char code[] = {0xf2, 0x0f, 0x10, 0x07, 0xc3}; /* movsd (%rdi), %xmm0; ret */
    const int n = N;
    const double one = 1, zero = 0;
    double *a = calloc(N * N, sizeof *a), *c = NULL, sum = 0;
    char *made = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double (*load)(const double *) = (double (*)(const double *))(uintptr_t)made;

    if (made == MAP_FAILED || !a)
        return 1;
    memcpy(made, code, sizeof code);
    if (mprotect(made, sizeof code, PROT_READ | PROT_EXEC) != 0)
        return 1;
    for (int i = 0; i < N; i++)
        a[i * (N + 1)] = 2;
    for (int round = 0; round < 3 * ROUNDS; round++) {
        const int kind = round / ROUNDS;

        if (round % ROUNDS == 0) {
            free(c);
            c = calloc(N * N, sizeof *c);
        }
        memset(common, 0, sizeof common); /* writes */
        common[round] = round;
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, common, &n, &zero, c, &n); /* needs */
        sum += kind == 0 ? load(c + round) : kind == 1 ? look_from_afar(c + round) : -look_from_near(c + round);
    }
    printf("made at %p sum %g ok\n", (void *)made, sum);
    free(a), free(c);
    return sum == ROUNDS * 3.0 * (ROUNDS * 3 - 1) ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
