/* exec with a list of arguments.  libc would make an array of the list and call execve internally, past the
 * interposed functions of syscalls.tab.  The array is therefore made here. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "host/host_int.h"

/* Number of arguments in a list, the NULL at the end included. */
static size_t count(const char *first, va_list list)
{
    size_t n = 1;

    while (first) {
        first = va_arg(list, const char *);
        n++;
    }
    return n;
}

/* Runs `call` with `array`, a copy of the caller's arguments from `first` to the NULL.  During `call`, `list` stands
 * behind the NULL. */
#define WITH_ARRAY(first, list, array, call)       \
    va_list list;                                  \
    size_t n;                                      \
                                                   \
    va_start(list, first);                         \
    n = count(first, list);                        \
    va_end(list);                                  \
    char *array[n];                                \
    array[0] = (char *)(uintptr_t)first;           \
    va_start(list, first);                         \
    for (size_t i = 1; i < n; i++)                 \
        array[i] = va_arg(list, char *);           \
    call;                                          \
    va_end(list)

SC_HOST_EXPORT int execl(const char *path, const char *first, ...)
{
    WITH_ARRAY(first, list, array, execv(path, array));
    return -1;
}

SC_HOST_EXPORT int execlp(const char *file, const char *first, ...)
{
    WITH_ARRAY(first, list, array, execvp(file, array));
    return -1;
}

SC_HOST_EXPORT int execle(const char *path, const char *first, ...)
{
    WITH_ARRAY(first, list, array, execve(path, array, va_arg(list, char *const *)));
    return -1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
