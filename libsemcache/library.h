/* The life of the library in a process (rule L6 of README.md). */
#ifndef SC_LIBSEMCACHE_LIBRARY_H
#define SC_LIBSEMCACHE_LIBRARY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"

enum sc_library_life {
    SC_LIBRARY_IDLE,    /* no large call yet */
    SC_LIBRARY_STARTING, /* a thread is opening the devices; the others' calls run on the host */
    SC_LIBRARY_RUNNING, /* devices are open */
    SC_LIBRARY_ENDING,  /* everything is coming home */
    SC_LIBRARY_OVER     /* the host does everything */
};
enum sc_library_life sc_library_life(void);

/* Where devices are expected: reserves the arena and lets large calls through to sc_library_start.  Else: nothing. */
void sc_library_arm(void);

/* Opens the devices if that has not been tried yet; true while they are open.  Cheap when they are.  Not `now`: has
 * them opened by a thread of its own.  False until that, or another thread that opens them, is through. */
bool sc_library_start(bool now);
/* Waits for whoever is opening them, ten seconds at most: in a constructor of a library that is being opened by dlopen
 * such a wait is in vain. */
bool sc_library_start_waiting(void);

/* Once, when we are loaded: calls that a BLAS which was linked before us would get come to us (rebind.c). */
void sc_library_rebind(void);
/* The first name of the BLAS that was found in the program itself, whose calls do not come here; NULL: none. */
const char *sc_library_own_name(void);

/* Was opening the devices tried? */
bool sc_library_opened(void);

/* Replaces the setting of the devices; SC_ERR_CONFLICT when they have been opened, SC_ERR_INVALID when it is none. */
enum sc_status sc_library_set_device(const char *device);

/* Brings everything home, closes the devices, writes statistics and trace; once.  When the process is exiting, what the
 * system takes back by itself is left to it. */
void sc_library_end(bool exiting);

/* The statistics as JSON, with what is known of devices and time. */
enum sc_status sc_library_statistics(FILE *out);

/* report.c.  The clock starts when the library is loaded. */
void sc_report_begin(void);
/* Takes the statistics as they are, for sc_report_end to write where SEMCACHE_STATS says. */
void sc_report_snapshot(void);
/* Writes the settings to the trace. */
void sc_report_settings(void);
void sc_report_end(void);

#endif
