/* The place of the program that makes a call. Walking the stack costs microseconds, so only tracing and explaining
 * do it. */
#include <config.h>

#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/config.h"
#include "base/inside.h"
#include "base/locks.h"
#include "base/quiet.h"
#include "base/stack.h"
#include "trace/chain.h"
#include "trace/store.h"
#include "trace/trace.h"
#include "trace/walk.h"

#define STACK_MOST (64 << 10) /* searched bytes of the stack */
#define CHUNK 4096

__thread struct sc_trace_site sc_trace_site __attribute__((tls_model("initial-exec")));

/* Addresses of the library, of the program's own file, and of its code. */
static struct range {
    uintptr_t first, end;
} library, program, code;

/* Places of the last calls that went through sc_trace_site_here. These calls have returned when the CPU touches
 * data, so their return addresses left on the stack are no callers. Racing writers lose a place. */
#define RETURNED 64
static uintptr_t returned[RETURNED];

static bool has_returned(uintptr_t ip)
{
    return __atomic_load_n(&returned[ip % RETURNED], __ATOMIC_RELAXED) == ip;
}

static bool has(const struct range *range, uintptr_t ip) { return ip >= range->first && ip < range->end; }

static struct range range_of(uintptr_t bias, const ElfW(Phdr) *segments, size_t count, unsigned flags)
{
    struct range range = {UINTPTR_MAX, 0};

    for (size_t i = 0; i < count; i++) {
        const ElfW(Phdr) *segment = &segments[i];
        uintptr_t first = bias + segment->p_vaddr;

        if (segment->p_type != PT_LOAD || (segment->p_flags & flags) != flags)
            continue;
        range.first = first < range.first ? first : range.first;
        range.end = first + segment->p_memsz > range.end ? first + segment->p_memsz : range.end;
    }
    return range;
}

/* Addresses from the kernel and the linker, because reading the loader's list needs a lock. */
static void look_at_program(void)
{
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = getauxval(AT_PHNUM);
    uintptr_t bias = 0;

    for (size_t i = 0; segments && i < count; i++)
        if (segments[i].p_type == PT_PHDR)
            bias = (uintptr_t)segments - segments[i].p_vaddr;
    program = range_of(bias, segments, segments ? count : 0, 0);
    code = range_of(bias, segments, segments ? count : 0, PF_X);
}

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden"))); /* from the linker: the library in memory */

static void look_at_library(void)
{
    const char *start = (const char *)&__ehdr_start;

    library = range_of((uintptr_t)start, (const ElfW(Phdr) *)(start + __ehdr_start.e_phoff), __ehdr_start.e_phnum, 0);
}

