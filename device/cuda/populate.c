/* Gives untouched memory, such as the result of a first product, its pages before pinning.  Otherwise the kernel clears
 * the pages in the calling thread, at 6 to 10 GB/s; several threads are many times faster. */
#define _GNU_SOURCE
#include "device/cuda/cuda_int.h"

#include <sched.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on; earlier kernels return EINVAL, and pinning allocates the pages */
#endif

enum { CHUNK = 16 << 20, THREADS_MOST = 8 };

struct work {
    char *base;
    size_t bytes, next; /* next: offset of the first chunk not yet taken */
};

/* Skips present pages, and therefore changes no byte.  A failure also fails the pin, which reports the cause. */
static void populate(struct work *w)
{
    size_t at;

    while ((at = __atomic_fetch_add(&w->next, CHUNK, __ATOMIC_RELAXED)) < w->bytes) {
        size_t left = w->bytes - at;

        if (madvise(w->base + at, left < CHUNK ? left : CHUNK, MADV_POPULATE_WRITE))
            return;
    }
}

static void *helper(void *work)
{
    sc_cuda_host->thread_enter();
    populate(work);
    return NULL;
}

/* At most half of the processors allowed to the program. */
static int threads_for(size_t bytes)
{
    cpu_set_t cpus;
    size_t count = sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : (size_t)CPU_COUNT(&cpus) / 2;

    if (count > THREADS_MOST)
        count = THREADS_MOST;
    return (int)(count > bytes / (2 * CHUNK) ? bytes / (2 * CHUNK) : count);
}

void sc_cuda_populate(void *base, size_t bytes)
{
    struct work work = {.base = base, .bytes = bytes};
    pthread_t thread[THREADS_MOST];
    int wanted = threads_for(bytes), started = 0;

    if (wanted < 2)
        return;
    while (started < wanted - 1 && sc_cuda_thread(&thread[started], helper, &work))
        started++;
    if (started)
        populate(&work);
    while (started)
        pthread_join(thread[--started], NULL);
}
/* SPDX-License-Identifier: BSD-2-Clause */
