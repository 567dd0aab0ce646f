/* Counters (always on, a relaxed add each) and events (free when off): per-thread rings, written to a versioned and
 * mapped binary file (store.c). */
#ifndef SC_TRACE_TRACE_H
#define SC_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fence.h"
#include "base/status.h"
#include "base/types.h"
#include "trace/event.h"

/* Routine ids are rows of blas/veneers/routines.tab; their names are registered by the owner of the table. */
#define SC_TRACE_ROUTINES_MAX 704
/* Calls on sparse matrices (names.c): products of two sparse matrices; products and solves with a vector or a dense
 * matrix.  Ids are part of traces: a row of a table keeps its id, and new rows are the last. */
enum sc_trace_sparse {
    SC_TRACE_SPARSE_GEMM = 507,
    SC_TRACE_SPARSE_MV,
    SC_TRACE_SPARSE_MM,
    SC_TRACE_SPARSE_SV,
    SC_TRACE_SPARSE_SM,
    SC_TRACE_SPARSE_END
};
/* Tokens; tasks without a name, and those for whose names there is no room; tasks with names (sc_trace_task). */
enum { SC_TRACE_TOKEN = 640, SC_TRACE_TASK, SC_TRACE_NAMED };
#define SC_TRACE_TASK_NAME 32 /* bytes of a task's name, with the end */
/* The id of tasks with this name, cut to 31 bytes; NULL: no name.  A trace gets the name before the first event. */
int sc_trace_task(const char *name);
/* ?gemm_batch, then ?gemm_batch_strided, each in the types s, d, c, z. */
#define SC_TRACE_BATCH 368
/* Whole routines of LAPACK, by blas/lapack/whole.tab: ids on both sides of the sparse ones.  row: from 0. */
#define SC_TRACE_LAPACK_FIRST 376
#define SC_TRACE_LAPACK_BEYOND 381
#define SC_TRACE_LAPACK(row)                                                                                           \
    ((row) + ((row) < SC_TRACE_SPARSE_GEMM - SC_TRACE_LAPACK_FIRST ? SC_TRACE_LAPACK_FIRST : SC_TRACE_LAPACK_BEYOND))
static inline bool sc_trace_id_is_lapack(int routine)
{
    return routine >= SC_TRACE_LAPACK_FIRST && routine < SC_TRACE_TOKEN &&
           (routine < SC_TRACE_SPARSE_GEMM || routine >= SC_TRACE_SPARSE_END);
}
#define SC_TRACE_GROUP_MAX 8

enum sc_transfer { SC_H2D, SC_D2H, SC_D2D, SC_TRANSFERS };

struct sc_stats {
    uint64_t offloaded[SC_TRACE_ROUTINES_MAX], host[SC_TRACE_ROUTINES_MAX];
    uint64_t bytes[SC_TRANSFERS], transfers[SC_TRANSFERS];
    uint64_t faults_read, faults_write;
    uint64_t hits, misses, evictions, reshapes;
    uint64_t pushed; /* of these: bytes pushed home */
    uint64_t pushed_d2d; /* bytes pushed to another device */
    uint64_t together; /* offloaded calls of which the host computed a part */
    uint64_t speculated, rolled_back; /* sweeps of copies done ahead of the program; of these: not finished by it */
    uint64_t recalled; /* reductions of `offloaded` whose result was known from the call before */
    /* Bytes that would have moved if each offloaded call copied every operand in and out. */
    uint64_t percall_in, percall_out;
};
extern struct sc_stats sc_stats;

/* Levels at this moment, for observers.  Written under the protocol's lock. */
struct sc_levels {
    uint64_t devices, matrices;
    uint64_t resident[SC_DEVICES_MAX]; /* bytes of device memory that hold tiles and derived copies */
};
extern struct sc_levels sc_levels;

