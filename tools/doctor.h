/* The parts of `semcache doctor`.  A check reports one or more findings and changes nothing. */
#ifndef SC_TOOLS_DOCTOR_H
#define SC_TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* NOTE: works, but slower or with less than possible.  FAIL: calls do not run on devices, or results are lost. */
enum sc_verdict { SC_VERDICT_OK, SC_VERDICT_NOTE, SC_VERDICT_FAIL };

/* Prints a finding: the check's name, the text, and the remedy in one line (NULL: not needed). */
void sc_doctor_say(enum sc_verdict verdict, const char *check, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Between both, each error or warning that the library logs is a finding of the check.  Returns their number. */
void sc_doctor_listen(enum sc_verdict verdict, const char *check, const char *remedy);
int sc_doctor_heard(void);

/* Fills sc_config from the environment ("NAME=VALUE", ended by NULL) and checks the settings. */
void sc_doctor_settings(char *const *environment);
/* Limits of a process, by /proc/WHO/limits ("self" or a number), mappings: in use, 0: unknown.  False: so little
 * address space that neither the host BLAS nor a driver may be opened under the same limits. */
bool sc_doctor_limits(const char *who, size_t mappings);
/* By sc_config: the library's file, the host BLAS, devices, measurements, and what the system allows. */
void sc_doctor_machine(void);

/* A file to run: whether the library can be preloaded to it, and sees its calls. */
void sc_doctor_program(const char *file);
/* A running process.  Checks its settings and limits, too; false: the process cannot be read. */
bool sc_doctor_process(pid_t pid);

bool sc_doctor_is_trace(const char *file);
void sc_doctor_trace(const char *file);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
