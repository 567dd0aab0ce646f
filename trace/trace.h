/* Counters (always on, one relaxed add each) and events (free when off): per-thread rings, written to a versioned
 * binary file that is mapped (store.c). */
#ifndef SC_TRACE_TRACE_H
#define SC_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/types.h"

/* Routine ids are rows of blas/veneers/routines.tab; their names are registered by the owner of the table. */
#define SC_TRACE_ROUTINES_MAX 512
/* The last ids are calls on sparse matrices (names.c): products of two of them; products and solves with a vector, with
 * a matrix. */
enum sc_trace_sparse {
    SC_TRACE_SPARSE_GEMM = SC_TRACE_ROUTINES_MAX - 5,
    SC_TRACE_SPARSE_MV,
    SC_TRACE_SPARSE_MM,
    SC_TRACE_SPARSE_SV,
    SC_TRACE_SPARSE_SM
};
#define SC_TRACE_GROUP_MAX 8

enum sc_transfer { SC_H2D, SC_D2H, SC_D2D, SC_TRANSFERS };

struct sc_stats {
    uint64_t offloaded[SC_TRACE_ROUTINES_MAX], host[SC_TRACE_ROUTINES_MAX];
    uint64_t bytes[SC_TRANSFERS], transfers[SC_TRANSFERS];
    uint64_t faults_read, faults_write;
    uint64_t hits, misses, evictions, reshapes;
    uint64_t pushed; /* bytes of those that went home before the host asked */
    uint64_t pushed_d2d; /* bytes that went to another device before it asked */
    uint64_t together; /* offloaded calls of which the host did a part */
    /* What copying every operand in and out in each offloaded call would have moved. */
    uint64_t percall_in, percall_out;
};
extern struct sc_stats sc_stats;

static inline void sc_count(uint64_t *counter, uint64_t n) { __atomic_fetch_add(counter, n, __ATOMIC_RELAXED); }

/* What a program did is told by the kinds marked *: enough to do it again (semcache trace replay).  SCALARS and OPERAND
 * follow their CALL directly, in the file too; a call's DONE follows later on the same thread. */
enum sc_event_kind {
    SC_EVENT_CALL = 1,   /* * a large BLAS call begins, with the program's own arguments: routine, a: m, b: n, c: k,
                            bytes: kl, ip: ku, sectors: letters (struct sc_trace_letters), tile: events that follow */
    SC_EVENT_STATE,      /* state of sectors assigned: matrix, tile, sectors, device (-1 host), old, new */
    SC_EVENT_TRANSFER,   /* matrix, tile, sectors (0: not into tiles), device = destination, peer = source, bytes,
                            old: 1: of parts of the sectors, whose states stay */
    SC_EVENT_KERNEL,     /* device, op in `old`, type in `new` */
    SC_EVENT_FAULT,      /* * a: address, ip, old = access, b: the line of the program that ip was called from */
    SC_EVENT_EVICT,      /* matrix (0: another form of one), tile, device, bytes */
    SC_EVENT_MATRIX,     /* matrix created: a: base, bytes: size, b: rows, c: cols; old: 1: a vector, folded, new: bytes
                            of an element */
    SC_EVENT_RESHAPE,    /* matrix forgotten because a view did not fit its lattice */
    SC_EVENT_FORGET,     /* matrix forgotten because its memory went away */
    SC_EVENT_SCALARS,    /* * of the call before: a, b: alpha, c, bytes: beta (the bits of doubles);
                            old: 1: of rotm, a, b, c, bytes, ip: its parameters */
    SC_EVENT_OPERAND,    /* * of the call before: a: address, b: rows, c: cols as stored by columns (vectors: rows 1),
                            bytes: leading dimension or increment as given, sectors: name ('A', 'P': packed, 'X'...);
                            ip, matrix: base and pages of the block of memory it lies in (0: none that is tracked);
                            old = access, new = type */
    SC_EVENT_DONE,       /* a call returns to the program: device (-1: the host has done it) */
    SC_EVENT_FREE,       /* * tracked memory goes away: a: address, bytes */
    SC_EVENT_ACQUIRE,    /* * the program (or a system call of it) asks for memory: a: address, bytes, old = access */
    SC_EVENT_RELEASE,    /* * semcache_invalidate: a: address, bytes */
    SC_EVENT_HOME,       /* * everything is asked for: semcache_sync(NULL), fork */
    SC_EVENT_PREFETCH,   /* * semcache_prefetch: as an OPERAND, and device */
    SC_EVENT_TIME,       /* at the end, nanoseconds: a: since the library was loaded, b: virtual (0: real devices) */
    SC_EVENT_TILE,       /* of the MATRIX before, one each, in order: tile, sectors: those it has, a: address of its
                            first element, b: bytes of a column of it, c: columns, bytes: from column to column,
                            ip: columns of a sector */
    SC_EVENT_USE,        /* operand of the KERNEL that follows: matrix, tile, sectors: touched, a: of those, needed as
                            they are, b: needed in part, device, old = access */
    SC_EVENT_PROTECT,    /* pages as they are now: a: address, bytes, new: 0 all access, 1 read, 2 none (sc_prot) */
    SC_EVENT_LOST,       /* the device has failed, and takes sectors with it: matrix, tile, sectors, device */
    SC_EVENT_SITE,       /* the call of this thread that begins here was made at ip; a: the first place on the stack
                            that is in the program's own file (0: none) */
    SC_EVENT_CHOICE,     /* where the call runs, and why: in pairs of floats (sc_trace_pair), microseconds, a: host,
                            fetch, b: device, move, c: result, overlap, bytes: now, loss; old: enum sc_trace_reason,
                            new: operands on devices: 0 none, 1 part, 2 all, device: chosen (-1 host, else how many) */
    SC_EVENT_TOOK,       /* what the call of this thread took from idle devices to idle ones: a: nanoseconds */
    SC_EVENT_STAGE,      /* the call of this thread works on a copy of an operand that cannot be watched: a: the copy,
                            b: the operand, bytes, old: enum sc_trace_memory, new: 1: it is kept from call to call */
    SC_EVENT_KINDS
};

