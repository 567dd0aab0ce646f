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

/* Operations that can be made to fail; SC_EMU_ANY: whichever it is.  Pins belong to device 0. */
enum sc_emu_kind {
    SC_EMU_ALLOC, SC_EMU_COPY, SC_EMU_LAUNCH, SC_EMU_FILL, SC_EMU_PIN, SC_EMU_SLOT, SC_EMU_MARK, SC_EMU_WAIT,
    SC_EMU_SYNC, SC_EMU_ANY, SC_EMU_KINDS
};
extern const char *const sc_emu_kind_names[SC_EMU_KINDS];

/* "The nth operation of this kind from now on fails" (1 is the next; 0: no fault). */
struct sc_emu_fault {
    enum sc_emu_kind kind;
    uint64_t nth;
    bool lost; /* ... and everything after it: the device is gone */
    bool late; /* it is accepted, and fails when it is executed: sync reports it, the device is gone */
    bool quiet; /* with late: what comes after is accepted too, so that sync alone tells */
    bool skip;  /* it is accepted and never done, and nobody tells: a bug for checks to find */
};

struct sc_emu_device {
    char name[96];
    uint64_t memory;       /* bytes */
    double bandwidth;      /* of the memory, bytes/s */
    double launch;         /* shortest kernel, s */
    double gemm[SC_TYPES]; /* real flop/s */
    double watts_busy, watts_idle;
    struct sc_emu_fault fault;
};

struct sc_emu_link {
    double latency;   /* s */
    double bandwidth; /* bytes/s; 0: there is no such link */
    double kernel_latency, kernel_bandwidth; /* of a kernel at one end that reads or writes the other; 0: none can */
};

/* A bottleneck that links share.  Its bandwidth may depend on how many of them are busy at once. */
struct sc_emu_group {
    char name[48];
    int steps;
    struct sc_emu_step { int from; double bandwidth; } step[SC_EMU_STEPS_MAX]; /* ascending `from`, the first is 1 */
    bool carries[SC_EMU_ENDS][SC_EMU_ENDS];                                    /* [from][to] */
};

struct sc_emu_machine {
    char title[96];
    uint64_t digest; /* of the file's lines: machines that differ have others */
    int devices, groups;
    double call, sync; /* host time of one call that enqueues, and of waking up after a wait; s */
    double fault;      /* host time of one page fault without its transfer; s */
    double host_watts_busy, host_watts_idle; /* without the devices; 0: not said */
    uint64_t jitter_seed;
    unsigned jitter_us;
    struct sc_emu_device device[SC_DEVICES_MAX];
    struct sc_emu_link link[SC_EMU_ENDS][SC_EMU_ENDS]; /* [from][to] */
    struct sc_emu_group group[SC_EMU_GROUPS_MAX];
};

/* Reads a machine file.  On failure one line "PATH:LINE: cause" has been logged. */
enum sc_status sc_emu_machine_read(const char *path, struct sc_emu_machine *machine);

/* Leaves only the devices [first, first + count), numbered from 0. */
void sc_emu_machine_keep(struct sc_emu_machine *machine, int first, int count);

/* Finds and reads `name`: a path when it has a slash, else NAME.machine in `folder` (NULL: the installed one).
 * When there is none, the log line lists those there are. */
enum sc_status sc_emu_machine_find(const char *folder, const char *name, struct sc_emu_machine *machine);

#endif
