/* semcache stat: the counters of a running process, read from outside through /proc/PID/mem. */
#include <config.h>

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libsemcache/live.h"
#include "tools/elf_file.h"
#include "tools/process.h"
#include "tools/tool.h"

enum { JSON = 256, ROWS = 20, BLOCKS_MOST = 65536 };

struct arguments {
    pid_t pid;
    bool once, json;
};

struct watched {
    const char *tool;
    struct sc_process process;
    struct sc_live live;
    int memory; /* descriptor */
};

struct sample {
    double seconds;
    struct sc_stats stats;
    struct sc_levels levels;
    uint64_t calls_devices, calls_host, faults;
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool read_at(const struct watched *w, const void *from, void *to, size_t bytes)
{
    return pread(w->memory, to, bytes, (off_t)(uintptr_t)from) == (ssize_t)bytes;
}

struct place {
    uint64_t value; /* 0: not found */
};

static bool is_live(void *context, const char *name, const Elf64_Sym *symbol)
{
    struct place *place = context;

    if (strcmp(name, SC_LIVE_NAME) != 0 || symbol->st_shndx == SHN_UNDEF)
        return true;
    place->value = symbol->st_value;
    return false;
}

/* The offset of the table in the library that the process has mapped; 0: there is none. */
static uint64_t find_live(const struct sc_process *process)
{
    char path[PATH_MAX + 64];
    struct place place = {0};
    struct sc_elf elf;

    snprintf(path, sizeof path, "/proc/%ld/root%s", (long)process->pid, process->library);
    if (sc_elf_open(path, &elf, NULL, 0) != SC_ELF_GOOD)
        return 0;
    sc_elf_symbols(&elf, SHT_DYNSYM, is_live, &place);
    sc_elf_close(&elf);
    return place.value;
}

static bool same_sizes(const struct sc_live *live)
{
    static const struct sc_live own = {SC_LIVE_SIZES};

    return memcmp(live, &own, offsetof(struct sc_live, stats)) == 0;
}

/* The cause of a failure and its remedy; NULL: the counters can be read. */
static const char *begin(struct watched *w, pid_t pid, const char **remedy)
{
    const char *problem = sc_process_look(pid, &w->process);
    char path[64];
    uint64_t offset;

    *remedy = sc_process_remedy(pid);
    if (problem)
        return problem;
    *remedy = "start it with semcache run";
    if (!*w->process.library)
        return "it has no libsemcache";
    *remedy = "start the program again";
    if (w->process.replaced || (offset = find_live(&w->process)) == 0)
        return "its library has been replaced, or is too old for semcache stat";
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)pid);
    w->memory = open(path, O_RDONLY | O_CLOEXEC);
    *remedy = sc_process_remedy(pid);
    if (w->memory < 0 || !read_at(w, (const void *)(w->process.base + offset), &w->live, sizeof w->live))
        return w->memory < 0 ? strerror(errno) : "its memory cannot be read";
    *remedy = "use the command that was installed with its library";
    return same_sizes(&w->live) ? NULL : "its library is of another version";
}

/* Calls on the host that are not in the statistics yet. */
static bool add_blocks(const struct watched *w, struct sample *s)
{
    uint64_t collected[SC_TRACE_ROUTINES_MAX], sum = 0;
    struct sc_blas_count_block block;

    if (!read_at(w, w->live.blocks, &block.next, sizeof block.next))
        return false;
    for (int n = 0; block.next && n < BLOCKS_MOST; n++) {
        if (!read_at(w, block.next, &block, sizeof block))
            return false;
        for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++)
            sum += block.counts[i];
    }
    if (!read_at(w, w->live.collected, collected, sizeof collected))
        return false;
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++)
        sum -= collected[i];
    s->calls_host += (int64_t)sum > 0 ? sum : 0;
    return true;
}

static bool take(const struct watched *w, struct sample *s)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    *s = (struct sample){.seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9};
    if (!read_at(w, w->live.stats, &s->stats, sizeof s->stats) ||
        !read_at(w, w->live.levels, &s->levels, sizeof s->levels))
        return false;
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        s->calls_devices += s->stats.offloaded[i];
        s->calls_host += s->stats.host[i];
    }
    s->faults = s->stats.faults_read + s->stats.faults_write;
    return add_blocks(w, s);
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static uint64_t resident(const struct sample *s)
{
    uint64_t sum = 0;

    for (int d = 0; d < SC_DEVICES_MAX; d++)
        sum += s->levels.resident[d];
    return sum;
}

