/* surroundings FILE [LIMIT]: calls on devices in a program that has little of something. Writes "right" or "wrong" to
 * FILE. The names of limits are those of `limits`; such a limit is set to what is in use, between two calls. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define N 256
#include "tests/doubled.h"

static const struct {
    const char *name;
    int resource;
    rlim_t value;
} limits[] = {{"descriptors", RLIMIT_NOFILE, 0}, {"processes", RLIMIT_NPROC, 0}, {"files", RLIMIT_FSIZE, 0},
              {"locked", RLIMIT_MEMLOCK, 0}, {"data", RLIMIT_DATA, 0}, {"signals", RLIMIT_SIGPENDING, 0},
              {"queues", RLIMIT_MSGQUEUE, 0}};

static int wrong;

static void call(void)
{
    memset(c, 0, sizeof *c * N * N);
    multiply();
    wrong += count_wrong();
}

int main(int argc, char **argv)
{
    int out = open(argv[1], O_WRONLY); /* a pipe */

    set_up();
    if (!(argc > 3)) /* else the limit comes before the first call */
        call();
    for (size_t i = 0; argc > 2 && i < sizeof limits / sizeof *limits; i++)
        if (!strcmp(limits[i].name, argv[2])) {
            const struct rlimit limit = {limits[i].value, limits[i].value};

            wrong += setrlimit(limits[i].resource, &limit) != 0;
        }
    call();
    call();
    return write(out, wrong ? "wrong\n" : "right\n", 6) != 6 || wrong;
}
/* SPDX-License-Identifier: BSD-2-Clause */
