/* The folder of /proc that describes this process.  /proc/self describes the main thread, and loses the memory, the
 * descriptors and the program's name when the main thread ends before the others (pthread_exit). */
#ifndef SC_BASE_OWN_PROC_H
#define SC_BASE_OWN_PROC_H

#define SC_OWN_PROC "/proc/thread-self/"

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