static inline void sc_level_add(uint64_t *level, uint64_t n) { __atomic_store_n(level, *level + n, __ATOMIC_RELAXED); }
static inline void sc_level_less(uint64_t *level, uint64_t n) { __atomic_store_n(level, *level - n, __ATOMIC_RELAXED); }

static inline void sc_count(uint64_t *counter, uint64_t n) { __atomic_fetch_add(counter, n, __ATOMIC_RELAXED); }

/* Kinds marked * record the program, completely enough for a replay (semcache trace replay). SCALARS and OPERAND
 * follow their CALL directly, in the file too; a call's DONE follows later on the same thread. The named fields are
 * those of struct sc_event (trace/event.h); every kind has its time, thread and routine. */
enum sc_event_kind {
    SC_EVENT_CALL = 1, /* * a large BLAS call begins: call, following */
    SC_EVENT_STATE,    /* a change of state: matrix, tile, sectors, device, old_state, new_state; peer: 1: valid on the
                          device from now on, 0: no longer */
    SC_EVENT_TRANSFER, /* matrix, tile, sectors (0: not of tiles), device: to, peer: from, bytes, is_part */
    SC_EVENT_KERNEL,   /* kernel, device, op, type */
    SC_EVENT_FAULT,    /* * touch, access */
    SC_EVENT_EVICT,    /* matrix (0: a derived copy), tile, device, bytes */
    SC_EVENT_MATRIX,   /* a matrix is created: matrix, made, is_folded, element_bytes */
    SC_EVENT_RESHAPE,  /* a matrix is replaced because a view does not fit its lattice: matrix */
    SC_EVENT_FORGET,   /* a matrix is forgotten because its memory goes away: matrix, range */
    SC_EVENT_SCALARS,  /* * of the preceding CALL: scalars, is_rotm */
    SC_EVENT_OPERAND,  /* * of the preceding CALL: operand, block_pages, access, type */
    SC_EVENT_DONE,     /* a call returns to the program: device: -1 when the host did the call */
    SC_EVENT_FREE,     /* * tracked memory goes away: range */
    SC_EVENT_ACQUIRE,  /* * an acquisition by the program or by a system call: range, access */
    SC_EVENT_RELEASE,  /* * semcache_invalidate: range */
    SC_EVENT_HOME,     /* * an acquisition of all memory: semcache_sync(NULL), fork */
    SC_EVENT_PREFETCH, /* * semcache_prefetch: operand, block_pages, access, type, device */
    SC_EVENT_TIME,     /* at the end: time */
    SC_EVENT_TILE,     /* of the preceding MATRIX, a tile by event, in order: matrix, tile, laid */
    SC_EVENT_USE,      /* an operand of the KERNEL that follows: matrix, tile, use, device, access */
    SC_EVENT_PROTECT,  /* pages get a protection: range, protection */
    SC_EVENT_LOST,     /* a device has failed, and takes sectors with it: matrix, tile, sectors, device */
    SC_EVENT_SITE,     /* place of the thread's call that begins: site */
    SC_EVENT_CHOICE,   /* place of the call: choice, reason, resident, device: -1 host, else number of devices */
    SC_EVENT_TOOK,     /* duration of the thread's call from idle devices to idle devices: took */
    SC_EVENT_STAGE,    /* the call of this thread works on a copy of an operand that cannot be watched: stage, memory,
                          is_kept */
    SC_EVENT_WAIT,     /* the preceding fault of the thread is served: took (on emulated devices: virtual) */
    SC_EVENT_ALLOC,    /* the block of memory of a new matrix, with the place of its allocation: range */
    SC_EVENT_KEEP,     /* calls leave the pages of a matrix open (coherence/keep_open.c): matrix; peer: 1 from here on,
                          0 no longer */
    SC_EVENT_KINDS
};

/* Kinds of memory outside the library's malloc. */
enum sc_trace_memory {
    SC_MEMORY_OTHER,
    SC_MEMORY_STACK,  /* on the stack of the calling thread */
    SC_MEMORY_STATIC, /* data of the program: static, COMMON */
    SC_MEMORY_SMALL,  /* less than SEMCACHE_ARENA_MIN */
    SC_MEMORIES
};
enum sc_trace_memory sc_trace_memory_of(uintptr_t address, uint64_t bytes);

