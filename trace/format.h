/* The trace file, as written (store.c) and read (read.c); doc/trace-format.md describes the format for other
 * readers. A header, then blocks of one size, in the byte order of the writing machine. The writing process maps the
 * file, so the file is complete at each moment: the kernel keeps the contents when the process ends for any reason. */
#ifndef SC_TRACE_FORMAT_H
#define SC_TRACE_FORMAT_H

#include <stdint.h>

#define SC_TRACE_MAGIC "SCTRACE\n"
#define SC_TRACE_VERSION 3u
#define SC_TRACE_BYTE_ORDER 0x01020304u
#define SC_TRACE_BLOCK_BYTES 65536u

struct sc_trace_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* offset of the first block */
    uint32_t event_bytes;  /* sizeof (struct sc_event) */
    uint32_t byte_order;
    uint64_t start_monotonic; /* nanoseconds, by the clock of the events */
    uint64_t start_realtime;  /* nanoseconds since 1970 at the same moment */
    uint32_t pid;
    uint32_t block_bytes;
    uint32_t ended; /* 1: tracing was stopped in good order */
    uint32_t reserved;
    uint64_t dropped; /* the oldest events, replaced at SEMCACHE_TRACE_LIMIT or on a full disk */
    uint64_t lost;    /* events without room */
    char program[256]; /* path of the executable, NUL-terminated */
};

#define SC_TRACE_BLOCK_MAGIC 0x4b4c4253u /* "SBLK" */

enum sc_trace_block_kind {
    SC_BLOCK_EVENTS = 1, /* struct sc_event[] of one thread after the other; count: number of events */
    SC_BLOCK_RECORDS     /* struct sc_trace_record, each followed by its payload; count: bytes */
};

struct sc_trace_block_head {
    uint32_t magic, kind;
    uint64_t sequence; /* order of the blocks, independent of their places; the events of a thread follow this order */
    uint32_t count;
    uint32_t next; /* the writer's own */
};

enum sc_trace_record_kind {
    SC_RECORD_ROUTINE = 1, /* struct sc_trace_name_head, then the name */
    SC_RECORD_MODULE,      /* struct sc_trace_module_head, then the path */
    SC_RECORD_SETTING,     /* "NAME=VALUE": a setting of the process, as in the environment */
    SC_RECORD_CHAIN,       /* struct sc_trace_chain_head, then addresses of code, registers, and bytes of the stack */
    SC_RECORD_PYTHON       /* struct sc_trace_python_head, then the file, a zero byte, and the function */
};

struct sc_trace_record {
    uint32_t kind;
    uint32_t bytes; /* of the payload, without the zeros up to a multiple of 8 */
};

struct sc_trace_name_head {
    uint32_t routine, reserved;
};

/* Code of one program file. An address in [start, end) minus `bias` is an address of the file. */
struct sc_trace_module_head {
    uint64_t start, end, bias;
};

/* A chain of calls. `frames` words are addresses of code (inside the call instructions), innermost first, then Python
 * frames, innermost first. `registers` words follow (0 or SC_TRACE_REGISTERS, in DWARF's order), then the stack from
 * the stack pointer on: the native frames are then found by unwinding, and are not among the words. */
struct sc_trace_chain_head {
    uint32_t chain, frames, registers, reserved;
};
#define SC_TRACE_REGISTERS 17 /* x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 rip */

/* A line of Python. `frame`: the word that stands for the line in chains; at least SC_TRACE_PYTHON. */
struct sc_trace_python_head {
    uint64_t frame, line;
};
#define SC_TRACE_PYTHON 0xffff800000000000u /* no address of code */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