static void put_json(const struct watched *w, const struct sample *s)
{
    printf("{\"pid\": %ld, \"monotonic_milliseconds\": %" PRIu64 ", \"devices\": %" PRIu64 ", \"matrices\": %" PRIu64
           ", \"resident\": [", (long)w->process.pid, (uint64_t)(s->seconds * 1000), s->levels.devices,
           s->levels.matrices);
    for (uint64_t d = 0; d < s->levels.devices && d < SC_DEVICES_MAX; d++)
        printf("%s%" PRIu64, d ? ", " : "", s->levels.resident[d]);
    printf("], \"calls\": {\"offloaded\": %" PRIu64 ", \"host\": %" PRIu64 "}, \"bytes\": {\"h2d\": %" PRIu64
           ", \"d2h\": %" PRIu64 ", \"d2d\": %" PRIu64 "}, \"faults\": {\"read\": %" PRIu64 ", \"write\": %" PRIu64
           "}}\n", s->calls_devices, s->calls_host, s->stats.bytes[SC_H2D], s->stats.bytes[SC_D2H],
           s->stats.bytes[SC_D2D], s->stats.faults_read, s->stats.faults_write);
}

static void put_totals(const struct watched *w, const struct sample *s)
{
    static const char *const ways[SC_TRANSFERS] = {"to devices", "to the host", "between devices"};
    char text[16];

    printf("process %ld, %s\n", (long)w->process.pid, w->process.program);
    printf("  %-16s %" PRIu64 " on %" PRIu64 " devices, %s resident\n", "arrays", s->levels.matrices, s->levels.devices,
           sc_stats_format_bytes(resident(s), text));
    printf("  %-16s %" PRIu64 " on devices, %" PRIu64 " on the host\n", "calls", s->calls_devices, s->calls_host);
    for (int way = 0; way < SC_TRANSFERS; way++)
        printf("  %-16s %s\n", ways[way], sc_stats_format_bytes(s->stats.bytes[way], text));
    printf("  %-16s %" PRIu64 " read, %" PRIu64 " write\n", "page faults", s->stats.faults_read, s->stats.faults_write);
}

static double rate(uint64_t before, uint64_t now, double seconds)
{
    return now > before && seconds > 0 ? (double)(now - before) / seconds : 0;
}

static void put_row(const struct sample *before, const struct sample *now)
{
    double seconds = now->seconds - before->seconds;
    char text[16];

    printf("%9.0f %9.0f", rate(before->calls_devices, now->calls_devices, seconds),
           rate(before->calls_host, now->calls_host, seconds));
    for (int way = 0; way < SC_TRANSFERS; way++)
        printf(" %9s", sc_stats_format_bytes((uint64_t)rate(before->stats.bytes[way], now->stats.bytes[way], seconds),
                                             text));
    printf(" %9.0f %8" PRIu64 " %9s\n", rate(before->faults, now->faults, seconds), now->levels.matrices,
           sc_stats_format_bytes(resident(now), text));
}

/* A row a second, until the process ends. */
static int watch(const struct watched *w, bool json)
{
    struct sample samples[2];
    bool more = take(w, &samples[0]);

    for (int row = 0; more; row++) {
        const struct sample *before = &samples[row % 2];
        struct sample *now = &samples[(row + 1) % 2];

        if (json)
            put_json(w, before);
        else if (row % ROWS == 0)
            printf("%9s %9s %9s %9s %9s %9s %8s %9s\n", "devices/s", "host/s", "up/s", "down/s", "between/s",
                   "faults/s", "arrays", "resident");
        fflush(stdout);
        sleep(1);
        more = !ferror(stdout) && take(w, now);
        if (more && !json)
            put_row(before, now);
    }
    return EXIT_SUCCESS;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    char *end;

    switch (key) {
    case 'o': a->once = true; return 0;
    case JSON: a->json = true; return 0;
    case ARGP_KEY_ARG:
        a->pid = (pid_t)strtol(text, &end, 10);
        if (state->arg_num > 0 || *end || a->pid <= 0)
            argp_error(state, "%s is not the number of a process", text);
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "the number of a process is missing"); return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int sc_tool_stat(int argc, char **argv)
{
    static const struct argp_option options[] = {{"once", 'o', NULL, 0, "print the totals so far, and end", 0},
                                                 {"json", JSON, NULL, 0, "totals, an object of JSON a line", 0},
                                                 {0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .args_doc = "PID",
                                     .doc = "Prints once a second what a running process does under semcache: calls on "
                                            "devices and on the host, bytes up, down and between devices, page faults, "
                                            "arrays and their bytes on devices.  The process is only read."};
    struct arguments a = {0};
    struct watched w = {.tool = argv[0], .memory = -1};
    struct sample sample;
    const char *remedy, *problem;

    sc_tool_parse(&argp, argc, argv, 0, &a);
    problem = begin(&w, a.pid, &remedy);
    if (problem) {
        fprintf(stderr, "%s: process %ld cannot be read: %s; %s\n", argv[0], (long)a.pid, problem, remedy);
        return EXIT_FAILURE;
    }
    if (!a.once)
        return watch(&w, a.json);
    if (!take(&w, &sample)) {
        fprintf(stderr, "%s: process %ld has ended\n", argv[0], (long)a.pid);
        return EXIT_FAILURE;
    }
    a.json ? put_json(&w, &sample) : put_totals(&w, &sample);
    return EXIT_SUCCESS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
