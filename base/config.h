/* The settings of the process as one struct.  libsemcache/config.c fills the struct once from its table of settings and
 * the environment; tests fill it directly.  Read-only afterwards. */
#ifndef SC_BASE_CONFIG_H
#define SC_BASE_CONFIG_H

#include <stdint.h>

#include "base/log.h"

enum sc_offload { SC_OFFLOAD_AUTO, SC_OFFLOAD_ALWAYS, SC_OFFLOAD_NEVER };

enum sc_open { SC_OPEN_AUTO, SC_OPEN_FIRST, SC_OPEN_BACKGROUND };
enum sc_summary { SC_SUMMARY_OFF, SC_SUMMARY_AUTO, SC_SUMMARY_LINE, SC_SUMMARY_TABLE };
enum sc_tune { SC_TUNE_QUICK, SC_TUNE_NEVER };

enum sc_metric { SC_METRIC_PERF, SC_METRIC_EDP, SC_METRIC_PDP };

/* How a level 3 call is distributed over the devices (autotuner/schedule.h). */
enum sc_strategy {
    SC_STRATEGY_AUTO,
    SC_STRATEGY_OWNER,
    SC_STRATEGY_CYCLIC,
    SC_STRATEGY_ROUND_ROBIN,
    SC_STRATEGY_ROWS,
    SC_STRATEGY_COLUMNS,
    SC_STRATEGY_DYNAMIC,
    SC_STRATEGIES
};

enum sc_track { SC_TRACK_AUTO, SC_TRACK_MPROTECT, SC_TRACK_WP };

/* How data moves between two devices: by copy engines, by a kernel of the receiver (pull) or of the sender (push).
 * AUTO: whatever the measured profile shows to be fastest. */
enum sc_exchange_by { SC_EXCHANGE_AUTO, SC_EXCHANGE_COPY, SC_EXCHANGE_PULL, SC_EXCHANGE_PUSH };

/* Which threads submit the operations of devices (device/submit.h).  AUTO: threads, with several real devices. */
enum sc_submit { SC_SUBMIT_AUTO, SC_SUBMIT_CALLER, SC_SUBMIT_THREADS };

enum sc_complex_return { SC_COMPLEX_GFORTRAN, SC_COMPLEX_G77 };

/* Features of the scheduler that are turned off, for measurements (bench/paper_xkblas.c). */
enum sc_without {
    SC_WITHOUT_TRANSIT = 1,  /* a copy in transit to a device is never a source: the host sends the data again */
    SC_WITHOUT_TOPOLOGY = 2, /* every device with a copy counts as equally near */
    SC_WITHOUT_REUSE = 4     /* inputs are dropped after every task if another copy exists */
};

/* Where managed memory is while kernels of the program run (libsemcache-cuda-um). */
enum sc_um_kernels { SC_UM_KERNELS_HOST, SC_UM_KERNELS_ALL, SC_UM_KERNELS_ARGUMENTS };

struct sc_config {
    const char *device;       /* auto, none, or the name of a back end and its list: emu:MACHINE[:COUNT] */
    enum sc_offload offload;
    enum sc_open open;        /* when the devices are opened */
    const char *stats;        /* file name, "-" for stderr, or NULL */
    const char *trace;        /* file name or NULL */
    const char *explain;      /* file name or NULL */
    /* 1: check the invariants after every transition, and fill invalid memory with garbage.  2: also trap system calls
     * made without libc. */
    int check;
    int verify;               /* 1: every offloaded call also runs on the host, and the results are compared */
    const char *host_blas;    /* path, or NULL for the default */
    enum sc_complex_return complex_return; /* ABI of zdotu_, zdotc_, cdotu_, cdotc_ in the program */
    uint64_t memory_limit;    /* bytes per device; 0: the device's own limit */
    enum sc_log_level log;
    const char *local_rank;   /* auto | none | RANK/RANKS; MPI ranks on this machine */
    /* Meaning of local_rank: rank 0 of 1 without other ranks, 0 of 0 before the settings are loaded. */
    int rank, ranks;
    const char *rank_source;  /* environment variable that gave the rank, or NULL */
    enum sc_summary summary;
    uint64_t trace_limit;     /* bytes; 0: no limit */
    const char *machine_path; /* folder of machine files (*.machine) */
    const char *module_path;  /* folder of device modules (semcache-NAME.so) */
    const char *database;     /* auto | none | FILE: measurements of the machine; NULL: no measurements */
    enum sc_tune tune;        /* whether devices without measurements are measured quickly at opening */
    enum sc_metric metric;    /* objective in the choice of devices: time, energy * time, energy */
    enum sc_strategy schedule;
    int host_share;           /* percent of a product computed on the host beside the devices; < 0: as predicted */
    unsigned without;         /* bits of enum sc_without; set by benchmarks only */
    const char *cache_path;   /* folder of measurements ($XDG_CACHE_HOME/semcache), or NULL */
    enum sc_um_kernels um_kernels;
    uint64_t arena_bytes;     /* address space reserved for the arena */
    uint64_t arena_min;       /* smallest malloc served by the arena, bytes */
    enum sc_track track;      /* how writes to memory outside the arena are detected */
    uint64_t window_min;      /* first read window of the pager, bytes */
    uint64_t window_max;
    int push;                 /* push results to the host before the CPU asks (coherence/push.c) */
    enum sc_exchange_by exchange; /* copies between devices (coherence/exchange.c) */
    enum sc_submit submit;
    int max_hops;             /* most devices between the two ends of a transfer, 0 to 2 */
    int adapters;             /* semcache run starts the adapters of libraries (adapters/) */
    int emu_timing;           /* emulated devices keep the virtual clock only: no data, no arithmetic */
};

extern struct sc_config sc_config;

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
