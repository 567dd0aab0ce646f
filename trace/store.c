#include <config.h>

#include "trace/store.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/own_proc.h"
#include "base/write.h"
#include "trace/file.h"

#define BLOCK ((uint64_t)SC_TRACE_BLOCK_BYTES)
#define WINDOW ((uint64_t)256 << 20) /* mapped at a time: address space, no memory */
#define WINDOWS 4096                 /* 1 TiB */
#define BLOCKS_OF_WINDOW (WINDOW / BLOCK)
#define EXTENT 16u /* blocks of a growth step; pages without room on the disk would raise SIGBUS */
#define LEAST 4u   /* blocks */
#define NONE UINT32_MAX

static struct {
    int fd; /* -1: no file */
    dev_t device;
    ino_t inode;
    struct sc_trace_header *header;
    uint64_t header_bytes, sequence;
    uint32_t used, allocated, most; /* blocks: given out, with room in the file, allowed */
    uint32_t oldest, newest;        /* released blocks, linked by their heads */
    bool full;                      /* the disk is */
    struct sc_trace_block *records; /* the last one */
    char *window[WINDOWS];
} store = {.fd = -1};

bool sc_trace_store_is_open(void) { return store.fd >= 0; }

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* Whether the descriptor is still the trace file. A program may have closed unknown descriptors and opened new files
 * (rule T5). */
static bool is_ours(void)
{
    struct stat about;

    return fstat(store.fd, &about) == 0 && about.st_dev == store.device && about.st_ino == store.inode;
}

static void *map(uint64_t offset, uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, store.fd, (off_t)offset);

    return at == MAP_FAILED ? NULL : at;
}

/* Room on the disk for bytes of the file; false with errno. */
static bool reserve(uint64_t offset, uint64_t bytes)
{
    struct sc_write_quiet quiet;
    int error;

    if (!is_ours()) {
        errno = EBADF;
        return false;
    }
    sc_write_quiet_begin(&quiet);
    do
        error = posix_fallocate(store.fd, (off_t)offset, (off_t)bytes);
    while (error == EINTR);
    sc_write_quiet_end(&quiet);
    errno = error;
    return error == 0;
}

static struct sc_trace_block *block_at(uint32_t index)
{
    char **window = &store.window[index / BLOCKS_OF_WINDOW];

    if (!*window)
        *window = map(store.header_bytes + index / BLOCKS_OF_WINDOW * WINDOW, WINDOW);
    return *window ? (struct sc_trace_block *)(*window + index % BLOCKS_OF_WINDOW * BLOCK) : NULL;
}

static uint32_t index_of(const struct sc_trace_block *block)
{
    for (uint32_t i = 0; i < WINDOWS && store.window[i]; i++) {
        uint64_t offset = (uint64_t)((const char *)block - store.window[i]);

        if (offset < WINDOW)
            return (uint32_t)(i * BLOCKS_OF_WINDOW + offset / BLOCK);
    }
    return NONE;
}

