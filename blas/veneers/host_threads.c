/* The number of threads of the host BLAS while the devices are being opened. OpenBLAS runs a thread on each processor,
 * and divides each call into equal parts. The thread that opens the devices takes time from one part, and the call ends
 * with that part. On 16 processors with one H200, NumPy's products of a matrix of order 20000 with a vector took 46 ms
 * alone. Beside an opening single products took 360 to 570 ms, and the opening took 1.0 s. With 15 threads they took
 * 42 to 64 ms, and the opening 0.45 s.
 *
 * OpenBLAS with OpenMP keeps its threads, because there the number belongs to the calling thread. */
#define _GNU_SOURCE
#include <stdio.h>

#include "base/loader.h"
#include "blas/blas_int.h"

#define PROCESSORS_LEAST 3 /* one of two processors is half of the host BLAS */

/* The functions of one library. */
struct threads {
    void (*set)(int threads);
    int (*get)(void), all;
};
/* Of the libraries that had fewer threads; written by the opening thread. */
static struct threads fewer[SC_BLAS_HOST_LIBRARIES];
static int libraries;

/* A function by its name behind "openblas_", as the distributions and the wheels of NumPy and SciPy spell it. */
static void *function(void *library, const char *name)
{
    static const char *const spellings[] = {"openblas_%s", "openblas_%s64_", "scipy_openblas_%s",
                                            "scipy_openblas_%s64_"};
    char symbol[SC_BLAS_SYMBOL_MAX];
    void *found = NULL;

    for (size_t i = 0; i < sizeof spellings / sizeof *spellings && !found; i++) {
        snprintf(symbol, sizeof symbol, spellings[i], name);
        found = sc_loader_symbol(library, symbol);
    }
    return found;
}

static int number(void *library, const char *name)
{
    int (*get)(void) = (int (*)(void))function(library, name);

    return get ? get() : 0;
}

void sc_blas_host_threads_fewer(void)
{
    enum { BY_THREADS = 1 }; /* openblas_get_parallel: 0 sequential, 2 by OpenMP */
    void *library[SC_BLAS_HOST_LIBRARIES];
    int count = sc_blas_host_libraries(library);

    libraries = 0;
    for (int i = 0; i < count; i++) {
        struct threads t = {.set = (void (*)(int))function(library[i], "set_num_threads"),
                            .get = (int (*)(void))function(library[i], "get_num_threads")};

        if (!t.set || !t.get || number(library[i], "get_parallel") != BY_THREADS)
            continue;
        t.all = t.get();
        if (t.all < PROCESSORS_LEAST || t.all != number(library[i], "get_num_procs"))
            continue; /* the program has chosen a number, or the library is here a second time */
        t.set(t.all - 1);
        fewer[libraries++] = t;
    }
}

/* A number that the program has set in the meantime stays.  The program may set the lower number again (threadpoolctl):
 * a later call looks once more. */
void sc_blas_host_threads_all(void)
{
    for (int i = 0; i < libraries; i++)
        if (fewer[i].get() == fewer[i].all - 1)
            fewer[i].set(fewer[i].all);
}
/* SPDX-License-Identifier: BSD-2-Clause */
