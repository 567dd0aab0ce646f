/* Writes and reads of memory under any protection (base/self_mem.h). Asserts the bytes and errno, also
 * after the program has closed every descriptor. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/self_mem.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define BYTES ((size_t)5 << 20)

int main(void)
{
    char *closed = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *source = malloc(BYTES), *back = malloc(BYTES);
    struct rlimit limit;
    int first, again;

    for (size_t i = 0; i < BYTES; i++)
        source[i] = (char)(i * 31 + i / 4096);
    mprotect(closed, BYTES, PROT_NONE);
    errno = EDOM;
    tap_ok(sc_self_mem_write(closed, source, BYTES) == SC_OK, "closed pages can be written");
    tap_ok(sc_self_mem_read(back, closed, BYTES) == SC_OK && memcmp(back, source, BYTES) == 0, "and read");
    tap_ok(errno == EDOM, "errno is kept");
    mprotect(closed, BYTES, PROT_READ);
    tap_ok(memcmp(closed, source, BYTES) == 0, "opened, they hold what was written");
    tap_ok(sc_self_mem_write(closed + 4095, "xyz", 3) == SC_OK && memcmp(closed + 4095, "xyz", 3) == 0,
           "read-only pages can be written, across a boundary");
    tap_ok(sc_self_mem_write(closed, source, 0) == SC_OK, "nothing to write is no error");
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < 600) {
        tap_ok(1, "# SKIP fewer than 600 files may be open here");
        return tap_done();
    }
    /* A program closes every descriptor, and opens its own file under the library's number: the library must not write
     * to the program's file. */
    closefrom(3);
    first = open("/dev/null", O_RDWR);
    for (int i = 3; i < 600; i++)
        if (fcntl(i, F_GETFD) < 0)
            dup2(first, i);
    memset(back, 0, BYTES);
    tap_ok(sc_self_mem_write(closed, source, BYTES) == SC_OK && sc_self_mem_read(back, closed, BYTES) == SC_OK &&
               memcmp(back, source, BYTES) == 0,
           "descriptors closed by the program are opened anew");
    again = fcntl(512, F_GETFD);
    tap_ok(again >= 0, "and the program's own are left alone");
    munmap(closed, BYTES);
    tap_ok(sc_self_mem_write(closed, source, 10) == SC_ERR_IO, "unmapped memory is an error");
    free(source);
    free(back);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