static bool grow(void)
{
    uint32_t more = store.most - store.allocated < EXTENT ? store.most - store.allocated : EXTENT;
    uint64_t end = store.header_bytes + store.allocated * BLOCK;

    if (!more || store.full)
        return false;
    if (!reserve(end, more * BLOCK)) {
        more = 1;
        if (errno == EBADF || !reserve(end, BLOCK)) {
            sc_log(SC_LOG_WARN,
                   "the trace file cannot grow (%s): from here on the newest events take the place of the oldest",
                   errno == EBADF ? "the program closed it" : strerror(errno));
            store.full = true;
            return false;
        }
    }
    store.allocated += more;
    return true;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static struct sc_trace_block *begin_block(struct sc_trace_block *block, enum sc_trace_block_kind kind)
{
    block->head.magic = 0;
    block->head.count = 0;
    block->head.kind = kind;
    block->head.sequence = ++store.sequence;
    __atomic_store_n(&block->head.magic, SC_TRACE_BLOCK_MAGIC, __ATOMIC_RELEASE);
    return block;
}

static struct sc_trace_block *fresh_block(void)
{
    struct sc_trace_block *block;

    if (store.used == store.allocated && !grow())
        return NULL;
    block = block_at(store.used);
    store.used += block != NULL;
    return block;
}

/* Links between blocks lie in the file, which another process may damage. */
static struct sc_trace_block *oldest_block(void (*taken)(const struct sc_trace_block *block))
{
    struct sc_trace_block *block = store.oldest < store.used ? block_at(store.oldest) : NULL;

    if (!block)
        return NULL;
    store.oldest = store.oldest == store.newest ? NONE : block->head.next;
    taken(block);
    store.header->dropped += block->head.count;
    return block;
}

struct sc_trace_block *sc_trace_store_block(void (*taken)(const struct sc_trace_block *block))
{
    struct sc_trace_block *block = fresh_block();

    if (!block)
        block = oldest_block(taken);
    return block ? begin_block(block, SC_BLOCK_EVENTS) : NULL;
}

void sc_trace_store_release(struct sc_trace_block *block)
{
    uint32_t index = index_of(block);
    struct sc_trace_block *last = store.oldest != NONE && store.newest < store.used ? block_at(store.newest) : NULL;

    if (index == NONE)
        return;
    block->head.next = NONE;
    if (last)
        last->head.next = index;
    else
        store.oldest = index;
    store.newest = index;
}

void sc_trace_store_lost(uint64_t events)
{
    struct sc_trace_header *header = __atomic_load_n(&store.header, __ATOMIC_ACQUIRE);

    if (header)
        __atomic_fetch_add(&header->lost, events, __ATOMIC_RELAXED);
}

/* --- records ------------------------------------------------------------------------------------------------------ */

void sc_trace_store_record(enum sc_trace_record_kind kind, const void *head, size_t head_bytes, const char *text,
                           size_t bytes)
{
    struct sc_trace_record record = {.kind = kind, .bytes = (uint32_t)(head_bytes + bytes)};
    size_t room = BLOCK - sizeof(struct sc_trace_block_head), all = (sizeof record + record.bytes + 7) & ~(size_t)7;
    char *at;

    if (store.fd < 0 || all > room)
        return;
    if (!store.records || store.records->head.count + all > room) {
        struct sc_trace_block *block = fresh_block();

        if (!block)
            return;
        store.records = begin_block(block, SC_BLOCK_RECORDS);
    }
    at = (char *)store.records->events + store.records->head.count;
    memcpy(at, &record, sizeof record);
    memcpy(at + sizeof record, head, head_bytes);
    memcpy(at + sizeof record + head_bytes, text, bytes);
    __atomic_store_n(&store.records->head.count, store.records->head.count + (uint32_t)all, __ATOMIC_RELEASE);
}

/* --- begin and end ------------------------------------------------------------------------------------------------ */

static void reset(void)
{
    memset(store.window, 0, sizeof store.window);
    store.records = NULL;
    store.sequence = 0;
    store.used = store.allocated = 0;
    store.oldest = store.newest = NONE;
    store.full = false;
}

static void write_header(void)
{
    struct sc_trace_header *header = store.header;
    ssize_t n;

    *header = (struct sc_trace_header){.version = SC_TRACE_VERSION,
                                       .header_bytes = (uint32_t)store.header_bytes,
                                       .event_bytes = sizeof(struct sc_event),
                                       .byte_order = SC_TRACE_BYTE_ORDER,
                                       .start_monotonic = now(CLOCK_MONOTONIC),
                                       .start_realtime = now(CLOCK_REALTIME),
                                       .pid = (uint32_t)getpid(),
                                       .block_bytes = SC_TRACE_BLOCK_BYTES};
    n = readlink(SC_OWN_PROC "exe", header->program, sizeof header->program - 1);
    header->program[n > 0 ? n : 0] = '\0';
    memcpy(header->magic, SC_TRACE_MAGIC, sizeof header->magic);
}

static bool begin(uint64_t limit)
{
    uint64_t most = limit ? limit / BLOCK : WINDOWS * BLOCKS_OF_WINDOW;
    struct sc_trace_header *header = NULL;
    struct stat about;

    reset();
    most = most > WINDOWS * BLOCKS_OF_WINDOW ? WINDOWS * BLOCKS_OF_WINDOW : most;
    store.most = (uint32_t)(most < LEAST ? LEAST : most);
    store.header_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    if (fstat(store.fd, &about) != 0)
        return false;
    store.device = about.st_dev;
    store.inode = about.st_ino;
    if (!reserve(0, store.header_bytes + LEAST * BLOCK) || !(header = map(0, store.header_bytes)))
        return false;
    store.allocated = LEAST;
    __atomic_store_n(&store.header, header, __ATOMIC_RELEASE);
    write_header();
    return true;
}

enum sc_status sc_trace_store_open(const char *path, uint64_t limit)
{
    store.fd = sc_trace_create_file(path, 0600, SC_FILE_TRACE);
    if (store.fd < 0)
        return SC_ERR_IO;
    if (begin(limit))
        return SC_OK;
    sc_log(SC_LOG_WARN, "the trace file %s cannot be written and mapped (%s); name one on another disk", path,
           strerror(errno));
    if (is_ours())
        close(store.fd);
    store.fd = -1;
    return SC_ERR_IO;
}

void sc_trace_store_close(void)
{
    struct sc_trace_header *header = store.header;

    if (store.fd < 0)
        return;
    header->ended = 1;
    __atomic_store_n(&store.header, NULL, __ATOMIC_RELEASE);
    if (is_ours()) {
        if (ftruncate(store.fd, (off_t)(store.header_bytes + store.used * BLOCK)) != 0)
            sc_log(SC_LOG_DEBUG, "the trace file keeps an empty end: %s", strerror(errno));
        close(store.fd);
    }
    store.fd = -1;
    reset();
}

void sc_trace_store_forget(void)
{
    if (store.fd >= 0 && is_ours())
        close(store.fd);
    store.fd = -1;
    store.header = NULL;
    reset();
}
/* SPDX-License-Identifier: BSD-2-Clause */
