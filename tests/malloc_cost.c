/* For malloc_cost.t: functions whose inclusive cost under callgrind is the cost of CALLS small allocations and their
 * end, through the library and directly in libc. */
#include <dlfcn.h>
#include <stdlib.h>

enum { CALLS = 1000, BYTES = 100 };

static void *(*volatile allocate)(size_t) = malloc;
static void *(*volatile clear)(size_t, size_t) = calloc;
static void *(*volatile resize)(void *, size_t) = realloc;
static void (*volatile release)(void *) = free;

#define LOOPS(way)                                                                                       \
    static __attribute__((noipa)) void cost_##way##_malloc(void)                                        \
    {                                                                                                    \
        for (int i = 0; i < CALLS; i++)                                                                  \
            release(allocate(BYTES));                                                                    \
    }                                                                                                    \
    static __attribute__((noipa)) void cost_##way##_calloc(void)                                        \
    {                                                                                                    \
        for (int i = 0; i < CALLS; i++)                                                                  \
            release(clear(1, BYTES));                                                                    \
    }                                                                                                    \
    static __attribute__((noipa)) void cost_##way##_realloc(void)                                       \
    {                                                                                                    \
        void *p = allocate(BYTES);                                                                       \
                                                                                                         \
        for (int i = 0; i < CALLS; i++)                                                                  \
            p = resize(p, BYTES);                                                                        \
        release(p);                                                                                      \
    }                                                                                                    \
    static void way(void)                                                                                \
    {                                                                                                    \
        cost_##way##_malloc();                                                                           \
        cost_##way##_calloc();                                                                           \
        cost_##way##_realloc();                                                                          \
    }
LOOPS(warm)
LOOPS(ours)
LOOPS(libc)

int main(void)
{
    void *libc_file = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

    if (!libc_file)
        return 77;
    warm();
    ours();
    *(void **)&allocate = dlsym(libc_file, "malloc");
    *(void **)&clear = dlsym(libc_file, "calloc");
    *(void **)&resize = dlsym(libc_file, "realloc");
    *(void **)&release = dlsym(libc_file, "free");
    libc();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