void sc_trace_site_prepare(void)
{
    enum { UNKNOWN, BEING_SET, KNOWN };
    static int state; /* atomic */
    int unknown = UNKNOWN;

    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == KNOWN)
        return;
    if (!__atomic_compare_exchange_n(&state, &unknown, BEING_SET, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return; /* by another thread: the first place of this thread stays unknown */
    look_at_program();
    look_at_library();
    sc_walk_prepare();
    sc_python_prepare();
    __atomic_store_n(&state, KNOWN, __ATOMIC_RELEASE);
}

/* The calls of this thread outside the library. */
static void walk(struct sc_chain *chain)
{
    struct sc_walk walk;

    sc_trace_site_prepare();
    sc_walk_here(&walk);
    chain->count = 0;
    for (int i = 0; i < walk.count && chain->count < SC_CHAIN_FRAMES; i++)
        if (!has(&library, walk.ip[i] - 1))
            chain->frame[chain->count++] = walk.ip[i] - 1; /* address inside the call instruction */
}

static struct sc_trace_site site_of(const struct sc_chain *chain)
{
    struct sc_trace_site site = {.caller = chain->count ? chain->frame[0] : 0};

    for (int i = 0; i < chain->count && !site.program; i++)
        if (has(&program, chain->frame[i]))
            site.program = chain->frame[i];
    return site;
}

struct sc_trace_site sc_trace_site_here(void)
{
    struct sc_chain chain;
    struct sc_trace_site site;

    sc_quiet_enter(); /* a handler that calls the BLAS would wait for the locks below */
    walk(&chain);
    site = site_of(&chain);
    if (site.program)
        __atomic_store_n(&returned[site.program % RETURNED], site.program, __ATOMIC_RELAXED);
    sc_trace_saw_code(site.caller);
    if (sc_trace_on && sc_trace_is_alive()) {
        sc_python_add_frames((uintptr_t)pthread_self(), &chain, SC_CHAIN_PYTHON);
        site.chain = sc_chain_number(&chain);
    }
    sc_quiet_leave();
    return site;
}

void sc_trace_put_site(void)
{
    sc_trace(.kind = SC_EVENT_SITE, .site = {.program = sc_trace_site.program, .ip = sc_trace_site.caller,
                                             .chain = sc_trace_site.chain});
}

void sc_trace_acquire(uintptr_t address, uint64_t bytes, enum sc_access access)
{
    struct sc_trace_site site;

    if (!sc_trace_on)
        return;
    site = sc_trace_site_here();
    sc_trace(.kind = SC_EVENT_ACQUIRE, .access = (uint8_t)access,
             .range = {.address = address, .bytes = bytes, .ip = sc_trace_site_line(site), .chain = site.chain});
}

/* --- blocks of memory --------------------------------------------------------------------------------------------- */

/* The last large allocations, by address; a later block takes the place of an earlier block. Protected by the file
 * lock. */
#define BLOCKS 1024
#define NOTED 3 /* lines of Python: the innermost lines may be NumPy's own */
static struct block {
    uintptr_t address;
    size_t bytes;
    struct sc_chain chain;
} blocks[BLOCKS];

static struct block *slot_of(uintptr_t address) { return &blocks[(address >> 12) * 0x9e3779b1u >> 8 & (BLOCKS - 1)]; }

void sc_trace_allocated(uintptr_t address, size_t bytes)
{
    struct block *slot = slot_of(address);
    struct sc_chain chain;

    if (bytes < SC_TRACE_ALLOC_LEAST || !sc_trace_is_alive())
        return;
    chain.count = 0;
    sc_quiet_enter(); /* a handler that jumps out would leave the thread inside */
    sc_inside_enter();
    sc_python_add_frames((uintptr_t)pthread_self(), &chain, NOTED);
    if (!chain.count) /* the line of Python would hide the calls of the interpreter, whose walk takes long */
        walk(&chain);
    sc_trace_lock();
    slot->address = address;
    slot->bytes = bytes;
    slot->chain.count = chain.count;
    memcpy(slot->chain.frame, chain.frame, (size_t)chain.count * sizeof *chain.frame);
    sc_trace_unlock();
    sc_inside_leave();
    sc_quiet_leave();
}

void sc_trace_block(uint32_t matrix, uintptr_t address, size_t bytes)
{
    struct block found;

    sc_trace_lock();
    found = *slot_of(address);
    sc_trace_unlock();
    if (found.address == address && found.bytes <= bytes)
        sc_trace(.kind = SC_EVENT_ALLOC, .matrix = matrix,
                 .range = {.address = address, .bytes = found.bytes, .ip = sc_trace_site_line(site_of(&found.chain)),
                           .chain = sc_chain_number(&found.chain)});
}

enum sc_trace_memory sc_trace_memory_of(uintptr_t address, uint64_t bytes)
{
    sc_trace_site_prepare();
    if (sc_stack_is(address))
        return SC_MEMORY_STACK;
    if (has(&program, address))
        return SC_MEMORY_STATIC;
    return bytes < sc_config.arena_min ? SC_MEMORY_SMALL : SC_MEMORY_OTHER;
}

/* Whether a call instruction ends at the address: 5 bytes (a distance), 2 to 7 bytes (through a register or memory). */
static bool is_return(uintptr_t ip)
{
    const uint8_t *at = (const uint8_t *)ip;

    if (!has(&code, ip - 7) || !has(&code, ip))
        return false;
    for (int back = 2; back <= 7; back++)
        if (at[-back] == 0xff && (at[1 - back] >> 3 & 7) == 2)
            return true;
    return at[-5] == 0xe8;
}

/* The stack may end anywhere. The kernel reads the stack, and the read fails behind its end. */
static uint64_t line_of(uintptr_t ip, uintptr_t sp)
{
    uintptr_t word[CHUNK / sizeof(uintptr_t)], end = sp + STACK_MOST, second = 0;

    if (has(&program, ip))
        return ip;
    for (sp &= ~(sizeof *word - 1); sp < end;) {
        size_t bytes = CHUNK - sp % CHUNK; /* at most to the end of a page, which exists as a whole or not at all */
        struct iovec here = {word, bytes}, there = {(void *)sp, bytes};

        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)bytes)
            return second;
        for (size_t i = 0; i < bytes / sizeof *word; i++)
            if (is_return(word[i]) && !has_returned(word[i] - 1))
                return word[i] - 1;
            else if (is_return(word[i]) && !second)
                second = word[i] - 1;
        sp += bytes;
    }
    return second;
}

struct sc_trace_site sc_trace_site_of(uintptr_t ip, uintptr_t sp, uintptr_t thread, const void *context)
{
    struct sc_trace_site site = {.caller = ip, .program = line_of(ip, sp)};
    struct sc_chain python = {0};

    sc_trace_saw_code(ip);
    if (context) {
        sc_python_add_frames(thread, &python, SC_CHAIN_PYTHON);
        site.chain = sc_chain_number_of_stack(context, &python);
    }
    return site;
}
/* SPDX-License-Identifier: BSD-2-Clause */
