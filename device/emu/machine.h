/* A machine file in memory (format: doc/machine-files.md). */
#ifndef SC_DEVICE_EMU_MACHINE_H
#define SC_DEVICE_EMU_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fence.h"
#include "base/status.h"
#include "base/types.h"

/* Ends of links: the devices, then the host. */
#define SC_EMU_HOST SC_DEVICES_MAX
#define SC_EMU_ENDS (SC_DEVICES_MAX + 1)
#define SC_EMU_GROUPS_MAX 64
#define SC_EMU_STEPS_MAX 8

/* Operations that can be made to fail; SC_EMU_ANY: an operation of any kind.  Pins count on device 0. */
enum sc_emu_kind {
    SC_EMU_ALLOC, SC_EMU_COPY, SC_EMU_LAUNCH, SC_EMU_FILL, SC_EMU_PIN, SC_EMU_SLOT, SC_EMU_MARK, SC_EMU_WAIT,
    SC_EMU_SYNC, SC_EMU_ANY, SC_EMU_KINDS
};
extern const char *const sc_emu_kind_names[SC_EMU_KINDS];

/* The nth operation of this kind from now on fails.  1: the next; 0: no fault. */
struct sc_emu_fault {
    enum sc_emu_kind kind;
    uint64_t nth;
    bool lost; /* every later operation fails too: the device is gone */
    /* The operation is accepted and fails at execution.  sync reports the failure, and the device is gone. */
    bool late;
    bool quiet; /* with late: later operations are accepted, and only sync reports */
    /* The operation is accepted and silently dropped: a bug for the checks to find. */
    bool skip;
};

struct sc_emu_device {
    char name[96];
    uint64_t memory;       /* bytes */
    double bandwidth;      /* of the device's memory, bytes/s */
    double launch;         /* duration of the shortest kernel, s */
    double solve;          /* further duration of a solve, s for each SC_SOLVE_ROWS rows of the triangle */
    double gemm[SC_TYPES]; /* real flop/s */
    double watts_busy, watts_idle;
    struct sc_emu_fault fault;
};

struct sc_emu_link {
    double latency;   /* s */
    double bandwidth; /* bytes/s; 0: no link */
    /* Of a kernel at one end that accesses memory at the other end, s and bytes/s; 0: not possible. */
    double kernel_latency, kernel_bandwidth;
};

/* A bottleneck shared by links.  The bandwidth may depend on the number of busy links. */
struct sc_emu_group {
    char name[48];
    int steps;
    struct sc_emu_step { int from; double bandwidth; } step[SC_EMU_STEPS_MAX]; /* ascending `from`, starting at 1 */
    bool carries[SC_EMU_ENDS][SC_EMU_ENDS];                                    /* [from][to] */
};

struct sc_emu_machine {
    char title[96];
    uint64_t digest; /* of the file's lines; identifies the machine */
    int devices, groups;
    double call, sync; /* host time of a call that enqueues, and of the wake-up after a wait, s */
    double fault;      /* host time of a page fault without the transfer, s */
    double host_watts_busy, host_watts_idle; /* without the devices; 0: not known */
    uint64_t jitter_seed;
    unsigned jitter_us;
    struct sc_emu_device device[SC_DEVICES_MAX];
    struct sc_emu_link link[SC_EMU_ENDS][SC_EMU_ENDS]; /* [from][to] */
    struct sc_emu_group group[SC_EMU_GROUPS_MAX];
};

/* Reads a machine file.  A failure is logged as one line "PATH:LINE: cause". */
enum sc_status sc_emu_machine_read(const char *path, struct sc_emu_machine *machine);

/* Keeps only devices [first, first + count), renumbered from 0. */
void sc_emu_machine_keep(struct sc_emu_machine *machine, int first, int count);

/* Finds and reads machine `name`: a path if `name` contains a slash, else NAME.machine in `folder` (NULL: the installed
 * folder).  If there is no file, the log line lists the available machines. */
enum sc_status sc_emu_machine_find(const char *folder, const char *name, struct sc_emu_machine *machine);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
