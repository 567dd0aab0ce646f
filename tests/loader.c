/* loader LIBRARY TIMES [MODE]: opens and closes a library whose constructor calls the BLAS (constructor.c).
 *
 *     call   meanwhile a second thread makes calls on static data; its first call opens the devices
 *     wait   says so and makes one call first
 *     say    says so and makes no call
 *     after  makes a small call first, which opens the host BLAS */
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 400
#define ARRAYS 12
static double array[ARRAYS][N * N] = {{1}};
static int stop; /* atomic */

static double product(int a, int c)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, array[a], N, array[0], N, 0, array[c], N);
    return array[c][N * N - 1];
}

static void *call(void *unused)
{
    unsigned k = 0;

    do {
        k = k % (ARRAYS - 1) + 1;
        if (product(0, (int)k) != N)
            puts("wrong");
    } while (!__atomic_load_n(&stop, __ATOMIC_RELAXED));
    return unused;
}

int main(int argc, char **argv)
{
    bool calls = argc > 3 && !strcmp(argv[3], "call");
    pthread_t thread;

    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < N * N; i++)
        array[0][i] = 1;
    if (argc > 3 && (!strcmp(argv[3], "wait") || !strcmp(argv[3], "say")))
        puts("begins");
    if (argc > 3 && !strcmp(argv[3], "wait"))
        product(0, 1);
    if (argc > 3 && !strcmp(argv[3], "after"))
        cblas_daxpy(4, 1, array[0], 1, array[1], 1);
    if (calls && pthread_create(&thread, NULL, call, NULL))
        return 1;
    usleep(100000); /* the devices are being opened */
    for (int i = 0; i < atoi(argv[2]); i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

        if (!library) {
            puts(dlerror());
            return 1;
        }
        dlclose(library);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    if (calls)
        pthread_join(thread, NULL);
    puts("done");
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
