/* Shared by the files of measuring. */
#ifndef SC_AUTOTUNER_MEASURE_INT_H
#define SC_AUTOTUNER_MEASURE_INT_H

#include "autotuner/joules.h"
#include "autotuner/measure.h"
#include "autotuner/sample.h"

struct sc_bench {
    const struct sc_measure *how;
    struct sc_database *db;
    bool counting;        /* steps are counted without measurement */
    int done, total;      /* steps */
    double kept;          /* real time */
    bool cut;             /* `stop` ended the series */
    char *pinned;         /* SC_BENCH_CHUNK for a device and a direction */
    size_t pinned_bytes;
    char *chunk[SC_DEVICES_MAX]; /* on a device: source and target of SC_BENCH_CHUNK bytes */
    double alone[SC_LINKS];      /* seconds of a link's share of a set, alone; 0: not measured yet */
    struct sc_device_properties properties[SC_DEVICES_MAX];
    struct sc_joules meter;      /* of the host */
};

enum { SC_BENCH_CHUNK = 32 << 20 }; /* bytes */

/* Time of the machine; virtual on emulated devices. */
double sc_bench_now(const struct sc_bench *b);
double sc_bench_real_now(void);
/* Begins a step; false: the step is skipped. */
bool sc_bench_step(struct sc_bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Repeats `once` (seconds of one try, 0: failed) until the mean (quick: median) is certain enough; 0: failed. `real`:
 * the seconds of `once` are never virtual. */
double sc_bench_mean(struct sc_bench *b, double (*once)(struct sc_bench *b, void *what), void *what, bool real);

/* The stages. A stage goes through its steps, including steps whose result is in the database. */
void sc_bench_links(struct sc_bench *b);
void sc_bench_exchanges(struct sc_bench *b); /* after the links */
void sc_bench_sets(struct sc_bench *b);
void sc_bench_pairs(struct sc_bench *b);
void sc_bench_kernels(struct sc_bench *b, int place);
void sc_bench_idle(struct sc_bench *b);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
