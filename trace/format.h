/* The trace file, as written (rings.c) and read (read.c); doc/trace-format.md describes it for other readers.
 * A header, then chunks; everything is in the byte order of the machine that wrote it and starts at a multiple of 8. */
#ifndef SC_TRACE_FORMAT_H
#define SC_TRACE_FORMAT_H

#include <stdint.h>

#define SC_TRACE_MAGIC "SCTRACE\n"
#define SC_TRACE_VERSION 2u
#define SC_TRACE_BYTE_ORDER 0x01020304u

struct sc_trace_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* sizeof of this; the first chunk follows */
    uint32_t event_bytes;  /* sizeof (struct sc_event) */
    uint32_t byte_order;
    uint64_t start_monotonic; /* nanoseconds; events have the same clock */
    uint64_t start_realtime;  /* nanoseconds since 1970 at the same moment */
    uint32_t pid;
    uint32_t reserved;
    char program[256]; /* path of the executable, NUL-terminated */
};

enum sc_trace_chunk_kind {
    SC_CHUNK_EVENTS = 1, /* struct sc_event[]: some events of one ring, in order */
    SC_CHUNK_ROUTINE,    /* struct sc_trace_name_head, then the name */
    SC_CHUNK_MODULE,     /* struct sc_trace_module_head, then the path */
    SC_CHUNK_END,        /* struct sc_trace_end: tracing was stopped in good order */
    SC_CHUNK_SETTING     /* "NAME=VALUE": a setting that the process had, as the environment would give it */
};

struct sc_trace_chunk {
    uint32_t kind, reserved;
    uint64_t bytes; /* of the payload that follows, without the zeros that fill it up to a multiple of 8 */
};

struct sc_trace_name_head {
    uint32_t routine, reserved;
};

/* Code of one program file: addresses [start, end) less `bias` are the addresses that the file itself uses. */
struct sc_trace_module_head {
    uint64_t start, end, bias;
};

struct sc_trace_end {
    uint64_t events, dropped;
};

#endif