/* Where memory is that no malloc of semcache's gave. */
enum sc_trace_memory {
    SC_MEMORY_OTHER,
    SC_MEMORY_STACK,  /* on the stack of the thread that calls */
    SC_MEMORY_STATIC, /* the program's own data: static, COMMON */
    SC_MEMORY_SMALL,  /* less than SEMCACHE_ARENA_MIN */
    SC_MEMORIES
};
enum sc_trace_memory sc_trace_memory_of(uintptr_t address, uint64_t bytes);

/* Why a call runs where it does. */
enum sc_trace_reason {
    SC_REASON_FASTER,     /* devices: with all that has to be moved */
    SC_REASON_RENTED,     /* devices: the host has lost what moving costs */
    SC_REASON_SLOWER,     /* host: even with everything on the devices */
    SC_REASON_MOVE,       /* host: moving costs more than this call gains */
    SC_REASON_SOLD,       /* host: what it fetched from the devices since has cost more than was gained there */
    SC_REASON_BACK,       /* devices: the host is faster, but what it writes would have to go there next */
    SC_REASONS
};
const char *sc_trace_reason_name(enum sc_trace_reason reason); /* in words */

/* Two numbers in a field of an event. */
static inline uint64_t sc_trace_pair(double first, double second)
{
    union {
        float two[2];
        uint64_t word;
    } pair = {.two = {(float)first, (float)second}};

    return pair.word;
}
static inline double sc_trace_of_pair(uint64_t word, int which)
{
    union {
        uint64_t word;
        float two[2];
    } pair = {.word = word};

    return pair.two[which];
}

/* The letters of a call in 8 bytes; 0: the routine has no such argument.  order: 'F' Fortran, 'C', 'R' CBLAS. */
struct sc_trace_letters {
    char order, transa, transb, side, uplo, diag, none[2];
};

/* A sector's state at one location as traced: valid here or not; and MSI as seen from the host: C, S, G. */
enum sc_msi { SC_MSI_C, SC_MSI_S, SC_MSI_G };

struct sc_event {
    uint64_t nanoseconds; /* CLOCK_MONOTONIC; filled by sc_trace_emit */
    uint64_t a, b, c, bytes, ip, sectors;
    uint32_t thread;      /* filled by sc_trace_emit */
    uint32_t matrix, tile;
    uint16_t kind, routine; /* routine: filled by sc_trace_emit with the calling routine */
    int16_t device, peer;
    uint8_t old_state, new_state;
};

