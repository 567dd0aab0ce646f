#include <config.h>

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        FUZZ_MUST(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_MUST(ftruncate(fd, (off_t)size) == 0);
    FUZZ_MUST(pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

FILE *fuzz_nowhere(void)
{
    static FILE *nowhere;

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    FUZZ_MUST(nowhere);
    return nowhere;
}
/* SPDX-License-Identifier: BSD-2-Clause */
