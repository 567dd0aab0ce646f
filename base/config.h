/* The settings of the process as one struct.  libsemcache/config.c fills it once from the typed table (environment);
 * tests fill it themselves.  Read-only afterwards. */
#ifndef SC_BASE_CONFIG_H
#define SC_BASE_CONFIG_H

#include <stdint.h>

#include "base/log.h"

enum sc_offload { SC_OFFLOAD_AUTO, SC_OFFLOAD_ALWAYS, SC_OFFLOAD_NEVER };

enum sc_open { SC_OPEN_AUTO, SC_OPEN_FIRST, SC_OPEN_BACKGROUND };
enum sc_summary { SC_SUMMARY_OFF, SC_SUMMARY_AUTO, SC_SUMMARY_LINE, SC_SUMMARY_TABLE };
enum sc_tune { SC_TUNE_QUICK, SC_TUNE_NEVER };

enum sc_metric { SC_METRIC_PERF, SC_METRIC_EDP, SC_METRIC_PDP };

/* How a level 3 call is spread over the devices (autotuner/schedule.h). */
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

/* How pieces go between devices: as the profile says; always by one of them. */
enum sc_exchange_by { SC_EXCHANGE_AUTO, SC_EXCHANGE_COPY, SC_EXCHANGE_PULL, SC_EXCHANGE_PUSH };

enum sc_complex_return { SC_COMPLEX_GFORTRAN, SC_COMPLEX_G77 };

/* What scheduling can do without, one by one, to see what each is worth (bench/paper_xkblas.c). */
enum sc_without {
    SC_WITHOUT_TRANSIT = 1,  /* copies on their way to a device are not waited for: the host sends another */
    SC_WITHOUT_TOPOLOGY = 2, /* any device that has a copy is as near as any other */
    SC_WITHOUT_REUSE = 4     /* inputs are dropped after each task, if they are elsewhere too */
};

struct sc_config {
    const char *device;       /* auto | none | cuda[:0,1,..] | emu:MACHINE[:count] */
    enum sc_offload offload;
    enum sc_open open;        /* when the devices are opened: when it pays, at the first large call */
    const char *stats;        /* file, "-" for stderr, or NULL */
    const char *trace;        /* file or NULL */
    const char *explain;      /* file or NULL */
    int check;                /* 1: run the invariant checks after every transition, fill invalid memory with garbage;
                               * 2: and trap system calls that pass libc by */
    int verify;               /* 1: every offloaded call is done on the host too, and compared */
    const char *host_blas;    /* path, or NULL for the default */
    enum sc_complex_return complex_return; /* how the program calls zdotu_, zdotc_, cdotu_, cdotc_ */
    uint64_t memory_limit;    /* bytes per device, 0: the device's own limit */
    enum sc_log_level log;
    const char *local_rank;   /* auto | none | RANK/RANKS, of those on this machine */
    int rank, ranks;          /* what that means: 0 of 1 when there are no others (or 0 of 0: not loaded) */
    const char *rank_source;  /* the variable that says so, or NULL */
    enum sc_summary summary;
    uint64_t trace_limit;     /* bytes; 0: none */
    const char *machine_path; /* folder of machine files (*.machine) */
    const char *module_path;  /* folder of device modules (semcache-cuda.so) */
    const char *database;     /* auto | none | FILE: measurements of the machine; NULL: none */
    enum sc_tune tune;        /* auto and there are none: measure in a hurry, or do without */
    enum sc_metric metric;    /* what the choice of devices aims at: time, energy * time, energy */
    enum sc_strategy schedule;
    int host_share;           /* percent of a product that the host does beside the devices; < 0: as predicted */
    unsigned without;         /* enum sc_without; there is no setting for it */
    const char *cache_path;   /* folder of measurements ($XDG_CACHE_HOME/semcache); NULL: there is none */
    uint64_t arena_bytes;     /* address space reserved for the arena */
    uint64_t arena_min;       /* smallest malloc that the arena serves, bytes */
    enum sc_track track;      /* how writes to memory outside the arena are noticed */
    uint64_t window_min;      /* first read window of the pager, bytes */
    uint64_t window_max;
    int push;                 /* results go home before the host asks (coherence/push.c) */
    enum sc_exchange_by exchange; /* copies between devices (coherence/exchange.c) */
    int max_hops;             /* devices that a transfer between two others may lead over, 0 to 2 */
    int emu_timing;           /* emulated devices: virtual clock only, no data and no arithmetic */
};

extern struct sc_config sc_config;

#endif
