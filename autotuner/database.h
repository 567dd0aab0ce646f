/* What was measured of one machine: links, what links do to each other, kernels (doc/tuning.md).
 *
 *  * A database is filled by measure.h or by reading a file, then finished with sc_database_index, and not changed any
 * more: look-ups are pure functions of it.  Places are numbered: devices from 0, the host SC_PLACE_HOST. */
#ifndef SC_AUTOTUNER_DATABASE_H
#define SC_AUTOTUNER_DATABASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fence.h"
#include "base/status.h"
#include "ops/ops.h"

#define SC_DATABASE_VERSION 4 /* of the file */
#define SC_PLACE_HOST SC_DEVICES_MAX
#define SC_PLACES (SC_DEVICES_MAX + 1)
#define SC_LINKS (SC_PLACES * SC_PLACES)
#define SC_SLOW_MOST 2.0 /* largest slow-down of a pair that is believed (PARALiA, eq. 6) */

static inline int sc_link(int from, int to) { return from * SC_PLACES + to; }

/* Sets of links used at once: from the host to each of the first n devices, from each to the host, both. */
enum sc_database_set { SC_SET_DOWN, SC_SET_UP, SC_SET_BOTH, SC_SETS };

struct sc_database_link {
    double latency;   /* s: of a transfer of a few bytes, until the host knows */
    double bandwidth; /* bytes/s, alone; 0: not measured, or there is none */
};

/* Whether the columns of all matrices of a kernel begin at whole 16 bytes: devices read these faster. */
enum sc_columns { SC_COLUMNS_ANY, SC_COLUMNS_ALIGNED, SC_COLUMNS_ODD };

struct sc_database_kernel {
    uint8_t place, op, type;
    int64_t size;   /* m = n = k but for the thin one */
    int64_t thin;   /* k of gemm and rank updates, else columns of what a triangle or symmetric matrix meets; 0: size */
    double seconds; /* mean */
    double watts;   /* average while it runs; 0: not measured */
};

/* What a call on devices takes beside its kernel and its bytes, s: the library's own work, drivers, and being waited
 * for. */
struct sc_database_calls {
    bool known;
    double start;   /* each call */
    double arrival; /* each operand of which something has to be brought */
    double closing; /* each operand that is written and that the host has some of */
    double scalar;  /* awaiting a scalar result */
    /* Products that begin while operands arrive: of what can be hidden (hideable) how much is; gemm, the
     * others. */
    double hidden[2];
    double links; /* of the links' bandwidth, which copies by themselves have: how much of it operands come at */
};

struct sc_database {
    char machine[4096]; /* the key: hardware, driver, host BLAS; one line */
    bool quick;         /* made by the quick version: few sizes, no pairs */
    int devices;
    double idle_watts[SC_PLACES]; /* 0: not measured */
    struct sc_database_link link[SC_PLACES][SC_PLACES]; /* [from][to] */
    /* The same by a kernel of the device that gets, that gives. */
    struct sc_database_link pull[SC_PLACES][SC_PLACES], push[SC_PLACES][SC_PLACES];
    double enqueue; /* s of the host for a copy between devices that waits for a fence and is marked; 0: not measured */
    float slow[SC_LINKS][SC_LINKS]; /* each takes so much longer while both are used; symmetric; 0: not measured */
    double set[SC_SETS][SC_DEVICES_MAX + 1]; /* [][n]: bytes/s of all links of the set together; 0: not measured */
    struct sc_database_calls calls;
    double start[SC_OPS]; /* s: each call of this routine and its scalar; 0: by calls */
    int kernels, room;
    struct sc_database_kernel *kernel; /* after sc_database_index: by place, op, type, thin or not, size */
    struct { int first, count, thin; } index[SC_PLACES][SC_OPS][SC_TYPES]; /* `thin` thin ones follow `count` others */
};

/* Empty; NULL without memory. */
struct sc_database *sc_database_new(const char *machine, int devices);
void sc_database_free(struct sc_database *db);

enum sc_status sc_database_add_kernel(struct sc_database *db, const struct sc_database_kernel *kernel);
/* Before sc_database_index, too; NULL when there is none. */
const struct sc_database_kernel *sc_database_find_kernel(const struct sc_database *db, int place, enum sc_op op,
                                                         enum sc_type type, int64_t size, int64_t thin);
/* Sorts the kernels for the look-ups.  False when one is there twice. */
bool sc_database_index(struct sc_database *db);

/* Seconds that `work` of a routine takes at a place, between the sizes that were measured; a routine that was not is
 * taken to be as fast as gemm, gemv or dot of its level, a type that was not by its operations and bytes.  0:
 * nothing is known. */
double sc_database_seconds(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work);
/* The same, by the kernels that were measured with such columns, if there are any. */
double sc_database_seconds_of(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work,
                              enum sc_columns columns);
/* Seconds of a kernel of level 3 two of whose extents are `size` and one is `thin` (sc_database_kernel), which is
 * smaller: on a line between the thin ones that were measured and those of equal extents.  0: there are none. */
double sc_database_seconds_of_thin(const struct sc_database *db, int place, enum sc_op op, enum sc_type type,
                                   double size, double thin, enum sc_columns columns);
/* Average watts while it runs; 0: not known. */
double sc_database_watts(const struct sc_database *db, int place, enum sc_op op, enum sc_type type, double work);
/* Bytes/s at which a place goes through its own memory (by the largest gemv); 0: not known. */
double sc_database_memory_rate(const struct sc_database *db, int place);

/* Seconds for bytes over a link that is used alone; 0: the link was not measured. */
double sc_database_transfer(const struct sc_database *db, int from, int to, double bytes);
/* Bytes/s between the host and the first n devices together, one way; 0: not known. */
double sc_database_host_rate(const struct sc_database *db, enum sc_database_set way, int n);
/* The slow-down of each of two links that are used at once, 1 when it was not measured. */
double sc_database_slow(const struct sc_database *db, int link, int other);

/* --- files -------------------------------------------------------------------------------------------------------- */

/* Reads a database from an open file; `name` is for the one line about what is wrong with it.  A `partial` one may
 * break off: what is complete is taken.  NULL: refused. */
struct sc_database *sc_database_read(FILE *file, const char *name, bool partial);
/* `partial`: without the line that ends it.  Errors are those of `out`. */
void sc_database_write(const struct sc_database *db, FILE *out, bool partial);

/* A place as files have it: "host" or the number of a device. */
const char *sc_database_place_name(int place);
extern const char *const sc_database_set_names[SC_SETS];

#endif
