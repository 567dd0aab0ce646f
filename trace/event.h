/* An event of a trace: 80 bytes, the same in memory and in the file (doc/trace-format.md). A kind of event has its own
 * struct for 48 bytes of payload, and its own names for the numbers and bytes behind the payload. Kinds without a
 * struct use `bytes` and `sectors`. The words `none` of the structs keep sizes, code addresses and sectors of all kinds
 * at the same place. */
#ifndef SC_TRACE_EVENT_H
#define SC_TRACE_EVENT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The letters of a call; 0: the routine has no such argument.  order: 'F' Fortran, 'C', 'R' CBLAS. */
struct sc_trace_letters {
    char order, transa, transb, side, uplo, diag, none[2];
};

/* CALL: the program's own arguments; 0: the routine has no such argument. */
struct sc_event_call {
    int64_t m, n, k, kl, ku;
    struct sc_trace_letters letters;
};

/* SCALARS: pairs (re, im); or with `is_rotm` the five parameters of rotm. */
union sc_event_scalars {
    struct {
        double alpha[2], beta[2];
    };
    double rotm[5];
    uint64_t none[6];
};

/* OPERAND, PREFETCH: `rows` x `cols` elements as stored by columns (a vector is a row), `step` elements apart (the
 * leading dimension or increment as given). `name`: 'A', 'P' (packed), 'X'... `block`: base of the operand's block of
 * memory (a malloc); 0: the operand is not tracked. */
struct sc_event_operand {
    uint64_t address;
    int64_t rows, cols, step;
    uint64_t block;
    uint64_t name;
};

/* FREE, ACQUIRE, RELEASE, PROTECT, FORGET, ALLOC: memory. Of ACQUIRE and ALLOC: `ip`: the line of the program; `chain`:
 * number of the chain of calls; 0: unknown. */
struct sc_event_range {
    uint64_t address, chain, none, bytes, ip;
};

/* FAULT: `ip` touched `address`; `line`: the program's line that called the code at `ip`; `chain`: as above. */
struct sc_event_touch {
    uint64_t address, line, chain, none, ip;
};

/* SITE: `ip` called the library; `program`: the first address on the stack in the program's own file; 0: none. */
struct sc_event_site {
    uint64_t program, chain, none[2], ip;
};

/* KERNEL. */
struct sc_event_kernel {
    int64_t m, n, k;
};

/* MATRIX: `rows` x `cols` elements in [base, base + bytes). */
struct sc_event_matrix {
    uint64_t base;
    int64_t rows, cols;
    uint64_t bytes;
};

/* TILE: `columns` of `column_bytes` bytes each, `step` bytes apart; `width` columns are a sector. */
struct sc_event_tile {
    uint64_t base, column_bytes, columns, step, width, sectors;
};

/* USE: `sectors` touched by a kernel; `needed`: read as a whole; `parts`: read in part. */
struct sc_event_use {
    uint64_t needed, parts, none[3], sectors;
};

/* CHOICE: microseconds, as predicted. */
struct sc_event_choice {
    float host, fetch;     /* the call on the host; fetches before the call on the host */
    float device, move;    /* the kernel on the devices; uploads before the kernel */
    float result, overlap; /* fetch of the result; overlap of the three */
    float now, loss;       /* time on the devices from now on; loss of the host by moves not made so far */
};

/* STAGE. */
struct sc_event_stage {
    uint64_t copy, original, none, bytes;
};

/* TIME: since the library was loaded; virtual time of emulated devices, 0: real devices. */
struct sc_event_time {
    uint64_t nanoseconds, virtual_nanoseconds;
};

struct sc_event {
    uint64_t nanoseconds; /* CLOCK_MONOTONIC; set by sc_trace_emit */
    union {
        struct {
            uint64_t none[3], bytes, ip, sectors;
        };
        struct sc_event_call call;
        union sc_event_scalars scalars;
        struct sc_event_operand operand;
        struct sc_event_range range;
        struct sc_event_touch touch;
        struct sc_event_site site;
        struct sc_event_kernel kernel;
        struct sc_event_matrix made;
        struct sc_event_tile laid;
        struct sc_event_use use;
        struct sc_event_choice choice;
        struct sc_event_stage stage;
        struct sc_event_time time;
        uint64_t took; /* TOOK, WAIT: nanoseconds */
        uint64_t word[6];
    };
    uint32_t thread; /* set by sc_trace_emit */
    union {
        uint32_t matrix;
        uint32_t block_pages; /* OPERAND, PREFETCH: pages of the block */
    };
    union {
        uint32_t tile;
        uint32_t following; /* CALL: number of events that follow in the group */
    };
    uint16_t kind;    /* enum sc_event_kind */
    uint16_t routine; /* set by sc_trace_emit: the calling routine */
    int16_t device;   /* -1: the host */
    int16_t peer;     /* TRANSFER: the source */
    union {
        uint8_t old_state; /* STATE: enum sc_msi */
        uint8_t access;    /* FAULT, ACQUIRE, OPERAND, PREFETCH, USE: enum sc_access */
        uint8_t op;        /* KERNEL: enum sc_op */
        uint8_t reason;    /* CHOICE: enum sc_trace_reason */
        uint8_t memory;    /* STAGE: enum sc_trace_memory */
        uint8_t is_part;   /* TRANSFER: 1: only parts of the sectors, without a change of state; 2: the same with the
                            * host's older bytes, over what a device had written ahead of the program */
        uint8_t is_rotm;   /* SCALARS: 1 */
        uint8_t is_folded; /* MATRIX: 1: a vector, cut into columns */
    };
    union {
        uint8_t new_state;     /* STATE: enum sc_msi */
        uint8_t type;          /* KERNEL, OPERAND, PREFETCH: enum sc_type */
        uint8_t protection;    /* PROTECT: 0 all access, 1 read-only, 2 none (enum sc_prot) */
        uint8_t resident;      /* CHOICE: operands on devices: 0 none, 1 part, 2 all */
        uint8_t is_kept;       /* STAGE: 1: the copy is kept from call to call */
        uint8_t element_bytes; /* MATRIX */
    };
};

static_assert(sizeof(struct sc_event) == 80 && offsetof(struct sc_event, thread) == 56, "as in the file");
static_assert(offsetof(struct sc_event, ip) == offsetof(struct sc_event, touch.ip) &&
              offsetof(struct sc_event, ip) == offsetof(struct sc_event, site.ip) &&
              offsetof(struct sc_event, ip) == offsetof(struct sc_event, range.ip), "code addresses at one place");
static_assert(offsetof(struct sc_event, bytes) == offsetof(struct sc_event, range.bytes) &&
              offsetof(struct sc_event, bytes) == offsetof(struct sc_event, made.bytes) &&
              offsetof(struct sc_event, bytes) == offsetof(struct sc_event, stage.bytes), "sizes at one place");
static_assert(offsetof(struct sc_event, sectors) == offsetof(struct sc_event, laid.sectors) &&
              offsetof(struct sc_event, sectors) == offsetof(struct sc_event, use.sectors), "sectors at one place");

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