/* Reasons for the place of a call. */
enum sc_trace_reason {
    SC_REASON_FASTER,     /* devices: faster, with all transfers */
    SC_REASON_RENTED,     /* devices: the host has lost the price of the move */
    SC_REASON_SLOWER,     /* host: faster even with resident operands */
    SC_REASON_MOVE,       /* host: the move costs more than the call gains */
    SC_REASON_SOLD,       /* host: fetches have cost more than the devices gained */
    SC_REASON_BACK,       /* devices: the host is faster, but its result would be uploaded next */
    SC_REASON_CHOSEN,     /* devices: the program has taken the memory for devices */
    SC_REASONS
};
const char *sc_trace_reason_name(enum sc_trace_reason reason); /* in words */

/* A traced state of a sector at a location: valid or not; and MSI from the host's view: C, S, G. */
enum sc_msi { SC_MSI_C, SC_MSI_S, SC_MSI_G };

extern bool sc_trace_on;

/* Starts writing to `path` (created with mode 0600, never through a link). At sc_config.trace_limit bytes the newest
 * events replace the oldest. An emitted event is in the file at once, for any end of the process. Fails with one log
 * line. */
enum sc_status sc_trace_start(const char *path);
/* In the library's constructor, if the program will be traced: from here on sc_trace_allocated takes notes. */
void sc_trace_prepare(void);
/* Events go to the rings without a file; reports take the newest events from the rings. */
void sc_trace_keep(void);
/* The newest events (at most `most`, 32) with a tile of a matrix, as text, oldest first. */
void sc_trace_recent(uint32_t matrix, uint32_t tile, int most, void (*line)(void *context, const char *text),
                     void *context);
/* Records a setting of the process, "NAME=VALUE", for readers of the trace. */
void sc_trace_setting(const char *text);
void sc_trace_stop(void); /* closes the file; later events are dropped */
/* Records the program file with the code at this address, if the file was loaded recently. */
void sc_trace_saw_code(uint64_t ip);

void sc_trace_emit(struct sc_event *event); /* call only if sc_trace_on; see sc_trace() */
/* Emits a group of at most SC_TRACE_GROUP_MAX events, with one time and as neighbours in the file. */
void sc_trace_emit_group(struct sc_event *events, int count);
#define sc_trace(...)                                                       \
    do {                                                                    \
        if (__builtin_expect(sc_trace_on, 0))                               \
            sc_trace_emit(&(struct sc_event){__VA_ARGS__});                 \
    } while (0)

/* The routine of this thread (0: none), stamped on its events. */
extern __thread uint16_t sc_trace_routine __attribute__((tls_model("initial-exec")));

/* The place of a call: the address of the code that called the library, the first address on the stack in the
 * program's own file, and the number of the chain of calls in the trace file; 0: unknown. sc_trace_site belongs to this
 * thread's last traced or explained call. */
struct sc_trace_site {
    uint64_t caller, program;
    uint32_t chain;
};
extern __thread struct sc_trace_site sc_trace_site __attribute__((tls_model("initial-exec")));
struct sc_trace_site sc_trace_site_here(void); /* walks the stack: microseconds */
void sc_trace_site_prepare(void);              /* call first, from a place where memory may be allocated */
/* Emit, when tracing: SC_EVENT_SITE with sc_trace_site; SC_EVENT_ACQUIRE with the caller's place. */
void sc_trace_put_site(void);
void sc_trace_acquire(uintptr_t address, uint64_t bytes, enum sc_access access);
/* For a thread that waits in a fault at `ip`, with its stack, its pointer (pthread_self) and its ucontext_t. The
 * address in the program's own file is `ip` or the innermost likely return address (some code of libraries cannot be
 * walked). On the pager thread only. */
