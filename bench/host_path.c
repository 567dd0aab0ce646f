/* Cost of calls that run on the host, in nanoseconds beyond the host BLAS.  The host BLAS of this program does not
 * compute (bench/null_blas.c).  Operands at home should cost the same few instructions for every size.
 *
 *     make bench/host_path bench/null_blas.la
 *     SEMCACHE_DEVICE=emu:$PWD/../device/emu/machines/h200x8.machine:1 bench/host_path      or none, or auto with a GPU
 *     bench/host_path KIND TEXT       only operands of KIND and calls with TEXT in the name, for a profiler
 *
 * On a machine file with slow devices (tests/host_calls.t) the calls of levels 2 and 3 stay on the host, too.
 *
 * A * marks calls that were offloaded in part; their cost is no cost of the host's path.
 *
 * Operands: `untracked` from malloc, never used by a device; `home` of a matrix that the CPU has written after a device
 * call; `shared` only read, with a copy on a device; `partly` at home in a matrix with the second half on a device;
 * `outside` not from malloc. */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/host_path.h"

enum { CALLS = 300, ROUNDS = 15 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const struct call {
    const char *name;
    void (*run)(int n);
} calls[] = {
#define CALL(function, name) {name, function},
    HOST_PATH_CALLS(CALL)
};
enum { KINDS = sizeof calls / sizeof *calls };
static const int sizes[2] = {FEW, MANY};

static __attribute__((noipa)) void small_n(const struct call *call)
{
    for (int i = 0; i < CALLS; i++)
        call->run(sizes[0]);
}
static __attribute__((noipa)) void large_n(const struct call *call)
{
    for (int i = 0; i < CALLS; i++)
        call->run(sizes[1]);
}

static int by_size(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median_of(void (*loop)(const struct call *), const struct call *call)
{
    double ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        double start = now();

        loop(call);
        ns[i] = (now() - start) / CALLS;
    }
    qsort(ns, ROUNDS, sizeof *ns, by_size);
    return ns[ROUNDS / 2];
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static const struct operands {
    const char *name;
    bool (*make)(void);
} operands[] = {{"untracked", make_untracked}, {"home", make_home}, {"shared", make_shared}, {"partly", make_partly},
                {"outside", make_outside}};

/* --- other things that programs do -------------------------------------------------------------------------------- */

/* ns of a read or write of /dev/null, which looks at no byte of the buffer. */
static double system_call(bool reads, int fd, void *buffer)
{
    double ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        double start = now();

        for (int k = 0; k < CALLS; k++)
            (void)!(reads ? read(fd, buffer, 64) : write(fd, buffer, 64));
        ns[i] = (now() - start) / CALLS;
    }
    qsort(ns, ROUNDS, sizeof *ns, by_size);
    return ns[ROUNDS / 2];
}

static void print_system_calls(void)
{
    int null = open("/dev/null", O_RDWR);
    char stack[64];
    double writing = system_call(false, null, stack), reading = system_call(true, null, stack);

    printf("  write() beside one of the stack's bytes %.0f, read() %.0f\n",
           system_call(false, null, x + 1000) - writing, system_call(true, null, x + 1000) - reading);
    close(null);
}

/* Microseconds of the first write to a page of a matrix that a device has, and of the next. */
static void print_faults(void)
{
    double us[ROUNDS];

    if (!on_device(x))
        return;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();

        ((volatile double *)x)[(size_t)i * (LENGTH / ROUNDS)] = 1;
        us[i] = (now() - start) / 1e3;
    }
    qsort(us, ROUNDS, sizeof *us, by_size);
    printf("  first write to a sector that a device has a copy of: %.1f us\n", us[ROUNDS / 2]);
}

/* A temporary array as in NumPy: allocated, written once, freed. */
static double temporary(size_t bytes, int rounds)
{
    double ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        double start = now();

        for (int k = 0; k < rounds; k++) {
            char *p = malloc(bytes);

            for (size_t at = 0; at < bytes; at += 4096)
                ((volatile char *)p)[at] = 1;
            free(p);
        }
        ns[i] = (now() - start) / rounds;
    }
    qsort(ns, ROUNDS, sizeof *ns, by_size);
    return ns[ROUNDS / 2];
}

static void print_temporaries(void)
{
    printf("temporaries, allocated, touched, freed, us:");
    for (size_t mib = 1; mib <= 100; mib *= 10)
        printf(" %zu MiB %.1f,", mib, temporary(mib << 20, (int)(100 / mib)) / 1e3);
    printf(" 100 B %.3f\n", temporary(100, 1000) / 1e3);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void use_null_blas(char **argv)
{
    char path[PATH_MAX];
    const char *end = strrchr(argv[0], '/');

    if (getenv("SEMCACHE_HOST_BLAS"))
        return;
    snprintf(path, sizeof path, "%.*s.libs/null_blas.so", end ? (int)(end - argv[0] + 1) : 0, argv[0]);
    if (access(path, R_OK)) /* libtool's programs are in .libs themselves */
        snprintf(path, sizeof path, "%.*snull_blas.so", end ? (int)(end - argv[0] + 1) : 0, argv[0]);
    setenv("SEMCACHE_HOST_BLAS", path, 1);
    execv(argv[0], argv);
    exit(2);
}

static uint64_t offloaded(void)
{
    struct semcache_statistics statistics = {.size = sizeof statistics};

    semcache_statistics(&statistics);
    return statistics.calls_offloaded;
}

static void print_call(const struct call *call)
{
    uint64_t before = offloaded();
    double few, many;

    call->run(sizes[0]);
    few = median_of(small_n, call);
    many = median_of(large_n, call);
    printf("  %-24s %8.0f %8.0f%s\n", call->name, few, many, offloaded() > before ? " *" : "");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "", *name = argc > 2 ? argv[2] : "";

    use_null_blas(argv);
    if (argc < 2)
        print_temporaries();
    semcache_init();
    printf("devices: %d; ns a call, n = %d and %d\n", semcache_device_count(), sizes[0], sizes[1]);
    for (size_t o = 0; o < sizeof operands / sizeof *operands; o++) {
        if (!strstr(operands[o].name, kind) || !operands[o].make())
            continue;
        printf("%s\n", operands[o].name);
        for (size_t c = 0; c < KINDS; c++)
            if (strstr(calls[c].name, name))
                print_call(&calls[c]);
        if (argc < 3)
            print_system_calls();
    }
    if (argc < 2) {
        make_untracked();
        print_faults();
        print_temporaries();
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
