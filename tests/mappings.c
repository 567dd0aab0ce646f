/* mappings COUNT: makes so many mappings, prints "ready", and waits for the end of its input. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)atol(argv[1]) : 0, page = 4096;
    char *memory = mmap(NULL, (count + 1) * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < count; i += 2)
        if (mprotect(memory + i * page, page, PROT_NONE) != 0)
            return 1;
    puts("ready");
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
