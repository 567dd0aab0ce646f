/* The measurements of one machine: links, mutual slow-down of links, kernels (doc/tuning.md).
 *
 * A database is filled by measure.h or from a file and finished by sc_database_index. Afterwards the database is
 * constant, and look-ups are pure functions of it. Places are numbered: devices from 0, the host is SC_PLACE_HOST. */
#ifndef SC_AUTOTUNER_DATABASE_H
#define SC_AUTOTUNER_DATABASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fence.h"
#include "base/status.h"
#include "ops/ops.h"

#define SC_DATABASE_VERSION 5 /* of the file */
#define SC_PLACE_HOST SC_DEVICES_MAX
#define SC_PLACES (SC_DEVICES_MAX + 1)
#define SC_LINKS (SC_PLACES * SC_PLACES)
#define SC_SLOW_MOST 2.0 /* largest credible slow-down of a pair (PARALiA, eq. 6) */

static inline int sc_link(int from, int to) { return from * SC_PLACES + to; }

/* Sets of links in simultaneous use: from the host to the first n devices, from these devices to the host, and both
 * ways. */
enum sc_database_set { SC_SET_DOWN, SC_SET_UP, SC_SET_BOTH, SC_SETS };

struct sc_database_link {
    double latency;   /* s; of a transfer of a few bytes, until the host knows of the end */
    double bandwidth; /* bytes/s, alone; 0: not measured, or no link */
};

/* Alignment of the columns of a kernel's matrices: columns at multiples of 16 bytes are faster on devices. */
enum sc_columns { SC_COLUMNS_ANY, SC_COLUMNS_ALIGNED, SC_COLUMNS_ODD };

struct sc_database_kernel {
    uint8_t place, op, type;
    int64_t size;   /* m = n = k, except for `thin` */
    int64_t thin;   /* k of gemm and rank updates; columns of the operand of a triangle or a symmetric matrix; 0: size
                     */
    double seconds; /* mean */
    double watts;   /* average during the kernel; 0: not measured */
};

/* Seconds of a device call beside its kernel and its bytes: work of the library and the drivers, and waits. */
struct sc_database_calls {
    bool known;
    double start;   /* of every call */
    double arrival; /* of every operand with an upload */
    double closing; /* of every written operand with a part on the host */
    double scalar;  /* wait for a scalar result */
    /* The hidden part of the hideable time of products with uploads under way: gemm, other routines. */
    double hidden[2];
    double links; /* rate of uploads of operands, as a part of the rate of copies alone */
};

struct sc_database {
    char machine[4096]; /* the key: hardware, driver, host BLAS; one line */
    bool quick;         /* made by the quick version: few sizes, no pairs */
    int devices;
    double idle_watts[SC_PLACES]; /* W; 0: not measured */
    struct sc_database_link link[SC_PLACES][SC_PLACES]; /* [from][to] */
    /* Rates of kernels: of the receiver (pull), of the sender (push). */
    struct sc_database_link pull[SC_PLACES][SC_PLACES], push[SC_PLACES][SC_PLACES];
    double enqueue; /* s of the host for a copy between devices with a wait for a fence and a mark; 0: not measured */
    float slow[SC_LINKS][SC_LINKS]; /* slow-down of a link during use of the second link; symmetric; 0: not measured */
    double set[SC_SETS][SC_DEVICES_MAX + 1]; /* [][n]: bytes/s of the links of the set together; 0: not measured */
    struct sc_database_calls calls;
    double start[SC_OPS]; /* s: of every call of the routine with its scalar; 0: by `calls` */
    int kernels, room;
    struct sc_database_kernel *kernel; /* after sc_database_index: sorted by place, op, type, thin or not, size */
    struct { int first, count, thin; } index[SC_PLACES][SC_OPS][SC_TYPES]; /* `thin` thin kernels follow `count` other
                                                                            * kernels */
};

/* An empty database; NULL without memory. */
struct sc_database *sc_database_new(const char *machine, int devices);
void sc_database_free(struct sc_database *db);

enum sc_status sc_database_add_kernel(struct sc_database *db, const struct sc_database_kernel *kernel);
/* Also before sc_database_index; NULL: no such kernel. */
const struct sc_database_kernel *sc_database_find_kernel(const struct sc_database *db, int place, enum sc_op op,
                                                         enum sc_type type, int64_t size, int64_t thin);
/* Sorts the kernels for the look-ups. Returns false if a kernel occurs twice. */
bool sc_database_index(struct sc_database *db);

/* Seconds of `work` of a routine at a place, interpolated between the measured sizes. Stand-ins: gemm, gemv or dot for
 * a routine of the same level without measurements; a measured type, scaled by operations and bytes. 0: unknown. */
double sc_database_seconds(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work);
/* The same by kernels with such columns, if some were measured. */
double sc_database_seconds_of(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work,
                              enum sc_columns columns);
/* Seconds of a kernel of level 3 with two extents `size` and a smaller extent `thin` (sc_database_kernel): on a line
 * between the measured thin kernels and the kernels of equal extents. 0: no thin kernels. */
double sc_database_seconds_of_thin(const struct sc_database *db, int place, enum sc_op op, enum sc_type type,
                                   double size, double thin, enum sc_columns columns);
/* Average watts during the kernel; 0: unknown. */
double sc_database_watts(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work);
/* Rate of a place's own memory in bytes/s, by the largest gemv; 0: unknown. */
double sc_database_memory_rate(const struct sc_database *db, int place);

/* Bytes/s between the host and the first n devices together, in one direction; 0: unknown. */
double sc_database_host_rate(const struct sc_database *db, enum sc_database_set way, int n);
/* Mutual slow-down of two links in simultaneous use; 1: not measured. */
double sc_database_slow(const struct sc_database *db, int link, int other);

/* --- files -------------------------------------------------------------------------------------------------------- */

/* Reads a database from an open file; the one line about an error names `name`. A `partial` file may break off, and the
 * complete statements count. NULL: refused. */
struct sc_database *sc_database_read(FILE *file, const char *name, bool partial);
/* `partial`: without the last line. Errors are errors of `out`. */
void sc_database_write(const struct sc_database *db, FILE *out, bool partial);

/* Name of a place in files: "host" or the number of a device. */
const char *sc_database_place_name(int place);
extern const char *const sc_database_set_names[SC_SETS];

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
