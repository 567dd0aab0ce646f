/* The program files with code in the process, from the kernel's list of mappings.  The loader's list has a lock; a
 * thread with that lock may be waiting for the pager. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/own_proc.h"

#include "trace/store.h"

#define KNOWN 4096 /* ranges written before */
#define RANGES 1024
#define HEADERS 64

/* Protected by the file lock; ranges below range_count are read without it. */
static uint64_t known[KNOWN];
static char text[16384];
static struct range {
    uint64_t start, end;
} ranges[RANGES];
static unsigned range_count;
/* A bit for each 2 MiB of addresses (modulo the bits) with code: most words of a stack are refused at once. */
#define GRANULE 21
#define GRANULES 4096
static uint64_t has_code[GRANULES / 64];

struct mapping {
    uint64_t start, end, offset;
    const char *path;
    bool code;
};

static bool read_memory(uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Difference between addresses in memory and in the program file, for a file mapped from `base` on. */
static uint64_t bias_of(uint64_t base)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) segment[HEADERS];
    size_t count;

    if (!read_memory(base, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return base;
    count = head.e_phnum < HEADERS ? head.e_phnum : HEADERS;
    if (head.e_phentsize != sizeof *segment || !read_memory(base + head.e_phoff, segment, count * sizeof *segment))
        return base;
    for (size_t i = 0; i < count; i++)
        if (segment[i].p_type == PT_LOAD)
            return base - (segment[i].p_vaddr - segment[i].p_offset % segment[i].p_align);
    return base;
}

static bool is_known(const struct mapping *mapping)
{
    uint64_t *slot = &known[mapping->start * UINT64_C(0x9e3779b97f4a7c15) >> 52], mark = mapping->start ^ mapping->end;

    for (const char *at = mapping->path; *at; at++)
        mark = mark * 31 + (unsigned char)*at;
    if (*slot == mark)
        return true;
    *slot = mark;
    return false;
}

/* "START-END rwxp OFFSET DEVICE INODE   PATH" */
static bool parse(char *line, struct mapping *mapping)
{
    unsigned long long start, end, offset;
    char rights[8];
    int path = 0;

    if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, rights, &offset, &path) < 4 || !path ||
        line[path] != '/')
        return false;
    *mapping = (struct mapping){start, end, offset, line + path, rights[2] == 'x'};
    return true;
}

/* One line of the list.  `file` and `base`: the program file of the lines before, and its first address. */
static void look_at(char *line, char *file, size_t bytes, uint64_t *base)
{
    struct mapping mapping;

    if (!parse(line, &mapping))
        return;
    if (mapping.offset == 0) {
        snprintf(file, bytes, "%s", mapping.path);
        *base = mapping.start;
    }
    if (mapping.code && strcmp(file, mapping.path) == 0 && !is_known(&mapping)) {
        struct sc_trace_module_head head = {mapping.start, mapping.end, bias_of(*base)};

        sc_trace_store_record(SC_RECORD_MODULE, &head, sizeof head, mapping.path, strlen(mapping.path));
        for (uint64_t at = mapping.start >> GRANULE; at <= (mapping.end - 1) >> GRANULE; at++)
            __atomic_fetch_or(&has_code[at % GRANULES / 64], UINT64_C(1) << at % 64, __ATOMIC_RELAXED);
        if (range_count < RANGES)
            ranges[range_count] = (struct range){mapping.start, mapping.end};
        __atomic_store_n(&range_count, range_count + (range_count < RANGES), __ATOMIC_RELEASE);
    }
}

bool sc_trace_store_knows(uint64_t ip)
{
    unsigned count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);

    if (!(__atomic_load_n(&has_code[(ip >> GRANULE) % GRANULES / 64], __ATOMIC_RELAXED) >> (ip >> GRANULE) % 64 & 1))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (ip >= ranges[i].start && ip < ranges[i].end)
            return true;
    return false;
}

void sc_trace_store_modules(bool again)
{
    static char file[4096];
    int fd = open(SC_OWN_PROC "maps", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    uint64_t base = 0;
    ssize_t n;

    if (fd < 0)
        return;
    if (!again) {
        memset(known, 0, sizeof known);
        __atomic_store_n(&range_count, 0, __ATOMIC_RELEASE);
    }
    *file = '\0';
    while ((n = read(fd, text + used, sizeof text - 1 - used)) > 0 || (n < 0 && errno == EINTR)) {
        char *line = text, *end;

        used += n > 0 ? (size_t)n : 0;
        text[used] = '\0';
        for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            look_at(line, file, sizeof file, &base);
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        if (used == sizeof text - 1)
            break; /* longer than every line */
    }
    close(fd);
}
/* SPDX-License-Identifier: BSD-2-Clause */
