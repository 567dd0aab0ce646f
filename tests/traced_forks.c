/* Threads that allocate large blocks while the process forks; the children allocate as well. A child that waited for a
 * thread of its parent would wait for ever. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 200, BYTES = 128 << 10 };

static atomic_int over;

static void *allocate(void *argument)
{
    while (!over) {
        char *volatile block = malloc(BYTES);

        free(block);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    int status, good = 0;

    alarm(60);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();

        if (child == 0) {
            char *volatile block = malloc(BYTES);

            alarm(20);
            free(block);
            block = malloc(2 * BYTES);
            _exit(block == NULL);
        }
        good += waitpid(child, &status, 0) == child && status == 0;
    }
    over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d children %s\n", good, good == FORKS ? "ok" : "failed");
    return good != FORKS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
