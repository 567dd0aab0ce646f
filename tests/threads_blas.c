/* An OpenBLAS of a machine with eight processors, and with THREADS (8) threads. */
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void dgemm_(void);
EXPORTED int openblas_get_num_procs(void), openblas_get_parallel(void), openblas_get_num_threads(void);
EXPORTED void openblas_set_num_threads(int threads);
static int number;

void dgemm_(void) {}
int openblas_get_num_procs(void) { return 8; }
int openblas_get_parallel(void) { return 1; }

int openblas_get_num_threads(void)
{
    const char *threads = getenv("THREADS");

    if (!__atomic_load_n(&number, __ATOMIC_RELAXED))
        __atomic_store_n(&number, threads ? atoi(threads) : 8, __ATOMIC_RELAXED);
    return __atomic_load_n(&number, __ATOMIC_RELAXED);
}

void openblas_set_num_threads(int threads) { __atomic_store_n(&number, threads, __ATOMIC_RELAXED); }
/* SPDX-License-Identifier: BSD-2-Clause */
