/* The life of the library in a process (rule L6 of README.md). */
#ifndef SC_LIBSEMCACHE_LIBRARY_H
#define SC_LIBSEMCACHE_LIBRARY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"

enum sc_library_life {
    SC_LIBRARY_IDLE,    /* no large call yet */
    SC_LIBRARY_STARTING, /* a thread opens the devices; calls of other threads run on the host */
    SC_LIBRARY_RUNNING, /* devices are open */
    SC_LIBRARY_ENDING,  /* results are written back to the host */
    SC_LIBRARY_OVER     /* all calls run on the host */
};
enum sc_library_life sc_library_life(void);

/* If devices are expected, reserves the arena and directs large calls to sc_library_start. */
void sc_library_arm(void);

/* Returns true if the devices are open; cheap once they are.  At the first call, opens the devices: in this thread if
 * `now`, otherwise in a separate thread.  False while the opening is in progress; with `now`, after a wait of at most
 * half a second in the process's life. */
bool sc_library_start(bool now);
/* As sc_library_start(true), but waits at most ten seconds for an opening in another thread.  The limit is for
 * constructors called by dlopen: the opening thread may need the loader's lock, held by the constructor's thread. */
bool sc_library_start_waiting(void);

/* Redirects calls bound to a BLAS linked before this library to this library (rebind.c).  Once, at loading. */
void sc_library_rebind(void);
/* Returns NULL, or the name of a BLAS routine inside the program.  Calls of that routine stay inside the program. */
const char *sc_library_own_name(void);

/* Whether an opening of the devices was attempted. */
bool sc_library_opened(void);

/* Replaces the device setting.  SC_ERR_CONFLICT: the devices have been opened.  SC_ERR_INVALID: not a valid setting. */
enum sc_status sc_library_set_device(const char *device);

/* Writes all results back to the host, closes the devices, writes statistics and trace; once.  If `exiting`, resources
 * released by the system at exit are not released here. */
void sc_library_end(bool exiting);

/* Writes the statistics as JSON, with devices and times. */
enum sc_status sc_library_statistics(FILE *out);

/* report.c: statistics, trace and summary.  sc_report_begin starts the clock when the library is loaded. */
void sc_report_begin(void);
/* Takes a snapshot of the statistics; sc_report_end writes the snapshot to SEMCACHE_STATS. */
void sc_report_snapshot(void);
/* Writes the settings to the trace. */
void sc_report_settings(void);
void sc_report_end(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