struct sc_trace_site sc_trace_site_of(uintptr_t ip, uintptr_t sp, uintptr_t thread, const void *context);
/* The address that represents a site: the program's own line, if known. */
static inline uint64_t sc_trace_site_line(struct sc_trace_site site)
{
    return site.program ? site.program : site.caller;
}

/* Notes the place of an allocation of SC_TRACE_ALLOC_LEAST bytes or more. Thread safe; microseconds. */
#define SC_TRACE_ALLOC_LEAST ((size_t)64 << 10)
void sc_trace_allocated(uintptr_t address, size_t bytes);
/* Emits the place where a matrix's block of memory was allocated, if known. */
void sc_trace_block(uint32_t matrix, uintptr_t address, size_t bytes);

void sc_trace_name_routines(const char *const *names, int count); /* names[0] is unused; the names stay owned by the
                                                                     caller */
void sc_trace_name_lapack(const char *const *names); /* in the order of rows; ended by NULL */
const char *sc_trace_routine_name(int routine);

/* Statistics as JSON (doc/statistics.md). The arguments are values that this folder does not know. */
struct sc_stats_extra {
    int devices;
    const char *const *device_names;
    double virtual_seconds; /* < 0: not emulated */
    double wall_seconds;
};
enum sc_status sc_stats_write(FILE *out, const struct sc_stats_extra *extra);
/* Writes "12.3 GB" to text[16]. */
const char *sc_stats_format_bytes(uint64_t bytes, char *text);
/* Writes text as a string of JSON; bytes that are no UTF-8 become U+FFFD. */
void sc_stats_put_string(FILE *out, const char *text);

/* Prints a trace file as text, a line for each event. */
enum sc_status sc_trace_dump(const char *path, FILE *out);

/* Replays the protocol's invariants over a trace file. Prints that all held, or the first event that broke an
 * invariant (SC_ERR_CONFLICT). */
enum sc_status sc_trace_check(const char *path, FILE *out);

struct sc_trace_reading;
typedef void sc_trace_line(FILE *out, const struct sc_trace_reading *trace, uint64_t ip);
/* Names of lines of the program. All but `prepare` print. For an unknown place only `line` prints. */
struct sc_trace_names {
    void (*prepare)(struct sc_trace_reading *trace); /* sets the program's line of each event, from its chain */
    sc_trace_line *line;   /* file and number */
    sc_trace_line *source; /* text of the line */
    bool (*function)(FILE *out, const struct sc_trace_reading *trace, uint64_t ip); /* false: unknown */
    void (*callers)(FILE *out, const struct sc_trace_reading *trace, uint32_t chain, uint64_t ip);
};
/* File and number of the line, from malloc; NULL: `ip` is 0, or no memory. */
char *sc_trace_line_text(const struct sc_trace_names *names, const struct sc_trace_reading *trace, uint64_t ip);

/* Prints sums over a trace: by routine, by the code that touched data of devices, by matrix. `names`
 * prints lines of the program. */
enum sc_status sc_trace_summary(const char *path, FILE *out, const struct sc_trace_names *names);

/* Prints reasons. For each line of the program with calls: places, predictions and durations. For each line that
 * caused transfers: bytes and causes. */
enum sc_status sc_trace_explain(const char *path, FILE *out, const struct sc_trace_names *names);

/* Prints the lines that cost time, most expensive first, with a remedy; json: one object a line. */
enum sc_status sc_trace_blame(const char *path, FILE *out, bool json, const struct sc_trace_names *names);

/* Prints one HTML page without scripts: lost time, lines, arrays and their tiles over time, traffic. */
enum sc_status sc_trace_report(const char *path, FILE *out, const struct sc_trace_names *names);

/* Compares two traces: sums, and the lines that cost time. */
enum sc_status sc_trace_diff(const char *before, const char *after, FILE *out, const struct sc_trace_names *names);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