extern bool sc_trace_on;

/* Starts writing to `path` (created with mode 0600, never through a link), up to sc_config.trace_limit bytes: then the
 * newest events take the place of the oldest.  What is emitted is in the file at once, however the process ends.  Fails
 * with one log line. */
enum sc_status sc_trace_start(const char *path);
/* Events go to the rings without a file, where the newest can be had: for reports. */
void sc_trace_keep(void);
/* The newest events (at most `most`, 32) that name a tile of a matrix, as text, oldest first. */
void sc_trace_recent(uint32_t matrix, uint32_t tile, int most, void (*line)(void *context, const char *text),
                     void *context);
/* A setting of the process, "NAME=VALUE", for who reads the trace. */
void sc_trace_setting(const char *text);
void sc_trace_stop(void); /* the file is whole; later events are dropped */
/* Code at this address is part of what is traced: notes the program file that it is in, if that was loaded since. */
void sc_trace_saw_code(uint64_t ip);

void sc_trace_emit(struct sc_event *event); /* call only when sc_trace_on; see sc_trace() */
/* Several (at most SC_TRACE_GROUP_MAX) that have one time and follow each other directly in the file. */
void sc_trace_emit_group(struct sc_event *events, int count);
#define sc_trace(...)                                                       \
    do {                                                                    \
        if (__builtin_expect(sc_trace_on, 0))                               \
            sc_trace_emit(&(struct sc_event){__VA_ARGS__});                 \
    } while (0)

/* The routine this thread is in (0: none), stamped on its events. */
extern __thread uint16_t sc_trace_routine __attribute__((tls_model("initial-exec")));

/* Where a call of the program was made: the address of code that called the library, and the first one on the stack
 * that is in the program's own file; 0: unknown.  The one of this thread is what calls that are traced or explained
 * leave there. */
struct sc_trace_site {
    uint64_t caller, program;
};
extern __thread struct sc_trace_site sc_trace_site __attribute__((tls_model("initial-exec")));
struct sc_trace_site sc_trace_site_here(void); /* walks the stack: microseconds */
void sc_trace_site_prepare(void);              /* before: from where memory may be allocated */
/* For code at `ip` whose stack begins at `sp` and does not change now: the innermost address that is in the program's
 * own file, `ip` itself or what looks like a return address to it (not all code of libraries can be walked through); 0:
 * there is none. */
uint64_t sc_trace_line_of(uintptr_t ip, uintptr_t sp);
/* What stands for a site: the program's own line where there is one. */
static inline uint64_t sc_trace_site_line(struct sc_trace_site site)
{
    return site.program ? site.program : site.caller;
}
static inline uint64_t sc_trace_line_here(void) { return sc_trace_site_line(sc_trace_site_here()); }

void sc_trace_name_routines(const char *const *names, int count); /* names[0] is unused; stays owned by the caller */
const char *sc_trace_routine_name(int routine);

/* Statistics as JSON (see doc/statistics.md): what the environment does not know is given. */
struct sc_stats_extra {
    int devices;
    const char *const *device_names;
    double virtual_seconds; /* < 0: not emulated */
    double wall_seconds;
};
enum sc_status sc_stats_write(FILE *out, const struct sc_stats_extra *extra);

/* Prints a trace file as text, one line an event. */
enum sc_status sc_trace_dump(const char *path, FILE *out);

/* Replays the protocol's invariants over a trace file: prints that all held, or the first event that broke one, and
 * how (SC_ERR_CONFLICT). */
enum sc_status sc_trace_check(const char *path, FILE *out);

/* Prints what a trace adds up to: by routine, by the code that touched what devices had, by matrix.  show prints where
 * an address of code is. */
struct sc_trace_reading;
typedef void sc_trace_line(FILE *out, const struct sc_trace_reading *trace, uint64_t ip);
enum sc_status sc_trace_summary(const char *path, FILE *out, sc_trace_line *show);

/* Prints why: for each line of the program that made calls, where they ran, with what was predicted and what it took;
 * and for each line that had something moved, how much and for what reason. */
enum sc_status sc_trace_explain(const char *path, FILE *out, sc_trace_line *show);

/* Prints which lines cost time, most first, with a remedy; json: one object a line. */
enum sc_status sc_trace_blame(const char *path, FILE *out, bool json, sc_trace_line *show);

#endif
